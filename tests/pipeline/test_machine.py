"""What tells two machines apart: all that decides last digits, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from seedbed.pipeline import machine, reference_files


@pytest.fixture(autouse=True)
def forget() -> None:
    machine.arithmetic.cache_clear()


def test_arithmetic_is_the_same_each_time_whatever_the_number_of_threads() -> None:
    before = torch.get_num_threads()
    first = machine.arithmetic()
    machine.arithmetic.cache_clear()
    torch.set_num_threads(before + 1)
    try:
        assert machine.arithmetic() == first
        assert torch.get_num_threads() == before + 1
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("name", ["gelu", "layer_norm"])
def test_another_last_digit_of_torch_is_another_arithmetic(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    first, original = machine.arithmetic(), getattr(torch.nn.functional, name)
    machine.arithmetic.cache_clear()
    monkeypatch.setattr(torch.nn.functional, name, lambda *given: original(*given) * (1 + 2**-23))
    assert machine.arithmetic() != first


def test_another_last_digit_of_numpy_is_another_arithmetic(monkeypatch: pytest.MonkeyPatch) -> None:
    first, original = machine.arithmetic(), np.exp
    machine.arithmetic.cache_clear()
    monkeypatch.setattr(np, "exp", lambda values: np.nextafter(original(values), np.inf))
    assert machine.arithmetic() != first


def test_every_name_that_decides_is_told() -> None:
    told = machine.machine()
    assert set(machine.DECIDING) <= set(told)
    assert all(told[name] for name in machine.DECIDING)


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("processor : 0\nvendor_id : A\ncpu family : 25\nmodel : 17\nmodel name : EPYC\n\nmodel : 3", "A 25 17"),
        ("processor : 0\nCPU implementer : 0x41\nCPU part : 0xd0c\n", "0x41 0xd0c"),
    ],
)
def test_a_processor_is_known_by_its_numbers(monkeypatch: pytest.MonkeyPatch, text: str, family: str) -> None:
    monkeypatch.setattr(machine.Path, "read_text", lambda *_, **__: text)
    machine._processor.cache_clear()
    found = machine.processor_family()
    machine._processor.cache_clear()
    assert [word for word in found.split() if word in family.split()] == family.split()


def test_the_wheels_of_one_version_have_one_label_and_another_version_has_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def label(version: str) -> dict[str, str]:
        monkeypatch.setattr(reference_files, "versions", lambda _: {"python": "3.11.7", "torch": version})
        return reference_files.environment([{"metric": name, "text": "x"} for name in machine.DECIDING])

    assert label("2.13.0") == label("2.13.0+cpu") != label("2.13.1+cpu")
