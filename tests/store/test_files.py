"""What is found in a store, and what is passed over."""

from __future__ import annotations

import os
import socket
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.store.files import SessionFile, Skipped, Store, at_path
from clew.store.heads import Head, group_agents, head
from clew.store.sides import side_files
from tests.store.lines import CORPUS, ONE, THREE, TWO, line, lines, put

SCENARIOS = sorted(folder.parent for folder in CORPUS.glob("*/*/projects"))


def _notes(store: Store, root: Path) -> dict[str, str]:
    return {str(Path(note.path).relative_to(root)): note.reason for note in store.listing().skipped}


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_every_session_file_the_client_wrote_is_found(scenario: Path) -> None:
    listing = Store.at([str(scenario)]).listing()
    expected = {str(path) for path in (scenario / "projects").rglob("*.jsonl")}
    assert {file.path for file in (*listing.sessions, *listing.agents)} == expected
    assert not listing.skipped
    agents = group_agents(listing)
    assert not agents.skipped
    grouped = [(owner, file) for (_, _, owner), files in agents.by_session.items() for file in files]
    assert sorted(file.path for _, file in grouped) == [file.path for file in listing.agents]
    for owner, file in grouped:
        assert owner.encode() in Path(file.path).read_bytes()


@pytest.mark.parametrize("version", sorted({path.parent.name for path in SCENARIOS}))
def test_side_files_are_found_with_their_session(version: str) -> None:
    found: set[str] = set()
    expected: set[str] = set()
    for scenario in SCENARIOS:
        if scenario.parent.name != version:
            continue
        listing = Store.at([str(scenario)]).listing()
        for file in (*listing.sessions, *listing.agents):
            sides = side_files(file)
            assert not sides.skipped
            assert all(file.id in side.path for side in sides.files if not file.is_agent)
            found.update(side.path for side in sides.files)
        # Some sessions are not in the corpus, though what belongs to them is.
        ids = {file.id for file in (*listing.sessions, *listing.agents)}
        for folder in ("projects", "file-history", "tasks", "todos"):
            for path in (scenario / folder).rglob("*"):
                parts = path.relative_to(scenario).parts
                named = any(part.startswith(tuple(ids)) for part in parts)
                if path.is_file() and path.suffix != ".jsonl" and named:
                    expected.add(str(path))
    assert found == expected
    assert found or version == "1.0.35"


def test_sub_agents_are_found_in_every_layout(tmp_path: Path) -> None:
    project = tmp_path / "projects" / "-p"
    put(project / f"{ONE}.jsonl", lines(2))
    put(project / f"{TWO}.jsonl", lines(2, session=TWO))
    beside = put(project / "agent-1a2b3c4d.jsonl", line(session=ONE, isSidechain=True))
    folder = put(project / "subagents" / "agent-a111111.jsonl", line(session=TWO, isSidechain=True))
    own = put(project / ONE / "subagents" / "agent-a222222.jsonl", line(session=THREE, isSidechain=True))
    deep = put(project / ONE / "subagents" / "more" / "agent-a333333.jsonl", b"")
    listing = Store.at([str(tmp_path)]).listing()
    agents = group_agents(listing)
    assert [file.id for file in listing.sessions] == [ONE, TWO]
    assert [file.path for file in agents.of(listing.sessions[0])] == [str(own), str(deep), str(beside)]
    assert [file.path for file in agents.of(listing.sessions[1])] == [str(folder)]
    assert {file.session for file in listing.agents} == {None, ONE}
    assert {file.folder for file in listing.agents} == {"-p"}


def test_an_agent_with_two_ids_goes_to_the_session_that_said_something(tmp_path: Path) -> None:
    project = tmp_path / "projects" / "-p"
    put(project / f"{ONE}.jsonl")
    put(project / f"{TWO}.jsonl", lines(2, session=TWO))
    put(
        project / "agent-a1.jsonl",
        line(session=ONE, isSidechain=True) + line(2, session=TWO, isSidechain=True),
    )
    put(project / "agent-a2.jsonl", line(session=THREE, isSidechain=True))
    put(project / "agent-a3.jsonl", b"")
    listing = Store.at([str(tmp_path)]).listing()
    agents = group_agents(listing)
    assert [file.id for file in agents.of(listing.sessions[1])] == ["agent-a1"]
    assert [key[2] for key in agents.by_session] == [TWO, THREE, ""]


