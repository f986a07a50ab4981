"""MultiEdit: several replacements in one file, as one diff."""

from __future__ import annotations

from clew.view.tools.edit import show

__all__ = ["show"]
