"""The loop with the smallest model there is: logits that do not look at the input."""

from __future__ import annotations

import math
import os
import random
import sys
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np
import processes
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from seedbed.documents import Documents
from seedbed.models.initialisation import fill, unfilled
from seedbed.randomness import torch_stream
from seedbed.training.loop import Options, Trained, train, validation_loss

TRAINING = Documents.of([[0, 1, 2][: 1 + index % 3] for index in range(23)])
VALIDATION = Documents.of([[0, 1], [2, 2, 1], [0]])
OPTIONS = Options(epochs=3, batch=5, learning_rate=0.1, warm_up=4)
SEEDS = {"initialisation": 0, "order": 0, "corruption": 0, "noise": 0}


class Unigram(nn.Module):
    """One distribution for every token."""

    def __init__(self) -> None:
        super().__init__()
        self.logits = nn.Linear(1, 3)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.logits(torch.ones(len(tokens), 1))


class Copied:
    """Scores every token; notes what it was given."""

    def __init__(self) -> None:
        self.seen: list[list[int]] = []
        self.draws: list[int] = []

    def examples(self, documents: Documents, rng: np.random.Generator) -> Tensor:
        self.seen.append(documents.tokens.tolist())
        self.draws.append(int(rng.integers(1000)))
        return torch.from_numpy(documents.tokens)

    def loss(self, model: nn.Module, batch: Tensor) -> tuple[Tensor, int]:
        return nn.functional.cross_entropy(model(batch), batch, reduction="sum"), len(batch)


@dataclass
class Scripted(Copied):
    """Validation losses by script; training losses are real unless the script says otherwise."""

    validation: list[float]
    training: dict[int, float]

    def __post_init__(self) -> None:
        super().__init__()
        self.step = 0

    def loss(self, model: nn.Module, batch: Tensor) -> tuple[Tensor, int]:
        total, count = super().loss(model, batch)
        if not model.training:
            return torch.tensor(self.validation.pop(0)) * count, count
        self.step += 1
        return total * self.training.get(self.step, 1.0), count


def fit(objective: Copied | None = None, options: Options = OPTIONS, **seeds: int) -> Trained:
    return train(unfilled(Unigram), objective or Copied(), TRAINING, VALIDATION, options, SEEDS | seeds)


@pytest.mark.parametrize(
    ("option", "value"),
    [("epochs", 0), ("batch", 0), ("warm_up", -1), ("learning_rate", -1.0), ("clip", -1.0)]
    + [("learning_rate", bad) for bad in (math.nan, math.inf)],
)
def test_an_option_out_of_its_range_is_refused_by_name(option: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"^{option} {value}: expected a finite number, at least [01]$"):
        replace(OPTIONS, **{option: value})


def test_the_same_seeds_give_the_same_weights_and_log() -> None:
    one, two = fit(), fit()
    assert one.log == two.log or str(one.log) == str(two.log)
    assert all(torch.equal(one.weights[name], two.weights[name]) for name in one.weights)


class Interrupted(Copied):
    """Ends the process's work in the middle of the second epoch."""

    def loss(self, model: nn.Module, batch: Tensor) -> tuple[Tensor, int]:
        if len(self.draws) > 9:
            raise KeyboardInterrupt
        return super().loss(model, batch)


def test_a_training_interrupted_and_run_again_gives_the_same_weights_and_log() -> None:
    whole = fit()
    with pytest.raises(KeyboardInterrupt):
        fit(Interrupted())
    again = fit()
    assert str(again.log) == str(whole.log)
    assert all(torch.equal(again.weights[name], whole.weights[name]) for name in whole.weights)


class Watching(Copied):
    """Notes what torch is set to while it trains."""

    def loss(self, model: nn.Module, batch: Tensor) -> tuple[Tensor, int]:
        self.threads, self.deterministic = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
        return super().loss(model, batch)


