"""Cut a text into the words that the full-text index knows it by.

The index is SQLite's FTS5 with its own tokenizer, `unicode61 remove_diacritics 2`. That one cuts at spaces
and punctuation, so it takes a Chinese sentence for one word; runs of scripts without spaces are therefore
written as overlapping pairs before they are handed to it (`prepare`). `tokens` gives the same words with
their places in the text as it was, and asks FTS5's very tokenizer for them: the two cannot differ.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple, cast

import apsw

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

TOKENIZER: Final = "unicode61 remove_diacritics 2"
"""FTS5's `tokenize` option for the index."""

LONGEST: Final = 32_768
"""FTS5 knows a word by its first bytes, this many."""

_STEP: Final = 1 << 12
"""How many characters are cut at a time: what holds no word that is looked for is passed over at once."""

_BLOCK: Final = 1 << 8
"""How many characters are looked at together before each word is."""

_SPACELESS: Final = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecf\u0edc-\u0edf"  # Thai, Lao
    "\u1000-\u103f\u1050-\u108f\u109a-\u109d\u1780-\u17d3\u17d7\u17dc\u17dd"  # Burmese, Khmer
    "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb"  # Hangul
    "\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c"
    "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\U0001aff0-\U0001b16f"  # kana
    "\u3105-\u312f\u31a0-\u31bf"  # Bopomofo
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\uff66-\uffdc"  # kana and Hangul of half width
)
_RUN: Final = f"[{_SPACELESS}]+"
_RUNS: Final = f"([{_SPACELESS}]+)"
_ODD: Final = f"[\u0900-\u17ff{_SPACELESS}\ud800-\udfff]"
"""What a text has to hold for being written differently from what it is."""

_MENDED: Final = "[\u0900-\u17ff\ud800-\udfff]"

_BREAK: Final = r"[\x00-/:-@\[-`{-\x7f]"
"""Characters that are never part of a word."""

_GAP: Final = f"{_BREAK[:-1]}\u3000-\u3003\u3008-\u3011\uff01-\uff0f\uff1a-\uff20\uff5b-\uff65]"
"""The same, with the punctuation of Chinese and Japanese."""

_ACCENTED: Final = "[\u00c0-\u024f\u0300-\u036f\u1e00-\u1eff\u212a\u212b]"
"""Characters that FTS5 takes for an ASCII letter, or leaves out inside a word."""

_LETTER: Final = r"[^\x00-/:-@\[-`{-\x7f]"

_compiled: Final = cache(re.compile)
"""The expressions are made when they are first needed: to take in one line of ASCII, none is."""

_SHORT: Final = 8

_MARKED: Final = range(0x0900, 0x1800)
"""Scripts from India to Cambodia, whose vowels are marks. FTS5 would cut a word at every mark."""

_PRIVATE: Final = 0xE000
"""Characters for private use, which FTS5 takes for letters: they stand for the marks."""


class Token(NamedTuple):
    """One word of a text."""

    folded: str
    """As the index has it: in small letters, without diacritics."""

    start: int
    end: int
    """Where it stands in the text, in characters. In a script without spaces it is a pair of characters."""


class Piece(NamedTuple):
    """A stretch of a text."""

    text: str
    """Of a run of a script without spaces with the character after it, for the last pair."""

    start: int
    """Where it begins in the text."""

    run: int
    """For a run of a script without spaces its length, else 0."""

    @property
    def written(self) -> str:
        """The stretch as it is written for the index."""
        return _pairs(self.text)[: 3 * self.run] if self.run else self.text

    def may_hold(self, plain: Sequence[str], others: Sequence[str]) -> bool:
        """Say whether one of some words may be here: `plain` ones, all ASCII, and `others`, folded.

        A quick look that is never wrong about a No.
        """
        text = self.text
        if self.run:
            # What is a pair there is a pair here.
            return any(word in text for word in others)
        if not text.isascii() and (others or _compiled(_ACCENTED).search(text) is not None):
            return True
        lowered = text.lower()
        return any(word in lowered for word in plain)

    def is_wordless(self) -> bool:
        """Say whether there is surely no word here."""
        return is_wordless(self.text)


def is_spaceless(text: str) -> bool:
    """Say whether a text is one run of a script without spaces."""
    return _compiled(_RUN).fullmatch(text) is not None


def is_wordless(text: str) -> bool:
    """Say whether there is surely no word in a text."""
    return _compiled(_LETTER).search(text) is None


class Words:
    """The words of one stretch; their places in the text are worked out when asked for."""

    __slots__ = ("_found", "_is_ascii", "_piece", "_raw", "folded")

    def __init__(self, piece: Piece) -> None:
        self._piece = piece
        written = piece.written
        self._raw = written.encode("utf-8")
        self._is_ascii = len(self._raw) == len(written)
        self._found = _LOCAL.cut(self._raw)
        self.folded = [one[2] for one in self._found]
        """The words as the index has them."""
        if len(self._raw) >= LONGEST:
            self.folded = [_known(word) for word in self.folded]

    def __len__(self) -> int:
        return len(self._found)

    def __getitem__(self, index: int) -> Token:
        start, run = self._piece.start, self._piece.run
        first, last, _ = self._found[index]
        if not self._is_ascii:
            inside = len(self._raw[first:last].decode("utf-8"))
            first = len(self._raw[:first].decode("utf-8"))
            last = first + inside
        if run:
            # The pairs are written three characters apart.
            cell, inside = divmod(first, 3)
            first, last = cell + inside, last - 2 * cell
        return Token(self.folded[index], start + first, start + last)


