"""The words of a web page: HTML as plain text in the manner of Markdown, everything else as it is.

A page is somebody else's and may be anything: broken, endless, made to keep a parser busy. It is read for a
limited time, and nothing in it is run or followed.
"""

from __future__ import annotations

import re
import time
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin

if TYPE_CHECKING:
    from collections.abc import Sequence

_PIECE: Final = 1 << 14
_SECONDS: Final = 5.0
"""How long a page may take to be read: the parser of Python needs the square of some lengths."""

_LONGEST_TAG: Final = 4 << 20
"""A tag that has not ended by now never will: whole pictures are written into them."""

_LONGEST_END: Final = 1 << 14
"""What is left open at the end is looked through for each sign in it: minutes for 2 MB of `<![CDATA[`."""

_CUT: Final = "\n\n[the rest of the page could not be read]"

_SKIPPED: Final = frozenset(
    {"script", "style", "noscript", "template", "svg", "iframe", "object", "canvas", "head", "title"}
)
_BLOCKS: Final = frozenset(
    {"address", "article", "aside", "blockquote", "dd", "details", "dialog", "div", "dl", "dt", "fieldset",
     "figcaption", "figure", "footer", "form", "header", "hr", "main", "nav", "ol", "p", "section", "summary",
     "table", "tr", "ul"}
)  # fmt: skip
_HEADINGS: Final = {f"h{n}": "#" * n for n in range(1, 7)}
_VOID: Final = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}
)
_MOST_OPEN: Final = 1000

_BLANK: Final = re.compile(r"[ \t\r\n\f\xa0]+")
_MANY_LINES: Final = re.compile(r"\n{3,}")
_LINE_END: Final = re.compile(r"[ \t]+\n")
_CHARSET: Final = re.compile(
    rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]{1,40})", re.IGNORECASE
)


def page_text(data: bytes, content_type: str, *, address: str = "", seconds: float = _SECONDS) -> str | None:
    """Return the words of a page; None when it has none, being a picture, an archive or the like."""
    kind, charset = _kind(content_type)
    if not kind:
        kind = "text/html" if b"<html" in data[:2000].lower() else "text/plain"
    if not _is_text(kind):
        return None
    text = _decoded(data, charset, is_html="html" in kind)
    if kind == "text/plain" and "\0" in text[:8192]:
        return None
    return html_text(text, address=address, seconds=seconds) if "html" in kind else text.replace("\0", "")


def html_text(html: str, *, address: str = "", seconds: float = _SECONDS) -> str:
    """Return the words of HTML. Links are told with where they lead, from `address` on."""
    reader = _Reader(address)
    until = time.monotonic() + seconds
    for at in range(0, len(html), _PIECE):
        reader.feed(html[at : at + _PIECE])
        if time.monotonic() > until or len(reader.rawdata) > _LONGEST_TAG:
            # What was understood so far is better than nothing, and nothing better than to hang.
            return reader.text() + _CUT
    if len(reader.rawdata) > _LONGEST_END:
        return reader.text() + _CUT
    reader.close()
    return reader.text()


