"""Every kind of damage is mended, each shown on a small session; judged by the lines of the result."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pytest

from clew.edit.plan import Keep
from clew.edit.repair import repair
from clew.edit.repair_pairs import WORDS
from clew.edit.thinking import drop_thinking
from clew.session.check import check
from clew.session.context import context
from clew.session.session import Session
from tests.builder import Builder, call, text, thinking

if TYPE_CHECKING:
    from clew.edit.repair_state import Repaired

SEED = b"a seed of thirty-two bytes, more"
NOW = 1_800_000_000_000
OLD = ("1.0.128", "2.0.42", "2.0.76", "2.1.45", "2.1.88", "2.1.150", "2.1.220", "2.1.325")
Json = Mapping[str, Any]


def mended(data: bytes | Builder, **options: Any) -> tuple[bytes, Repaired]:
    """Repair a file; the result must need no second repair."""
    source = data if isinstance(data, bytes) else data.data()
    changes = repair(Session.read(source), seed=SEED, now_ms=NOW, **options)
    new = b"".join(changes.plan("new.jsonl").pieces())
    again = repair(Session.read(new), seed=SEED, now_ms=NOW, **options)
    assert b"".join(again.plan("new.jsonl").pieces()) == new
    assert not again
    return new, changes


def lines(data: bytes) -> list[Json]:
    return [json.loads(line) for line in data.split(b"\n") if line.strip()]


def sent(data: bytes, client: str = "2.1.325") -> list[str]:
    """Return what is sent, a string for each block."""
    found = context(Session.read(data), client=client)
    assert found.refused is None
    words: list[str] = []
    for message in found.messages:
        for block in message["content"]:
            inner = block.get("text") or block.get("thinking") or block.get("tool_use_id") or block.get("id")
            words.append(f"{message['role'][0]}:{block['type']}:{inner}")
    return words


def two_turns() -> Builder:
    return Builder().prompt("one").answer("first").prompt("two").answer("second")


def split(builder: Builder) -> list[bytes]:
    return builder.data().splitlines(keepends=True)


WHOLE = ["u:text:one", "a:text:first", "u:text:two", "a:text:second"]


# Bytes ------------------------------------------------------------------------------------------


def test_a_torn_last_line_is_kept_aside_and_left_out() -> None:
    data = two_turns().data()
    torn = data + b'{"type":"user","uuid":"u9","mess'
    new, changes = mended(torn)
    assert new == data
    (aside,) = changes.quarantine
    assert (aside.offset, aside.length, aside.line) == (len(data), len(torn) - len(data), 5)
    assert aside.read() == torn[len(data) :]


def test_a_record_behind_a_torn_one_gets_a_line_of_its_own_and_hangs_on_the_one_before() -> None:
    one, two, three, four = split(two_turns())
    new, changes = mended(one + two[:50] + three + four)
    assert [line["uuid"] for line in lines(new)] == ["u1", "u3", "u4"]
    assert lines(new)[1]["parentUuid"] == "u1"
    assert [aside.read() for aside in changes.quarantine] == [two[:50]]
    assert new.endswith(four)


def test_two_records_on_one_line_get_a_line_each() -> None:
    one, two, three, four = split(two_turns())
    glued = one + two.rstrip() + three + four
    assert sent(glued) != WHOLE
    new, changes = mended(glued)
    assert new == two_turns().data()
    assert changes.quarantine == []


def test_nuls_before_between_and_behind_records_go() -> None:
    one, two, three, four = split(two_turns())
    nuls = b"\0" * 300
    new, changes = mended(
        one + nuls + b"\n" + nuls + two.rstrip() + nuls + three.rstrip() + nuls + b"\n" + four
    )
    assert new == two_turns().data()
    assert [aside.length for aside in changes.quarantine] == [300] * 4


def test_what_is_no_object_and_what_nests_too_deep_is_kept_aside() -> None:
    one, *rest = split(two_turns())
    deep = b'{"type":"user","uuid":"d","x":' + b"[" * 5000 + b"]" * 5000 + b"}"
    new, changes = mended(one + b"[1,2]\n" + deep + b"\n<html>\n" + b"".join(rest))
    assert new == two_turns().data()
    assert [aside.read() for aside in changes.quarantine] == [b"[1,2]", deep, b"<html>"]


def test_a_long_line_of_two_records_is_taken_apart() -> None:
    one, two, three, four = split(
        Builder().prompt("one").answer("first" * 2_000_000).prompt("two").answer("second")
    )
    new, _ = mended(one + two.rstrip() + three + four)
    assert new == one + two + three + four


def test_the_byte_order_mark_goes_and_the_last_newline_comes() -> None:
    data = two_turns().data()
    new, _ = mended(b"\xef\xbb\xbf" + data.rstrip(b"\n"))
    assert new == data


def test_a_file_of_nothing_stays_as_it_is() -> None:
    for data in (b"", b"\n\n", b"\xef\xbb\xbf", b"   "):
        assert mended(data)[0] == data


def test_numbers_that_are_no_json_become_null_and_words_stay() -> None:
    one, *rest = split(two_turns())
    odd = one.replace(b"{", b'{"odd":[NaN,-Infinity,Infinity,"NaN \\" Infinity"],', 1)
    new, _ = mended(odd + b"".join(rest))
    assert lines(new)[0]["odd"] == [None, None, None, 'NaN " Infinity']
    assert new.split(b"\n", 1)[1] == b"".join(rest)


def test_half_characters_are_replaced_in_what_is_sent_and_whole_ones_stay() -> None:
    data = Builder().prompt("one X \U0001f9f6").answer(call("c1", given={"key X": "v"})).result("c1").data()
    data = data.replace(b" X", b" \\ud83d \\\\ud83d \\ud83e\\uddf6")
    title = b'{"type":"custom-title","customTitle":"\\udc00"}\n'
    new, _ = mended(data + title)
    assert lines(new)[0]["message"]["content"].startswith("one \ufffd \\ud83d \U0001f9f6")
    assert list(lines(new)[1]["message"]["content"][0]["input"]) == ["key \ufffd \\ud83d \U0001f9f6"]
    assert new.endswith(title)
    assert not context(Session.read(new)).api_problems


def test_bytes_that_are_no_utf8_become_a_sign_for_it() -> None:
    new, _ = mended(two_turns().data().replace(b"first", b"fi\xffst"))
    assert sent(new)[1] == "a:text:fi\ufffdst"


# The graph --------------------------------------------------------------------------------------


def test_a_missing_parent_is_the_line_before() -> None:
    builder = Builder().prompt("one").answer("first").wait(60).rewind("gone").prompt("two").answer("second")
    assert sent(builder.data()) == WHOLE[2:]
    new, _ = mended(builder)
    for client in OLD:
        assert sent(new, client) == WHOLE


def test_a_beginning_that_was_cut_off_is_a_root() -> None:
    new, _ = mended(b"".join(split(two_turns())[2:]))
    assert lines(new)[0]["parentUuid"] is None


def test_a_circle_is_cut_where_it_was_closed() -> None:
    one, two, three, four = split(two_turns())
    three = three.replace(b'"parentUuid":"u2"', b'"parentUuid":"u4"')
    new, _ = mended(one + two + three + four)
    assert new == two_turns().data()


def test_a_line_that_is_its_own_parent_follows_the_one_before() -> None:
    one, two, three, four = split(two_turns())
    new, _ = mended(one + two + three.replace(b'"parentUuid":"u2"', b'"parentUuid":"u3"') + four)
    assert new == two_turns().data()


@pytest.mark.parametrize("line", [1, 2, 3, 4])
def test_the_same_line_again_goes_and_old_clients_do_not_end_in_it(line: int) -> None:
    new, changes = mended(two_turns().again(line))
    assert len(changes.dropped) == 1
    for client in OLD:
        assert sent(new, client) == WHOLE


def test_of_different_lines_with_one_uuid_the_last_keeps_it_and_the_words_of_all_stay() -> None:
    builder = two_turns()
    other = split(builder)[3].replace(b"second", b"another")
    new, _ = mended(builder.data() + other)
    found = lines(new)
    assert len({line["uuid"] for line in found}) == 5
    assert [line["uuid"] for line in found if "another" in str(line)] == ["u4"]
    assert any("second" in str(line) for line in found)
    for client in OLD:
        assert sent(new, client) == [*WHOLE[:3], "a:text:another"]
    assert not check(new).counts.get("conflicting-uuid")


def test_an_earlier_line_with_nothing_of_its_own_to_say_goes() -> None:
    one, two, three, four = split(two_turns())
    new, changes = mended(one + two + three + four.replace(b'"output_tokens":1', b'"output_tokens":9') + four)
    assert new == two_turns().data()
    assert list(changes.dropped) == [3]


# Calls and results ------------------------------------------------------------------------------


def test_a_call_without_a_result_gets_one_right_behind_it() -> None:
    builder = Builder().prompt("one").answer(call("c1")).prompt("two").answer("second")
    new, _ = mended(builder)
    added = lines(new)[2]
    assert added["message"]["content"] == [
        {"type": "tool_result", "content": WORDS, "is_error": True, "tool_use_id": "c1"}
    ]
    assert (added["parentUuid"], lines(new)[3]["parentUuid"]) == ("u2", added["uuid"])
    for client in OLD:
        assert sent(new, client)[:4] == ["u:text:one", "a:tool_use:c1", "u:tool_result:c1", "u:text:two"]


def test_of_parallel_calls_only_the_one_without_a_result_gets_one() -> None:
    builder = Builder().prompt("one").answer(call("c1"), call("c2"), call("c3")).result("c1").result("c3")
    new, _ = mended(builder.answer("done"))
    assert sum(WORDS in str(line["message"]) for line in lines(new)) == 1
    for client in OLD:
        assert sorted(word for word in sent(new, client) if "tool" in word) == [
            *("a:tool_use:c1", "a:tool_use:c2", "a:tool_use:c3"),
            *("u:tool_result:c1", "u:tool_result:c2", "u:tool_result:c3"),
        ]


def test_a_call_at_the_very_end_gets_a_result_that_old_clients_end_in() -> None:
    new, _ = mended(Builder().prompt("one").answer(call("c1")))
    for client in OLD:
        assert sent(new, client)[:3] == ["u:text:one", "a:tool_use:c1", "u:tool_result:c1"]


def test_a_result_without_a_call_goes_and_words_beside_it_stay() -> None:
    builder = (
        Builder()
        .prompt("one")
        .answer("first")
        .result("c9")
        .user([{"type": "tool_result", "tool_use_id": "c8", "content": "x"}, text("two")])
    )
    new, _ = mended(builder.answer("second"))
    assert sent(new) == WHOLE
    assert b"tool_result" not in new


def test_a_second_result_of_a_call_goes() -> None:
    new, _ = mended(
        Builder().prompt("one").answer(call("c1")).result("c1", "a").result("c1", "b").answer("done")
    )
    assert [line["uuid"] for line in lines(new)] == ["u1", "u2", "u3", "u5"]
    both = [{"type": "tool_result", "tool_use_id": "c1", "content": words} for words in "ab"]
    new, _ = mended(Builder().prompt("one").answer(call("c1")).user(both).answer("done"))
    assert [block["content"] for block in lines(new)[2]["message"]["content"]] == ["a"]


def test_a_result_before_its_call_or_behind_another_answer_is_moved() -> None:
    before = Builder().prompt("one").result("c1", "a").answer(call("c1")).answer("done")
    late = Builder().prompt("one").answer(call("c1")).answer("aside").result("c1", "a").answer("done")
    for builder in (before, late):
        new, changes = mended(builder)
        assert len(changes.dropped) == 1
        for client in OLD:
            assert sent(new, client)[:3] == ["u:text:one", "a:tool_use:c1", "u:tool_result:c1"]
            assert sent(new, client)[-1] == "a:text:done"


def test_words_before_a_result_in_one_line_come_behind_it() -> None:
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "a"}
    new, _ = mended(Builder().prompt("one").answer(call("c1")).user([text("two"), result]).answer("done"))
    assert sent(new)[2:4] == ["u:tool_result:c1", "u:text:two"]
    assert not context(Session.read(new)).api_problems


def test_a_second_call_under_a_used_id_gets_one_of_its_own_with_its_result() -> None:
    builder = Builder().prompt("one").answer(call("c1")).result("c1", "a").answer(call("c1", "Bash"))
    new, _ = mended(builder.result("c1", "b").answer("done"))
    names = [word.split(":")[2] for word in sent(new) if "tool" in word]
    assert names[0] == names[1] == "c1" != names[2] == names[3]


# Blocks -----------------------------------------------------------------------------------------


def test_thinking_without_a_signature_goes_with_its_line_if_that_holds_no_more() -> None:
    alone = Builder().prompt("one").answer(thinking("how", ""), text("first"))
    new, _ = mended(alone)
    assert [line["uuid"] for line in lines(new)] == ["u1", "u3"]
    beside = (
        Builder()
        .prompt("one")
        .entry("assistant", message={"role": "assistant", "content": [thinking("how", ""), text("first")]})
    )
    new, _ = mended(beside)
    assert lines(new)[1]["message"]["content"] == [text("first")]


def test_thinking_without_words_stays_unless_it_is_asked_for_or_an_error_names_it() -> None:
    builder = Builder().prompt("one").answer(thinking(""), text("first"))
    assert mended(builder)[0] == builder.data()
    assert len(lines(mended(builder, drop_empty_thinking=True)[0])) == 2
    builder.answer("API Error: 400 thinking blocks cannot be modified", isApiErrorMessage=True)
    assert len(lines(mended(builder)[0])) == 3
    assert mended(builder, drop_empty_thinking=False)[0] == builder.data()


def test_texts_without_words_go_and_a_prompt_of_nothing_else_says_so() -> None:
    blank = {"role": "assistant", "content": [text(" "), text("first"), text("")]}
    new, _ = mended(
        Builder().prompt("one").entry("assistant", message=blank).prompt("").answer("\n").answer("x")
    )
    assert sent(new) == ["u:text:one", "a:text:first", "u:text:(no content)", "a:text:x"]


@pytest.mark.parametrize("content", [[], None, ...])
def test_a_message_without_content_goes(content: object) -> None:
    message = {"role": "user"} if content is ... else {"role": "user", "content": content}
    builder = Builder().prompt("one").answer("first").user("", message=message).answer("x").prompt("two")
    new, changes = mended(builder.answer("second"))
    assert list(changes.dropped) == [2]
    assert sent(new) == [*WHOLE[:2], "a:text:x", *WHOLE[2:]]


def test_a_block_that_stands_alone_is_put_into_a_list() -> None:
    new, _ = mended(Builder().prompt(text("one")).answer("first").prompt("two").answer("second"))
    assert sent(new) == WHOLE


def png(width: int, height: int, size: int = 100) -> Json:
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunk = struct.pack(">I", 13) + b"IHDR" + head + struct.pack(">I", zlib.crc32(b"IHDR" + head))
    data = (b"\x89PNG\r\n\x1a\n" + chunk).ljust(size, b"\0")
    source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(data).decode()}
    return {"type": "image", "source": source}


def test_a_picture_that_is_too_large_becomes_a_note_and_is_kept_aside() -> None:
    heavy = png(100, 100, 5_300_000)
    builder = (
        Builder().prompt([png(9000, 20), png(7000, 20), text("one")]).answer(call("c1")).result("c1", [heavy])
    )
    new, changes = mended(builder.answer("done"))
    assert [aside.media_type for aside in changes.quarantine] == ["image/png"] * 2
    assert len(changes.quarantine[1].read()) == 5_300_000
    content = lines(new)[0]["message"]["content"]
    assert content[0]["text"].startswith("[image removed by clew repair: 9000×20 PNG")
    assert content[1:] == [png(7000, 20), text("one")]
    assert len(new) < 10_000


def test_among_many_pictures_each_must_be_smaller() -> None:
    few = Builder().prompt([png(3000, 20)] * 20)
    assert mended(few.answer("x"))[0] == few.data()
    new, changes = mended(Builder().prompt([*[png(100, 20)] * 20, png(3000, 20)]).answer("x"))
    assert len(changes.quarantine) == 1
    assert not context(Session.read(new)).api_problems


def test_what_others_change_counts_blocks_as_they_were() -> None:
    content = [text(""), thinking("how"), text("first")]
    session = (
        Builder()
        .prompt("one")
        .entry("assistant", message={"role": "assistant", "content": content})
        .session()
    )
    changes = repair(session, seed=SEED, now_ms=NOW)
    drop_thinking(changes, 1, [1], "void")
    new = b"".join(changes.plan("new.jsonl").pieces())
    assert lines(new)[1]["message"]["content"] == [text("first")]


# Times and ends ---------------------------------------------------------------------------------


@pytest.mark.parametrize("time", [..., "yesterday", "", 12, None])
def test_a_time_that_is_not_there_or_not_one_lies_between_its_neighbours(time: object) -> None:
    builder = (
        Builder().prompt("one").answer("first", timestamp=time).prompt("two").answer("second", timestamp=time)
    )
    new, _ = mended(builder)
    times = [line["timestamp"] for line in lines(new)]
    assert times == sorted(times)
    for client in OLD:
        assert sent(new, client) == WHOLE


def test_a_session_without_any_time_gets_the_time_of_now() -> None:
    new, _ = mended(Builder().prompt("one", timestamp=...).answer("first", timestamp=...))
    assert [line["timestamp"] for line in lines(new)] == [
        "2027-01-15T07:59:59.998Z",
        "2027-01-15T07:59:59.999Z",
    ]


def test_only_the_time_of_the_end_changes_where_old_clients_would_miss_it() -> None:
    builder = Builder()
    for words in ("one", "first", "two", "second"):
        (builder.prompt if words in {"one", "two"} else builder.answer)(
            words, timestamp="2026-03-04T09:00:00.000Z"
        )
    assert sent(builder.data(), "2.0.76")[0] == "u:text:one"
    assert len(sent(builder.data(), "2.0.76")) < 4
    new, changes = mended(builder)
    assert [isinstance(step, Keep) for _, step in changes.plan("").steps()] == [True, True, True, False]
    for client in OLD:
        assert sent(new, client) == WHOLE


def test_a_time_that_is_still_to_come_does_not_end_the_conversation() -> None:
    builder = (
        Builder()
        .prompt("one")
        .answer("first", timestamp="9999-01-01T00:00:00Z")
        .prompt("two")
        .answer("second")
    )
    new, _ = mended(builder)
    assert lines(new)[3] == lines(builder.data())[3]
    for client in OLD:
        assert sent(new, client) == WHOLE


def test_a_hint_that_leaves_most_of_the_session_out_is_overruled() -> None:
    builder = Builder().prompt("try").answer("no").rewind(None)
    builder.prompt("one").answer("first", "and more").prompt("two").answer("second")
    hint = {"type": "last-prompt", "lastPrompt": "try", "leafUuid": "u2", "sessionId": "s1"}
    builder.line(hint)
    assert sent(builder.data()) == ["u:text:try", "a:text:no"]
    new, _ = mended(builder)
    assert lines(new)[-1] == {"type": "last-prompt", "lastPrompt": "two", "leafUuid": "u7", "sessionId": "s1"}
    for client in OLD:
        assert sent(new, client) == [*WHOLE[:2], "a:text:and more", *WHOLE[2:]]


def test_a_line_a_person_went_back_to_stays_the_end() -> None:
    builder = two_turns().line({"type": "last-prompt", "leafUuid": "u2", "explicit": True})
    assert mended(builder)[0] == builder.data()


def test_a_hint_that_names_nothing_names_the_end() -> None:
    new, _ = mended(two_turns().line({"type": "last-prompt", "lastPrompt": "x", "leafUuid": "gone"}))
    assert lines(new)[-1] == {"type": "last-prompt", "lastPrompt": "x", "leafUuid": "u4"}


def test_a_late_line_that_hangs_on_nothing_is_joined_to_the_rest() -> None:
    builder = two_turns().rewind(None).prompt("three")
    assert sent(builder.data())[0] == "u:text:three"
    new, _ = mended(builder)
    for client in OLD:
        assert sent(new, client)[:5] == [*WHOLE, "u:text:three"]


def test_a_conversation_that_begins_with_an_answer_gets_a_beginning() -> None:
    new, _ = mended(b"".join(split(two_turns())[1:]))
    assert sent(new)[1:] == WHOLE[1:]
    assert sent(new)[0].startswith("u:text:[the beginning")


def test_an_api_error_at_the_end_stays() -> None:
    builder = two_turns().answer("API Error: overloaded", isApiErrorMessage=True)
    assert mended(builder)[0] == builder.data()
