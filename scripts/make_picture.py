"""Draw what commands print in a terminal as an SVG picture for the README.

python scripts/make_picture.py        writes docs/images/terminal.svg from the demo
"""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.sax.saxutils import escape

from clew.faces.cli.cells import clusters

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "docs" / "images" / "terminal.svg"
WIDTH = 100
CELL, LINE = 8.4, 19
INK = {"31": "#ff8a80", "32": "#7fcf98", "33": "#e8b85c", "36": "#7fc9d9", "2": "#989186"}
COMMANDS = (("ls",), ("usage", "--by", "model"), ("context", "@1"))
KEEP = {"context": 9}


def printed(arguments: tuple[str, ...], root: str) -> list[str]:
    """Run clew in a terminal of its own and return the lines it prints, colours included."""
    reader, writer = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(WIDTH), "TERM": "xterm", "HOME": root}
    environment.pop("NO_COLOR", None)
    command = [sys.executable, "-m", "clew", *arguments, "--root", root]
    process = subprocess.Popen(command, stdout=writer, stderr=writer, env=environment)
    os.close(writer)
    data = b""
    while True:
        try:
            piece = os.read(reader, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        data += piece
    process.wait()
    os.close(reader)
    return data.decode().replace("\r", "").rstrip("\n").split("\n")


def drawn(line: str, y: float) -> str:
    """Draw one line: a text for every stretch of one colour, placed by cells."""
    parts: list[str] = []
    at = 0
    ink, bold = "#ece8e1", False
    for codes, text in re.findall(r"\x1b\[([0-9;]*)m|([^\x1b]+)", line):
        if not text:
            for code in codes.split(";"):
                bold = code == "1" or (bold and code not in {"0", ""})
                ink = INK.get(code, "#ece8e1" if code in {"0", ""} else ink)
            continue
        weight = ' font-weight="bold"' if bold else ""
        for word in re.findall(r"\S+|\s+", text):
            cells = sum(size for _, size in clusters(word))
            if not word.isspace():
                x = 16 + at * CELL
                parts.append(f'<text x="{x:.1f}" y="{y}" fill="{ink}"{weight}>{escape(word)}</text>')
            at += cells
    return "".join(parts)


def main() -> int:
    lines: list[str] = []
    with tempfile.TemporaryDirectory(prefix="clew-picture-") as root:
        subprocess.run([sys.executable, "-m", "clew", "demo", root], check=True, stdout=subprocess.DEVNULL)
        for command in COMMANDS:
            lines.append("\x1b[2m$\x1b[0m \x1b[1mclew " + " ".join(command) + "\x1b[0m")
            lines += printed(command, root)[: KEEP.get(command[0])]
            lines.append("")
    height = 24 + LINE * len(lines)
    body = "\n".join(drawn(line, 28 + LINE * at) for at, line in enumerate(lines) if line)
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH * CELL + 32:.0f}" height="{height}"'
        ' role="img"'
        ' aria-label="clew in a terminal">\n<rect width="100%" height="100%" rx="6" fill="#141312"/>\n'
        '<g font-family="ui-monospace, DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14">\n'
        f"{body}\n</g>\n</svg>\n",
        encoding="utf-8",
    )
    print(f"{OUT.relative_to(ROOT)}: {len(lines)} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main())
