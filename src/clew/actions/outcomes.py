"""What came of an edit, or would come of it, in the form in which it is shown.

How it is done is for `editing`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from clew.edit.plan import Add, Drop, Keep, Patch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clew.actions.footprints import Destination, Footprint
    from clew.edit.plan import FilePlan, NewFile, Plan
    from clew.session.context import Context
    from clew.store.commit import Done


class FileStep(NamedTuple):
    """What becomes of one line, if it does not just stay."""

    path: str
    line: int | None
    action: str
    reason: str


class Outcome(NamedTuple):
    """What an edit did, or would do."""

    footprint: Footprint
    plan: Plan
    destination: Destination | None
    """None for an edit in place."""

    before: Context
    after: Context
    done: Done | None
    """None for a dry run."""

    refused: tuple[str, ...] = ()
    """Losses that were taken on by force, or that a dry run would be refused for."""

    notes: tuple[str, ...] = ()
    counted: tuple[int, int] | None = None
    """How many tokens the context was and is, as the API counts them; None if it was not asked."""

    @property
    def tokens(self) -> tuple[int, int]:
        """How many tokens the context was and is: counted, or else about."""
        return self.counted or (self.before.tokens_estimate, self.after.tokens_estimate)

    @property
    def path(self) -> str:
        """The file that holds the result."""
        return self.footprint.file.path if self.destination is None else self.destination.path

    @property
    def id(self) -> str:
        """The session that holds the result."""
        return self.footprint.file.id if self.destination is None else self.destination.id

    def steps(self) -> Iterator[FileStep]:
        """Give what becomes of the lines that do not just stay."""
        for file in self.plan.files:
            yield from steps_of(file)

    def as_dict(self) -> dict[str, object]:
        """Return it in the shape that every edit's `--json` has."""
        counts = self.plan.counts()
        main = self.footprint.file.path
        return {
            "source": {"id": self.footprint.file.id, "path": main},
            "result": None if self.done is None else {"id": self.id, "path": self.path},
            "kept": counts.kept,
            "patched": counts.patched,
            "dropped": counts.dropped,
            "added": counts.added,
            "steps": [
                {"line": step.line, "action": step.action, "reason": step.reason}
                | ({} if step.path == main else {"path": step.path})
                for step in self.steps()
            ],
            "bytes_before": counts.bytes_before,
            "bytes_after": counts.bytes_after,
            "context_tokens_before": self.tokens[0],
            "context_tokens_after": self.tokens[1],
            "context_tokens_counted": self.counted is not None,
            "thinking_dropped": self.plan.thinking_dropped,
            "resume": f"claude --resume {self.id}",
            "journal": None if self.done is None else self.done.id,
            "durable": None if self.done is None else self.done.is_lasting,
            "carried_bytes": 0 if self.done is None else self.done.carried,
            "refused": [*self.refused],
            "notes": [*self.notes, *self.plan.notes],
        }


def steps_of(file: NewFile) -> Iterator[FileStep]:
    """Give what becomes of the lines of a file that do not just stay."""
    for plan in file.plans:
        yield from _steps_of(plan)


def _steps_of(file: FilePlan) -> Iterator[FileStep]:
    session = file.session
    path = getattr(session.source, "path", file.target)
    for item, step in file.steps():
        number = None
        if item is not None and item.row is not None:
            number = session.table.number[item.row]
        match step:
            case Keep():
                continue
            case Patch(_, reason):
                yield FileStep(path, number, "patch", reason)
            case Drop(reason):
                yield FileStep(path, number, "drop", reason)
            case Add(_, reason):
                yield FileStep(path, None, "add", reason)
