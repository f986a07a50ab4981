"""Every edit of every recorded session, resumed by the real client through the strict stand-in.

For each the messages that the client posts must be those that `clew context` says of the result, the stand-in
must find nothing to refuse, and what changed against the source's own request must be just what was asked.
That last part is judged here on the posted messages alone; it shares no code with `clew.session`.

    python -m tests.conformance.edits [--clients 2.1.325,…] [--tenth] [--only NAME,…] [--docs]

`--docs` writes the table into docs/conformance.md.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, cast

from clew.session.context import context
from clew.session.session import Session
from tests.conformance.client import MODEL, PROMPT, Client, Sent, install, resume
from tests.conformance.notation import met_reminders, normal, short, without_prompt

CORPUS = Path(__file__).parent.parent / "data" / "corpus"
PAGE = Path(__file__).parent.parent.parent / "docs" / "conformance.md"
_MARK = "<!-- written by python -m tests.conformance.edits --docs -->"
CLIENTS = ("2.1.325", "2.1.150", "2.1.45", "2.0.76")
"""The newest, and one of each era before."""

Messages = list[dict[str, Any]]
Judge = Callable[[Messages, Messages], "str | None"]

_FILLERS = ("No response requested.", "(no content)", "[Tool use interrupted]")
_THINKING = ("thinking", "redacted_thinking")


def blocks(messages: Messages) -> list[tuple[str, dict[str, Any]]]:
    """All blocks in order, each with the role of its message."""
    return [(one["role"], block) for one in messages for block in one["content"]]


def texts(messages: Messages) -> list[tuple[str, str]]:
    """What was said in words, without what the client puts in itself."""
    return [
        (role, block["text"])
        for role, block in blocks(messages)
        if block.get("type") == "text" and block["text"].strip() not in _FILLERS
    ]


def plain(messages: Messages) -> list[tuple[str, dict[str, Any]]]:
    """The blocks without thinking and fillers."""
    return [
        (role, block)
        for role, block in blocks(messages)
        if block.get("type") not in _THINKING and str(block.get("text", "")).strip() not in _FILLERS
    ]


def same(source: Messages, result: Messages) -> str | None:
    """Nothing that is sent has changed."""
    return None if source == result else "what is sent has changed"


def no_thinking(source: Messages, result: Messages) -> str | None:
    """Thinking is gone, and nothing else."""
    if any(block.get("type") in _THINKING for _, block in blocks(result)):
        return "there is thinking left"
    return None if plain(source) == plain(result) else "more than thinking is gone"


def no_calls(source: Messages, result: Messages) -> str | None:
    """No call is left, and every text is."""
    if any(block.get("type") in {"tool_use", "tool_result"} for _, block in blocks(result)):
        return "there are calls left"
    return None if texts(source) == texts(result) else "a text is gone or new"


def no_shell(source: Messages, result: Messages) -> str | None:
    """No call of the shell is left, and all else is."""
    calls = {
        block["id"]
        for _, block in blocks(source)
        if block.get("type") == "tool_use" and block.get("name") == "Bash"
    }
    left = [
        (role, block)
        for role, block in plain(source)
        if block.get("id") not in calls and block.get("tool_use_id") not in calls
    ]
    return None if plain(result) == left else "not just the calls of the shell are gone"


def short_results(source: Messages, result: Messages) -> str | None:
    """The same but for the content of results."""

    def bare(messages: Messages) -> list[tuple[str, dict[str, Any]]]:
        return [
            (role, {key: value for key, value in block.items() if key not in {"content", "is_error"}})
            if block.get("type") == "tool_result"
            else (role, block)
            for role, block in plain(messages)
        ]

    return None if bare(source) == bare(result) else "more than results has changed"


def last_turn(source: Messages, result: Messages) -> str | None:
    """What is sent is the end of what was, from a text of the user's on."""
    return _is_end(plain(result), plain(source))


def last_turn_and_summary(source: Messages, result: Messages) -> str | None:
    """The same, behind what a compaction said of the turns before it."""
    ours, whole = plain(result), plain(source)
    if _is_end(ours, whole) is None:
        return None
    if ours[:1] != whole[:1]:
        return "neither the end of the session nor the summary before it"
    return _is_end(ours[1:], whole)


def last_turn_behind_a_summary(source: Messages, result: Messages) -> str | None:
    """One message, then the end of what was sent before."""
    if source == result:
        return None  # too short to be compressed
    return _is_end(plain(result)[1:], plain(source))


def _is_end(ours: list[tuple[str, dict[str, Any]]], whole: list[tuple[str, dict[str, Any]]]) -> str | None:
    asked = [at for at, (role, block) in enumerate(whole) if role == "user" and block.get("type") == "text"]
    if asked and len(ours) < len(whole) - asked[-1]:
        return "the last turn is not whole"
    if ours and whole[-len(ours) :] != ours:
        return "it is not the end of the session"
    return None


