"""Read: a file, or some of its lines, with their numbers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from clew.format import fields, results
from clew.view.languages import language_of
from clew.view.parts import Code, Image, Section, Text
from clew.view.texts import line_count, lines_word, one_line, relative
from clew.view.tools import plainly
from clew.view.tools.display import Asked, Shown

if TYPE_CHECKING:
    from clew.view.parts import Part

_NUMBERED: Final = re.compile(r" {0,10}(\d{1,9})(?:→|\t)(.*)")


def show(asked: Asked) -> Shown:
    """Show which lines of which file were read."""
    path = fields.string(asked.given, "file_path")
    argument = relative(path, asked.folder)
    from_line, most = fields.integer(asked.given, "offset"), fields.integer(asked.given, "limit")
    if from_line is not None or most is not None:
        start = max(1, from_line or 1)
        argument += f":{start}" + (f"-{start + most - 1}" if most and most > 0 else "-")
    given = plainly.given(asked, but={"file_path", "offset", "limit"})
    if not asked.is_done:
        return Shown(one_line(argument), plainly.outcome(asked), given, plainly.told(asked))
    return Shown(one_line(argument), _outcome(asked), given, _result(asked, path))


def _outcome(asked: Asked) -> str:
    found = asked.structured
    if not isinstance(found, results.Read):
        text = numbered(asked.said)
        return plainly.outcome(asked) if text is None else lines_word(text[1])
    if found.type == "image":
        pixels = found.size
        return f"image {pixels[0]} × {pixels[1]}" if pixels else "image"
    if found.num_lines is not None:
        of = f" of {found.total_lines:,}" if (found.total_lines or 0) > found.num_lines else ""
        return f"{found.num_lines:,}{of} line{'s' if of or found.num_lines != 1 else ''}"
    return lines_word(found.content) if found.content else one_line(found.type or "", longest=40)


def _result(asked: Asked, path: str | None) -> tuple[Part, ...]:
    name = relative(path, asked.folder) or None
    language = language_of(path)
    found = asked.structured
    told = numbered(asked.said)
    if isinstance(found, results.Read) and found.content is not None and found.type in {"text", None}:
        total = found.total_lines
        is_part = total is not None and total > (found.num_lines or line_count(found.content))
        code = Code(
            found.content,
            language=language,
            path=name,
            first_line=found.start_line or 1,
            total_lines=total if is_part else None,
        )
        after = _after(told[2]) if told is not None else plainly.rest(asked, found.content)
        return (code, *after)
    if told is not None:
        start, text, after = told
        return (Code(text, language=language, path=name, first_line=start), *_after(after))
    shown = plainly.told(asked)
    if isinstance(found, results.Read) and found.base64 and not any(isinstance(one, Image) for one in shown):
        return (*shown, _kept_picture(found))
    return shown


def _after(text: str) -> tuple[Part, ...]:
    """Return what the client added behind the file for the model."""
    return (Section(plainly.TOLD, (Text(text.strip("\n"), is_muted=True),)),) if text.strip() else ()


def _kept_picture(found: results.Read) -> Image:
    size = found.size
    data = found.base64 or ""
    return Image(
        one_line(found.media_type or "image/*", longest=100),
        width=size[0] if size else None,
        height=size[1] if size else None,
        size=len(data) * 3 // 4 - data[-2:].count("="),
        data=data,
    )


def numbered(text: str) -> tuple[int, str, str] | None:
    """Take a text with numbered lines apart: the first number, the lines without theirs, what follows."""
    lines = text.split("\n")
    kept: list[str] = []
    start = 0
    for at, line in enumerate(lines):
        found = _NUMBERED.fullmatch(line)
        number = int(found[1]) if found else -1
        if found is None or (kept and number != start + len(kept)):
            if not kept:
                return None
            return start, "\n".join(kept), "\n".join(lines[at:])
        if not kept:
            start = number
        kept.append(found[2])
    return (start, "\n".join(kept), "") if kept else None
