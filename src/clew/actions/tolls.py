"""What a full read takes from one file, and which session each message's usage belongs to.

A message that stands in several files, as after a fork, is counted once: it belongs to the session whose
oldest line is oldest. So a list says the same of a session as `clew usage --by session`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew.actions.passes import Pass
from clew.errors import ClewError
from clew.format.records import Record
from clew.session.accounts import Question, Sum, account
from clew.session.fold import Summary
from clew.session.ledger import Ledger
from clew.session.pricing import price
from clew.session.usage import Folder
from clew.store.files import Skipped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from clew.session.fold import Facts
    from clew.session.titles import Told
    from clew.session.usage import FileUsage
    from clew.store.files import SessionFile


@dataclass(frozen=True, slots=True)
class Toll:
    """One file, read fully."""

    path: str
    facts: Facts
    usage: FileUsage
    was_cut: bool


def take_toll(file: SessionFile, *, summaries: Told | None = None) -> Toll | Skipped:
    """Read a file once, for its facts and its usage together."""
    seen = Summary()

    def pieces(one: Pass) -> Iterator[bytes]:
        for item in one.items():
            seen.add(item)
            if isinstance(item, Record):
                # A record cut out of a damaged line has no ending of its own.
                yield item.raw if item.raw.endswith(b"\n") else item.raw + b"\n"

    try:
        one = Pass(file.path)
        usage = Folder().file(file.path, pieces(one))
    except ClewError as error:
        return Skipped(file.path, error.message)
    facts = seen.result(one.extent, summaries=summaries)
    return Toll(file.path, facts, usage, one.was_cut)


def share_out(tolls: Iterable[Toll], owner: Mapping[str, SessionFile]) -> dict[str, Sum]:
    """Add up the usage by session, named by the path of its file; `owner` says whose each file is."""
    ledger = Ledger()
    keys = {path: f"{file.id} {file.path}" for path, file in owner.items()}
    oldest: dict[str, int] = {}
    for toll in tolls:
        ledger.add(toll.usage)
        # How old a session is, its own file says; a sub-agent's is asked where there is no other.
        if toll.facts.oldest is not None and owner[toll.path].path == toll.path:
            oldest[keys[toll.path]] = toll.facts.oldest
    question = Question("session", session_of=keys.__getitem__, oldest=oldest.get)
    answer = {group.key: group.sum for group in account(ledger, question).groups}
    return {file.path: answer.get(keys[file.path], Sum()) for file in owner.values()}


def unpriced_models(models: Iterable[str]) -> tuple[str, ...]:
    """Return those of the models whose prices are not known."""
    return tuple(model for model in models if price(model) is None)
