import subprocess
import sys

import numpy as np
import torch

from seedbed.randomness import stream, torch_stream


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
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(texts) == 1
