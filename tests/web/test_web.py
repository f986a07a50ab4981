"""The renderer's source: current types, pinned packages, and not one way to make markup out of text."""

from __future__ import annotations

import json
import re
from pathlib import Path

from scripts import make_part_types

WEB = Path(__file__).resolve().parent.parent.parent / "web"
SOURCES = sorted((WEB / "src").glob("*.ts*"))


def test_the_types_are_those_of_the_parts() -> None:
    assert make_part_types.MODULE.read_text(encoding="utf-8") == make_part_types.render(), (
        "run scripts/make_part_types.py"
    )


def test_no_source_makes_markup_out_of_text() -> None:
    forbidden = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write|DOMParser|"
        r"createContextualFragment|setHTML|srcdoc|\beval\s*\(|new Function|"
        r"setAttribute\(\s*[\"'`]on|\.cssText"
    )
    assert len(SOURCES) > 15
    for path in SOURCES:
        assert not forbidden.search(path.read_text(encoding="utf-8")), path.name


def test_no_source_asks_the_network() -> None:
    asking = re.compile(
        r"\bfetch\s*\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon|importScripts|import\s*\("
    )
    for path in SOURCES:
        assert not asking.search(path.read_text(encoding="utf-8")), path.name


def test_an_address_is_only_set_where_it_was_judged() -> None:
    """Links in texts go through `Link`, given what `safeAddress` let through; others are anchors."""
    for path in SOURCES:
        for value in re.findall(r"\bhref=(\{[^}]*\}|\"[^\"]*\")", path.read_text(encoding="utf-8")):
            assert value == "{address}" or value.startswith(("{`#", '"#')), (path.name, value)


def test_every_package_is_pinned_and_locked() -> None:
    package = json.loads((WEB / "package.json").read_text(encoding="utf-8"))
    lock = json.loads((WEB / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    asked = {**package["dependencies"], **package["devDependencies"]}
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in asked.values())
    for name, version in asked.items():
        assert lock[f"node_modules/{name}"]["version"] == version
    assert all(entry.get("integrity") for name, entry in lock.items() if name)
