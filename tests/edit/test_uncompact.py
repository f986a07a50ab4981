"""The turns before a compaction come back, once and in their place."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from clew.edit.compress import compress
from clew.edit.uncompact import uncompact
from clew.errors import UsageError
from clew.session.context import Context, context
from clew.session.session import Session
from tests.builder import Builder
from tests.conformance.generator import generate
from tests.edit.laws import CLIENTS, check_bytes, check_twice, corpus, result_of, said

if TYPE_CHECKING:
    from clew.edit.changes import Changes

every = partial(uncompact, every=True)


def compacted() -> Builder:
    """Three turns, the conversation compacted after the first and after the second."""
    builder = Builder().prompt("ask 1").answer("say 1").compact("Summary one.")
    builder.prompt("ask 2").answer("say 2").compact("Summary two.")
    return builder.prompt("ask 3").answer("say 3")


def test_the_last_compaction_is_taken_back() -> None:
    session = compacted().session()
    assert said(session) == ["Summary two.", "ask 3", "say 3"]
    for client in CLIENTS:
        now = said(result_of(uncompact(session)), client=client)
        assert now == ["Summary one.", "ask 2", "say 2", "ask 3", "say 3"]


def test_every_compaction_may_be_taken_back() -> None:
    session = compacted().session()
    for client in CLIENTS:
        now = said(result_of(every(session)), client=client)
        assert now == ["ask 1", "say 1", "ask 2", "say 2", "ask 3", "say 3"]


def test_one_compaction_may_be_named() -> None:
    session = compacted().session()
    boundary = session.entry(2).uuid
    assert boundary is not None
    once = result_of(uncompact(session, boundary=boundary))
    assert said(once) == ["Summary two.", "ask 3", "say 3"]
    assert said(result_of(uncompact(once))) == ["ask 1", "say 1", "ask 2", "say 2", "ask 3", "say 3"]


@pytest.mark.parametrize("name", ["u1", "nobody"])
def test_a_line_that_is_no_compaction_is_an_error(name: str) -> None:
    with pytest.raises(UsageError):
        uncompact(compacted().session(), boundary=name)


def test_a_session_that_was_never_compacted_stays_as_it_is() -> None:
    assert not uncompact(Builder().prompt("ask").answer("say").session())
    assert not every(Session.read(b""))


@pytest.mark.parametrize("named", [None, "nobody"])
def test_a_compaction_that_names_no_line_followed_the_one_before_it(named: str | None) -> None:
    builder = Builder().prompt("ask 1").answer("say 1")
    builder.system("compact_boundary", parentUuid=None, logicalParentUuid=named)
    builder.user("Summary.", isCompactSummary=True).prompt("ask 2").answer("say 2")
    for client in CLIENTS:
        assert said(result_of(uncompact(builder.session())), client=client) == [
            "ask 1",
            "say 1",
            "ask 2",
            "say 2",
        ]


def test_what_was_preserved_is_sent_once() -> None:
    builder = Builder().prompt("ask 1").answer("say 1").prompt("ask 2").answer("say 2")
    listed = {"anchorUuid": "sum", "uuids": ["u3", "u4"], "allUuids": ["u3", "u4"]}
    builder.system(
        "compact_boundary",
        parentUuid=None,
        logicalParentUuid="u4",
        compactMetadata={"preservedMessages": listed},
    )
    builder.user("Summary.", isCompactSummary=True, uuid="sum").prompt("ask 3").answer("say 3")
    session = builder.session()
    assert said(session) == ["Summary.", "ask 2", "say 2", "ask 3", "say 3"]
    assert said(result_of(uncompact(session))) == ["ask 1", "say 1", "ask 2", "say 2", "ask 3", "say 3"]


def test_a_word_from_before_on_where_it_ends_stays_void() -> None:
    builder = Builder().prompt("ask 1").answer("say 1").prompt("left alone").answer("left too")
    builder.line({"type": "last-prompt", "leafUuid": "u4", "sessionId": "s1"})
    builder.rewind("u2").compact("Summary.").prompt("ask 2").answer("say 2")
    session = builder.session()
    assert said(session) == ["Summary.", "ask 2", "say 2"]
    assert said(result_of(uncompact(session))) == ["ask 1", "say 1", "ask 2", "say 2"]


def squeezed(session: Session, keep_turns: int) -> Changes:
    """The older turns as a summary."""
    return compress(
        session, keep_turns=keep_turns, summary=None, keep_calls=False, seed=b"x", now_ms=1_900_000_000_000
    )


def check_back(data: bytes) -> int:
    """Check that what is compressed comes back as it was; return how often something was compressed."""
    session = Session.read(data)
    before = context(session)
    count = 0
    for keep_turns in (0, 1, 2):
        changes = squeezed(session, keep_turns)
        if changes:
            count += 1
            back = result_of(uncompact(result_of(changes)))
            assert context(back).messages == before.messages
    return count


@pytest.mark.parametrize("start", range(0, 120, 20))
def test_taking_back_a_compression_sends_what_was_sent_before(start: int) -> None:
    assert sum(check_back(generate(seed).data) for seed in range(start, start + 20)) > 20


def test_taking_back_a_compression_of_real_sessions_sends_what_was_sent_before() -> None:
    assert sum(check_back(path.read_bytes()) for path in corpus()) > 200


def check_whole(data: bytes) -> bool:
    """Check the laws, and that nothing is lost of what was said after the compactions."""
    session = Session.read(data)
    changes = every(session)
    new = Session.read(check_bytes(data, changes))
    check_twice(check_bytes(data, changes), every)
    before, after = context(session), context(new)
    if before.refused is not None or not changes:
        return False
    assert after.refused is None
    kept = [row for rows in before.rows for row in rows if row not in changes.dropped]
    assert {session.entry(row).uuid for row in kept} <= _uuids(new, after)
    return True


def _uuids(session: Session, found: Context) -> set[str | None]:
    uuids = [session.entry(row).uuid for rows in found.rows for row in rows]
    assert len(uuids) == len(set(uuids))
    return set(uuids)


@pytest.mark.parametrize("start", range(0, 120, 20))
def test_nothing_that_was_said_after_a_compaction_is_lost(start: int) -> None:
    assert sum(check_whole(generate(seed).data) for seed in range(start, start + 20))


def test_compactions_of_real_clients_are_taken_back() -> None:
    assert sum(check_whole(path.read_bytes()) for path in corpus()) > 20
