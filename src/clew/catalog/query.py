"""What a person asks for in words: read, written for FTS5, and looked for in a text.

    refund webhook          both words, anywhere in one line of a session
    "double refund"         these words in a row; src/app.py and foo-bar are such rows too
    idempot*                words that begin so
    refund OR credit        one of them; AND and NOT, in capitals, and parentheses as usual
    refund -test            NOT, shorter

FTS5 and `Query.match` answer alike, as both know the words by `tokens`. Case and accents do not count.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Literal

from clew.catalog.tokens import LONGEST, Sought, Words, blocks, is_spaceless, is_wordless, pieces
from clew.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from clew.catalog.tokens import Token

Range = tuple[int, int]
"""From and to, in characters of a text."""

ENOUGH: Final = 12
"""Places in a text after which no more are looked for: it may hold a word a million times."""

DEEPEST: Final = 10
"""How far parentheses may nest; FTS5's own parser ends at a hundred marks."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words in a row, mostly only one."""

    terms: tuple[str, ...]
    """The words as the index has them: letters and digits only, so nothing in them is syntax to FTS5."""

    is_prefix: bool = False
    """The last word only begins so."""

    lit: int | None = None
    """How many characters of the last word are what was asked for; None for the whole word."""


@dataclass(frozen=True, slots=True)
class Every:
    """All of these, and none of those."""

    wanted: tuple[Node, ...]
    unwanted: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Either:
    """At least one of these."""

    nodes: tuple[Node, ...]


Node = Phrase | Every | Either


@dataclass(frozen=True, slots=True)
class Query:
    """A question in words; made by `parse`."""

    text: str
    """As it was typed."""

    node: Node

    @property
    def words(self) -> tuple[str, ...]:
        """The words asked for as the index has them, each once: where "did you mean" looks for a slip."""
        found = (term for phrase in _wanted(self.node) if phrase.lit is None for term in phrase.terms)
        return tuple(dict.fromkeys(term for term in found if term[0] < "\u0e00"))

    def fts(self, columns: Sequence[str] = ()) -> str:
        """Write the question for FTS5, in some columns or in all; the words may be in different ones."""
        if any(not column.isidentifier() or not column.isascii() for column in columns):
            raise ValueError(f"no names of columns: {columns!r}")
        written = _written(self.node)
        return f"{{{' '.join(columns)}}} : ({written})" if columns else written

    def match(self, text: str) -> list[Range] | None:
        """Return where a text holds what is asked for; None if it does not."""
        found = self.match_all((text,))
        return None if found is None else found[0]

    def match_all(self, texts: Sequence[str]) -> list[list[Range]] | None:
        """Do for the texts of one line together what FTS5 does for a row: one word here, the other there."""
        phrases = list(dict.fromkeys(_phrases(self.node)))
        # What is left out must be looked for to the end.
        is_all = len(phrases) > len(set(_wanted(self.node)))
        places = [_places(text, phrases, is_all=is_all) for text in texts]
        proof = _proof(self.node, {phrase for found in places for phrase in found})
        if proof is None:
            return None
        return [_merged(one for phrase in proof for one in found.get(phrase, ())) for found in places]


def parse(text: str) -> Query:
    """Read a question. What makes no sense is a `UsageError` that names the place."""
    parser = _Parser(text)
    node = parser.either(0)
    if node is None:
        raise UsageError(
            f"{text.strip()!r} has no word to look for" if text.strip() else "there is nothing to look for",
            hint="--literal finds other characters too" if text.strip() else None,
        )
    return Query(text, node)


# --- reading ------------------------------------------------------------------------------------------------

_Mark = Literal["(", ")", "AND", "OR", "NOT", "-"]
_OPERATORS: Final[dict[str, _Mark]] = {"AND": "AND", "OR": "OR", "NOT": "NOT"}


@dataclass(frozen=True, slots=True)
class _Lexeme:
    at: int
    mark: _Mark | None
    words: str = ""
    has_star: bool = False