def test_an_agent_that_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    path = put(tmp_path / "projects" / "-p" / "agent-a1.jsonl", line())
    listing = Store.at([str(tmp_path)]).listing()
    path.unlink()
    agents = group_agents(listing)
    assert [note.path for note in agents.skipped] == [str(path)]
    assert not agents.by_session


def test_a_file_says_where_it_lies_and_how_it_is(tmp_path: Path) -> None:
    path = put(tmp_path / "projects" / "-p" / f"{ONE}.jsonl", b"12345")
    status = path.stat()
    expected = SessionFile(
        str(path), ONE, "-p", 5, status.st_mtime_ns, status.st_ino, status.st_dev, str(tmp_path)
    )
    assert Store.at([str(tmp_path)]).listing().sessions == (expected,)
    assert at_path(path) == expected


def test_names_are_not_trusted(tmp_path: Path) -> None:
    project = tmp_path / "projects" / "-p"
    put(project / "sessions-index.json", b'{"entries": [{"sessionId": "ghost"}]}')
    put(project / "notes.jsonl", lines(1))
    put(project / "x.jsonl.bak", lines(1))
    put(project / ".hidden.jsonl", lines(1))
    put(project / "memory" / "MEMORY.md", b"")
    put(tmp_path / "projects" / "loose.jsonl", lines(1))
    put(tmp_path / "history.jsonl", b"{}")
    listing = Store.at([str(tmp_path)]).listing()
    assert [(file.folder, file.id) for file in listing.sessions] == [("-p", "notes"), ("", "loose")]
    assert not listing.skipped


def test_pipes_devices_folders_and_sockets_are_passed_over(tmp_path: Path) -> None:
    project = tmp_path / "projects" / "-p"
    put(project / "good.jsonl", lines(1))
    os.mkfifo(project / "pipe.jsonl")
    (project / "folder.jsonl").mkdir()
    (project / "device.jsonl").symlink_to("/dev/zero")
    store = Store.at([str(tmp_path)])
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(project / "socket.jsonl"))
        assert [file.id for file in store.listing().sessions] == ["good"]
        assert _notes(store, project) == {
            "pipe.jsonl": "a pipe",
            "folder.jsonl": "a folder",
            "socket.jsonl": "a socket",
            "device.jsonl": "a device",
        }


def test_links_are_followed_and_loops_and_dead_ends_are_noted_once(tmp_path: Path) -> None:
    projects = tmp_path / "projects"
    put(tmp_path / "elsewhere" / "far.jsonl", lines(1))
    put(tmp_path / "outside.jsonl", lines(1))
    put(projects / "-p" / "good.jsonl", lines(1))
    (projects / "-far").symlink_to(tmp_path / "elsewhere")
    (projects / "-again").symlink_to(projects / "-p")
    (projects / "-up").symlink_to(projects)
    (projects / "-dead").symlink_to(tmp_path / "missing")
    (projects / "-loop").symlink_to(projects / "-loop")
    (projects / "-file").symlink_to(tmp_path / "outside.jsonl")
    (projects / "-p" / "linked.jsonl").symlink_to(tmp_path / "outside.jsonl")
    (projects / "-p" / "same.jsonl").symlink_to("good.jsonl")
    (projects / "-p" / "twice.jsonl").symlink_to(tmp_path / "outside.jsonl")
    (projects / "-p" / "dead.jsonl").symlink_to("missing.jsonl")
    (projects / "-p" / "loop.jsonl").symlink_to("loop.jsonl")
    store = Store.at([str(tmp_path)])
    listing = store.listing()
    assert [(file.folder, file.id) for file in listing.sessions] == [
        ("-far", "far"),
        ("-p", "good"),
        ("-p", "linked"),
    ]
    assert _notes(store, projects) == {
        "-again": "a folder that was listed already",
        "-dead": "a link to nothing",
        "-loop": "a loop of symbolic links",
        "-p/dead.jsonl": "a link to nothing",
        "-p/loop.jsonl": "a loop of symbolic links",
        "-p/same.jsonl": "a link to a file that is listed already",
        "-p/twice.jsonl": "a link to a file that is listed already",
        "-up": "a folder that was listed already",
    }
    assert store.listing() == listing


