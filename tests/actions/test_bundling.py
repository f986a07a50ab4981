"""A bundle is the session with all that belongs to it, with its secrets or without."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from clew.actions.bundling import bundle
from clew.actions.redacting import redact_session
from clew.errors import ChangedOnDiskError, UsageError
from clew.store.files import Store
from clew.store.redaction_key import placeholder_key
from clew.store.writer import NotWrittenError, TakenError
from tests.actions.bundling_lab import (
    NOW,
    SECRET,
    aged,
    belonging,
    facts,
    lines_in,
    moved_over,
    packed,
    scenarios,
    taken,
    wish,
)
from tests.builder import Builder, call, text
from tests.store.archives import session as whole_session
from tests.store.bundles import listed
from tests.store.lines import ONE, put


def test_every_session_with_files_beside_it_is_the_same_elsewhere_a_sample(tmp_path: Path) -> None:
    chosen = [one for one in scenarios() if len(belonging(one)) > len([*one.glob("projects/*/*.jsonl")])][::6]
    counts = [moved_over(one, tmp_path / str(number)) for number, one in enumerate(chosen)]
    assert sum(sessions for sessions, _ in counts) > 20
    assert sum(files for _, files in counts) > 40


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
