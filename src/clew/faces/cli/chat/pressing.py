"""What each key does in a chat."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, Literal

from clew.agent.asking import Question
from clew.faces.cli.chat import orders
from clew.faces.cli.chat.completing import complete

if TYPE_CHECKING:
    from clew.faces.cli.chat.keys import Key
    from clew.faces.cli.chat.questions import Asking
    from clew.faces.cli.chat.talk import Talk

Wish = Literal["suspend", "clear"]
"""What only the terminal itself can do."""

_TWICE: Final = 2.0
"""Seconds within which a second Ctrl-C ends the chat."""

_AGAIN: Final = "Ctrl-C again ends"


class Pressing:
    """Takes keys."""

    def __init__(self, talk: Talk, *, folder: str) -> None:
        self._talk = talk
        self._folder = folder
        self._interrupted_at = -_TWICE

    def press(self, key: Key) -> Wish | None:
        """Do what a key asks for; return what the terminal is to do."""
        talk = self._talk
        talk.others = ()
        if key.name != "ctrl-c":
            talk.hint = ""
            self._interrupted_at = -_TWICE
        match key.name:
            case "ctrl-c":
                self.interrupt()
            case "ctrl-z":
                return "suspend"
            case "ctrl-l":
                return "clear"
            case _ if talk.asking is not None and talk.asking.is_meant(time.monotonic()):
                self._answer(talk.asking, key)
            case "escape":
                if talk.is_busy:
                    talk.stop()
            case "enter":
                self._enter()
            case "ctrl-d" if not talk.editor.draft.text:
                talk.is_over = True
            case "tab":
                self._complete()
            case "shift-tab":
                orders.next_mode(talk)
            case _:
                talk.editor.press(key)
        return None

    def interrupt(self) -> None:
        """Stop the turn; without one empty the box; a second time end the chat."""
        talk, now = self._talk, time.monotonic()
        is_again = now - self._interrupted_at < _TWICE
        self._interrupted_at = now
        if talk.is_busy and not (is_again and talk.is_stopping):
            talk.stop()
        elif is_again:
            talk.is_over = True
        else:
            talk.editor.take()
            talk.hint = _AGAIN

    def _answer(self, asking: Asking, key: Key) -> None:
        is_call = isinstance(asking.asked.question, Question)
        if key.name == "escape" and asking.words is None and is_call:
            self._talk.stop()
        else:
            asking.press(key)

    def _enter(self) -> None:
        editor = self._talk.editor
        draft = editor.draft
        if draft.text[: draft.at].endswith("\\") and draft.at == draft.line_end:
            editor.draft = draft.cut(draft.at - 1, draft.at)[0].insert("\n")
        elif not draft.is_empty:
            self._talk.typed(editor.take())

    def _complete(self) -> None:
        talk = self._talk
        running = talk.running
        names = [] if running is None else [*running.commands.found]
        folder = self._folder if running is None else running.transcript.cwd
        found = complete(talk.editor.draft, commands=names, folder=folder)
        talk.editor.draft, talk.others = found
