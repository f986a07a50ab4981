"""Build the wheel, install it in a clean environment, and use it once as a new user would.

python scripts/try_wheel.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    dist = ROOT / "dist"
    for old in dist.glob("clew-*"):
        old.unlink()
    subprocess.run([sys.executable, "-m", "build", "--outdir", str(dist), str(ROOT)], check=True)
    (wheel,) = dist.glob("clew-*.whl")
    with tempfile.TemporaryDirectory(prefix="clew-wheel-") as name:
        folder = Path(name)
        venv.create(folder / "venv", with_pip=True)
        scripts = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
        pip = [str(scripts / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, str(wheel)], check=True)
        environment = {**os.environ, "HOME": str(folder), "CLAUDE_CONFIG_DIR": str(folder / "none")}
        clew = str(scripts / "clew")
        demo = str(folder / "demo")
        for command in (["demo", demo], ["ls", "--root", demo], ["check", "--all", "--root", demo]):
            print("$ clew", *command, flush=True)
            done = subprocess.run([clew, *command], env=environment, cwd=folder, check=False)
            if done.returncode not in {0, 3}:  # the demo has a damaged session on purpose
                return 1
    print(f"{wheel.name} installs and runs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
