"""The few errors a caller can act on, with the facts as attributes.

Odd data in a session is never an error; it is a `Problem` value (see `clew.session.check`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class ClewError(Exception):
    """A call that could not do its job. `code` is stable; `hint` is one thing to try next."""

    code = "error"
    exit_code = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UnknownSessionError(ClewError):
    """No session goes by that name."""

    code = "unknown-session"

    def __init__(self, name: str, *, nearest: Sequence[str] = (), looked_in: Sequence[str] = ()) -> None:
        hint = f"did you mean: {', '.join(nearest)}" if nearest else "clew ls lists the sessions there are"
        where = f" in {', '.join(looked_in)}" if looked_in else ""
        super().__init__(f"no session is called {name!r}{where}", hint=hint)
        self.name = name
        self.nearest = tuple(nearest)


class AmbiguousSessionError(ClewError):
    """Several sessions go by that name."""

    code = "ambiguous-session"

    def __init__(self, name: str, candidates: Sequence[str]) -> None:
        super().__init__(
            f"{name!r} names {len(candidates)} sessions", hint=f"one of: {', '.join(candidates[:8])}"
        )
        self.name = name
        self.candidates = tuple(candidates)


class NotARegularFileError(ClewError):
    """The path is a folder, a pipe, a device or a socket; such things are never opened."""

    code = "not-a-file"

    def __init__(self, path: str, what: str) -> None:
        super().__init__(f"{path} is {what}, not a session file")
        self.path = path
        self.what = what


class UnreadableError(ClewError):
    """The file is there but cannot be read."""

    code = "unreadable"

    def __init__(self, path: str, cause: str) -> None:
        super().__init__(f"{path} cannot be read: {cause}")
        self.path = path
        self.cause = cause


class ChangedOnDiskError(ClewError):
    """The file was cut, rewritten or replaced since it was read; read it again and retry."""

    code = "changed-on-disk"

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} changed on disk since it was read", hint="run the command again")
        self.path = path


class UsageError(ClewError):
    """The request itself makes no sense."""

    code = "usage"


class RefusedError(ClewError):
    """It would lose something that nobody asked to lose; `--force` does it all the same."""

    code = "refused"
    exit_code = 4

    def __init__(self, message: str, *, hint: str | None = "--force does it all the same") -> None:
        super().__init__(message, hint=hint)
