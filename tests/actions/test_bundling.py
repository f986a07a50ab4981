"""Bundles of sessions, made here and imported elsewhere."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from clew.actions.bundling import bundle
from clew.actions.editing import Wish
from clew.actions.importing import Landing, import_bundle
from clew.actions.redacting import redact_session
from clew.errors import ChangedOnDiskError, RefusedError, UnreadableError, UsageError
from clew.store.bundle_manifest import BadBundleError
from clew.store.files import Store
from clew.store.journal import undo
from clew.store.redaction_key import placeholder_key
from clew.store.writer import NotWrittenError, TakenError
from tests.builder import Builder, call, text
from tests.store.archives import session as whole_session
from tests.store.bundle.test_bundle_hostile import HOSTILE
from tests.store.bundles import listed
from tests.store.lines import ONE, put

if TYPE_CHECKING:
    from clew.actions.import_outcomes import Imported

CORPUS = Path(__file__).parents[1] / "data" / "corpus"
NOW = 1_790_000_000_000
NEW_ID = "ffffffff-0000-4000-8000-00000000000f"
SECRET = "AKIA2E0A8F3B244C9986"


def wish(state: Path, **other: Any) -> Wish:
    return Wish("import", NEW_ID, NOW, state, **other)


def packed(root: Path, name: str, state: Path, *, redact: bool = False, **other: Any) -> bytes:
    out = io.BytesIO()
    options: dict[str, Any] = {"now_ms": NOW, **other}
    bundle(Store.at([str(root)]), name, out, state=state, redact=redact, **options)
    return out.getvalue()


def taken(data: bytes, root: Path, state: Path, landing: Landing = Landing(), **other: Any) -> Imported:  # noqa: B008
    root.mkdir(exist_ok=True)
    return import_bundle(
        Store.at([str(root)]),
        "x.clew",
        wish(state, **other),
        landing=landing,
        seed=b"seed",
        read=io.BytesIO(data).read,
    )


def aged(folder: Path) -> None:
    """Give every file a time of its own, in the last days."""
    for number, path in enumerate(sorted(folder.rglob("*"))):
        if path.is_file():
            then = (NOW - number * 1_000_000) * 1_000_000 + number
            os.utime(path, ns=(then, then))
            path.chmod(0o600)


def facts(folder: Path) -> dict[str, tuple[str, int, int]]:
    """Every file below a folder: its digest, its rights and its time."""
    return {
        str(path.relative_to(folder)): (
            hashlib.sha256(path.read_bytes()).hexdigest(),
            path.stat().st_mode & 0o777,
            path.stat().st_mtime_ns,
        )
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def belonging(root: Path) -> set[str]:
    """Every file of the sessions whose own file is there: transcripts, and what is called by such an id."""
    ids = {path.stem for path in root.glob("projects/*/*.jsonl")}
    names = [str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()]
    return {
        name
        for name in names
        if any(id_ in name for id_ in ids) or re.fullmatch(r"projects/[^/]+/agent-[^/]+\.jsonl", name)
    }


def scenarios() -> list[Path]:
    return sorted(path.parent for path in CORPUS.glob("*/*/projects"))


def moved_over(scenario: Path, place: Path) -> tuple[int, int]:
    """Bundle every session of a scenario and import it elsewhere; return how many, of how many files."""
    there, here = place / "there", place / "here"
    shutil.copytree(scenario, there)
    aged(there)
    before = facts(there)
    sessions = [
        path for path in sorted(there.glob("projects/*/*.jsonl")) if not path.name.startswith("agent-")
    ]
    seen: set[str] = set()
    for path in sessions:
        data = packed(there, str(path), place / "state")
        done = taken(data, here, place / "state")
        assert done.path == str(here / path.relative_to(there))
        seen |= {str(Path(one).relative_to(here)) for one in done.new}
    assert facts(there) == before, "the sessions are only read"
    after = facts(here)
    assert after == {name: before[name] for name in after}
    # Sub-agents of no session that is there are of no bundle.
    assert {name for name in belonging(there) - {*after} if not Path(name).name.startswith("agent-")} == set()
    assert seen == {*after}
    return len(sessions), len(after)


def test_every_session_with_files_beside_it_is_the_same_elsewhere_a_sample(tmp_path: Path) -> None:
    chosen = [one for one in scenarios() if len(belonging(one)) > len([*one.glob("projects/*/*.jsonl")])][::6]
    counts = [moved_over(one, tmp_path / str(number)) for number, one in enumerate(chosen)]
    assert sum(sessions for sessions, _ in counts) > 20
    assert sum(files for _, files in counts) > 40


# --- other folders ------------------------------------------------------------------------------------------


def unmapped(data: bytes, old: str, new: str) -> bytes:
    """Put the old folder back where a line tells of its own: by text alone, without a word of clew's."""
    lines: list[bytes] = []
    for line in data.split(b"\n"):
        try:
            told: Any = json.loads(line)
        except ValueError:
            told = None
        place = cast("dict[str, object]", told).get("cwd") if isinstance(told, dict) else None
        if isinstance(place, str) and (place + "/").startswith(new + "/"):
            then = json.dumps(old + place[len(new) :], ensure_ascii=False).encode()
            line, many = re.subn(
                rb'("cwd":\s*)' + re.escape(json.dumps(place).encode()), rb"\g<1>" + then, line
            )
            assert many >= 1
        lines.append(line)
    return b"\n".join(lines)


