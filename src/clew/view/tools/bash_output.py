"""BashOutput and TaskOutput: what a command or an agent in the background has done so far."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from clew.format import fields
from clew.format.fields import as_mapping
from clew.view.parts import Code
from clew.view.texts import one_line
from clew.view.tools import plainly
from clew.view.tools.display import Asked, Shown

if TYPE_CHECKING:
    from clew.view.parts import Part

_STATUS: Final = re.compile(r"<status>([^<]{1,40})</status>")
_CODE: Final = re.compile(r"<exit_code>(-?\d{1,5})</exit_code>")


def show(asked: Asked) -> Shown:
    """Show how far it is, and what it wrote since."""
    name = next(
        (one for key in ("bash_id", "task_id", "shell_id") if (one := fields.string(asked.given, key))), ""
    )
    kept = as_mapping(asked.kept) or {}
    command = fields.string(kept, "command")
    argument = one_line(f"{name}  {command}" if command else name) or plainly.first(asked)
    given = plainly.given(asked, but={"bash_id", "task_id", "shell_id"})
    if not asked.is_done:
        return Shown(argument, plainly.outcome(asked), given, plainly.told(asked))
    return Shown(argument, _outcome(asked), given, _result(asked))


def _outcome(asked: Asked) -> str:
    said, kept = asked.said[:4096], as_mapping(asked.kept) or {}
    status = fields.string(kept, "status") or (found[1] if (found := _STATUS.search(said)) else None)
    number = fields.integer(kept, "exitCode")
    code = str(number) if number is not None else found[1] if (found := _CODE.search(said)) else None
    facts = [one_line(status, longest=40)] if status else []
    if code is not None:
        facts.append(f"exit {code}")
    return ", ".join(facts) or plainly.outcome(asked)


def _result(asked: Asked) -> tuple[Part, ...]:
    kept = as_mapping(asked.kept) or {}
    made: list[Part] = []
    for key, stream in (("stdout", "out"), ("stderr", "err")):
        text = fields.string(kept, key)
        if text and text.strip():
            made.append(Code(text, stream="out" if stream == "out" else "err"))
    return (*made, *plainly.rest(asked)) if made else plainly.told(asked)