class _Parser:
    def __init__(self, text: str) -> None:
        self._lexemes = [*_lexemes(text)]
        self._at = 0

    def _mark(self) -> _Mark | None:
        return self._lexemes[self._at].mark if self._at < len(self._lexemes) else None

    def _is_over(self) -> bool:
        return self._at >= len(self._lexemes) or self._mark() == ")"

    def either(self, depth: int) -> Node | None:
        """Read alternatives. None stands for what has no words, such as a dash."""
        nodes = [self._every(depth)]
        while self._mark() == "OR":
            self._at += 1
            nodes.append(self._every(depth))
        full = tuple(node for node in nodes if node is not None)
        return full[0] if len(full) == 1 else Either(full) if full else None

    def _every(self, depth: int) -> Node | None:
        wanted: list[Node] = []
        unwanted: list[Node] = []
        first = True
        while first or not (self._is_over() or self._mark() == "OR"):
            if not first and self._mark() == "AND":
                self._at += 1
            is_wanted = True
            while self._mark() in {"NOT", "-"}:
                is_wanted = not is_wanted
                self._at += 1
            node = self._one(depth)
            if node is not None:
                (wanted if is_wanted else unwanted).append(node)
            first = False
        if unwanted and not wanted:
            raise UsageError(
                "only what to leave out is named, and nothing to look for", hint='such as "refund -test"'
            )
        if len(wanted) == 1 and not unwanted:
            return wanted[0]
        return Every(tuple(wanted), tuple(unwanted)) if wanted else None

    def _one(self, depth: int) -> Node | None:
        if self._is_over() or self._mark() in {"AND", "OR"}:
            raise self._lacks_word()
        lexeme = self._lexemes[self._at]
        self._at += 1
        if lexeme.mark is None:
            return _phrase(lexeme.words, has_star=lexeme.has_star)
        if depth == DEEPEST:
            raise UsageError(f"the parentheses nest too deep at character {lexeme.at + 1}")
        node = self.either(depth + 1)
        if self._mark() != ")":
            raise UsageError(
                f"the parenthesis at character {lexeme.at + 1} is not closed",
                hint='in quotes it is no more than a character: "f(x"',
            )
        self._at += 1
        return node

    def _lacks_word(self) -> UsageError:
        before = self._lexemes[self._at - 1] if self._at else None
        if before is not None and before.mark in {"AND", "OR", "NOT", "-"}:
            what = before
        elif self._at < len(self._lexemes):
            what = self._lexemes[self._at]
        else:
            return UsageError("there is nothing to look for")
        if before is not None and before.mark == "(" and what.mark == ")":
            return UsageError(f"there is nothing in the parentheses at character {before.at + 1}")
        hint = f'in quotes it is a word like others: "{what.mark}"' if what.mark in _OPERATORS else None
        return UsageError(f"a word is missing beside {what.mark} at character {what.at + 1}", hint=hint)


_SPACE: Final = re.compile(r"\s+")


def _lexemes(text: str) -> Iterator[_Lexeme]:
    at, depth = 0, 0
    while at < len(text):
        if (space := _SPACE.match(text, at)) is not None:
            at = space.end()
            continue
        character = text[at]
        if character == "(":
            depth += 1
            yield _Lexeme(at, "(")
            at += 1
        elif character == ")":
            if depth:  # without an opening one it is a mere character
                depth -= 1
                yield _Lexeme(at, ")")
            at += 1
        elif (
            character == "-"
            and text[at + 1 : at + 2] not in {"", "-", ")"}
            and not _SPACE.match(text, at + 1)
        ):
            yield _Lexeme(at, "-")
            at += 1
        elif character == '"':
            end = text.find('"', at + 1)
            end = len(text) if end < 0 else end  # the rest is the phrase
            has_star = text.startswith("*", end + 1)
            yield _Lexeme(at, None, text[at + 1 : end], has_star)
            at = end + 1 + has_star
        else:
            end = _end_of_word(text, at, in_parentheses=depth > 0)
            word = text[at:end]
            yield _Lexeme(at, _OPERATORS.get(word), word, word.endswith("*"))
            at = end


def _end_of_word(text: str, at: int, *, in_parentheses: bool) -> int:
    """Return where a word ends; `parse(text)` is one, also in parentheses of ours."""
    opened = 0
    while at < len(text) and not text[at].isspace() and text[at] != '"':
        if text[at] == "(":
            opened += 1
        elif text[at] == ")":
            if in_parentheses and not opened:
                break
            opened = max(0, opened - 1)
        at += 1
    return at


def _phrase(text: str, *, has_star: bool = False) -> Phrase | None:
    """Make a row of words of what was typed; None if there are none in it."""
    terms: list[str] = []
    whole, run = 0, 0
    for piece in pieces(text):
        found = Words(piece)
        if len(found):
            run = piece.run
            # Every character of a run begins a word, and the last one is a word by itself.
            last = piece.start + run - 1
            whole = len(terms) + sum(found[index].start < last for index in range(len(found)))
            terms += found.folded
    if any(len(term.encode("utf-8", "surrogateescape")) >= LONGEST for term in terms):
        raise UsageError(f"{text[:20]!r}… is too long for a word")
    if not terms:
        return None
    if not run:
        return Phrase(tuple(terms), has_star)
    if run == 1:
        # The index has a single character, wherever another follows it, as the first of a pair.
        return Phrase(tuple(terms), True, 1)
    # What follows the last character is not asked for, and the pair before says that it is there.
    return Phrase(tuple(terms[:whole]) or tuple(terms))


# --- writing ------------------------------------------------------------------------------------------------


def _written(node: Node) -> str:
    match node:
        case Phrase():
            return f'"{" ".join(node.terms)}"{" *" if node.is_prefix else ""}'
        case Every():
            wanted = " AND ".join(map(_within, node.wanted))
            if not node.unwanted:
                return wanted
            # All that is left out at once: a chain of NOTs is a tree as deep as it is long.
            unwanted = " OR ".join(map(_within, node.unwanted))
            return f"{_alone(wanted, node.wanted)} NOT {_alone(unwanted, node.unwanted)}"
        case Either():
            return " OR ".join(map(_within, node.nodes))


