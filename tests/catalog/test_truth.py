"""What a catalog says is what reading the files says: by the roads that use no catalog."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from clew.actions.listing import list_sessions
from clew.actions.usage import Request, usage
from clew.catalog.catalog import Catalog, Options
from clew.format.times import milliseconds
from tests.catalog.stores import Tree, line, lines

if TYPE_CHECKING:
    from clew.store.files import Store

DATA = Path(__file__).parent.parent / "data"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Every recorded and made session of the tests, and some with copies, forks and sub-agents."""
    root = tmp_path_factory.mktemp("truth")
    for number, path in enumerate(sorted(DATA.glob("corpus/*/*/projects"))):
        shutil.copytree(path, root / "projects" / f"corpus-{number}", dirs_exist_ok=True)
    (root / "projects").mkdir(exist_ok=True)
    for folder in list((root / "projects").iterdir()):
        for project in list(folder.iterdir()):
            shutil.move(project, root / "projects" / f"{folder.name}-{project.name}")
        folder.rmdir()
    tree = Tree(root)
    for number, path in enumerate(sorted(DATA.glob("made/**/*.jsonl"))):
        tree.write(f"-made/{number:08x}.jsonl", path.read_bytes())
    for number in range(12):
        name = f"-home-{number % 2}/{number:08x}-1111-4111-8111-111111111111"
        tree.write(f"{name}.jsonl", lines(range(number * 3, number * 3 + 50)) + line(3)[: number * 30])
        if number % 3 == 0:
            tree.write(f"{name}/subagents/agent-{number}.jsonl", lines(range(300 + number, 350)))
    # The last line is whole but for its newline.
    tree.write("-home-0/whole.jsonl", lines(range(30)) + line(66).rstrip(b"\n"))
    tree.write("-home-0/only.jsonl", line(67).rstrip(b"\n"))
    return tree.store()


@pytest.fixture(scope="module")
def catalog(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    catalog = Catalog.open(store, cache=tmp_path_factory.mktemp("cache"))
    assert catalog.update(options=Options(details=True)).notes == ()
    return catalog


def test_the_list_of_sessions_is_that_of_a_full_read(store: Store, catalog: Catalog) -> None:
    expected = {
        row.path: (
            row.id, row.project, row.folder, row.slug, row.first_prompt, row.kind, milliseconds(row.started),
            milliseconds(row.ended), row.bytes, row.lines, row.turns, row.messages, row.tool_calls,
            row.failed_calls, None if row.tokens is None else (row.tokens.input, row.tokens.output,
            row.tokens.cache_read, row.tokens.cache_write_5m, row.tokens.cache_write_1h), row.cost_usd,
            row.unpriced_messages, list(row.unpriced_models), list(row.models), row.git_branch,
            list(row.client_versions), list(row.session_ids), row.agents, row.damaged,
        )
        for row in list_sessions(store, now=2e9, full=True, jobs=1).rows
    }  # fmt: skip
    with catalog.reading() as database:
        rows = database.execute(
            "SELECT path, session_id, project, folder, slug, first_prompt, kind, started_ms, ended_ms, "
            "bytes, lines, turns, messages, tool_calls, failed_calls, input_tokens, output_tokens, "
            "cache_read_tokens, "
            "cache_write_5m_tokens, cache_write_1h_tokens, cost_usd, unpriced_messages, unpriced_models, "
            "models, "
            "git_branch, client_versions, session_ids, agents, damaged FROM sessions"
        ).fetchall()
    found = {
        row[0]: (
            *row[1:15], tuple(row[15:20]), *row[20:22], json.loads(row[22]), json.loads(row[23]), row[24],
            json.loads(row[25]), json.loads(row[26]), *row[27:],
        )
        for row in rows
    }  # fmt: skip
    assert len(expected) > 30
    assert found == expected


def test_titles_are_those_of_a_full_read_where_no_other_file_tells_them(
    store: Store, catalog: Catalog
) -> None:
    expected = {
        row.path: (row.title, row.title_source) for row in list_sessions(store, now=2e9, full=True).rows
    }
    with catalog.reading() as database:
        rows = database.execute("SELECT path, title, title_source FROM sessions").fetchall()
    found = {path: (title, source) for path, title, source in rows}
    # A glance at the first and last lines, from which a list knows what other files tell, may miss some.
    differing = {path for path in expected if found[path] != expected[path]}
    assert all(found[path][1] == "summary" for path in differing)
    assert len(differing) < len(expected) / 4


@pytest.mark.parametrize("by", ["day", "model", "session", "agent", "git-branch"])
def test_the_usage_is_that_of_a_full_read(store: Store, catalog: Catalog, by: str) -> None:
    column = {
        "day": "coalesce(day, 'unknown')",
        "model": "coalesce(model, 'unknown')",
        "session": "session_id",
        "agent": "coalesce(agent_id, 'main')",
        "git-branch": "coalesce(git_branch, 'no branch')",
    }[by]
    answer = usage(Request(by=by, roots=store.roots.found, tz="UTC"))  # pyright: ignore[reportArgumentType]  # one of those
    expected = {
        group.key: (group.sum.messages, group.sum.tokens.output, group.sum.tokens.input)
        for group in answer.account.groups
    }
    with catalog.reading() as database:
        rows = database.execute(
            f"SELECT {column}, count(*), sum(output_tokens), sum(input_tokens) FROM usage GROUP BY 1"
        ).fetchall()
    assert {row[0]: row[1:] for row in rows} == expected
    assert len(expected) > 1


def test_the_sums_by_quarter_of_an_hour_less_the_copies_are_those_of_the_messages(catalog: Catalog) -> None:
    with catalog.reading() as database:
        total = "sum(output), sum(input), sum(cache_read), sum(cache_5m), sum(cache_1h)"
        assert (
            database.execute(f"SELECT sum(messages), {total} FROM all_rollup").fetchall()
            == database.execute(f"SELECT count(*), {total} FROM all_message WHERE marks & 1").fetchall()
        )
        copies = database.execute(
            "SELECT count(*) FROM (SELECT hash FROM all_message GROUP BY hash HAVING count(*) > 1)"
        ).fetchall()
        marked = database.execute("SELECT count(DISTINCT hash) FROM all_message WHERE shared").fetchall()
        assert copies == marked
        assert copies[0][0] > 3
