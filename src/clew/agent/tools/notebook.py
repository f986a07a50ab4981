"""Show a Jupyter notebook to the model: its cells with what came of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, cast

from clew.agent.tool import Outcome
from clew.agent.tools.outcomes import failed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from clew.agent.tool import Block

_MOST_OUTPUT: Final = 10_000
"""Characters of what came of one cell; more is left out."""

_MOST_TEXT: Final = 100_000
"""Characters of the whole notebook."""

_PICTURES: Final = ("image/png", "image/jpeg")
_MOST_PICTURE: Final = 5 << 20


def shown(path: str, data: bytes) -> Outcome:
    """Show a notebook, or say why it cannot be."""
    try:
        value: object = json.loads(data)
        # Half a character, which JSON can hold, would make the whole request one that the API refuses.
        value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        return failed(
            "Notebook file is not valid JSON (it may be truncated, corrupted, or still being written): "
            f"{error}"
        )
    cells = _mapping(value).get("cells")
    if not isinstance(cells, list):
        return failed(f"{path} is JSON, but no notebook of version 4: it has no list of cells.")
    language = _language(_mapping(value))
    kept = [_cell(_mapping(cell), at, language) for at, cell in enumerate(cast("list[object]", cells))]
    blocks = _merged([block for cell in kept for block in _blocks(cell)])
    if sum(len(block.get("text", "")) for block in blocks) > _MOST_TEXT:
        return failed(
            f"The notebook {path} is too long to be read at once ({len(kept)} cells). Read the cells you "
            f"need "
            "with a shell command, for example jq."
        )
    return Outcome(
        blocks or [{"type": "text", "text": "The notebook has no cells."}],
        {"type": "notebook", "file": {"filePath": path, "cells": kept}},
    )


def _language(notebook: Mapping[str, Any]) -> str:
    name = _mapping(_mapping(notebook.get("metadata")).get("language_info")).get("name")
    return name if isinstance(name, str) else "python"


def _cell(cell: Mapping[str, Any], at: int, language: str) -> dict[str, Any]:
    """Return a cell as results keep it."""
    kind = cell.get("cell_type")
    found: dict[str, Any] = {
        "cellType": kind if isinstance(kind, str) else "raw",
        "source": _joined(cell.get("source")),
    }
    count = cell.get("execution_count")
    if kind == "code" and isinstance(count, int):
        found["execution_count"] = count
    name = cell.get("id")
    found["cell_id"] = name if isinstance(name, str) else f"cell-{at}"
    if kind == "code":
        found["language"] = language
        outputs = cell.get("outputs")
        kept = (
            [_output(_mapping(one)) for one in cast("list[object]", outputs)]
            if isinstance(outputs, list)
            else []
        )
        if sum(len(one["text"]) for one in kept) > _MOST_OUTPUT:
            words = (
                f"Outputs are too large to include. The cell is number {at}; read them with a shell command."
            )
            kept = [{"output_type": "stream", "text": words}]
        if kept:
            found["outputs"] = kept
    return found


def _output(output: Mapping[str, Any]) -> dict[str, Any]:
    kind = output.get("output_type")
    found: dict[str, Any] = {"output_type": kind if isinstance(kind, str) else "display_data"}
    match kind:
        case "stream":
            found["text"] = _joined(output.get("text"))
        case "error":
            trace = output.get("traceback")
            lines = [str(line) for line in cast("list[object]", trace)] if isinstance(trace, list) else []
            found["text"] = "\n".join([f"{output.get('ename')}: {output.get('evalue')}", *lines])
        case _:
            shown = _mapping(output.get("data"))
            found["text"] = _joined(shown.get("text/plain"))
            for media_type in _PICTURES:
                picture = "".join(_joined(shown.get(media_type)).split())
                if picture and len(picture) <= _MOST_PICTURE:
                    found["image"] = {"image_data": picture, "media_type": media_type}
                    break
    return found


def _blocks(cell: Mapping[str, Any]) -> Iterator[Block]:
    name, source = cell["cell_id"], cell["source"]
    about = "" if cell["cellType"] == "code" else f"<cell_type>{cell['cellType']}</cell_type>"
    if cell["cellType"] == "code" and cell.get("language") != "python":
        about += f"<language>{cell.get('language')}</language>"
    yield {"type": "text", "text": f'<cell id="{name}">{about}{source}</cell id="{name}">'}
    for output in cell.get("outputs", ()):
        if output["text"]:
            yield {"type": "text", "text": f"\n{output['text']}"}
        if "image" in output:
            source = {
                "type": "base64",
                "media_type": output["image"]["media_type"],
                "data": output["image"]["image_data"],
            }
            yield {"type": "image", "source": source}


def _merged(blocks: Sequence[Block]) -> list[Block]:
    """Put texts that follow each other into one."""
    merged: list[Block] = []
    for block in blocks:
        if merged and block["type"] == merged[-1]["type"] == "text":
            merged[-1] = {"type": "text", "text": f"{merged[-1]['text']}\n{block['text']}"}
        else:
            merged.append(block)
    return merged


def _joined(value: object) -> str:
    """Return a text that may be written as a list of lines."""
    if isinstance(value, list):
        value = "".join(line for line in cast("list[object]", value) if isinstance(line, str))
    return value if isinstance(value, str) else ""


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
