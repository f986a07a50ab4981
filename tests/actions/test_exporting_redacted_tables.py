"""The tables as Parquet without secrets: no cell has one, and else they are what they are with them."""

from __future__ import annotations

import importlib
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from clew.actions.export_stories import Cleaning
from clew.actions.exporting_redacted_tables import export_redacted_tables
from clew.actions.exporting_tables import export_tables
from clew.actions.own_patterns import compiled, watched
from clew.errors import RefusedError
from clew.store.files import Store
from clew.tables.schema import TABLES
from tests.builder import Builder, call
from tests.edit.secrets_planted import left_of, sow
from tests.faces.stage import write

if TYPE_CHECKING:
    from clew.actions.exporting_tables import ExportedTables

parquet: Any = importlib.import_module("pyarrow.parquet")  # it has no types
CORPUS = Path(__file__).parent.parent / "data" / "corpus"
KEY = Cleaning(b"k" * 32)


def redacted(store: Store, out: Path, cleaning: Cleaning = KEY) -> ExportedTables:
    return export_redacted_tables(store, str(out), store.listing().sessions, cleaning, is_everything=True)


def rows(done: ExportedTables, name: str) -> list[dict[str, Any]]:
    (path,) = [one.path for one in done.tables if one.name == name]
    return parquet.read_table(path).to_pylist()


def cells(done: ExportedTables) -> dict[str, set[str]]:
    """All text of all tables, by column."""
    found: dict[str, set[str]] = {}
    for one in done.tables:
        for row in rows(done, one.name):
            for column, value in row.items():
                if isinstance(value, str):
                    found.setdefault(f"{one.name}.{column}", set()).add(value)
    return found


def test_no_planted_secret_is_in_any_cell(tmp_path: Path) -> None:
    sown = sow(tmp_path / "config")
    store = Store.at([str(tmp_path / "config")])
    plain = "\n".join(
        text for texts in cells(export_tables(store, str(tmp_path / "a"))).values() for text in texts
    )
    done = redacted(store, tmp_path / "b")
    clean = "\n".join(text for texts in cells(done).values() for text in texts)
    assert sum(one.secret in plain for one in sown) > 5
    assert left_of(clean.encode(), sown) == []
    assert done.redacted is not None
    assert sum(done.redacted.values()) > 200
    for path in (tmp_path / "b").iterdir():
        data = path.read_bytes()
        assert not [one for one in sown if one.secret.encode() in data]


SECRET = "lamp-12345678"
COLUMNS = {
    "sessions.project", "sessions.title", "sessions.first_prompt", "sessions.git_branch", "sessions.slug",
    "sessions.prs", "sessions.models", "sessions.unpriced_models", "sessions.client_versions",
    "sessions.folder", "sessions.path", "messages.model", "messages.git_branch", "messages.calls",
    "usage.project", "usage.model", "usage.git_branch", "usage.calls", "turns.prompt", "calls.name",
    "files.path", "entries.kind", "entries.type",
}  # fmt: skip


def speaking(name: str, session: str = "s1") -> Builder:
    """A session that says a name wherever a table has room for it."""
    more: dict[str, Any] = {
        "cwd": f"/home/ada/{name}",
        "gitBranch": f"fix-{name}",
        "slug": name,
        "version": f"2-{name}",
    }
    builder = Builder(session).prompt(f"Use {name}.", **more)
    written = call("t1", "Write", {"file_path": f"/home/ada/{name}/{name}.py", "content": "x"})
    builder.answer(written, call("t2", f"mcp__{name}", {}), model=f"claude-{name}", stop="tool_use", **more)
    result = {"type": "create", "filePath": f"/home/ada/{name}/{name}.py", "content": "x"}
    builder.result("t1", "done", toolUseResult=result, **more).result("t2", "done", **more)
    builder.line({"type": "pr-link", "prNumber": 1, "prUrl": f"https://x.dev/{name}", "prRepository": name})
    return builder.line({"type": name, "uuid": "u9", "parentUuid": None, "sessionId": session})


def test_every_column_of_words_is_without_a_persons_own_secrets(tmp_path: Path) -> None:
    write(tmp_path / "store", f"-home-ada-{SECRET}", {"s1": speaking(SECRET).data()})
    store = Store.at([str(tmp_path / "store")])
    plain = cells(export_tables(store, str(tmp_path / "a")))
    assert {name for name, texts in plain.items() if any(SECRET in one for one in texts)} >= COLUMNS
    with watched(compiled(["lamp-[0-9]{8}"])) as own:
        done = redacted(store, tmp_path / "b", Cleaning(b"k" * 32, own))
    clean = cells(done)
    assert not {name for name, texts in clean.items() if any(SECRET in one for one in texts)}
    assert clean.keys() == plain.keys()
    assert [json.loads(one) for one in clean["usage.calls"]]
    for table in TABLES:
        assert len(rows(done, table)) > (table == "problems") - 1


