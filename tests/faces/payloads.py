"""What transcripts have carried, or could, to act on the terminal of whoever reads them."""

from __future__ import annotations

import unicodedata

ESC, BEL, ST = "\x1b", "\x07", "\x1b\\"

# The list of 60.
CSI = [
    "2J",
    "H",
    "1;1H",
    "10A",
    "99B",
    "5C",
    "5D",
    "K",
    "1K",
    "3S",
    "31m",
    "38;2;1;2;3;48;5;9;5;7m" + "1m" * 40,
]

OSC = [0, 1, 2, 4, 7, 8, 9, 10, 11, 52, 133, 777, 1337]

PAYLOADS = [
    *(f"{ESC}[{sequence}" for sequence in CSI),
    *(f"{ESC}]{number};c;aGVsbG8={BEL}" for number in OSC),
    f"{ESC}]52;c;cm0gLXJm{ST}",
    f"{ESC}]0;title\x9c",
    f"{ESC}]2;unterminated",
    "\x9d0;c1 title\x9c",
    f"{ESC}]8;;http://example.invalid/{ESC}]52;c;cm0={BEL}{ST}click{ESC}]8;;{ST}",
    f"{ESC}]1337;File=name=eA==;inline=1:AAAA{BEL}",
    f"{ESC}]11;?{BEL}",
    f"{ESC}P0;1|17/ab{ST}",
    f"{ESC}_Gf=24,s=1,v=1;AAAA{ST}",
    f"{ESC}^private{ST}",
    f"{ESC}Xstring{ST}",
    f"{ESC}Pq#0;2;0;0;0#0~~@@vv{ST}",
    f'{ESC}P$q"p{ST}',
    "\x90unterminated",
    "\x9fapc\x9c",
    f"{ESC}c",
    f"{ESC}[6n",
    f"{ESC}[>c",
    f"{ESC}[?1049h",
    f"{ESC}[?2004h",
    f"{ESC}[201~rm -rf x\n",
    f"{ESC}[?1000h",
    f"{ESC}[21t",
    "\x9b31mred",
    "\x9b6n",
    "\x85\x84\x8d",
    "".join(map(chr, range(0x80, 0xA0))),
    "safe\rEVIL",
    "pass\x08\x08\x08\x08word",
    BEL * 50,
    "one\x0btwo\x0cthree",
    "user\u202egnp.exe\u202c \u2066iso\u2069",
    "zero\u200bwidth\ufeff\u2060joiner\u200d",
    "tag\U000e0001\U000e0068\U000e0069\U000e007f",
    "smuggled\ufe0f\ufe00\U000e0101\U000e0102",
    "[link=http://example.invalid]x[/link]",
    "[/]",
    "[a=b:",
]


def acts(char: str) -> bool:
    """Whether a character is anything but visible: told from Unicode's own tables, not from clew's."""
    if char in "\n\t":
        return False
    visible_format = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
    return unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") or (
        unicodedata.category(char) == "Cf" and char not in visible_format
    )


def assert_harmless(text: str) -> None:
    """Only visible characters, newlines and tabs; a joiner only where it joins two characters."""
    letters = set(text)
    joiners = letters & {"\u200c", "\u200d"}
    for char in letters - joiners:
        assert not acts(char), f"U+{ord(char):04X} at {text.index(char)} in {text!r}"
    for at, char in enumerate(text) if joiners else ():
        if char in joiners:
            assert 0 < at < len(text) - 1
            assert not (text[at - 1] + text[at + 1]).isascii()
            assert not acts(text[at - 1])
            assert not acts(text[at + 1])