def beginning(source: Messages, result: Messages) -> str | None:
    """What is sent is the beginning of what was."""
    ours, whole = plain(result), plain(source)
    if whole[: len(ours)] == ours:
        return None
    # Where it ends in a call that never came back, the newest client says so itself.
    cut = {
        block.get("tool_use_id")
        for _, block in ours
        if str(block.get("content")).startswith("[Tool call interrupted")
    }
    left = [(role, block) for role, block in ours if not {block.get("id"), block.get("tool_use_id")} & cut]
    if cut and left[-1:] == [("assistant", {"type": "text", "text": "No response requested."})]:
        left.pop()
    is_beginning = bool(cut) and bool(left) and whole[: len(left)] == left
    return None if is_beginning else "it is not the beginning of the session"


def no_images(source: Messages, result: Messages) -> str | None:
    """No picture is left; in the place of each there is a note."""

    def bare(messages: Messages, *, is_source: bool) -> list[object]:
        found: list[object] = []
        for role, block in plain(messages):
            inner: Any = block.get("content")
            parts: list[Any] = [block]
            if block.get("type") == "tool_result" and isinstance(inner, list):
                parts = cast("list[Any]", inner)
            for part in parts:
                is_picture = isinstance(part, dict) and cast("dict[str, Any]", part).get("type") == "image"
                if is_picture and not is_source:
                    return ["a picture"]
                text = cast("dict[str, Any]", part).get("text") if isinstance(part, dict) else None
                # One client sends a word for it.
                is_note = isinstance(text, str) and text.startswith(("[image removed", "[image]"))
                found.append((role, "picture" if is_picture or is_note else cast("object", part)))
        return found

    if bare(source, is_source=True) == bare(result, is_source=False):
        return None
    return "more than pictures has changed"


def more(source: Messages, result: Messages) -> str | None:
    """Everything that was sent still is, but for summaries; there may be more before it."""
    if source == result:
        return None  # it had no compaction
    ours, whole = plain(result), plain(source)
    end = whole[-1:] if whole else []
    return None if ours[-1:] == end and len(ours) >= len(whole) - 1 else "something is gone"


def repaired(source: Messages, result: Messages) -> str | None:
    """Every text that was sent still is, in its order."""
    left = iter(texts(result))
    return None if all(one in left for one in texts(source)) else "a text is gone"


class Edit(NamedTuple):
    """One way to edit a session."""

    name: str
    argv: tuple[str, ...]
    """After `clew`; `{S}` stands for the session."""

    judge: Judge
    then: tuple[str, ...] = ()
    """A second command; `{0}`, `{1}` stand for what the first one made."""

    is_new: bool = True
    """Whether a new session is made, so that everything there stays as it was."""

    sees_compacted: bool = True
    """Whether what was asked can be told from what is sent of a session that was compacted."""

    of_compacted: Judge | None = None
    """Judges in its place where the session was compacted."""


EDITS: tuple[Edit, ...] = (
    Edit("clone", ("clone", "{S}"), same),
    Edit("strip --bulk", ("strip", "{S}", "--bulk"), same),
    Edit("strip --thinking", ("strip", "{S}", "--thinking"), no_thinking),
    Edit("strip --images drop", ("strip", "{S}", "--images", "drop"), no_images),
    Edit("trim --tools all", ("trim", "{S}", "--tools", "all"), no_calls),
    Edit("trim --tools Bash", ("trim", "{S}", "--tools", "Bash"), no_shell),
    Edit("trim --results-only", ("trim", "{S}", "--results-only"), short_results),
    Edit(
        "trim --keep-turns 1",
        ("trim", "{S}", "--keep-turns", "1"),
        last_turn,
        of_compacted=last_turn_and_summary,
    ),
    Edit("compress --keep-turns 1", ("compress", "{S}", "--keep-turns", "1"), last_turn_behind_a_summary),
    Edit("uncompact", ("uncompact", "{S}", "--all"), more),
    Edit("repair", ("repair", "{S}"), repaired),
    Edit("redact", ("redact", "{S}"), same),
    Edit("split", ("split", "{S}", "--turn", "2"), beginning, sees_compacted=False),
    # The second part keeps thinking that would be refused there: together with the first it is not.
    Edit("merge", ("split", "{S}", "--turn", "2", "--keep-thinking"), same, then=("merge", "{0}", "{1}")),
    Edit("mv", ("mv", "{S}", "/somewhere/else"), same, is_new=False),
    Edit("rename", ("rename", "{S}", "the lighthouse"), same, is_new=False),
    Edit("tag", ("tag", "{S}", "kept"), same, is_new=False),
    Edit("trim --in-place", ("trim", "{S}", "--results-only", "--in-place"), short_results, is_new=False),
)


