"""The words of a page."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.agent.web_text import html_text, page_text

PAGE = """<!doctype html><html><head><title>A  maze</title><style>p { color: red }</style>
<script>alert("no")</script></head><body><nav><a href="/home">Home</a></nav>
<h1>The   thread</h1><p>Follow <b>it</b> to the <a href="../exit?a=1&amp;b=2">way out</a>,<br>
then <i>turn</i>.</p>
<ul><li>one</li><li>two<ol><li>inner</li><li>next</li></ol></li></ul>
<pre>def f():
    return 1</pre><p>Use <code>x &lt; y</code>.</p>
<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>
<img src=x.png alt="a map"><noscript>none</noscript><a href="javascript:alert(1)">bad</a><a
href="#top">top</a>
</body></html>"""

TEXT = """# A maze

[Home](https://maze.example/home)

# The thread

Follow **it** to the [way out](https://maze.example/exit?a=1&b=2),
then turn.

- one
- two
  1. inner
  2. next

```
def f():
    return 1
```

Use `x < y`.

a | b
1 | 2

[image: a map]badtop"""


def test_a_page_is_told_in_the_manner_of_markdown() -> None:
    assert html_text(PAGE, address="https://maze.example/a/b") == TEXT


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("", ""),
        ("just words", "just words"),
        ("<p>one<p>two", "one\n\ntwo"),
        ("</div></div><p>x</p></p>", "x"),
        ("<b>open <script>never ended", "**open"),
        ("<svg><title>icon</title><text>hidden</text></svg>seen", "seen"),
        ("&lt;script&gt; &amp; &#x41; &nosuch;", "<script> & A &nosuch;"),
        ("<a href='http://[broken'>x</a>", "x"),
        ("<a>no target</a>", "no target"),
        ("<title>T</title><title>U</title><p>x", "# T\n\nx"),
        ("a\xa0b", "a b"),
        (f"<img alt=x src='data:image/png;base64,{'A' * 300_000}'>after", "[image: x]after"),
    ],
)
def test_odd_html_is_read_as_far_as_it_goes(html: str, text: str) -> None:
    assert html_text(html, address="https://maze.example/") == text


@pytest.mark.parametrize(
    "hostile",
    [
        "<div>" * 200_000 + "deep",
        "<!--" * 300_000,
        "<![CDATA[" * 200_000,
        "<a " * 300_000,
        "<a href=" + "x" * 3_000_000,
        "&#" * 500_000,
        "<" * 1_000_000,
        "<!" * 500_000,
        "<li>" * 200_000,
        "<script>" + "</scrip" * 300_000,
        "</" * 500_000,
        "<?" * 500_000,
        "<![CDATA[" * 1800,
    ],
    ids=[
        *(
            "deep",
            "comments",
            "cdata",
            "attributes",
            "long tag",
            "references",
            "signs",
            "declarations",
            "items",
        ),
        *("script", "ends", "instructions", "short"),
    ],
)
def test_a_page_made_to_hang_does_not(hostile: str) -> None:
    before = time.monotonic()
    html_text(hostile, seconds=0.5)
    assert time.monotonic() - before < 10


@given(st.text(alphabet="<>/!-=\"' abph1&;#\n", max_size=200))
def test_no_html_is_too_odd(html: str) -> None:
    html_text(html)


@pytest.mark.parametrize(
    ("data", "kind", "text"),
    [
        (b"plain \xc3\xbc", "text/plain", "plain ü"),
        (b"plain \xfc", "text/plain; charset=latin-1", "plain ü"),
        (b"\xff\xfeh\0i\0", "text/plain", "hi"),
        (b"\xef\xbb\xbfbom", "text/plain; charset=nonsense", "bom"),
        (b"x", 'text/plain; charset="no-such"', "x"),
        (b"6869", "text/plain; charset=hex", "6869"),
        (b'{"a": 1}', "application/json", '{"a": 1}'),
        (b"<x/>", "application/rss+xml", "<x/>"),
        (b"<meta charset='iso-8859-1'><p>\xfc", "text/html", "ü"),
        (b"<html><p>kind unknown", "", "kind unknown"),
        (b"<p>x", "application/xhtml+xml", "x"),
        (b"\x89PNG\0", "image/png", None),
        (b"\0\1\2", "", None),
        (b"\0\1\2", "text/plain", None),
        (b"%PDF", "application/pdf", None),
    ],
)
def test_the_kind_of_a_page_decides_how_it_is_read(data: bytes, kind: str, text: str | None) -> None:
    assert page_text(data, kind) == text