class _Reader(HTMLParser):
    def __init__(self, address: str) -> None:
        super().__init__(convert_charrefs=True)
        self._address = address
        self._parts: list[str] = []
        self._title: list[str] = []
        self._open: list[str] = []
        self._skipping = 0
        self._in_title = False
        self._pre = 0
        self._lists: list[int | None] = []
        self._links: list[tuple[str | None, int]] = []
        self._cells = 0

    def text(self) -> str:
        body = _LINE_END.sub("\n", "".join(self._parts))
        body = _MANY_LINES.sub("\n\n", body).strip()
        title = _BLANK.sub(" ", "".join(self._title)).strip()
        return f"# {title}\n\n{body}".strip() if title and not body.startswith(f"# {title}") else body

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        if tag == "title" and "svg" not in self._open:
            self._in_title = not self._title
        if tag not in _VOID and len(self._open) < _MOST_OPEN:
            self._open.append(tag)
            self._skipping += tag in _SKIPPED
        if self._skipping:
            return
        if tag in _HEADINGS:
            self._add(f"\n\n{_HEADINGS[tag]} ")
        elif tag in ("ul", "ol"):
            self._add("" if self._lists else "\n\n")
            self._lists.append(0 if tag == "ol" else None)
        elif tag == "li":
            self._item()
        elif tag in ("td", "th"):
            self._add(" | " if self._cells else "")
            self._cells += 1
        elif tag == "a":
            self._links.append((dict(attrs).get("href"), len(self._parts)))
        else:
            self._mark(tag, attrs)

    def _mark(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        if tag == "br":
            self._add("\n")
        elif tag == "tr":
            self._cells = 0
            self._add("\n")
        elif tag == "pre":
            self._pre += 1
            self._add("\n\n```\n")
        elif tag == "code" and not self._pre:
            self._add("`")
        elif tag in ("b", "strong"):
            self._add("**")
        elif tag == "img":
            alt = (dict(attrs).get("alt") or "").strip()
            self._add(f"[image: {alt}]" if alt else "")
        elif tag == "hr":
            self._add("\n\n---\n\n")
        elif tag in _BLOCKS:
            self._add("\n\n")

    def _item(self) -> None:
        depth = max(0, min(len(self._lists), 20) - 1)
        sign = "-"
        if self._lists and self._lists[-1] is not None:
            self._lists[-1] += 1
            sign = f"{self._lists[-1]}."
        self._add(f"\n{'  ' * depth}{sign} ")

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        if tag not in self._open:
            return
        was_skipping = self._skipping
        while self._open:  # what was not closed inside is closed with it
            closed = self._open.pop()
            self._skipping -= closed in _SKIPPED
            if closed == tag:
                break
        if was_skipping:
            return
        if tag == "a" and self._links:
            self._link(*self._links.pop())
        elif tag in ("ul", "ol") and self._lists:
            self._lists.pop()
            self._add("\n")
        elif tag == "pre" and self._pre:
            self._pre -= 1
            self._add("\n```\n\n")
        elif tag == "code" and not self._pre:
            self._add("`")
        elif tag in ("b", "strong"):
            self._add("**")
        elif tag in _BLOCKS or tag in _HEADINGS:
            self._add("\n\n" if tag != "tr" else "")

    def _link(self, target: str | None, start: int) -> None:
        words = "".join(self._parts[start:]).strip()
        if not target or not words or target.startswith("#"):
            return
        try:
            address = urljoin(self._address, target.strip())
        except ValueError:
            return
        # Only what can be fetched is worth its words; a script in a link is none.
        if address.startswith(("http://", "https://")) and "\n" not in words and "[" not in words:
            del self._parts[start:]
            self._add(f"[{words}]({_BLANK.sub('%20', address)})")

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self._title.append(data)
        if self._skipping:
            return
        if self._pre:
            self._add(data)
            return
        text = _BLANK.sub(" ", data)
        if text == " " and (not self._parts or self._parts[-1].endswith(("\n", " "))):
            return
        if text.startswith(" ") and self._parts and self._parts[-1].endswith(("\n", " ")):
            text = text[1:]
        self._add(text)

    def _add(self, text: str) -> None:
        if text:
            self._parts.append(text)


def _kind(content_type: str) -> tuple[str, str | None]:
    kind, _, rest = content_type.partition(";")
    found = re.search(r"charset\s*=\s*[\"']?([A-Za-z0-9_:.-]{1,40})", rest, re.IGNORECASE)
    return kind.strip().lower(), found[1] if found else None


def _is_text(kind: str) -> bool:
    return kind.startswith("text/") or kind.endswith(
        ("+xml", "+json", "/json", "/xml", "javascript", "yaml", "ndjson")
    )


def _decoded(data: bytes, charset: str | None, *, is_html: bool) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        charset = "utf-16"
    elif data.startswith(b"\xef\xbb\xbf"):
        charset = "utf-8-sig"
    elif charset is None and is_html:
        found = _CHARSET.search(data[:4096])
        charset = found[1].decode("ascii") if found else None
    try:
        return data.decode(charset or "utf-8", "replace")
    except (LookupError, ValueError):  # a name nobody knows, or one of a codec that is none for text
        return data.decode("utf-8", "replace")