def test_only_the_folder_of_a_line_changes_when_a_session_goes_to_another_project(tmp_path: Path) -> None:
    checked = changed = 0
    for number, scenario in enumerate(scenarios()[3::20]):
        place, work = tmp_path / str(number), (tmp_path / "my_work").resolve()
        work.mkdir(exist_ok=True)
        for path in sorted(scenario.glob("projects/*/*.jsonl")):
            if path.name.startswith("agent-"):
                continue
            found = re.search(rb'"cwd":"([^"]+)"', path.read_bytes())
            done = taken(
                packed(scenario, str(path), tmp_path / "s"), place, tmp_path / "s", Landing(to=str(work))
            )
            if found is None:
                assert done.counts.patched == 0
                continue
            assert Path(done.path).parent.name == re.sub("[^A-Za-z0-9]", "-", str(work))
            old = found[1].decode()
            for new in map(Path, done.new):
                name = str(new.relative_to(place)).replace(Path(done.path).parent.name, path.parent.name)
                before, after = (scenario / name).read_bytes(), new.read_bytes()
                is_same = before == after
                assert is_same or new.suffix == ".jsonl"
                assert unmapped(after, old, str(work)) == before
                checked, changed = checked + 1, changed + (not is_same)
            assert done.cwd == str(work)
    assert checked > 20
    assert changed > 10


def told(data: bytes) -> list[str | None]:
    return [json.loads(line).get("cwd") for line in data.splitlines()]


def lines_in(*folders: str | None, session: str = ONE) -> bytes:
    lines = [
        {"type": "user", "uuid": f"u{n}", "sessionId": session, "cwd": cwd} for n, cwd in enumerate(folders)
    ]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([("/home/ada", "/srv/x")], ["/srv/x/lamp", "/srv/x/lamp/sub", "/else", None, "/home/adam/lamp"]),
        (
            [("/home/ada", "/srv/x"), ("/home/ada/lamp", "/y")],
            ["/y", "/y/sub", "/else", None, "/home/adam/lamp"],
        ),
        ([("/else", "/srv/x")], ["/home/ada/lamp", "/home/ada/lamp/sub", "/srv/x", None, "/home/adam/lamp"]),
    ],
)
def test_folders_are_mapped_by_the_longest_that_fits(
    tmp_path: Path, pairs: list[tuple[str, str]], expected: list[str | None]
) -> None:
    folders = ["/home/ada/lamp", "/home/ada/lamp/sub", "/else", None, "/home/adam/lamp"]
    put(tmp_path / "a" / "projects" / "-home-ada-lamp" / f"{ONE}.jsonl", lines_in(*folders))
    done = taken(
        packed(tmp_path / "a", ONE, tmp_path / "s"),
        tmp_path / "b",
        tmp_path / "s",
        Landing(folders=tuple(pairs)),
    )
    assert told(Path(done.path).read_bytes()) == expected
    assert Path(done.path).parent.name == re.sub("[^A-Za-z0-9]", "-", str(expected[0]))


def test_a_windows_session_comes_to_a_folder_of_this_system(tmp_path: Path) -> None:
    put(tmp_path / "a" / "projects" / "C--lamp" / f"{ONE}.jsonl", lines_in("C:\\lamp", "C:\\lamp\\a\\b"))
    done = taken(
        packed(tmp_path / "a", ONE, tmp_path / "s"), tmp_path / "b", tmp_path / "s", Landing(to="/srv/l")
    )
    assert told(Path(done.path).read_bytes()) == ["/srv/l", "/srv/l/a/b"]


