"""Committing on file systems that lack something: it is done and undone all the same."""

from __future__ import annotations

import errno
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from clew.store.commit import Job, Moved, Replaced
from clew.store.files import Store
from clew.store.journal import entries, recover, undo
from tests.store.commits import do, mode
from tests.store.faults.disks import AT_ONCE, Killed, RefusingDisk, no_links
from tests.store.faults.jobs import (
    JOBS,
    MAIN,
    NOW_MS,
    OLD_MAIN,
    after,
    before,
    old_session,
    pieces,
    place_job,
    stamp,
    tree,
)
from tests.store.lines import put

if TYPE_CHECKING:
    from collections.abc import Callable


def elsewhere(state: Path) -> Callable[[str, str], int]:
    """The state folder lies on another file system."""
    return lambda name, path: errno.EXDEV if name == "link" and path.startswith(str(state)) else 0


def test_on_another_file_system_the_backup_is_hidden_beside_the_file(root: Path, state: Path) -> None:
    done = do(place_job(root), state, RefusingDisk(elsewhere(state)))
    assert {Path(path).parent for path in done.backups} == {root, root / "old" / "subagents"}
    for path in done.backups:
        assert Path(path).name.startswith(".")
        assert not path.endswith(".jsonl")
    listing = Store.at([str(root.parent.parent)]).listing()
    assert [Path(file.path).name for file in (*listing.sessions, *listing.agents)] == [
        "old.jsonl",
        "agent-a.jsonl",
    ]
    undo(state, now_ms=NOW_MS, disk=RefusingDisk(elsewhere(state)), patience=AT_ONCE)
    assert tree(root) == before()


@pytest.mark.parametrize("kind", list(JOBS))
def test_without_second_names_it_is_done_and_undone_all_the_same(root: Path, state: Path, kind: str) -> None:
    done = do(JOBS[kind](root), state, RefusingDisk(no_links))
    assert tree(root) == after(kind)
    for backup in done.backups:
        assert Path(backup).parent == state / "journal" / "backups"
        assert mode(backup) == 0o600
    undo(state, now_ms=NOW_MS, disk=RefusingDisk(no_links), patience=AT_ONCE)
    assert tree(root) == before()


class Poor(RefusingDisk):
    """A disk that lacks something, and on which the process may end."""

    def __init__(self, lacks: str, state: Path, end: int | None = None) -> None:
        super().__init__(elsewhere(state) if lacks == "one file system" else no_links)
        self.is_apart = lacks == "both"
        self.end = end

    def met(self, name: str, path: str) -> None:
        if self.end is not None and len(self.calls) >= self.end:
            raise Killed
        super().met(name, path)

    def replace(self, source: str, target: str) -> None:
        if self.is_apart and "backups" in source:  # a copy cannot simply be put in the file's place
            raise OSError(errno.EXDEV, "another file system", source, None, target)
        super().replace(source, target)


def _without_backups(root: Path) -> dict[str, bytes]:
    return {name: data for name, data in tree(root).items() if not name.endswith("clew-backup")}


@pytest.mark.parametrize("lacks", ["one file system", "links", "both"])
@pytest.mark.parametrize("kind", list(JOBS))
def test_there_too_it_may_be_killed_anywhere(tmp_path: Path, kind: str, lacks: str) -> None:
    outcomes: list[bool] = []
    root = state = tmp_path
    for end in range(200):
        root, state = tmp_path / str(end) / "projects", tmp_path / str(end) / "state"
        old_session(root)
        try:
            do(JOBS[kind](root), state, Poor(lacks, state, end))
        except Killed:
            recover(state, disk=Poor(lacks, state), patience=AT_ONCE)
            assert _without_backups(root) in (before(), after(kind))
            outcomes.append(_without_backups(root) == after(kind))
        else:
            break
    assert outcomes.count(False) > 20
    assert outcomes.count(True) > 1
    # And so may the undoing, of what the last of them did.
    for end in range(200):
        (entry,) = entries(state)
        if entry.state == "undone":
            break
        with suppress(Killed):
            undo(state, now_ms=NOW_MS, disk=Poor(lacks, state, end), patience=AT_ONCE)
    recover(state, disk=Poor(lacks, state), patience=AT_ONCE)
    assert tree(root) == before()


@pytest.mark.parametrize("how", ["undone", "taken back"])
def test_a_copy_that_was_just_put_back_is_not_put_back_again(root: Path, state: Path, how: str) -> None:
    class Ends(Poor):
        """Ends the process when the old file is in its place again and its copy is still there."""

        def met(self, name: str, path: str) -> None:
            if name == "unlink" and "backups" in path and (root / "old.jsonl").read_bytes() == OLD_MAIN:
                self.end = 0
            super().met(name, path)

    class Fails(Ends):
        def met(self, name: str, path: str) -> None:
            super().met(name, path)
            if name == "make_private" and (root / "old.jsonl").read_bytes() == MAIN:
                (root / "far" / "old.jsonl").mkdir(parents=True)

    main = root / "old.jsonl"
    job = Job("trim", str(main), replaced=(Replaced(str(main), pieces(MAIN), stamp(main)),))
    if how == "undone":
        do(job, state, Poor("both", state))
        with pytest.raises(Killed):
            undo(state, now_ms=NOW_MS, disk=Ends("both", state), patience=AT_ONCE)
    else:
        put(root / "x.jsonl", b"x")
        job = job._replace(moved=(Moved(str(root / "x.jsonl"), str(root / "far" / "old.jsonl")),))
        with pytest.raises(Killed):
            do(job, state, Fails("both", state))
    assert len(list((state / "journal" / "backups").iterdir())) == 1
    with main.open("ab") as file:
        file.write(b"more\n")
    recover(state, disk=Poor("both", state), patience=AT_ONCE)
    assert main.read_bytes() == OLD_MAIN + b"more\n"
    assert list((state / "journal" / "backups").iterdir()) == []
    assert not [entry for entry in entries(state) if entry.is_open]


def test_what_changed_goes_to_the_trash_without_second_names_too(root: Path, state: Path) -> None:
    do(place_job(root), state, RefusingDisk(no_links))
    with (root / "old.jsonl").open("ab") as file:
        file.write(b"more\n")
    undone = undo(state, now_ms=NOW_MS, force=True, disk=RefusingDisk(no_links), patience=AT_ONCE)
    assert tree(root) == before()
    assert [Path(path).read_bytes() for path in undone.trash] == [MAIN + b"more\n"]


@pytest.mark.parametrize("new", [OLD_MAIN + b"added\n", OLD_MAIN[:4000], b""])
def test_an_edit_that_only_adds_or_cuts_is_undone_without_second_names_too(
    root: Path, state: Path, new: bytes
) -> None:
    main = root / "old.jsonl"
    job = Job("trim", str(main), replaced=(Replaced(str(main), pieces(new), stamp(main)),))
    do(job, state, Poor("both", state))
    assert main.read_bytes() == new
    undo(state, now_ms=NOW_MS, disk=Poor("both", state), patience=AT_ONCE)
    assert tree(root) == before()
    assert list((state / "journal" / "backups").iterdir()) == []
