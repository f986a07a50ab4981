"""Servers of the MCP for tests: one that does what it should, and some that do not. Started as a program.

The first is made with the official SDK; the others speak the protocol by hand, as far as they do.
"""

from __future__ import annotations

import base64
import json
import os
import sys
import time
from typing import Any

PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def good() -> Any:
    """Make a server with a tool for each kind of answer."""
    from mcp.server.mcpserver import Image, MCPServer

    globals()["Image"] = (
        Image  # the SDK reads what a tool returns from its annotation, which is looked for here
    )
    app = MCPServer("maze")

    @app.tool()
    def say(words: str) -> str:
        """Says words."""
        return f"said {words}"

    @app.tool(structured_output=False)
    def plain(words: str) -> str:
        """Says words, and nothing but words."""
        return f"said {words}"

    @app.tool()
    def fail(words: str) -> str:
        """Fails."""
        raise ValueError(words)

    @app.tool()
    def count(number: int) -> dict[str, int]:
        """Counts."""
        return {"next": number + 1}

    @app.tool()
    def picture() -> Image:
        """Shows a picture."""
        return Image(data=base64.b64decode(PICTURE), format="png")

    @app.tool(structured_output=False)
    def much(number: int) -> str:
        """Says much."""
        return "word " * number

    @app.tool()
    def sleep(seconds: float) -> str:
        """Takes its time."""
        time.sleep(seconds)
        return "awake"

    @app.tool()
    def environment() -> dict[str, str]:
        """Tells its environment."""
        return dict(os.environ)

    for one in (say, plain, fail, count, picture, much, sleep, environment):
        assert callable(one)
    return app


def by_hand(behaviour: str) -> None:
    """Speak the protocol of 2025 until the call comes, then behave."""
    for line in sys.stdin:
        message = json.loads(line)
        method, id_ = message.get("method"), message.get("id")
        if method == "initialize":
            version = message["params"]["protocolVersion"]
            _answer(
                id_,
                {
                    "protocolVersion": version,
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "h", "version": "1"},
                },
            )
        elif method == "tools/list":
            schema = {
                "type": "object",
                "anyOf": [{"required": ["a"]}],
                "properties": {"a": {"type": "string"}},
            }
            tools = [{"name": "do it!", "description": "\x1b[31mred" + "x" * 5000, "inputSchema": schema}]
            tools += [
                {"name": "do it?", "inputSchema": {"type": "object"}},
                {"name": "n" * 200, "inputSchema": {"type": "object"}},
            ]
            _answer(id_, {"tools": 3 if behaviour == "odd list" else tools})
        elif method == "tools/call":
            _behave(behaviour, id_)
        elif id_ is not None:
            sys.stdout.write(
                json.dumps({"jsonrpc": "2.0", "id": id_, "error": {"code": -32601, "message": "no"}}) + "\n"
            )
            sys.stdout.flush()


def _behave(behaviour: str, id_: object) -> None:
    match behaviour:
        case "dies":
            sys.stderr.write("the walls came down\n")
            sys.stderr.flush()
            os._exit(3)
        case "hangs":
            time.sleep(100)
        case "line":
            while True:
                sys.stdout.write("x" * 1_000_000)
        case "notes":
            note = json.dumps(
                {
                    "jsonrpc": "2.0",
                    "method": "notifications/message",
                    "params": {"level": "info", "data": "y" * 100_000},
                }
            )
            while True:
                sys.stdout.write(note + "\n")
        case "garbage":
            sys.stdout.write("not json\n[]\n{}\n\n\xff\n" * 3)
            _answer(id_, {"content": [{"type": "text", "text": "after all"}]})
        case "wrong":
            _answer(id_, {"content": "no list"})
        case "answers":
            _answer(id_, json.loads(os.environ["ANSWER"]))
        case _:
            raise AssertionError(behaviour)


def _answer(id_: object, result: object) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": id_, "result": result}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    match sys.argv[1]:
        case "good":
            good().run()
        case "http":
            good().run("streamable-http", host="127.0.0.1", port=int(sys.argv[2]))
        case "never":
            time.sleep(100)
        case "at once":
            sys.stderr.write("no key was given\n")
            sys.exit(1)
        case other:
            by_hand(other)