def test_maps_that_fit_nothing_are_told(tmp_path: Path) -> None:
    whole_session(tmp_path / "a")
    data = packed(tmp_path / "a", ONE, tmp_path / "s")
    done = taken(data, tmp_path / "b", tmp_path / "s", Landing(folders=(("/nowhere", "/x"),)))
    assert any("No line tells" in note for note in done.notes)
    assert done.counts.patched == 0


# --- what is there already ----------------------------------------------------------------------------------


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


# --- without secrets ----------------------------------------------------------------------------------------


def with_secrets(root: Path) -> Path:
    """A session with a secret in it, in a sub-agent and in the files beside it."""
    builder = Builder(ONE)
    builder.user(f"use {SECRET} for it").answer(text("I do"), call("toolu_1"))
    builder.result("toolu_1", f"key={SECRET}").answer(text("done"))
    project = root / "projects" / "-home-ada-lighthouse"
    agent = Builder(ONE).user(f"try {SECRET}").answer(text("tried")).data()
    put(project / ONE / "subagents" / "agent-a1.jsonl", agent)
    put(project / ONE / "tool-results" / "toolu_1.txt", f"a\n{SECRET}\n".encode())
    put(root / "file-history" / ONE / "0123456789abcdef@v1", f"KEY = '{SECRET}'\n".encode())
    return put(project / f"{ONE}.jsonl", builder.data())


def test_a_bundle_is_what_redacting_would_have_written(tmp_path: Path) -> None:
    with_secrets(tmp_path / "a")
    aged(tmp_path / "a")
    before = facts(tmp_path / "a")
    data = packed(tmp_path / "a", ONE, tmp_path / "s", redact=True)
    assert facts(tmp_path / "a") == before, "no session is left in the store"
    assert SECRET.encode() not in b"".join(listed(data).values())
    done = taken(data, tmp_path / "b", tmp_path / "s")
    # The judge: the command itself, in place, on a copy.
    shutil.copytree(tmp_path / "a", tmp_path / "c")
    key = placeholder_key(tmp_path / "s", draw=os.urandom)
    redact_session(
        Store.at([str(tmp_path / "c")]), ONE, wish(tmp_path / "t", in_place=True, force=True), key=key
    )
    assert {name: one[0] for name, one in facts(tmp_path / "b").items()} == {
        name: one[0] for name, one in facts(tmp_path / "c").items()
    }
    assert len(done.new) == 4
    assert {name: one[1:] for name, one in facts(tmp_path / "b").items()} == {
        name: one[1:] for name, one in before.items()
    }


def test_a_pattern_of_ones_own_is_a_secret_too(tmp_path: Path) -> None:
    with_secrets(tmp_path / "a")
    data = packed(tmp_path / "a", ONE, tmp_path / "s", redact=True, patterns=[re.compile("tr[yi]")])
    assert b"tried" not in b"".join(listed(data).values())


def test_a_bundle_without_secrets_is_the_session_byte_for_byte(tmp_path: Path) -> None:
    whole_session(tmp_path / "a")
    clean, whole = (packed(tmp_path / "a", ONE, tmp_path / "s", redact=redact) for redact in (True, False))
    one, other = listed(clean), listed(whole)
    assert json.loads(one.pop("manifest.json"))["redacted"] is True
    assert json.loads(other.pop("manifest.json"))["redacted"] is False
    assert one == other


# --- making one ---------------------------------------------------------------------------------------------


def write(root: Path, out: Path, **other: Any) -> Any:
    options: dict[str, Any] = {"now_ms": NOW, "state": out.parent / "s", "redact": False, **other}
    return bundle(Store.at([str(root)]), ONE, out, **options)


def test_a_bundle_is_a_file_that_was_not_there_yet(tmp_path: Path) -> None:
    whole_session(tmp_path / "a")
    done = write(tmp_path / "a", tmp_path / "x.clew")
    assert (tmp_path / "x.clew").stat().st_size == done.bytes_written
    assert (tmp_path / "x.clew").stat().st_mode & 0o777 == 0o600
    assert done.as_dict()["result"] == str(tmp_path / "x.clew")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "x.clew"]
    with pytest.raises(TakenError):
        write(tmp_path / "a", tmp_path / "x.clew")
    with pytest.raises(NotWrittenError):
        write(tmp_path / "a", tmp_path / "no" / "x.clew")


@pytest.mark.parametrize("redact", [False, True])
def test_of_a_session_that_is_being_written_the_whole_lines_are_taken(tmp_path: Path, redact: bool) -> None:
    whole = Builder(ONE).user("hello").answer(text("hi")).data()
    main = put(tmp_path / "a" / "projects" / "-p" / f"{ONE}.jsonl", whole + b'{"type":"us')
    for age, expected in ((5, whole), (5000, whole + b'{"type":"us')):
        then = NOW / 1000 - age
        os.utime(main, (then, then))
        data = packed(tmp_path / "a", ONE, tmp_path / "s", redact=redact)
        assert listed(data)[f"projects/-p/{ONE}.jsonl"] == expected


