"""`clew watch` beside a client that writes 1,000 lines a second, tears, cuts, rewrites and replaces.

The judge is the writer's own log (see `live_writer`). *Invented* is what was shown and never stood in a file
as a finished line, to the letter. *Twice* is a record shown a second time. *Lost* is a record that stood as a
finished line for `STOOD` seconds without a break, or stands there at the end, and was not shown. One that is
taken away sooner may have come and gone between two looks: to show it is right, not to show it is no loss,
for no reader of the file could know of it. The longest that such a one stood is printed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.acceptance.live_writer import digest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT = Path(__file__).resolve().parent.parent.parent
STOOD = 2.0
IDLE = "4"


def run(folder: Path, seconds: float, seed: int, *arguments: str) -> tuple[list[Any], Mapping[str, Any], str]:
    """Let a writer and a watch run beside each other; return what was shown, the log and the notes."""
    root, log = folder / "config", folder / "log.json"
    project = root / "projects" / "-home-ada-lighthouse"
    project.mkdir(parents=True)
    environ = {**os.environ, "HOME": str(folder), "CLAUDE_CONFIG_DIR": str(root), "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-m", "clew", "watch", "--jsonl", "--from-start", "--exit-when-idle", IDLE]
    with (folder / "shown").open("wb") as shown, (folder / "notes").open("wb") as notes:
        watch = subprocess.Popen([*words, *arguments], env=environ, stdout=shown, stderr=notes)
        try:
            writer = [sys.executable, "-m", "tests.acceptance.live_writer"]
            subprocess.run(
                [*writer, str(project), str(seconds), str(seed), str(log)], env=environ, cwd=ROOT, check=True
            )
            code = watch.wait(60)
        finally:
            watch.kill()
            watch.wait()
    told = (folder / "notes").read_text()
    assert code == 0, told
    lines = (folder / "shown").read_text().splitlines()
    return [json.loads(line) for line in lines], json.loads(log.read_text()), told


def judge(shown: Sequence[Any], log: Mapping[str, Any]) -> str:
    """Find what was invented, shown twice or lost; return the figures in a line."""
    records: dict[str, list[list[float]]] = log["records"]
    names: Counter[str] = Counter()
    for row in shown:
        assert row["kind"] != "damaged", row
        assert len(row["parts"]) == 1, row
        said, _, proof = row["parts"][0]["text"].rpartition(" ")
        assert digest(said) == proof, f"invented: {row}"
        name = said.partition(" ")[0]
        assert name in records, f"never stood in the file: {name}"
        names[name] += 1
    assert not (twice := [name for name, count in names.items() if count > 1]), f"twice: {twice[:5]}"
    missed = {name: max((to if to >= 0 else log["ended"]) - at for at, to, *_ in stood)
              for name, stood in records.items() if name not in names}  # fmt: skip
    lost = [name for name, seconds in missed.items() if seconds >= STOOD]
    assert not lost, f"{len(lost)} lost: {lost[:5]}"
    standing = {name for held in log["standing"].values() for name in held}
    assert not (gone := standing - names.keys()), f"{len(gone)} stand there and were not shown"
    removed = sum(name not in standing for name in names)
    longest = max(missed.values(), default=0)
    return (
        f"{len(records):,} records in {log['seconds']:.0f} s, {len(names):,} shown ({removed:,} of them "
        f"taken away since), {len(missed):,} gone unseen, the longest after {longest:.2f} s"
    )


def test_the_judge_finds_what_is_wrong() -> None:
    def row(name: str, proof: str | None = None) -> dict[str, Any]:
        said = f"{name} xx"
        return {"kind": "user", "parts": [{"text": f"{said} {proof or digest(said)}"}]}

    records = {"a": [[0.0, -1.0]], "b": [[0.0, 0.5], [1.0, 1.6]], "c": [[0.0, 3.0]]}
    log = {"ended": 9.0, "seconds": 9.0, "records": records, "standing": {"file": ["a"]}}
    assert "3 records in 9 s, 2 shown (1 of them taken away since), 1 gone unseen" in judge(
        [row("a"), row("c")], log
    )
    for shown, wrong in {
        "twice": [row("a"), row("c"), row("c")],
        "1 lost": [row("a")],
        "invented": [row("a"), row("c", "0" * 16)],
        "never stood": [row("a"), row("c"), row("d")],
        "damaged": [{"kind": "damaged"}],
    }.items():
        with pytest.raises(AssertionError, match=shown):
            judge(wrong, log)
    with pytest.raises(AssertionError, match="1 stand there"):
        judge([row("c")], {**log, "ended": 1.0})


@pytest.mark.parametrize("seed", [2, 3])
def test_a_busy_writer_is_watched_without_loss_or_repetition(tmp_path: Path, seed: int) -> None:
    """A sample of six seconds; an odd seed writes by a descriptor that is held, an even one line by line."""
    shown, log, notes = run(tmp_path, 6, seed)
    print(f"\nseed {seed}: {judge(shown, log)}; {notes.count('going on from')} restarts")
    # The writer did all it can do, or the test proves nothing.
    assert len(log["records"]) > 2000
    assert len(log["standing"]) == 3
    assert "was rewritten" in notes or "was cut" in notes


@pytest.mark.soak
@pytest.mark.parametrize("seed", [12, 13])
def test_a_busy_writer_is_watched_for_a_minute(tmp_path: Path, seed: int) -> None:
    shown, log, notes = run(tmp_path, 60, seed)
    print(f"\nseed {seed}: {judge(shown, log)}; {notes.count('going on from')} restarts")
    assert len(log["records"]) > 50_000
    assert all(f"was {what}" in notes for what in ("cut", "rewritten", "replaced"))
