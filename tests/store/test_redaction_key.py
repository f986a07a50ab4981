"""The key of placeholders: one for all, whole, and nobody else's to read."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from clew.errors import ClewError, UnreadableError
from clew.store.redaction_key import NAME, placeholder_key
from clew.store.writer import NotWrittenError
from tests.store.faults.disks import (
    ERRORS,
    CountingDisk,
    DyingDisk,
    FailingDisk,
    RefusingDisk,
    in_a_process,
    no_links,
    start_process,
)
from tests.store.lines import put

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from clew.store.disk import Disk

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
DAMAGED = pytest.mark.parametrize("damaged", [None, b"", b"fifteen bytes.."], ids=["none", "empty", "short"])


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "home" / "state"


def prepared(state: Path, damaged: bytes | None) -> Path:
    """A state folder with a key that is none, or with nothing."""
    if damaged is not None:
        put(state / NAME, damaged)
    return state


def key(state: Path, disk: Disk | None = None) -> bytes:
    return placeholder_key(state, draw=secrets.token_bytes, disk=disk or CountingDisk())


def never(_size: int) -> bytes:
    raise AssertionError


def files(state: Path) -> set[str]:
    return {path.name for path in state.rglob("*") if path.is_file()}


@DAMAGED
def test_a_key_is_drawn_once_and_kept_for_its_owner_alone(state: Path, damaged: bytes | None) -> None:
    prepared(state, damaged)
    umask = os.umask(0)
    try:
        first = placeholder_key(state, draw=secrets.token_bytes)
    finally:
        os.umask(umask)
    assert len(first) == 32
    assert (state / NAME).read_bytes() == first
    assert stat.S_IMODE((state / NAME).stat().st_mode) == 0o600
    assert files(state) == {NAME}
    assert placeholder_key(state, draw=never) == first


def test_to_read_a_key_nothing_is_asked_of_the_disk(state: Path) -> None:
    put(state / NAME, b"k" * 32)
    disk = CountingDisk()
    assert placeholder_key(state, draw=never, disk=disk) == b"k" * 32
    assert disk.calls == []


def test_a_key_of_another_length_that_somebody_put_there_is_taken(state: Path) -> None:
    put(state / NAME, b"k" * 100)
    assert placeholder_key(state, draw=never) == b"k" * 100


@DAMAGED
@pytest.mark.parametrize("for_ever", [False, True])
@pytest.mark.parametrize("error", ERRORS)
def test_whatever_call_fails_is_an_error_that_names_the_file_and_the_next_run_has_a_key(
    tmp_path: Path, error: int, for_ever: bool, damaged: bytes | None
) -> None:
    whole = CountingDisk()
    key(prepared(tmp_path / "count", damaged), whole)
    assert {"make_folder", "open_lock", "create", "write", "sync", "replace", "sync_folder"} <= {*whole.calls}
    failures: list[NotWrittenError] = []
    for at in range(len(whole.calls)):
        state = prepared(tmp_path / str(at), damaged)
        disk = FailingDisk(at, error, for_ever=for_ever)
        got: bytes | None = None
        try:
            got = key(state, disk)
        except NotWrittenError as failure:
            failures.append(failure)
            said = failure.message
        else:
            said = f"{state} {os.strerror(error)}"
        assert disk.failures
        assert str(state) in said
        assert os.strerror(error).lower() in said.lower()
        there = (state / NAME).read_bytes() if (state / NAME).exists() else None
        assert got in {None, there}
        assert there == damaged or len(there or b"") == 32
        second = key(state)
        assert got in {None, second}
        assert (state / NAME).read_bytes() == second
        assert {name for name in files(state) if not name.endswith(".lock")} == {NAME}
    assert len(failures) >= 5


@forks
@DAMAGED
def test_killed_at_any_call_it_leaves_no_half_of_a_key_and_the_next_run_has_one(
    tmp_path: Path, damaged: bytes | None
) -> None:
    whole = CountingDisk()
    key(prepared(tmp_path / "count", damaged), whole)
    outcomes: list[bool] = []
    for at in range(len(whole.calls)):
        state = prepared(tmp_path / str(at), damaged)
        assert os.WIFSIGNALED(in_a_process(partial(key, state, DyingDisk(at))))
        there = (state / NAME).read_bytes() if (state / NAME).exists() else None
        assert there == damaged or len(there or b"") == 32
        outcomes.append(there != damaged)
        second = key(state)
        assert there in {damaged, second}
        assert placeholder_key(state, draw=never) == second
        assert {name for name in files(state) if not name.endswith(".lock")} == {NAME}
    assert outcomes == sorted(outcomes)
    assert {*outcomes} == {False, True}


@forks
@DAMAGED
@pytest.mark.parametrize("disk", [CountingDisk, partial(RefusingDisk, no_links)], ids=["links", "no links"])
def test_processes_that_draw_at_once_go_on_with_the_same_key(
    state: Path, tmp_path: Path, damaged: bytes | None, disk: Callable[[], Disk]
) -> None:
    prepared(state, damaged)
    ready, go = os.pipe()

    def draw(number: int) -> None:
        os.close(go)
        os.read(ready, 1)  # all begin when it is closed
        put(tmp_path / "got" / str(number), key(state, disk()))

    children = [start_process(partial(draw, number)) for number in range(8)]
    os.close(ready)
    os.close(go)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 8
    got = {path.read_bytes() for path in (tmp_path / "got").iterdir()}
    assert got == {(state / NAME).read_bytes()}
    assert files(state) == {NAME}


def test_one_that_was_quicker_is_the_one_that_counts(state: Path) -> None:
    class Late(CountingDisk):
        def open_lock(self, path: str) -> int:
            put(state / NAME, b"k" * 32)
            return super().open_lock(path)

    assert placeholder_key(state, draw=never, disk=Late()) == b"k" * 32


def test_what_cannot_be_read_is_an_error_that_names_the_file_and_is_left_alone(
    state: Path, tmp_path: Path
) -> None:
    (state / NAME).mkdir(parents=True)
    with pytest.raises(UnreadableError, match=f"{NAME} cannot be read: it is a folder"):
        key(state)
    (state / NAME).rmdir()
    (state / NAME).symlink_to(state / NAME)
    with pytest.raises(UnreadableError, match="a loop of symbolic links"):
        key(state)
    assert (state / NAME).is_symlink()
    put(tmp_path / "file", b"")
    with pytest.raises(ClewError, match="not a directory"):
        key(tmp_path / "file")


def test_a_key_that_cannot_be_read_is_not_replaced(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(state / NAME, b"k" * 32).chmod(0)
    opened = os.open

    def refuse(path: str, *args: Any, **options: Any) -> int:
        if str(path).endswith(NAME):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)  # as of everybody but root
        return opened(path, *args, **options)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", refuse)
        with pytest.raises(UnreadableError, match="permission denied"):
            key(state)
    (state / NAME).chmod(0o600)
    assert (state / NAME).read_bytes() == b"k" * 32


def test_a_link_that_leads_nowhere_gives_way_to_a_key(state: Path, tmp_path: Path) -> None:
    state.mkdir(parents=True)
    (state / NAME).symlink_to(tmp_path / "nowhere")
    assert key(state) == (state / NAME).read_bytes()
    assert not (state / NAME).is_symlink()
    assert not (tmp_path / "nowhere").exists()