def test_a_session_that_grows_all_the_time_is_a_sound_prefix(tmp_path: Path) -> None:
    main = put(tmp_path / "a" / "projects" / "-p" / f"{ONE}.jsonl", lines_in("/p"))
    stop = threading.Event()

    def grow() -> None:
        with main.open("ab", buffering=0) as file:
            while not stop.is_set():
                for part in (b'{"type":"user",', b'"n":%d}\n' % main.stat().st_size):
                    file.write(part)

    taken_: list[bytes] = []
    thread = threading.Thread(target=grow)
    thread.start()
    try:
        for _ in range(8):
            # On a busy machine the one who writes may not have had his turn since the last time.
            size, ends = main.stat().st_size, time.monotonic() + 20
            while main.stat().st_size < size + 100:
                assert time.monotonic() < ends, "nobody writes"
                time.sleep(0.001)
            data = packed(tmp_path / "a", ONE, tmp_path / "s", now_ms=int(time.time() * 1000))
            taken_.append(listed(data)[f"projects/-p/{ONE}.jsonl"])
    finally:
        stop.set()
        thread.join()
    whole = main.read_bytes()
    assert all(whole.startswith(data) and data.endswith(b"\n") for data in taken_)
    assert len({*taken_}) == len(taken_)


def test_a_session_that_is_rewritten_meanwhile_is_tried_again_and_then_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from clew.store import bundle as module

    main = whole_session(tmp_path / "a")
    original = module._measured  # pyright: ignore[reportPrivateUsage]  # between the two times it is read
    left = 2

    def measured(member: module.Member) -> Any:
        nonlocal left
        found = original(member)
        if member.path == str(main) and left:
            left -= 1
            main.write_bytes(b"y" * main.stat().st_size)
            main.write_bytes(bytes([97 + left]) * main.stat().st_size)
        return found

    monkeypatch.setattr(module, "_measured", measured)
    write(tmp_path / "a", tmp_path / "x.clew")
    assert (
        listed((tmp_path / "x.clew").read_bytes())[f"projects/-home-ada-lighthouse/{ONE}.jsonl"][:1] == b"a"
    )
    left = 99
    with pytest.raises(ChangedOnDiskError):
        write(tmp_path / "a", tmp_path / "y.clew")
    assert not [path.name for path in tmp_path.iterdir() if "y.clew" in path.name]


def test_a_loose_file_gets_the_place_that_its_folder_says(tmp_path: Path) -> None:
    put(tmp_path / "s1" / f"{ONE}.jsonl", lines_in("/home/ada/my.lamp"))
    put(tmp_path / "s1" / ONE / "subagents" / "agent-1.jsonl", lines_in("/home/ada/my.lamp"))
    data = packed(tmp_path / "none", str(tmp_path / "s1" / f"{ONE}.jsonl"), tmp_path / "s")
    assert f"projects/-home-ada-my-lamp/{ONE}.jsonl" in listed(data)


def test_a_sub_agent_alone_is_no_session(tmp_path: Path) -> None:
    whole_session(tmp_path / "a")
    with pytest.raises(UsageError, match="sub-agent"):
        packed(tmp_path / "a", "agent-a1", tmp_path / "s")


@pytest.mark.parametrize("redact", [False, True])
def test_what_is_no_file_is_passed_over_and_told(tmp_path: Path, redact: bool) -> None:
    main = whole_session(tmp_path / "a")
    (main.parent / ONE / "link").symlink_to("/etc/passwd")
    put(main.parent / ONE / "a\\b", b"x")
    out = io.BytesIO()
    done = bundle(Store.at([str(tmp_path / "a")]), ONE, out, now_ms=NOW, state=tmp_path / "s", redact=redact)
    assert sorted(Path(one.path).name for one in done.skipped) == ["a\\b", "link"]
    assert len(listed(out.getvalue())) == 9


def test_a_stream_that_takes_no_more_is_an_error(tmp_path: Path) -> None:
    whole_session(tmp_path / "a")

    class Full(io.BytesIO):
        def write(self, _data: object, /) -> int:
            raise OSError(28, os.strerror(28))

    with pytest.raises(NotWrittenError, match="no space left"):
        bundle(Store.at([str(tmp_path / "a")]), ONE, Full(), now_ms=NOW, state=tmp_path, redact=False)
