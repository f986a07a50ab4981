"""What the person means by `/name words`: a command or a skill, written down as Markdown, filled in.

As in the client (2.1.325): a person's own comes before a project's of the same name, a command in a folder is
called `/folder:name`, arguments are counted from nought (`$0`, `$ARGUMENTS[0]`), what has no argument is left
as it is, and words that are asked for nowhere are added at the end. One thing is done less: what stands
behind an exclamation mark is never run.
"""

# ruff: noqa: PTH118

from __future__ import annotations

import os
import re
import shlex
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from clew.agent.protected import is_inside

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

MOST_BYTES: Final = 1 << 20
_MOST_FILES: Final = 2000
_MOST_DEPTH: Final = 6
_CALL: Final = re.compile(r"/([^\s/]+)(?:[ \t]+(.*))?", re.DOTALL)
_FRONT: Final = re.compile(r"---[ \t]*\r?\n(.*?)(?:\r?\n|^)---[ \t]*(?:\r?\n|$)", re.DOTALL | re.MULTILINE)
_FIELD: Final = re.compile(r"([A-Za-z][A-Za-z0-9_\-]*)[ \t]*:[ \t]*(.*?)[ \t]*\r?")
_RUNS: Final = re.compile(r"!`[^`\n]*`")


@dataclass(frozen=True, slots=True)
class Command:
    """Something that can be called by its name."""

    name: str
    path: str
    kind: Literal["command", "skill"]
    is_project: bool
    body: str
    fields: Mapping[str, str]
    """What its front matter says. It grants nothing: `allowed-tools` is not heeded."""

    @property
    def description(self) -> str:
        """What it is for, in a line."""
        first = next((line.strip() for line in self.body.splitlines() if line.strip()), "")
        return self.fields.get("description") or first[:200]


@dataclass(frozen=True, slots=True)
class Expansion:
    """What a call of a command becomes."""

    command: Command
    prompt: str
    """The line that says what the person typed, as the client writes it."""

    text: str
    """The line after it, which only the model is shown."""

    not_run: tuple[str, ...] = ()
    """Commands for a shell in it that the client would have run."""


@dataclass(frozen=True, slots=True)
class Commands:
    """All commands and skills there are."""

    found: Mapping[str, Command]
    problems: tuple[str, ...] = ()

    def expand(self, typed: str) -> Expansion | None:
        """Fill in the command that the person typed, or return None if it is none that is known."""
        call = _CALL.fullmatch(typed)
        command = self.found.get(call[1]) if call else None
        if call is None or command is None:
            return None
        words = (call[2] or "").strip()
        told = (
            f"<command-message>{command.name}</command-message>\n<command-name>/{command.name}</command-name>"
        )
        if words:
            told += f"\n<command-args>{words}</command-args>"
        text = _filled(command, words)
        return Expansion(command, told, text, tuple(one[2:-1] for one in _RUNS.findall(command.body)))


def find(config_folder: Path, project: Path) -> Commands:
    """Find the person's own commands and skills, and a project's."""
    found: dict[str, Command] = {}
    problems: list[str] = []
    real = os.path.realpath(project)
    for base, inside in ((str(config_folder), None), (os.path.join(real, ".claude"), real)):
        for kind in ("skill", "command"):
            for name, path in _named(base, kind):
                if name in found:
                    continue
                # A project must not have other files of the person's told to the model in its name.
                if inside is not None and not is_inside(os.path.realpath(path), inside):
                    problems.append(f"{path} leads out of the project")
                    continue
                text = _read(path)
                if text is None:
                    problems.append(f"{path} cannot be read")
                    continue
                fields, body = split_front(text)
                found[name] = Command(name, path, kind, inside is not None, body, fields)
    return Commands(found, tuple(problems))


def _named(base: str, kind: Literal["command", "skill"]) -> Iterator[tuple[str, str]]:
    """Yield the names of commands, or of skills, and their files."""
    top = os.path.join(base, f"{kind}s")
    if kind == "skill":
        for name in _listed(top):
            path = os.path.join(top, name, "SKILL.md")
            if os.path.isfile(path):  # noqa: PTH113
                yield name, path
        return
    waiting: list[tuple[str, ...]] = [()]
    seen = 0
    while waiting:
        above = waiting.pop()
        for name in _listed(os.path.join(top, *above)):
            seen += 1
            path = os.path.join(top, *above, name)
            if seen > _MOST_FILES:
                return
            if os.path.isdir(path):  # noqa: PTH112
                if len(above) < _MOST_DEPTH:
                    waiting.append((*above, name))
            elif name.endswith(".md") and len(name) > 3:
                yield ":".join((*above, name[:-3])), path


def _listed(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208
    except OSError:
        return []


def _read(path: str) -> str | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(MOST_BYTES + 1)
    return None if len(data) > MOST_BYTES else data.decode("utf-8-sig", "replace")


def split_front(text: str) -> tuple[dict[str, str], str]:
    """Take the front matter off a text: plain fields only, the rest of it is not read."""
    front = _FRONT.match(text)
    if front is None:
        return {}, text.lstrip()
    fields: dict[str, str] = {}
    for line in front[1].split("\n"):
        found = _FIELD.fullmatch(line)
        if found is not None:
            value = found[2]
            if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
                value = value[1:-1]
            fields[found[1]] = value
    return fields, text[front.end() :].lstrip()


def _filled(command: Command, words: str) -> str:
    """Put the words of a call into a text, each place once: what they bring in is not looked at again."""
    try:
        given = shlex.split(words)
    except ValueError:  # a quote that is not closed
        given = words.split()
    names = _argument_names(command.fields.get("arguments", ""))
    is_used = False
    place = re.compile(
        r"\\(?P<kept>\$(?:ARGUMENTS|[0-9]))|\$ARGUMENTS\[(?P<index>[0-9]{1,4})\]|(?P<all>\$ARGUMENTS)"
        r"|\$(?P<short>[0-9]{1,4})(?![A-Za-z0-9_])|(?P<folder>\$\{CLAUDE_SKILL_DIR\})"
        + (rf"|\$(?P<name>{'|'.join(map(re.escape, names))})(?![A-Za-z0-9_])" if names else "|(?P<name>(?!))")
    )

    def put(found: re.Match[str]) -> str:
        nonlocal is_used
        if found["kept"]:
            return found["kept"]
        if found["folder"]:
            return os.path.dirname(command.path) if command.kind == "skill" else found[0]  # noqa: PTH120
        if found["all"]:
            is_used = True
            return words
        number = names.index(found["name"]) if found["name"] else int(found["index"] or found["short"])
        if number >= len(given):
            return found[0]
        is_used = True
        return given[number]

    text = place.sub(put, command.body)
    if command.kind == "skill":
        text = f"Base directory for this skill: {os.path.dirname(command.path)}\n\n{text}"  # noqa: PTH120
    return f"{text}\n\nARGUMENTS: {words}" if words and not is_used else text


def _argument_names(text: str) -> Sequence[str]:
    """Return the names that a command gives its arguments: `[first, second]`, or words."""
    return [
        name for name in re.split(r"[\s,\[\]\"']+", text) if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_\-]*", name)
    ]
