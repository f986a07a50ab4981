"""Write what became of a file as a patch that `git apply` takes: unified, by bytes, with quoted names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.session.line_diffs import changed, cut_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clew.session.line_diffs import Stretch

_AROUND: Final = 3
_NO_END: Final = b"\n\\ No newline at end of file\n"
_NAMED: Final = {
    0x07: b"\\a",
    0x08: b"\\b",
    0x09: b"\\t",
    0x0A: b"\\n",
    0x0B: b"\\v",
    0x0C: b"\\f",
    0x0D: b"\\r",
    0x22: b'\\"',
    0x5C: b"\\\\",
}


def patch(path: str, before: bytes | None, after: bytes | None) -> bytes:
    """Return the patch of one file; None stands for no file. Nothing for what did not change."""
    if before == after:
        return b""
    old, new = quoted(f"a/{path}"), quoted(f"b/{path}")
    head = b"diff --git " + old + b" " + new + b"\n"
    if before is None:
        head += b"new file mode 100644\n"
    elif after is None:
        head += b"deleted file mode 100644\n"
    body = b"".join(_hunks(cut_bytes(before or b""), cut_bytes(after or b"")))
    if not body:
        return head
    # A tab ends a name with spaces in it, as git has it.
    tail = b"\t\n" if " " in path else b"\n"
    head += b"--- " + (b"/dev/null\n" if before is None else old + tail)
    head += b"+++ " + (b"/dev/null\n" if after is None else new + tail)
    return head + body


def quoted(name: str) -> bytes:
    """Write a name as git does: in quotes, with escapes, where it holds more than plain characters."""
    data = name.encode("utf-8", "surrogateescape" if not _has_halves(name) else "replace")
    if all(0x20 <= byte < 0x7F and byte not in (0x22, 0x5C) for byte in data):
        return data
    out = b"".join(
        _NAMED.get(byte) or (bytes((byte,)) if 0x20 <= byte < 0x7F else b"\\%03o" % byte) for byte in data
    )
    return b'"' + out + b'"'


def _has_halves(name: str) -> bool:
    return any("\ud800" <= char <= "\udfff" and not "\udc80" <= char <= "\udcff" for char in name)


def _hunks(before: Sequence[bytes], after: Sequence[bytes]) -> Iterator[bytes]:
    group: list[Stretch] = []
    for stretch in changed(before, after):
        if group and stretch.old.start - group[-1].old.stop > 2 * _AROUND:
            yield _hunk(group, before, after)
            group = []
        group.append(stretch)
    if group:
        yield _hunk(group, before, after)


def _hunk(group: Sequence[Stretch], before: Sequence[bytes], after: Sequence[bytes]) -> bytes:
    first, last = group[0], group[-1]
    lead = min(_AROUND, first.old.start)
    start, begin = first.old.start - lead, first.new.start - lead
    end = min(len(before), last.old.stop + _AROUND)
    out: list[bytes] = []
    at = start
    for stretch in group:
        out += [b" " + line for line in before[at : stretch.old.start]]
        out += [b"-" + before[row] for row in stretch.old]
        out += [b"+" + after[row] for row in stretch.new]
        at = stretch.old.stop
    out += [b" " + line for line in before[at:end]]
    olds, news = end - start, last.new.stop + (end - last.old.stop) - begin
    head = b"@@ -" + _range(start, olds) + b" +" + _range(begin, news) + b" @@\n"
    return head + b"".join(line if line.endswith(b"\n") else line + _NO_END for line in out)


def _range(start: int, count: int) -> bytes:
    return b"%d,%d" % (start + 1 if count else start, count)
