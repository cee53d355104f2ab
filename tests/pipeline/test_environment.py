"""pyproject.toml is the source; the generated files must agree with it."""

import tomllib

import pytest

from seedbed.pipeline.configuration import ROOT
from seedbed.pipeline.environment import ENVIRONMENT, LOCK, declared, environment_text, lock_text, pins

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
DIRECT = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["test"]]


def test_the_lock_was_made_from_the_present_dependencies() -> None:
    assert f"# dependencies: {declared()}\n" in (ROOT / LOCK).read_text(), (
        "pyproject.toml changed: run `make lock`"
    )


def test_lock_and_environment_are_what_their_pins_give() -> None:
    assert (ROOT / LOCK).read_text() == lock_text(ROOT, pins())
    assert (ROOT / ENVIRONMENT).read_text() == environment_text(pins())


@pytest.mark.parametrize("requirement", DIRECT)
def test_every_direct_dependency_is_pinned_as_pyproject_says(requirement: str) -> None:
    assert requirement.lower().replace("_", "-") in {pin.replace("_", "-") for pin in pins()}


def test_pins_are_public_versions_without_hashes_or_addresses() -> None:
    text = (ROOT / LOCK).read_text()
    assert "+cpu" not in text
    assert "--hash" not in text
    assert "://" not in text
    assert all(pin.count("==") == 1 for pin in pins())
