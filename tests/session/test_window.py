"""How the context window filled: measured where it was measured, and all parts together are the whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from clew.session.session import Session
from clew.session.turns import turns
from clew.session.window import Fill, Window, scaled, thinned, window
from tests.builder import Builder, call, image, text, thinking
from tests.conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping

WORDS = "what a program printed, line by line\n" * 40


def usage(tokens: int, **more: int) -> dict[str, Any]:
    return {"input_tokens": 10, "cache_read_input_tokens": tokens - 10, "output_tokens": 5, **more}


def said(made: Builder, tokens: int, *blocks: Any) -> Builder:
    """Add an answer whose request held so many tokens."""
    for block in blocks:
        content = [text(block) if isinstance(block, str) else dict(block)]
        message = {"id": f"m{tokens}", "model": "claude", "role": "assistant", "content": content}
        made.entry("assistant", message={**message, "usage": usage(tokens)})
    return made


def read(made: Builder) -> Window:
    session = made.session()
    of = {row: turn.n for turn in turns(session) for row in turn.rows}
    return window(session, range(len(session)), lambda row: of.get(row, 0))


def test_a_fill_is_what_the_last_request_of_its_turn_held() -> None:
    made = Builder().user("go on")
    said(made, 1_000, thinking("hm"), call("t1", "Bash", {"command": "ls"}))
    made.result("t1", WORDS)
    said(made, 1_500, "done").user("and now?")
    said(made, 1_600, "nothing")
    found = read(made)
    assert [(fill.turn, fill.tokens) for fill in found.fills] == [(1, 1_500), (2, 1_600)]
    for fill in found.fills:
        assert sum(fill.by_kind.values()) == fill.tokens
    assert set(found.fills[0].by_kind) == {"prompts", "thinking", "calls", "result:Bash", "system"}
    assert found.fills[0].by_kind["system"] > 900, "what the first request held beyond the words"
    assert "text" not in found.fills[0].by_kind, "an answer is not in its own request"
    assert "text" in found.fills[1].by_kind


def test_the_table_is_of_the_last_fill_and_its_shares_are_one() -> None:
    made = Builder().user([text("look"), image()])
    said(made, 4_000, call("t1", "Read", {"file_path": "/x"}))
    made.result("t1", [text(WORDS), image()])
    said(made, 6_000, "seen")
    found = read(made)
    assert sum(row.tokens for row in found.table) == 6_000
    assert abs(sum(row.share for row in found.table) - 1) < 1e-9
    assert {row.kind: row.blocks for row in found.table} == {
        "system": 0, "images": 2, "result:Read": 1, "prompts": 1, "calls": 1,
    }  # fmt: skip
    assert [row.tokens for row in found.table] == sorted((row.tokens for row in found.table), reverse=True)


def test_a_compaction_leaves_its_summary_and_what_it_kept() -> None:
    made = Builder().user("one " * 500)
    said(made, 9_000, "yes " * 500).user("two")
    said(made, 9_900, "kept")
    kept = made.leaf
    made.system(
        "compact_boundary",
        parentUuid=None,
        logicalParentUuid=kept,
        compactMetadata={"trigger": "auto", "preTokens": 9_950, "preservedMessages": {"uuids": [kept]}},
    )
    made.user("what was said", isCompactSummary=True).user("three")
    said(made, 3_000, "go")
    found = read(made)
    (cut,) = found.compactions
    assert (cut.turn, cut.before, cut.after, cut.trigger) == (2, 9_950, 3_000, "auto")
    last = found.fills[-1]
    assert last.tokens == 3_000
    assert {"summary", "text", "prompts", "system"} == set(last.by_kind)
    assert last.by_kind["text"] < 50, "one short answer was kept of all"


def test_a_stretch_that_was_kept_is_counted_without_the_compaction_itself() -> None:
    made = Builder().user("one")
    said(made, 500, "first").user("two")
    head = made.leaf
    said(made, 600, "second")
    segment = {"headUuid": head, "tailUuid": made.leaf, "anchorUuid": "x"}
    meta = {"trigger": "manual", "preTokens": 650, "postTokens": 300, "preservedSegment": segment}
    made.system("compact_boundary", parentUuid=None, compactMetadata=meta)
    made.user("summary", isCompactSummary=True)
    found = read(made)
    (cut,) = found.compactions
    assert (cut.before, cut.after, cut.is_estimated) == (650, 300, False)
    assert found.fills[-1].by_kind["prompts"]


def test_without_any_measure_it_is_an_estimate_and_says_so() -> None:
    made = Builder().user("hello").entry("assistant", message={"role": "assistant", "content": "hi there"})
    made.compact().user("more")
    found = read(made)
    assert [fill.tokens for fill in found.fills] == [None, None]
    assert found.compactions[0].is_estimated
    assert read(Builder()).fills == ()
    assert read(Builder()).table == ()


def test_a_compaction_of_which_nobody_told_how_much_there_was_stays_an_estimate() -> None:
    made = Builder().user("one " * 500)
    said(made, 9_000, "yes " * 500)
    made.system("compact_boundary", parentUuid=None, compactMetadata={"trigger": "auto"})
    made.user("what was said", isCompactSummary=True).user("two")
    said(made, 3_000, "go")
    (cut,) = read(made).compactions
    assert (cut.after, cut.is_estimated) == (3_000, True)


def test_what_the_client_adds_is_its_own_kind() -> None:
    made = Builder().user("hello").meta("a caveat of the client")
    made.entry("attachment", attachment={"type": "image", "content": "a todo list"})
    made.system("local_command", content="<command-name>/cost</command-name>")
    found = read(made)
    assert found.table[0].kind == "system"
    assert found.table[0].blocks == 3


def test_a_hostile_number_of_tools_does_not_become_a_hostile_number_of_kinds() -> None:
    made = Builder().user("go")
    for at in range(60):
        name = f"tool-{at}-" + "x" * 500
        made.answer(call(f"t{at}", name), message_id=f"m{at}").result(f"t{at}", "ok")
    kinds = read(made.answer("done")).fills[-1].by_kind
    assert len(kinds) < 30
    assert all(len(kind) < 100 for kind in kinds)


def test_every_session_of_real_clients_has_a_window_that_adds_up() -> None:
    measured = 0
    for path in sorted((ROOT / "tests" / "data" / "corpus").rglob("*.jsonl"))[::4]:
        session = Session.read(path.read_bytes())
        of = {row: turn.n for turn in turns(session) for row in turn.rows}
        found = window(session, range(len(session)), lambda row, of=of: of.get(row, 0))
        for fill in found.fills:
            assert all(many >= 0 for many in fill.by_kind.values())
            if fill.tokens is not None:
                measured += 1
                assert sum(fill.by_kind.values()) == fill.tokens
    assert measured > 20


@given(st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 10**9)), st.integers(1, 10**9))
def test_parts_are_scaled_to_the_whole(parts: Mapping[str, int], whole: int) -> None:
    found = scaled(parts, whole)
    assert sum(found.values()) == whole
    assert all(many >= 0 for many in found.values())
    assert scaled(parts, None) == parts


@given(st.integers(0, 300), st.integers(1, 100))
def test_thinned_fills_keep_their_order_and_their_ends(many: int, most: int) -> None:
    fills = [Fill(at, None, at, {}) for at in range(many)]
    found = thinned(fills, most)
    assert len(found) <= most
    assert [one.turn for one in found] == sorted({one.turn for one in found})
    if many:
        assert found[-1] is fills[-1]
        assert most == 1 or found[0] is fills[0]
