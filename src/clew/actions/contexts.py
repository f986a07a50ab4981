"""What a client would send when it resumes a session, and what it would leave out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from clew.actions.reading import find_line
from clew.errors import UsageError
from clew.session.context import context
from clew.session.eras import MEASURED, version_key

if TYPE_CHECKING:
    from clew.actions.reading import Opened
    from clew.session.api_rules import ApiProblem
    from clew.session.context import Context

_VERSION: Final = re.compile(r"\d{1,9}(?:\.\d{1,9}){0,5}(?:[-+][0-9A-Za-z.+-]{0,60})?")

DOUBTFUL: Final = frozenset({"empty-thinking"})
"""What only some models refuse; everything else the API answers with an error."""


@dataclass(frozen=True, slots=True)
class Resumed:
    """What resuming a session would send."""

    opened: Opened
    context: Context
    asked_client: str | None
    """The version that was asked for, where it is not the measured one that stands in for it."""

    @property
    def errors(self) -> tuple[ApiProblem, ...]:
        """What the API would refuse."""
        return tuple(found for found in self.context.api_problems if found.code not in DOUBTFUL)

    @property
    def is_sound(self) -> bool:
        """Whether the client would resume, the API accept, and nothing of the file is damaged."""
        return self.context.refused is None and not self.errors and not self.opened.is_damaged


def read_context(
    opened: Opened, *, at: str | None = None, client: str | None = None, model: str | None = None
) -> Resumed:
    """Work out what `client` would send, up to the line `at` if one is given."""
    if client is not None and not _VERSION.fullmatch(client):
        raise UsageError(
            f"{client!r} is not a version of the client", hint=f"for example --client {MEASURED[-1].version}"
        )
    session = opened.session
    if at is not None:
        at = session.entry(find_line(session, at)).uuid
    found = context(session, client=client, at=at, model=model)
    is_other = client is not None and version_key(client) != version_key(found.client)
    return Resumed(opened, found, client if is_other else None)


def context_document(resumed: Resumed) -> dict[str, object]:
    """Return it in the shape of `clew context --json`; the long lists are iterators, for one use."""
    found = resumed.context
    document: dict[str, object] = {
        "session": resumed.opened.file.id,
        "path": resumed.opened.file.path,
        "client": found.client,
        "model": found.model,
        "leaf": found.leaf,
        "messages": iter(found.messages),
        "left_out": (
            {"line": one.line, "uuid": one.uuid, "type": one.type, "reason": one.reason}
            for one in found.left_out
        ),
        "reachable_lines": found.reachable_lines,
        "conversation_lines": found.conversation_lines,
        "tokens_estimate": found.tokens_estimate,
        "api_problems": [
            {"code": one.code, "message": one.message, "detail": one.detail} for one in found.api_problems
        ],
    }
    if resumed.asked_client is not None:
        document["asked_client"] = resumed.asked_client
    if found.refused is not None:
        document["refused"] = found.refused
    return document
