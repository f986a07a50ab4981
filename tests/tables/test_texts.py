"""What can be searched: both roads say the same of every line, and nothing that was said is missed."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from bench.generate import Recipe, generate
from clew.format.entry import Entry
from clew.format.lines import BytesSource
from clew.format.records import Record, scan
from clew.tables.texts import Text, quick_texts, texts
from tests.fuzz.lines import files
from tests.fuzz.mutate import damaged_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Json = dict[str, Any]


def raw(data: Json) -> bytes:
    return json.dumps(data, ensure_ascii=False).encode("utf-8", "backslashreplace")


def found(data: Json) -> list[tuple[str, str]]:
    """Field and text of everything in a record, by both roads."""
    return [(one.field, one.text) for one in whole(data)]


def whole(data: Json) -> list[Text]:
    line = raw(data)
    exact = texts(Entry(line))
    assert quick_texts(line) in (None, exact)
    return exact


def user(content: object, **more: object) -> Json:
    return {"type": "user", "message": {"role": "user", "content": content}, "uuid": "u", **more}


def assistant(*blocks: object, **more: object) -> Json:
    return {"type": "assistant", "message": {"role": "assistant", "content": list(blocks)}, **more}


# --- the law ------------------------------------------------------------------------------------------------


def records(data: bytes) -> Iterator[Record]:
    return (item for item in scan(BytesSource(data)) if isinstance(item, Record))


def test_both_roads_say_the_same_of_every_recorded_line() -> None:
    quick = total = 0
    for path in files():
        for record in records(path.read_bytes()):
            told = quick_texts(record.raw)
            total += 1
            quick += told is not None
            if told is not None:
                assert told == texts(record.decoded()), (path, record.number)
    assert total > 7000
    assert quick > 0.8 * total


@pytest.mark.parametrize("seed", range(8))
def test_both_roads_say_the_same_of_damaged_lines(seed: int) -> None:
    random = Random(seed)
    quick = 0
    for _ in range(100):
        for record in records(damaged_file(random)):
            told, exact = quick_texts(record.raw), texts(record.decoded())
            assert told in (None, exact), record.raw[:2000]
            quick += told is not None
            for one in exact:
                assert one.text.encode("utf-8")
                assert (one.tool or "").encode("utf-8") is not None
    assert quick > 500


SWITCHES = (
    *("text", "thinking", "tool_use", "tool_result", "image", "redacted_thinking") * 6,
    *("odd", "document", "web_search_tool_result", "server_tool_use", None, 5),
)
USUAL: Json = {
    "text": "said",
    "thinking": "Hm",
    "input": {"path": "a.py", "n": [1, "deep"]},
    "content": "given",
    "name": "Read",
    "is_error": True,
    "source": {"type": "base64"},
}
VALUES: tuple[Any, ...] = (
    *(None, "", "words", 7, True, [], {}, ["bare"], {"a": "in"}, [{"type": "text", "text": "part"}]),
    [{"type": "image", "source": {"type": "base64", "data": "aGk="}}, {"type": "text"}],
    [{"type": "text", "text": None}, {"type": "tool_reference", "tool_name": "Grep"}],
)


@pytest.mark.parametrize("seed", range(4))
def test_both_roads_say_the_same_of_blocks_with_anything_in_any_place(seed: int) -> None:
    random = Random(seed)
    quick = 0
    kinds = (*("user", "assistant") * 4, "system", "queue-operation", "attachment", "summary", None)
    for _ in range(4000):
        # Mostly as it should be, so that the quick road is taken far enough to go wrong.
        some = [
            {"type": random.choice(SWITCHES)}
            | {
                name: random.choice(VALUES) if random.random() < 0.08 else usual
                for name, usual in USUAL.items()
                if random.random() < 0.5
            }
            for _ in range(random.randrange(4))
        ]
        content: object = random.choice((*[some] * 20, *VALUES))
        line: Json = {"type": random.choice(kinds), "isMeta": random.choice((True, False, None))}
        line["message"] = random.choice((*[{"role": "user", "content": content}] * 6, None, 5))
        line["content"] = random.choice((None, None, "own words", content))
        line["subtype"] = random.choice((None, "local_command", "api_error", "informational"))
        line["level"] = random.choice((None, None, None, "error", "info", 5))
        line["attachment"] = random.choice(({"type": "file", "content": content}, None, None, None, "x"))
        line["isCompactSummary"] = random.choice((None, True))
        told = quick_texts(raw(line))
        assert told in (None, texts(Entry(raw(line)))), line
        quick += bool(told)
    assert quick > 250


def test_every_planted_word_is_found_in_its_field(tmp_path: Path) -> None:
    generate(tmp_path, Recipe(1_500_000))
    truth = json.loads((tmp_path / "truth.json").read_text(encoding="utf-8"))
    assert {needle["field"] for needle in truth["needles"]} == {
        *("prompt", "text", "thinking", "tool_input", "tool_result", "summary", "title")
    }
    for needle in truth["needles"]:
        for place in needle["places"]:
            line = (tmp_path / place["file"]).read_bytes().split(b"\n")[place["line"] - 1]
            fields = {one.field for one in texts(Entry(line)) if needle["word"] in one.text}
            assert fields == {needle["field"]}, needle


def said_in(content: object) -> Iterator[str]:
    """The words of a message's content, by the plainest means there are."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for block in content:  # pyright: ignore[reportUnknownVariableType]
            yield from (block.get(name) or "" for name in ("text", "thinking"))  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
            yield from said_in(block.get("content"))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]


