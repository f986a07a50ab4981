"""What tells a secret from a name, a path or a stand-in: how random it is, its sum, what is packed in it."""

from __future__ import annotations

import re
from binascii import Error, a2b_base64
from collections import Counter
from math import log2
from typing import Final
from zlib import crc32


def entropy(value: str) -> float:
    """Return how many bits a character of `value` carries."""
    if not value:
        return 0.0
    size = len(value)
    return -sum(count / size * log2(count / size) for count in Counter(value).values())


_STAND_IN: Final = re.compile(
    r"example|placeholder|change[-_]?me|redacted|dummy|\byour[-_ ]?|_your_|x{4}|\*{3}|\.\.\.|…|(.)\1{6}"
    r"|1234567890|0123456789|abcdefgh|deadbeef|insert[-_]|replace[-_]|goes[-_]here|sample[-_]|[-_]here$",
    re.IGNORECASE,
)


def is_stand_in(value: str) -> bool:
    """Say whether somebody wrote this in the place of a secret: `<your-key>`, `xxxx`, `…EXAMPLE`."""
    return value[:1] in "<{[$%" or _STAND_IN.search(value) is not None


def is_random(value: str) -> bool:
    """Say whether a value is random enough to be a secret."""
    return entropy(value) >= 2.7 and not is_stand_in(value)


def is_mixed(value: str) -> bool:
    """Random, and with letters of both cases and digits, as anything long in base 62 or 64 has."""
    has = (str.isdigit, str.islower, str.isupper)
    return entropy(value) >= 3.5 and all(any(map(test, value)) for test in has) and not is_stand_in(value)


_BASE62: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def has_checksum(value: str) -> bool:
    """Say whether the last six characters are the sum of those before, as GitHub and npm write it."""
    body, end = value.rpartition("_")[2][:-6], value[-6:]
    rest, digits = crc32(body.encode("utf-8", "replace")), ""
    while rest:
        rest, digit = divmod(rest, 62)
        digits = _BASE62[digit] + digits
    return digits.rjust(6, "0") == end


def is_summed(value: str) -> bool:
    """Say whether a value is a token that may end in its checksum."""
    # The sum is not asked for: tokens of other servers, and of years to come, may have another.
    return has_checksum(value) or is_random(value)


def is_jwt(value: str) -> bool:
    """Say whether a value is a token of three parts, of which the first says how it is signed."""
    try:
        head = a2b_base64(value.partition(".")[0].translate(str.maketrans("-_", "+/")) + "==")
    except (Error, ValueError):
        return False
    return b'"alg"' in head


def is_discord(value: str) -> bool:
    """Say whether a value is a token that begins with the number of a user."""
    try:
        user = a2b_base64(value.partition(".")[0] + "==")
    except (Error, ValueError):
        return False
    return user.isdigit() and is_random(value)


def is_pair(value: str) -> bool:
    """Say whether a value is a name and a password in base64."""
    try:
        name, colon, word = a2b_base64(value).decode("ascii").partition(":")
    except (Error, ValueError):
        return False
    return bool(name and colon and word) and word.isprintable() and not is_stand_in(word)


_KEY_LINE: Final = re.compile(r"[A-Za-z0-9/+]{16,}={0,2}")
_KEY_MARK: Final = re.compile(r"-----(?:BEGIN|END)[A-Z0-9 +]{1,80}-----|\\{1,4}[rn]")


def key_lines(value: str) -> list[str]:
    """Return the lines of a private key without what a listing or a difference puts before them."""
    bodies = (run.removeprefix("+") for run in _KEY_LINE.findall(_KEY_MARK.sub("\n", value)))
    return [body for body in bodies if len(body) >= 16]


def is_key(value: str) -> bool:
    """Say whether there are lines of a key in a value."""
    lines = key_lines(value)
    return bool(lines) and entropy("".join(lines)) >= 3.5


def is_password(value: str) -> bool:
    """Say whether a value is what people take for passwords."""
    return _is_word_like(value, 2.2) and not value.isdigit()


def is_token(value: str) -> bool:
    """Say whether a value is what machines take for secrets."""
    return len(value) >= 12 and _is_word_like(value, 3.0)


_CODE: Final = re.compile(
    r"[\w$]+(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)+$"  # a.b.c
    r"|(?:\.{0,2}|~)/|[A-Za-z]:\\|\w+://|--?\w"  # a path, an address, an option
    r"|(?:toolu|msg|req|srvtoolu|agent|call)[_-]"
    r"|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"
    r"|\d{4}-\d\d-\d\d|v?\d+(?:\.\d+)+\S{0,8}$|0x[0-9a-fA-F]+$|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$"
    r"|[a-z]+(?:[_-][a-z]+)*[_-]?\d{1,3}$|[+-]?[\d_.,]+(?:e[+-]?\d+|[a-z%]{1,3})?$"
    r"|\.?[A-Za-z]+\d{0,2}(?:[-_/.:][A-Za-z]+\d{0,2})+$|.*[(){}]"
)


_LETTER: Final = re.compile(r"[^\W\d_]")
_NO_LETTER: Final = re.compile(r"[\d!@#$%^&*~?]")


def _is_word_like(value: str, bits: float) -> bool:
    """Say whether a value is written as secrets are: no path, name or number, and of mixed characters."""
    # The cheapest first: hostile texts have many that are none.
    if _LETTER.search(value) is None or (_NO_LETTER.search(value) is None and not _is_jumbled(value)):
        return False
    return _CODE.match(value) is None and entropy(value) >= bits and not is_stand_in(value)


_RISE: Final = re.compile(r"[a-z][A-Z]")


def _is_jumbled(value: str) -> bool:
    """Say whether letters change their case as chance has it, and not as in a name of several words."""
    return len(value) >= 16 and len(_RISE.findall(value)) >= len(value) / 5


def is_url_password(value: str) -> bool:
    """Say whether what stands before the @ of an address is more than a word for a password."""
    word = value.removesuffix("@")
    return not is_stand_in(word) and word.lower() not in _PLAIN_WORDS


_PLAIN_WORDS: Final = frozenset({"password", "pass", "passwd", "pwd", "secret", "token", "user", "username"})


def may_spread(value: str) -> bool:
    """Say whether a secret may be looked for where nothing tells that it is one.

    Not a short one, nor a word: that would be found in places that have nothing to do with it.
    """
    if len(value) < 8 or entropy(value) < 2.75:
        return False
    return len(value) >= 20 or (any(map(str.isdigit, value)) and any(map(str.isalpha, value)))
