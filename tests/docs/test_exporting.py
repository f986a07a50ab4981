"""Every format is documented, with what it ends in and whether secrets are in it."""

from __future__ import annotations

from pathlib import Path

from clew.export.registry import ELSEWHERE, OWN

PAGE = (Path(__file__).parents[2] / "docs" / "exporting.md").read_text(encoding="utf-8")


def test_every_format_has_its_row() -> None:
    rows = {line.split("`")[1]: line for line in PAGE.splitlines() if line.startswith("| `")}
    every = (*OWN, *ELSEWHERE)
    assert set(rows) == {one.name for one in every}
    for one in every:
        assert f"| `{one.suffix or '.parquet'}` |" in rows[one.name]
        assert ("unless `--no-redact`" in rows[one.name]) == one.redacts
