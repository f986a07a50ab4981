"""Turns: from a prompt to the next."""

from __future__ import annotations

from pathlib import Path

import pytest

from clew.session.drafts import SESSION_ENDED
from clew.session.prompts import read
from clew.session.session import Session
from clew.session.turns import Turn, main_rows, turns
from tests.builder import Builder, call, image, text, thinking

MADE = Path(__file__).parent.parent / "data" / "made"
STOPPED = "[Request interrupted by user]"


def told(session: Session) -> list[tuple[int, str | None, str]]:
    return [(turn.n, _words(session, turn), turn.status) for turn in turns(session)]


def _words(session: Session, turn: Turn) -> str | None:
    return None if turn.prompt_row is None else read(session.entry(turn.prompt_row)).words


def status(builder: Builder) -> str:
    return turns(builder.session())[-1].status


def test_a_loose_transcript_of_four_lines_is_one_turn() -> None:
    """The worked example of a write-up on tracing: no uuids, no types on the answers."""
    lines = [
        {"sessionId": "sess1", "type": "user", "content": "Fetch the logbook."},
        {
            "message": {
                "id": "m1",
                "role": "assistant",
                "content": [dict(call("t1", "Read", {"path": "/log"}))],
            }
        },
        {
            "type": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "Calm sea."}],
        },
        {"message": {"id": "m2", "role": "assistant", "content": [dict(text("The sea was calm."))]}},
    ]
    builder = Builder()
    for line in lines:
        builder.line(line)
    (turn,) = turns(builder.session())
    assert (turn.prompt_row, turn.input_kind, turn.round, turn.status) == (
        0,
        "text",
        "new_session",
        "complete",
    )
    assert [message.id for message in turn.messages] == ["m1", "m2"]
    assert [(c.name, c.row, c.result_row) for c in turn.calls] == [("Read", 1, 2)]
    assert list(turn.rows) == [0, 1, 2, 3]
    assert (turn.duration_ms, turn.is_estimated) == (None, True)


def test_the_made_copy_of_that_transcript_is_one_turn_too() -> None:
    session = Session.read((MADE / "made-loose-turn.jsonl").read_bytes())
    assert [(n, state) for n, _, state in told(session)] == [(1, "complete")]


def test_a_small_whole_session_is_one_turn_as_long_as_the_client_says() -> None:
    """The worked example of a write-up on the protocol: snapshot, prompt, call, result, answer, duration."""
    builder = Builder(version="2.1.29").line(
        {"type": "file-history-snapshot", "messageId": "u1", "snapshot": {}}
    )
    builder.prompt("Read the chart and tell me where we are.")
    builder.answer(call("toolu_001", "Read", {"file_path": "/chart.md"}), stop="tool_use")
    builder.result("toolu_001", "# Chart\n\nNorth of the reef.").answer("North of the reef.")
    session = builder.system("turn_duration", durationMs=5500).session()
    (turn,) = turns(session)
    assert (turn.n, turn.status, turn.duration_ms, turn.is_estimated) == (1, "complete", 5500, False)
    assert [message.stop_reason for message in turn.messages] == ["tool_use", "end_turn"]
    assert [c.result_row for c in turn.calls] == [3]
    assert turn.rows == range(1, 6)


def test_turns_are_numbered_from_one_and_end_where_the_next_begins() -> None:
    session = Builder().prompt("a").answer("b").prompt("c").answer("d").session()
    assert told(session) == [(1, "a", "complete"), (2, "c", "complete")]
    assert [turn.rows for turn in turns(session)] == [range(2), range(2, 4)]


def test_pictures_and_lists_start_turns_as_strings_do() -> None:
    session = Builder().prompt([text("a"), image()]).answer("b").prompt([text("c")]).answer("d").session()
    assert [turn.input_kind for turn in turns(session)] == ["image", "text"]


def test_what_the_client_puts_in_starts_no_turn() -> None:
    builder = Builder().meta("caveat").user("<command-name>/clear</command-name>").prompt("a").answer("b")
    builder.user("<command-name>/cost</command-name>").user("<local-command-stdout>$0</local-command-stdout>")
    builder.user("<bash-input>ls</bash-input>").compact()
    assert told(builder.session()) == [(1, "a", "complete")]


