"""What the tools that change a file have in common: may it be changed, and how it is.

A file that is there must have been seen in this session and hold the same still. What it was is kept
(`Work.before_change`) before anything happens to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from clew.agent import paths
from clew.agent.tools import replacing, texts
from clew.agent.tools.outcomes import failed, refused, troubled
from clew.errors import ClewError

if TYPE_CHECKING:
    import os

    from clew.agent.tool import Outcome, Work
    from clew.agent.tools.texts import Text

CURRENT: Final = " (file state is current in your context — no need to Read it back)"
"""What the client adds when a file was written."""

_MOST: Final = 32 << 20
_UNSEEN: Final = "File has not been read yet. Read it first before writing to it."
_CHANGED: Final = (
    "File has been modified since read, either by the user or by a linter. "
    "Read it again before attempting to write it."
)
_FOREIGN: Final = (
    "File is {what}. Only UTF-8 is written here, and UTF-16 behind its byte-order mark, so nothing was "
    "changed. Change it with a shell command that keeps its encoding, or ask the user whether to convert it."
)


class CallRefusedError(Exception):
    """The call cannot go on; `outcome` says why."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.content)
        self.outcome = outcome


@dataclass(frozen=True, slots=True)
class Current:
    """A file as it is before it is changed."""

    facts: os.stat_result
    text: Text


def current(path: str, resolved: str, work: Work) -> Current | None:
    """Read the file that is to be changed; None if there is none. Raise `CallRefusedError` if it may not."""
    try:
        data, facts = paths.read(resolved, most=_MOST)
    except FileNotFoundError:
        return None
    except (OSError, ClewError) as error:
        raise CallRefusedError(refused(troubled(error, path))) from None
    if data:  # of an empty file there is nothing to know
        judgement = work.seen.judge(resolved, data)
        if judgement != "same":
            raise CallRefusedError(refused(_UNSEEN if judgement == "unseen" else _CHANGED))
    try:
        return Current(facts, texts.decode(data))
    except texts.NotTextError as error:
        what = "binary" if error.is_binary else "not valid UTF-8: it has an older encoding, or it is binary"
        raise CallRefusedError(refused(_FOREIGN.format(what=what))) from None


def commit(path: str, resolved: str, before: Current | None, text: Text, work: Work) -> None:
    """Write a file, and keep that the model knows it. Raise `CallRefusedError` if that cannot be done."""
    try:
        data = text.encode()
    except texts.HalfCharacterError as error:
        raise CallRefusedError(refused(error.message)) from None
    work.cancel.check()
    try:
        work.before_change(resolved)
        if before is None:
            facts = replacing.create(resolved, data)
        else:
            facts = replacing.replace(resolved, data, before=before.facts)
    except replacing.ChangedError:
        raise CallRefusedError(refused(_CHANGED)) from None
    except (OSError, ClewError) as error:
        raise CallRefusedError(failed(troubled(error, path, doing="write"))) from None
    work.seen.note(resolved, data, facts)
