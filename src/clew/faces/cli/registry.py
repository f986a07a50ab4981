"""The commands there are: name, group, one line of help. Plain data: `clew --help` needs nothing else."""

from __future__ import annotations

from typing import Final, NamedTuple


class Command(NamedTuple):
    """One command of the command line."""

    name: str
    group: str
    help: str


COMMANDS: Final = (
    Command("ls", "Find", "sessions, newest first"),
    Command("search", "Find", "words, a literal or a pattern in everything that was said and done"),
    Command("find", "Find", "where any id is: uuid, message, request, tool use, agent, session"),
    Command("show", "Read", "read a session in the terminal"),
    Command("watch", "Read", "follow sessions as they are written"),
    Command("web", "Read", "read, search and mend sessions in the browser, on this machine alone"),
    Command("tree", "Read", "branches, compactions and sub-agents of a session"),
    Command("diff", "Read", "two sessions, or two branches of one, side by side"),
    Command("context", "Read", "exactly what the model will be sent when a session is resumed"),
    Command("stats", "Understand", "what a session, or every session, is made of"),
    Command("usage", "Understand", "tokens and money, by day, model, project and more"),
    Command("check", "Understand", "every problem in a session, and whether it can be resumed"),
    Command("doctor", "Understand", "what is wrong with the sessions, and what is deleted next"),
    Command("drift", "Understand", "what the sessions hold that clew does not know"),
    Command("sql", "Understand", "ask the tables a question in SQL"),
    Command("lake", "Understand", "the tables of many developers, in files of any store, built and asked"),
    Command("files", "Files", "the files a session changed, with every version of each"),
    Command("restore", "Files", "a file as it was after a turn"),
    Command("patch", "Files", "what a session or a turn changed, as git apply takes it"),
    Command("blame", "Files", "which session, turn and prompt wrote each line of a file"),
    Command("replay", "Files", "a new git repository with a commit for each turn"),
    Command("clone", "Edit", "a session again under another id, whole or up to a line"),
    Command("repair", "Edit", "mend what keeps a session from being resumed"),
    Command("trim", "Edit", "a smaller context: without tool calls, large results or old turns"),
    Command("strip", "Edit", "without thinking, pictures, or bulk that is never read again"),
    Command("compress", "Edit", "a summary in the place of the older turns"),
    Command("uncompact", "Edit", "the turns before a compaction back again"),
    Command("redact", "Edit", "without passwords, keys and tokens"),
    Command("split", "Edit", "two sessions of one, at a turn"),
    Command("merge", "Edit", "one session of two"),
    Command("rename", "Edit", "give a session a title"),
    Command("tag", "Edit", "tag a session"),
    Command("mv", "Edit", "sessions go where their project went"),
    Command("undo", "Edit", "take back the last edit"),
    Command("journal", "Edit", "the edits that were made, and what is kept to take them back"),
    Command("archive", "Keep", "whole copies outside the client's folder, which deletes after 30 days"),
    Command("export", "Keep", "sessions in other formats: a page, Markdown, JSON, training data, Parquet"),
    Command("import", "Keep", "a session out of a bundle, on whatever machine that was made"),
    Command("hook", "Trace", "have the client tell clew of every turn as it ends"),
    Command("statusline", "Trace", "one line for the bottom of the client"),
    Command("trace", "Trace", "sessions as traces in Langfuse, Phoenix or any OpenTelemetry collector"),
    Command("chat", "Continue", "talk with the model in the terminal, in a new session or an old one"),
    Command("run", "Continue", "ask once, in a new session or in one that is gone on with"),
    Command("fake-api", "Continue", "a stand-in for the Messages API on this machine, to try things on"),
    Command("index", "Start", "what the index holds, and how to build it anew"),
    Command("demo", "Start", "write a small set of sample sessions to try things on"),
)
"""In the order they are listed. Each has its code in `faces.cli.commands`, named with underscores."""


def module_of(name: str) -> str:
    """Return the module that holds a command."""
    module = (
        f"{name}_" if name == "import" else name.replace("-", "_")
    )  # no module can be called by that word
    return f"clew.faces.cli.commands.{module}"
