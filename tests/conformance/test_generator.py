"""The made session files: reproducible, varied, and in the shapes the client writes."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from typing import cast

import pytest

from tests.conformance.generator import FEATURES, Feature, Sample, generate

SEEDS = range(200)


@pytest.fixture(scope="module")
def samples() -> list[Sample]:
    return [generate(seed) for seed in SEEDS]


def test_a_seed_always_gives_the_same_bytes() -> None:
    """A changed digest means that every answer of the real client has to be asked for anew."""
    digest = hashlib.sha256(b"".join(generate(seed).data for seed in range(20))).hexdigest()
    assert digest[:16] == "bf93da66eca8c7fc"


@pytest.mark.parametrize("feature", FEATURES)
def test_each_feature_is_in_at_least_a_tenth_of_the_files(feature: Feature, samples: list[Sample]) -> None:
    assert sum(feature in sample.features for sample in samples) >= len(SEEDS) / 10


def test_boundaries_come_with_and_without_preserved_messages(samples: list[Sample]) -> None:
    with_boundary = [sample for sample in samples if "boundary" in sample.features]
    kept = sum("preserved" in sample.features for sample in with_boundary)
    assert min(kept, len(with_boundary) - kept) >= len(SEEDS) / 10


def test_what_a_sample_says_of_itself_is_in_its_file(samples: list[Sample]) -> None:
    """Counted over the bytes, not by the generator: the features it names are not just intentions."""
    for sample in samples:
        if sample.features & {"deleted", "torn"}:
            continue  # the very line may be the one that is gone
        lines = [cast("dict[str, object]", json.loads(raw)) for raw in sample.data.splitlines()]
        kinds = Counter(line["type"] for line in lines)
        subtypes = Counter(line.get("subtype") for line in lines)
        uuids = [line["uuid"] for line in lines if "uuid" in line]
        assert ("attachment" in sample.features) == bool(kinds["attachment"])
        assert ("progress" in sample.features) == bool(kinds["progress"])
        assert ("boundary" in sample.features) == bool(subtypes["compact_boundary"])
        assert ("local-command" in sample.features) == bool(subtypes["local_command"])
        assert ("sidechain" in sample.features) == any(line.get("isSidechain") for line in lines)
        assert ("meta" in sample.features) == any(line.get("isMeta") is True for line in lines)
        assert ("last-prompt-explicit" in sample.features) == any(line.get("explicit") for line in lines)
        assert ("preserved" in sample.features) == (b'"preserved' in sample.data)
        if "doubled" not in sample.features:
            assert len(set(uuids)) == len(uuids)


def test_a_file_with_a_branch_has_a_line_with_two_children(samples: list[Sample]) -> None:
    """A parallel call in a tree has two children as well, so only files without one are looked at."""
    other: set[Feature] = {
        "parallel-tree",
        "parallel-interleaved",
        "sidechain",
        "odd-result",
        "doubled",
        "torn",
    }
    plain = [sample for sample in samples if not sample.features & (other | {"deleted", "boundary"})]
    branched = {
        sample.seed
        for sample in plain
        if max(Counter(re.findall(rb'"parentUuid":"([^"]+)"', sample.data)).values()) > 1
    }
    assert branched == {sample.seed for sample in plain if "branch" in sample.features}
    assert branched


def test_torn_files_hold_a_line_that_does_not_parse(samples: list[Sample]) -> None:
    torn = [sample for sample in samples if "torn" in sample.features]
    assert torn
    assert all(any(not parses(raw) for raw in sample.data.splitlines()) for sample in torn)


def parses(raw: bytes) -> bool:
    try:
        json.loads(raw)
    except ValueError:
        return False
    return True
