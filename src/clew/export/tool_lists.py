"""The tools that a conversation calls, as far as a session tells them: their names.

No session holds what its tools were said to take, but some readers want every tool to be declared.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_OTHERS: Final = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST: Final = 64


def function_name(name: str) -> str:
    """Return a name that every API takes for a function: letters, digits, `_` and `-`, at most 64."""
    return _OTHERS.sub("_", name)[:_LONGEST] or "unknown"


def functions(names: Iterable[str]) -> list[dict[str, object]]:
    """Declare functions that take anything, each once, in the order of their names."""
    return [
        {
            "type": "function",
            "function": {
                "name": name,
                "parameters": {"type": "object", "properties": {}, "additionalProperties": True},
            },
        }
        for name in sorted({function_name(name) for name in names})
    ]
