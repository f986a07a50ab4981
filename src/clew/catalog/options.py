"""How a catalog is brought up to date: what a caller may ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.catalog.sources import Share

BATCH: Final = 64 << 20
"""How many bytes of session files one transaction takes in."""

Stage = Literal["dialogue", "tools", "details", "settling"]

WORTH_TWO_STAGES: Final = 64_000_000
"""Bytes to read from which what was said is read before what tools said."""


class Options(Struct, frozen=True):
    """How to work."""

    jobs: int | None = None
    """How many processes may work; None for as many as pay."""

    start_method: str | None = None
    """How processes are started, None for the way of the platform."""

    batch: int = BATCH
    two_stages: bool | None = None
    """Whether tools' words come after everything else; None for where that pays."""

    details: bool = False
    """Whether the tables that only whole sessions can tell are wanted too: turns, calls, files, problems."""


def is_late(options: Options, shares: Sequence[Share]) -> bool:
    """Say whether tools' words are to be read after everything else."""
    if options.two_stages is not None:
        return options.two_stages
    return sum(share.bytes for share in shares) >= WORTH_TWO_STAGES
