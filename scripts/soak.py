"""Every proof at its full count. Prints one closing line a step, and fails if one of them does.

python scripts/soak.py [--only NAME,…] [--jobs N]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable

FILES = sorted(
    str(path.relative_to(ROOT))
    for path in (ROOT / "tests").rglob("test_*.py")
    if "import examples" in path.read_text(encoding="utf-8")
)
"""The tests that try more examples where there is time."""

SOAKS: dict[str, tuple[str, ...]] = {
    "client": ("tests/acceptance/test_agent_*",),
    "live": ("tests/acceptance/test_*_live.py",),
    "web": ("tests/acceptance/test_web*", "tests/acceptance/test_app_*", "tests/faces/web/"),
    "lake": ("tests/acceptance/test_lake*", "tests/lake/"),
    "exports": (
        *(f"tests/acceptance/test_{name}*" for name in ("bundle", "export", "files", "page", "view")),
        *("tests/actions/", "tests/export/", "tests/faces/", "tests/store/bundle/", "tests/view/"),
        "tests/web/",
    ),
    "edits": ("tests/edit/",),
    "faults": ("tests/acceptance/test_faults.py", "tests/store/faults/"),
    "traces": ("tests/hook/", "tests/trace/"),
    "catalog": ("tests/catalog/",),
    "conformance": ("tests/acceptance/",),
}
"""The tests that only run here, by the step that runs them: each file is of the first that names it."""


def soaks() -> dict[str, list[str]]:
    """Return the files of each step; those that none names are under an empty name."""
    found: dict[str, list[str]] = {name: [] for name in (*SOAKS, "")}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        if "mark.soak" in path.read_text(encoding="utf-8"):
            file = path.relative_to(ROOT).as_posix()
            step = next((name for name, places in SOAKS.items() if _is_named(file, places)), "")
            found[step].append(file)
    return found


def _is_named(file: str, places: tuple[str, ...]) -> bool:
    return any(file.startswith(place) if place.endswith("/") else fnmatch(file, place) for place in places)


STEPS: dict[str, list[str]] = {
    **{
        name: [PYTHON, "-m", "pytest", "-m", "soak", "-s", *files]
        for name, files in soaks().items()
        if name and files
    },
    "examples": [
        *("env", "CLEW_ALL_EXAMPLES=1", PYTHON, "-m", "pytest", "-m", "not soak and not acceptance"),
        *FILES,
    ],
    "fuzz": [PYTHON, "-m", "tests.fuzz", "--lines", "2000000", "--seed", "1"],
    "salvage": [PYTHON, "-m", "tests.fuzz.salvage", "--lines", "400000"],
    "memory": [PYTHON, "-m", "bench.run", "--only", "P12"],
    "mutants": [PYTHON, "scripts/mutants.py"],
}


def run(name: str) -> tuple[str, bool]:
    """Run a step; return its closing line, and whether it passed."""
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
    verdict = "ok" if code == 0 else f"FAILED with {code}"
    return f"{name}: {verdict} in {time.monotonic() - started:.0f} s: " + " | ".join(last), code == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join(STEPS), help="the steps to run, of: " + ", ".join(STEPS))
    parser.add_argument("--jobs", type=int, default=2, help="how many steps run at a time (2)")
    args = parser.parse_args()
    chosen = [name for name in args.only.split(",") if name]
    # The longest first, so that the others even out what is left.
    order = sorted(chosen, key=list(STEPS).index, reverse=True)
    with ThreadPoolExecutor(args.jobs) as pool:
        found = dict(zip(order, pool.map(run, order), strict=True))
    print("\n== soak")
    for name in chosen:
        print(found[name][0])
    passed = sum(is_passed for _, is_passed in found.values())
    print(f"{passed} passed, {len(chosen) - passed} failed")
    return 0 if passed == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
