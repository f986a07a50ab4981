"""A summary put away and taken up again is the summary that was never put away."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.format.lines import BytesSource
from clew.format.records import Record, scan
from clew.format.times import milliseconds
from clew.session.ages import Oldest, oldest
from clew.session.fold import Facts, Pr, Summary, fold
from clew.session.states import Form, StateError, lasting_hash
from clew.session.tallies import LONGEST_NAME, MOST_NAMES, MessageTally
from clew.session.usage import Folder
from tests.builder import Builder, call
from tests.fuzz.mutate import damaged_file

DATA = Path(__file__).parent.parent / "data"
FILES = sorted([*DATA.glob("corpus/**/*.jsonl"), *DATA.glob("made/**/*.jsonl")])


def whole(data: bytes) -> Summary:
    summary = Summary()
    fold(BytesSource(data), summary)
    return summary


def paused(data: bytes, pauses: set[int] | None = None) -> Summary:
    """Put the summary away before the items named, or before every one."""
    summary = Summary()
    for number, item in enumerate(scan(BytesSource(data))):
        if pauses is None or number in pauses:
            summary = Summary.restore(summary.state())
        summary.add(item)
    return Summary.restore(summary.state())


def told(summary: Summary) -> tuple[Facts, bytes]:
    return summary.result(), summary.state()


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(DATA)))
def test_a_recorded_session_can_be_put_away_before_every_line(path: Path) -> None:
    data = path.read_bytes()
    assert told(paused(data)) == told(whole(data))


@pytest.mark.parametrize("start", range(0, 300, 100))
def test_a_damaged_file_can_be_put_away_before_every_item(start: int) -> None:
    for seed in range(start, start + 100):
        data = damaged_file(Random(seed))
        assert told(paused(data)) == told(whole(data)), seed


@given(st.integers(0, 100_000), st.sets(st.integers(0, 60)))
def test_a_file_can_be_put_away_anywhere(seed: int, pauses: set[int]) -> None:
    data = damaged_file(Random(seed))
    assert told(paused(data, pauses)) == told(whole(data))


def odd() -> Builder:
    """A session with what is hard to put away."""
    builder = Builder("half \ud83d", version="v" * 1000).prompt(
        "Wake \ud83d up.", cwd="/\udfff", slug="\ud800"
    )
    builder.answer(call("\udc00"), call(""), stop="s" * 1000).answer("x", stop="s" * 999)
    builder.line({"type": "assistant", "agentId": "\ud800", "message": {"content": []}})
    builder.line({"type": "pr-link", "prNumber": -(1 << 63), "prUrl": "\ud800"})
    builder.line({"type": "pr-link", "prNumber": 1 << 63}).line(
        {"type": "pr-link", "prNumber": (1 << 64) - 1}
    )
    builder.line({"type": "summary", "leafUuid": "\ud801", "summary": "half of \ud801"})
    return builder.line({"type": "custom-title", "customTitle": ""})


def test_half_characters_and_the_greatest_numbers_survive() -> None:
    data = odd().data()
    assert told(paused(data)) == told(whole(data))
    facts = paused(data).result()
    assert facts.summaries == {"\ud801": "half of \ud801"}
    assert [pr.number for pr in facts.prs] == [-(1 << 63), 1 << 63, (1 << 64) - 1]
    assert facts.prs[0] == Pr(-(1 << 63), "\ud800", None)
    assert (facts.session_ids, facts.cwd, facts.slug) == (("half \ud83d",), "/\udfff", "\ud800")


def test_names_without_end_survive() -> None:
    builder = Builder()
    for number in range(MOST_NAMES + 5):
        builder.line({"type": "user", "version": f"v{number}", "sessionId": "s" * number})
        builder.line({"type": "assistant", "message": {"id": str(number), "stop_reason": f"s{number}"}})
    data = builder.data()
    assert told(paused(data, {7, 5000, 2 * MOST_NAMES + 3})) == told(whole(data))


def test_reasons_that_differ_only_where_they_are_cut_are_one() -> None:
    tally = MessageTally()
    builder = Builder()
    for number in range(3):
        long = "s" * LONGEST_NAME + str(number)
        builder.line({"type": "assistant", "message": {"id": str(number), "stop_reason": long}})
    for item in scan(BytesSource(builder.data())):
        assert isinstance(item, Record)
        tally.assistant(item.facts)
    assert tally.stop_reasons() == {"s" * LONGEST_NAME: 3}


def test_prompts_of_a_sub_agent_before_the_persons_are_kept_apart() -> None:
    builder = Builder().prompt("Count.", isSidechain=True)
    assert paused(builder.data()).result().first_prompt == "Count."
    data = builder.prompt("Light the lamp.").data()
    assert told(paused(data)) == told(whole(data))
    assert paused(data).result().first_prompt == "Light the lamp."


def test_an_unfinished_line_can_be_looked_at_without_being_taken_in() -> None:
    builder = Builder().prompt("Light the lamp.").answer("Lit.")
    end, state = len(builder.data()), whole(builder.data()).state()
    data = builder.raw(b'{"type":"us').data()
    look = Summary.restore(state)
    for item in scan(BytesSource(data), start=end, number=3):
        look.add(item)
    assert look.result() == whole(data).result()
    assert look.result().is_unfinished
    assert not Summary.restore(state).result().is_unfinished


def test_a_title_told_by_another_file_is_found_after_the_pause() -> None:
    summary = Summary.restore(whole(Builder().prompt("a", uuid="here").data()).state())
    assert summary.result(summaries={"here": "From afar"}).title == "From afar"


def test_a_state_takes_a_few_bytes_a_line() -> None:
    builder = Builder()
    for number in range(500):
        builder.prompt("Go on.").answer(call(f"toolu_{number}"), stop="tool_use").result(f"toolu_{number}")
    builder.answer("Done.")
    size = len(whole(builder.data()).state())
    assert size < 24 * 1501 + 1000


_OTHER = """
import sys
from clew.format.lines import BytesSource
from clew.session.fold import Summary, fold
summary = Summary()
fold(BytesSource(sys.stdin.buffer.read()), summary)
sys.stdout.buffer.write(summary.state())
"""


def test_another_process_makes_the_same_state() -> None:
    data = odd().data()
    for seed in ("1", "2"):
        made = subprocess.run(
            [sys.executable, "-c", _OTHER],
            input=data,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        )
        assert made.stdout == whole(data).state()


# --- what cannot be taken up --------------------------------------------------------------------------------


def test_a_damaged_state_is_refused() -> None:
    state = whole(Builder().prompt("Light the lamp.").answer("Lit.").data()).state()
    for at in range(len(state)):
        for damaged in (state[:at], state[:at] + bytes([state[at] ^ 4]) + state[at + 1 :]):
            with pytest.raises(StateError):
                Summary.restore(damaged)


@given(st.binary())
def test_no_other_bytes_are_taken_for_a_state(data: bytes) -> None:
    with pytest.raises(ValueError, match="state"):
        Summary.restore(data)


def test_a_state_of_another_kind_is_refused() -> None:
    with pytest.raises(StateError):
        Summary.restore(Folder().more("f", []).state)


class _Kept(msgspec.Struct):
    name: str


def test_a_state_of_another_version_is_refused() -> None:
    state = Form("kept", 1, _Kept).pack(_Kept("lamp"))
    assert Form("kept", 1, _Kept).unpack(state) == _Kept("lamp")
    for other in (Form("kept", 2, _Kept), Form("held", 1, _Kept)):
        with pytest.raises(StateError):
            other.unpack(state)


# --- ids ----------------------------------------------------------------------------------------------------


def test_a_lasting_hash_is_the_same_forever() -> None:
    assert lasting_hash(None) == 0
    assert lasting_hash("") == 33
    assert lasting_hash("2b1f7a0e-5c1d-4c83-9b52-6f0d1f8a7c11") == 2_761_184_836_237_189_534


def test_ids_that_hardly_differ_have_hashes_of_their_own() -> None:
    digits = "0123456789abcdef"
    blank = "00000000-0000-4000-8000-000000000000"
    ids = {"", "\0", "a", "a\0", "\0a", "\ud800", blank}
    for left in range(36):
        for right in range(left):
            for one in digits:
                changed = blank[:left] + one + blank[left + 1 :]
                ids.update(changed[:right] + two + changed[right + 1 :] for two in digits)
    assert len(ids) > 100_000
    assert len({lasting_hash(each) for each in ids}) == len(ids)


# --- the oldest line ----------------------------------------------------------------------------------------


def test_a_summary_tells_the_oldest_line_as_a_reading_of_its_own_does() -> None:
    for path in FILES:
        data = path.read_bytes()
        assert whole(data).result().oldest == oldest([data]), path
    for seed in range(300):
        data = damaged_file(Random(seed))
        assert whole(data).result().oldest == oldest([data]), seed


def test_the_oldest_line_may_be_of_any_kind() -> None:
    builder = Builder().prompt("a").line({"type": "queue-operation", "timestamp": "2020-01-01T00:00:00Z"})
    facts = whole(builder.data()).result()
    assert facts.started is not None
    assert facts.oldest == milliseconds("2020-01-01T00:00:00Z") != facts.started


_TIMES = st.sampled_from(
    [
        "2026-03-04T09:00:00.000Z",
        "2026-03-04T09:00:00.001Z",
        "2026-03-04T09:00:00,000Z",
        "2026-03-04T10:00:00.000+02:00",
        "2026-03-04T09:00:00Z",
        "2026-W10-2T09:00:00.000Z",
        "20260303T090000.0000000Z",
        "2026-03-03 09:00:00.000Z",
        "2026-03-03T090000.00000Z",
        "0001-01-01T00:00:00+23:59",
        "never, whatever it may Z",
        "",
        None,
    ]
)


@given(st.lists(_TIMES), st.integers(0, 10))
def test_the_oldest_time_is_found_whatever_its_form(times: list[str | None], cut: int) -> None:
    found = Oldest()
    for number, time in enumerate(times):
        if number == cut:
            found = Oldest(found.ms)
        found.add(time)
    assert found.ms == min((ms for time in times if (ms := milliseconds(time)) is not None), default=None)
