"""The `cost-state` entry: the client's own account of the session, to compare ours with (2.1.325)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.format import fields
from clew.format.kinds.base import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping


class CostState(Kind):
    """Totals since the session began; the last one counts."""

    __slots__ = ()

    @property
    def total_cost_usd(self) -> float | None:
        """What it cost."""
        return fields.number(self.data, "totalCostUSD")

    @property
    def has_unknown_model_cost(self) -> bool | None:
        """Whether a model without a price took part."""
        return fields.flag(self.data, "hasUnknownModelCost")

    @property
    def total_duration_ms(self) -> float | None:
        """How long the client ran."""
        return fields.number(self.data, "totalDuration")

    @property
    def model_usage(self) -> Mapping[str, Mapping[str, object]]:
        """By model, with `inputTokens`, `outputTokens`, `costUSD` and others."""
        usage = fields.mapping(self.data, "modelUsage") or {}
        return {name: row for name, value in usage.items() if (row := fields.as_mapping(value)) is not None}
