"""Laws of repairing, over real sessions, made ones, and made ones that were damaged by chance."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Final, cast

import pytest

from clew.edit.plan import Drop, Keep, Patch
from clew.edit.repair import repair
from clew.format.entry import as_mapping
from clew.session.chain import chain
from clew.session.check import check
from clew.session.context import context
from clew.session.eras import rules
from clew.session.graph import Graph
from clew.session.reach import has_conversation, is_said
from clew.session.session import Session
from tests.conformance.generator import generate

if TYPE_CHECKING:
    from collections.abc import Callable

SEED: Final = b"a seed of thirty-two bytes, more"
NOW: Final = 1_800_000_000_000
CLIENTS: Final = ("2.1.325", "2.1.150", "2.1.45", "2.0.76")
DATA: Final = Path(__file__).resolve().parent.parent / "data"
CASES: Final = sorted(DATA.glob("resume-cases/*/session.jsonl"))
DAMAGE: Final = frozenset({"deleted", "doubled", "torn", "odd-result", "missing-result", "blank-text"})
"""The features of made sessions that are damage."""


def mended(data: bytes) -> bytes:
    changes = repair(Session.read(data), seed=SEED, now_ms=NOW)
    return b"".join(changes.plan("new.jsonl").pieces())


def words(data: bytes) -> set[str]:
    """Return every text of people and models that can be read, half characters as what stands for them."""
    found: list[object] = []
    for entry in Session.read(data).entries():
        if entry.type in {"user", "assistant"}:
            content = entry.content
            blocks = cast("list[object]", content) if isinstance(content, list) else [content]
            found += [one if isinstance(one, str) else as_mapping(one).get("text") for one in blocks]
    texts = (one for one in found if isinstance(one, str) and one.strip())
    return {"".join("\ufffd" if "\ud800" <= sign <= "\udfff" else sign for sign in one) for one in texts}


def check_laws(data: bytes) -> bytes:
    """Check what holds for every repair, and return the result."""
    before = Session.read(data)
    changes = repair(before, seed=SEED, now_ms=NOW)
    plan = changes.plan("new.jsonl")
    new = b"".join(plan.pieces())
    assert mended(new) == new, "a second repair changes nothing"
    left = [one for one in check(new).problems if one.severity == "error" and one.repair is not None]
    assert not left
    assert words(data) <= words(new), "what was said stays"
    taken = {(aside.offset, aside.length) for aside in changes.quarantine if aside.media_type is None}
    for item, step in plan.steps():
        if item is None or isinstance(step, Keep):
            continue
        assert isinstance(step, Patch | Drop)
        assert step.reason
        if item.row is None:
            assert (item.offset, item.length) in taken, "what goes is listed"
    after = Session.read(new)
    if has_conversation(after):
        found = context(after)
        assert found.refused is None
        assert not [one for one in found.api_problems if one.code != "empty-thinking"]
        for client in CLIENTS:
            if context(before, client=client).refused is None:
                assert context(after, client=client).refused is None
    return new


def is_at_its_end(data: bytes) -> bool:
    """Say whether the client goes on from the last message of a file, and not from a line some hint names."""
    session = Session.read(data)
    path = chain(session, rules())
    graph = Graph(session)
    last = max((row for row in graph.nodes() if is_said(session, row)), default=None)
    return path.leaf is None or last in set(graph.upwards(path.leaf))


def corpus() -> list[Path]:
    return sorted(path for path in DATA.glob("corpus/**/projects/**/*.jsonl") if path.stat().st_size)


def test_a_session_of_a_real_client_without_problems_stays_as_it_is() -> None:
    count = 0
    for path in corpus():
        data = path.read_bytes()
        if check(data).worst in {None, "info"}:
            assert mended(data) == data, path
            count += 1
    assert count > 400


def test_every_session_of_a_real_client_obeys_the_laws() -> None:
    for path in corpus():
        data = path.read_bytes()
        if check(data).worst not in {None, "info"}:
            check_laws(data)


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.parent.name)
def test_every_resume_case_obeys_the_laws(case: Path) -> None:
    check_laws(case.read_bytes())


def test_a_made_session_without_damage_stays_as_it_is() -> None:
    count = 0
    for seed in range(250):
        sample = generate(seed)
        if not sample.features & DAMAGE and is_at_its_end(sample.data):
            assert mended(sample.data) == sample.data, seed
            count += 1
    assert count > 30


@pytest.mark.parametrize("seed", range(60))
def test_a_made_session_obeys_the_laws(seed: int) -> None:
    check_laws(generate(seed).data)


# Damage -----------------------------------------------------------------------------------------

Lines = list[bytes]


def _edited(lines: Lines, at: int, change: Callable[[dict[str, Any]], object]) -> None:
    """Change a line, if it is a record."""
    try:
        value: object = json.loads(lines[at])
    except (ValueError, RecursionError):
        return
    if isinstance(value, dict):
        record = cast("dict[str, Any]", value)
        change(record)
        text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
        lines[at] = text.encode("utf-8", "backslashreplace")


def cut(lines: Lines, at: int, rng: Random) -> None:
    lines[at] = lines[at][: rng.randrange(len(lines[at]) + 1)]


def glue(lines: Lines, at: int, _: Random) -> None:
    lines[at : at + 2] = [b"".join(lines[at : at + 2])]


def splice(lines: Lines, at: int, rng: Random) -> None:
    cut(lines, at, rng)
    glue(lines, at, rng)


def nuls(lines: Lines, at: int, rng: Random) -> None:
    lines[at] = b"\0" * rng.randint(1, 400) + rng.choice((b"", b"\n")) + lines[at]


def lose(lines: Lines, at: int, _: Random) -> None:
    if len(lines) > 2:
        del lines[at]


def lose_parent(lines: Lines, at: int, _: Random) -> None:
    _edited(lines, at, lambda record: record.update(parentUuid="gone") if "parentUuid" in record else None)


def lose_root(lines: Lines, at: int, _: Random) -> None:
    _edited(lines, at, lambda record: record.update(parentUuid=None) if "parentUuid" in record else None)


def close_circle(lines: Lines, at: int, rng: Random) -> None:
    later = lines[rng.randrange(at, len(lines))]
    try:
        uuid = json.loads(later).get("uuid")
    except (ValueError, AttributeError, RecursionError):
        return
    _edited(lines, at, lambda record: record.update(parentUuid=uuid) if "parentUuid" in record else None)


def copy(lines: Lines, at: int, rng: Random) -> None:
    lines.insert(rng.randrange(len(lines) + 1), lines[at])


def copy_changed(lines: Lines, at: int, rng: Random) -> None:
    lines.insert(at, lines[at])
    other = rng.randrange(2)
    _edited(lines, at + other, lambda record: record.update(extra=rng.randrange(9)))
    lines[at + other] = lines[at + other].replace(b'"text":"', b'"text":"other ')


def lose_result(lines: Lines, _: int, rng: Random) -> None:
    _lose_with(lines, b'"type":"tool_result"', rng)


def lose_call(lines: Lines, _: int, rng: Random) -> None:
    _lose_with(lines, b'"type":"tool_use"', rng)


def _lose_with(lines: Lines, mark: bytes, rng: Random) -> None:
    if places := [at for at, line in enumerate(lines) if mark in line]:
        del lines[rng.choice(places)]


def shuffle(lines: Lines, at: int, rng: Random) -> None:
    some = lines[at : at + 5]
    rng.shuffle(some)
    lines[at : at + 5] = some


def spoil_time(lines: Lines, at: int, rng: Random) -> None:
    time = rng.choice(("yesterday", "", 12, None, "9999-01-01T00:00:00.000Z"))
    _edited(lines, at, lambda record: record.update(timestamp=time) if "uuid" in record else None)


def spoil_words(lines: Lines, at: int, rng: Random) -> None:
    half = rng.choice((b"\\ud83d", b"\\udc00", b"\xff"))
    lines[at] = (
        lines[at].replace(b'"text":"', b'"text":"' + half, 1).replace(b'"content":"', b'"content":"' + half)
    )


def spoil_number(lines: Lines, at: int, _: Random) -> None:
    lines[at] = lines[at].replace(b"{", b'{"odd":[NaN,-Infinity],', 1)


def unsign(lines: Lines, at: int, _: Random) -> None:
    lines[at] = lines[at].replace(b'"signature":"', b'"sign":"')


def empty(lines: Lines, at: int, rng: Random) -> None:
    content: object = rng.choice(("", " ", [], None, [{"type": "text", "text": ""}]))
    _edited(
        lines,
        at,
        lambda record: (
            record.update(message={"role": "user", "content": content})
            if (record.get("type") == "user" and isinstance(record.get("message"), dict))
            else None
        ),
    )


def stray(lines: Lines, at: int, rng: Random) -> None:
    lines.insert(
        at, rng.choice((b"[1]", b"7", b"<html>", b'{"uuid":"d","x":' + b"[" * 3000 + b"]" * 3000 + b"}"))
    )


KINDS: Final = (
    *(cut, glue, splice, nuls, lose, lose_parent, lose_root, close_circle, copy, copy_changed, lose_result),
    *(lose_call, shuffle, spoil_time, spoil_words, spoil_number, unsign, empty, stray),
)


def damaged(seed: int, kinds: list[Callable[[Lines, int, Random], None]], rng: Random) -> bytes:
    lines = generate(seed).data.splitlines()
    for kind in kinds:
        kind(lines, rng.randrange(len(lines)), rng)
    return rng.choice((b"", b"\xef\xbb\xbf")) + b"\n".join(lines) + rng.choice((b"", b"\n"))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("seed", range(4))
def test_a_session_damaged_in_one_way_obeys_the_laws(
    kind: Callable[[Lines, int, Random], None], seed: int
) -> None:
    check_laws(damaged(seed, [kind], Random(seed)))


@pytest.mark.parametrize("seed", range(60))
def test_a_session_damaged_in_many_ways_obeys_the_laws(seed: int) -> None:
    rng = Random(seed)
    check_laws(damaged(seed, rng.choices(KINDS, k=rng.randint(2, 8)), rng))


@pytest.mark.soak
@pytest.mark.parametrize("start", range(1000, 3000, 100))
def test_many_damaged_sessions_obey_the_laws(start: int) -> None:
    for seed in range(start, start + 100):
        rng = Random(seed)
        check_laws(damaged(seed, rng.choices(KINDS, k=rng.randint(1, 10)), rng))
