"""What a display of a tool is given, and what it makes of it.

A display is a function from `Asked` to `Shown`. It knows its tool and no format; whatever the input and the
result are, it returns something, and where they are not what it expects it leaves them to `plainly`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew.format import results

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from clew.format.blocks import ToolResult
    from clew.view.parts import Part, State


def nothing_earlier(_names: Collection[str]) -> Iterator[Asked]:
    """Give no calls: nothing is known of what came before."""
    return iter(())


@dataclass(frozen=True, slots=True)
class Asked:
    """A call of a tool with what came back."""

    name: str
    given: Mapping[str, object]
    """The input; empty where it is no object."""

    state: State
    result: ToolResult | None = None
    """What the model was told."""

    kept: object = None
    """What the client keeps for itself, `toolUseResult`, as it was decoded."""

    folder: str | None = None
    """The project's folder: paths are told from there."""

    raw: object = None
    """The input whatever it is."""

    earlier: Callable[[Collection[str]], Iterator[Asked]] = nothing_earlier
    """Give the calls of the tools with these names before this one, the latest first; not without end."""

    @property
    def structured(self) -> results.Result:
        """What the client keeps, as a view by tool."""
        return results.result(self.name, self.kept)

    @property
    def said(self) -> str:
        """What the model was told, in words."""
        return "" if self.result is None else self.result.text()

    @property
    def is_done(self) -> bool:
        """Whether there is a result and it is no failure."""
        return self.state == "done"


@dataclass(frozen=True, slots=True)
class Shown:
    """A call of a tool to be shown."""

    argument: str
    outcome: str
    given: tuple[Part, ...] = ()
    result: tuple[Part, ...] = ()


Display = Callable[[Asked], Shown]
