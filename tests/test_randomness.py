import random
import sys

import numpy as np
import processes
import pytest
import torch

from seedbed.randomness import global_streams, stream, torch_stream


def test_a_stream_always_begins_at_its_start() -> None:
    assert stream(3, "order").integers(1 << 60) == stream(3, "order").integers(1 << 60)


def test_seeds_and_purposes_give_different_streams() -> None:
    firsts = {int(stream(seed, word).integers(1 << 60)) for seed in range(5) for word in ("order", "corruption")}
    assert len(firsts) == 10


def test_streams_are_those_of_every_version() -> None:
    """Changed streams would change every result without a changed recipe."""
    assert stream(0, "order").integers(1 << 30) == 34486046
    assert torch.randint(1 << 30, (1,), generator=torch_stream(0, "initialisation")).item() == 361250802


def test_neighbouring_streams_are_not_correlated() -> None:
    draws = np.array([stream(seed, "order").random(2000) for seed in range(8)])
    correlation = np.corrcoef(draws) - np.eye(8)
    assert np.abs(correlation).max() < 5 / np.sqrt(2000)


def test_streams_leave_the_global_generators_alone() -> None:
    before = torch.get_rng_state()
    torch_stream(1, "initialisation")
    assert torch.equal(before, torch.get_rng_state())


def test_pythons_hash_seed_does_not_matter() -> None:
    program = "from seedbed.randomness import stream; print(stream(0, 'order').integers(1 << 30))"
    texts = {
        processes.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed},
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(texts) == 1


def drawn() -> tuple[float, float, float]:
    """One number of each global generator."""
    return random.random(), float(np.random.rand()), torch.rand(1).item()  # noqa: NPY002


def test_global_generators_begin_at_the_start_of_their_stream_and_differ_by_seed_and_purpose() -> None:
    found = []
    for seed, purpose in [(0, "noise"), (0, "noise"), (1, "noise"), (0, "measuring")]:
        drawn()
        with global_streams(seed, purpose):
            found.append(drawn())
    assert found[0] == found[1]
    for numbers in zip(*found[1:], strict=True):
        assert len(set(numbers)) == 3


def test_global_generators_are_afterwards_as_they_were_even_after_an_error() -> None:
    with global_streams(7, "test"):
        expected = drawn()
    with global_streams(7, "test"):
        with pytest.raises(ZeroDivisionError), global_streams(0, "noise"):
            assert drawn()[0] / 0
        assert drawn() == expected


def test_global_streams_import_no_torch() -> None:
    program = "import sys; from seedbed.randomness import global_streams\n"
    program += "with global_streams(0, 'noise'): pass\nsys.exit('torch' in sys.modules)"
    assert processes.run([sys.executable, "-c", program]).returncode == 0
