"""Take off a command what wraps another: `timeout 5 …`, `sudo …`, `xargs …`, `sh -c '…'`, `find -exec …`.

A rule that allows is asked about the command inside, and one that forbids about both. Where it is not certain
which word is the command inside, a rule that allows must spell out everything up to it.
"""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.agent.shell_lines import Command
    from clew.agent.shell_words import Word


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


HARMLESS_VARIABLES: Final = _names(
    "LANG LC_ALL LC_COLLATE LC_CTYPE LC_MESSAGES LC_NUMERIC LC_TIME TZ NO_COLOR FORCE_COLOR CLICOLOR "
    "COLUMNS LINES CI "
    "NODE_ENV PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE RUST_BACKTRACE CGO_ENABLED GOOS GOARCH"
)
"""Variables that change how a program prints or builds, never what it runs."""

_VALUED: Final = {
    "timeout": "ks",
    "nice": "n",
    "nohup": "",
    "time": "",
    "stdbuf": "ioe",
    "xargs": "InPLsdEa",
    "env": "uCS",
    "sudo": "ughpCrtUTDR",
    "doas": "uC",
    "ionice": "cnpPu",
    "exec": "a",
    "command": "",
    "builtin": "",
    "setsid": "",
}
"""Programs that start another, and which of their options have a value."""

_TRANSPARENT: Final = {
    "timeout": _names("--foreground --preserve-status -v --verbose -k -s"),
    "nice": _names("-n"),
    "nohup": _names(""),
    "time": _names("-p"),
    "stdbuf": _names("-oL -eL -iL -o0 -e0"),
    "xargs": _names("-0 -r -t -n -L -P -d --null --no-run-if-empty"),
}
"""Those that change nothing of what the other does, and the options with which that is so."""

_RARE: Final = _names(
    "watch parallel strace ltrace flock chroot unshare setpriv su busybox caffeinate script unbuffer "
    "chrt taskset numactl "
    "setarch systemd-run firejail runuser nsenter ssh entr gdb perf valgrind start-stop-daemon "
    "daemonize tsp chronic "
    "faketime proxychains torsocks xvfb-run dbus-run-session pkexec run0 toybox rtk npx bunx pnpx uvx pipx"
)
"""More of them, in which the command may be any word."""

_SHELLS: Final = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash"})
_DURATION: Final = re.compile(r"[0-9.]+[smhd]?")
_PLAIN: Final = re.compile(r"[A-Za-z0-9_@%+=:,./\-]+")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_FIND_RUNS: Final = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_FIND_WRITES: Final = frozenset({"-delete", "-fprint", "-fprint0", "-fprintf", "-fls"})
_GIT_VALUED: Final = frozenset(
    {"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"}
)


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """A command without what wraps it."""

    words: tuple[Word, ...]
    texts: tuple[tuple[str, int], ...] = ()
    """What a rule that allows must match, without and with what wraps it, and how many words it must fix."""

    mention: str = ""
    """A word such a rule must have in it."""

    has_tail: bool = False
    """Whether further words are added when it runs."""

    is_odd: bool = False
    """Whether variables are set for it that may change what it does."""

    is_shell: bool = False
    """Whether it is a shell that does no more than run `lines`."""

    doubt: str = ""
    lines: tuple[str, ...] = ()
    """Lines that it runs in a shell."""

    commands: tuple[tuple[Word, ...], ...] = ()
    """Commands that it starts, with further words behind them."""


def unwrap(command: Command) -> Unwrapped:
    """Take off what wraps a command."""
    words, has_tail = _stripped(command.words)
    odd = [word.source for name, word in command.assignments if name not in HARMLESS_VARIABLES]
    if not words:
        return Unwrapped((), has_tail=has_tail, is_odd=bool(odd))
    name = _name(words[0])
    least, mention, doubt = 1, "", ""
    lines: tuple[str, ...] = ()
    commands: tuple[tuple[Word, ...], ...] = ()
    is_shell = False
    if name in _SHELLS or name == "eval":
        lines, least, is_shell, doubt = _shell(words, name)
    elif name == "find":
        commands = _found(words)
        mention = next((word.text for word in words if word.text in _FIND_WRITES), "")
    elif name in _VALUED:
        least = _inner(words)[-1] + 1
    elif name in _RARE:
        least = 2
    shorter = (" ".join([*odd, spelled(words)]), least + len(odd))
    taken_off = len(command.words) - len(words)
    longer = (" ".join([*odd, spelled(command.words)]), least + len(odd) + taken_off)
    return Unwrapped(
        words,
        (shorter, longer) if taken_off else (shorter,),
        mention,
        has_tail,
        bool(odd),
        is_shell and not has_tail,
        doubt,
        lines,
        commands,
    )


