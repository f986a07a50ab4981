"""Write the tables of docs/tables.md from clew.tables.schema.

    python scripts/make_table_docs.py           write the page
    python scripts/make_table_docs.py --check   only say whether it is up to date

Prose stands outside the markers and is never touched.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from clew.tables.schema import TABLES, VERSION

PAGE = Path(__file__).resolve().parent.parent / "docs" / "tables.md"

MARKED = re.compile(r"<!-- table: ([\w-]+) -->\n.*?<!-- end -->", re.DOTALL)


def render(page: str) -> str:
    """The page with everything between its markers made anew."""
    return MARKED.sub(lambda found: f"<!-- table: {found[1]} -->\n\n{body(found[1])}\n<!-- end -->", page)


def body(name: str) -> str:
    if name == "version":
        return f"This is version {VERSION} of the tables.\n"
    table = TABLES[name]
    rows = "".join(f"| `{column.name}` | {column.type} | {column.doc} |\n" for column in table.columns)
    return f"{table.doc}\n\n| column | type | |\n| --- | --- | --- |\n{rows}"


def main(arguments: list[str]) -> int:
    page = PAGE.read_text(encoding="utf-8")
    made = render(page)
    if "--check" in arguments:
        if made != page:
            print("docs/tables.md is out of date: run scripts/make_table_docs.py", file=sys.stderr)
        return int(made != page)
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
