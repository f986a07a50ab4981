"""Fail when a file of the ground floors has less than 90 % of its branches covered.

python scripts/check_coverage.py        after a run of pytest with --cov
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from coverage import Coverage

ROOMS = ("format", "session", "store")
LEAST = 90.0


def main() -> int:
    coverage = Coverage()
    coverage.load()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "coverage.json"
        coverage.json_report(outfile=str(out))
        report: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    low: list[tuple[str, float]] = []
    seen = 0
    for name, file in report["files"].items():
        parts = Path(name).parts
        if "clew" not in parts or parts[parts.index("clew") + 1] not in ROOMS:
            continue
        seen += 1
        percent = float(file["summary"]["percent_covered"])
        if percent < LEAST:
            low.append((name, percent))
    text = io.StringIO()
    for name, percent in sorted(low):
        text.write(f"{percent:6.1f} %  {name}\n")
    sys.stdout.write(text.getvalue())
    total = float(report["totals"]["percent_covered"])
    sys.stdout.write(f"branch coverage: {total:.1f} % in all, {seen} files of {', '.join(ROOMS)}\n")
    if not seen:
        sys.stdout.write("no file of these rooms was measured\n")
        return 1
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())
