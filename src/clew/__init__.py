"""clew reads, searches, understands, edits, traces and continues Claude Code sessions.

    import clew

    for row in clew.sessions():
        print(row.id, row.title)

    session = clew.open("@1")

The names below are imported when they are first used, so that `import clew` costs next to nothing.
"""

# Not imported from typing: that alone would cost more than all of `clew --help`.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from clew.actions.library import open, sessions  # noqa: A004
    from clew.actions.listing import SessionRow
    from clew.errors import ClewError
    from clew.session.session import Session

__version__ = "0.1.0"

__all__ = ["ClewError", "Session", "SessionRow", "__version__", "open", "sessions"]

_PLACES = {
    "ClewError": "clew.errors",
    "Session": "clew.session.session",
    "SessionRow": "clew.actions.listing",
    "open": "clew.actions.library",
    "sessions": "clew.actions.library",
}


def __getattr__(name: str) -> object:
    """Import a public name on its first use."""
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found: object = getattr(import_module(place), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
