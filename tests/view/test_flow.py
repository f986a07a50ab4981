"""What happens in a turn stands in its place, each thing as the part it is."""

from __future__ import annotations

from typing import Any

import pytest

from clew.session.graph import Graph
from clew.session.session import Session
from clew.session.turns import turns
from clew.view import parts
from clew.view.timeline import Timeline, Ways
from tests.builder import Builder, call, image, text
from tests.view.sessions import timeline

ID = "0a0a0a0a-0000-4000-8000-000000000001"


def flow(made: Builder | bytes) -> list[parts.Flow]:
    data = made if isinstance(made, bytes) else made.data()
    return [part for view in timeline(data).turns() for part in view.flow()]


def kinds(found: list[parts.Flow]) -> list[str]:
    return [type(part).__name__ for part in found]


def test_a_turn_is_a_prompt_answers_and_calls() -> None:
    made = Builder(ID).user("Light it").answer("Looking.", call("t1", "Bash", {"command": "ls"}))
    found = flow(made.result("t1", "lamp").answer("Lit."))
    assert kinds(found) == ["Prompt", "Answer", "Call", "Answer"]
    answers = [part for part in found if isinstance(part, parts.Answer)]
    assert [answer.is_last for answer in answers] == [False, True]


def test_what_a_command_printed_belongs_to_it() -> None:
    made = Builder(ID).user("<command-name>/cost</command-name>\n<command-args></command-args>")
    found = flow(made.user("<local-command-stdout>$0.12</local-command-stdout>").user("Hi").answer("Hello."))
    assert kinds(found) == ["Note", "Prompt", "Answer"]
    (note,) = [part for part in found if isinstance(part, parts.Note)]
    assert note.text == "/cost"
    assert note.parts == (parts.Code("$0.12", stream="out"),)


def test_a_summary_belongs_to_its_compaction() -> None:
    found = flow(Builder(ID).user("Hi").answer("Hello.").compact("So far").user("More").answer("Yes."))
    assert kinds(found) == ["Prompt", "Answer", "Rule", "Prompt", "Answer"]
    rule = found[2]
    assert isinstance(rule, parts.Rule)
    assert rule.reason == "compaction"
    assert rule.parts == (parts.Section("summary of what came before", (parts.Markdown("So far"),)),)


def test_what_the_client_added_for_the_model_says_so() -> None:
    (_, note, _) = flow(Builder(ID).user("Hi").meta("mind the wick").answer("Hello."))
    assert isinstance(note, parts.Note)
    assert note.is_meta
    assert note.parts == (parts.Text("mind the wick", is_muted=True),)


@pytest.mark.parametrize(
    ("second", "reason", "said"),
    [
        ({"model": "claude-opus-4-5"}, "model", "model claude-opus-4-5, before that claude-sonnet-4-5"),
        ({"version": "2.1.400"}, "resume", "client 2.1.400, before that 2.1.325"),
        ({"sessionId": "ffff0000-1"}, "session", "session ffff0000, before that 0a0a0a0a"),
    ],
)
def test_where_something_becomes_another_a_rule_stands(
    second: dict[str, str], reason: str, said: str
) -> None:
    made = Builder(ID).user("Hi").answer("One.", model="claude-sonnet-4-5").user("On")
    model = second.get("model", "claude-sonnet-4-5")
    others: Any = {key: value for key, value in second.items() if key != "model"}
    found = flow(made.answer("Two.", model=model, **others))
    rules = [(part.reason, part.text) for part in found if isinstance(part, parts.Rule)]
    assert rules == [(reason, said)]
    assert kinds(found)[-2:] == ["Rule", "Answer"]


def test_an_interruption_is_a_rule() -> None:
    found = flow(Builder(ID).user("Hi").answer("Well").user("[Request interrupted by user]"))
    assert found[-1] == parts.Rule("Request interrupted by user", "interrupt", uuid="u3")


def test_an_unknown_line_and_an_unknown_block_stand_with_all_they_hold() -> None:
    made = Builder(ID).user("Hi").line({"type": "dream", "sheep": 3}).answer({"type": "smell", "of": "oil"})
    line, block = [part for part in flow(made) if isinstance(part, parts.Notice)]
    assert line.text == "a line of a type clew does not know: dream"
    assert line.line == 2
    assert '"sheep": 3' in (line.detail or "")
    assert block.text == "a block clew does not know: smell"
    assert '"of": "oil"' in (block.detail or "")


def test_damage_is_a_notice_with_its_bytes() -> None:
    made = Builder(ID).user("Hi").answer("One.").raw(b'{"type":"user","mess\n').user("On").answer("Two.")
    found = flow(made)
    (notice,) = [part for part in found if isinstance(part, parts.Notice)]
    assert (notice.level, notice.line, notice.detail) == ("warning", 3, '{"type":"user","mess')
    assert found.index(notice) < kinds(found).index("Prompt", 1)


