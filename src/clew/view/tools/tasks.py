"""TaskCreate, TaskUpdate, TaskList, TaskGet: tasks that are changed one by one (2.1.150 and later)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.format import fields, results
from clew.view import words
from clew.view.parts import Todo, Todos
from clew.view.texts import one_line
from clew.view.tools import plainly
from clew.view.tools.display import Asked, Shown
from clew.view.tools.todo_write import items, state_of

if TYPE_CHECKING:
    from collections.abc import Mapping

_TELLING: Final = frozenset({"TaskCreate", "TaskList", "TaskUpdate", "TaskGet"})


def show(asked: Asked) -> Shown:
    """Show what became of the tasks."""
    match asked.name:
        case "TaskCreate":
            return _created(asked)
        case "TaskUpdate":
            return _updated(asked)
        case _:
            return _listed(asked)


def _created(asked: Asked) -> Shown:
    subject = fields.string(asked.given, "subject")
    if subject is None:
        return plainly.show(asked)
    given = plainly.given(asked, but={"subject"})
    if not asked.is_done:
        return Shown(one_line(subject), plainly.outcome(asked), given, plainly.told(asked))
    task = _first(asked)
    number = _text(task, "id")
    made = Todos((Todo(subject, "pending", is_new=True),))
    return Shown(
        one_line(subject), one_line(f"#{number}" if number else "", longest=40), (made, *given),
        plainly.rest(asked),
    )  # fmt: skip


def _updated(asked: Asked) -> Shown:
    number = _text(asked.given, "taskId")
    subject = fields.string(asked.given, "subject") or _subject(asked, number)
    name = " ".join(part for part in (f"#{number}" if number else "", subject) if part)
    given = plainly.given(asked, but={"taskId", "status"})
    if not asked.is_done:
        return Shown(one_line(name), plainly.outcome(asked), given, plainly.told(asked))
    found = asked.structured
    change = found.status_change if isinstance(found, results.Tasks) else None
    status = (change[1] if change else None) or fields.string(asked.given, "status")
    if status is None:
        return Shown(one_line(name), "changed", given, plainly.rest(asked))
    was = state_of(change[0]) if change and change[0] else None
    todo = Todo(subject or f"task {name}".rstrip(), state_of(status), was=was)
    outcome = one_line(status.replace("_", " "), longest=40)
    return Shown(one_line(name), outcome, (Todos((todo,)), *given), plainly.rest(asked))


def _listed(asked: Asked) -> Shown:
    number = _text(asked.given, "taskId")
    argument = f"#{number}" if number else ""
    found = asked.structured
    if not asked.is_done or not isinstance(found, results.Tasks):
        return Shown(one_line(argument), plainly.outcome(asked), plainly.given(asked), plainly.told(asked))
    made = Todos(items(found.tasks))
    outcome = words.count(len(made.items), "task")
    return Shown(
        one_line(argument), outcome, plainly.given(asked, but={"taskId"}), (made, *plainly.rest(asked))
    )


def _first(asked: Asked) -> Mapping[str, object]:
    found = asked.structured
    tasks = found.tasks if isinstance(found, results.Tasks) else ()
    return tasks[0] if tasks else {}


def _text(data: Mapping[str, object], key: str) -> str:
    """Return a name that may be a number."""
    value = data.get(key)
    return value if isinstance(value, str) else str(value) if isinstance(value, int) else ""


def _subject(asked: Asked, number: str) -> str | None:
    """Return what a task is about, as an earlier call told it."""
    if not number:
        return None
    for one in asked.earlier(_TELLING):
        found = results.result("TaskList", one.kept)
        for task in found.tasks if isinstance(found, results.Tasks) else ():
            subject = fields.string(task, "subject")
            if _text(task, "id") == number and subject:
                return subject
    return None
