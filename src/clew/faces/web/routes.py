"""Everything that can be asked, in one table: the app and the OpenAPI document are both made of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, get_args

from clew.actions.hit_groups import SHOWN
from clew.actions.searching import FIELDS, LIMIT
from clew.actions.session_filters import Sort
from clew.actions.window import POINTS
from clew.faces.web.api import contexts, edits, exports, files, searching, sessions, trees, turns, whole
from clew.faces.web.asking import Asked, Field, flag, number, text
from clew.session.accounts import By

if TYPE_CHECKING:
    from clew.faces.web.answers import Answer
    from clew.faces.web.site import Site

Handler = Callable[["Site", Asked], "Answer"]
Lane = Literal["quick", "list", "search", "slow", "edit"]

JSON: Final = "application/json"
EVENTS: Final = "text/event-stream"
CSV: Final = "text/csv"


@dataclass(frozen=True, slots=True)
class Route:
    """One thing that can be asked."""

    method: Literal["GET", "POST"]
    path: str
    name: str
    help: str
    shape: str
    """The name of the schema of its answer; empty where that is no JSON."""

    handler: Handler | None = None
    """None for what the app does itself: the events, and the document of the routes."""

    fields: Sequence[Field] = ()
    lane: Lane = "quick"
    media_type: str = JSON


def _needed(field: Field) -> Field:
    return replace(field, is_required=True)


_MOST: Final = 1_000_000_000
_FROM: Final = number("from", "how many are left out at the beginning", most=_MOST, default=0)
_BRANCH: Final = text("branch", "the number of a branch in the tree, or the start of its last line's uuid")
_AGENT: Final = text("agent", "the id of a sub-agent, of whatever depth")
_SINCE: Final = text("since", "a day, a moment, or how long ago: 2h, 3d, 1w")
_UNTIL: Final = text("until", "a day, a moment, or how long ago")
_PROJECT: Final = text("project", "a project: its path, or a part of it")
_TURN: Final = number("turn", "the number of a turn", most=_MOST)


def _limit(most: int, default: int) -> Field:
    return number("limit", "how many at most", least=1, most=most, default=default)


_ZONE: Final = text("tz", "the time zone whose days are meant")
_USAGE: Final = (
    text("by", "what is added up", choices=get_args(By), default="day"),
    text("and", "what each row is divided by", choices=("model",)),
    _SINCE,
    _UNTIL,
    _ZONE,
)
_EDIT: Final = (
    _needed(text("session", "the key of the session")),
    flag("dry_run", "only say what would change", default=True),
    flag("in_place", "change the session itself; a backup is kept for undo"),
    flag("force", "do it even if something would be lost that was not asked for"),
    flag("keep_thinking", "keep thinking that comes after a change"),
)

ROUTES: Final = (
    Route(
        "GET",
        "/api/sessions",
        "sessions",
        "The sessions, those that are live first; the totals are of all that fit, not of the page alone.",
        "Sessions",
        sessions.sessions,
        (
            _PROJECT,
            text("branch", "the git branch"),
            text("model", "a part of a model's name"),
            text("tool", "a tool that was called"),
            text("title", "a part of the title"),
            _SINCE,
            _UNTIL,
            _ZONE,
            flag("live", "only those that are being written"),
            flag("failed", "only those with calls that failed"),
            flag("damaged", "only those with damage in the file"),
            flag("all", "the files without a conversation too"),
            flag("facets", "count the projects, branches and models too"),
            text("sort", "the order", choices=get_args(Sort), default="changed"),
            flag("reverse", "the other way round"),
            _FROM,
            _limit(1_000, 100),
        ),
        "list",
    ),
    Route(
        "GET",
        "/api/sessions/{id}",
        "session",
        "A session, or a sub-agent of it, in a few facts, and its turns.",
        "Session",
        sessions.session,
        (_AGENT, _BRANCH, _FROM, _limit(10_000, 2_000)),
    ),
    Route(
        "GET",
        "/api/sessions/{id}/turns/{n}",
        "turn",
        "What was said and done in a turn, a page of parts at a time. A page may end before its limit: "
        "`next` says where to go on.",
        "Turn",
        turns.turn,
        (_AGENT, _BRANCH, _FROM, _limit(1_000, 200)),
    ),
    Route(
        "GET",
        "/api/sessions/{id}/context",
        "context",
        "What the model is sent when the session is resumed, and what is left out.",
        "Context",
        contexts.context,
        (
            text("at", "the uuid of the line to end in"),
            text("client", "a version of the client"),
            text("model", "the model it is resumed with"),
            flag("messages", "the messages themselves too", default=True),
        ),
        "slow",
    ),
    Route(
        "GET",
        "/api/sessions/{id}/window",
        "window",
        "How the context window filled: what the last request of each turn held, measured, and of what kind, "
        "estimated; the compactions; and a table of the last request.",
        "Window",
        contexts.window,
        (_limit(10_000, POINTS),),
        "slow",
    ),
    Route(
        "GET",
        "/api/sessions/{id}/tree",
        "tree",
        "The ends of a session, its branches, compactions and sub-agents.",
        "Tree",
        trees.tree,
        (),
        "slow",
    ),
    Route(
        "GET",
        "/api/sessions/{id}/check",
        "check",
        "Every problem of a session, and whether it can be resumed.",
        "Check",
        trees.check,
        (),
        "slow",
    ),
    Route(
        "GET",
        "/api/sessions/{id}/files",
        "session_files",
        "The files that a session changed, with every version of each.",
        "SessionFiles",
        files.session_files,
        (),
        "slow",
    ),
    Route(
        "GET",
        "/api/sessions/{id}/file",
        "session_file",
        "A file as it was after a turn, as the session tells it.",
        "FileVersion",
        files.session_file,
        (_needed(text("path", "a path that …/files lists")), _TURN),
        "slow",
    ),
    Route(
        "GET",
        "/api/sessions/{id}/patch",
        "session_patch",
        "What a session, or a turn of it, changed, as a patch for each file.",
        "Patch",
        files.session_patch,
        (_TURN,),
        "slow",
    ),
    Route(
        "GET",
        "/api/sessions/{id}/diff",
        "session_diff",
        "What changed in a file between two turns; without `from_turn` since before the session, without "
        "`to_turn` until its end.",
        "FileDiff",
        files.session_diff,
        (
            _needed(text("path", "a path that …/files lists")),
            number("from_turn", "after this turn; 0 is before the first", most=_MOST),
            number("to_turn", "after this turn", most=_MOST),
        ),
        "slow",
    ),
    Route(
        "GET",
        "/api/sessions/{id}/place",
        "place",
        "Where the reader shows a line or a call: the address of its item, `t3.7`, or of its turn, `t3`.",
        "Place",
        searching.place,
        (
            number("line", "the number of a line in the file", least=1, most=_MOST),
            text("uuid", "the uuid of a line"),
            text("call", "the id of a call"),
            _AGENT,
            text("field", "what of the line is meant", choices=FIELDS),
        ),
    ),
    Route(
        "GET",
        "/api/search",
        "search",
        "Full text, as clew search. A pattern that takes too long for one text is an error.",
        "Search",
        searching.find,
        (
            _needed(text("q", "what is looked for")),
            text("mode", "how it is meant", choices=("words", "literal", "regex"), default="words"),
            text("in", f"fields, with commas: {', '.join(FIELDS)}"),
            text("role", "whose line it is", choices=("user", "assistant")),
            text("tool", "the name of a tool; * stands for anything"),
            _PROJECT,
            text("session", "the key of a session"),
            _SINCE,
            _UNTIL,
            text("model", "a part of a model's name"),
            text("branch", "the git branch"),
            flag("errors", "only what failed"),
            flag("rank", "the best first; words only"),
            flag("ignore_case", "for a literal or a pattern"),
            number("context", "lines before and after each hit", most=20, default=0),
            flag("facets", "count the hits by project, tool, field and model too"),
            flag("items", "say the very item of each hit, where not too much has to be read for it"),
            text("group", "put the hits together; then `limit` is of sessions", choices=("session",)),
            number("shown", "hits of each session, if they are put together", most=100, default=SHOWN),
            flag(
                "quick", "the first few at once, of the files and the index as they were when last looked at"
            ),
            _limit(LIMIT, 100),
        ),
        "search",
    ),
    Route(
        "GET",
        "/api/usage",
        "usage",
        "Tokens and money. With `and=model` each row is told by model too, for stacked bars.",
        "Usage",
        whole.spent,
        (
            *_USAGE,
            number("limit", "how many rows at most; all without", least=1, most=_MOST),
        ),
        "slow",
    ),
    Route(
        "GET",
        "/api/usage.csv",
        "usage_csv",
        "The same as comma-separated values, as a download.",
        "",
        whole.spent_csv,
        _USAGE,
        "slow",
        CSV,
    ),
    Route(
        "GET",
        "/api/doctor",
        "doctor",
        "What is wrong with the sessions, worst first, and what the client deletes next.",
        "Doctor",
        whole.doctor,
        (),
        "slow",
    ),
    Route(
        "GET",
        "/api/files",
        "files",
        "The files that all sessions changed, the one changed last first.",
        "Files",
        files.files,
        (text("part", "a part of the path"), _FROM, _limit(1_000, 200)),
        "slow",
    ),
    Route(
        "GET",
        "/api/files/history",
        "file_history",
        "Every change of one file, in all sessions.",
        "FileHistory",
        files.file_history,
        (_needed(text("path", "a path that /api/files lists")),),
        "slow",
    ),
    Route(
        "GET",
        "/api/blame",
        "blame",
        "Who wrote each line of a file: of the file on disk if it lies in a project that changed it, else of "
        "the last version that sessions tell; `of` says which, `why` why not the other.",
        "Blame",
        files.blame,
        (_needed(text("path", "a path that /api/files lists")),),
        "slow",
    ),
    Route("GET", "/api/index", "index", "How far the index is.", "Index", whole.index),
    Route(
        "GET",
        "/api/events",
        "events",
        "What happens to sessions, as Server-Sent Events: grown, changed, gone, and refresh where a page "
        "that comes back has to read everything anew.",
        "",
        media_type=EVENTS,
    ),
    Route(
        "GET",
        "/api/export/{id}",
        "export",
        "A session in another format, as a download.",
        "",
        exports.export,
        (
            text("to", "the format", choices=exports.FORMATS, default="html"),
            text("redact", "take secrets out; without: html and md", choices=("yes", "no")),
            number("first", "the first turn", most=_MOST),
            number("last", "the last turn", most=_MOST),
            _BRANCH,
            flag("thinking", "with what the model thought", default=True),
            flag("agents", "with what sub-agents did", default=True),
        ),
        "slow",
        "*/*",
    ),
    Route("GET", "/api/openapi.json", "openapi", "This document.", "OpenApi"),
    Route(
        "POST",
        "/api/edits/repair",
        "repair",
        "Mend what keeps a session from being resumed.",
        "Edit",
        edits.repair,
        (*_EDIT, flag("drop_empty_thinking", "drop thinking without words too")),
        "edit",
    ),
    Route(
        "POST",
        "/api/edits/trim",
        "trim",
        "Take calls with their results, or whole turns, out of what is sent.",
        "Edit",
        edits.trim,
        (
            *_EDIT,
            replace(text("tools", "the names of tools, or all"), is_list=True),
            flag("results_only", "only the results"),
            number("older_than", "only before the last so many turns", most=_MOST),
            number("larger_than", "only what has more tokens", most=_MOST),
            number("keep_turns", "whole turns before the last so many", least=1, most=_MOST),
        ),
        "edit",
    ),
    Route(
        "POST",
        "/api/edits/redact",
        "redact",
        "Take passwords, keys and tokens out of a session and what belongs to it.",
        "Edit",
        edits.redact,
        (*_EDIT, replace(text("patterns", "what else is a secret"), is_list=True)),
        "edit",
    ),
    Route(
        "POST",
        "/api/undo",
        "undo",
        "Take back an edit, the last one if none is named.",
        "Undone",
        edits.undo,
        (
            text("id", "the `journal` of an edit's answer"),
            flag("force", "even if a file has changed since; that goes to the trash"),
        ),
        "edit",
    ),
)
