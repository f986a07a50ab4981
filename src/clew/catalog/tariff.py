"""Which prices the sums in a catalog were made with. Apart, as it is asked for by every command."""

from __future__ import annotations

from typing import Final

from clew.session.prices import DATE, MODELS

LIMITS: Final = tuple(sorted({period[2] for periods in MODELS.values() for period in periods if period[2]}))
"""Prompt lengths above which some model costs more: what lies on the two sides is not added up."""

PRICES: Final = f"{DATE} {LIMITS}"
"""Other prices make other sums."""
