"""Write web/src/parts.ts from clew.view.parts: the shapes in which the renderer gets a session.

python scripts/make_part_types.py           write the module
python scripts/make_part_types.py --check   only say whether it is up to date
"""

from __future__ import annotations

import inspect
import json
import sys
from pathlib import Path

import msgspec
from msgspec import inspect as shapes

from clew.view import parts

MODULE = Path(__file__).resolve().parent.parent / "web" / "src" / "parts.ts"

HEAD = """// Made by scripts/make_part_types.py from clew.view.parts; do not edit.
// What has its default is left out of the JSON, so every field with a default may be missing.
"""

PLAIN: dict[type[shapes.Type], str] = {
    shapes.StrType: "string",
    shapes.IntType: "number",
    shapes.FloatType: "number",
    shapes.BoolType: "boolean",
    shapes.NoneType: "null",
}


def render() -> str:
    """The whole module."""
    found = [
        value
        for value in vars(parts).values()
        if isinstance(value, type)
        and issubclass(value, msgspec.Struct)
        and value.__module__ == parts.__name__
    ]
    structs = [value for value in found if value is not parts.Base]
    made = [HEAD, *(struct(value) for value in structs)]
    made += [f"export type {name} = {union(name)};\n" for name in ("Part", "Flow")]
    return "\n".join(made)


def union(name: str) -> str:
    """The kinds a name of the module stands for."""
    return " | ".join(one.__name__ for one in getattr(parts, name).__args__)


def struct(value: type[msgspec.Struct]) -> str:
    """One value as an interface, or as a tuple where it is written as a list."""
    shape = shapes.type_info(value)
    assert isinstance(shape, shapes.StructType)
    doc = (inspect.getdoc(value) or "").partition("\n")[0]
    if shape.array_like:
        fields = ", ".join(f"{field.name}: {type_of(field.type)}" for field in shape.fields)
        return f"/** {doc} */\nexport type {value.__name__} = [{fields}];\n"
    lines = [f"  kind: {json.dumps(shape.tag)};\n"] if shape.tag is not None else []
    lines += [
        f"  {field.encode_name}{'' if field.required else '?'}: {type_of(field.type)};\n"
        for field in shape.fields
    ]
    return f"/** {doc} */\nexport interface {value.__name__} {{\n{''.join(lines)}}}\n"


def type_of(shape: shapes.Type) -> str:
    """The TypeScript for the shape of a field."""
    match shape:
        case shapes.LiteralType():
            return " | ".join(json.dumps(one) for one in literals(shape))
        case shapes.UnionType():
            made = " | ".join(dict.fromkeys(type_of(one) for one in shape.types))
            return "Part" if made == union("Part") else made
        case shapes.VarTupleType():
            inner = type_of(shape.item_type)
            return f"({inner})[]" if " " in inner else f"{inner}[]"
        case shapes.StructType():
            return shape.cls.__name__
        case _:
            return PLAIN[type(shape)]


def literals(shape: shapes.LiteralType) -> tuple[object, ...]:
    return tuple(sorted(shape.values, key=str))


def main(arguments: list[str]) -> int:
    made = render()
    if "--check" in arguments:
        current = MODULE.read_text(encoding="utf-8") == made
        if not current:
            print("web/src/parts.ts is out of date: run scripts/make_part_types.py", file=sys.stderr)
        return int(not current)
    MODULE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
