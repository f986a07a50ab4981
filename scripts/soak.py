"""Every proof at its full count. Prints one closing line a step, and fails if one of them does.

python scripts/soak.py [--only NAME,…]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable

STEPS: dict[str, list[str]] = {
    "conformance": [PYTHON, "-m", "pytest", "-m", "soak", "-s", "tests/acceptance", "-k", "not live"],
    "live": [PYTHON, "-m", "pytest", "-m", "soak", "-s", "tests/acceptance", "-k", "live"],
    "catalog": [PYTHON, "-m", "pytest", "-m", "soak", "-s", "tests/catalog"],
    "fuzz": [PYTHON, "-m", "tests.fuzz", "--lines", "2000000", "--seed", "1"],
    "salvage": [PYTHON, "-m", "tests.fuzz.salvage", "--lines", "400000"],
    "memory": [PYTHON, "-m", "bench.run", "--only", "P12"],
    "mutants": [PYTHON, "scripts/mutants.py"],
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join(STEPS), help="the steps to run, of: " + ", ".join(STEPS))
    chosen = [name for name in parser.parse_args().only.split(",") if name]
    closing: list[str] = []
    failed = 0
    for name in chosen:
        print(f"== {name}", flush=True)
        started = time.monotonic()
        done = subprocess.Popen(
            STEPS[name], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        last: list[str] = []
        if done.stdout is not None:
            for line in done.stdout:
                print(line, end="", flush=True)
                if line.strip():
                    last = [*last[-2:], line.strip()]
        code = done.wait()
        failed += code != 0
        spent = time.monotonic() - started
        verdict = "ok" if code == 0 else f"FAILED with {code}"
        closing.append(f"{name}: {verdict} in {spent:.0f} s: " + " | ".join(last))
    print("\n== soak")
    for line in closing:
        print(line)
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
