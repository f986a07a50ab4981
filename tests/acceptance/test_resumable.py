"""Edits of made sessions, resumed by the real client through the strict stand-in."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

import pytest

from clew.session.context import context
from clew.session.session import Session
from tests.conformance.client import MODEL, PROMPT, resume
from tests.conformance.notation import normal, short, without_prompt
from tests.edit.resumable import results, resumable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.conformance.client import Client, Sent

pytestmark = pytest.mark.acceptance

EACH = 5
"""How many edits of one session are tried."""

EDITS = 16


class Verdict(NamedTuple):
    """What came of one edit of one session."""

    seed: int
    way: str
    problem: str | None
    detail: str = ""


class Chosen(NamedTuple):
    """A session and some edits of it."""

    seed: int
    data: bytes
    results: list[tuple[str, bytes]]


def chosen(seeds: Iterable[int], many: int) -> list[Chosen]:
    """Choose sessions that the API takes as they are, and of each the edits that were tried least so far."""
    tried: Counter[str] = Counter()
    found: list[Chosen] = []
    for seed in seeds:
        source = resumable(seed)
        if source is None or source.refusal is not None:
            continue
        made = sorted(results(source, seed), key=lambda one: tried[one[0]])[:EACH]
        tried.update(name for name, _ in made)
        found.append(Chosen(seed, source.data, made))
        if tried.total() >= many:
            return found
    raise AssertionError("there are not enough seeds")


def measure(client: Client, seeds: Iterable[int], many: int) -> list[Verdict]:
    """Let the client resume edits of made sessions."""

    def one(source: Chosen) -> list[Verdict]:
        sent = resume(client, source.data, strict=True)
        assert sent.messages is not None, f"seed {source.seed}: {sent.refused}"
        assert not sent.refusals, f"seed {source.seed}: {sent.refusals[0]}"
        as_told = is_as_told(client, source.data, sent) is None
        found: list[Verdict] = []
        for way, data in source.results:
            result = resume(client, data, strict=True, trusted=sent.messages)
            if result.messages is None:
                found.append(Verdict(source.seed, way, "not resumed", result.refused or ""))
            elif result.refusals:
                found.append(Verdict(source.seed, way, "the API would refuse it", result.refusals[0]))
            else:
                # Where the source is one of the few that are told wrong, so may be what is made of it.
                told = is_as_told(client, data, result) if as_told else None
                problem = None if told is None else "not what clew context says"
                found.append(Verdict(source.seed, way, problem, told or ""))
        return found

    with ThreadPoolExecutor(2) as pool:
        return [verdict for found in pool.map(one, chosen(seeds, many)) for verdict in found]


def is_as_told(client: Client, data: bytes, sent: Sent) -> str | None:
    """Say how what the client sent differs from what `context` says of the file."""
    said = context(Session.read(data), client=client.version, model=MODEL)
    theirs, ours = without_prompt(sent.messages or (), PROMPT), normal(said.messages)
    if theirs == ours:
        return None
    return "\n".join([*(f"- {one}" for one in short(theirs)), *(f"+ {one}" for one in short(ours))])


def judge(found: list[Verdict], many: int) -> None:
    """All of them, and every edit among them."""
    print(f"\n{len(found)} results resumed: {dict(Counter(one.way for one in found))}")
    assert len(found) >= many
    assert len({one.way for one in found}) == EDITS
    bad = [one for one in found if one.problem is not None]
    assert not bad, "\n".join(f"seed {one.seed} {one.way}: {one.problem}\n{one.detail}" for one in bad)


def test_30_edits_of_made_sessions_are_resumed(client: Client) -> None:
    judge(measure(client, range(7000, 7100), 30), 30)
