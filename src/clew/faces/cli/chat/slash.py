"""What can be said to the chat itself: commands that begin with a slash."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class Slash(NamedTuple):
    """A command of the chat."""

    name: str
    argument: str
    help: str


COMMANDS: Final = (
    Slash("help", "", "keys and commands"),
    Slash("compact", "[words]", "sum up the conversation; words say what matters"),
    Slash("cost", "", "what the session cost"),
    Slash("context", "", "how long the conversation is, and of what"),
    Slash("undo", "", "back to before your last prompt (files stay as they are)"),
    Slash("model", "[name]", "the model that is asked, or another one"),
    Slash("mode", "[name]", "what may be done without asking; Shift-Tab goes round"),
    Slash("clear", "", "begin a new session"),
    Slash("exit", "", "end; so does Ctrl-D"),
)
KEYS: Final = (
    ("Enter", "send; while the model works, it hears it after its calls"),
    ("Alt-Enter, \\ Enter", "a new line"),
    ("Esc, Ctrl-C", "stop the turn"),
    ("Up, Down", "what you said before"),
    ("Tab", "complete /commands and @paths"),
    ("Ctrl-A E K U W Y", "begin, end, cut to the end, to the begin, a word; put back"),
    ("Ctrl-L", "draw anew"),
    ("Ctrl-Z", "leave for the shell; fg comes back"),
    ("Ctrl-D, Ctrl-C twice", "end"),
)
AT_ONCE: Final = ("help", "cost", "context", "mode", "exit")
"""Commands that need not wait until a turn is over."""

_ALIASES: Final = {"quit": "exit", "new": "clear", "usage": "cost", "?": "help", "rewind": "undo"}
_CALL: Final = re.compile(r"/([A-Za-z?][^\s/]*)(?:\s+(.*))?", re.DOTALL)


class Called(NamedTuple):
    """A line that calls a command."""

    name: str
    words: str
    is_ours: bool
    """Whether it is a command of the chat; else it is one of the project's, if it has such a one."""


def read(text: str) -> Called | None:
    """Read a line; None where it is no command, be it a path or a prompt."""
    found = _CALL.fullmatch(text.strip())
    if found is None:
        return None
    name = _ALIASES.get(found[1], found[1])
    return Called(name, (found[2] or "").strip(), any(name == one.name for one in COMMANDS))


def near(name: str, others: Iterable[str]) -> list[str]:
    """Return the commands that may have been meant."""
    names = [*(one.name for one in COMMANDS), *others]
    starting = [one for one in names if one.startswith(name)]
    return (starting or get_close_matches(name, names, 3, 0.5))[:5]
