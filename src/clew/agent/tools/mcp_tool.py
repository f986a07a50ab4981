"""The tools of MCP servers, as tools the model can call: `mcp__server__tool`.

What a server says of its tools and what it answers goes to the API, which refuses a whole request for one
thing it does not take. So both are brought into a form that it takes; what cannot be is put into a file, or
told.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import TYPE_CHECKING, Any, Final, cast

from clew.agent.image_size import image_size
from clew.agent.mcp_servers import ServerError
from clew.agent.shell_output import persisted, plain, save
from clew.agent.tool import Outcome, Reach
from clew.agent.tools.outcomes import failed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew.agent.mcp_servers import McpServers
    from clew.agent.tool import Block, Work

MOST_TEXT: Final = 100_000
"""Characters of an answer that go into the line of its result: about the client's 25,000 tokens."""

_LONGEST_NAME: Final = 128
_LONGEST_DESCRIPTION: Final = 2048
_MOST_IMAGE: Final = 5 << 20
_MOST_PIXELS: Final = 8000
_ENDINGS: Final = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}


def mcp_tools(servers: McpServers) -> tuple[list[McpTool], list[str]]:
    """Make a tool of each that the servers have; say in words which were left out."""
    made: dict[str, McpTool] = {}
    problems: list[str] = []
    for server, described in servers.tools():
        tool = McpTool(servers, server, described)
        if tool.name in made or len(tool.name) > _LONGEST_NAME:
            why = "another tool has that name" if tool.name in made else "its name is too long"
            problems.append(f"the tool {tool.tool!r} of the MCP server {server} is left out: {why}")
        else:
            made[tool.name] = tool
    return list(made.values()), problems


def tool_name(server: str, tool: str) -> str:
    """Return the name the model calls a server's tool by."""
    return "__".join(("mcp", *(re.sub(r"[^A-Za-z0-9_-]", "_", part) for part in (server, tool))))


class McpTool:
    """One tool of a server."""

    def __init__(self, servers: McpServers, server: str, described: Mapping[str, Any]) -> None:
        self._servers = servers
        self._server = server
        self._described = described
        self.tool = str(described.get("name", ""))
        """What the server calls it."""

    @property
    def name(self) -> str:
        """By which the model calls it."""
        return tool_name(self._server, self.tool)

    @property
    def description(self) -> str:
        """What the server says of it, of which a page is enough."""
        return plain(str(self._described.get("description") or ""))[:_LONGEST_DESCRIPTION]

    @property
    def schema(self) -> Mapping[str, object]:
        """What its input looks like, as far as the API takes it."""
        found: object = self._described.get("inputSchema")
        if not isinstance(found, dict):
            return {"type": "object", "properties": {}}
        # The API takes an object, and no choice of several at the top.
        return {
            key: value
            for key, value in cast("dict[str, object]", found).items()
            if key not in ("anyOf", "oneOf", "allOf", "$schema")
        } | {"type": "object"}

    def is_parallel(self, given: Mapping[str, object]) -> bool:  # noqa: ARG002
        """Say whether the server says that it changes nothing."""
        hints = self._described.get("annotations")
        return isinstance(hints, dict) and cast("dict[str, object]", hints).get("readOnlyHint") is True

    def reach(self, given: Mapping[str, object], work: Work) -> Reach:  # noqa: ARG002
        """Say that nobody knows what it touches."""
        return Reach(is_foreign=True)

    def run(self, given: Mapping[str, object], work: Work) -> Outcome:
        """Have the server do it."""
        try:
            answer = self._servers.call(
                self._server,
                self.tool,
                given,
                cancel=work.cancel,
                report=lambda line: work.report(plain(line)),
            )
        except ServerError as error:
            return failed(plain(str(error)))
        blocks = _blocks(answer.get("content"), self._server, work)
        if answer.get("isError") is True:
            return failed(_shortened(_words(blocks) or f"{self.name} failed", self, work))
        structured = answer.get("structuredContent")
        if structured is not None and all(block["type"] == "text" for block in blocks):
            # The texts of such an answer say the same again.
            text = json.dumps(structured, ensure_ascii=False, separators=(",", ":"))
            extra = {} if len(text) > MOST_TEXT else {"mcpMeta": {"structuredContent": structured}}
            short = _shortened(plain(text), self, work)
            return Outcome(short, short, extra=extra)
        content: list[Block] | str = blocks or f"({self.name} completed with no output)"
        if len(_words(blocks)) > MOST_TEXT:
            others = [block for block in blocks if block["type"] != "text"]
            content = [{"type": "text", "text": _shortened(_words(blocks), self, work)}, *others]
        return Outcome(content, content)


def _words(blocks: Sequence[Block]) -> str:
    return "\n".join(block["text"] for block in blocks if block["type"] == "text")


def _shortened(text: str, tool: McpTool, work: Work) -> str:
    if len(text) <= MOST_TEXT:
        return text
    data = text.encode("utf-8", "replace")
    try:
        path = save(work.results_folder, f"{tool.name}.txt", data)
    except OSError as error:
        return f"{text[:MOST_TEXT]}\n[the rest could not be saved: {error.strerror or error}]"
    return persisted(text, path, len(data))


def _blocks(content: object, server: str, work: Work) -> list[Block]:
    listed = cast("list[object]", content) if isinstance(content, list) else []
    found = (_block(cast("dict[str, Any]", one), server, work) for one in listed if isinstance(one, dict))
    return [block for block in found if block.get("text") != ""]


def _block(one: Mapping[str, Any], server: str, work: Work) -> Block:
    match one.get("type"):
        case "text":
            return _text(plain(str(one.get("text", ""))))
        case "image":
            return _image(one, server, work)
        case "audio":
            return _file(one.get("data"), str(one.get("mimeType")), server, work)
        case "resource_link":
            return _text(plain(f"[Resource link: {one.get('name')}] {one.get('uri')}"))
        case "resource" if isinstance(one.get("resource"), dict):
            held = cast("dict[str, Any]", one["resource"])
            if "blob" in held:
                return _file(held["blob"], str(held.get("mimeType")), server, work)
            return _text(plain(f"[Resource from {server} at {held.get('uri')}]\n{held.get('text', '')}"))
        case kind:
            return _text(f"[something of the type {plain(str(kind))[:100]}, which cannot be shown]")


def _text(words: str) -> Block:
    return {"type": "text", "text": words}


def _image(one: Mapping[str, Any], server: str, work: Work) -> Block:
    try:
        data = base64.b64decode(str(one.get("data", "")), validate=False)
    except (binascii.Error, ValueError):
        return _text("[an image that cannot be read]")
    size = image_size(data)
    written = base64.b64encode(data).decode("ascii")
    if size is None or len(written) > _MOST_IMAGE or max(size.width, size.height) > _MOST_PIXELS:
        return _file(written, str(one.get("mimeType")), server, work)
    # By what it is, not by what the server says that it is: the API compares.
    return {"type": "image", "source": {"type": "base64", "media_type": size.media_type, "data": written}}


def _file(data: object, kind: str, server: str, work: Work) -> Block:
    """Put what the model cannot be shown into a file, and tell where."""
    kind = plain(kind)[:100]
    try:
        raw = base64.b64decode(str(data), validate=False)
        ending = _ENDINGS.get(kind, "bin")
        path = save(work.results_folder, f"{tool_name(server, 'blob')}.{ending}", raw)
    except (binascii.Error, ValueError):
        return _text(f"[{kind} that cannot be read]")
    except OSError as error:
        return _text(f"[{kind} that could not be saved: {error.strerror or error}]")
    return _text(f"[{kind}, saved to {path}]")
