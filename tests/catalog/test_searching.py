"""Which lines the index names for some words, and in which order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from clew.catalog import searching
from clew.catalog.catalog import Catalog
from clew.catalog.query import parse
from clew.catalog.searching import Asked, Line, Search, about, all_about, before, count_sessions, similar
from clew.catalog.sources import AGENT, SPILLED
from clew.format.entry import Entry
from clew.store.source import FileSource
from clew.tables.texts import texts
from tests.catalog.stores import Tree, lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    tree = Tree(tmp_path / "root")
    for number in range(8):
        name = f"-home-ada-{number % 3}/{number:08x}-1111-4111-8111-111111111111"
        tree.write(f"{name}.jsonl", lines(range(number * 5, number * 5 + 30)))
        tree.write(f"{name}/subagents/agent-{number}.jsonl", lines(range(300 + number, 320)))
        tree.write(f"{name}/tool-results/{number}.txt", b"the kettle boils\n")
    with Catalog.open(tree.store(), cache=tmp_path / "cache") as found:
        found.update()
        yield found


def asked(catalog: Catalog, text: str, **given: Any) -> list[Line]:
    with catalog.reading() as database:
        return [*Search(database, Asked(parse(text), **given)).lines()]


def keys(found: list[Line]) -> list[tuple[str, int, str]]:
    return [(line.source.path, line.offset, line.table) for line in found]


def test_every_line_holds_the_words_and_the_newest_comes_first(catalog: Catalog) -> None:
    found = asked(catalog, "lighthouse")
    assert len(found) > 10
    for line in found:
        with FileSource(line.source.path) as file:
            raw = file.read(line.offset, line.length)
        said = " ".join(text.text for text in texts(Entry(raw.strip(b"\x00 \r\n"))))
        assert "lighthouse" in said
    assert [line.ms for line in found] == sorted((line.ms for line in found), reverse=True)


@pytest.mark.parametrize("visited", [0, 2, 100])
@pytest.mark.parametrize("text", ["lighthouse", "kettle", "日本", "error OR gull", "here -kettle"])
@pytest.mark.parametrize("given", [{}, {"role": "user"}, {"since_ms": 1_773_000_000_000}])
def test_going_through_the_files_gives_what_sorting_all_lines_gives(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch, text: str, given: dict[str, Any], visited: int
) -> None:
    few = asked(catalog, text, **given)
    assert few or "role" in given
    monkeypatch.setattr(searching, "FEW", 0)
    monkeypatch.setattr(searching, "VISITED", visited)
    assert asked(catalog, text, **given) == few


def test_no_more_is_fetched_than_is_taken(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "FEW", 0)
    visited: list[int] = []
    real = Search._in_file  # pyright: ignore[reportPrivateUsage]  # what is counted is not told otherwise

    def counted(self: Search, shard: int, source: int) -> Iterator[Line]:
        visited.append(source)
        return real(self, shard, source)

    monkeypatch.setattr(Search, "_in_file", counted)
    with catalog.reading() as database:
        everything = Search(database, Asked(parse("here"))).lines()
        next(everything)
        assert 0 < len(visited) < 16


def test_lines_are_counted_with_the_filters(catalog: Catalog) -> None:
    for given in (
        {},
        {"role": "assistant"},
        {"fields": frozenset({"prompt"})},
        {"until_ms": 1_773_000_000_000},
    ):
        with catalog.reading() as database:
            search = Search(database, Asked(parse("here OR kettle OR where"), **given))  # pyright: ignore[reportArgumentType]
            assert search.count() == (len([*search.lines()]), True)
            assert search.count()[0] > 0


def test_a_count_has_an_end(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "COUNTED", 2)
    with catalog.reading() as database:
        search = Search(database, Asked(parse("here")))
        many, is_all = search.count()
        assert not is_all
        assert 0 < many <= 16


def test_only_the_fields_asked_for_are_searched(catalog: Catalog) -> None:
    everywhere = keys(asked(catalog, "kettle"))
    parts = [
        keys(asked(catalog, "kettle", fields=frozenset({field})))
        for field in (*searching.TALK, *searching.TOOLS)
    ]
    assert set(everywhere) == {key for part in parts for key in part}
    assert {table for _, _, table in parts[-2]} == {"tools"}
    assert {table for _, _, table in parts[0]} == {"talk"}


def test_a_role_is_that_of_the_line_and_an_output_is_the_users(catalog: Catalog) -> None:
    users, models = (asked(catalog, "kettle", role=role) for role in ("user", "assistant"))
    assert any(line.source.kind == SPILLED for line in users)
    assert all(line.source.kind != SPILLED for line in models)
    assert not set(keys(users)) & set(keys(models))


def test_a_session_has_its_sub_agents_and_its_outputs(catalog: Catalog) -> None:
    with catalog.reading() as database:
        sessions = all_about(database)
        assert count_sessions(database) == len(sessions) == 8
        path = sessions[0].path
        assert about(database, path) == sessions[0]
        assert about(database, "/nowhere") is None
    found = asked(catalog, "kettle OR harbour", owners=frozenset({path}))
    assert {line.source.owner for line in found} == {path}
    assert {line.source.kind for line in found} >= {AGENT, SPILLED}
    assert asked(catalog, "kettle", owners=frozenset()) == []


def test_the_best_first_is_another_order_of_the_same_lines(catalog: Catalog) -> None:
    best = asked(catalog, "kettle", by_rank=True)
    assert sorted(keys(best)) == sorted(keys(asked(catalog, "kettle")))
    assert [line.rank for line in best] == sorted(line.rank for line in best)
    assert best[0].rank < best[-1].rank < 0


def test_a_word_with_a_slip_is_recognised(catalog: Catalog) -> None:
    with catalog.reading() as database:
        assert similar(database, "lighthuose")[0] == "lighthouse"
        assert similar(database, "kettel")[0] == "kettle"
        assert similar(database, "lighthouse") == []
        assert similar(database, "zzzzzzzz") == []
        with pytest.raises(Exception, match="readonly"):
            database.execute("CREATE TEMP TABLE x (y)")


def test_what_leads_to_a_line_is_found(catalog: Catalog) -> None:
    with catalog.reading() as database:
        found = [
            (line, before(database, line, many=3))
            for line in asked(catalog, "error", fields=frozenset({"tool_result"}))
        ]
        assert any(above for _, above in found)
        for line, above in found:
            assert len(above) <= 3
            assert all(offset < line.offset for offset, _ in above)
