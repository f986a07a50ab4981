"""What the recorded sessions say: turns, rounds, input kinds, pairs, sub-agents, titles and files.

Of the expected texts in `snapshots` the turns, rounds, input kinds, pairs and messages of every scenario, the
files of sub-agents too, were read against the recordings; the many warm-up files of 2.0.42 and 2.0.76, one
answer each, were read by kind. Titles and files were only looked over. After a change:
`UPDATE_SNAPSHOTS=1 pytest tests/session/test_recorded.py`, then read what differs.

Where one could see it otherwise, these rules were chosen:

- A command the client carries out itself (`/cost`, `/compact`) starts no turn. 1.0.35 sends it to the model
  all the same; the answer then belongs to the turn before, or to turn 0.
- A prompt queued while the model works belongs to the turn it came in, as in the client's `turn_duration`.
- News of a background task starts no turn; what the model answers to it belongs to the turn before.
- Lines without meaning for the conversation belong to the turn in which they stand, even those that the
  client writes just before a prompt (queue operations, copies of files).
- The prompt of a sub-agent is the first of a conversation, hence `new_session`, but no turn of the session.
- An answer without a stop reason on disk is complete if it has words; with an error of the API after it the
  turn is an error, where with the reason `refusal` it would be cut (2.1.29, 2.1.45).
- What 1.0.35 copies on resuming has the time of the copying: such turns last 0 ms.
- A plan carried out after clearing (2.1.45) begins with a prompt like any other.
- A skill typed as a command that 2.0.76 turns down is a prompt without an answer: only the next line tells.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.session.recorded import CORPUS, SCENARIOS, tell

SNAPSHOTS = Path(__file__).parent / "snapshots"


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda path: "-".join(path.parts[-2:]))
def test_a_recorded_scenario_is_told_as_it_was_read(scenario: Path) -> None:
    expected = SNAPSHOTS / scenario.relative_to(CORPUS).with_suffix(scenario.suffix + ".txt")
    told = tell(scenario)
    if os.environ.get("UPDATE_SNAPSHOTS"):
        expected.parent.mkdir(parents=True, exist_ok=True)
        expected.write_text(told, encoding="utf-8")
    assert told == expected.read_text(encoding="utf-8")


def test_every_expected_text_has_its_scenario() -> None:
    known = {str(scenario.relative_to(CORPUS)) for scenario in SCENARIOS}
    assert {str(path.relative_to(SNAPSHOTS).with_suffix("")) for path in SNAPSHOTS.rglob("*.txt")} == known