def test_training_uses_one_thread_and_deterministic_algorithms() -> None:
    torch.set_num_threads(2)
    torch.use_deterministic_algorithms(False)
    objective = Watching()
    fit(objective)
    assert (objective.threads, objective.deterministic) == (1, True)


class Leaking(Copied):
    """Reads memory that nothing was written to."""

    def loss(self, model: nn.Module, batch: Tensor) -> tuple[Tensor, int]:
        total, count = super().loss(model, batch)
        return total + 0 * torch.empty(1).sum(), count


def test_code_that_reads_fresh_memory_is_noticed_at_the_first_step() -> None:
    losses = fit(Leaking()).log.training_loss
    assert len(losses) == 1
    assert math.isnan(losses[0])


@pytest.mark.parametrize("stream", ["initialisation", "order"])
def test_every_stream_has_its_own_seed(stream: str) -> None:
    assert fit().log.training_loss != fit(**{stream: 1}).log.training_loss


def test_the_corruption_stream_has_its_own_seed() -> None:
    one, two, three = Copied(), Copied(), Copied()
    fit(one)
    fit(two)
    fit(three, corruption=1)
    assert one.draws == two.draws != three.draws


class Noisy(Unigram):
    """Drops logits, and adds noise of numpy's and Python's own generators."""

    def __init__(self) -> None:
        super().__init__()
        self.dropout = nn.Dropout(0.5)

    def forward(self, tokens: Tensor) -> Tensor:
        noise = np.random.rand() + random.random() if self.training else 0.0  # noqa: NPY002
        return self.dropout(super().forward(tokens)) * (1 + noise)


def noisy(**seeds: int) -> bytes:
    """The weights and the log of a training with dropout."""
    trained = train(unfilled(Noisy), Copied(), TRAINING, VALIDATION, OPTIONS, SEEDS | seeds)
    return b"".join(one.numpy().tobytes() for one in trained.weights.values()) + str(trained.log).encode()


def test_dropout_is_the_same_in_every_training_of_a_seed_whatever_was_drawn_before() -> None:
    first = noisy()
    torch.rand(7)
    np.random.rand(3)  # noqa: NPY002
    random.random()
    assert noisy() == first


def test_dropout_is_the_same_in_another_process() -> None:
    program = "import importlib.util, sys; spec = importlib.util.spec_from_file_location('here', sys.argv[1]); "
    program += "here = importlib.util.module_from_spec(spec); sys.modules['here'] = here; "
    program += "spec.loader.exec_module(here); sys.stdout.buffer.write(here.noisy())"
    environment = os.environ | {"PYTHONPATH": str(Path(processes.__file__).parent)}
    done = processes.run([sys.executable, "-c", program, __file__], check=True, text=False, env=environment)
    assert done.stdout == noisy()


def test_another_seed_of_the_noise_drops_others() -> None:
    assert noisy(noise=1) != noisy()
    assert fit(noise=1).log.training_loss == fit().log.training_loss


def test_validation_drops_nothing() -> None:
    model = Noisy()
    assert validation_loss(model, Copied(), VALIDATION, 2) == validation_loss(model, Copied(), VALIDATION, 2)


def test_the_global_generators_do_not_matter_and_are_left_alone() -> None:
    torch.manual_seed(1)
    before = torch.get_rng_state()
    one = fit()
    assert torch.equal(before, torch.get_rng_state())
    torch.manual_seed(2)
    assert fit().log.training_loss == one.log.training_loss


def test_every_epoch_sees_every_document_once_in_another_order() -> None:
    objective = Copied()
    log = fit(objective).log
    batches = [seen for seen in objective.seen if seen != VALIDATION.tokens.tolist()[: len(seen)]]
    steps = math.ceil(len(TRAINING) / OPTIONS.batch)
    assert len(log.epoch) == OPTIONS.epochs * steps
    assert log.tokens[-1] == OPTIONS.epochs * len(TRAINING.tokens)
    epochs = [list(chain(*batches[start : start + steps])) for start in range(0, len(batches), steps)]
    assert all(sorted(epoch) == sorted(TRAINING.tokens.tolist()) for epoch in epochs)
    assert epochs[0] != epochs[1]


