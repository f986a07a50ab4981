"""Where lines stand, as the index tells it: what the file tells, or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.catalog.catalog import Catalog, Options
from clew.catalog.query import parse
from clew.catalog.searching import Asked, Layouts, Search
from clew.catalog.sources import SESSION
from clew.session.layout import Layout
from clew.store.reader import open_session
from tests.catalog.stores import WORDS, Tree, lines

if TYPE_CHECKING:
    from pathlib import Path

EVERYTHING = " OR ".join(WORDS)


def tree(root: Path) -> Tree:
    made = Tree(root)
    for number in range(6):
        name = f"-home-ada-{number % 3}/{number:08x}-1111-4111-8111-111111111111"
        made.write(f"{name}.jsonl", lines(range(number * 5, number * 5 + 90)))
        made.write(f"{name}/subagents/agent-{number}.jsonl", lines(range(300 + number, 320)))
    return made


def told(catalog: Catalog) -> dict[tuple[str, int], object]:
    """What the index tells of the lines of sessions that hold a word."""
    with catalog.reading() as database:
        found = Search(database, Asked(parse(EVERYTHING))).lines()
        return {
            (line.source.path, line.offset): Layouts(database).stands(line)
            for line in found
            if line.source.kind == SESSION
        }


def read(found: dict[tuple[str, int], object]) -> dict[tuple[str, int], object]:
    """What the files tell of the same lines."""
    layouts = {path: Layout(open_session(path)) for path, _ in found}
    answer: dict[tuple[str, int], object] = {}
    for path, offset in found:
        layout = layouts[path]
        row = layout.row(offset)
        assert row is not None
        answer[path, offset] = (layout.where(row), layout.turn(row))
    return answer


def test_the_index_tells_of_every_line_what_its_file_tells(tmp_path: Path) -> None:
    with Catalog.open(tree(tmp_path / "root").store(), cache=tmp_path / "cache") as catalog:
        catalog.update()
        found = told(catalog)
        assert len(found) > 200
        assert found == read(found)
        assert len({str(one) for one in found.values()}) > 2


def test_so_it_does_where_a_file_was_written_in_parts(tmp_path: Path) -> None:
    with Catalog.open(tree(tmp_path / "root").store(), cache=tmp_path / "cache") as catalog:
        catalog.update(options=Options(batch=2_000))
        found = told(catalog)
        assert len(found) > 200
        assert found == read(found)


def test_of_a_file_that_grew_it_tells_nothing_rather_than_what_was(tmp_path: Path) -> None:
    made = tree(tmp_path / "root")
    with Catalog.open(made.store(), cache=tmp_path / "cache") as catalog:
        catalog.update()
        grown = next(iter(told(catalog)))[0]
        with open(grown, "ab") as file:  # noqa: PTH123
            file.write(lines(range(200, 206)))
        catalog.update()
        found = told(catalog)
        assert {place for (path, _), place in found.items() if path == grown} == {None}
        others = {key: place for key, place in found.items() if key[0] != grown}
        assert others == read(others)


def test_an_unfinished_end_leaves_it_untold(tmp_path: Path) -> None:
    made = tree(tmp_path / "root")
    path = next(iter(sorted((tmp_path / "root").glob("projects/*/*.jsonl"))))
    with path.open("ab") as file:
        file.write(b'{"type":"user","uuid":"x')
    with Catalog.open(made.store(), cache=tmp_path / "cache") as catalog:
        catalog.update()
        found = told(catalog)
        assert {place for (one, _), place in found.items() if one == str(path)} == {None}