def test_nothing_that_was_said_in_the_recordings_is_missed() -> None:
    checked = 0
    for path in files():
        if "corpus" not in path.parts or "projects" not in path.parts:
            continue
        for line in filter(None, path.read_bytes().split(b"\n")):
            data = json.loads(line)
            if data["type"] not in ("user", "assistant", "system"):
                continue
            content = data["message"]["content"] if "message" in data else data.get("content")
            told = "\n".join(one.text for one in texts(Entry(line)))
            for words in said_in(content):
                assert words in told, (path, words[:200])
                checked += bool(words)
    assert checked > 2500


# --- what a person said -------------------------------------------------------------------------------------


def test_a_prompt_is_a_prompt_as_a_string_and_as_blocks() -> None:
    assert found(user("Paint the hull")) == [("prompt", "Paint the hull")]
    assert found(user([{"type": "text", "text": "Paint the hull"}])) == [("prompt", "Paint the hull")]
    assert found({"message": {"role": "user", "content": "no type"}}) == [("prompt", "no type")]
    assert found({"type": "user", "content": "no message"}) == [("prompt", "no message")]


def test_what_the_client_puts_beside_a_prompt_is_text() -> None:
    content = [
        {"type": "text", "text": "<ide_selection>let x = 1</ide_selection>"},
        {"type": "text", "text": "Rename x"},
        {"type": "text", "text": "<system-reminder>Be brief.</system-reminder>"},
    ]
    assert [field for field, _ in found(user(content))] == ["text", "prompt", "text"]


@pytest.mark.parametrize(
    "words",
    [
        "<command-message>review</command-message>\n<command-name>/review</command-name>",
        "<command-name>/cost</command-name>",
        "<bash-input>ls -l</bash-input>",
        "<user-memory-input>always test</user-memory-input>",
        "<ide_opened_file>a.py</ide_opened_file>\nWhat is this?",
    ],
)
def test_what_a_person_typed_is_a_prompt_whoever_answers(words: str) -> None:
    assert found(user(words)) == [("prompt", words)]


@pytest.mark.parametrize(
    "words",
    [
        "<local-command-stdout>12 USD</local-command-stdout>",
        "<bash-stdout>total 0</bash-stdout><bash-stderr></bash-stderr>",
        "[Request interrupted by user]",
        "<task-notification>done</task-notification>",
        "<system-reminder>Be brief.</system-reminder>",
        "Caveat: The messages below were generated by the user while running local commands. x",
    ],
)
def test_what_the_client_says_under_the_user_s_role_is_text(words: str) -> None:
    assert found(user(words)) == [("text", words)]
    assert found(user("Any words", isMeta=True)) == [("text", "Any words")]


def test_the_summary_of_a_compaction_is_a_summary() -> None:
    assert found(user("So far we …", isCompactSummary=True)) == [("summary", "So far we …")]


