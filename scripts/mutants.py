"""Change the code in small ways, one at a time, and see whether the tests notice: at least 80 % must die.

    python scripts/mutants.py

Runs mutmut in a copy of the project, because it writes beside the sources.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MODULES = ("clew.session.context", "clew.session.drafts", "clew.session.messages", "clew.store.reader")
LEAST = 80.0
PARTS = ("src", "tests", "bench", "scripts", "pyproject.toml", "README.md", "LICENSE")


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="clew-mutants-") as name:
        copy = Path(name)
        for part in PARTS:
            source = ROOT / part
            if source.is_dir():
                shutil.copytree(source, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(source, copy / part)
        mutmut = str(Path(sys.executable).with_name("mutmut"))
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
