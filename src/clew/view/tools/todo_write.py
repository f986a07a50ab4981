"""TodoWrite and TodoRead: a list of things to do, and what changed in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.format import fields, results
from clew.view import words
from clew.view.parts import Todo, Todos
from clew.view.texts import one_line
from clew.view.tools import plainly
from clew.view.tools.display import Asked, Shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from clew.view.parts import TodoState

_LISTS: Final = frozenset({"TodoWrite", "TodoRead"})


def show(asked: Asked) -> Shown:
    """Show the list with what is new, done, begun and gone."""
    if asked.name == "TodoRead":
        return _read(asked)
    listed = fields.mappings(asked.given, "todos")
    if not listed and "todos" not in asked.given:
        return plainly.show(asked)
    now = items(listed)
    items_now = compared(_before(asked), now) if asked.is_done else now
    given = (Todos(items_now), *plainly.given(asked, but={"todos"}))
    outcome = plainly.failure(asked) or changed(items_now)
    result = plainly.told(asked) if not asked.is_done else plainly.rest(asked)
    return Shown(summary(now), outcome, given, result)


def _read(asked: Asked) -> Shown:
    found = asked.structured
    if not asked.is_done or not isinstance(found, results.Todos):
        return plainly.show(asked)
    now = items(found.new)
    result = (Todos(now), *plainly.rest(asked))
    return Shown("", words.count(len(now), "to-do"), plainly.given(asked), result)


def _before(asked: Asked) -> Sequence[Todo]:
    """Return the list before: as the client kept it, else as the call before left it."""
    found = asked.structured
    if isinstance(found, results.Todos) and "oldTodos" in found.data:
        return items(found.old)
    for one in asked.earlier(_LISTS):
        if one.is_done:
            return items(fields.mappings(one.given, "todos"))
    return ()


def items(listed: Iterable[Mapping[str, object]]) -> tuple[Todo, ...]:
    """Return the things to do of a list."""
    made: list[Todo] = []
    for one in listed:
        text = fields.string(one, "content") or fields.string(one, "subject") or ""
        made.append(Todo(text, state_of(fields.string(one, "status"))))
    return tuple(made)


def state_of(status: str | None) -> TodoState:
    """Return the state of one thing to do; what nobody knows is yet to be done."""
    match status:
        case "in_progress":
            return "in_progress"
        case "completed":
            return "completed"
        case "deleted":
            return "removed"
        case _:
            return "pending"


def compared(before: Sequence[Todo], now: Sequence[Todo]) -> tuple[Todo, ...]:
    """Return a list with what changed against the one before; what is gone comes last."""
    left: dict[str, list[Todo]] = {}
    for one in before:
        left.setdefault(one.text, []).append(one)
    made: list[Todo] = []
    for one in now:
        same = left.get(one.text)
        if same:
            old = same.pop(0).state
            made.append(Todo(one.text, one.state, was=None if old == one.state else old))
        else:
            made.append(Todo(one.text, one.state, is_new=True))
    gone = [one for same in left.values() for one in same]
    return (*made, *(Todo(one.text, "removed", was=one.state) for one in gone))


def changed(listed: Sequence[Todo]) -> str:
    """Say what changed in a list in a few words."""
    done = sum(one.state == "completed" and one.was is not None for one in listed)
    begun = sum(one.state == "in_progress" and one.was is not None for one in listed)
    new = sum(one.is_new for one in listed)
    gone = sum(one.state == "removed" for one in listed)
    facts = ((done, "done"), (begun, "begun"), (new, "new"), (gone, "gone"))
    return ", ".join(f"{number:,} {word}" for number, word in facts if number)


def summary(listed: Sequence[Todo]) -> str:
    """Say how far a list is."""
    done = sum(one.state == "completed" for one in listed)
    now = next((one for one in listed if one.state == "in_progress"), None)
    said = f"{done:,} of {words.count(len(listed), 'to-do')} done"
    return one_line(f"{said}, now: {now.text}" if now is not None and now.text else said)
