"""A literal or a pattern in the raw files: every hit is true, none is lost, and a bad pattern ends."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.generate import Recipe, generate
from clew.actions import raw_lines
from clew.actions.scanning import Found, Question, Scanned, scan
from clew.catalog.query import parse
from clew.errors import ClewError, UsageError
from clew.format.records import Record, read
from clew.store.files import Store
from clew.tables.texts import texts
from tests.builder import Builder, call, text, thinking
from tests.examples import examples
from tests.faces.stage import write

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clew.actions.raw_search import Spot
    from clew.store.files import SessionFile

MANY = 100_000


def files_of(root: Path) -> list[SessionFile]:
    listing = Store.at([str(root)]).listing()
    return [*listing.sessions, *listing.agents]


def search(root: Path, wanted: str, *, jobs: int | None = 1, **options: Any) -> Scanned:
    options.setdefault("limit", MANY)
    return scan(files_of(root), Question(wanted, **options), jobs=jobs)


def strings_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in cast("dict[str, object]", value).values():
            yield from strings_in(inner)
    elif isinstance(value, list):
        for inner in cast("list[object]", value):
            yield from strings_in(inner)


# --- everything that was planted ----------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["plain", "shuffled and spaced"])
def corpus(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("corpus") / "made"
    is_odd = request.param != "plain"
    generate(root, Recipe(3_000_000, 5, shuffled_keys=is_odd, spaced=is_odd))
    return root


def test_every_needle_is_found_where_it_was_planted_and_nowhere_else(corpus: Path) -> None:
    truth = json.loads((corpus / "truth.json").read_text(encoding="utf-8"))
    needles: list[dict[str, Any]] = truth["needles"]
    assert any(not needle["word"].isascii() for needle in needles)
    assert {needle["field"] for needle in needles} == {
        *("prompt", "text", "thinking", "tool_input", "tool_result", "summary", "title")
    }
    for needle in needles:
        word = needle["word"]
        result = search(corpus, word)
        places = {(Path(one.path).relative_to(corpus).as_posix(), one.line) for one in result.found}
        assert places == {(place["file"], place["line"]) for place in needle["places"]}, word
        assert {one.field for one in result.found} == {needle["field"]}
        assert result.total == len(result.found)
        for one in result.found:
            _check(one, word)


def _check(found: Found, word: str) -> None:
    """By the line itself, sharing nothing with the search."""
    with Path(found.path).open("rb") as data:
        line = data.read().split(b"\n")[found.line - 1]
        data.seek(found.offset)
        assert json.loads(data.read(found.length)) == json.loads(line)
    entry = json.loads(line)
    assert any(word in one for one in strings_in(entry))
    assert entry.get("uuid") == found.uuid
    assert [found.text[start:end] for start, end in found.ranges] == [word]


def test_words_that_are_everywhere_are_found_as_often_as_a_plain_search_finds_them(corpus: Path) -> None:
    for wanted, options in [
        ("handler", {}),
        ('("cedar")\n', {}),
        ("CACHE", {"ignore_case": True}),
        ("会话", {}),
        ("\n\n", {}),
        (r"def \w+_flint\(", {"is_pattern": True}),
        (r"error|warning", {"is_pattern": True}),
        (r"[0-9]{3}s\] leaf", {"is_pattern": True}),
        (r"Cedar\b", {"is_pattern": True, "ignore_case": True}),
    ]:
        question = Question(wanted, **cast("dict[str, Any]", options))
        result = search(corpus, wanted, **cast("dict[str, Any]", options))
        assert _places(result.found) == _plainly(corpus, question), wanted
        assert result.total == len(result.found) > 0


def _places(found: Sequence[Found]) -> list[tuple[str, int, str, int]]:
    return sorted((one.path, one.offset, one.field, one.block) for one in found)


def _plainly(root: Path, question: Question) -> list[tuple[str, int, str, int]]:
    """Every line decoded, every text looked through."""
    wanted = question.text if question.is_pattern else re.escape(question.text)
    pattern = re.compile(wanted, re.IGNORECASE if question.ignore_case else 0)
    found: list[tuple[str, int, str, int]] = []
    for file in files_of(root):
        with Path(file.path).open("rb") as data:
            for item in read(data.readline):
                if isinstance(item, Record):
                    found += [
                        (file.path, item.offset, one.field, one.block)
                        for one in texts(item.decoded())
                        if pattern.search(one.text)
                    ]
    return sorted(found)


ODD = 'ab \n"\\/<é日本🧶\u2028K'


@examples(300)
@given(
    said=st.lists(st.text(st.sampled_from(ODD), max_size=20), min_size=1, max_size=6),
    wanted=st.text(st.sampled_from(ODD), min_size=1, max_size=3),
    ascii_only=st.booleans(),
    ignore_case=st.booleans(),
)
def test_any_literal_is_found_wherever_it_is_however_it_is_spelled(
    tmp_path_factory: pytest.TempPathFactory,
    said: list[str],
    wanted: str,
    ascii_only: bool,
    ignore_case: bool,
) -> None:
    root = tmp_path_factory.getbasetemp() / "any"
    lines = [
        {
            "type": "assistant",
            "uuid": f"u{number}",
            "message": {"role": "assistant", "content": [text(words)]},
        }
        for number, words in enumerate(said)
    ]
    raw = "".join(json.dumps(line, ensure_ascii=ascii_only) + "\n" for line in lines)
    write(root, "-p", {"s": raw.encode()})
    question = Question(wanted, ignore_case=ignore_case)
    found = search(root, wanted, ignore_case=ignore_case).found
    assert _places(found) == _plainly(root, question)
    for one in found:
        assert all(
            re.fullmatch(re.escape(wanted), one.text[start:end], re.IGNORECASE if ignore_case else 0)
            for start, end in one.ranges
        )


@pytest.mark.parametrize("jobs", [1, 2])
def test_words_are_found_without_an_index(corpus: Path, jobs: int) -> None:
    for words in ("handler cedar", '"retry handler" OR 会话', "CEDÁR -handler", "timeou*", "失败"):
        query = parse(words)
        result = search(corpus, words, query=query, jobs=jobs)
        plain: list[tuple[str, int]] = []
        for file in files_of(corpus):
            with Path(file.path).open("rb") as data:
                for item in read(data.readline):
                    said = [one.text for one in texts(item.decoded())] if isinstance(item, Record) else []
                    if query.match_all(said) is not None:
                        plain.append((file.path, item.offset))
        assert sorted({(one.path, one.offset) for one in result.found}) == sorted(plain)
        assert plain


# --- what a hit tells ---------------------------------------------------------------------------------------


@pytest.fixture
def root(tmp_path: Path) -> Path:
    talk = Builder("session-1").prompt("Where is the lighthouse?")
    talk.answer(
        thinking("A lighthouse, hm."), call("t1", "Bash", {"command": "grep lighthouse ."}), stop="tool_use"
    )
    talk.result("t1", "no lighthouse here", is_error=True)
    talk.answer("There is no lighthouse, nor a Lighthouse.")
    talk.raw(b'{"type":"summary","summary":"The lighthouse hunt","leafUuid":"u1"}\n')
    talk.raw(b'{"type":"user","uuid":"torn","message":{"role":"user","content":"a lighthouse and th')
    agent = Builder("session-1").prompt("Find the lighthouse", isSidechain=True, agentId="a7")
    write(tmp_path, "-p", {"session-1": talk.data(), "session-1/subagents/agent-a7": agent.data()})
    return tmp_path


def test_a_hit_tells_where_it_is_and_what_it_is(root: Path) -> None:
    found = search(root, "lighthouse").found
    told = {(Path(one.path).stem, one.line, one.field, one.tool, one.is_error, one.session) for one in found}
    assert told == {
        ("session-1", 1, "prompt", None, False, "session-1"),
        ("session-1", 2, "thinking", None, False, "session-1"),
        ("session-1", 3, "tool_input", "Bash", False, "session-1"),
        ("session-1", 4, "tool_result", "Bash", True, "session-1"),
        ("session-1", 5, "text", None, False, "session-1"),
        ("session-1", 6, "summary", None, False, "session-1"),
        ("agent-a7", 1, "prompt", None, False, "session-1"),
    }


def test_case_counts_unless_it_is_said_not_to(root: Path) -> None:
    [one] = search(root, "Lighthouse").found
    assert [one.text[start:end] for start, end in one.ranges] == ["Lighthouse"]
    assert search(root, "LIGHTHOUSE").total == 0
    result = search(root, "LIGHTHOUSE", ignore_case=True)
    assert result.total == 7
    assert result.by_field["prompt"] == 2


def test_the_newest_come_first_and_all_are_counted(root: Path) -> None:
    every = search(root, "lighthouse")
    times = [one.ms for one in every.found]
    assert times == sorted(times, reverse=True)
    few = search(root, "lighthouse", limit=3)
    assert (few.total, few.found) == (every.total, every.found[:3])
    assert search(root, "lighthouse", limit=0).found == []


def test_the_newest_of_many_are_kept(tmp_path: Path) -> None:
    talk = Builder("s")
    for number in range(900):
        talk.prompt(f"gull {number}")
    write(tmp_path, "-p", {"s": talk.data()})
    result = search(tmp_path, "gull", limit=5)
    assert [one.text for one in result.found] == [f"gull {number}" for number in range(899, 894, -1)]
    assert result.total == 900


def only(spot: Spot, *, field: str | None = None, tool: str | None = None, errors: bool = False) -> bool:
    if field is not None and spot.text.field != field:
        return False
    return (tool is None or spot.tool == tool) and (not errors or spot.text.is_error)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_filter_says_what_counts(root: Path, jobs: int) -> None:
    by_field = search(root, "lighthouse", keep=partial(only, field="thinking"), jobs=jobs)
    assert [one.field for one in by_field.found] == ["thinking"]
    assert by_field.total == 1
    errors = search(root, "lighthouse", keep=partial(only, errors=True), jobs=jobs)
    assert [one.field for one in errors.found] == ["tool_result"]
    of_bash = search(root, "lighthouse", keep=partial(only, tool="Bash"), filters_tools=True, jobs=jobs)
    assert {one.field for one in of_bash.found} == {"tool_input", "tool_result"}


def test_of_a_long_text_what_is_around_the_first_place_is_kept(tmp_path: Path) -> None:
    long = "x " * 50_000 + "needle here, needle there" + " y" * 50_000
    write(tmp_path, "-p", {"s": Builder("s").prompt(long).data()})
    [one] = search(tmp_path, "needle").found
    assert len(one.text) < 5000
    assert [one.text[start:end] for start, end in one.ranges] == ["needle", "needle"]


def test_lines_that_hold_other_bytes_too_are_searched(tmp_path: Path) -> None:
    line = b'{"type":"user","uuid":"%s","message":{"role":"user","content":"a gull %s"}}'
    data = (
        b"\xef\xbb\xbf"
        + line % (b"a", b"1")
        + line % (b"b", b"2")
        + b"\n\x00\x00"
        + line % (b"c", b"3")
        + b"\r\n"
    )
    data += b'{"type":"user","uuid":"d","message":{"role":"user","content":"a gull \xff \\ud800 4"}}'
    write(tmp_path, "-p", {"s": data})
    found = sorted(search(tmp_path, "gull").found, key=lambda one: one.offset)
    assert [(one.uuid, one.line) for one in found] == [("a", 1), ("b", 1), ("c", 2), ("d", 3)]
    assert search(tmp_path, "\ufffd").total == 1


def test_a_line_too_long_to_hold_is_searched_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(raw_lines, "HOLD", 1 << 20)
    long = ("z" * 99 + "\n") * 90_000 + "a gull 日本 at the end"
    talk = Builder("s").prompt("before").answer(call("t1", "Bash", {"command": "cat"}), stop="tool_use")
    talk.result("t1", long, toolUseResult={"stdout": long}).prompt("after the gull")
    write(tmp_path, "-p", {"s": talk.data()})
    found = search(tmp_path, "gull 日本").found
    assert [(one.line, one.field, one.tool) for one in found] == [(3, "tool_result", "Bash")]
    assert found[0].text[slice(*found[0].ranges[0])] == "gull 日本"
    assert [one.line for one in search(tmp_path, "gull").found] == [4, 3]


def test_a_long_line_of_an_unusual_shape_is_searched(tmp_path: Path) -> None:
    talk = Builder("s").prompt([{"type": "novel", "words": "z " * 4_500_000 + "a gull"}])
    write(tmp_path, "-p", {"s": talk.data()})
    [one] = search(tmp_path, "gull").found
    assert (one.line, one.uuid, one.text[slice(*one.ranges[0])]) == (1, "u1", "gull")


def test_a_file_that_cannot_be_read_costs_only_itself(root: Path) -> None:
    files = files_of(root)
    gone = next(file for file in files if file.is_agent)
    Path(gone.path).unlink()
    result = scan(files, Question("lighthouse"), jobs=1)
    assert result.total == 6
    assert [one.path for one in result.skipped] == [gone.path]
    assert result.files == len(files) - 1


# --- patterns and processes ---------------------------------------------------------------------------------


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_several_processes_give_the_same_answer_however_they_are_started(
    corpus: Path, start: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if start not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {start} here")
    alone = search(corpus, "handler", limit=20)
    context: Any = multiprocessing.get_context(start)
    monkeypatch.setattr(multiprocessing, "Process", context.Process)
    told: list[int] = []
    files = files_of(corpus)
    together = scan(files, Question("handler", limit=20), jobs=3, advance=told.append)
    assert together == alone
    assert sum(told) == len(files)
    pattern = scan(files, Question("h[a]ndler", is_pattern=True, limit=20), jobs=1)
    assert _places(pattern.found) == _places(alone.found)


def test_few_bytes_are_searched_by_one_process(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(multiprocessing, "Process", refuse)
    assert search(root, "lighthouse", jobs=None).total == 7


def test_a_pattern_that_would_take_for_ever_ends_with_a_message(tmp_path: Path) -> None:
    write(tmp_path, "-p", {"s": Builder("s").prompt("a" * 60 + "!").data()})
    begun = time.monotonic()
    with pytest.raises(UsageError, match=r"took longer than 0.5 s for one text") as caught:
        scan(files_of(tmp_path), Question("(a+)+$", is_pattern=True), per_text=0.5)
    assert time.monotonic() - begun < 20
    assert "s.jsonl, byte 0" in caught.value.message
    assert not multiprocessing.active_children()


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("a(b", r"'a\(b' is not a pattern: missing \), unterminated subpattern at character 2"),
        ("[z-a]", "bad character range z-a at character 2"),
        ("(?P<n>a)(?P<n>b)", "at character"),
        ("*", "nothing to repeat at character 1"),
        ("(" * 5000 + ")" * 5000, "is not a pattern"),
    ],
)
def test_what_is_no_pattern_is_an_error_that_names_the_place(root: Path, pattern: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        search(root, pattern, is_pattern=True)


def test_nothing_is_not_looked_for(root: Path) -> None:
    with pytest.raises(UsageError, match="nothing to look for"):
        search(root, "")
    assert search(root, "x*", is_pattern=True).total == 0


def test_when_the_time_is_up_what_was_found_is_given(corpus: Path) -> None:
    files = files_of(corpus)
    for question in (Question("the", limit=5), Question("th.", is_pattern=True, limit=5)):
        result = scan(files, question, jobs=2, seconds=0)
        assert result.is_partial
        assert result.files < len(files)


def burst(_: Spot) -> bool:
    raise ValueError("a filter that fails")


def test_what_goes_wrong_in_a_process_is_told(root: Path) -> None:
    with pytest.raises(ClewError, match="the search failed: ValueError: a filter that fails"):
        search(root, "lighthouse", jobs=2, keep=burst)
    assert not multiprocessing.active_children()


def die(_: Spot) -> bool:
    os._exit(7)


def test_a_process_that_dies_is_no_result(root: Path) -> None:
    with pytest.raises(ClewError, match=r"ended by itself \(7\)"):
        search(root, "lighthouse", jobs=2, keep=die)
    assert not multiprocessing.active_children()


def test_no_files_are_no_trouble() -> None:
    assert scan([], Question("a")) == Scanned()
    assert scan([], Question("a", is_pattern=True)) == Scanned()


def test_an_interrupt_ends_the_processes(corpus: Path) -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        scan(files_of(corpus), Question("the", is_pattern=True), jobs=2, advance=interrupt)
    assert not multiprocessing.active_children()