def test_a_result_without_its_call_is_not_lost() -> None:
    (_, note, _) = flow(Builder(ID).user("Hi").result("t9", "from nowhere").answer("Odd."))
    assert isinstance(note, parts.Note)
    assert note.text == "a result whose call is not here"
    assert note.parts == (parts.Code("from nowhere"),)


def test_words_and_pictures_beside_a_result_are_not_lost() -> None:
    made = Builder(ID).user("Hi").answer(call("t1"))
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}
    found = flow(made.user([result, text("mind the wick"), image()]))
    note = found[-1]
    assert isinstance(note, parts.Note)
    assert note.text == "sent along with a result"
    assert [type(part).__name__ for part in note.parts] == ["Text", "Image"]


def test_pictures_stand_in_prompts_and_results_with_their_bytes() -> None:
    made = Builder(ID).user([text("Look"), image()]).answer(call("t1", "Read", {"file_path": "/x.png"}))
    found = flow(made.result("t1", [image()]).answer("Nice."))
    prompt, shown, _ = found
    assert isinstance(prompt, parts.Prompt)
    assert isinstance(shown, parts.Call)
    for picture in (prompt.parts[-1], shown.result[0]):
        assert isinstance(picture, parts.Image)
        assert picture.media_type == "image/png"
        assert picture.data == image()["source"]["data"]


def test_what_was_said_meanwhile_is_a_prompt_that_waited() -> None:
    made = Builder(ID).user("Hi").answer(call("t1"), stop="tool_use")
    made.line({"type": "queue-operation", "operation": "enqueue", "content": "and the wick?"})
    made.line({"type": "queue-operation", "operation": "remove"})
    found = flow(made.result("t1", "ok").answer("Trimmed."))
    assert kinds(found) == ["Prompt", "Call", "Prompt", "Answer"]
    assert found[2] == parts.Prompt((parts.Text("and the wick?"),), is_queued=True)


def test_a_server_s_tool_is_one_call_with_its_result() -> None:
    use = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "oil"}}
    hit = {"type": "web_search_result", "title": "Oil", "url": "https://oil.example"}
    made = (
        Builder(ID)
        .user("Hi")
        .answer(
            use, {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [hit]}, text("It burns.")
        )
    )
    found = flow(made)
    assert kinds(found) == ["Prompt", "Call", "Answer"]
    assert isinstance(found[1], parts.Call)
    assert (found[1].argument, found[1].outcome, found[1].state) == ("oil", "1 link", "done")


def test_a_prompt_that_is_written_twice_is_asked_once_where_it_was_asked_first() -> None:
    lines = Builder(ID).user("First").answer("One.").user("Second").answer("Two.").data().splitlines()
    found = flow(b"\n".join([*lines, lines[0]]) + b"\n")
    assert kinds(found) == ["Prompt", "Answer", "Prompt", "Answer"]


def test_answers_before_any_prompt_and_lines_without_turns_are_there() -> None:
    assert kinds(flow(Builder(ID).answer("Good morning."))) == ["Answer"]
    only = Builder(ID).line({"type": "summary", "summary": "Lamps", "leafUuid": "x"})
    (view,) = timeline(only.data()).turns()
    assert view.head.n == 0
    assert kinds(list(view.flow())) == ["Note"]
    assert list(timeline(b"").turns()) == []


def test_a_call_that_may_still_get_its_result_is_running_in_a_live_session() -> None:
    session = Session.read(Builder(ID).user("Hi").answer(call("t1"), stop="tool_use").data())
    for is_live, state in ((True, "running"), (False, "missing")):
        (view,) = Timeline(session, turns(session), is_live=is_live).turns()
        (found,) = [part for part in view.flow() if isinstance(part, parts.Call)]
        assert found.state == state


def test_ways_that_part_are_rules_on_both_sides() -> None:
    builder = Builder(ID).user("First").answer("One.")
    fork = builder.leaf
    data = builder.user("Second").answer("Two.").rewind(fork).user("Third").answer("Three.").data()
    session = Session.read(data)
    assert len(Graph(session)) == len(session)
    ways = Ways(lambda place: 1 if place == 2 else None, lambda place: place == 1)
    found = Timeline(session, turns(session), ways=ways)
    rules = [[p.reason for p in view.flow() if isinstance(p, parts.Rule)] for view in found.turns()]
    assert rules == [["fork"], [], ["rewind"]]
    assert [head.is_off for head in found.heads()] == [False, True, False]
    assert found.heads()[2].marks == ("goes back to turn 1",)