def spelled(words: Sequence[Word]) -> str:
    """Write a command in one way only, whatever its quotes were."""
    return " ".join(_spelled(word) for word in words)


def _spelled(word: Word) -> str:
    if not word.is_literal:
        return word.source
    return word.text if _PLAIN.fullmatch(word.text) else shlex.quote(word.text)


def bare_forms(command: Command) -> tuple[str, ...]:
    """Return all texts that a rule which forbids may know a command by."""
    forms = {command.source: None}
    waiting = [command.words]
    while waiting and len(forms) < 200:
        words = waiting.pop()
        if not words:
            continue
        forms[spelled(words)] = None
        name = _name(words[0])
        if words[0].is_literal and name != words[0].text:
            forms[" ".join([name, spelled(words[1:])]).strip()] = None
        if name in _VALUED:
            waiting += [words[at:] for at in _inner(words)]
        elif name in _RARE:
            waiting += [words[at:] for at in range(1, len(words))]
        elif name == "find":
            waiting += _found(words)
        elif name == "git":
            forms[" ".join(["git", spelled(_without_globals(words[1:]))]).strip()] = None
    return tuple(forms)


def _name(word: Word) -> str:
    """The name of a program, without its folder."""
    return os.path.basename(word.text) if word.is_literal else ""  # noqa: PTH119


def _stripped(words: tuple[Word, ...]) -> tuple[tuple[Word, ...], bool]:
    """Take off what changes nothing; say whether words will be added behind."""
    has_tail = False
    while words and words[0].is_literal and words[0].text in _TRANSPARENT:
        name = words[0].text
        at = _inner(words)[-1]
        options = [word for word in words[1:at] if word.text.startswith("-")]
        if at >= len(words) or not all(word.is_literal for word in words[:at]):
            break
        if any(word.text not in _TRANSPARENT[name] for word in options):
            break
        if any(_VARIABLE.match(word.text) for word in words[1 : at + 1]):
            break
        has_tail = has_tail or name == "xargs"
        words = words[at:]
    return words, has_tail


def _inner(words: Sequence[Word]) -> list[int]:
    """Return where the command inside may begin: the likeliest place last."""
    name = _name(words[0])
    valued = _VALUED[name]
    at = 1
    places: list[int] = []
    while at < len(words):
        text = words[at].text
        if text == "--":
            at += 1
            break
        if text.startswith("-") and len(text) > 1:
            at += 1
            if text[-1] in valued and len(text) == 2 and not text.startswith("--"):
                places.append(at)  # should the option have no value after all
                at += 1
        elif name in {"env", "sudo", "doas"} and _VARIABLE.match(text):
            at += 1
        else:
            break
    if name == "timeout" and at < len(words) and _DURATION.fullmatch(words[at].text):
        at += 1
    return [place for place in [*places, at] if place <= len(words)]


def _shell(words: Sequence[Word], name: str) -> tuple[tuple[str, ...], int, bool, str]:
    """Return the lines a shell is told to run, the words a rule must fix, and what is not known."""
    if name == "eval":
        if all(word.is_literal for word in words):
            return (" ".join(word.text for word in words[1:]),), len(words), True, ""
        return (), 1, False, "it is not known what it evaluates"
    for at, word in enumerate(words[1:], 1):
        if not word.is_literal:
            return (), 1, False, "it is not known what the shell runs"
        if not word.text.startswith("-"):
            return (), 1, False, ""  # a script
        if not word.text.startswith("--") and "c" in word.text:
            if at + 1 >= len(words) or not words[at + 1].is_literal:
                return (), 1, False, "it is not known what the shell runs"
            return (words[at + 1].text,), at + 2, at == 1 and word.text == "-c" and len(words) == 3, ""
    return (), 1, False, ""


def _found(words: Sequence[Word]) -> tuple[tuple[Word, ...], ...]:
    """Return the commands that `find` starts for what it finds."""
    found: list[tuple[Word, ...]] = []
    at = 0
    while at < len(words):
        if words[at].text in _FIND_RUNS:
            end = at + 1
            while end < len(words) and words[end].text not in {";", "+"}:
                end += 1
            found.append(tuple(words[at + 1 : end]))
            at = end
        at += 1
    return tuple(found)


def _without_globals(words: Sequence[Word]) -> Sequence[Word]:
    """Take off the options that come before git's own command."""
    at = 0
    while at < len(words) and words[at].text.startswith("-"):
        at += 2 if words[at].text in _GIT_VALUED else 1
    return words[at:]
