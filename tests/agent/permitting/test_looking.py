"""What is taken for a mere look is run by the real programs: nothing on the disk may be changed by it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.agent.permitting.places import Place
from tests.agent.permitting.real_shell import BASH

if TYPE_CHECKING:
    from collections.abc import Iterator

_PROGRAMS = [
    "cat", "head", "tail", "wc", "nl", "tac", "cut", "paste", "uniq", "sort", "comm", "cmp", "diff", "file",
    "stat", "ls", "tree", "du", "df", "md5sum", "cksum", "strings", "od", "xxd", "realpath", "readlink",
    "column", "fold", "expand", "grep", "rg", "echo", "printf", "seq", "expr", "basename", "dirname", "tr",
    "which", "type", "pwd", "id", "uname", "date", "find", "sed", "git", "test", "[", "command", "sleep",
]  # fmt: skip
_WORDS = [
    "b.txt", "src", "src/a.py", "new", "-o", "-o new", "--output=new", "--output new", "-i", "-n", "-r",
    "-e", "-w new", "'s/a/b/w new'", "'1,2p'", "1w", "-delete", "-exec touch new ';'", "-fprint new", "-ok",
    "{}", "';'", "-", "--", "HEAD", "log", "status", "diff", "branch", "tag", "new2", "--no-index", "add",
    "commit", "stash", "config", "a.b c", "-v", "PATH", "-s", "01010000", "-c", "-C", "-m", "-f", "*",
    "*.txt", "'*'", "> new", ">> b.txt", "2>&1", "| cat", "| tee new", "&& ls", "; touch new",
    "$(touch new)", "`touch new`", "<<E\nx\nE", "-T", "--compress-program=sh", "-p", "-l", "-x", "']'",
    "-d", "0", "1", "-R", "-L", "--textconv", "reflog", "show", "--files", "--pre", "sh",
]  # fmt: skip


def _digest(root: Path) -> str:
    found = hashlib.sha256()
    for folder, names, files in os.walk(root):
        names[:] = sorted(
            name for name in names if name != ".git"
        )  # git refreshes what it knows of the files
        for name in sorted([*names, *files]):
            path = Path(folder, name)
            found.update(f"{path}\0{path.lstat().st_mode}\0".encode())
            if path.is_file():
                found.update(path.read_bytes())
    return found.hexdigest()


@pytest.fixture(scope="module")
def shared() -> Iterator[Place]:
    with tempfile.TemporaryDirectory() as folder:
        place = Place.make(Path(folder))
        shutil.rmtree(place.root / "project" / ".git")
        for name in ("link", "way"):
            (place.root / "project" / name).unlink()
        yield place


@pytest.mark.skipif(BASH is None, reason="bash is not installed")
@given(st.sampled_from(_PROGRAMS), st.lists(st.sampled_from(_WORDS), max_size=5))
def test_a_look_changes_nothing(shared: Place, program: str, words: list[str]) -> None:
    line = " ".join([program, *words])
    if shared.shell(line).verdict != "allow":
        return
    assert BASH is not None
    before = _digest(shared.root)
    environment = {"PATH": os.environ["PATH"], "HOME": str(shared.root / "home"), "LC_ALL": "C"}
    process = subprocess.Popen(
        [BASH, "--norc", "--noprofile", "-c", line],
        cwd=shared.project,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        process.wait(timeout=1)
    except subprocess.TimeoutExpired:
        pass  # it follows a file, or sleeps
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, 9)
        process.wait()
    assert _digest(shared.root) == before, line
