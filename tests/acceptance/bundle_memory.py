"""Pack or import a session in a process of its own, and print the most memory that it took, in bytes.

python -m tests.acceptance.bundle_memory pack|clean|plain|mapped FOLDER
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from clew.actions.bundling import bundle
from clew.actions.editing import Wish
from clew.actions.importing import Landing, import_bundle
from clew.store.files import Store

NEW_ID = "ffffffff-0000-4000-8000-00000000000f"


def main(what: str, base: Path) -> None:
    """Do it, and print what it took."""
    now_ms, state, file = int(time.time() * 1000), base / "state", base / "x.clew"
    if what in {"pack", "clean"}:
        is_clean = what == "clean"
        out = base / "clean.clew" if is_clean else file
        done = bundle(Store.at([str(base / "there")]), "@1", out, now_ms=now_ms, state=state, redact=is_clean)
        assert any("github-token" in note for note in done.notes) == is_clean
    else:
        root = base / what
        root.mkdir()
        landing = Landing(to="/srv/elsewhere") if what == "mapped" else Landing()
        wish = Wish("import", NEW_ID, now_ms, state)
        done = import_bundle(Store.at([str(root)]), str(file), wish, landing=landing, seed=b"seed")
        assert (done.counts.patched > 0) == (what == "mapped")
    sys.stdout.write(str(_peak()))


def _peak() -> int:
    """The most that was held. Not `getrusage`: what it says begins with the size of whoever started this."""
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) * 1024


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