def test_a_loop_among_the_sub_agents_ends(tmp_path: Path) -> None:
    folder = tmp_path / "projects" / "-p" / ONE / "subagents"
    put(folder / "agent-a1.jsonl", b"")
    (folder / "round").symlink_to(folder)
    (folder / "up").symlink_to(tmp_path)
    listing = Store.at([str(tmp_path)]).listing()
    assert [file.id for file in listing.agents] == ["agent-a1"]
    assert [note.reason for note in listing.skipped] == ["a link among the sub-agents"] * 2


def test_two_hard_links_are_two_sessions(tmp_path: Path) -> None:
    first = put(tmp_path / "projects" / "-p" / "a.jsonl", lines(1))
    (first.parent / "b.jsonl").hardlink_to(first)
    assert [file.id for file in Store.at([str(tmp_path)]).listing().sessions] == ["a", "b"]


def test_the_same_store_by_two_roots_is_listed_once(tmp_path: Path) -> None:
    put(tmp_path / "a" / "projects" / "-p" / "x.jsonl", lines(1))
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "projects").symlink_to(tmp_path / "a" / "projects")
    listing = Store.at([str(tmp_path / "a"), str(tmp_path / "b")]).listing()
    assert [file.root for file in listing.sessions] == [str(tmp_path / "a")]
    assert [note.path for note in listing.skipped] == [str(tmp_path / "b" / "projects")]


def test_a_folder_that_cannot_be_listed_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "projects" / "-closed" / "x.jsonl", lines(1))
    put(tmp_path / "projects" / "-open" / "x.jsonl", lines(1))
    put(tmp_path / "projects" / "-open" / "sub" / "subagents", b"a file, not a folder")
    real = os.scandir

    def guarded(path: str) -> object:
        if path.endswith("-closed"):
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(os, "scandir", guarded)
    store = Store.at([str(tmp_path)])
    assert [file.folder for file in store.listing().sessions] == ["-open"]
    assert _notes(store, tmp_path / "projects") == {
        "-closed": "permission denied",
        "-open/sub/subagents": "not a directory",
    }


def test_a_file_that_goes_away_while_listing_is_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "projects" / "-p"
    put(project / "x.jsonl", lines(1))
    put(project / "y.jsonl", lines(1))
    real = os.scandir

    def racing(path: str) -> object:
        entries = list(real(path))
        if path.endswith("-p"):
            (project / "x.jsonl").unlink()

        class Listed:
            def __enter__(self) -> list[os.DirEntry[str]]:
                return entries

            def __exit__(self, *_: object) -> None: ...

        return Listed()

    monkeypatch.setattr(os, "scandir", racing)
    store = Store.at([str(tmp_path)])
    listing = store.listing()
    assert [file.id for file in listing.sessions] == ["y"]
    assert [(note.path, note.reason) for note in listing.skipped] == [(str(project / "x.jsonl"), "gone")]


def test_a_store_that_is_not_there_is_empty(tmp_path: Path) -> None:
    for roots in ([], [str(tmp_path)], [str(tmp_path / "missing")]):
        listing = Store.at(roots, environ={}, home=str(tmp_path)).listing()
        assert (listing.sessions, listing.agents, listing.skipped) == ((), (), ())
    (tmp_path / "projects").symlink_to(tmp_path / "missing")
    assert [note.reason for note in Store.at([str(tmp_path)]).listing().skipped] == ["a link to nothing"]


