"""Write web/src/app/api.ts from the schemas of the web app's API.

python scripts/make_api_types.py           write the module
python scripts/make_api_types.py --check   only say whether it is up to date
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from clew.faces.web.schemas import components

MODULE = Path(__file__).resolve().parent.parent / "web" / "src" / "app" / "api.ts"

HEAD = """// Made by scripts/make_api_types.py from clew.faces.web.schemas; do not edit.
"""

PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
ROOTS = ("Flow", "Head", "TurnHead")
"""The values of the view from which all others of it are reached."""


def render() -> str:
    """The whole module: the answers; their parts are in parts.ts."""
    found = components()
    parts = _parts_of(found)
    own = {name: schema for name, schema in found.items() if name not in parts}
    used = {name for schema in own.values() for name in _refs(schema)} & parts
    made = [HEAD, f'import type {{ {", ".join(sorted(used))} }} from "../parts";\n']
    made += [f"export type {name} = {type_of(schema)};\n" for name, schema in own.items()]
    return "\n".join(made)


def _parts_of(found: dict[str, Any]) -> set[str]:
    """The names that come from the view: all that its three roots lead to."""
    reached, open_ones = set[str](), list(ROOTS)
    while open_ones:
        name = open_ones.pop()
        if name in reached:
            continue
        reached.add(name)
        open_ones += _refs(found.get(name, {}))
    return reached


def _refs(schema: dict[str, Any]) -> list[str]:
    """The names a schema points to, wherever they stand in it."""
    return re.findall(r'"\$ref": "[^"]*/([^"/]+)"', json.dumps(schema))


def type_of(schema: dict[str, Any], depth: int = 0) -> str:
    """The TypeScript for a schema."""
    if "$ref" in schema:
        return schema["$ref"].rpartition("/")[2]
    if "anyOf" in schema:
        return " | ".join(type_of(one, depth) for one in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(json.dumps(one) for one in schema["enum"])
    kind = schema.get("type")
    if kind == "array":
        inner = type_of(schema["items"], depth)
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    if kind == "object":
        if "additionalProperties" in schema:
            return f"Record<string, {type_of(schema['additionalProperties'], depth)}>"
        pad, required = "  " * (depth + 1), schema.get("required", ())
        fields = [
            f"{pad}{name}{'' if name in required else '?'}: {type_of(one, depth + 1)};\n"
            for name, one in schema.get("properties", {}).items()
        ]
        return "{\n" + "".join(fields) + "  " * depth + "}"
    return PLAIN.get(kind or "", "unknown")


def main(arguments: list[str]) -> int:
    made = render()
    if "--check" in arguments:
        current = MODULE.read_text(encoding="utf-8") == made
        if not current:
            print("web/src/app/api.ts is out of date: run scripts/make_api_types.py", file=sys.stderr)
        return int(not current)
    MODULE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