def test_steps_are_those_of_adam_on_the_mean_over_tokens() -> None:
    objective = Copied()
    trained = fit(objective, Options(epochs=1, batch=8, learning_rate=0.5, warm_up=3))
    batches = [np.array(seen) for seen in objective.seen[:3]]
    assert len({len(batch) for batch in batches}) > 1
    weights = adam(initial_weights(), batches, rates=[0.5 / 3, 1 / 3, 0.5])
    for name, expected in weights.items():
        assert trained.weights[name].numpy() == pytest.approx(expected, abs=1e-6)


def initial_weights() -> dict[str, NDArray[np.float64]]:
    model = unfilled(Unigram)
    fill(model, torch_stream(0, "initialisation"))
    return {name: tensor.double().numpy() for name, tensor in model.state_dict().items()}


def adam(
    weights: dict[str, NDArray[np.float64]],
    batches: list[NDArray[np.int64]],
    rates: list[float],
    clip: float = math.inf,
) -> dict[str, NDArray[np.float64]]:
    """Algorithm 1 of Kingma and Ba (2015) for `Unigram`, with the mean loss a token of each batch."""
    first = {name: np.zeros_like(array) for name, array in weights.items()}
    second = {name: np.zeros_like(array) for name, array in weights.items()}
    for step, (batch, rate) in enumerate(zip(batches, rates, strict=True), start=1):
        powers = np.exp(weights["logits.weight"][:, 0] + weights["logits.bias"])
        slope = powers / powers.sum() - np.bincount(batch, minlength=3) / len(batch)
        slope *= min(1.0, clip / math.sqrt(2 * (slope**2).sum()))  # weights and biases have the same gradient
        for name in weights:
            gradient = slope.reshape(weights[name].shape)
            first[name] = 0.9 * first[name] + 0.1 * gradient
            second[name] = 0.999 * second[name] + 0.001 * gradient**2
            mean, square = first[name] / (1 - 0.9**step), second[name] / (1 - 0.999**step)
            weights[name] = weights[name] - rate * mean / (np.sqrt(square) + 1e-8)
    return weights


def test_gradients_are_clipped_by_their_common_norm() -> None:
    objective = Copied()
    options = Options(epochs=1, batch=8, learning_rate=0.5, warm_up=0, schedule="constant", clip=0.1)
    trained = fit(objective, options)
    batches = [np.array(seen) for seen in objective.seen[:3]]
    weights = adam(initial_weights(), batches, [0.5] * 3, clip=0.1)
    unclipped = adam(initial_weights(), batches, [0.5] * 3)
    assert weights["logits.bias"] != pytest.approx(unclipped["logits.bias"], abs=1e-3)
    for name, expected in weights.items():
        assert trained.weights[name].numpy() == pytest.approx(expected, abs=1e-5)


def test_stored_documents_are_read_in_their_order_in_every_epoch() -> None:
    objective = Copied()
    fit(objective, replace(OPTIONS, epochs=2, order="stored"))
    training = [seen for seen in objective.seen if seen != VALIDATION.tokens.tolist()]
    assert list(chain(*training)) == TRAINING.tokens.tolist() * 2


def test_a_training_goes_on_from_the_weights_of_another() -> None:
    first = fit()
    still = replace(OPTIONS, epochs=1, learning_rate=0.0)
    going = train(unfilled(Unigram), Copied(), TRAINING, VALIDATION, still, SEEDS, first.weights)
    assert all(torch.equal(going.weights[name], tensor) for name, tensor in first.weights.items())


def test_training_reaches_the_frequencies_of_the_tokens() -> None:
    trained = fit(options=replace(OPTIONS, epochs=60))
    logits = trained.weights["logits.weight"][:, 0] + trained.weights["logits.bias"]
    shares = np.bincount(TRAINING.tokens) / len(TRAINING.tokens)
    assert logits.softmax(0).numpy() == pytest.approx(shares, abs=0.05)


