"""Take a call's input apart. The model may have written anything: what is wrong is collected and told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from clew.agent.tools.outcomes import misread

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew.agent.tool import Outcome


class Given:
    """The input of one call. Ask for the values, then look whether there is a `refusal`."""

    def __init__(self, tool: str, given: Mapping[str, object], schema: Mapping[str, object]) -> None:
        self._tool = tool
        self._given = given
        self._problems: list[str] = []
        known = schema.get("properties")
        names: set[str] = set(cast("dict[str, object]", known)) if isinstance(known, dict) else set()
        self._strange = [name for name in given if name not in names]

    def text(self, name: str, *, required: bool = True) -> str:
        """Return a text; an empty one if it is not there or is none."""
        value = self._given.get(name)
        if value is None:
            if required or name in self._given:
                self._miss(name) if name not in self._given else self._odd(name, "string", value)
            return ""
        if not isinstance(value, str):
            self._odd(name, "string", value)
            return ""
        return value

    def number(self, name: str, *, least: int = 0) -> int | None:
        """Return a whole number; digits in a text are taken for one, as models write them so."""
        value = self._given.get(name)
        if value is None:
            return None
        if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit():
            value = int(value[:20])
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            self._odd(name, "number", value)
            return None
        if value < least:
            self._problems.append(f"The parameter `{name}` must be at least {least}")
            return None
        return min(value, 1 << 53)

    def flag(self, name: str, *, default: bool = False) -> bool:
        """Return yes or no; `"true"` and `"false"` are taken for them."""
        value = self._given.get(name)
        if value is None:
            return default
        if isinstance(value, str) and value.lower() in ("true", "false"):
            return value.lower() == "true"
        if not isinstance(value, bool):
            self._odd(name, "boolean", value)
            return default
        return value

    def choice(self, name: str, options: Sequence[str]) -> str:
        """Return one of the options; the first if nothing is given."""
        value = self.text(name, required=False) or options[0]
        if value not in options:
            listed = "|".join(options)
            self._problems.append(f"The parameter `{name}` is expected as one of {listed}")
            return options[0]
        return value

    def mappings(self, name: str) -> list[Mapping[str, Any]]:
        """Return a list of objects."""
        value = self._given.get(name)
        if value is None and name not in self._given:
            self._miss(name)
            return []
        if not isinstance(value, list):
            self._odd(name, "array", value)
            return []
        items = cast("list[object]", value)
        for at, item in enumerate(items):
            if not isinstance(item, dict):
                self._odd(f"{name}[{at}]", "object", item)
        return [cast("dict[str, Any]", item) for item in items if isinstance(item, dict)]

    def complain(self, words: str) -> None:
        """Add something that is wrong."""
        self._problems.append(words)

    @property
    def refusal(self) -> Outcome | None:
        """What is to be told when something was wrong with the input."""
        problems = [*self._problems, *(f"An unexpected parameter `{n}` was provided" for n in self._strange)]
        if not problems:
            return None
        issues = "issue" if len(problems) == 1 else "issues"
        return misread(f"{self._tool} failed due to the following {issues}:\n" + "\n".join(problems))

    def _miss(self, name: str) -> None:
        self._problems.append(f"The required parameter `{name}` is missing")

    def _odd(self, name: str, wanted: str, value: object) -> None:
        self._problems.append(
            f"The parameter `{name}` type is expected as `{wanted}` but provided as `{_kind(value)}`"
        )


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"
