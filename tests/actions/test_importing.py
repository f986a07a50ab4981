"""What a bundle brings is put where nothing is in its way, whole or not at all."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from clew.actions.importing import Landing, import_bundle
from clew.errors import RefusedError, UnreadableError
from clew.store.bundle_manifest import BadBundleError
from clew.store.files import Store
from clew.store.journal import undo
from tests.actions.bundling_lab import NEW_ID, NOW, aged, facts, lines_in, packed, taken, wish
from tests.store.archives import session as whole_session
from tests.store.bundle.test_bundle_hostile import HOSTILE
from tests.store.bundles import listed
from tests.store.lines import ONE, put


@pytest.fixture
def packed_one(tmp_path: Path) -> bytes:
    """The bundle of a session with everything that can belong to one."""
    whole_session(tmp_path / "a")
    return packed(tmp_path / "a", ONE, tmp_path / "s")


def test_a_session_that_is_there_just_so_is_left(packed_one: bytes, tmp_path: Path) -> None:
    first = taken(packed_one, tmp_path / "b", tmp_path / "s")
    before = facts(tmp_path / "b")
    again = taken(packed_one, tmp_path / "b", tmp_path / "s")
    assert (again.is_there, again.done, again.path) == (True, None, first.path)
    assert again.as_dict()["result"] == {"id": ONE, "path": first.path}
    assert facts(tmp_path / "b") == before


def test_what_is_missing_of_a_session_that_is_there_is_put(packed_one: bytes, tmp_path: Path) -> None:
    first = taken(packed_one, tmp_path / "b", tmp_path / "s")
    before = facts(tmp_path / "b")
    Path(first.new[2]).unlink()
    again = taken(packed_one, tmp_path / "b", tmp_path / "s")
    assert again.new == (first.new[2],)
    assert facts(tmp_path / "b") == before


@pytest.mark.parametrize(("more", "why"), [(b"x\n", "has grown since"), (b"", "another file of that name")])
def test_another_session_of_that_id_is_not_written_over(
    packed_one: bytes, tmp_path: Path, more: bytes, why: str
) -> None:
    path = Path(taken(packed_one, tmp_path / "b", tmp_path / "s").path)
    path.write_bytes(path.read_bytes() + more if more else b"else\n")
    before = facts(tmp_path / "b")
    with pytest.raises(RefusedError, match=why) as caught:
        taken(packed_one, tmp_path / "b", tmp_path / "s")
    assert caught.value.exit_code == 4
    assert "--as-new" in str(caught.value.hint)
    assert facts(tmp_path / "b") == before


def test_a_session_of_that_id_in_another_project_is_refused(packed_one: bytes, tmp_path: Path) -> None:
    taken(packed_one, tmp_path / "b", tmp_path / "s")
    with pytest.raises(RefusedError, match="there already, in"):
        taken(packed_one, tmp_path / "b", tmp_path / "s", Landing(to=str(tmp_path)))


def test_a_new_session_is_one_of_its_own_whose_lines_say_the_same(packed_one: bytes, tmp_path: Path) -> None:
    first = taken(packed_one, tmp_path / "b", tmp_path / "s")
    before = facts(tmp_path / "b")
    done = taken(packed_one, tmp_path / "b", tmp_path / "s", Landing(as_new=True, to="/srv/l"))
    assert done.id == NEW_ID
    assert len(done.new) == len(first.new)
    for old, new in zip(first.new, done.new, strict=True):
        assert ONE not in new
        place = old.replace(ONE, NEW_ID).replace("-home-ada-lighthouse", "-srv-l")
        assert new == place
        if not new.endswith(".jsonl"):
            assert Path(new).read_bytes() == Path(old).read_bytes()
        else:
            assert Path(new).read_bytes().count(b"\n") == Path(old).read_bytes().count(b"\n")
            assert ONE.encode() not in Path(new).read_bytes()
    now = facts(tmp_path / "b")
    assert before == {name: now[name] for name in before}


def test_old_sub_agents_beside_a_session_go_into_the_folder_of_a_new_one(tmp_path: Path) -> None:
    project = tmp_path / "a" / "projects" / "-p"
    put(project / f"{ONE}.jsonl", lines_in("/p", "/p"))
    put(project / "agent-0a1b.jsonl", lines_in("/p"))
    data = packed(tmp_path / "a", ONE, tmp_path / "s")
    assert [*listed(data)][1:] == ["projects/-p/agent-0a1b.jsonl", f"projects/-p/{ONE}.jsonl"]
    done = taken(data, tmp_path / "b", tmp_path / "s", Landing(as_new=True))
    assert done.new[0].endswith(f"projects/-p/{NEW_ID}/subagents/agent-0a1b.jsonl")


def test_an_import_is_taken_back_wholly(packed_one: bytes, tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    done = taken(packed_one, tmp_path / "b", tmp_path / "s")
    assert done.done is not None
    undo(tmp_path / "s", now_ms=NOW + 1)
    assert [*(tmp_path / "b").iterdir()] == []


def test_a_dry_run_says_the_same_and_writes_nothing(packed_one: bytes, tmp_path: Path) -> None:
    dry = taken(packed_one, tmp_path / "b", tmp_path / "s", is_dry=True)
    assert [*(tmp_path / "b").iterdir()] == []
    assert dry.as_dict()["result"] is None
    assert dry.new == taken(packed_one, tmp_path / "b", tmp_path / "s").new


def test_links_in_the_way_are_refused_but_for_those_of_the_user(packed_one: bytes, tmp_path: Path) -> None:
    root, real = tmp_path / "b", tmp_path / "real"
    root.mkdir()
    real.mkdir()
    (root / "projects").symlink_to(real)
    assert taken(packed_one, root, tmp_path / "s").done is not None
    undo(tmp_path / "s", now_ms=NOW + 1)
    (real / "-home-ada-lighthouse").symlink_to(tmp_path / "a")
    with pytest.raises(RefusedError, match="a link or a file is in the place of a folder"):
        taken(packed_one, root, tmp_path / "s")


def test_what_the_client_would_delete_at_once_has_the_time_of_now(tmp_path: Path) -> None:
    main = whole_session(tmp_path / "a")
    aged(tmp_path / "a")
    old = (NOW - 40 * 86_400_000) * 1_000_000
    os.utime(main, ns=(old, old))
    done = taken(packed(tmp_path / "a", ONE, tmp_path / "s"), tmp_path / "b", tmp_path / "s")
    assert Path(done.path).stat().st_mtime_ns != old
    assert any("older than the client keeps" in note for note in done.notes)
    times = {Path(path).stat().st_mtime_ns for path in done.new[:-1]}
    assert times <= {path.stat().st_mtime_ns for path in (tmp_path / "a").rglob("*")}
    put(tmp_path / "c" / "settings.json", b'{"cleanupPeriodDays": 365}')
    done = taken(packed(tmp_path / "a", ONE, tmp_path / "s"), tmp_path / "c", tmp_path / "s")
    assert Path(done.path).stat().st_mtime_ns == old


def test_nobody_but_the_owner_may_write_what_is_imported(tmp_path: Path) -> None:
    main = whole_session(tmp_path / "a")
    main.chmod(0o777)
    done = taken(packed(tmp_path / "a", ONE, tmp_path / "s"), tmp_path / "b", tmp_path / "s")
    assert Path(done.path).stat().st_mode & 0o777 == 0o755


def test_no_hostile_bundle_leaves_anything_behind(tmp_path: Path) -> None:
    whole_session(tmp_path / "b")
    (tmp_path / "s").mkdir()
    before = facts(tmp_path)
    for name, (make, kind, _) in HOSTILE.items():
        with pytest.raises(BadBundleError) as caught:
            taken(make(), tmp_path / "b", tmp_path / "s")
        assert type(caught.value) is kind, name
    after = {name: one for name, one in facts(tmp_path).items() if not name.endswith(".lock")}
    assert after == before


def test_a_bundle_at_a_path_is_read_and_other_things_are_not(packed_one: bytes, tmp_path: Path) -> None:
    path = put(tmp_path / "x.clew", packed_one)
    store = Store.at([str(tmp_path)])
    done = import_bundle(store, str(path), wish(tmp_path / "s"), seed=b"")
    assert Path(done.path).is_file()
    with pytest.raises(UnreadableError):
        import_bundle(store, str(tmp_path / "no.clew"), wish(tmp_path / "s"), seed=b"")


def test_a_config_folder_that_is_not_there_yet_is_made(packed_one: bytes, tmp_path: Path) -> None:
    store = Store.at(environ={}, home=str(tmp_path / "new"))
    done = import_bundle(store, "-", wish(tmp_path / "s"), seed=b"", read=io.BytesIO(packed_one).read)
    assert done.path.startswith(str(tmp_path / "new" / ".claude" / "projects"))