def test_a_meta_answer_stands_outside_the_words_of_the_turn() -> None:
    session = Builder().prompt("a").answer("b").answer("by the house", isMeta=True, stop=None).session()
    assert told(session) == [(1, "a", "complete")]


def test_answers_before_any_prompt_are_turn_zero() -> None:
    session = Builder().answer("x", isSidechain=True, agentId="a1").session()
    (turn,) = turns(session)
    assert (turn.n, turn.prompt_row, turn.round, turn.input_kind, turn.duration_ms) == (
        0,
        None,
        None,
        None,
        0,
    )
    hidden = Builder().answer("x", model="<synthetic>").answer("y", isMeta=True).prompt("a").session()
    assert [turn.n for turn in turns(hidden)] == [1]


def test_a_sub_agents_prompt_within_the_file_starts_no_turn_of_the_session() -> None:
    builder = Builder().prompt("a").answer(call("t1", "Task"), stop="tool_use")
    builder.user("sub", isSidechain=True, parentUuid=None).answer("x", isSidechain=True)
    session = builder.result("t1").answer("b").session()
    (turn,) = turns(session)
    assert list(turn.rows) == [0, 1, 4, 5]
    assert [message.rows for message in turn.messages] == [(1,), (5,)]
    assert list(main_rows(session)) == [0, 1, 4, 5]


def test_in_a_sub_agents_own_file_its_prompt_is_a_turn() -> None:
    session = Builder().user("sub", isSidechain=True).answer("x", isSidechain=True).session()
    assert told(session) == [(1, "sub", "complete")]


def test_a_branch_has_the_turns_of_its_own_rows() -> None:
    builder = (
        Builder().prompt("a").answer("b", uuid="here").prompt("c").answer("d").rewind("here").prompt("e")
    )
    session = builder.answer("f").session()
    assert [words for _, words, _ in told(session)] == ["a", "c", "e"]
    branch = turns(session, [0, 1, 4, 5])
    assert [(turn.n, _words(session, turn), turn.rows) for turn in branch] == [
        (1, "a", range(2)),
        (2, "e", range(4, 6)),
    ]


def test_a_prompt_written_again_is_one_turn_with_the_later_words() -> None:
    builder = Builder().prompt("a", uuid="p").answer("b").prompt("c").answer("d").again(1)
    session = builder.user("a, better", uuid="p").again(2).session()
    assert told(session) == [(1, "a, better", "complete"), (2, "c", "complete")]


def test_copies_that_a_compaction_writes_again_do_not_reopen_a_turn() -> None:
    builder = Builder().prompt("a").answer(call("t1"), stop="tool_use").result("t1").answer("b")
    session = builder.user(STOPPED).prompt("c").answer("d").again(3).again(5).again(4).session()
    assert [state for _, _, state in told(session)] == ["interrupted", "complete"]