def test_pictures_give_nothing_and_documents_their_words() -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}}
    assert found(user([picture, {"type": "text", "text": "What is it?"}])) == [("prompt", "What is it?")]
    pdf = {"type": "document", "title": "Plan", "source": {"type": "base64", "data": "aGVsbG8="}}
    plain = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "Words"}}
    assert found(user([pdf, plain])) == [("text", "Plan"), ("text", "Words")]


def test_queued_prompts_are_prompts_and_queued_news_is_text() -> None:
    enqueue = {"type": "queue-operation", "operation": "enqueue", "sessionId": "s"}
    assert found({**enqueue, "content": "And the mast"}) == [("prompt", "And the mast")]
    assert found({**enqueue, "content": [{"type": "text", "text": "Mast"}]}) == [("prompt", "Mast")]
    assert found({**enqueue, "operation": "dequeue"}) == []
    news = "<task-notification>done</task-notification>"
    assert found({**enqueue, "content": news}) == [("text", news)]
    queued = {"type": "attachment", "attachment": {"type": "queued_command", "prompt": "And the mast"}}
    assert found(queued) == [("prompt", "And the mast")]
    queued["attachment"] = {"type": "queued_command", "prompt": news, "commandMode": "task-notification"}
    assert found(queued) == [("text", news)]


# --- tools --------------------------------------------------------------------------------------------------


def test_a_result_is_one_text_and_keeps_whether_it_failed() -> None:
    ok = {"type": "tool_result", "tool_use_id": "a", "content": "3 gulls"}
    bad = {"type": "tool_result", "tool_use_id": "b", "is_error": True, "content": "no gulls"}
    parts: list[Json] = [
        {"type": "text", "text": "one"},
        {"type": "image", "source": {}},
        {"type": "text", "text": "two"},
    ]
    many = {"type": "tool_result", "tool_use_id": "c", "content": parts}
    none = {"type": "tool_result", "tool_use_id": "d"}
    assert whole(user([ok, bad, none, many], toolUseResult={"stdout": "3 gulls and more"})) == [
        Text("tool_result", "3 gulls", None, 0, False),
        Text("tool_result", "no gulls", None, 1, True),
        Text("tool_result", "one\ntwo", None, 3, False),
    ]


def test_words_beside_a_result_are_text() -> None:
    content = [{"type": "tool_result", "content": "x"}, {"type": "text", "text": "Reminder"}]
    assert found(user(content)) == [("tool_result", "x"), ("text", "Reminder")]


def test_an_input_is_its_values_without_its_keys() -> None:
    given = {"command": "ls", "n": 5, "edits": [{"old": "a", "new": ""}, {"old": "b"}], "last": "c"}
    block = {"type": "tool_use", "id": "t", "name": "Edit", "input": given}
    assert whole(assistant(block)) == [Text("tool_input", "ls\na\nb\nc", "Edit", 0, False)]
    assert found(assistant({**block, "input": "bare"})) == [("tool_input", "bare")]
    assert found(assistant({**block, "input": {}})) == []


def test_a_deep_input_is_taken_apart_without_the_stack() -> None:
    deep: Any = "bottom"
    for _ in range(900):
        deep = [deep]
    line = json.dumps(assistant({"type": "tool_use", "name": "X", "input": deep})).encode()
    assert [one.text for one in texts(Entry(line))] == ["bottom"]


def test_what_the_api_s_own_tools_do_is_searched_too() -> None:
    asked = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "gulls"}}
    hit = {"type": "web_search_result", "title": "Gulls", "url": "https://g", "encrypted_content": "Xy=="}
    got = {"type": "web_search_tool_result", "tool_use_id": "s", "content": [hit]}
    mcp = {"type": "mcp_tool_use", "id": "m", "name": "look", "input": {"at": "sea"}}
    seen = {"type": "mcp_tool_result", "tool_use_id": "m", "content": [{"type": "text", "text": "waves"}]}
    assert whole(assistant(asked, got, mcp, seen)) == [
        Text("tool_input", "gulls", "web_search", 0, False),
        Text("tool_result", "Gulls\nhttps://g", None, 1, False),
        Text("tool_input", "sea", "look", 2, False),
        Text("tool_result", "waves", None, 3, False),
    ]


# --- the model and the client -------------------------------------------------------------------------------


