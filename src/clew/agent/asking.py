"""The question to the person whether a call may be made, as a value, and what comes of the answer.

Faces show the question and take the answer (`Asker`). Without a terminal nobody can be asked, and everything
that would be is refused, in words the model can use.
"""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, Protocol

from clew.agent.rules import Rule, parse_rule

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew.agent.cancel import Cancel
    from clew.agent.permissions import Decision
    from clew.agent.tool import Reach

Choice = Literal["once", "session", "rule", "no"]

REJECTED: Final = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file "
    "edit, the new_string was NOT written to the file). "
)
"""The client's own words, by which readers of sessions know that the person said no."""

_WAIT: Final = "STOP what you are doing and wait for the user to tell you how to proceed."
_SAID: Final = "To tell you how to proceed, the user said:\n"
_LONGEST: Final = 4000
_ODD: Final = re.compile(r"[^\S\n ]|[^\s -~]")


@dataclass(frozen=True, slots=True)
class Question:
    """May this call be made?"""

    tool: str
    what: str
    """What it would do: the whole command, or the path. Nothing in it can move a cursor or hide a letter."""

    why: str
    """Why it is asked."""

    choices: tuple[Choice, ...]
    rules: tuple[str, ...] = ()
    """The rules that `session` and `rule` would add."""

    call_id: str = ""
    """The call it is about, as the model named it."""

    given: Mapping[str, object] = field(default_factory=dict[str, object])
    """The input with which it would be made, be it that a hook changed it. Whoever shows it escapes it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the person said."""

    choice: Choice
    words: str = ""
    """What the model is told when the answer is no."""

    is_said: bool = True
    """Whether these are the person's words."""


@dataclass(frozen=True, slots=True)
class Settled:
    """What comes of an answer."""

    is_allowed: bool
    told: str = ""
    """What the model is told when it is not."""

    session_rules: tuple[Rule, ...] = ()
    """Rules to add for this session."""

    kept_rules: tuple[str, ...] = ()
    """Rules to write into the person's own settings of the project, and to trust there."""


class Asker(Protocol):
    """Somebody who can be asked."""

    def ask(self, question: Question, cancel: Cancel) -> Answer:
        """Ask, and wait for the answer. A wish to stop is a no."""
        ...


class Nobody:
    """Nobody is there to be asked."""

    def ask(self, question: Question, cancel: Cancel) -> Answer:
        """Say no, and how it could be a yes."""
        del cancel
        return Answer("no", unasked(question), is_said=False)


def unasked(question: Question) -> str:
    """Tell the model that a call needs a permission nobody is there to give."""
    how = f" It would be allowed by: {', '.join(question.rules)}." if question.rules else ""
    return (
        f"Permission to use {question.tool} has been denied: {question.why}, and nobody can be asked here."
        f"{how} Do without it, or say what you would need and why."
    )


def question(
    tool_name: str, given: Mapping[str, object], reach: Reach, decision: Decision, *, call_id: str = ""
) -> Question:
    """Make the question for a call about which it was decided to ask."""
    rules = tuple(one for one in decision.proposals if parse_rule(one) is not None)
    lasting: tuple[Choice, ...] = ("session", "rule") if rules and not decision.is_firm else ()
    what = _what(given, reach)
    choices: tuple[Choice, ...] = ("once", *lasting, "no")
    return Question(tool_name, plain(what), plain(decision.reason), choices, rules, call_id, given)


def _what(given: Mapping[str, object], reach: Reach) -> str:
    if reach.command is not None:
        return reach.command
    if reach.writes or reach.reads:
        return "\n".join(reach.writes or reach.reads)
    if reach.domain is not None:
        return str(given.get("url") or reach.domain)
    try:
        return json.dumps(given, ensure_ascii=False, default=repr)
    except (ValueError, RecursionError):
        return repr(dict(given))


def plain(text: str) -> str:
    """Return a text in which every sign can be seen: what does not show or changes others is spelled out."""
    if len(text) > _LONGEST:
        half = _LONGEST // 2
        text = f"{text[:half]}\n[… {len(text) - 2 * half} more characters …]\n{text[-half:]}"
    return _ODD.sub(_seen, text)


def _seen(found: re.Match[str]) -> str:
    sign = found[0]
    # Control signs, signs of direction, joiners, half pairs, private ones and none; other spaces.
    if unicodedata.category(sign)[0] not in "CZ":
        return sign
    code = ord(sign)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def settle(asked: Question, answer: Answer) -> Settled:
    """Say what comes of an answer. One that was not offered is a no."""
    if answer.choice not in asked.choices or answer.choice == "no":
        return Settled(is_allowed=False, told=_refused(answer.words) if answer.is_said else answer.words)
    if answer.choice == "once":
        return Settled(is_allowed=True)
    made = tuple(
        rule for text in asked.rules if (rule := parse_rule(text, origin="this session")) is not None
    )
    kept = asked.rules if answer.choice == "rule" else ()
    return Settled(is_allowed=True, session_rules=made, kept_rules=kept)


def _refused(words: str) -> str:
    return f"{REJECTED}{_SAID}{words}" if words.strip() else f"{REJECTED}{_WAIT}"
