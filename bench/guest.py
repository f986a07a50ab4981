"""What a peer that is a Python package is asked to do. Run by the peer's own Python, by itself.

    python guest.py sdk-list
    python guest.py sdk-page SESSION
    python guest.py aichat-needles INDEX WORDS.json

It prints one JSON document; `seconds` are those of the call alone, without the import of the package.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def sdk_list() -> dict[str, object]:
    """The sessions of all projects below CLAUDE_CONFIG_DIR."""
    sdk: Any = importlib.import_module("claude_agent_sdk")
    return _timed(sdk.list_sessions)


def sdk_page(session: str) -> dict[str, object]:
    """Fifty messages of a session."""
    sdk: Any = importlib.import_module("claude_agent_sdk")
    return _timed(lambda: sdk.get_session_messages(session, limit=50))


def aichat_needles(index: str, words: str) -> dict[str, object]:
    """How many words an index of aichat finds at all: how much of the text is in it."""
    tantivy: Any = importlib.import_module("tantivy")
    opened = tantivy.Index.open(index)
    searcher = opened.searcher()
    wanted: list[str] = json.loads(Path(words).read_text(encoding="utf-8"))
    found = sum(
        bool(searcher.search(opened.parse_query(f'"{word}"', ["content"]), 1).hits) for word in wanted
    )
    return {"documents": searcher.num_docs, "found": found}


def _timed(call: Callable[[], Any]) -> dict[str, object]:
    began = time.perf_counter()
    found = call()
    return {"seconds": time.perf_counter() - began, "count": len(found)}


if __name__ == "__main__":
    WORKS: dict[str, Callable[..., dict[str, object]]] = {
        "sdk-list": sdk_list,
        "sdk-page": sdk_page,
        "aichat-needles": aichat_needles,
    }
    print(json.dumps(WORKS[sys.argv[1]](*sys.argv[2:])))
