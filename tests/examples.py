"""How many examples a property is tried on: all that it was thought out for in `make soak`, else a fifth."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    Test = TypeVar("Test", bound=Callable[..., object])

_LEAST = 60


def examples(count: int) -> Callable[[Test], Test]:
    """Try a property on `count` examples where there is time, on a fifth of them elsewhere."""
    has_time = os.environ.get("CLEW_ALL_EXAMPLES") == "1"
    return settings(max_examples=count if has_time else max(_LEAST, count // 5))
