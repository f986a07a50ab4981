"""What came of importing a session, or would come of it, in the form in which it is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from clew.edit.plan import Counts
    from clew.store.bundle_manifest import BundleManifest
    from clew.store.commit import Done


class Imported(NamedTuple):
    """A session that was taken out of a bundle."""

    bundle: str
    """The file it was in."""

    about: BundleManifest
    id: str
    path: str
    """Its own file."""

    cwd: str | None
    """The folder of its project on this machine, as far as it tells of one."""

    counts: Counts
    """What became of the lines, those of sub-agents too."""

    new: tuple[str, ...]
    """The files that were not there yet, the session's own last."""

    there: tuple[str, ...]
    """The files that were there already, just so."""

    done: Done | None
    """None if nothing was written: for a dry run, or as all of it was there."""

    notes: tuple[str, ...] = ()

    @property
    def is_there(self) -> bool:
        """Whether all of it was there already."""
        return not self.new

    @property
    def resume(self) -> str:
        """What goes on with it."""
        return f"claude --resume {self.id}"

    def as_dict(self) -> dict[str, object]:
        """Return it in the shape of `clew import --json`: that of an edit, as far as it fits."""
        manifest, counts = self.about.manifest, self.counts
        is_written = self.done is not None or self.is_there
        return {
            "source": {
                "bundle": self.bundle,
                "id": manifest.session,
                "project": manifest.cwd,
                "folder": manifest.folder,
                "root": manifest.base if manifest.is_in_store else None,
                "redacted": self.about.is_redacted,
            },
            "result": {"id": self.id, "path": self.path} if is_written else None,
            "project": self.cwd,
            "there": self.is_there,
            "kept": counts.kept,
            "patched": counts.patched,
            "dropped": counts.dropped,
            "added": counts.added,
            "bytes_before": counts.bytes_before,
            "bytes_after": counts.bytes_after,
            "files": [*self.new],
            "files_there": [*self.there],
            "resume": self.resume,
            "journal": None if self.done is None else self.done.id,
            "durable": None if self.done is None else self.done.is_lasting,
            "notes": [*self.notes],
        }