def _alone(written: str, nodes: Sequence[Node]) -> str:
    return written if len(nodes) == 1 else f"({written})"


def _within(node: Node) -> str:
    return _written(node) if isinstance(node, Phrase) else f"({_written(node)})"


# --- looking ------------------------------------------------------------------------------------------------


def _phrases(node: Node) -> Iterator[Phrase]:
    match node:
        case Phrase():
            yield node
        case Every():
            for inner in (*node.wanted, *node.unwanted):
                yield from _phrases(inner)
        case Either():
            for inner in node.nodes:
                yield from _phrases(inner)


def _wanted(node: Node) -> Iterator[Phrase]:
    match node:
        case Phrase():
            yield node
        case Every():
            for inner in node.wanted:
                yield from _wanted(inner)
        case Either():
            for inner in node.nodes:
                yield from _wanted(inner)


def _proof(node: Node, there: set[Phrase]) -> list[Phrase] | None:
    """Return the phrases that make a node true, None if it is not."""
    match node:
        case Phrase():
            return [node] if node in there else None
        case Every():
            proof: list[Phrase] = []
            for inner in node.wanted:
                part = _proof(inner, there)
                if part is None:
                    return None
                proof += part
            return None if any(_proof(inner, there) is not None for inner in node.unwanted) else proof
        case Either():
            parts = [part for inner in node.nodes if (part := _proof(inner, there)) is not None]
            return [phrase for part in parts for phrase in part] if parts else None


def _places(text: str, phrases: Sequence[Phrase], *, is_all: bool) -> dict[Phrase, list[Range]]:
    """Return where each phrase is in a text; not all places where each has been found and there are many."""
    direct = {phrase: joined for phrase in phrases if (joined := _joined(phrase)) is not None}
    found = {phrase: places for phrase, joined in direct.items() if (places := _occurrences(text, joined))}
    if rest := [phrase for phrase in phrases if phrase not in direct]:
        found |= _worded(text, rest, is_all=is_all)
    return found


def _joined(phrase: Phrase) -> str | None:
    """Return the characters that pairs in a row were made of, None for other phrases.

    In a script without spaces every character begins a word, and no letter is written in two ways: the words
    are there in a row wherever the characters are.
    """
    terms = phrase.terms
    if phrase.is_prefix or any(len(term) != 2 for term in terms):
        return None
    if any(one[1] != other[0] for one, other in pairwise(terms)):
        return None
    joined = terms[0] + "".join(term[1] for term in terms[1:])
    return joined if is_spaceless(joined) else None


def _occurrences(text: str, joined: str) -> list[Range]:
    places: list[Range] = []
    at = text.find(joined)
    while at >= 0 and len(places) < ENOUGH:
        places.append((at, at + len(joined)))
        at = text.find(joined, at + 1)
    return places


def _worded(text: str, phrases: Sequence[Phrase], *, is_all: bool) -> dict[Phrase, list[Range]]:
    """Do it word by word."""
    terms = {term for phrase in phrases for term in phrase.terms}
    plain = [term for term in terms if term.isascii()]
    others = [term for term in terms if not term.isascii()]
    sought = Sought(terms)
    reach = max(len(phrase.terms) for phrase in phrases) - 1
    found: dict[Phrase, list[Range]] = {}
    before: list[Token] = []
    """The last words before a stretch: a row may begin there."""
    for base, block, mended in blocks(text):
        if not sought.may_be_in(mended):
            if not is_wordless(block):
                before = []
            continue
        for piece in pieces(block):
            if not piece.may_hold(plain, others):
                if not piece.is_wordless():
                    before = []
                continue
            words = Words(piece._replace(start=base + piece.start))
            folded = [token.folded for token in before] + words.folded if before else words.folded
            for phrase in phrases:
                for first in _starts(phrase, folded):
                    last = first + len(phrase.terms) - 1 - len(before)
                    if last >= 0:  # else it was found with the stretch before
                        start = (before[first] if first < len(before) else words[first - len(before)]).start
                        found.setdefault(phrase, []).append((start, _end(phrase, words[last])))
            if reach:
                new = range(max(0, len(words) - reach), len(words))
                before = (before + [words[index] for index in new])[-reach:]
        if not is_all and len(found) == len(phrases) and sum(map(len, found.values())) >= ENOUGH:
            break
    return found


def _starts(phrase: Phrase, folded: Sequence[str]) -> Iterator[int]:
    """Give the places in a list of words where a phrase begins."""
    *whole, last = phrase.terms
    count = len(whole)
    if phrase.is_prefix:
        for index in range(count, len(folded)):
            if folded[index].startswith(last) and [*folded[index - count : index]] == whole:
                yield index - count
        return
    at = -1
    try:
        while True:
            at = folded.index(phrase.terms[0], at + 1)
            if not count or (*folded[at : at + count + 1],) == phrase.terms:
                yield at
    except ValueError:
        return


def _end(phrase: Phrase, token: Token) -> int:
    return token.end if phrase.lit is None else min(token.end, token.start + phrase.lit)


def _merged(ranges: Iterable[Range]) -> list[Range]:
    merged: list[Range] = []
    for start, end in sorted(ranges):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