class Verdict(NamedTuple):
    """What came of one edit of one session in one client."""

    session: str
    edit: str
    client: str
    problem: str | None
    detail: str = ""
    was_changed: bool = True


def sessions(*, tenth: bool) -> list[Path]:
    """The recorded sessions that can be resumed; for the quick run every tenth."""
    found = sorted(
        path for path in CORPUS.glob("*/*/projects/*/*.jsonl") if not path.name.startswith("agent-")
    )
    found = [
        path for path in found if context(Session.read(path.read_bytes(), name=path.stem)).refused is None
    ]
    return found[::10] if tenth else found


def prepared(path: Path) -> bytes:
    """Return a recorded session as the client wrote it.

    When the recordings were scrubbed the client's reminders lost the marks by which they are known.
    """
    lines: list[bytes] = []
    for line in path.read_bytes().splitlines(keepends=True):
        if b'"rendered":' in line:
            record = json.loads(line)
            for one in record.get("rendered") or ():
                if isinstance(one.get("content"), str) and "<system-reminder>" not in one["content"]:
                    one["content"] = f"<system-reminder>\n{one['content']}\n</system-reminder>"
            line = json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
        lines.append(line)
    return b"".join(lines)


def version_of(path: Path) -> tuple[int, ...]:
    """The version of the client that wrote a recorded session."""
    return number(path.parts[-5])


def name_of(path: Path) -> str:
    """What a recorded session is called here: version, scenario and the beginning of its id."""
    return "/".join(path.parts[-5:-3]) + "/" + path.stem[:8]


def number(version: str) -> tuple[int, ...]:
    """A version as something that can be compared."""
    return tuple(map(int, version.split(".")))


def edited(path: Path, edit: Edit) -> bytes:
    """Edit a copy of a session by the command line and return the new file; all else must stay as it was."""
    with tempfile.TemporaryDirectory(prefix="clew-edit-") as folder:
        root = Path(folder) / "config"
        scenario = path.parents[2]
        shutil.copytree(scenario, root)
        source = root / path.relative_to(scenario)
        source.write_bytes(prepared(path))
        os.utime(source, (1, 1))  # else it is taken to be live
        before = tree(root)
        home = Path(folder) / "home"
        home.mkdir()
        made = called(edit, edit.argv, root, home, {"{S}": str(source)})
        if made and edit.then:
            names = {f"{{{number}}}": path for number, path in enumerate(made)}
            made = called(edit, edit.then, root, home, names)
        after = tree(root)
        changed = [name for name, digest in before.items() if after.get(name) != digest]
        if changed and edit.is_new:
            raise AssertionError(f"{edit.name} touched {changed[:3]}")
        return Path(made[0]).read_bytes() if made else source.read_bytes()


def called(edit: Edit, argv: Sequence[str], root: Path, home: Path, names: Mapping[str, str]) -> list[str]:
    """Call clew; return the files of the sessions that it made, none if there was nothing to change."""
    done = subprocess.run(
        [sys.executable, "-m", "clew", *(names.get(one, one) for one in argv), "--json", "--root", str(root)],
        env={"HOME": str(home), "PATH": os.environ.get("PATH", ""), "CLAUDE_CONFIG_DIR": str(root)},
        capture_output=True,
        check=False,
    )
    if done.returncode == 1 and argv[0] == "split" and b"usage" in done.stderr:
        return []  # it has no second turn
    if done.returncode not in {0, 3}:
        raise AssertionError(f"{edit.name}: exit {done.returncode}: {done.stderr.decode()[-400:]}")
    told: Any = json.loads(done.stdout)
    results = cast("list[dict[str, Any]]", told if isinstance(told, list) else [told])
    if argv[0] == "mv":
        name = Path(names["{S}"]).name
        return [one["to"] for one in results[0]["moved"] if Path(one["to"]).name == name]
    return [one["result"]["path"] for one in results if one["result"] is not None]


def tree(root: Path) -> dict[str, str]:
    """Every file below a folder, with its digest."""
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in root.rglob("*")
        if path.is_file()
    }


