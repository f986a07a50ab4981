"""Programs that tests need and that come with no package of Python or npm: from the system, or installed."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache


@cache
def program(name: str) -> str | None:
    """Find a program; where Debian's packages can be installed, install the one that is called like it."""
    found, apt = shutil.which(name), shutil.which("apt-get")
    if found is None and apt is not None and os.geteuid() == 0:
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for words in (["update"], ["install", "-y", "--no-install-recommends", name]):
            subprocess.run([apt, "-qq", *words], env=quiet, check=False, capture_output=True, timeout=900)
        found = shutil.which(name)
    return found
