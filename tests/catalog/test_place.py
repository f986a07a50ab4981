"""Where a catalog lies, and who may look into it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from clew.catalog.catalog import Catalog, CatalogUnavailableError
from clew.catalog.place import LAYOUT, catalog_folder, user_cache
from tests.catalog.stores import Tree, line


@pytest.mark.parametrize(
    ("variables", "platform", "expected"),
    [
        ({"XDG_CACHE_HOME": "/x/cache"}, "linux", "/x/cache"),
        ({"XDG_CACHE_HOME": "/x/cache"}, "darwin", "/x/cache"),
        ({}, "linux", "~/.cache"),
        ({"XDG_CACHE_HOME": ""}, "linux", "~/.cache"),
        ({}, "darwin", "~/Library/Caches"),
        ({"LOCALAPPDATA": "/c/local"}, "win32", "/c/local"),
        ({}, "win32", "~/AppData/Local"),
    ],
)
def test_the_cache_folder_is_the_platforms(variables: dict[str, str], platform: str, expected: str) -> None:
    assert user_cache(variables, platform=platform) == Path(expected).expanduser()


def test_the_same_config_folders_have_one_catalog_however_they_are_named(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "a")
    a, b, link = (str(tmp_path / name) for name in ("a", "b", "link"))
    place = catalog_folder([a, b], cache=tmp_path)
    assert place == catalog_folder([b, a], cache=tmp_path) == catalog_folder([b, link, a], cache=tmp_path)
    assert place != catalog_folder([a], cache=tmp_path)
    assert place.parent == tmp_path / "clew" / "index" / f"v{LAYOUT}"


@pytest.mark.skipif(os.name != "posix", reason="modes")
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_nobody_else_can_look_into_a_catalog_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    tree = Tree(tmp_path / "root")
    tree.write("-a/s.jsonl", line(0))
    before = os.umask(umask)
    try:
        with Catalog.open(tree.store(), cache=tmp_path / "cache") as catalog:
            catalog.update()
            with catalog.reading():
                modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "cache").rglob("*")}
    finally:
        os.umask(before)
    assert len(modes) > 8
    assert any(path.name.endswith("-wal") for path in modes)
    for path, mode in modes.items():
        assert mode == (0o700 if path.is_dir() else 0o600), path


@pytest.mark.skipif(os.name != "posix", reason="modes")
def test_a_catalog_that_others_could_look_into_is_closed_to_them(tmp_path: Path) -> None:
    tree = Tree(tmp_path / "root")
    with Catalog.open(tree.store(), cache=tmp_path / "cache") as catalog:
        catalog.update()
        for path in (catalog.folder, *catalog.folder.glob("*.db")):
            path.chmod(0o755)
        catalog.update()
        modes = {
            stat.S_IMODE(path.stat().st_mode) & 0o077
            for path in (catalog.folder, *catalog.folder.glob("*.db"))
        }
    assert modes == {0}


def test_a_cache_folder_that_is_none_is_told(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(CatalogUnavailableError) as told:
        Catalog.open(Tree(tmp_path / "root").store(), cache=tmp_path / "cache")
    assert "cannot be made" in told.value.reason
