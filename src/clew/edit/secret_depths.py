r"""Say of a line that has words of rules that there is no secret in it, however its escapes are read.

`secret_forms` makes a text for each depth of escapes and goes through all of them. Here the line is read
once, without its backslashes: whatever word is in one of those texts is in this one too, with the same
letters behind it, but that `\n` is an `n` and not the end of a line. What could be anything else, as `\u0041`
and `%41` can, is not judged here.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from clew.edit.secret_base64 import ALPHABET
from clew.edit.secret_glance import runs_at
from clew.edit.secret_leads import KEYED
from clew.edit.secret_words import WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ahocorasick_rs import BytesAhoCorasick

_FAR: Final = r"\x80-\xff"
_LAX: Final = rf"[\s\x1c-\x1f{_FAR}nrtbf+]"
"""What may be a space in one of the texts: ends of lines are letters here, and in a form `+` is a space."""

_SET: Final = (
    rf"""[\]"'`\s\x1c-\x1f{_FAR}nrtbf+]{{0,64}}"""
    rf"""(?::{_LAX}{{0,4}}[a-z_.]{{1,20}}{_LAX}{{0,4}}=|=>|:=|==?|:|is|was|,){_LAX}{{0,16}}"""
)
"""What stands between a name and its value."""


def _value(size: int) -> str:
    """Return what a value of so many characters begins with."""
    quoted = "|".join(rf"{quote}[^{quote}\s]{{{size}}}" for quote in "\"'`")
    return rf"""(?:{quoted}|[^\s"'`<>,;(){{}}\[\]|]{{{size}}})"""


_TOKEN: Final = _SET + _value(12)
"""A name is set to what may be a token; a password may be half as long."""

_PASSWORD: Final = _SET + _value(6)

_TOKEN_ENDS: Final = tuple(
    bytes((byte,))
    for byte in range(256)
    if byte > 127 or chr(byte) in "]\"'`nrtbf+=:,iw" or chr(byte).isspace()
)
"""What comes next behind `token`: what `_SET` may begin with."""

_REST: Final = r"[a-z_-]{0,20}"
"""What may follow in a name: `secret_access_key_base`."""

_DATABASES: Final = "postgres mysql mariadb mongodb redis amqp mssql sqlserver clickhouse cockroachdb nats"
_PASSWORDS: Final = "password passwd passphrase passcode pwd"
_KEYS: Final = (
    "secretaccesskey secret_access_key secret-access-key apikey accesskey authkey privatekey accountkey "
    "signingkey encryptionkey masterkey"
)

FOLLOWED: Final[dict[str, str]] = {
    "pat": r"[a-z0-9]{14}\.",
    "key-": r"[0-9a-f]{32}",
    "-us": rf"[\du{_FAR}]",
    "-u": r"[ =+]",
    "dd_": r"ap",
    "dd-": r"ap",
    "auth": rf'"{_LAX}{{0,12}}:',
    "token": _TOKEN,
    "secret": rf"{_REST}{_TOKEN}",
    "credential": rf"{_REST}{_TOKEN}",
    "secret_": r"[a-z0-9]{43}",
    "machine": _LAX,
    "-token": rf"(?:{_LAX}|[=%])",
    "-secret": rf"(?:{_LAX}|[=%])",
    "_key": rf"{KEYED}{_TOKEN}",
    "-key": rf"{KEYED}{_TOKEN}",
    "oracle": r"[+:%]",
    "://": r"[^\s:/@]{0,600}:[^\s/]{0,1200}@",
    "q~": rf"[\w~.{_FAR}-]{{31}}",
    "hf_": r"[a-z0-9]{30}",
    "npm_": r"[a-z0-9]{36}",
    "r8_": r"[a-z0-9]{37}",
    "sk-": r"[\w-]{20}",
    "dp.": r"(?:pt|st|ct|sa|scim|audit)\.",
    "ssws": _LAX,
    "aws": r"(?:[^\s=:\"']{0,100}(?:secret|key))",
    **dict.fromkeys(_DATABASES.split(), r"[a-z]{0,3}(?:\+\w{1,12})?:"),
    **dict.fromkeys(_PASSWORDS.split(), _PASSWORD),
    **dict.fromkeys(_KEYS.split(), _TOKEN),
}
"""What must come behind words if there is to be a secret; those that are not here are never passed over."""

AS_WRITTEN: Final[dict[str, str]] = {
    **dict.fromkeys(("akia", "asia", "abia", "acca"), r"(?<=A[KSBC]IA|ACCA)[A-Z0-9]{16}"),
    "aiza": r"(?<=AIza)[\w-]{35}",
    "eaaa": rf"(?<=EAAA)[\w+={_FAR}-]{{60}}",
    "eyj": r"(?<=eyJ)[\w-]{10,4096}+\.eyJ",
    "sg.": r"(?<=SG.)[\w-]{16}",
    "sk": r"(?<=SK)[0-9a-f]{32}",
    "sq0": r"(?<=sq0)(?:atp|csp|idp)-",
    "xox": r"(?<=xox)[abceoprs]-",
}
"""The same where capitals count: in a picture there are such words by chance."""

