"""Change the code in small ways, one at a time, and see whether the tests notice: at least 80 % must die.

    python scripts/mutants.py

Runs mutmut in a copy of the project, because it writes beside the sources, and in an environment of its own,
because mutmut 3.8 reads what pytest 9 no longer has.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import venv
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MODULES = ("clew.session.context", "clew.session.drafts", "clew.session.messages", "clew.store.reader")
LEAST = 80.0
PARTS = ("src", "tests", "bench", "scripts", "pyproject.toml", "README.md", "LICENSE")


def environment() -> Path:
    """Make the environment, once, and return its programs' folder."""
    folder = ROOT / ".venv-mutants"
    programs = folder / "bin"
    if not (programs / "mutmut").exists():
        venv.create(folder, with_pip=True, clear=True)
        pip = [str(programs / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        needs = ["pytest<9", "mutmut==3.8.0", "hypothesis", "syrupy", "orjson", "msgspec", "click", "rich"]
        subprocess.run([*pip, *needs], check=True)
    return programs


def main() -> int:
    programs = environment()
    with tempfile.TemporaryDirectory(prefix="clew-mutants-") as name:
        copy = Path(name)
        for part in PARTS:
            source = ROOT / part
            if source.is_dir():
                shutil.copytree(source, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(source, copy / part)
        mutmut = str(programs / "mutmut")
        done = subprocess.run([mutmut, "run"], cwd=copy, check=False, stdout=subprocess.DEVNULL)
        listed = subprocess.run(
            [mutmut, "results", "--all", "true"], cwd=copy, check=True, capture_output=True, text=True
        )
    verdicts: dict[str, Counter[str]] = {module: Counter() for module in MODULES}
    for mutant, verdict in re.findall(r"^\s*(\S+): (.+)$", listed.stdout, re.MULTILINE):
        module = next((one for one in MODULES if mutant.startswith(one + ".")), None)
        if module is not None:
            verdicts[module][verdict] += 1
    failed = False
    for module, counts in verdicts.items():
        dead = counts["killed"] + counts["timeout"] + counts["caught by type check"]
        total = sum(counts.values())
        percent = 100 * dead / total if total else 0.0
        failed |= percent < LEAST
        rest = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
        print(f"{module}: {percent:.1f} % of {total} mutants killed ({rest})", flush=True)
    if done.returncode and not any(verdicts.values()):
        print("mutmut did not run", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
