"""A session in another format, as a download that is never held."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from clew.actions.export_stories import Chosen
from clew.actions.exporting import Wish, check, open_file, pieces, story
from clew.export.file_names import file_name
from clew.export.options import Options
from clew.export.registry import OWN, find
from clew.faces.web.answers import Stream

if TYPE_CHECKING:
    from clew.faces.web.asking import Asked
    from clew.faces.web.site import Site

FORMATS: Final = tuple(one.name for one in OWN)


def export(site: Site, asked: Asked) -> Stream:
    """Write a session in a format; what is made to be shown to others is without secrets."""
    shelf, file = site.find(asked.path["id"])
    exporter = find(asked.text("to") or "html")
    wish = Wish(
        exporter,
        Options(with_thinking=asked.flag("thinking"), with_agents=asked.flag("agents")),
        Chosen(first=asked.number("first"), last=asked.number("last"), branch=asked.text("branch")),
    )
    check(wish)
    wanted = asked.text("redact")
    if wanted == "yes" or (wanted is None and exporter.redacts):
        wish = replace(wish, key=site.key)
    opened = open_file(shelf.store, file, listing=shelf.listing)
    told = story(opened, wish)
    return Stream(
        pieces(told, wish),
        exporter.media_type,
        {"content-disposition": f'attachment; filename="{_plain(file_name(told.head, exporter.suffix))}"'},
    )


def _plain(name: str) -> str:
    """Return a name that needs no quoting: a title may hold anything."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:120] or "session"
