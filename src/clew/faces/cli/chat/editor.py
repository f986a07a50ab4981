"""What keys do to a draft, and the drafts of before."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from clew.faces.cli.chat.draft import Draft, draft_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from clew.faces.cli.chat.keys import Key


def _places() -> Iterator[tuple[str, Callable[[Draft], int]]]:
    named: list[tuple[str, Callable[[Draft], int]]] = [
        ("left ctrl-b", lambda draft: draft.before),
        ("right ctrl-f", lambda draft: draft.after),
        ("ctrl-left alt-left alt-b", lambda draft: draft.word_start),
        ("ctrl-right alt-right alt-f", lambda draft: draft.word_end),
        ("home ctrl-a", lambda draft: draft.line_start),
        ("end ctrl-e", lambda draft: draft.line_end),
        ("ctrl-home", lambda _: 0),
        ("ctrl-end", lambda draft: len(draft.text)),
    ]
    for keys, place in named:
        for key in keys.split():
            yield key, place


_PLACES: Final = dict(_places())
"""Where keys go that only move."""


class Editor:
    """A draft, what was cut from it last, and where in the history it came from."""

    def __init__(self, history: Sequence[str] = ()) -> None:
        self.draft: Draft = Draft()
        self._killed = ""
        self._history = list(history)
        self._at = len(self._history)
        self._own: Draft = Draft()
        """What was being typed before older drafts were looked at."""

    def set(self, draft: Draft) -> None:
        """Type on with another draft."""
        self.draft = draft
        self._at = len(self._history)

    def take(self, *, keeps: bool = True) -> str:
        """Hand over what was typed and begin anew; `keeps` it in the history."""
        text = self.draft.whole
        if keeps and text.strip() and (not self._history or self._history[-1] != text):
            self._history.append(text)
        self.set(Draft())
        return text

    def press(self, key: Key) -> bool:
        """Do what a key asks for; say whether it asks for anything here."""
        draft = self.draft
        match key.name:
            case "text":
                self.draft = draft.insert(key.text)
            case "paste":
                self.draft = draft.paste(key.text)
            case "alt-enter" | "shift-enter" | "ctrl-enter" | "ctrl-j":
                self.draft = draft.insert("\n")
            case "backspace":
                self.draft, _ = draft.cut(draft.before, draft.at)
            case "delete" | "ctrl-d":
                self.draft, _ = draft.cut(draft.at, draft.after)
                self.draft = self.draft.move(draft.at)
            case "up" | "ctrl-p":
                self._older()
            case "down" | "ctrl-n":
                self._newer()
            case _:
                return self._move(key.name) or self._kill(key.name)
        return True

    def _move(self, name: str) -> bool:
        place = _PLACES.get(name)
        if place is None:
            return False
        self.draft = self.draft.move(place(self.draft))
        return True

    def _kill(self, name: str) -> bool:
        draft = self.draft
        match name:
            case "ctrl-k":
                # At the end of a line its ending goes, as in a shell's own editors.
                cut = draft.at, max(draft.line_end, min(len(draft.text), draft.at + 1))
            case "ctrl-u":
                cut = min(draft.line_start, max(0, draft.at - 1)), draft.at
            case "ctrl-w":
                cut = draft.blank_start, draft.at
            case "alt-backspace" | "ctrl-backspace":
                cut = draft.word_start, draft.at
            case "alt-d" | "ctrl-delete":
                cut = draft.at, draft.word_end
            case "ctrl-y":
                self.draft = draft.paste(self._killed)
                return True
            case _:
                return False
        self.draft, killed = draft.cut(*cut)
        if killed:
            self._killed = replace(draft, text=killed).whole
        return True

    # History --------------------------------------------------------------------------------------

    def _older(self) -> None:
        moved = self.draft.up()
        if moved is not None:
            self.draft = moved
        elif self.draft.at > 0 and self._at == len(self._history) and not self.draft.is_empty:
            self.draft = self.draft.move(0)
        elif self._at > 0:
            if self._at == len(self._history):
                self._own = self.draft
            self._at -= 1
            self.draft = draft_of(self._history[self._at])

    def _newer(self) -> None:
        moved = self.draft.down()
        if moved is not None:
            self.draft = moved
        elif self._at < len(self._history):
            self._at += 1
            is_own = self._at == len(self._history)
            self.draft = self._own if is_own else draft_of(self._history[self._at])
        else:
            self.draft = self.draft.move(len(self.draft.text))
