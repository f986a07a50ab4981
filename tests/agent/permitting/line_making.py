"""Make lines for a shell: well formed ones, with a few signs put in or taken out."""

from __future__ import annotations

from hypothesis import strategies as st

_WORD = st.sampled_from(
    ["a1", "b1", "c1", "'x y'", '"x y"', "-f", "\\'", '"it\'s"', "'q\"q'", "$x", "${x:-y}", "~"]
)
_JOINTS = st.sampled_from([" && ", " ; ", " | ", "\n", " & ", " || ", ";", "|", " \\\n "])


def _wrapped(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    piece = st.one_of(
        inner.map(lambda s: f"$({s})"),
        inner.map(lambda s: f'"$({s})"'),
        inner.map(lambda s: f"`{s}`"),
        inner.map(lambda s: f"<({s})"),
        _WORD,
    )
    body = st.sampled_from(["x", "$(d1)", "`d1`", "it's", '"', "\\", " E", ""])
    document = st.tuples(st.sampled_from(["'E'", "E", '"E"', "-E"]), body).map(
        lambda t: f" <<{t[0]}\n{t[1]}\nE\n"
    )
    tail = st.one_of(st.just(""), document, st.sampled_from([" >f", " 2>&1", " # it's\n", " <<<x"]))
    command = st.tuples(_WORD, st.lists(piece, max_size=3), tail).map(
        lambda t: " ".join([t[0], *t[1]]) + t[2]
    )
    return st.one_of(
        command,
        st.tuples(inner, _JOINTS, inner).map("".join),
        inner.map(lambda s: f"({s})"),
        inner.map(lambda s: f"{{ {s}; }}"),
        st.tuples(inner, inner).map(lambda t: f"if {t[0]}; then {t[1]}; fi"),
        inner.map(lambda s: f"for x in 1 2; do {s}; done"),
    )


_LINES = st.recursive(_WORD, _wrapped, max_leaves=8)
_SIGNS = (
    *(
        "a1",
        " ",
        "\n",
        ";",
        "&",
        "|",
        "'",
        '"',
        "`",
        "$(",
        ")",
        "(",
        "{ ",
        "}",
        "\\",
        "\\\n",
        "#",
        "<",
        "<<E",
    ),
    *(
        "\nE\n",
        "> f",
        "<(",
        "$x",
        "$'",
        "!",
        "x=",
        "*",
        "if ",
        "; then ",
        " fi",
        "for x in ",
        "; do ",
        "; done",
    ),
    *("$((", "<<<"),
)
_TOKENS = st.sampled_from(_SIGNS)


@st.composite
def spoiled(draw: st.DrawFn) -> str:
    """A line with a few signs put in or taken out."""
    line = draw(_LINES)
    for token in draw(st.lists(_TOKENS, max_size=3)):
        at = draw(st.integers(0, len(line)))
        line = line[:at] + token + line[at + draw(st.integers(0, 1)) :]
    return line
