"""Small stores for the tests of the catalog, and what a catalog says of one, without ids."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from clew.catalog.schema import TALK, TOOLS
from clew.store.files import Store
from clew.tables.schema import TABLES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from clew.catalog.catalog import Catalog

WORDS = ("lighthouse", "harbour", "gull", "日本", "naïve", "error", "Read", "kettle")
"""What is searched for; the texts below are made of them."""


def line(number: int, **fields: Any) -> bytes:
    """One of a few dozen lines, each of another sort; `fields` go before what it would have."""
    sort = number % 16
    word = WORDS[number % len(WORDS)]
    uuid = f"{number % 40:08x}-0000-4000-8000-{number % 40:012x}"
    parent = f"{(number - 1) % 40:08x}-0000-4000-8000-{(number - 1) % 40:012x}" if number % 7 else None
    own: dict[str, Any] = {
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": f"s{number % 3}",
        "timestamp": f"2026-03-{1 + number % 27:02}T{number % 24:02}:00:0{number % 10}.000Z",
        "cwd": f"/home/ada/{word}",
        "gitBranch": "main" if number % 5 else "side",
        "version": "2.1.325",
        "isSidechain": number % 11 == 0,
    }
    said: dict[str, Any] = {
        "id": f"msg_{number % 13}",
        "model": "claude-sonnet-4-5-20250929" if number % 3 else "claude-opus-4-1",
        "role": "assistant",
        "stop_reason": "end_turn" if number % 2 else None,
        "usage": {
            "input_tokens": number,
            "output_tokens": number % 50,
            "cache_read_input_tokens": number * 1000,
        },
    }
    match sort:
        case 0 | 1:
            own |= {"type": "user", "message": {"role": "user", "content": f"where is the {word} {number}?"}}
        case 2 | 3:
            said["content"] = [
                {"type": "text", "text": f"The {word}, number {number}, is 日本語のテスト here."}
            ]
            own |= {"type": "assistant", "message": said}
        case 4:
            said["content"] = [
                {"type": "thinking", "thinking": f"hm, {word}", "signature": "x"},
                {
                    "type": "tool_use",
                    "id": f"toolu_{number}",
                    "name": "Read",
                    "input": {"file_path": f"/{word}.py"},
                },
            ]
            own |= {"type": "assistant", "message": said}
        case 5:
            result = {"type": "tool_result", "tool_use_id": f"toolu_{number - 1}", "content": f"{word} " * 20}
            own |= {"type": "user", "message": {"role": "user", "content": [result]}}
        case 6:
            own = {"type": "summary", "summary": f"All about {word} {number}", "leafUuid": uuid}
        case 7:
            own |= {"type": "custom-title", "customTitle": word if number % 2 else ""}
        case 8:
            own |= {"type": "system", "subtype": "compact_boundary", "content": f"compacted {word}"}
        case 9:
            own |= {"type": "progress", "data": {"type": "hook_progress"}}
        case 10:
            return b'{"type":"user","uuid":"torn ' + word.encode() + b"\n"
        case 11:
            return line(number + 1).rstrip(b"\n") + line(number + 2)
        case 12:
            return b"\x00" * 20 + line(number + 1) if number % 2 else b"\n"
        case 13:
            said["content"] = f"lone \ud800 {word}"
            del said["id"]
            own |= {"type": "assistant", "message": said}
        case 14:
            own |= {"type": "cost-state", "totalCostUSD": number / 10}
        case _:
            own = {"type": "pr-link", "prNumber": number, "prUrl": f"https://example.org/{word}"}
    own |= fields
    return json.dumps(own, ensure_ascii=number % 2 == 0).encode("utf-8", "surrogatepass") + b"\n"


def lines(numbers: Sequence[int]) -> bytes:
    """Some lines in a row."""
    return b"".join(map(line, numbers))


class Tree:
    """A config folder under a test's hands. Every change has a time of its own, later than all before."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._now = 1_772_614_800_000_000_000
        (root / "projects").mkdir(parents=True, exist_ok=True)

    def path(self, name: str) -> Path:
        path = self.root / "projects" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def touch(self, path: Path) -> None:
        self._now += 1_000_000_000
        os.utime(path, ns=(self._now, self._now))

    def write(self, name: str, data: bytes) -> Path:
        """Put a file there, another inode than before."""
        path = self.path(name)
        beside = path.with_name(path.name + ".new")
        beside.write_bytes(data)
        beside.replace(path)
        self.touch(path)
        return path

    def append(self, name: str, data: bytes) -> Path:
        path = self.path(name)
        with path.open("ab") as file:
            file.write(data)
        self.touch(path)
        return path

    def cut(self, name: str, size: int, then: bytes = b"") -> Path:
        """Cut a file, as the client does, and write on."""
        path = self.path(name)
        with path.open("r+b") as file:
            file.truncate(size)
            file.seek(0, os.SEEK_END)
            file.write(then)
        self.touch(path)
        return path

    def store(self) -> Store:
        return Store.at([str(self.root)])


def content(catalog: Catalog) -> dict[str, object]:
    """Return all that a catalog says: every documented table, the sums, and where words are found."""
    said: dict[str, object] = {}
    with catalog.reading() as database:
        for name, table in TABLES.items():
            rows = database.execute(f"SELECT {', '.join(table.names)} FROM {name}").fetchall()
            said[name] = sorted(rows, key=repr)
        said["rollup"] = sorted(
            database.execute(
                "SELECT f.path, quarter, "
                "(SELECT text FROM all_name n WHERE n.shard = r.shard AND n.id = r.model), "
                "tier, sum(messages), sum(output), sum(input), sum(r.cache_read) FROM all_rollup r "
                "JOIN all_source f ON f.shard = r.shard AND f.id = r.source GROUP BY 1, 2, 3, 4"
            ).fetchall(),
            key=repr,
        )
        said["sources"] = sorted(
            database.execute(
                "SELECT path, kind, session, owner, size, offset, tools_offset, newest_ms, damaged, "
                "client_cost "
                "FROM all_source"
            ).fetchall(),
            key=repr,
        )
        said["words"] = {
            (field, word): found(catalog, field, word) for field in TALK + TOOLS for word in WORDS
        }
    return said


def found(catalog: Catalog, field: str, word: str) -> set[tuple[str, int]]:
    """Return where a word stands in a field: path and offset."""
    table = "talk" if field in TALK else "tools"
    places: set[tuple[str, int]] = set()
    with catalog.reading() as database:
        for number in range(4):
            rows = database.execute(
                f"SELECT f.path, e.offset FROM s{number}.{table} t JOIN s{number}.entry e ON e.id = t.rowid "
                f"JOIN s{number}.source f ON f.id = e.source WHERE t.{table} MATCH ?",
                (f'{{{field}}} : "{word}"',),
            ).fetchall()
            places |= set(rows)
    return places
