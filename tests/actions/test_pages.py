"""The last page of a conversation is the end of the whole, however little of the file was read for it."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.actions import pages
from clew.actions.pages import Page, last_page
from clew.actions.reading import way_to
from clew.session.chain import chain
from clew.session.eras import rules
from clew.session.graph import Graph
from clew.session.turns import main_rows
from clew.store.reader import open_session
from tests.builder import Builder, call
from tests.fuzz.lines import files
from tests.fuzz.mutate import damaged_file

if TYPE_CHECKING:
    from collections.abc import Sequence

COUNTS = (0, 1, 4, 15, 1000)


def whole(path: Path, count: int) -> tuple[list[int], bool]:
    """The page by reading everything: the offsets of its lines, and whether the conversation begins on it."""
    session = open_session(path)
    leaf = chain(session, rules()).leaf
    way = list(main_rows(session) if leaf is None else way_to(session, Graph(session), leaf))
    said = [at for at, row in enumerate(way) if session.table.kind_of(row) in {"user", "assistant"}]
    first = 0 if count > len(said) else said[-count] if count else len(way)
    return [session.table.offset[row] for row in way[first:]], first == 0


def told(page: Page) -> tuple[list[int], bool]:
    """What `whole` tells, of a page."""
    return [entry.offset for entry in page.entries()], page.is_all


def compare(path: Path, *, step: int, counts: Sequence[int] = COUNTS) -> list[int]:
    """Compare pages with the whole; return where each was read from."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pages, "_STEP", step)
        starts: list[int] = []
        for count in counts:
            page = last_page(path, count=count)
            if page.start == 0 or not has_a_say(path.read_bytes(), page.start):
                assert told(page) == whole(path, count), (path, count, page.start)
            starts.append(page.start)
    return starts


_IDS = re.compile(rb'"(?:uuid|id)"\s*:\s*"([^"]*)"')
_STRINGS = re.compile(rb'"([^"]*)"')


def has_a_say(data: bytes, start: int) -> bool:
    """Say whether a line before `start` has a uuid or message id of one after it, or names one."""
    return not set(_STRINGS.findall(data[:start])).isdisjoint(_IDS.findall(data[start:]))


def made(random: Random) -> bytes:
    """A session as clients write them: branches, parallel calls, compactions, hints, sub-agents, damage."""
    builder = Builder()
    known: list[str] = []
    for number in range(random.randrange(5, 60)):
        _step(builder, random, known, number)
        if builder.leaf is not None:
            known.append(builder.leaf)
    if random.random() < 0.2:
        builder.raw(b'{"type":"assistant","uuid":"torn')
    return builder.data()


def _step(builder: Builder, random: Random, known: list[str], number: int) -> None:
    match random.randrange(14):
        case 0 | 1 | 2:
            builder.user(random.choice(("Go on.", "What is a compact_boundary?")))
        case 3 | 4:
            builder.answer(*["Word."] * random.randrange(1, 4))
        case 5 | 6:
            _parallel(builder, number)
        case 7:
            builder.compact()
        case 8 if known:
            _compact_and_keep(builder, random, known, number)
        case 9 if known:
            builder.rewind(random.choice(known[-8:]))
        case 10 if known:
            hint: dict[str, Any] = {"type": "last-prompt", "leafUuid": random.choice(known[-6:])}
            builder.line(hint | ({"explicit": True} if random.random() < 0.3 else {}))
        case 11:
            back = builder.leaf
            builder.user("Look.", isSidechain=True).answer("Seen.", isSidechain=True).rewind(back)
        case 12:
            builder.raw(random.choice((b"\0\0\0\n", b'{"type":"us\n', b"\n", b'{"type":"file-history"}\n')))
        case _:
            builder.system("turn_duration", durationMs=5)


def _parallel(builder: Builder, number: int) -> None:
    calls = [f"toolu_{number}_{at}" for at in range(3)]
    over: list[str | None] = []
    for name in calls:
        builder.answer(call(name), stop="tool_use", message_id=f"msg_par_{number}")
        over.append(builder.leaf)
    for name, parent in zip(calls, over, strict=True):
        builder.rewind(parent).result(name)


def _compact_and_keep(builder: Builder, random: Random, known: list[str], number: int) -> None:
    kept = known[-random.randrange(1, 4) :]
    anchor = random.choice((f"cut{number}", f"sum{number}"))
    metadata: dict[str, Any] = random.choice(
        (
            {"preservedMessages": {"anchorUuid": anchor, "uuids": kept}},
            {"preservedSegment": {"headUuid": kept[0], "anchorUuid": anchor, "tailUuid": kept[-1]}},
            {"preservedMessages": {"anchorUuid": anchor, "uuids": []}},
        )
    )
    over = {"parentUuid": None, "logicalParentUuid": builder.leaf}
    builder.system("compact_boundary", uuid=f"cut{number}", compactMetadata=metadata, **over)
    builder.user("So far.", uuid=f"sum{number}", isCompactSummary=True)


