"""Show a PDF to the model: whole, as the document it is, or some pages of it as pictures.

Pictures of pages are made by `pdftoppm` (of poppler), if it is installed.
"""

from __future__ import annotations

import base64
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from clew.agent import paths
from clew.agent.tool import Outcome
from clew.agent.tools.outcomes import failed, refused, size_words
from clew.agent.tools.programs import ProgramError, run

if TYPE_CHECKING:
    from clew.agent.tool import Block, Work

_MOST_BYTES: Final = 20 << 20
"""A request to the API may have 32 MB, and this grows by a third in it."""

_MOST_READ: Final = 100 << 20
_MOST_PAGES: Final = 100
_MOST_AT_ONCE: Final = 20
_SECONDS: Final = 60.0
_RANGE: Final = re.compile(r"\s*([0-9]{1,6})\s*(?:-\s*([0-9]{1,6})\s*)?")
_PAGE: Final = re.compile(rb"/Type\s*/Page(?![A-Za-z])")


def whole(path: str, data: bytes) -> Outcome:
    """Show a document."""
    if not data.startswith(b"%PDF-"):
        return failed(f"File is not a valid PDF (missing %PDF- header): {path}")
    # An estimate: pages of newer documents may be packed where they cannot be counted.
    count = len(_PAGE.findall(data))
    if len(data) > _MOST_BYTES or count > _MOST_PAGES:
        return failed(
            f"The PDF {path} ({size_words(len(data))}, {count} pages) is too large to be read at once. "
            f'Read it in parts, with pages: "1-{_MOST_AT_ONCE}".'
        )
    encoded = base64.b64encode(data).decode("ascii")
    blocks: list[Block] = [
        {"type": "text", "text": f"PDF file read: {path} ({size_words(len(data))})"},
        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": encoded}},
    ]
    return Outcome(
        blocks, {"type": "pdf", "file": {"filePath": path, "base64": encoded, "originalSize": len(data)}}
    )


def pages(path: str, resolved: str, wanted: str, work: Work) -> Outcome:
    """Show some pages, as pictures."""
    match = _RANGE.fullmatch(wanted)
    first = int(match[1]) if match else 0
    last = int(match[2] or match[1]) if match else 0
    if not 1 <= first <= last:
        return refused(
            f'Invalid pages parameter: "{wanted}". Give one page ("3") or one range ("1-5"), not a list. '
            "To read several pages or ranges, read each one separately. Pages are 1-indexed."
        )
    if last - first >= _MOST_AT_ONCE:
        return refused(f'Page range "{wanted}" exceeds maximum of {_MOST_AT_ONCE} pages per request.')
    program = shutil.which("pdftoppm")
    if program is None:
        return failed(
            "pdftoppm is not installed. Install poppler-utils (e.g. `brew install poppler` or "
            "`apt-get install poppler-utils`) to enable PDF page rendering."
        )
    data = paths.read(resolved, most=_MOST_READ).data
    if not data.startswith(b"%PDF-"):
        return failed(f"File is not a valid PDF (missing %PDF- header): {path}")
    with tempfile.TemporaryDirectory(prefix="clew-pdf-") as folder:
        try:
            # The bytes that were read, and not the path: it may lead elsewhere by now.
            source = Path(folder, "document.pdf")
            source.write_bytes(data)
            span = ["-f", str(first), "-l", str(last)]
            command = [program, "-jpeg", "-r", "100", *span, str(source), str(Path(folder, "page"))]
            done = run(command, cwd=folder, seconds=_SECONDS, most=1 << 20, cancel=work.cancel)
        except (ProgramError, OSError, subprocess.SubprocessError) as error:
            return failed(f"The pages of {path} could not be drawn: {error}")
        made = sorted(Path(folder).glob("page*.jpg"))
        if not made:
            said = done.errors.decode("utf-8", "replace").strip()[-500:]
            return failed(f"No pages {wanted} could be drawn of {path}. {said}".strip())
        return _drawn(path, len(data), [page.read_bytes() for page in made])


def _drawn(path: str, size: int, pictures: list[bytes]) -> Outcome:
    count = len(pictures)
    words = f"PDF pages extracted: {count} page{'' if count == 1 else 's'} from {path} ({size_words(size)})"
    blocks: list[Block] = [{"type": "text", "text": words}]
    for picture in pictures:
        encoded = base64.b64encode(picture).decode("ascii")
        source = {"type": "base64", "media_type": "image/jpeg", "data": encoded}
        blocks.append({"type": "image", "source": source})
    return Outcome(
        blocks, {"type": "parts", "file": {"filePath": path, "originalSize": size, "count": count}}
    )
