"""A file without a name holds what is put into it, and nothing is left of it."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING

from clew.store.disk import DISK

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_file_without_a_name_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with DISK.unnamed() as file:
        file.write(b"rows")
        file.seek(0)
        assert file.read() == b"rows"
        assert [*tmp_path.iterdir()] == []
    assert [*tmp_path.iterdir()] == []