def test_no_half_of_a_secret_is_left_where_a_cell_ends(tmp_path: Path) -> None:
    for before in range(60, 900, 20):
        name = f"s{before}"
        words = "a" * (before - 1) + f" {SECRET}{'9' * 40} b"
        write(tmp_path / "store", "-p", {name: Builder(name).prompt(words).answer("Yes.").data()})
    store = Store.at([str(tmp_path / "store")])
    plain = cells(export_tables(store, str(tmp_path / "a")))
    whole = SECRET + "9" * 40
    half = {name for name, texts in plain.items() for one in texts if "lamp-1" in one and whole not in one}
    with watched(compiled(["lamp-[0-9]{48}"])) as own:
        clean = cells(redacted(store, tmp_path / "b", Cleaning(b"k" * 32, own)))
    assert half
    assert not [one for texts in clean.values() for one in texts if "lamp-1" in one]


@pytest.mark.parametrize("scenario", ["2.0.42/agents2", "2.1.325/compact", "2.1.45/errors", "2.0.76/hooks"])
def test_without_secrets_the_tables_are_the_same(tmp_path: Path, scenario: str) -> None:
    shutil.copytree(CORPUS / scenario, tmp_path / "store")
    store = Store.at([str(tmp_path / "store")])
    plain, clean = export_tables(store, str(tmp_path / "a")), redacted(store, tmp_path / "b")
    assert clean.redacted == {}
    for one, other in zip(plain.tables, clean.tables, strict=True):
        assert (one.name, one.rows) == (other.name, other.rows)
        assert parquet.read_schema(one.path) == parquet.read_schema(other.path)
        assert sorted(map(repr, rows(plain, one.name))) == sorted(map(repr, rows(clean, one.name)))


def test_some_sessions_are_their_rows_and_a_message_is_paid_for_by_its_owner(tmp_path: Path) -> None:
    first = Builder("a").prompt("Hi").answer("Yes.", message_id="m1")
    second = (
        Builder("b").wait(100).prompt("Hi").answer("Yes.", message_id="m1").answer("No.", message_id="m2")
    )
    write(tmp_path / "store", "-p", {"a": first.data(), "b": second.data()})
    store = Store.at([str(tmp_path / "store")])
    (chosen,) = [file for file in store.listing().sessions if file.id == "b"]
    done = export_redacted_tables(store, str(tmp_path / "out"), [chosen], KEY)
    assert {row["session_id"] for row in rows(done, "entries")} == {"b"}
    assert [row["message_id"] for row in rows(done, "usage")] == ["m2"]
    assert {row["message_id"] for row in rows(done, "messages")} == {"m1", "m2"}
    with pytest.raises(RefusedError):
        export_redacted_tables(store, str(tmp_path / "out"), [chosen], KEY)
    again = export_redacted_tables(store, str(tmp_path / "out"), [chosen], KEY, force=True)
    assert again.tables == done.tables


def test_a_session_that_is_gone_meanwhile_costs_only_itself(tmp_path: Path) -> None:
    write(tmp_path / "store", "-p", {name: speaking("x", name).data() for name in ("a", "b")})
    store = Store.at([str(tmp_path / "store")])
    files = store.listing().sessions
    export_tables(store, str(tmp_path / "index"))  # what is paid for is known of both
    Path(files[0].path).unlink()
    done = export_redacted_tables(store, str(tmp_path / "out"), files, KEY, is_everything=True)
    assert [one.path for one in done.skipped] == [files[0].path]
    assert {row["session_id"] for row in rows(done, "sessions")} == {files[1].id}


def test_a_sub_agent_without_its_session_is_told_too(tmp_path: Path) -> None:
    inner = Builder("gone").prompt("Go.", isSidechain=True, agentId="x").answer("Yes.", isSidechain=True)
    write(tmp_path / "store", "-p", {"gone/subagents/agent-x": inner.data(), "a": speaking("x", "a").data()})
    store = Store.at([str(tmp_path / "store")])
    plain, clean = export_tables(store, str(tmp_path / "a")), redacted(store, tmp_path / "b")
    for name in ("entries", "messages", "turns", "usage"):
        assert sorted(map(repr, rows(plain, name))) == sorted(map(repr, rows(clean, name)))
    assert {row["session_id"] for row in rows(clean, "turns")} == {"a", "gone"}
