"""Which prices the sums in a catalog were made with. Apart, as it is asked for by every command."""

from __future__ import annotations

from typing import Final
from zlib import crc32

from clew.session.prices import ALIASES, DATE, FAST, MODELS

LIMITS: Final = tuple(sorted({period[2] for periods in MODELS.values() for period in periods if period[2]}))
"""Prompt lengths above which some model costs more: what lies on the two sides is not added up."""

PRICES: Final = f"{DATE} {LIMITS} {crc32(repr((MODELS, ALIASES, FAST)).encode()):08x}"
"""Other prices make other sums."""
