"""What the rows of several tables are made from, made once for a session and only when it is asked for.

To pair the calls, to cut a session into turns and to say what follows what is most of the work, and each is
needed by two or three tables.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from clew.session.graph import Graph, Links
from clew.session.rounds import Rounds
from clew.session.said import said
from clew.session.turns import main_rows, turns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.session.calls import Call
    from clew.session.messages import Message
    from clew.session.session import Session
    from clew.session.turns import Turn


class Shared:
    """What is known of one session, as far as anybody asked."""

    def __init__(self, session: Session, *, cut: Sequence[Turn] | None = None) -> None:
        """`cut` are its turns, where they were made already."""
        self.session = session
        self._cut = cut

    @cached_property
    def links(self) -> Links:
        """Who hangs on whom."""
        return Links(self.session.table)

    @cached_property
    def graph(self) -> Graph:
        """What follows what."""
        return Graph(self.session, links=self.links)

    @cached_property
    def rounds(self) -> Rounds:
        """The rounds of its user entries."""
        return Rounds(self.session, graph=self.graph)

    @cached_property
    def turns(self) -> Sequence[Turn]:
        """Its turns."""
        if self._cut is not None:
            return self._cut
        path = range(len(self.session)) if self._is_all else self._path
        return turns(self.session, path, rounds=self.rounds)

    @cached_property
    def turn_numbers(self) -> dict[tuple[int, int], int]:
        """The turn of each call, by the call's row and block."""
        return {(call.row, call.index): turn.n for turn in self.turns for call in turn.calls}

    @property
    def messages(self) -> Sequence[Message]:
        """The model's messages."""
        return said(self.session).messages

    @property
    def calls(self) -> Sequence[Call]:
        """Its calls, with their results."""
        return said(self.session).pairs.calls

    @cached_property
    def _path(self) -> Sequence[int]:
        return main_rows(self.session)

    @cached_property
    def _is_all(self) -> bool:
        """Whether its turns follow the file from the first line to the last, as nearly always."""
        path = self._path
        return len(path) == len(self.session) and all(row == at for at, row in enumerate(path))
