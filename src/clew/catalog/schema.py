# ruff: noqa: S608
"""What a shard holds: the rows and words of its files, in few bytes.

A shard is written in few bytes: what many rows have in common stands once in `sort` or `name`, an id of the
usual form is 16 bytes, the line before is told by its distance. `views` makes the documented tables from it.

`entry.id` is the rowid of the line's words in `talk` and `tools`. The lines of one reading of a file have ids
without a gap, kept in `span`, so a file's lines and words are found by ranges of ids without another index.

`layout` tells where the lines of a session stand, if its file was read from the beginning in one go; it holds
as long as the cursor is the same.
"""

from __future__ import annotations

from typing import Final

from clew.tables.schema import TABLES as DOCUMENTED

LAYOUT_KEY: Final = "made"
"""The key in `meta` that is written last when a shard is made."""

TALK: Final = ("text", "prompt", "thinking", "summary", "title")
TOOLS: Final = ("tool_result", "tool_input")
FIELDS: Final = TALK + TOOLS
"""The columns of the two full-text tables. The first of each is the one with most words: a place in any other
takes two bytes more for every word of a line, a fifth of the whole."""

HAS_TOOLS: Final = 1
"""Flag of an entry: there may be words of tools in it."""

IS_ABRIDGED: Final = 2
"""Flag of an entry: the line is too long to be held, and only the beginnings of its texts are known."""

NEWEST: Final = "coalesce(newest_ms, mtime_ns / 1000000)"
"""The time of a file's newest line."""

DETAILS: Final = ("turns", "calls", "files", "problems")
"""Documented tables that are made from whole sessions, on demand."""

_DETAIL: Final = "\n".join(
    f"CREATE TABLE {name}_of (source INTEGER NOT NULL, "
    f"{', '.join(f'{column} BLOB' for column in DOCUMENTED[name].names[1:])});\n"
    f"CREATE INDEX {name}_source ON {name}_of (source);"
    for name in DETAILS
)

# A column that may hold text and bytes is a BLOB here: any other type would turn the text 007 into a number.
DDL: Final = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID;
CREATE TABLE name (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE sort (
  id INTEGER PRIMARY KEY, kind TEXT, type TEXT, role TEXT, agent_id TEXT,
  is_sidechain INTEGER NOT NULL, is_meta INTEGER NOT NULL, key TEXT NOT NULL UNIQUE
);
CREATE TABLE source (
  id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE, kind INTEGER NOT NULL,
  root BLOB, folder BLOB, name BLOB, session TEXT, owner BLOB, ids TEXT,
  device INTEGER, inode INTEGER, size INTEGER, mtime_ns INTEGER,
  cursor TEXT, offset INTEGER NOT NULL DEFAULT 0, tools_offset INTEGER NOT NULL DEFAULT 0,
  newest_ms INTEGER, damaged INTEGER NOT NULL DEFAULT 0, client_cost REAL, details TEXT
);
CREATE INDEX source_owner ON source (owner);
CREATE INDEX source_newest ON source ({NEWEST}, id);
CREATE TABLE state (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE span (source INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
  PRIMARY KEY (source, first)) WITHOUT ROWID;
CREATE TABLE layout (source INTEGER PRIMARY KEY, cursor TEXT NOT NULL, runs BLOB NOT NULL);
CREATE TABLE entry (
  id INTEGER PRIMARY KEY, source INTEGER NOT NULL, line INTEGER NOT NULL, offset INTEGER NOT NULL,
  length INTEGER NOT NULL, time_ms INTEGER, sort INTEGER NOT NULL, flags INTEGER NOT NULL, uuid, parent,
  input INTEGER
);
CREATE TABLE session (
  source INTEGER PRIMARY KEY, title TEXT, title_source TEXT, own_title TEXT, own_source TEXT,
  first_prompt TEXT,
  started_ms INTEGER, ended_ms INTEGER, oldest_ms INTEGER, turns INTEGER, messages INTEGER,
  tool_calls INTEGER, failed_calls INTEGER, models TEXT, git_branch TEXT, client_versions TEXT,
  session_ids TEXT, first_session_id TEXT, agent_id TEXT, slug TEXT, cwd TEXT, kind TEXT, damaged INTEGER,
  is_unfinished INTEGER, bytes INTEGER, lines INTEGER, prs TEXT, agents INTEGER DEFAULT 0,
  input_tokens INTEGER DEFAULT 0, output_tokens INTEGER DEFAULT 0, cache_read_tokens INTEGER DEFAULT 0,
  cache_write_5m_tokens INTEGER DEFAULT 0, cache_write_1h_tokens INTEGER DEFAULT 0,
  cost_usd REAL DEFAULT 0.0, unpriced_messages INTEGER DEFAULT 0, unpriced_models TEXT DEFAULT '[]'
);
CREATE TABLE message (
  source INTEGER NOT NULL, hash INTEGER NOT NULL, key TEXT NOT NULL, time_ms INTEGER, output INTEGER NOT NULL,
  input INTEGER NOT NULL, cache_read INTEGER NOT NULL, cache_5m INTEGER NOT NULL, cache_1h INTEGER NOT NULL,
  model INTEGER, terms INTEGER NOT NULL, agent INTEGER, branch INTEGER, calls INTEGER,
  marks INTEGER NOT NULL, call_ids BLOB, stop INTEGER, lines INTEGER, shared INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (source, hash)
) WITHOUT ROWID;
CREATE INDEX message_hash ON message (hash);
CREATE INDEX message_shared ON message (hash) WHERE shared;
CREATE TABLE rollup (
  source INTEGER NOT NULL, quarter INTEGER, model INTEGER, terms INTEGER NOT NULL, tier INTEGER NOT NULL,
  agent INTEGER, branch INTEGER, messages INTEGER NOT NULL, output INTEGER NOT NULL, input INTEGER NOT NULL,
  cache_read INTEGER NOT NULL, cache_5m INTEGER NOT NULL, cache_1h INTEGER NOT NULL
);
CREATE INDEX rollup_source ON rollup (source);
CREATE TABLE told (source INTEGER NOT NULL, leaf TEXT NOT NULL, text TEXT NOT NULL,
  PRIMARY KEY (source, leaf)) WITHOUT ROWID;
CREATE TABLE dirty (kind TEXT NOT NULL, key BLOB NOT NULL, PRIMARY KEY (kind, key)) WITHOUT ROWID;
{_DETAIL}
CREATE VIRTUAL TABLE talk USING fts5 ({", ".join(TALK)},
  content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE tools USING fts5 ({", ".join(TOOLS)},
  content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2');
INSERT INTO talk (talk, rank) VALUES ('hashsize', 16777216), ('automerge', 8), ('crisismerge', 16);
INSERT INTO tools (tools, rank) VALUES ('hashsize', 16777216), ('automerge', 8), ('crisismerge', 16);
INSERT INTO dirty VALUES ('*', '');
INSERT INTO meta VALUES ('{LAYOUT_KEY}', 1);
"""

TABLES: Final = frozenset(
    {
        "meta",
        "name",
        "sort",
        "source",
        "state",
        "span",
        "layout",
        "entry",
        "session",
        "message",
        "rollup",
        "told",
        "dirty",
    }
    | {"talk", "tools"}
    | {f"{name}_of" for name in DETAILS}
)
"""Every table that a shard must have."""
