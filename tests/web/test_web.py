"""The renderer's source: current types, pinned packages, and not one way to make markup out of text."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

from scripts import make_api_types, make_part_types

ROOT = Path(__file__).resolve().parent.parent.parent
WEB = ROOT / "web"
RENDERER = sorted((WEB / "src").glob("*.ts*"))
APP = sorted((WEB / "src" / "app").rglob("*.ts*"))
SOURCES = [*RENDERER, *APP]
ASKING = {"ask.ts", "events.ts"}
"""What of the app may speak to the server."""

OWN_LINKS = {("pieces.tsx", "{writeAddress(to)}"), ("download.tsx", "{path(place, said)}")}
"""Where the app makes addresses of its own: of its views, and of downloads that its server gives."""

MOST = 150_000
"""Bytes of the app as a browser gets it, packed."""


def test_the_types_are_those_of_the_parts() -> None:
    assert make_part_types.MODULE.read_text(encoding="utf-8") == make_part_types.render(), (
        "run scripts/make_part_types.py"
    )


def test_the_types_of_the_app_are_those_of_its_api() -> None:
    assert make_api_types.MODULE.read_text(encoding="utf-8") == make_api_types.render(), (
        "run scripts/make_api_types.py"
    )


def test_the_app_is_small() -> None:
    packed = [gzip.compress((ROOT / "src/clew/assets" / name).read_bytes()) for name in ("app.js", "app.css")]
    assert 1_000 < sum(map(len, packed)) < MOST


def test_no_source_makes_markup_out_of_text() -> None:
    forbidden = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write|DOMParser|"
        r"createContextualFragment|setHTML|srcdoc|\beval\s*\(|new Function|"
        r"setAttribute\(\s*[\"'`]on|\.cssText"
    )
    assert len(RENDERER) > 15
    assert len(APP) > 10
    for path in SOURCES:
        assert not forbidden.search(path.read_text(encoding="utf-8")), path.name


def test_only_two_sources_of_the_app_ask_the_server_and_none_of_the_renderer() -> None:
    asking = re.compile(
        r"\bfetch\s*\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon|importScripts|import\s*\("
    )
    found = {path.name for path in SOURCES if asking.search(path.read_text(encoding="utf-8"))}
    assert found == ASKING


def test_an_address_is_only_set_where_it_was_judged() -> None:
    """Links in texts go through `Link`, given what `safeAddress` let through; others are anchors."""
    for path in SOURCES:
        for value in re.findall(r"\bhref=(\{[^}]*\}|\"[^\"]*\")", path.read_text(encoding="utf-8")):
            if (path.name, value) in OWN_LINKS:
                continue
            if value == "{path(place, said)}" and path.name == "download.tsx":
                continue  # its type lets nothing through that does not begin with /api/
            assert value == "{address}" or value.startswith(("{`#", '"#')), (path.name, value)


def test_every_package_is_pinned_and_locked() -> None:
    package = json.loads((WEB / "package.json").read_text(encoding="utf-8"))
    lock = json.loads((WEB / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    asked = {**package["dependencies"], **package["devDependencies"]}
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in asked.values())
    for name, version in asked.items():
        assert lock[f"node_modules/{name}"]["version"] == version
    assert all(entry.get("integrity") for name, entry in lock.items() if name)