def prepare(text: str) -> str:
    """Return the text as it is handed to FTS5."""
    if text.isascii() or _compiled(_ODD).search(text) is None:
        return text
    parts = _compiled(_RUNS).split(text)
    parts[1::2] = [_short(run) if len(run) < _SHORT else f" {_pairs(run)}" for run in parts[1::2]]
    return _mend("".join(parts))


def tokens(text: str) -> Iterator[Token]:
    """Give the words of a text in their order."""
    for piece in pieces(text):
        words = Words(piece)
        yield from (words[index] for index in range(len(words)))


def pieces(text: str) -> Iterator[Piece]:
    """Cut a text into stretches that no word lies across, of bounded size but for endless words."""
    if text.isascii() or _compiled(_ODD).search(text) is None:
        yield from _steps(text, 0, len(text))
        return
    mended = _mend(text)  # a character for a character
    at = 0
    for run in _compiled(_RUN).finditer(text):
        start, end = run.span()
        yield from _steps(mended, at, start)
        for begin in range(start, end, _STEP):
            # With the character after it, for the last pair; that one's own place is in the next stretch.
            stop = min(begin + _STEP, end)
            yield Piece(mended[begin : min(stop + 1, end)], begin, stop - begin)
        at = end
    yield from _steps(mended, at, len(mended))


class Sought:
    """Words that are looked for, all folded: a quick look whether one may be in a text at all."""

    __slots__ = ("_is_any", "_plain", "_spaceless")

    def __init__(self, terms: Iterable[str]) -> None:
        found = set(terms)
        self._plain = [term for term in found if term.isascii()]
        others = [term for term in found if not term.isascii()]
        self._spaceless = [term for term in others if is_spaceless(term)]
        self._is_any = len(self._spaceless) < len(others)
        """There are words whose letters may be written in other ways."""

    def may_be_in(self, text: str) -> bool:
        """Say whether one of the words may be here; never wrong about a No. Marks must be mended."""
        if text.isascii():
            lowered = text.lower()
            return any(word in lowered for word in self._plain)
        if self._is_any or any(word in text for word in self._spaceless):
            return True
        if not self._plain:
            return False
        lowered = text.lower()
        if any(word in lowered for word in self._plain):
            return True
        return _compiled(_ACCENTED).search(text) is not None


def blocks(text: str) -> Iterator[tuple[int, str, str]]:
    """Cut a text into blocks that no word lies across: where each begins, and it as it is and mended."""
    mended = text if text.isascii() else _mend(text)
    start, end = 0, len(mended)
    while start < end:
        stop = end
        gap = _compiled(_GAP).search(mended, start + _BLOCK) if end - start > _BLOCK else None
        if gap is not None:
            stop = gap.start()
        block = mended[start:stop]
        yield start, block if mended is text else text[start:stop], block
        start = stop


def _steps(text: str, start: int, end: int) -> Iterator[Piece]:
    while start < end:
        stop = end
        if end - start > _STEP and (gap := _compiled(_BREAK).search(text, start + _STEP, end)) is not None:
            stop = gap.start()
        yield Piece(text[start:stop], start, 0)
        start = stop


def _pairs(run: str) -> str:
    """Write 日本語 as "日本 本語 語": every character begins one word, so that any stretch of it is found."""
    cells = [" "] * (3 * len(run))
    cells[::3] = run
    cells[1:-2:3] = run[1:]
    return "".join(cells)


@lru_cache(1 << 14)
def _short(run: str) -> str:
    """Write a short run, which is a word or a particle that comes again and again."""
    return f" {_pairs(run)}"


def _mend(text: str) -> str:
    if _compiled(_MENDED).search(text) is None:
        return text
    table, marks = _marks()
    return marks.sub(lambda found: table.get(found.group(), "\ufffd"), text)


@cache
def _marks() -> tuple[dict[str, str], re.Pattern[str]]:
    """Return what each mark is written as, and where there are marks or halves of characters."""
    table = {
        chr(code): chr(_PRIVATE + code - _MARKED.start)
        for code in _MARKED
        if unicodedata.category(chr(code)).startswith("M")
    }
    return table, re.compile(f"[{''.join(table)}\ud800-\udfff]")


def _known(folded: str) -> str:
    """Return as much of an endless word as FTS5 knows; the cut may be inside a character."""
    return folded.encode("utf-8")[:LONGEST].decode("utf-8", "surrogateescape")


class _Local(threading.local):
    """FTS5's tokenizer, one for each thread: it belongs to a connection, and threads do not share those."""

    def __init__(self) -> None:
        self._tokenizer: Callable[..., object] | None = None

    def cut(self, raw: bytes) -> list[tuple[int, int, str]]:
        """Return the words in UTF-8 bytes and where they are."""
        if self._tokenizer is None:
            name, *options = str.split(TOKENIZER)
            self._tokenizer = apsw.Connection(":memory:").fts5_tokenizer(name, options)
        found = self._tokenizer(raw, apsw.FTS5_TOKENIZE_DOCUMENT, None)
        return cast("list[tuple[int, int, str]]", found)


_LOCAL: Final = _Local()
