"""Files that are cut, rewritten, replaced or removed at the very moment they are read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from clew.catalog.catalog import Catalog, Options
from clew.store.source import FileSource
from tests.catalog.stores import Tree, content, line, lines

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NAME = "-home-ada-a/00000001-1111-4111-8111-111111111111.jsonl"
SMALLER = 8
"""Files, and what is read at once, are so many times smaller in most cases: the reads are the same."""


def undamaged(count: int) -> bytes:
    return lines([number for number in range(count) if number % 16 not in {10, 11, 12}])


LONG = undamaged(4600 // SMALLER)
"""More than is read at once, and without damage."""


def other_end(path: Path) -> None:
    """Cut the last third away and write others of the same length."""
    data = path.read_bytes()
    at = data.rfind(b"\n", 0, len(data) * 2 // 3) + 1
    end = data[at:].replace(b"lighthouse", b"lightbulbs").replace(b"harbour", b"arbours")
    os.truncate(path, at)
    with path.open("ab") as file:
        file.write(end)


def other_lines(path: Path) -> None:
    """Cut the last third away and write more, of other lengths."""
    data = path.read_bytes()
    at = data.rfind(b"\n", 0, len(data) * 2 // 3) + 1
    os.truncate(path, at)
    with path.open("ab") as file:
        file.write(data[at:].replace(b'"2.1.325"', b'"2.1.325-and-more"'))


def shorter(path: Path) -> None:
    """Leave half a line at the end, as a client that is writing it."""
    os.truncate(path, len(LONG) // 2 + 7)


def much_shorter(path: Path) -> None:
    os.truncate(path, LONG.index(b"\n") + 1)


def unfinished(path: Path) -> None:
    """Take the unfinished line away and write others, the last of them unfinished."""
    os.truncate(path, path.read_bytes().rfind(b"\n") + 1)
    with path.open("ab") as file:
        file.write(line(3) + line(2)[:10])


def replaced(path: Path) -> None:
    beside = path.with_suffix(".new")
    beside.write_bytes(line(1) + path.read_bytes())
    beside.replace(path)


DEEDS: list[Callable[[Path], None]] = [other_end, other_lines, shorter, much_shorter, unfinished, replaced]


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path / "root")


def opened(tree: Tree, name: str = "cache") -> Catalog:
    return Catalog.open(tree.store(), cache=tree.root.parent / name)


def rebuilt(tree: Tree) -> dict[str, object]:
    with opened(tree, "anew") as catalog:
        catalog.rebuild(options=Options(jobs=1))
        return content(catalog)


@pytest.mark.parametrize("is_known", [False, True])
@pytest.mark.parametrize("deed", DEEDS)
@pytest.mark.parametrize("moment", range(1, 10))
def test_what_is_changed_while_it_is_read_is_read_again(
    tree: Tree, monkeypatch: pytest.MonkeyPatch, moment: int, deed: Callable[[Path], None], *, is_known: bool
) -> None:
    monkeypatch.setattr("clew.format.lines._CHUNK", (1 << 20) // SMALLER)
    monkeypatch.setattr("clew.store.reader._STEP", (1 << 20) // SMALLER)
    changed_at(tree, monkeypatch, moment, deed, LONG, is_known=is_known)


@pytest.mark.parametrize(("moment", "deed", "is_known"), [(2, other_end, False), (4, other_lines, True)])
def test_so_it_is_with_what_is_really_read_at_once(
    tree: Tree, monkeypatch: pytest.MonkeyPatch, moment: int, deed: Callable[[Path], None], *, is_known: bool
) -> None:
    changed_at(tree, monkeypatch, moment, deed, undamaged(4600), is_known=is_known)


def changed_at(
    tree: Tree,
    monkeypatch: pytest.MonkeyPatch,
    moment: int,
    deed: Callable[[Path], None],
    long: bytes,
    *,
    is_known: bool,
) -> None:
    """Change a file before a certain read: in the end all is as if it had been read afterwards."""
    path = tree.write(NAME, long + line(2)[:50])
    if is_known:
        with opened(tree) as catalog:
            catalog.update(options=Options(jobs=1))
        tree.append(NAME, line(2)[50:] + long + line(5)[:50])
    real, reads, longest = FileSource.read_once, 0, 0

    def read(self: FileSource, offset: int, length: int) -> bytes:
        nonlocal reads, longest
        reads, longest = reads + 1, max(longest, length)
        if reads == moment:
            deed(path)
            tree.touch(path)
        return real(self, offset, length)

    monkeypatch.setattr(FileSource, "read_once", read)
    with opened(tree) as catalog:
        update = catalog.update(options=Options(jobs=1))
        monkeypatch.undo()
        assert longest < len(long)  # never all of it at once
        assert not update.skipped
        with catalog.reading() as database:
            # Nothing of it is damaged at any moment; an unfinished end is another thing.
            rows = database.execute("SELECT damaged - is_unfinished FROM all_session").fetchall()
        assert rows == [(0,)]
        catalog.update(options=Options(jobs=1))
        assert content(catalog) == rebuilt(tree)


def test_a_file_that_cannot_be_read_to_its_end_leaves_nothing_behind(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    from clew.errors import UnreadableError

    long = undamaged(4600)
    tree.write(NAME, long * 3)
    real = FileSource.read_once

    def read(self: FileSource, offset: int, length: int) -> bytes:
        if offset > len(long) * 2:
            raise UnreadableError(self.path, "input/output error")
        return real(self, offset, length)

    with opened(tree) as catalog:
        with monkeypatch.context() as patch:
            patch.setattr(FileSource, "read_once", read)
            assert [one.reason for one in catalog.update(options=Options(jobs=1)).skipped]
        with catalog.reading() as database:
            for table in ("all_entry", "all_span", "all_message", "all_source"):
                assert database.execute(f"SELECT count(*) FROM {table}").fetchall() == [(0,)], table
        catalog.update(options=Options(jobs=1))
        assert content(catalog) == rebuilt(tree)
