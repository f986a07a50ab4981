"""Let the real shell run a line whose commands do nothing but say their names.

It is the judge of what the parser found and shares no code with it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

BASH = shutil.which("bash")

_SAY = '() { for last; do :; done; printf "%s\\n" "$1" >> "$CLEW_LOG"; }'


def names_run(line: str, folder: Path) -> list[str]:
    """Return the names of the commands that bash runs for a line. None of them is there: all are told."""
    log = folder / "said"
    log.write_bytes(b"")
    work = folder / "work"
    work.mkdir(exist_ok=True)
    assert BASH is not None
    environment = {
        "PATH": str(folder / "nothing"),
        "CLEW_LOG": str(log),
        "BASH_FUNC_command_not_found_handle%%": _SAY,
    }
    process = subprocess.Popen(
        [BASH, "--norc", "--noprofile", "-c", line],
        cwd=work,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        return []
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, 9)
        process.wait()
    return log.read_bytes().decode("utf-8", "replace").split("\n")[:-1]
