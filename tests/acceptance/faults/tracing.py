"""Watch the system calls of a command with `strace`, and let one of them fail or be the command's last.

The calls are counted by name, as strace counts them. What is kept of a log is what was done to files of one
folder, and what was said on the standard output.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tests.debian import program

if TYPE_CHECKING:
    from collections.abc import Iterable

# By the first argument these work on an open file, the others on names.
BY_DESCRIPTOR = frozenset(
    (
        *("write", "pwrite64", "fsync", "fdatasync", "ftruncate", "fchmod", "fchown", "utimensat"),
        *("close", "flock", "fcntl", "lseek"),
    )
)
BY_NAME = frozenset(
    (
        *("open", "openat", "creat", "rename", "renameat", "renameat2", "link", "linkat", "symlink"),
        *("symlinkat", "unlink", "unlinkat", "mkdir", "mkdirat", "rmdir", "truncate", "chmod", "fchmodat"),
        *("chown", "lchown"),
    )
)
# None of these may be used: the replay does not know what they do to a file.
UNKNOWN = frozenset(
    {"writev", "pwritev", "pwritev2", "sendfile", "copy_file_range", "splice", "fallocate", "sync_file_range"}
)
CALLS = BY_DESCRIPTOR | BY_NAME | UNKNOWN

_LINE = re.compile(r"(?P<pid>\d+) +(?P<name>\w+)\((?P<rest>.*)", re.DOTALL)
_QUOTED = re.compile(r'"((?:\\x[0-9a-f]{2})*)"(\.\.\.)?')
_OPEN = re.compile(r"(\d+)<((?:\\x[0-9a-f]{2})*)>")
_RESULT = re.compile(r"\)\s+= (-?\d+|\?)(?:<(?:\\x[0-9a-f]{2})*>(?:\(deleted\))?)?(?: (\w+))?[^\"]*$")
_NAMED_ANEW = re.compile(rb"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|\d{8}-\d{6}-[0-9a-f]{6}|[0-9a-f]{32}")

Error = Literal["ENOSPC", "EIO", "EDQUOT", "EINTR"]
ERRORS: tuple[Error, ...] = ("ENOSPC", "EIO", "EDQUOT", "EINTR")


@dataclass(frozen=True, slots=True)
class Call:
    """One system call."""

    pid: int
    name: str
    number: int
    """The how manieth of its name it was in its process, from 1."""

    paths: tuple[bytes, ...]
    descriptor: int | None
    """The open file it works on."""

    data: bytes | None
    """What it wrote."""

    arguments: str
    result: int | None
    error: str | None
    is_injected: bool

    def is_of(self, base: bytes) -> bool:
        """Say whether it is about a file below a folder."""
        return any(path.startswith(base) for path in self.paths)

    def told(self, base: bytes) -> tuple[str, tuple[bytes, ...]]:
        """Return what it did, in words that are the same in every run."""
        return self.name, tuple(
            _NAMED_ANEW.sub(b"#", path.removeprefix(base).removesuffix(b" (deleted)")) for path in self.paths
        )


@dataclass(frozen=True, slots=True)
class Injection:
    """What is to happen to a call."""

    name: str
    number: int
    error: Error | None = None
    """None to kill the process before the call is done."""

    for_ever: bool = False

    def __str__(self) -> str:
        when = str(self.number)
        if self.for_ever:
            # A call that is interrupted is made again, so it would be made for ever.
            when = f"{self.number}..{self.number + 4}" if self.error == "EINTR" else f"{self.number}+"
        what = "signal=KILL" if self.error is None else f"error={self.error}"
        return f"{self.name}:{what}:when={when}"


def strace() -> str:
    """Return the program; install it where that can be done."""
    found = program("strace")
    if found is None:
        raise AssertionError("strace is needed to prove what happens when the system fails; install it")
    return found


class Watch:
    """Watches a process from when it is called until the process ends.

    `inject` lets a call fail, or be the last; then only the calls of that name are kept.
    """

    def __init__(self, inject: Injection | None = None) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._log = Path(self._folder.name, "log")
        self._inject = inject
        self._process: subprocess.Popen[str] | None = None

    def __call__(self, pid: int) -> None:
        names = sorted(CALLS) if self._inject is None else [self._inject.name]
        # Not --seccomp-bpf, though it is quicker: strace 6.1 then kills nobody.
        options = ["-f", "-xx", "-y", "-s", str(1 << 24), "-o", str(self._log), "-p", str(pid)]
        options += ["-e", "trace=" + ",".join(names), "-e", "signal=none"]
        if self._inject is not None:
            options += ["-e", f"inject={self._inject}"]
        self._process = subprocess.Popen([strace(), *options], stderr=subprocess.PIPE, text=True)
        assert self._process.stderr is not None
        said = self._process.stderr.readline()
        assert "attached" in said, f"the process cannot be watched: {said}"

    def calls(self) -> tuple[Call, ...]:
        """Return its calls, when it has ended."""
        assert self._process is not None
        with self._process as process:
            process.communicate()
        with self._folder:
            return parse(self._log.read_text("latin-1").splitlines())


def parse(lines: Iterable[str]) -> tuple[Call, ...]:
    """Read the lines of a log."""
    calls: list[Call] = []
    counts: Counter[tuple[int, str]] = Counter()
    halves: dict[int, str] = {}
    for line in lines:
        pid, _, rest = line.partition(" ")
        rest = rest.strip()
        if rest.startswith("<... "):
            rest = halves.pop(int(pid)) + rest.partition(" resumed>")[2]
        if rest.endswith("<unfinished ...>"):
            halves[int(pid)] = rest.removesuffix("<unfinished ...>")
            continue
        match = _LINE.fullmatch(f"{pid} {rest}")
        if match is None:
            continue  # a signal, or how the process ended
        name = match["name"]
        counts[int(pid), name] += 1
        calls.append(_call(int(pid), name, counts[int(pid), name], match["rest"]))
    # A killed process does not come back from its last call.
    for pid, rest in halves.items():
        name = rest.partition("(")[0]
        counts[pid, name] += 1
        calls.append(_call(pid, name, counts[pid, name], rest.partition("(")[2]))
    return tuple(calls)


def _call(pid: int, name: str, number: int, rest: str) -> Call:
    quoted = [_bytes(found[1]) for found in _QUOTED.finditer(rest)]
    assert not any(found[2] for found in _QUOTED.finditer(rest)), "the log is cut"
    opened = _OPEN.match(rest)
    ended = _RESULT.search(rest)
    result = None if ended is None or ended[1] == "?" else int(ended[1])
    is_by_name = name in BY_NAME
    paths = tuple(quoted) if is_by_name else (() if opened is None else (_bytes(opened[2]),))
    return Call(
        pid,
        name,
        number,
        paths,
        None if is_by_name or opened is None else int(opened[1]),
        quoted[0] if quoted and not is_by_name else None,
        rest,
        result,
        None if ended is None or result is None or result >= 0 else ended[2],
        "(INJECTED)" in rest,
    )


def _bytes(escaped: str) -> bytes:
    return bytes.fromhex(escaped.replace("\\x", ""))
