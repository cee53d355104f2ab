"""A reference is a file of the repository, and says so where it cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest
from miniature import configure

from seedbed.configuration.configuration import Configuration
from seedbed.configuration.demonstrations import Demonstration
from seedbed.configuration.yaml import ConfigError
from seedbed.pipeline.reference_files import read_reference, read_watched
from seedbed.pipeline.storage import StorageError
from seedbed.statistics.observed import ObservationKey


@pytest.mark.parametrize("content", [b"", b"PAR1 and some bytes PAR1"])
def test_a_damaged_reference_is_taken_from_the_repository(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "garden.parquet"
    path.write_bytes(content)
    with pytest.raises(StorageError, match=r"garden\.parquet: .*take the file from the repository again"):
        read_reference(path)


@pytest.fixture
def configuration(tmp_path: Path) -> Configuration:
    found = Configuration(root=configure(tmp_path).root)
    found.demonstrations = {"tiny-facts": Demonstration(kind="tiny_facts", title="T", lead="L")}
    return found


def watch(configuration: Configuration, *lines: str) -> list[ObservationKey]:
    text = "watched:\n" + "".join(f"  - {{{line}}}\n" for line in lines)
    (configuration.root / "config/watched.yaml").write_text(text)
    return read_watched(configuration)


def test_a_number_of_a_demonstration_may_be_watched(configuration: Configuration) -> None:
    of = "study: demonstrations, run: tiny-facts, metric: place, where: {word: in, distance: 3}"
    assert watch(configuration, of) == [
        ObservationKey("demonstrations", "tiny-facts", "place", "distance=3;word=in")
    ]


def test_a_watched_demonstration_that_is_not_there_is_refused(configuration: Configuration) -> None:
    with pytest.raises(ConfigError, match=r"watched\[0\]\.run: tiny-fact: did you mean tiny-facts"):
        watch(configuration, "study: demonstrations, run: tiny-fact, metric: place")