_ESCAPED: Final = re.compile(
    rb"\\(?:u(?i:(?!00(?:0[0-8ef]|1[0-9ab]|8[0-46-9a-f]|9.|a[1-9a-f]|[b-f].)"
    rb"|(?!0130|0131|017f|1680|200.|202[89f]|205f|212a|3000)(?:0[1-9a-f]|[1-9a-f].)..)"
    rb"|....(?<![0-9a-f]{4}))|x(?i:(?!0[0-8ef]|1[0-9ab]|8[0-46-9a-f]|9.|a[1-9a-f]|[b-f].)|..(?<![0-9a-f]{2})))"
)
"""What may stand for a letter or a space of ours, now or one depth further, or for an end of a line."""

_LETTERS: Final = "\u0130\u0131\u017f\u212a"
"""Those that patterns may take for a letter of ours."""

# One for each mark that it begins with: what begins with fixed letters is looked for several times as fast.
_PERCENT: Final = re.compile(rb"%[0-9a-fA-F]{2}")
_ENTITY: Final = re.compile(rb"&(?i:amp|lt|gt|quot|apos|#)")
_LINE: Final = b"a" * 57
_IN_LINE: Final = bytes(ord("a" if byte in ALPHABET else " ") for byte in range(256))


_Then = tuple[re.Pattern[bytes], int, bool] | None
"""What must follow a word, how long that is, and whether its capitals count."""


@cache
def _words() -> tuple[BytesAhoCorasick, tuple[_Then, ...]]:
    """Return what finds words; and what must follow each."""
    from ahocorasick_rs import BytesAhoCorasick, Implementation

    followed = FOLLOWED | AS_WRITTEN
    found: list[bytes] = []
    then: list[_Then] = []
    for word in (*sorted(WORDS), *_LETTERS):
        pattern = re.compile(followed[word].encode()) if word in followed else None
        # Counts of tokens are in every line.
        for end in _TOKEN_ENDS if word == "token" else (b"",):
            found.append(word.encode() + end)
            then.append(None if pattern is None else (pattern, len(word), word in AS_WRITTEN))
    return BytesAhoCorasick(found, implementation=Implementation.DFA), tuple(then)


def is_clean(line: bytes) -> bool:
    """Say whether no secret is in a line at any depth; False where it cannot be told this way."""
    bare = _bare(line)
    if bare is None:
        return False
    small = bare.lower()
    ways, then = _words()
    for which, start, _ in ways.find_matches_as_indexes(small, overlapping=True):
        follows = then[which]
        if follows is None:
            return False
        pattern, size, as_written = follows
        if pattern.match(bare if as_written else small, start + size) is not None:
            return False
    found, _, longest = runs_at(bare)
    return not found and (longest < len(_LINE) or not _may_be_wrapped(line, bare))


def _bare(line: bytes) -> bytes | None:
    """Return a line without its backslashes; None if some of it may stand for something else."""
    # Few lines have such an escape at all, which is quicker seen than that it is none of these.
    if (b"\\u" in line or b"\\x" in line) and _ESCAPED.search(line) is not None:
        return None
    bare = line.translate(None, b"\\")
    if b"%" in bare and _PERCENT.search(bare) is not None:
        return None
    return None if b"&" in bare and _ENTITY.search(bare) is not None else bare


class Beginnings:
    """Sees that none of the secrets that are known is in a line, however its escapes are read.

    As with words: a secret that is in one of the texts, without backslashes is in the line without them.
    """

    def __init__(self, starts: Iterable[bytes]) -> None:
        """`starts` are those of all spellings, without backslashes."""
        from ahocorasick_rs import BytesAhoCorasick

        self._ways = BytesAhoCorasick(sorted(starts))

    def are_in(self, data: bytes) -> bool:
        """Say whether one may be in lines as they are written."""
        return bool(self._ways.find_matches_as_indexes(data.translate(None, b"\\")))

    def may_be_in(self, line: bytes) -> bool:
        """Say whether one may be in a line at any depth, or packed in it."""
        bare = _bare(line)
        if bare is None or self._ways.find_matches_as_indexes(bare):
            return True
        found, dull, longest = runs_at(bare)
        return bool(found or dull) or (longest >= len(_LINE) and _may_be_wrapped(line, bare))


def _may_be_wrapped(line: bytes, bare: bytes) -> bool:
    """Say whether there may be a line of base64 that goes on in the next one.

    Such a line has 56 letters, and then the letter that its end has become: with the backslash between them
    they are no run.
    """
    marks = bare.translate(_IN_LINE)
    start = marks.find(_LINE)
    while start >= 0:
        end = marks.find(b" ", start)
        run = bare[start:] if end < 0 else bare[start:end]
        if bare.count(run) != line.count(run):
            return True
        start = -1 if end < 0 else marks.find(_LINE, end)
    return False