def test_the_learning_rate_of_the_schedule_is_used_and_logged() -> None:
    log = fit().log
    assert log.learning_rate[:4] == pytest.approx([0.025, 0.05, 0.075, 0.1])
    assert log.learning_rate[-1] == 0
    still = fit(options=replace(OPTIONS, learning_rate=0.0))
    assert torch.equal(
        still.weights["logits.bias"],
        fit(options=replace(OPTIONS, epochs=1, learning_rate=0.0)).weights["logits.bias"],
    )


def test_the_epoch_with_the_least_validation_loss_is_kept() -> None:
    log = fit(Scripted([3.0, 1.0, 2.0], {})).log
    assert log.epoch[log.selected.index(True)] == 2
    assert sum(log.selected) == 1
    assert [loss for loss in log.validation_loss if not math.isnan(loss)] == [3.0, 1.0, 2.0]


def test_the_weights_of_the_kept_epoch_are_those_it_ended_with() -> None:
    short, long = (
        fit(Scripted([1.0], {}), replace(OPTIONS, epochs=1, warm_up=99)),
        fit(Scripted([1.0, 2.0, 3.0], {}), replace(OPTIONS, warm_up=99)),
    )
    assert all(torch.equal(short.weights[name], long.weights[name]) for name in short.weights)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_diverged_training_stops_and_keeps_the_last_finite_weights(bad: float) -> None:
    trained = fit(Scripted([1.0, 2.0], {7: bad}))
    assert len(trained.log.epoch) == 7
    assert not math.isfinite(trained.log.training_loss[-1])
    assert trained.log.epoch[trained.log.selected.index(True)] == 1
    assert all(tensor.isfinite().all() for tensor in trained.weights.values())


def test_a_training_that_diverges_at_once_keeps_its_initial_weights() -> None:
    trained = fit(Scripted([], {1: math.nan}))
    assert not any(trained.log.selected)
    assert all(tensor.isfinite().all() for tensor in trained.weights.values())


class Spoiling(Copied):
    """A last step whose loss is finite and whose gradient is not, like that of the square root at 0."""

    def loss(self, model: nn.Module, batch: Tensor) -> tuple[Tensor, int]:
        total, count = super().loss(model, batch)
        if model.training and len(self.draws) == 3 * 5 + 2:  # three epochs of five steps, two validations
            total = total + (model.get_parameter("logits.bias") * 0).sqrt().sum()
        return total, count


def test_weights_spoilt_by_the_very_last_step_show_in_the_validation_loss_and_are_not_kept() -> None:
    trained = fit(Spoiling())
    assert len(trained.log.epoch) == 15
    assert math.isfinite(trained.log.training_loss[-1])
    assert math.isnan(trained.log.validation_loss[-1])
    assert all(tensor.isfinite().all() for tensor in trained.weights.values())


def test_an_infinite_validation_loss_is_never_the_best() -> None:
    log = fit(Scripted([math.nan, math.inf, 5.0], {})).log
    assert log.epoch[log.selected.index(True)] == 3


@pytest.mark.parametrize("batch", [1, 2, 3, 100])
def test_validation_loss_is_a_mean_over_tokens_whatever_the_batches(batch: int) -> None:
    model = Unigram()
    nn.init.zeros_(model.logits.weight)
    model.logits.bias.data = torch.tensor([0.1, 0.2, 0.3]).log()
    expected = -np.log(np.array([0.1, 0.2, 0.3])[VALIDATION.tokens] / 0.6).mean()
    assert validation_loss(model, Copied(), VALIDATION, batch) == pytest.approx(expected, rel=1e-6)


def test_validation_corrupts_alike_every_time() -> None:
    objective = Copied()
    for _ in range(2):
        validation_loss(Unigram(), objective, VALIDATION, 2)
    assert objective.draws[:2] == objective.draws[2:]
