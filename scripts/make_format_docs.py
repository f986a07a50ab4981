"""Write the tables and samples of docs/format.md from clew.format and the files in docs/samples.

    python scripts/make_format_docs.py           write the page
    python scripts/make_format_docs.py --check   only say whether it is up to date

Prose stands outside the markers and is never touched.
"""

from __future__ import annotations

import re
import sys
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from clew.format import known
from clew.format import known_parts as parts
from clew.format.known_fields import FIELDS, VERSIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE = DOCS / "format.md"
SAMPLES = DOCS / "samples"

MARKED = re.compile(r"(<!-- (table|sample): ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def render(page: str) -> str:
    """The page with everything between its markers made anew."""

    def fill(found: re.Match[str]) -> str:
        opening, what, name, closing = found.groups()
        body = TABLES[name]() if what == "table" else sample(name)
        return f"{opening}\n{body}\n{closing}"

    return MARKED.sub(fill, page)


def seen(row: str) -> str:
    """Say in words what a row of marks says: `2.1.29–2.1.88, sometimes 2.1.150 and later`."""
    if row == "x" * len(VERSIONS):
        return "always"
    if set(row) == {"o"}:
        return "sometimes"
    runs: list[str] = []
    at = 0
    for mark, group in groupby(row):
        length = len(list(group))
        first, last = VERSIONS[at], VERSIONS[at + length - 1]
        at += length
        if mark == ".":
            continue
        if at == len(VERSIONS):
            span = first if length == 1 else f"{first} and later"
        else:
            span = first if length == 1 else f"{first}–{last}"
        runs.append(f"sometimes {span}" if mark == "o" else span)
    return ", ".join(runs) or "reported"


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def kinds_table() -> str:
    rows: dict[str, str] = {}
    for form, groups in FIELDS.items():
        row = next(row for row, names in groups.items() if "type" in names.split())
        rows[form] = seen(row.replace("o", "x")).replace("always", "all")
    rows.update((kind, "reported") for kind in parts.REPORTED_FIELDS if kind not in rows and kind != "user")
    return table(("kind", "seen in"), ((f"`{form}`", where) for form, where in sorted(rows.items())))


def field_tables() -> str:
    """One small table a form, its fields gathered by when they are there."""
    made: list[str] = []
    for form, groups in FIELDS.items():
        rows = [(seen(row), code(names.split())) for row, names in groups.items()]
        inner = parts.INNER.get(form, {})
        if inner:
            part = known.PART.get(form) or known.PART[form.partition("/")[0]]
            rows += [
                (seen(row), code(f"{part}.{name}" for name in names.split())) for row, names in inner.items()
            ]
        made.append(f"#### `{form}`\n\n{table(('there', 'fields'), rows)}")
    for form, names in parts.REPORTED_FIELDS.items():
        listed = names.replace("@", parts.ENVELOPE).split()
        listed += [f"data.{name}" for name in parts.REPORTED_INNER.get(form, "").split()]
        title = f"#### `{form}`{', in loose files' if form in FIELDS or form == 'user' else ''}"
        made.append(f"{title}\n\n{table(('there', 'fields'), [('reported', code(sorted(listed)))])}")
    return "\n".join(made)


def block_table() -> str:
    rows = [
        (f"`{block.partition(':')[2]}`", block.partition(":")[0], seen(row), code(names.split()))
        for block, groups in parts.BLOCKS.items()
        for row, names in groups.items()
    ]
    rows += [
        (f"`{block}`", "", "reported", code(names.split())) for block, names in parts.REPORTED_BLOCKS.items()
    ]
    return table(("block", "role", "there", "keys"), rows)


def usage_table() -> str:
    return table(("there", "keys"), ((seen(row), code(names.split())) for row, names in parts.USAGE.items()))


def result_table() -> str:
    rows = [
        (f"`{tool}`", seen(row), shape if shape.startswith("(") else code(shape.split()))
        for tool, shapes in parts.RESULTS.items()
        for shape, row in shapes.items()
    ]
    rows += [(f"`{tool}`", "reported", code(shape.split())) for tool, shape in parts.REPORTED_RESULTS.items()]
    return table(("tool", "seen in", "shape"), rows)


def value_table() -> str:
    rows = (
        (f"`{field}`", f"`{value}`", seen(row))
        for field, values in parts.VALUES.items()
        for value, row in values.items()
    )
    return table(("field", "value", "seen in"), rows)


def layout_table() -> str:
    return table(("file", "seen in"), ((f"`{path}`", seen(row)) for path, row in parts.LAYOUT.items()))


def versions_line() -> str:
    return f"{', '.join(VERSIONS)}.\n"


def sample(name: str) -> str:
    text = (SAMPLES / f"{name}.jsonl").read_text(encoding="utf-8")
    return f"```json\n{text}```\n"


TABLES = {
    "blocks": block_table,
    "fields": field_tables,
    "kinds": kinds_table,
    "layout": layout_table,
    "results": result_table,
    "usage": usage_table,
    "values": value_table,
    "versions": versions_line,
}


def samples_shown(page: str) -> Mapping[str, str]:
    """The names of the samples a page shows."""
    return {found[3]: found[0] for found in MARKED.finditer(page) if found[2] == "sample"}


def main(arguments: list[str]) -> int:
    page = PAGE.read_text(encoding="utf-8")
    made = render(page)
    if "--check" in arguments:
        if made != page:
            print("docs/format.md is out of date: run scripts/make_format_docs.py", file=sys.stderr)
        return int(made != page)
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
