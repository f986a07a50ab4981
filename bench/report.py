"""What a run found, as plain text, Markdown or JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.measure import Cost

Verdict = Literal["ok", "miss", "error", "no peer", "info"]


@dataclass(frozen=True, slots=True)
class Line:
    """One program doing one piece of work: the middle of its runs, or why there is none."""

    work: str
    program: str
    cost: Cost | None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One target: what was measured, what it should be."""

    target: str
    what: str
    figure: float | None
    limit: float | None
    unit: str
    """`×` for a ratio, `%`, `ms`, `MB`, or what is counted."""
    detail: str = ""
    error: str | None = None
    peerless: bool = False
    """The other program of the ratio cannot be had here: nothing is said about clew."""

    @property
    def verdict(self) -> Verdict:
        if self.peerless:
            return "no peer"
        if self.error is not None or self.figure is None:
            return "error"
        if self.limit is None:
            return "info"
        return "ok" if self.figure <= self.limit else "miss"

    @property
    def missed(self) -> bool:
        """A target that could not be measured is not met."""
        return self.limit is not None and self.verdict != "ok"


@dataclass(frozen=True, slots=True)
class Report:
    """A whole run."""

    machine: str
    corpus: str
    lines: Sequence[Line]
    rows: Sequence[Row]

    @property
    def missed(self) -> bool:
        return any(row.missed for row in self.rows)

    def as_json(self) -> dict[str, object]:
        return {
            "machine": self.machine,
            "corpus": self.corpus,
            "programs": [asdict(line) for line in self.lines],
            "targets": [asdict(row) | {"verdict": row.verdict} for row in self.rows],
            "missed": self.missed,
        }

    def as_text(self, *, markdown: bool = False) -> str:
        """Two tables: the programs with their costs, the targets with their verdicts."""
        costs = [["work", "program", "wall s", "CPU s", "peak MB"]]
        for line in self.lines:
            cost = line.cost
            figures = (
                [f"{cost.wall:.3f}", f"{cost.cpu:.3f}", f"{cost.rss:.0f}"]
                if cost
                else ["", "", line.error or ""]
            )
            costs.append([line.work, line.program, *figures])
        targets = [["target", "what", "measured", "limit", "", "detail"]]
        for row in self.rows:
            measured = "" if row.figure is None else _number(row.figure, row.unit)
            limit = "" if row.limit is None else f"≤ {_number(row.limit, row.unit)}"
            targets.append([row.target, row.what, measured, limit, row.verdict, row.error or row.detail])
        table = _markdown if markdown else _aligned
        return f"{self.machine}\n{self.corpus}\n\n{table(costs)}\n\n{table(targets)}\n"


def _number(value: float, unit: str) -> str:
    digits = {"×": 2, "%": 1, "ms": 1}.get(unit, 0)
    return f"{value:,.{digits}f} {unit}"


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    head, *body = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *body])


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
