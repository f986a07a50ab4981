"""`clew statusline`: one line for the bottom of the client, from what it says on standard input.

It is asked for several times a second at worst, so it takes the standard library alone, and it never fails:
what is missing, or is not what it should be, is left out. What the client says may hold anything.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NoReturn

    from clew.actions.hook_day_cost import DayCost

LIMIT = 0.3
"""Seconds for which the client may take to say what it has to say."""

MOST = 1 << 20
LONGEST_NAME = 40
_LARGEST = 1e9
"""No session is longer, or dearer."""

_DIM, _YELLOW, _RED, _OFF = "\x1b[2m", "\x1b[33m", "\x1b[31m", "\x1b[0m"
_WARN, _FULL = 70, 90
"""Percent of the context from which on its colour changes."""


def run() -> NoReturn:
    """Answer the client and end the process."""
    try:
        from clew.faces.hook.run import read_limited

        line = status_line(read_limited(0, limit=LIMIT, most=MOST), os.environ)
        os.write(1, line.encode("utf-8", "replace") + b"\n")
    except BaseException:  # noqa: S110  # a status line that fails is no line
        pass
    finally:
        os._exit(0)


def status_line(data: bytes, environ: Mapping[str, str]) -> str:
    """Return the line for what the client said."""
    facts = facts_of(data, environ)
    has_color = not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"
    parts: list[str] = []
    model = facts.get("model")
    if isinstance(model, str):
        parts.append(model)
    context = _context(facts, has_color=has_color)
    if context:
        parts.append(context)
    today = "today ≥" if facts["day_cost_is_least"] else "today "
    for label, name in (("", "session_cost_usd"), (today, "day_cost_usd")):
        cost = facts.get(name)
        if isinstance(cost, float):
            parts.append(label + _money(cost))
    between = f" {_DIM}·{_OFF} " if has_color else " · "
    return between.join(parts)


def facts_of(data: bytes, environ: Mapping[str, str]) -> dict[str, object]:
    """Return what the line tells, by name; what is not known is None."""
    import json

    try:
        said: object = json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        said = None
    window = _inside(said, "context_window")
    used, size = _used(window), _number(_inside(window, "context_window_size"))
    percent = _number(_inside(window, "used_percentage"))
    if percent is None and used is not None and size:
        percent = 100 * used / size
    cost = _number(_inside(_inside(said, "cost"), "total_cost_usd"))
    session = _inside(said, "session_id")
    today = _day_cost(environ, session if isinstance(session, str) else "", cost)
    return {
        "model": _name(_inside(said, "model")),
        "context_tokens": None if used is None else int(used),
        "context_size": None if size is None else int(size),
        "context_percent": percent if percent is None or percent <= 999 else None,
        "session_cost_usd": cost,
        "day_cost_usd": today.dollars if today else None,
        "day_cost_is_least": not today.is_exact if today else None,
    }


def _day_cost(environ: Mapping[str, str], session: str, cost: float | None) -> DayCost | None:
    """Return what the day has cost so far, if the index can tell at once."""
    try:
        import time

        from clew.actions.hook_day_cost import day_cost

        return day_cost(environ, session=session, spent=cost, now=time.time())
    except Exception:  # then the line is shorter
        return None


def _inside(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]  # as decoded


def _number(value: object) -> float | None:
    """Return a number that can be one: not below zero, not endless, not absurd."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= _LARGEST else None


def _name(model: object) -> str | None:
    """Return what a model is called, as text that a terminal only shows."""
    for value in (_inside(model, "display_name"), _inside(model, "id"), model):
        if isinstance(value, str):
            shown = " ".join("".join(c if c.isprintable() else " " for c in value[:400]).split())
            if shown:
                return shown if len(shown) <= LONGEST_NAME else shown[: LONGEST_NAME - 1] + "…"
    return None


def _used(window: object) -> float | None:
    """Return the tokens that the next request begins with."""
    usage = _inside(window, "current_usage")
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    counts = [_number(_inside(usage, name)) for name in names]
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _context(facts: Mapping[str, object], *, has_color: bool) -> str:
    used, size, percent = facts["context_tokens"], facts["context_size"], facts["context_percent"]
    text = ""
    if isinstance(used, int):
        text = _count(used) + (f"/{_count(size)}" if isinstance(size, int) and size else "")
    if isinstance(percent, float):
        share = f"{percent:.0f}%"
        if has_color and percent >= _WARN:
            share = f"{_RED if percent >= _FULL else _YELLOW}{share}{_OFF}"
        text = f"{text} {share}".strip()
    return text and f"context {text}"


def _count(tokens: int) -> str:
    if tokens < 1000:
        return str(tokens)
    if tokens < 999_500:
        return f"{tokens / 1000:.0f}k"
    return f"{tokens / 1_000_000:.1f}M".replace(".0M", "M")


def _money(cost: float) -> str:
    if 0 < cost < 0.01:
        return "<$0.01"
    return f"${cost:,.2f}"
