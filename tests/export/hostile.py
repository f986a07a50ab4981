"""Sessions that nobody should have written: wrong types everywhere, markup and escapes in every field."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from tests.builder import Builder, call, text, thinking

if TYPE_CHECKING:
    from collections.abc import Iterator

MARK: Final = "ZQX"
"""Stands in every payload, to see where it went."""

MARKUP: Final = (
    "<script>alert('ZQX')</script>",
    "<img src=x onerror=alert('ZQX')>",
    "<svg/onload=alert('ZQX')>",
    "</pre></code><iframe src=javascript:alert('ZQX')>",
    "[ZQX](javascript:alert(1))",
    "[ZQX]( java\tscript:alert(1) )",
    "![ZQX](https://evil.example/ZQX.png)",
    "![ZQX][ref]\n\n[ref]: https://evil.example/ZQX.png",
    "<https://evil.example/ZQX>",
    "https://evil.example/ZQX",
    "```\n</code><script>ZQX</script>\n```",
    "````ZQX\n<b>ZQX</b>\n````",
    "~~~\n<b>ZQX</b>\n~~~\n# ZQX",
    "# ZQX heading",
    "ZQX\n===",
    "ZQX\n---",
    "> ZQX",
    "- [x] ZQX\n    <b>ZQX</b>",
    "1. ZQX",
    "    <b>ZQX</b>",
    "|ZQX|b|\n|-|-|\n|<b>ZQX</b>|[ZQX](data:text/html,x)|",
    "`<b>ZQX</b>`",
    "``ZQX ` <b>``",
    "\\`<b>ZQX</b>",
    "&lt;b&gt;ZQX&#60;b&#62;",
    "<!-- ZQX",
    "<![CDATA[ ZQX ]]>",
    "<?php ZQX ?>",
    "<a href='ZQX' onclick=alert(1)>ZQX</a>",
    "<style>*{background:url(https://evil.example/ZQX)}</style>",
    "<form action=https://evil.example/ZQX><input name=ZQX>",
    "<meta http-equiv=refresh content='0;url=https://evil.example/ZQX'>",
    "<base href=https://evil.example/ZQX>",
    "<math><mtext><table><mglyph><style><img src=x onerror=ZQX>",
    "*ZQX **ZQX __ZQX ~~ZQX",
    "[^ZQX]: <b>ZQX</b>",
    "ZQX&nbsp;<b\n>ZQX</b\n>",
    "\u202eZQX\u2066\u2069",
    "ZQX\u2028<b>\u2029ZQX\u0085<i>",
    "ZQX\r<b>ZQX</b>\r\n<i>",
    "\ufeffZQX\u200b",
    "ZQX\ud800 \udfff",
    "ZQX\x00\x01\x7f\x9b",
    "<details open ontoggle=alert('ZQX')><summary>ZQX",
    "$$\\href{javascript:ZQX}{x}$$",
    "{{ZQX}} ${ZQX} <%= ZQX %>",
    "---\ntitle: ZQX\n---",
    ":::ZQX\n<b>\n:::",
    "[[ZQX]] @ZQX #ZQX !ZQX",
    "<b>ZQX" * 3,
)

ESCAPES: Final = (
    "\x1b[2JZQX",
    "\x1b]0;ZQX\x07",
    "\x1b]52;c;WlFY\x07ZQX",
    "\x1b]8;;https://evil.example/ZQX\x1b\\ZQX\x1b]8;;\x1b\\",
    "\x1b[31mZQX\x1b[0m",
    "\x1b[?1049hZQX",
    "\x1b[6nZQX",
    "\x1bP+q544e\x1b\\ZQX",
    "\x1b_GZQX\x1b\\",
    "\x1b^ZQX\x1b\\",
    "\x1bXZQX\x1b\\",
    "\x9b31mZQX",
    "\x9d0;ZQX\x9c",
    "\x90ZQX\x9c",
    "\x07ZQX",
    "ZQX\x08\x08\x08abc",
    "ZQX\rabc",
    "ZQX\x0bZQX\x0c",
    "ZQX\x00ZQX",
    "\x7fZQX",
    "\x0eZQX\x0f",
    "\x1b(0ZQX",
    "\x1bcZQX",
    "\x1b[1;1HZQX",
    "\x1b[999BZQX",
    "\x1b[>cZQX",
    "\x1b[5iZQX",
    "\x1b]1337;File=inline=1:WlFY\x07ZQX",
    "\x1b]4;1;?\x07ZQX",
    "\x1b[200~ZQX\x1b[201~",
    "\x1b[?25lZQX",
    "\x1b[4hZQX",
    "\x1b[20hZQX",
    "\x1b#8ZQX",
    "\x1bZZQX",
    "\x1b[cZQX",
    "\x1b[0cZQX",
    "\x1b]11;?\x1b\\ZQX",
    "\x1b[18tZQX",
    "\x1b[21tZQX",
    "\x1b]777;notify;ZQX\x07",
    "\x1b]9;ZQX\x07",
    "\x1b[38;5;1mZQX",
    "\x1b[48;2;1;2;3mZQX",
    "\x1b[?2004hZQX",
    "\x1b7ZQX\x1b8",
    "\x1bMZQX",
    "\x1b[LZQX",
    "\x1b[1000@ZQX",
    "\x1b[?1000hZQX",
    "\x84ZQX\x85",
    "\x8dZQX",
    "\x1b\x1b\x1bZQX",
    "\x1b[",
    "ZQX\x1b",
    "\u202eZQX",
    "\u2066ZQX\u2069",
    "ZQX\u200f\u200e",
    "ZQX\ud83d",
    "ZQX\u2028ZQX\u2029",
)


def everywhere(payload: str, session: str = "hostile") -> bytes:
    """Write a session with a payload in every field a person may get to see."""
    builder = Builder(session)
    builder.user(payload)
    builder.line({"type": "ai-title", "aiTitle": payload, "sessionId": session})
    given = {payload: payload, "a": [payload]}
    builder.answer(thinking(payload), payload, call("toolu_1", payload, given), stop="tool_use")
    builder.result("toolu_1", payload)
    builder.answer(call("toolu_2", "Bash", {"command": payload, "description": payload}), stop="tool_use")
    builder.result("toolu_2", [text(payload)], toolUseResult={"stdout": payload, "stderr": payload})
    edit = {"file_path": payload, "old_string": payload, "new_string": "x"}
    builder.answer(call("toolu_3", "Edit", edit), stop="tool_use")
    builder.result("toolu_3", payload, is_error=True)
    builder.answer(call("toolu_4", "Read", {"file_path": f"/maze/{payload}"}), stop="tool_use")
    builder.result("toolu_4", payload)
    builder.answer(payload)
    builder.user([text(payload), {"type": "image", "source": {"type": "url", "url": payload}}])
    builder.answer(payload)
    return _with(builder.data(), payload)


def _with(data: bytes, payload: str) -> bytes:
    """Put a payload into the fields that every line has."""
    lines: list[bytes] = []
    for raw in data.splitlines(keepends=True):
        record: dict[str, Any] = json.loads(raw)
        if record.get("type") in {"user", "assistant"}:
            record |= {"cwd": f"/{payload}", "gitBranch": payload, "version": payload, "slug": payload}
            if record["type"] == "assistant":
                record["message"]["model"] = payload
        lines.append(json.dumps(record).encode() + b"\n")
    return b"".join(lines)


def wrong_types() -> Iterator[bytes]:
    """Give sessions whose values are of any type but the one they should be of."""
    odd: list[Any] = [
        None,
        True,
        0,
        -1,
        1e308,
        "",
        "x",
        [],
        {},
        [None],
        [[]],
        {"type": 5},
        [{"type": []}],
    ]
    for value in odd:
        lines: list[dict[str, object]] = [
            {"type": "user", "uuid": "u1", "parentUuid": None, "message": {"role": "user", "content": value}},
            {"type": "user", "uuid": "u2", "parentUuid": "u1", "message": value},
            {
                "type": "assistant",
                "uuid": "u3",
                "parentUuid": "u2",
                "message": {
                    "role": "assistant",
                    "id": value,
                    "model": value,
                    "usage": value,
                    "content": value,
                },
            },
            {
                "type": "assistant",
                "uuid": "u4",
                "parentUuid": "u3",
                "timestamp": value,
                "message": {
                    "role": "assistant",
                    "id": "m4",
                    "model": "m",
                    "stop_reason": value,
                    "content": [
                        {"type": "text", "text": value},
                        {"type": "thinking", "thinking": value, "signature": value},
                        {"type": "tool_use", "id": "t4", "name": value, "input": value},
                        {"type": "image", "source": value},
                        {"type": value},
                        value,
                    ],
                },
            },
            {
                "type": "user",
                "uuid": "u5",
                "parentUuid": "u4",
                "toolUseResult": value,
                "message": {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": "t4", "content": value, "is_error": value}
                    ],
                },
            },
            {"type": value, "uuid": value, "parentUuid": value, "cwd": value, "sessionId": value},
            {"type": "summary", "summary": value, "leafUuid": value},
            {"type": "ai-title", "aiTitle": value},
        ]
        yield b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def damaged() -> Iterator[bytes]:
    """Give files that are not what they should be."""
    whole = everywhere("plain words")
    yield b""
    yield b"\n\n"
    yield b"\xef\xbb\xbf" + whole
    yield whole[:-40]
    yield whole.replace(b"\n", b"\r\n")
    yield b"\0" * 512 + b"\n" + whole
    yield b"\xff\xfe\x00broken\n" + whole
    yield whole.replace(b"plain words", b"plain \xff\xfe words", 3)
    yield whole.replace(b'"uuid"', b'"uuid":"same","was"')
    yield b'{"type":"user","message":{"content":' + b"[" * 3000 + b"]" * 3000 + b"}}\n" + whole
    yield whole + whole


def long(*, turns: int, size: int) -> bytes:
    """Write a session with many large turns."""
    builder = Builder("long")
    words = ("words and more words, " * (size // 22 + 1))[:size]
    for n in range(turns):
        builder.user(f"{n} {words[:1000]}")
        builder.answer(call(f"toolu_{n}", "Bash", {"command": f"echo {n}"}), stop="tool_use")
        builder.result(f"toolu_{n}", words, toolUseResult={"stdout": words, "stderr": ""})
        builder.answer(words[:4000])
    return builder.data()