@settings(max_examples=400, deadline=None)
@given(st.integers(0, 1 << 30), st.integers(1, 3000))
def test_the_page_is_the_end_of_the_whole_conversation(seed: int, step: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.jsonl"
        path.write_bytes(made(Random(seed)))
        compare(path, step=step)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 1 << 30), st.integers(1, 3000))
def test_the_page_of_a_damaged_file_is_the_end_of_the_whole(seed: int, step: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.jsonl"
        path.write_bytes(damaged_file(Random(seed)))
        compare(path, step=step)


def test_the_page_of_every_sample_is_the_end_of_the_whole() -> None:
    starts = [start for path in files() for start in compare(path, step=500, counts=(1, 4, 1000))]
    assert sum(start > 0 for start in starts) > 20, "some were read in part"


def page_of(folder: Path, builder: Builder, count: int) -> Page:
    path = folder / "x.jsonl"
    path.write_bytes(builder.data())
    page = last_page(path, count=count)
    assert told(page) == whole(path, count)
    return page


def long(builder: Builder) -> Builder:
    """Add more than is read at a step."""
    for _ in range(3):
        builder.user("x" * 700_000).answer("y")
    return builder


def uuids(page: Page) -> list[str | None]:
    return [entry.uuid for entry in page.messages()]


def test_only_what_follows_the_last_compaction_is_read_where_that_is_enough(tmp_path: Path) -> None:
    builder = long(Builder()).compact().user("Go on.").answer("Done.")
    before = len(long(Builder()).data())
    page = page_of(tmp_path, builder, 2)
    assert (page.start, page.is_all, len(page.session)) == (before, False, 4)
    assert uuids(page) == ["u9", "u10"]


def test_the_page_reaches_over_the_compaction_where_it_must(tmp_path: Path) -> None:
    builder = long(long(Builder())).compact().user("Go on.").answer("Done.")
    page = page_of(tmp_path, builder, 5)
    assert uuids(page) == ["u11", "u12", "u14", "u15", "u16"]
    assert 0 < page.start < len(long(long(Builder())).data())


def test_a_file_without_a_compaction_is_read_whole(tmp_path: Path) -> None:
    page = page_of(tmp_path, long(Builder()), 1)
    assert (page.start, uuids(page)) == (0, ["u6"])


def test_words_that_only_name_a_compaction_are_none(tmp_path: Path) -> None:
    builder = long(Builder()).compact().user("What is a compact_boundary?").answer("A cut.")
    page = page_of(tmp_path, builder, 1)
    assert uuids(page) == ["u10"]
    assert 0 < page.start < len(long(Builder()).data())


def test_a_hint_that_names_a_line_from_before_is_followed(tmp_path: Path) -> None:
    builder = long(Builder()).compact().user("Go on.").answer("Done.")
    builder.line({"type": "last-prompt", "leafUuid": "u4", "explicit": True})
    page = page_of(tmp_path, builder, 2)
    assert (page.start, uuids(page)) == (0, ["u3", "u4"])


def test_what_a_compaction_preserved_is_looked_for(tmp_path: Path) -> None:
    builder = long(Builder())
    kept = {"preservedMessages": {"anchorUuid": "sum", "uuids": ["u2"]}}
    builder.system("compact_boundary", parentUuid=None, logicalParentUuid="u6", compactMetadata=kept)
    page = page_of(tmp_path, builder.user("So far.", uuid="sum", isCompactSummary=True), 1)
    assert (page.start, uuids(page)) == (0, ["u2"])


def test_lines_that_stand_before_what_they_hang_on_are_not_trusted(tmp_path: Path) -> None:
    builder = long(Builder()).compact()
    builder.user("Third.", parentUuid="late", uuid="early").user("Second.", parentUuid="u8", uuid="late")
    assert page_of(tmp_path, builder, 1).start == 0


def test_the_calls_of_an_answer_are_all_on_the_page(tmp_path: Path) -> None:
    builder = Builder().compact().user("Look.")
    _parallel(builder, 1)
    page = page_of(tmp_path, builder.answer("Seen."), 8)
    assert uuids(page) == ["u3", "u4", "u7", "u5", "u8", "u6", "u9", "u10"], "each result behind its call"


def test_a_conversation_shorter_than_a_page_is_all_on_it(tmp_path: Path) -> None:
    page = page_of(tmp_path, Builder().user("Hi").answer("Hello.").system("turn_duration"), 50)
    assert page.is_all
    assert [entry.uuid for entry in page.entries()] == ["u1", "u2", "u3"]


def test_the_end_of_a_sub_agents_own_file_is_a_page_too(tmp_path: Path) -> None:
    builder = Builder().user("Look.", isSidechain=True).answer("Seen.", isSidechain=True)
    assert uuids(page_of(tmp_path, builder, 1)) == ["u2"]


@pytest.mark.parametrize("data", [b"", b"\n", b"compact_boundary", b"{"])
def test_a_file_in_which_nothing_was_said_has_an_empty_page(tmp_path: Path, data: bytes) -> None:
    page = page_of(tmp_path, Builder().raw(data), 5)
    assert (list(page.rows), page.is_all) == ([], True)