def test_the_newest_come_first(tmp_path: Path) -> None:
    for number, name in enumerate(["b", "a", "d", "c"]):
        path = put(tmp_path / "projects" / "-p" / f"{name}.jsonl", lines(1))
        os.utime(path, (number // 2, number // 2))
    listing = Store.at([str(tmp_path)]).listing()
    assert [file.id for file in listing.newest()] == ["c", "d", "a", "b"]


def test_a_name_that_is_no_text_is_listed(tmp_path: Path) -> None:
    folder = tmp_path / "projects" / "-p"
    folder.mkdir(parents=True)
    with open(os.fsencode(folder) + b"/\xff\xfe.jsonl", "wb"):  # noqa: PTH123 # a Path cannot be made of bytes
        pass
    assert [file.id for file in Store.at([str(tmp_path)]).listing().sessions] == ["\udcff\udcfe"]


NAMES = ["a.jsonl", "agent-a1.jsonl", "subagents", "projects", ONE, "-p", "x.json", ".hidden"]


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(
            st.lists(st.sampled_from(NAMES), min_size=1, max_size=5),
            st.sampled_from(["file", "folder", "pipe", "link"]),
            st.lists(st.sampled_from([*NAMES, "..", "missing"]), max_size=3),
        ),
        max_size=25,
    )
)
def test_no_tree_is_too_odd(steps: list[tuple[list[str], str, list[str]]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "far", "below")  # links that go up three folders stay inside
        root.mkdir(parents=True)
        for parts, kind, target in steps:
            path = root / "projects" / Path(*parts)
            try:
                if os.path.lexists(path):  # to write into a pipe would wait for ever
                    continue
                path.parent.mkdir(parents=True, exist_ok=True)
                if kind == "file":
                    path.write_bytes(lines(1))
                elif kind == "folder":
                    path.mkdir()
                elif kind == "pipe":
                    os.mkfifo(path)
                else:
                    path.symlink_to(root / "projects" / Path(*target))
            except OSError:  # the way there is a loop, or no folder
                continue
        store = Store.at([str(root)])
        listing = store.listing()
        found = [file.path for file in (*listing.sessions, *listing.agents)]
        assert len(set(found)) == len(found)
        assert all(Path(path).read_bytes() == lines(1) for path in found)
        assert store.listing() == listing
        group_agents(listing)
        for file in (*listing.sessions, *listing.agents):
            side_files(file)
            assert isinstance(head(file), Head)


def test_the_other_sessions_of_a_project_are_known(tmp_path: Path) -> None:
    for place in ("-p/a", "-p/b", "-p/c", "-q/d"):
        put(tmp_path / "projects" / f"{place}.jsonl", b"")
    listing = Store.at([str(tmp_path)]).listing()
    assert [file.id for file in listing.beside(listing.sessions[1])] == ["a", "c"]


@pytest.mark.parametrize(
    ("place", "folder", "root", "is_agent", "session"),
    [
        ("projects/-p/x.jsonl", "-p", ".", False, None),
        ("projects/-p/agent-a1.jsonl", "-p", ".", True, None),
        ("projects/-p/subagents/agent-a1.jsonl", "-p", ".", True, None),
        (f"projects/-p/{ONE}/subagents/agent-a1.jsonl", "-p", ".", True, ONE),
        ("projects/deep/er/x.jsonl", "er", None, False, None),
        ("projects/mine/.claude/projects/-p/x.jsonl", "-p", "projects/mine/.claude", False, None),
        ("anywhere/x.jsonl", "anywhere", None, False, None),
        ("projects/x.jsonl", "projects", None, False, None),
    ],
)
def test_a_path_tells_where_a_file_belongs(
    tmp_path: Path, place: str, folder: str, root: str | None, is_agent: bool, session: str | None
) -> None:
    file = at_path(put(tmp_path / place, b""))
    assert isinstance(file, SessionFile)
    found = (file.folder, file.root, file.is_agent, file.session)
    assert found == (folder, None if root is None else str(tmp_path / root), is_agent, session)


def test_a_path_to_no_session_file_says_what_it_is(tmp_path: Path) -> None:
    assert at_path(tmp_path) == Skipped(str(tmp_path), "a folder")
    assert at_path(tmp_path / "no") == Skipped(str(tmp_path / "no"), "no such file or directory")
    assert isinstance(at_path("a\0b"), Skipped)
