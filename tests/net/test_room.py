"""Other machines are called from one room and a few modules that are named here; two servers listen."""

from __future__ import annotations

import ast
from pathlib import Path

import clew

PACKAGE = Path(clew.__file__).parent
CALLING = {
    "socket",
    "ssl",
    "http.client",
    "urllib.request",
    "httpx",
    "httpx2",
    "requests",
    "anthropic",
    "aiohttp",
}
LISTENING = {"http.server", "socketserver", "uvicorn"}


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def importing(names: set[str]) -> set[str]:
    return {str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py") if imports(path) & names}


OUTSIDE = {
    "agent/standin_server.py": "is called, and needs sockets to hang up",
    "agent/web_page.py": "connects to the very address that it has looked at",
    "agent/mcp_link.py": "hands a way to call to somebody else's library",
    "faces/web/server.py": "listens on this machine, and has the place before anything is served",
}
"""Who else has to do with sockets, and why."""


def test_only_this_room_and_a_few_others_call_other_machines() -> None:
    outside = {name for name in importing(CALLING) if not name.startswith("net/")}
    assert outside <= OUTSIDE.keys()


def test_only_the_stand_in_and_the_web_app_listen() -> None:
    assert importing(LISTENING) == {"agent/standin_server.py", "faces/web/server.py"}


def test_an_import_would_be_noticed() -> None:
    assert "net/line.py" in importing({"http.client"})
    assert "net/wire.py" in importing({"socket"})