@pytest.mark.parametrize(
    ("builder", "expected"),
    [
        (Builder().prompt("a").answer("b"), "complete"),
        (Builder().prompt("a").answer("b", stop=None), "complete"),
        (Builder().prompt("a").answer("b", stop="stop_sequence"), "complete"),
        (Builder().prompt("a"), "incomplete"),
        (Builder().prompt("a").answer(thinking("hm"), stop=None), "incomplete"),
        (Builder().prompt("a").answer("b", call("t1"), stop="tool_use"), "incomplete"),
        (Builder().prompt("a").answer(call("t1"), stop=None), "incomplete"),
        (Builder().prompt("a").answer(call("t1"), stop="tool_use").result("t1"), "incomplete"),
        (Builder().prompt("a").answer("the line with the call is torn", stop="tool_use"), "incomplete"),
        (Builder().prompt("a").answer("wait", stop="pause_turn"), "incomplete"),
        (Builder().prompt("a").answer("No response requested.", model="<synthetic>"), "incomplete"),
        (Builder().prompt("a").answer("b").user("<task-notification>x</task-notification>"), "incomplete"),
        (
            Builder().prompt("a").answer("b").user("<task-notification>x</task-notification>").answer("c"),
            "complete",
        ),
        (Builder().prompt("a").answer(call("t1"), stop="tool_use").result("t1").user(STOPPED), "interrupted"),
        (Builder().prompt("a").user(STOPPED), "interrupted"),
        (Builder().prompt("a").answer("b", stop="max_tokens"), "cut"),
        (Builder().prompt("a").answer("b", stop="refusal"), "cut"),
        (Builder().prompt("a").answer("b", stop="max_tokens").meta("go on").answer("c"), "complete"),
        (Builder().prompt("a").answer("429", model="<synthetic>", isApiErrorMessage=True), "error"),
        (
            Builder()
            .prompt("a")
            .answer("b", stop="max_tokens")
            .answer("too long", model="<synthetic>", isApiErrorMessage=True),
            "cut",
        ),
        (
            Builder()
            .prompt("a")
            .answer("429", model="<synthetic>", isApiErrorMessage=True)
            .meta("Continue from where you left off.")
            .answer("No response requested.", model="<synthetic>"),
            "error",
        ),
        (
            Builder().prompt("a").answer("429", isApiErrorMessage=True, model="<synthetic>").answer("b"),
            "complete",
        ),
    ],
)
def test_a_turn_is_what_became_of_it(builder: Builder, expected: str) -> None:
    assert status(builder) == expected


def test_without_the_clients_figure_a_turn_lasts_from_the_prompt_to_the_last_answer() -> None:
    builder = Builder().prompt("a").wait(4).answer("b").wait(60).user("<command-name>/cost</command-name>")
    (turn,) = turns(builder.session())
    assert (turn.duration_ms, turn.is_estimated) == (5000, False)


def test_an_interruption_ends_a_turn_that_had_no_answer() -> None:
    (turn,) = turns(Builder().prompt("a").wait(2).user(STOPPED).session())
    assert turn.duration_ms == 3000


def test_time_that_runs_backwards_gives_a_duration_of_nothing_that_is_a_guess() -> None:
    (turn,) = turns(Builder().prompt("a").wait(-60).answer("b").session())
    assert (turn.duration_ms, turn.is_estimated) == (0, True)
    assert turn.ended == turn.started


def test_the_clients_own_word_on_resuming_does_not_make_a_turn_longer() -> None:
    builder = (
        Builder().prompt("a").answer("b").wait(3600).answer("No response requested.", model="<synthetic>")
    )
    assert turns(builder.session())[0].duration_ms == 1000


def test_a_result_the_client_wrote_on_resuming_does_not_make_a_turn_longer() -> None:
    begun = Builder().prompt("Go.").wait(2).answer(call("t1"), stop="tool_use").wait(86_400)
    (turn,) = turns(begun.result("t1", SESSION_ENDED, is_error=True).session())
    assert (turn.status, turn.duration_ms) == ("incomplete", 3000)


def test_a_prompt_without_a_time_starts_with_its_answer() -> None:
    (turn,) = turns(Builder().prompt("a", timestamp=None).answer("b", "c").session())
    assert (turn.duration_ms, turn.is_estimated) == (1000, False)


@pytest.mark.parametrize("measured", ["5500", -1, True, 1e300, None])
def test_a_figure_nobody_can_believe_is_not_taken(measured: object) -> None:
    builder = Builder().prompt("a").answer("b").system("turn_duration", durationMs=measured)
    assert turns(builder.session())[0].duration_ms == 1000


def test_the_figures_of_one_turn_are_added_each_once() -> None:
    builder = Builder().prompt("a").answer("b").system("turn_duration", durationMs=500)
    builder.user("<task-notification>x</task-notification>").answer("c").system(
        "turn_duration", durationMs=250
    )
    assert turns(builder.again(3).session())[0].duration_ms == 750


def test_a_session_without_a_line_has_no_turns() -> None:
    assert turns(Session.read(b"")) == ()
