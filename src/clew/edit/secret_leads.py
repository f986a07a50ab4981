r"""What must come behind a word that only tells of a secret: something that sets it, and a value long enough.

`token is None` and `primary_key` tell of none. This is asked of a line as it is written, so it holds for all
that the line may read as: escapes before the marks, a mark that is an escape itself, a value that goes on in
the next line. What cannot be told counts as a value.
"""

from __future__ import annotations

from typing import Final

KEYED: Final = (
    r"(?<=pi.key|ss.key|th.key|te.key|nt.key|ng.key|on.key|er.key|ce.key|ed.key|ge.key|ok.key|oy.key|se.key"
    r"|pp.key|in.key)"
)
"""How the words end that make a key a secret: `api_key`, `access-key`."""

_ESCAPED: Final = r"(?:[%&]|u[0-9a-f]{4}|x[0-9a-f]{2})"
"""What may stand for a mark, without its backslash."""

# Nothing here is tried twice: whatever a file holds, a word costs no more than the few letters behind it.
_REST: Final = r"(?:[\w-]|\\+(?![\\nrtbfux])){0,60}+"
"""What may follow in a name: `secret_access_key_base`."""

_TYPE: Final = r"(?:[\w.]|\\+(?![\\nrtbfux])){0,120}+"
"""What may stand before the mark: `token: str = ...`."""

_LEAST: Final = 8
"""Letters of a value that are asked for; those before may have been taken for marks."""

_BARE: Final = r"""[^\s"'`<>,;(){}\[\]|]"""
_ENDED: Final = r"\\*(?:\\+r|\r)?(?:\\+n|\n)"


def leads(far: str = "") -> dict[str, str]:
    """Return what must follow each word; `far` are letters that may be spaces or part of others."""
    set_to = _set_to(far)
    # Another letter before it may be an escape, and then its end looks like a letter.
    key = rf"(?:{KEYED}|(?<=et.key)|(?<![a-z][a-z].key)|(?<=\d[a-f][a-z].key)){_REST}{set_to}"
    return {
        "token": set_to,
        "_key": key,
        "-key": key,
        "secret": _REST + set_to,
        "credential": _REST + set_to,
        "key-": r"(?:[0-9a-f]{32}|[0-9a-f]{0,31}[\\%&])",
    }


def _set_to(far: str) -> str:
    between = rf"""(?:[\]"'`\s\x1c-\x1f{far}+^.]|\\+[nrtbf]?){{0,256}}+"""
    typed = f":{between}{_TYPE}{between}"
    sets = r"(?::\\*=|=\\*[=>]?|:|i\\*s|w\\*a\\*s|,)"
    value = f"(?:{typed}=|{sets}){between}(?:{_ESCAPED}|{_value(far)})"
    return rf"{between}(?:{_ESCAPED}|[iw]\\+[ux]|{typed}{_ESCAPED}|{value})"


def _value(far: str) -> str:
    quoted = "|".join(rf"(?<={quote})[^{quote}\s]{{{_LEAST}}}" for quote in "\"'`")
    margin = rf"[\s\\tr\d|:+.&{far or '→'}]{{0,400}}+"
    goes_on = (
        rf"\S{{0,80}}?(?:[`^]{_ENDED}|\\{{2,}}(?:r\\+)?n|\\\r?\n"
        rf"""|["'](?:[ \t]|\\+t){{0,16}}(?:[+.&]|{_ENDED}{margin}["']))"""
    )
    return rf"""{quoted}|(?<=["'`]["'`])\S{{{_LEAST}}}|{_BARE}{{{_LEAST}}}|[^\s"'`]{{0,80}}?&|{goes_on}"""
