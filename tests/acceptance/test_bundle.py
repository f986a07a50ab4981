"""Sessions of the real client taken to another machine as bundles, and resumed there by the real client."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from clew.actions.bundling import bundle
from clew.store.files import Store
from tests.acceptance.bundle_lab import SECRET, Machine, write_session
from tests.acceptance.run_lab import told
from tests.actions.bundling_lab import moved_over, scenarios
from tests.conformance.client import PROMPT, install, slug
from tests.conformance.notation import met_reminders, normal, short, without_prompt
from tests.store.bundles import listed

if TYPE_CHECKING:
    from pathlib import Path

    from clew.actions.bundling import Bundled

pytestmark = pytest.mark.acceptance

VERSIONS = ("2.1.325", "2.1.150")
BESIDE = ("file-history/", "/subagents/agent-", "/tool-results/")


@pytest.fixture(scope="module", params=VERSIONS)
def there(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """The machine that a session was written on, by one version of the client."""
    machine = Machine(tmp_path_factory.mktemp("there").resolve())
    write_session(machine, install(request.param))
    return machine


def digests(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def export(there: Machine, out: Path, *, redact: bool) -> Bundled:
    """Put the session into a file; the store it is in must not change."""
    before = digests(there.config)
    # Later than anything the client may still be at.
    now_ms = int(time.time() * 1000) + 3_600_000
    store = Store.at([str(there.config)])
    done = bundle(store, there.file.stem, out, now_ms=now_ms, state=out.parent / "state", redact=redact)
    assert digests(there.config) == before
    return done


def imported(here: Machine, file: Path, *words: str) -> dict[str, Any]:
    """Run `clew import` as a person would."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "clew", "import", str(file), "--json", *words],
        env=here.environment(),
        cwd=here.work,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    (one,) = json.loads(done.stdout)
    return one


def is_resumed_as_told(here: Machine, session: str, place: Path) -> None:
    """Let every version resume a copy of the machine; what it sends must be what `clew context` says."""
    data = here.file.read_bytes()
    for version in VERSIONS:
        # The place stays: by it the client finds the session.
        shutil.copytree(here.root, place / version, symlinks=True)
        sent = here.resumed(install(version), session)
        cut = met_reminders(sent)
        theirs = normal(without_prompt(sent, PROMPT), cut=cut)
        ours = normal(told(data, client=version), cut=cut)
        assert theirs == ours, f"{version}\n- {short(theirs)}\n+ {short(ours)}"
        assert len(theirs) > 6
        shutil.rmtree(here.root)
        shutil.copytree(place / version, here.root, symlinks=True)


@pytest.mark.parametrize("redact", [False, True], ids=["whole", "redacted"])
def test_a_session_is_resumed_on_another_machine_in_another_project(
    there: Machine, tmp_path: Path, redact: bool
) -> None:
    file, here = tmp_path / "x.clew", Machine((tmp_path / "here").resolve())
    export(there, file, redact=redact)
    members = listed(file.read_bytes())
    for part in BESIDE:
        assert any(part in name for name in members), f"the client wrote no {part}"
    planted = {name for name, data in members.items() if SECRET.encode() in data}
    assert planted == set() if redact else len(planted) >= 3
    assert SECRET.encode() not in file.read_bytes()
    done = imported(here, file, "--to", str(here.work))
    assert done["result"]["path"] == str(here.file)
    assert here.file.parent.name == slug(str(here.work))
    if redact:
        assert not [path for path in here.config.rglob("*") if path.is_file() and SECRET in path.read_text()]
    is_resumed_as_told(here, done["result"]["id"], tmp_path / "kept")


def test_a_session_is_a_new_one_beside_the_old_and_is_resumed(there: Machine, tmp_path: Path) -> None:
    file, here = tmp_path / "x.clew", Machine((tmp_path / "here").resolve())
    export(there, file, redact=False)
    done = imported(here, file, "--to", str(here.work), "--as-new")
    assert done["result"]["id"] != there.file.stem
    is_resumed_as_told(here, done["result"]["id"], tmp_path / "kept")


def test_every_session_of_the_corpus_is_the_same_elsewhere(tmp_path: Path) -> None:
    counts = [moved_over(one, tmp_path / str(number)) for number, one in enumerate(scenarios())]
    sessions, files = (sum(column) for column in zip(*counts, strict=True))
    print(f"\n{len(counts)} scenarios, {sessions} sessions, {files} files byte for byte")
    assert sessions > 200
