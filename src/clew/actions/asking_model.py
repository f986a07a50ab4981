"""Ask a model something about a session: to sum up turns, or how many tokens a context is.

It goes through the same door as a session that is gone on with.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from clew.errors import ClewError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew.agent.door import Door
    from clew.session.context import Context


class NoSummaryError(ClewError):
    """The model gave no summary."""

    code = "no-summary"


class Spent(NamedTuple):
    """What asking took."""

    model: str
    cost_usd: float | None
    """None where the model has no price."""


class Model:
    """A model that can be asked. Close it."""

    def __init__(
        self,
        *,
        version: str,
        name: str | None = None,
        base_url: str | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        """Without a `name` the session's own model is asked."""
        from clew.agent.door import Door
        from clew.agent.keys import base_url as base_url_of
        from clew.agent.keys import find_key

        variables = dict(os.environ if environ is None else environ)
        address = base_url_of(variables) if base_url is None else base_url
        self._door: Door = Door(address, find_key(variables), user_agent=f"clew/{version}", environ=variables)
        self._name = name
        self._tools: dict[str, int] = {}
        self.spent: list[Spent] = []
        """What was asked and what it cost."""

    def summarize(self, messages: Sequence[Mapping[str, Any]], session_model: str) -> str:
        """Write a summary of messages of a session."""
        from clew.agent.compaction import summary_in, summary_request, told_as_summary
        from clew.session.pricing import cost_of, read_usage

        model = self._name or session_model
        answer = self._door.message(summary_request(model, messages))
        usage, content = cast("object", answer.get("usage")), cast("object", answer.get("content"))
        used = cast("dict[str, Any]", usage) if isinstance(usage, dict) else {}
        self.spent.append(Spent(model, cost_of(model, read_usage(used))))
        text = summary_in(cast("list[dict[str, Any]]", content) if isinstance(content, list) else ())
        if not text:
            raise NoSummaryError(f"{model} wrote no summary", hint="--summary extract needs no model")
        return told_as_summary(text)

    def count(self, context: Context) -> int:
        """Return how many tokens the messages of a context are, as the API counts them."""
        if not context.messages:
            return 0
        from clew.agent.requests import stand_in_tools

        model = self._name or context.model
        tools = stand_in_tools(context.messages)[:1]
        asked = {"model": model, "messages": [*context.messages], **({"tools": tools} if tools else {})}
        return self._door.count_tokens(asked) - (self._tokens_of(model, tools) if tools else 0)

    def _tokens_of(self, model: str, tools: list[dict[str, Any]]) -> int:
        """Return what tools add to a count: they are none of the session's, and only let it in."""
        name = f"{model} {tools[0]['name']}"
        if name not in self._tools:
            least = {"model": model, "messages": [{"role": "user", "content": "?"}]}
            alone = self._door.count_tokens(least)
            self._tools[name] = self._door.count_tokens({**least, "tools": tools}) - alone
        return self._tools[name]

    def close(self) -> None:
        """Hang up."""
        self._door.close()
