"""From a name to a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from clew.actions.opening import AgentFiles, agent_files, file_at, find_file, open_named
from clew.actions.stores import open_store
from clew.errors import AmbiguousSessionError, ClewError, UnknownSessionError
from clew.store import heads
from tests.builder import Builder
from tests.faces.stage import demo, write

if TYPE_CHECKING:
    from pathlib import Path

    from clew.store.files import SessionFile, Skipped


def ids(*names: str) -> dict[str, bytes]:
    return {name: Builder(name).prompt(f"Hello from {name}").answer("Hi.").data() for name in names}


def test_a_folder_that_is_not_there_is_named_in_the_error(tmp_path: Path) -> None:
    with pytest.raises(ClewError, match=r"there is no folder .*nowhere"):
        open_store([tmp_path / "nowhere"])


def test_a_file_given_as_a_config_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(ClewError, match="is not a folder"):
        open_store([tmp_path / "file"])


def test_without_folders_the_users_own_are_looked_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    write(tmp_path, "-p", ids("aaaa1111"))
    assert find_file(open_store(), "aaaa1111").id == "aaaa1111"


@pytest.mark.parametrize(
    "name",
    ["7b0ec7ce-f90f-488c-a436-0b6f5dc09027", "7b0e", "maze solver: shortest way out by breadth-first search"],
)
def test_a_session_is_found_by_id_start_of_id_and_title(tmp_path: Path, name: str) -> None:
    """Its title stands in another file, as a summary."""
    store = open_store([demo(tmp_path)])
    assert find_file(store, name).id.startswith("7b0ec7ce")


def test_a_session_is_found_by_its_path_outside_the_store(tmp_path: Path) -> None:
    store = open_store([demo(tmp_path)])
    (other,) = write(tmp_path / "elsewhere", "-p", ids("bbbb2222"))
    assert find_file(store, str(other)).path == str(other)
    assert file_at(other).id == "bbbb2222"


def test_the_first_place_is_the_newest_conversation(tmp_path: Path) -> None:
    root = demo(tmp_path)
    write(root, "-p", {"empty-but-newest": b""}, seconds_ago=10)
    assert find_file(open_store([root]), "@1").id.startswith("f026")


def test_an_unknown_name_lists_the_nearest(tmp_path: Path) -> None:
    write(tmp_path, "-p", ids("aaaa1111-2222", "bbbb1111-2222"))
    with pytest.raises(UnknownSessionError) as caught:
        find_file(open_store([tmp_path]), "aaab1111-2222")
    assert "aaaa1111-2222" in caught.value.nearest


def test_an_ambiguous_name_lists_the_candidates(tmp_path: Path) -> None:
    write(tmp_path, "-p", ids("aaaa1111", "aaaa2222"))
    with pytest.raises(AmbiguousSessionError) as caught:
        find_file(open_store([tmp_path]), "aaaa")
    assert set(caught.value.candidates) == {"aaaa1111", "aaaa2222"}


def test_a_named_session_is_read(tmp_path: Path) -> None:
    write(tmp_path, "-p", ids("aaaa1111"))
    session = open_named(open_store([tmp_path]), "aaaa")
    assert (session.name, len(session)) == ("aaaa1111", 2)


def test_the_sub_agents_of_a_session_are_found_in_every_layout(tmp_path: Path) -> None:
    agent = Builder("aaaa1111").prompt("Look", isSidechain=True, agentId="x1").data()
    files = ids("aaaa1111", "bbbb2222") | {
        "agent-x1": agent,
        "subagents/agent-x2": agent,
        "aaaa1111/subagents/agent-x3": agent,
        "aaaa1111/subagents/deeper/agent-x4": agent,
    }
    write(tmp_path, "-p", files)
    store = open_store([tmp_path])
    found = {file.id for file in agent_files(store, find_file(store, "aaaa1111"))}
    assert found == {"agent-x1", "agent-x2", "agent-x3", "agent-x4"}
    assert agent_files(store, find_file(store, "bbbb2222")) == ()
    assert agent_files(store, find_file(store, "agent-x3")) == ()


def test_a_session_named_by_a_path_brings_the_sub_agents_beside_it(tmp_path: Path) -> None:
    agent = Builder("aaaa1111").prompt("Look", isSidechain=True, agentId="x1").data()
    path, _ = write(tmp_path / "other", "-p", ids("aaaa1111") | {"aaaa1111/subagents/agent-x1": agent})
    (tmp_path / "here").mkdir()
    store = open_store([tmp_path / "here"])
    assert [file.id for file in agent_files(store, find_file(store, str(path)))] == ["agent-x1"]


def test_a_path_that_is_no_file_is_an_error_that_says_what_it_is(tmp_path: Path) -> None:
    with pytest.raises(ClewError, match="a folder"):
        file_at(tmp_path)


def test_sub_agents_whose_place_does_not_tell_are_looked_into_once_for_many_sessions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"{number:08d}" for number in range(12)]
    write(tmp_path, "-p", ids(*names))
    write(
        tmp_path, "-p", {f"agent-{name}": Builder(name).prompt("Look").answer("Hi.").data() for name in names}
    )
    store = open_store([tmp_path])
    listing = store.listing()
    looked: list[str] = []
    look = heads.head

    def counted(file: SessionFile, *, tail: bool = True) -> heads.Head | Skipped:
        looked.append(file.path)
        return look(file, tail=tail)

    monkeypatch.setattr(heads, "head", counted)
    known = AgentFiles(store, listing)
    found = {file.id: [agent.id for agent in known.of(file)] for file in listing.sessions}
    assert found == {name: [f"agent-{name}"] for name in names}
    assert sorted(looked) == sorted(file.path for file in listing.agents)