def test_words_and_thoughts_of_the_model() -> None:
    thought = {"type": "thinking", "thinking": "Hm", "signature": "seal"}
    hidden = {"type": "redacted_thinking", "data": "Zm9v"}
    assert found(assistant(thought, hidden, {"type": "text", "text": "Yes"})) == [
        ("thinking", "Hm"),
        ("text", "Yes"),
    ]
    assert found(assistant({"type": "text", "text": ""}, {"type": "thinking", "thinking": ""})) == []


def test_a_block_of_an_unknown_kind_gives_its_words() -> None:
    odd = {"type": "canvas", "id": "c1", "title": "Sketch", "signature": "seal", "data": "Zm9v"}
    assert found(assistant(odd)) == [("text", "Sketch")]


def test_an_api_error_is_an_error() -> None:
    line = assistant({"type": "text", "text": "API Error: 529"}, isApiErrorMessage=True)
    assert whole(line) == [Text("text", "API Error: 529", None, 0, True)]
    failed = {"message": "Overloaded", "status": 529, "headers": {"x": "y"}, "error": {"message": "Busy"}}
    noted = {"type": "system", "subtype": "api_error", "error": failed}
    assert whole(noted) == [Text("text", "Overloaded\nBusy", None, 0, True)]
    hooks = {"type": "system", "subtype": "stop_hook_summary", "hookErrors": ["exit 2"], "hookCount": 1}
    assert whole(hooks) == [Text("text", "exit 2", None, 0, True)]


def test_notes_of_the_client_are_text() -> None:
    note = {"type": "system", "subtype": "informational", "content": "Switched", "level": "error"}
    assert whole(note) == [Text("text", "Switched", None, 0, True)]
    assert found({"type": "system", "subtype": "turn_duration", "durationMs": 5}) == []
    typed = "<command-name>/model</command-name>"
    assert found({"type": "system", "subtype": "local_command", "content": typed}) == [("prompt", typed)]


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ({"type": "summary", "summary": "Gulls", "leafUuid": "u"}, "summary"),
        ({"type": "ai-title", "aiTitle": "Gulls"}, "title"),
        ({"type": "custom-title", "customTitle": "Gulls"}, "title"),
        ({"type": "agent-name", "agentName": "Gulls"}, "title"),
        ({"type": "tag", "tag": "Gulls"}, "title"),
        ({"type": "pr-link", "prUrl": "Gulls", "prNumber": 7}, "text"),
        ({"type": "from-the-future", "content": "Gulls"}, "text"),
    ],
)
def test_other_entries_give_their_words(line: Json, field: str) -> None:
    assert found(line) == [(field, "Gulls")]


def test_attachments_give_their_text_and_no_ids() -> None:
    file = {"filePath": "a.py", "content": "gull = 1", "numLines": 1}
    line = {"type": "attachment", "attachment": {"type": "file", "content": {"type": "text", "file": file}}}
    assert found(line) == [("text", "a.py\ngull = 1")]
    picture = {"type": "image", "file": {"base64": "aGk=", "type": "image/png"}}
    assert found({"type": "attachment", "attachment": {"type": "file", "content": picture}}) == []
    assert (
        found({"type": "attachment", "attachment": {"type": "prompt_snapshot", "systemPrompt": ["x"]}}) == []
    )
    blocked = {"type": "hook_blocking_error", "stderr": "no"}
    assert [one.is_error for one in whole({"type": "attachment", "attachment": blocked})] == [True]


@pytest.mark.parametrize("kind", ["progress", "api-request-blob", "last-prompt", "file-history-snapshot"])
def test_copies_are_not_searched(kind: str) -> None:
    line = {"type": kind, "lastPrompt": "x", "content": "x", "message": {"role": "user", "content": "x"}}
    assert quick_texts(raw(line)) == texts(Entry(raw(line))) == []


def test_half_a_character_becomes_a_whole_one() -> None:
    block = {"type": "tool_use", "name": "N\ud800", "input": {"a": "x\udc00y"}}
    assert whole(assistant(block)) == [Text("tool_input", "x\ufffdy", "N\ufffd", 0, False)]


@pytest.mark.parametrize("line", [b"", b"[]", b"null", b"{", b"\xff", b'{"type":5}', b"{}"])
def test_what_is_no_record_gives_nothing(line: bytes) -> None:
    assert texts(Entry(line)) == []
    assert not quick_texts(line)