class Runs:
    """The real client, asked once about the same bytes. What it sent for the source is what it trusts."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, bytes], Sent] = {}

    def of(self, client: Client, data: bytes, *, source: Sent | None = None) -> Sent:
        """Let the client resume a file."""
        key = client.version, hashlib.sha256(data).digest()
        if key not in self._known:
            trusted = () if source is None or source.messages is None else source.messages
            self._known[key] = resume(client, data, strict=True, trusted=trusted)
        return self._known[key]


def judged(client: Client, path: Path, edit: Edit, data: bytes, runs: Runs) -> Verdict:
    """Let the client resume source and result, and judge what it sent."""

    def verdict(problem: str | None, detail: str = "") -> Verdict:
        return Verdict(name_of(path), edit.name, client.version, problem, detail, data != old)

    old = prepared(path)
    source = runs.of(client, old)
    if source.messages is None:
        return verdict(None, "the source is not resumed either")
    result = runs.of(client, data, source=source)
    if result.messages is None:
        return verdict("not resumed", result.refused or "")
    if result.refusals and not source.refusals:
        return verdict("the API would refuse it", result.refusals[0])
    said = context(Session.read(data), client=client.version, model=MODEL)
    sent = without_prompt(result.messages, PROMPT)
    cut = met_reminders(result.messages) | met_reminders(source.messages)
    if normal(said.messages, cut=cut) != normal(sent, cut=cut):
        lines = [f"- {one}" for one in short(sent)] + [f"+ {one}" for one in short(normal(said.messages))]
        return verdict("not what clew context says", "\n".join(lines))
    is_compacted = b'"compact_boundary"' in old
    if not edit.sees_compacted and is_compacted:
        return verdict(None)
    judge = edit.of_compacted if edit.of_compacted is not None and is_compacted else edit.judge
    problem = judge(normal(without_prompt(source.messages, PROMPT), cut=cut), normal(sent, cut=cut))
    return verdict(problem, "" if problem is None else "\n".join([*short(sent)]))


def measure(
    paths: Sequence[Path],
    *,
    clients: Sequence[str] = CLIENTS,
    edits: Sequence[Edit] = EDITS,
    workers: int = 2,
    told: Callable[[Verdict], None] | None = None,
) -> list[Verdict]:
    """Judge every edit of every session in every client."""
    installed = [install(version) for version in clients]

    def one(path: Path) -> list[Verdict]:
        runs = Runs()
        found: list[Verdict] = []
        for edit in edits:
            data, failure = None, ""
            try:
                data = edited(path, edit)
            except AssertionError as error:
                failure = str(error)
            for client in installed:
                if version_of(path) > number(client.version):
                    continue  # nobody opens a session in a client older than the one that wrote it
                if data is None:
                    found.append(Verdict(name_of(path), edit.name, client.version, "not done", failure))
                else:
                    found.append(judged(client, path, edit, data, runs))
                if told is not None:
                    told(found[-1])
        return found

    with ThreadPoolExecutor(workers) as pool:
        return [verdict for found in pool.map(one, paths) for verdict in found]


def table(verdicts: Sequence[Verdict]) -> list[str]:
    """Write how many of each are as they should be, edits by clients, in Markdown."""
    clients = list(dict.fromkeys(one.client for one in verdicts))
    good = Counter((one.edit, one.client) for one in verdicts if one.problem is None)
    total = Counter((one.edit, one.client) for one in verdicts)
    lines = [f"| Edit | {' | '.join(clients)} |", "|---" * (len(clients) + 1) + "|"]
    for edit in dict.fromkeys(one.edit for one in verdicts):
        cells = [f"{good[edit, client]} of {total[edit, client]}" for client in clients]
        lines.append(f"| `{edit}` | {' | '.join(cells)} |")
    return lines


def write(lines: Sequence[str]) -> None:
    """Put the table into its page, in the place of the one that is there."""
    text = PAGE.read_text(encoding="utf-8")
    before, mark, rest = text.partition(_MARK)
    _, heading, after = rest.partition("\n## ")
    if not mark:
        raise ValueError(f"{PAGE.name} has no place for the table")
    PAGE.write_text(before + mark + "\n\n" + "\n".join(lines) + "\n" + heading + after, encoding="utf-8")


def main() -> int:
    """Measure, print the table and every problem."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.edits", description=__doc__)
    parser.add_argument("--clients", default=",".join(CLIENTS))
    parser.add_argument("--only", default="")
    parser.add_argument("--tenth", action="store_true")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--docs", action="store_true")
    options = parser.parse_args()
    chosen = [edit for edit in EDITS if not options.only or edit.name in options.only.split(",")]

    def told(verdict: Verdict) -> None:
        if verdict.problem is not None:
            print(f"{verdict.session} {verdict.edit} {verdict.client}: {verdict.problem}\n{verdict.detail}")

    paths = sessions(tenth=options.tenth)[: options.limit]
    verdicts = measure(paths, clients=options.clients.split(","), edits=chosen, told=told)
    print("\n".join(table(verdicts)))
    if options.docs:
        write(table(verdicts))
    bad = [one for one in verdicts if one.problem is not None]
    print(f"{len(verdicts) - len(bad)} of {len(verdicts)}")
    return 1 if bad else 0


def problems(verdicts: Sequence[Verdict]) -> Mapping[str, list[Verdict]]:
    """The bad ones by client."""
    found: dict[str, list[Verdict]] = {}
    for one in verdicts:
        if one.problem is not None:
            found.setdefault(one.client, []).append(one)
    return found


if __name__ == "__main__":
    sys.exit(main())
