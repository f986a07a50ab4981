"""The shapes of the answers, as JSON schemas. Fields may be added to an answer, never renamed."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from clew.view import parts

Schema = dict[str, Any]

TEXT: Final[Schema] = {"type": "string"}
WHOLE: Final[Schema] = {"type": "integer"}
AMOUNT: Final[Schema] = {"type": "number"}
TRUTH: Final[Schema] = {"type": "boolean"}
ANYTHING: Final[Schema] = {}


def maybe(schema: Schema) -> Schema:
    """Return a schema that takes null too."""
    return {"anyOf": [schema, {"type": "null"}]}


def listed(schema: Schema) -> Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": schema}


def named(fields: Schema, *, optional: Schema | None = None) -> Schema:
    """Return the schema of an object that has all of some fields, and may have others."""
    return {"type": "object", "required": list(fields), "properties": {**fields, **(optional or {})}}


def counts() -> Schema:
    """Return the schema of names with a number each."""
    return {"type": "object", "additionalProperties": WHOLE}


def ref(name: str) -> Schema:
    """Return what points to a schema of its own."""
    return {"$ref": f"#/components/schemas/{name}"}


_PAGE: Final[Schema] = {"from": WHOLE, "next": maybe(WHOLE)}
_TOKENS: Final[Schema] = dict.fromkeys(
    ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h"), WHOLE
)
_SUM: Final[Schema] = {
    "tokens": ref("Tokens"), "messages": WHOLE, "cost_usd": maybe(AMOUNT), "unpriced_messages": WHOLE,
}  # fmt: skip
_ROW: Final[Schema] = {
    "key": TEXT,
    "id": TEXT,
    "path": TEXT,
    "project": TEXT,
    "folder": TEXT,
    "slug": maybe(TEXT),
    "title": maybe(TEXT),
    "lines": maybe(WHOLE),
    "first_prompt": maybe(TEXT),
    "started": maybe(TEXT),
    "ended": maybe(TEXT),
    "turns": maybe(WHOLE),
    "messages": maybe(WHOLE),
    "tool_calls": maybe(WHOLE),
    "failed_calls": maybe(WHOLE),
    "calls": maybe(WHOLE),
    "failures": maybe(WHOLE),
    "activity": maybe(listed(WHOLE)),
    "tokens": maybe(ref("Tokens")),
    "cost_usd": maybe(AMOUNT),
    "models": listed(TEXT),
    "git_branch": maybe(TEXT),
    "agents": WHOLE,
    "kind": TEXT,
    "live": TRUTH,
    "damaged": maybe(WHOLE),
    "bytes": WHOLE,
    "changed": maybe(TEXT),
}
_FACET: Final[Schema] = listed(named({"value": TEXT, "sessions": WHOLE}))
_VERSION: Final[Schema] = named(
    {
        "turn": WHOLE,
        "tool": TEXT,
        "action": TEXT,
        "added": maybe(WHOLE),
        "removed": maybe(WHOLE),
        "time": maybe(TEXT),
        "known": TRUTH,
    }
)
_HIT: Final[Schema] = named(
    {
        "key": maybe(TEXT),
        "session": TEXT,
        "path": TEXT,
        "line": maybe(WHOLE),
        "offset": WHOLE,
        "uuid": maybe(TEXT),
        "time": maybe(TEXT),
        "field": TEXT,
        "tool": maybe(TEXT),
        "snippet": TEXT,
        "ranges": listed(listed(WHOLE)),
        "turn": maybe(WHOLE),
        "agent_id": maybe(TEXT),
        "where": maybe(TEXT),
        "at": maybe(TEXT),
        "model": maybe(TEXT),
        "call": maybe(TEXT),
    }
)
_COUNTED: Final[Schema] = listed(named({"value": TEXT, "hits": WHOLE}))

_OWN: Final[Schema] = {
    "Error": named({"error": named({"code": TEXT, "message": TEXT, "hint": maybe(TEXT)})}),
    "Tokens": named(_TOKENS),
    "SessionRow": named(_ROW),
    "Sessions": named(
        {
            "sessions": listed(ref("SessionRow")),
            **_PAGE,
            "total": named(
                {
                    "sessions": WHOLE,
                    "live": WHOLE,
                    "damaged": WHOLE,
                    "turns": WHOLE,
                    "tool_calls": WHOLE,
                    "failed_calls": WHOLE,
                    "tokens": WHOLE,
                    "cost_usd": maybe(AMOUNT),
                }
            ),
            "store": named(
                {"files": WHOLE, "sessions": WHOLE, "other": WHOLE, "agents": WHOLE, "skipped": WHOLE}
            ),
            "partial": TRUTH,
            "notes": listed(TEXT),
        },
        optional={"facets": named({"project": _FACET, "branch": _FACET, "model": _FACET})},
    ),
    "Session": named(
        {
            "key": TEXT,
            "id": TEXT,
            "path": TEXT,
            "agent": maybe(TEXT),
            "live": TRUTH,
            "damaged": TRUTH,
            "writing": TRUTH,
            "head": ref("Head"),
            "turns": listed(ref("TurnHead")),
            **_PAGE,
        }
    ),
    "Turn": named({"session": TEXT, "turn": ref("TurnHead"), **_PAGE, "parts": listed(ref("Flow"))}),
    "Context": named(
        {
            "session": TEXT,
            "client": TEXT,
            "leaf": maybe(TEXT),
            "messages": maybe(listed(named({"role": TEXT, "content": ANYTHING}))),
            "left_out": listed(
                named({"line": maybe(WHOLE), "uuid": maybe(TEXT), "type": maybe(TEXT), "reason": TEXT})
            ),
            "tokens_estimate": WHOLE,
            "api_problems": listed(named({"code": TEXT, "message": TEXT})),
        }
    ),
    "Window": named(
        {
            "session": TEXT,
            "turns": listed(
                named({"turn": WHOLE, "time": maybe(TEXT), "tokens": maybe(WHOLE), "by_kind": counts()})
            ),
            "turns_total": WHOLE,
            "compactions": listed(
                named(
                    {
                        "turn": WHOLE,
                        "time": maybe(TEXT),
                        "before": WHOLE,
                        "after": WHOLE,
                        "trigger": maybe(TEXT),
                        "is_estimated": TRUTH,
                    }
                )
            ),
            "table": listed(named({"kind": TEXT, "blocks": WHOLE, "tokens": WHOLE, "share": AMOUNT})),
            "split": TEXT,
        }
    ),
    "Tree": named(
        {
            "session": TEXT,
            "leaves": listed(
                named({"uuid": maybe(TEXT), "line": maybe(WHOLE), "active": TRUTH, "why": TEXT})
            ),
            "branches": listed(named({"uuid": maybe(TEXT), "leaf": maybe(TEXT)})),
            "compactions": listed(named({"uuid": maybe(TEXT), "line": maybe(WHOLE)})),
            "agents": listed(ref("TreeAgent")),
        }
    ),
    "TreeAgent": named(
        {
            "agent_id": TEXT,
            "type": maybe(TEXT),
            "started_by": maybe(TEXT),
            "turns": maybe(WHOLE),
            "tokens": maybe(ref("Tokens")),
            "children": listed(ref("TreeAgent")),
        }
    ),
    "Check": named(
        {
            "id": TEXT,
            "path": TEXT,
            "resumable": TRUTH,
            "problems": listed(
                named(
                    {
                        "code": TEXT,
                        "severity": {"enum": ["info", "warning", "error"]},
                        "line": maybe(WHOLE),
                        "offset": maybe(WHOLE),
                        "length": maybe(WHOLE),
                        "detail": TEXT,
                        "repair": maybe(TEXT),
                    }
                )
            ),
        }
    ),
    "SessionFiles": named(
        {
            "files": listed(
                named({"path": TEXT, "shown": TEXT, "versions": listed(_VERSION), "gaps": listed(ANYTHING)})
            )
        }
    ),
    "FileVersion": named(
        {"path": TEXT, "turn": maybe(WHOLE), "bytes": WHOLE, "text": TEXT, "is_text": TRUTH}
    ),
    "Patch": named(
        {
            "files": listed(
                named({"path": TEXT, "action": TEXT, "added": WHOLE, "removed": WHOLE, "patch": TEXT})
            ),
            "left_out": listed(named({"path": TEXT, "why": TEXT})),
            "gaps": listed(ANYTHING),
        }
    ),
    "FileDiff": named(
        {
            "path": TEXT,
            "from_turn": maybe(WHOLE),
            "to_turn": maybe(WHOLE),
            "is_text": TRUTH,
            "diff": ref("Diff"),
        }
    ),
    "Place": named({"at": TEXT, "turn": WHOLE, "item": WHOLE, "agent": maybe(TEXT)}),
    "Blame": named(
        {
            "path": TEXT,
            "file": TEXT,
            "of": {"enum": ["disk", "sessions"]},
            "why": maybe(TEXT),
            "text": listed(TEXT),
            "lines": listed(
                maybe(
                    named(
                        {
                            "n": WHOLE,
                            "text": TEXT,
                            "session": TEXT,
                            "turn": WHOLE,
                            "prompt": maybe(TEXT),
                            "uuid": maybe(TEXT),
                            "time": maybe(TEXT),
                            "agent_id": maybe(TEXT),
                        }
                    )
                )
            ),
            "last": maybe(named({"session": TEXT, "turn": WHOLE, "time": maybe(TEXT)})),
            "keys": {"type": "object", "additionalProperties": maybe(TEXT)},
            "notes": listed(TEXT),
        }
    ),
    "Files": named(
        {
            "files": listed(
                named(
                    {
                        "path": TEXT,
                        "changes": WHOLE,
                        "sessions": WHOLE,
                        "added": maybe(WHOLE),
                        "removed": maybe(WHOLE),
                        "changed": maybe(TEXT),
                    }
                )
            ),
            **_PAGE,
            "total": WHOLE,
            "notes": listed(TEXT),
        }
    ),
    "FileHistory": named(
        {
            "path": TEXT,
            "changes": listed(
                named({"session": maybe(TEXT), "turn": maybe(WHOLE), "action": TEXT, "time": maybe(TEXT)})
            ),
            "notes": listed(TEXT),
        }
    ),
    "Search": named(
        {
            "query": TEXT,
            "total": WHOLE,
            "hits": listed(_HIT),
            "sessions": WHOLE,
            "searched": WHOLE,
            "elapsed_ms": WHOLE,
            "suggestions": listed(TEXT),
            "notes": listed(TEXT),
            "partial": TRUTH,
        },
        optional={
            "groups": listed(
                named(
                    {
                        "key": maybe(TEXT),
                        "session": TEXT,
                        "title": maybe(TEXT),
                        "project": maybe(TEXT),
                        "hits": listed(_HIT),
                        "count": WHOLE,
                        "more": WHOLE,
                    }
                )
            ),
            "facets": named(dict.fromkeys(("project", "tool", "field", "model"), _COUNTED)),
            "grouped_all": TRUTH,
            "counted": WHOLE,
            "counted_all": TRUTH,
        },
    ),
    "Usage": named(
        {
            "by": TEXT,
            "rows": listed(
                named(
                    {"key": TEXT, "models": listed(TEXT), **_SUM},
                    optional={
                        "by_model": listed(named({"model": TEXT, **_SUM})),
                        "session_key": maybe(TEXT),
                    },
                )
            ),
            "rows_total": WHOLE,
            "cache_hit_rate": maybe(AMOUNT),
            "total": named(_SUM),
            "prices": named({"source": TEXT, "date": TEXT}),
            "unpriced_models": listed(TEXT),
            "tz": TEXT,
            "files": WHOLE,
        }
    ),
    "Doctor": named(
        {
            "files": WHOLE,
            "sessions": WHOLE,
            "agents": WHOLE,
            "empty": WHOLE,
            "unreadable": WHOLE,
            "patients": listed(
                named(
                    {
                        "key": maybe(TEXT),
                        "id": TEXT,
                        "resumable": TRUTH,
                        "problems": listed(named({"code": TEXT, "count": WHOLE})),
                        "needs": maybe(TEXT),
                    }
                )
            ),
            "deleted_next": listed(named({"id": TEXT, "after": maybe(TEXT), "days_left": AMOUNT})),
            "interrupted_edits": listed(TEXT),
        }
    ),
    "Index": named(
        {
            "state": {"enum": ["off", "waiting", "building", "ready", "failed"]},
            "work": maybe(TEXT),
            "files": WHOLE,
            "files_total": WHOLE,
            "bytes": WHOLE,
            "bytes_total": WHOLE,
            "note": maybe(TEXT),
            "read_only": TRUTH,
            "version": TEXT,
        }
    ),
    "Edit": named(
        {
            "source": named({"id": TEXT, "path": TEXT}),
            "result": maybe(named({"id": TEXT, "path": TEXT})),
            "kept": WHOLE,
            "patched": WHOLE,
            "dropped": WHOLE,
            "added": WHOLE,
            "steps": listed(named({"line": maybe(WHOLE), "action": TEXT, "reason": TEXT})),
            "bytes_before": WHOLE,
            "bytes_after": WHOLE,
            "context_tokens_before": WHOLE,
            "context_tokens_after": WHOLE,
            "thinking_dropped": WHOLE,
            "journal": maybe(TEXT),
            "refused": listed(TEXT),
            "notes": listed(TEXT),
        },
        optional={"key": maybe(TEXT)},
    ),
    "Undone": named({"id": TEXT, "command": TEXT, "files": listed(TEXT), "trash": listed(TEXT)}),
    "OpenApi": named({"openapi": TEXT, "info": ANYTHING, "paths": ANYTHING}),
}


def components() -> Schema:
    """Return all schemas by name; those of the parts are made from the parts themselves."""
    (flow, _, _), made = msgspec.json.schema_components(
        [parts.Flow, parts.Head, parts.TurnHead], ref_template="#/components/schemas/{name}"
    )
    return {**made, "Flow": flow, **_OWN}
