"""A lake in Azure's store: Azurite, its own stand-in, holds the same rows as a folder does."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import shutil
from email.utils import formatdate
from typing import TYPE_CHECKING
from urllib.request import Request, urlopen

import pytest

from bench.installing import PeerMissingError, by_npm
from clew.lake.places import Place
from tests.acceptance.lake_lab import CACHE, Process, free_port, is_open, waited
from tests.lake.lab import CORPUS, KEY, built, copied, everything

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.acceptance

AZURITE = "azurite@3.35.0"
ACCOUNT = "devstoreaccount1"
SECRET = base64.b64encode(b"of this test alone, and 64 bytes long as those of all accounts.").decode()
CONTAINER = "lakes"


def make_container(port: int) -> None:
    """Make it by the store's own way to sign a request."""
    date = formatdate(usegmt=True)
    headers = {"x-ms-date": date, "x-ms-version": "2021-08-06"}
    signed = (
        "\n".join(("PUT", *[""] * 11, *(f"{name}:{value}" for name, value in headers.items())))
        + f"\n/{ACCOUNT}/{ACCOUNT}/{CONTAINER}\nrestype:container"
    )
    mark = hmac.new(base64.b64decode(SECRET), signed.encode(), hashlib.sha256).digest()
    headers |= {
        "Authorization": f"SharedKey {ACCOUNT}:{base64.b64encode(mark).decode()}",
        "Content-Length": "0",
    }
    url = f"http://127.0.0.1:{port}/{ACCOUNT}/{CONTAINER}?restype=container"
    with urlopen(Request(url, method="PUT", headers=headers), timeout=30) as answer:
        assert answer.status == 201


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """What clew has to be told to speak to a store that runs."""
    folder = tmp_path_factory.mktemp("azure")
    try:
        program = by_npm(AZURITE, "dist/src/blob/main.js")(CACHE / "azurite")
    except PeerMissingError as missing:
        pytest.skip(str(missing))
    node = shutil.which("node")
    assert node is not None
    port = free_port()
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "AZURITE_ACCOUNTS": f"{ACCOUNT}:{SECRET}"}
    where = ("--blobHost", "127.0.0.1", "--blobPort", str(port), "--location", str(folder), "--silent")
    process = Process(
        [node, str(program), *where, "--skipApiVersionCheck", "--disableTelemetry"],
        env,
        folder / "azurite.log",
    )
    try:
        waited(lambda: is_open(port), "Azurite", [process])
        make_container(port)
        yield [
            f"azure_storage_account_name={ACCOUNT}",
            f"azure_storage_account_key={SECRET}",
            f"azure_storage_endpoint=http://127.0.0.1:{port}/{ACCOUNT}",
            "allow_http=true",
        ]
    finally:
        process.end()


def test_a_lake_in_azure_has_the_rows_of_one_in_a_folder(options: list[str], tmp_path: Path) -> None:
    source, lake = tmp_path / "source", f"az://{CONTAINER}/lake"
    copied(source, CORPUS[::16][:6])
    built(source, tmp_path / "lake", key=KEY)
    url = f"az://{CONTAINER}/source"
    place = Place.parse(url, options)
    for path in sorted(source.rglob("*")):
        if path.is_file():
            place.put(path.relative_to(source).as_posix(), path.read_bytes())
    first = built(url, lake, key=KEY, options=options)
    assert not first.unread
    found = everything(lake, options=options)
    assert all(found[table] for table in ("sessions", "messages", "calls"))
    # A session lies elsewhere, and was put there later; all that is in it is the same.
    wanted = everything(tmp_path / "lake")
    assert len(found.pop("sessions")) == len(wanted.pop("sessions"))
    for table, rows in found.items():
        assert sorted(map(repr, rows)) == sorted(repr(row).replace(str(source), url) for row in wanted[table])
    again = built(url, lake, key=KEY, options=options)
    assert (first.mapped > 0, again.mapped, again.sessions) == (True, 0, first.sessions)
