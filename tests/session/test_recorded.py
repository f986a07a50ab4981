"""What the recorded sessions say: turns, rounds, input kinds, pairs, sub-agents, titles and files.

Of the expected texts in `snapshots` those of about 38 scenarios were read by eye against the recordings; the
others were written by the code and have still to be read. After a change:
`UPDATE_SNAPSHOTS=1 pytest tests/session/test_recorded.py`, then read what differs.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.session.recorded import CORPUS, SCENARIOS, tell

SNAPSHOTS = Path(__file__).parent / "snapshots"


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda path: "-".join(path.parts[-2:]))
def test_a_recorded_scenario_is_told_as_it_was_read_by_eye(scenario: Path) -> None:
    expected = SNAPSHOTS / scenario.relative_to(CORPUS).with_suffix(scenario.suffix + ".txt")
    told = tell(scenario)
    if os.environ.get("UPDATE_SNAPSHOTS"):
        expected.parent.mkdir(parents=True, exist_ok=True)
        expected.write_text(told, encoding="utf-8")
    assert told == expected.read_text(encoding="utf-8")


def test_every_expected_text_has_its_scenario() -> None:
    known = {str(scenario.relative_to(CORPUS)) for scenario in SCENARIOS}
    assert {str(path.relative_to(SNAPSHOTS).with_suffix("")) for path in SNAPSHOTS.rglob("*.txt")} == known
