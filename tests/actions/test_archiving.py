"""Archiving as a person asks for it: by name, all at once, and back again."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from bench.generate import Recipe, generate
from clew.actions.archiving import (
    MTIME_NOTE,
    Put,
    add_sessions,
    endangered,
    get_everything,
    get_session,
    list_archive,
    mend_archive,
    restored_document,
    verified_document,
    verify_archive,
)
from clew.errors import AmbiguousSessionError, ClewError, RefusedError, UnknownSessionError, UsageError
from clew.store.archive_restore import Restored
from clew.store.files import Skipped, Store
from tests.actions.stores import CORPUS
from tests.store.archives import NOW, CountingDisk, session, tree
from tests.store.lines import ONE, THREE, TWO, line, lines, put

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "config"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "archive"


def at(root: Path) -> Store:
    return Store.at([str(root)])


def add(root: Path, place: Path, *names: str, now_ms: int = NOW, **options: Any) -> Put:
    everything = not names
    return add_sessions(
        at(root), names, now_ms=now_ms, everything=everything, archive=place, disk=CountingDisk(), **options
    )


def get(root: Path, place: Path, name: str, **options: Any) -> Restored:
    return get_session(at(root), name, archive=place, disk=CountingDisk(), **options)


def get_all(root: Path, place: Path) -> list[Restored | Skipped]:
    return list(get_everything(at(root), archive=place, disk=CountingDisk()))


def kept_files(added: Put) -> list[str]:
    return [
        os.path.join(one.snapshot.manifest.base, file.place)  # noqa: PTH118
        for one in added.added
        for file in one.snapshot.manifest.files
    ]


@pytest.mark.parametrize("scenario", CORPUS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_every_scenario_comes_back_byte_for_byte(scenario: Path, root: Path, place: Path) -> None:
    shutil.copytree(scenario, root)
    before = tree(root)
    added = add(root, place)
    assert not added.skipped
    for path in kept_files(added):
        os.unlink(path)  # noqa: PTH108
    left = tree(root)
    # Nothing that is a session or belongs to one is left behind.
    of_nobody = ("sessions-index.json", "/memory/")
    assert not [
        name for name in left if name.startswith("projects/") and not any(one in name for one in of_nobody)
    ]
    assert len(left) < len(before)
    restored = get_all(root, place)
    assert all(isinstance(one, Restored) and not one.lost for one in restored)
    assert tree(root) == before
    assert not verify_archive(archive=place).damage
    again = tree(place, times=True)
    assert not add(root, place, now_ms=NOW + 1).new
    assert tree(place, times=True) == again


def test_sessions_take_at_most_a_quarter_of_their_size(root: Path, place: Path) -> None:
    generate(root, Recipe(6_000_000))
    added = add(root, place)
    size = sum(one.snapshot.manifest.size for one in added.added)
    assert size > 5_000_000
    stored = list_archive(at(root), archive=place).stored_bytes
    assert (
        stored
        == added.bytes_written
        == sum(len(data) for data in tree(place).values() if isinstance(data, bytes))
    )
    assert stored <= size / 4


def test_only_the_sessions_named_are_put_aside_each_once(root: Path, place: Path) -> None:
    session(root)
    put(root / "projects" / "-q" / f"{TWO}.jsonl", lines(2, session=TWO))
    added = add(root, place, TWO, TWO[:8])
    assert [one.footprint.file.id for one in added.added] == [TWO]
    with pytest.raises(UsageError):
        add_sessions(at(root), (), now_ms=1, archive=place)
    with pytest.raises(UnknownSessionError):
        add(root, place, "nobody")


def test_the_list_tells_what_is_there_and_what_is_still_in_the_store(root: Path, place: Path) -> None:
    path = session(root)
    other = put(root / "projects" / "-q" / f"{TWO}.jsonl", lines(2, session=TWO))
    third = put(root / "projects" / "-q" / f"{THREE}.jsonl", lines(2, session=THREE))
    add(root, place)
    other.unlink()
    third.write_bytes(lines(3, session=THREE))
    found = list_archive(at(root), archive=place)
    assert {one.last.manifest.session: one.in_store for one in found.sessions} == {
        ONE: "same",
        TWO: "gone",
        THREE: "changed",
    }
    add(root, place, now_ms=NOW + 5)
    documents: Any = list_archive(at(root), archive=place).as_dict()
    assert documents["sessions"][0]["id"] == THREE
    assert [len(one["snapshots"]) for one in documents["sessions"]] == [2, 1, 1]
    document = next(one for one in documents["sessions"] if one["id"] == ONE)
    assert document["project"] == "/home/ada/lighthouse"
    assert document["started"] == "2026-03-04T09:00:01.000Z"
    assert document["bytes"] == sum(len(data) for name, data in tree(root).items() if ONE in name)  # type: ignore[arg-type]
    assert document["snapshots"][0]["archived"] == "2026-09-21T14:13:20.000Z"
    assert document["root"] == str(root)
    assert path.exists()


def test_an_archive_that_is_not_there_is_empty(root: Path, place: Path) -> None:
    session(root)
    assert list_archive(at(root), archive=place).as_dict() == {
        "archive": str(place),
        "sessions": [],
        "stored_bytes": 0,
        "damage": [],
    }
    assert verify_archive(archive=place).chunks == 0
    with pytest.raises(UnknownSessionError):
        get(root, place, ONE)
    assert not place.exists()


@pytest.mark.parametrize("name", [ONE, ONE[:6], "the LAMP,  1"])
def test_a_session_is_put_back_by_id_by_its_start_or_by_title(root: Path, place: Path, name: str) -> None:
    path = session(root)
    before = tree(root)
    add(root, place)
    shutil.rmtree(root / "projects")
    restored = get(root, place, name)
    assert restored.path == str(path)
    assert tree(root) == before
    document: Any = restored_document(restored)
    assert document["notes"] == [MTIME_NOTE]
    assert document["resume"] == f"claude --resume {ONE}"
    assert document["put"][-1] == str(path)


def test_an_older_snapshot_is_put_back_when_it_is_named(root: Path, place: Path) -> None:
    path = session(root, lines(2))
    first = add(root, place, now_ms=1).added[0].snapshot.id
    path.write_bytes(lines(9))
    add(root, place, now_ms=2)
    path.unlink()
    assert get(root, place, ONE, at=first[:10]).snapshot.id == first
    assert path.read_bytes() == lines(2)
    with pytest.raises(RefusedError):
        get(root, place, ONE)
    path.unlink()
    get(root, place, first[:12])
    assert path.read_bytes() == lines(2)
    for wrong in ("00zz", first[:3]):
        with pytest.raises(UsageError):
            get(root, place, ONE, at=wrong)


def test_a_session_can_be_put_somewhere_else(root: Path, place: Path, tmp_path: Path) -> None:
    session(root)
    add(root, place)
    get(root, place, ONE, to=str(tmp_path / "other"))
    assert tree(tmp_path / "other") == tree(root)


def test_what_was_elsewhere_goes_to_the_store_that_is_looked_in_never_where_a_snapshot_says(
    root: Path, place: Path, tmp_path: Path
) -> None:
    session(root)
    add(root, place)
    new = tmp_path / "new"
    new.mkdir()
    assert get(new, place, ONE).to == str(new)
    (tmp_path / "third").mkdir()
    both = Store.at([str(new), str(tmp_path / "third")])
    with pytest.raises(UsageError, match="not looked in"):
        get_session(both, ONE, archive=place)


def test_a_file_of_no_store_goes_only_where_it_is_told_to(root: Path, place: Path, tmp_path: Path) -> None:
    loose = put(tmp_path / "loose" / f"{ONE}.jsonl", lines(2))
    root.mkdir()
    add(root, place, str(loose))
    with pytest.raises(UsageError):
        get(root, place, ONE)
    get(root, place, ONE, to=str(tmp_path / "back"))
    assert tree(tmp_path / "back") == {f"{ONE}.jsonl": lines(2)}


def test_one_id_in_two_projects_is_told_apart_by_the_snapshot(root: Path, place: Path) -> None:
    for folder in ("-p", "-q"):
        put(root / "projects" / folder / f"{ONE}.jsonl", line(1, cwd=folder))
    added = add(root, place)
    with pytest.raises(AmbiguousSessionError) as caught:
        get(root, place, ONE)
    wanted = added.added[0].snapshot
    assert wanted.id[:12] in caught.value.candidates
    shutil.rmtree(root / "projects")
    assert get(root, place, ONE, at=wanted.id[:12]).snapshot == wanted


def test_what_is_left_of_sessions_that_are_gone_is_put_aside_too(root: Path, place: Path) -> None:
    path = session(root)
    path.unlink()
    put(root / "projects" / "-q" / "agent-old.jsonl", line(session=TWO, isSidechain=True))
    added = add(root, place)
    assert sorted(one.footprint.file.id for one in added.added) == [ONE, "agent-old"]
    before = tree(root)
    assert len(before) == 8
    for name in before:
        (root / name).unlink()
    get_all(root, place)
    assert tree(root) == before


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root reads everything")
def test_a_session_that_cannot_be_read_does_not_stop_the_others(root: Path, place: Path) -> None:
    session(root).chmod(0)
    put(root / "projects" / "-q" / f"{TWO}.jsonl", lines(2, session=TWO))
    added = add(root, place)
    assert [one.footprint.file.id for one in added.added] == [TWO]
    assert len(added.skipped) == 1


def test_a_session_that_vanishes_meanwhile_does_not_stop_the_others_unless_it_was_named(
    root: Path, place: Path
) -> None:
    path = session(root)
    put(root / "projects" / "-q" / f"{TWO}.jsonl", lines(2, session=TWO))
    os.utime(path, (9e9, 9e9))  # the last to be put aside

    def gone() -> None:
        path.unlink(missing_ok=True)

    added = add(root, place, advance=gone)
    assert [one.footprint.file.id for one in added.added] == [TWO]
    assert [one.path for one in added.skipped] == [str(path)]
    document: Any = added.as_dict()
    assert document["skipped"][0]["path"] == str(path)
    assert document["sessions"][0]["new"]


def test_a_sub_agent_that_begins_while_a_live_session_is_read_is_put_aside_with_it(
    root: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = session(root)
    now_ms = int(path.stat().st_mtime * 1000)
    from clew.store.archive_footprint import Footprint

    of: Callable[..., Footprint] = Footprint.of

    def beginning(*given: Any) -> Footprint:
        put(path.parent / ONE / "subagents" / "agent-late.jsonl", line())
        return of(*given)

    monkeypatch.setattr(Footprint, "of", beginning)
    (added,) = add(root, place, now_ms=now_ms).added
    assert any("agent-late" in file.place for file in added.snapshot.manifest.files)


@pytest.mark.parametrize("inside", ["archive", "projects/archive", "."])
def test_an_archive_inside_the_folder_of_the_client_is_refused(root: Path, inside: str) -> None:
    session(root)
    with pytest.raises(UsageError, match="inside"):
        add(root, root / inside)


def test_without_a_folder_named_it_is_the_one_for_data(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    session(root)
    added = add_sessions(at(root), everything=True, now_ms=1)
    assert added.is_lasting
    assert added.archive == str(tmp_path / "data" / "clew" / "archive")
    assert (tmp_path / "data" / "clew" / "archive" / "packs").is_dir()


def test_damage_is_named_by_verify_and_by_get_and_costs_only_what_it_hit(root: Path, place: Path) -> None:
    path = session(root)
    put(root / "projects" / "-q" / f"{TWO}.jsonl", lines(2, session=TWO))
    add(root, place, ONE)
    (pack,) = (place / "packs").iterdir()
    add(root, place, TWO)
    raw = bytearray(pack.read_bytes())
    raw[-1] ^= 1
    raw[-200] ^= 1
    pack.write_bytes(raw)
    document: Any = verified_document(verify_archive(archive=place))
    assert document["damage"]
    assert {one["session"] for one in document["lost"]} == {ONE}
    shutil.rmtree(root / "projects")
    restored = [one for one in get_all(root, place) if isinstance(one, Restored)]
    by_session = {one.snapshot.manifest.session: one for one in restored}
    assert not by_session[TWO].lost
    assert by_session[ONE].lost
    assert (root / "projects" / "-q" / f"{TWO}.jsonl").read_bytes() == lines(2, session=TWO)
    damaged = {one.place for one in by_session[ONE].lost}
    for file in by_session[ONE].snapshot.manifest.files:
        assert (root / file.place).exists() != (file.place in damaged)
    assert path.suffix == ".jsonl"


def test_getting_everything_goes_on_past_what_is_refused(root: Path, place: Path, tmp_path: Path) -> None:
    path = session(root)
    put(root / "projects" / "-q" / f"{TWO}.jsonl", lines(2, session=TWO))
    add(root, place)
    path.unlink()
    title = path.parent / ONE / "custom-title.json"
    title.write_bytes(b"another")
    (root / "projects" / "-q" / f"{TWO}.jsonl").unlink()
    found = get_all(root, place)
    assert sorted(type(one).__name__ for one in found) == ["Restored", "Skipped"]
    assert title.read_bytes() == b"another"
    assert not path.exists()


def test_getting_everything_puts_back_what_is_gone_of_a_session_that_is_there(
    root: Path, place: Path
) -> None:
    path = session(root)
    before = tree(root)
    add(root, place)
    agents = list(path.parent.rglob("agent-*.jsonl"))
    assert agents
    for agent in agents:
        agent.unlink()
    (restored,) = get_all(root, place)
    assert isinstance(restored, Restored)
    assert sorted(restored.put) == sorted(map(str, agents))
    assert str(path) in restored.kept
    assert tree(root) == before
    assert get_all(root, place) == []


def test_getting_everything_leaves_what_went_on_and_puts_back_only_what_is_gone(
    root: Path, place: Path
) -> None:
    path = session(root)
    add(root, place)
    (agent, *_) = path.parent.rglob("agent-*.jsonl")
    data = agent.read_bytes()
    agent.unlink()
    path.write_bytes(path.read_bytes() + line(99))
    grown = path.read_bytes()
    (restored,) = get_all(root, place)
    assert isinstance(restored, Restored)
    assert restored.put == (str(agent),)
    assert restored.path == str(path)
    assert (agent.read_bytes(), path.read_bytes()) == (data, grown)
    agent.write_bytes(b"another\n")
    assert get_all(root, place) == []
    assert agent.read_bytes() == b"another\n"


def test_every_error_is_one_of_ours(root: Path, place: Path) -> None:
    session(root)
    put(place, b"a file in the place of the archive")
    with pytest.raises(ClewError):
        add(root, place)


def test_what_goes_next_is_told_with_whether_it_is_put_aside_as_it_is(root: Path, place: Path) -> None:
    path = session(root)
    other = put(root / "projects" / "-q" / f"{TWO}.jsonl", lines(2, session=TWO))
    third = put(root / "projects" / "-q" / f"{THREE}.jsonl", lines(2, session=THREE))
    for file, time in ((path, 100), (other, 50), (third, 10**9)):
        os.utime(file, (time, time))
    add(root, place, ONE, TWO)
    with other.open("ab") as file:
        file.write(line(3, session=TWO))
    os.utime(other, (50, 50))
    found = endangered(at(root), now=10**9, within_days=0, archive=place)
    assert [(one.doomed.file.id, one.is_archived) for one in found] == [(TWO, False), (ONE, True)]


def test_mending_is_for_damaged_archives_only(root: Path, place: Path) -> None:
    session(root)
    assert mend_archive(archive=place) == ()
    add(root, place)
    before = tree(place, times=True)
    assert mend_archive(archive=place) == ()
    assert tree(place, times=True) == before
