"""What a bundle says of itself, before anything else: which files are in it, of which session, from where.

It is the manifest of an archive's snapshot, with files that are whole instead of chunks. What is read is not
believed. Above all, a bundle holds what can belong to one session and nothing else: a file that the client
reads by itself, as settings with commands in them, has no place in it.
"""

from __future__ import annotations

import json
import os
import re
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.errors import ClewError
from clew.store.archive_manifest import Reading, document, is_safe

if TYPE_CHECKING:
    from clew.store.archive_manifest import Manifest

FORMAT: Final = 1
"""Raised when an older clew could not read what a newer one writes."""

NAME: Final = "manifest.json"
"""What it is called in a bundle, where it comes first."""

LARGEST: Final = 8 << 20
"""No manifest is larger; decoded, it takes up to twenty times as much."""

MOST_FILES: Final = 20_000
MOST_BYTES: Final = 64 << 30
"""All files of a bundle together."""

_MARK: Final = "clew-bundle"
_DRIVE: Final = re.compile(r"[A-Za-z]:")


class BadBundleError(ClewError):
    """A file is no bundle, a damaged one, or one of a newer clew."""

    code = "bad-bundle"

    def __init__(self, path: str, cause: str) -> None:
        super().__init__(f"{path} is no bundle to go by: {cause}", hint="nothing was written")
        self.path = path
        self.cause = cause


class UnsafeBundleError(BadBundleError):
    """A bundle asks for what no bundle may ask for."""

    code = "unsafe-bundle"
    exit_code = 4


class BundleManifest(NamedTuple):
    """What is in a bundle."""

    manifest: Manifest
    is_redacted: bool
    made_by: str
    """The program that made it."""


def encode(bundle: BundleManifest) -> bytes:
    """Return the bytes of a manifest, to be read by people too. Names that are no UTF-8 stay as they are."""
    whole = {
        _MARK: FORMAT,
        "made_by": bundle.made_by,
        "redacted": bundle.is_redacted,
        **{key: value for key, value in document(bundle.manifest, chunks=False).items() if value is not None},
    }
    return json.dumps(whole, indent=1).encode() + b"\n"


def decode(data: bytes, *, path: str, unlimited: bool = False) -> BundleManifest:
    """Return what the manifest of the bundle at `path` says; `unlimited` lets its files be ever so large."""
    refused, unsafe = partial(BadBundleError, path), partial(UnsafeBundleError, path)
    reading = Reading(_MARK, FORMAT, refused, unsafe=unsafe, chunks=False)
    manifest = reading.read(data)
    if len(manifest.files) > MOST_FILES:
        raise unsafe(f"it has {len(manifest.files):,} files, the most is {MOST_FILES:,}")
    if manifest.size > MOST_BYTES and not unlimited:
        raise unsafe(f"its files have {manifest.size:,} bytes, the most is {MOST_BYTES:,}")
    _check(manifest, unsafe)
    made_by = reading.document.get("made_by")
    return BundleManifest(
        manifest,
        reading.document.get("redacted") is True,
        made_by if isinstance(made_by, str) else "",
    )


def _check(manifest: Manifest, unsafe: partial[UnsafeBundleError]) -> None:
    folder, session = manifest.folder, manifest.session
    for name in (folder, session):
        if "/" in name or not has_place(name):
            raise unsafe(f"{name[:200]!r} is no name of a session or of a project's folder")
    if manifest.main.place != main_place(folder, session) or manifest.main.kind != "session":
        raise unsafe("its last file is not the session's own")
    places = {file.place for file in manifest.files}
    for file in manifest.files:
        if not has_place(file.place):
            raise unsafe(f"the place {file.place[:200]!r} leads elsewhere")
        if file is not manifest.main and not belongs(file.place, folder, session):
            raise unsafe(f"{file.place[:200]!r} is nothing that belongs to a session")
        above = file.place
        while above := above.rpartition("/")[0]:
            if above in places:
                raise unsafe(f"{above[:200]!r} is a file and a folder at once")


def main_place(folder: str, session: str) -> str:
    """Return where a session's own file lies below a config folder."""
    return f"projects/{folder}/{session}.jsonl"


def has_place(name: str) -> bool:
    """Say whether a name stays below its folder, on whatever system."""
    try:
        os.fsencode(name)
    except UnicodeEncodeError:  # half a character, which is no name of a file
        return False
    return is_safe(name) and "\\" not in name and not _DRIVE.match(name)


def belongs(place: str, folder: str, session: str) -> bool:
    """Say whether a file that lies there, below the config folder, can belong to a session beside its own."""
    project, own = f"projects/{folder}/", f"projects/{folder}/{session}/"
    if place.startswith((own, f"file-history/{session}/", f"tasks/{session}/")):
        return True
    top, _, name = place.rpartition("/")
    if top == "todos":
        return name.startswith(f"{session}-agent-") and name.endswith(".json")
    # Sub-agents lay beside their session before they lay in its folder.
    is_agent = name.endswith((".jsonl", ".meta.json")) and place.startswith(project)
    return is_agent and (
        (f"{top}/" == project and name.startswith("agent-")) or place.startswith(f"{project}subagents/")
    )
