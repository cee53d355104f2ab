from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
from recalling import LSTM, TRANSFORMER, trained
from torch import Tensor, nn

from seedbed.configuration.configuration import Configuration
from seedbed.demonstrations.gradients_at_initialisation import Options, demonstrate, gradient_norms, questions
from seedbed.documents import Documents
from seedbed.models import recurrent, transformer
from seedbed.objectives import answer
from seedbed.observations import condition_text
from seedbed.pipeline.plan import Plan
from seedbed.tasks import recall

SMALL = Options(distances=(2, 5, 8, 10, 20, 30), questions=8, least=5, middle=8, most=10)
TASK = recall.Task(recall.Options())
REFERENCE = {"rnn": 2.8668233e-27, "lstm-bias-3": 1.0286725, "transformer": 0.16726668}
OBJECTIVE = answer.Objective(answer.Options(), recall.VOCABULARY)
KINDS = [TRANSFORMER, LSTM, replace(LSTM, cell="rnn"), replace(LSTM, cell="gru", tied=True, embedding=5)]


def untrained(options: transformer.Options | recurrent.Options, seed: int = 0) -> nn.Module:
    return trained(options, seed).network


def found(network: nn.Module, options: Options = SMALL) -> dict[str, float]:
    rows = demonstrate(options, task=TASK, networks={"it": network})
    texts = {f"{one.metric} {condition_text(one.condition)}": one.value for one in rows}
    return {text.replace(";network=it", "").removesuffix(" network=it"): value for text, value in texts.items()}


def differences(network: nn.Module, document: Documents, width: int) -> float:
    """The norm of the gradient by what the key is read as, by central differences."""
    step = 1e-6

    def loss(shift: Tensor) -> float:
        def moved(_: nn.Module, tokens: tuple[Tensor], vectors: Tensor) -> Tensor:
            return vectors + (tokens[0] < 8)[:, None] * shift

        hook = network.embedding.register_forward_hook(moved)  # type: ignore[union-attr, operator]
        with torch.no_grad():
            total, _ = OBJECTIVE.loss(network, OBJECTIVE.examples(document, np.random.default_rng(0)))
        hook.remove()
        return float(total)

    directions = step * torch.eye(width, dtype=torch.float64)
    slopes = [(loss(one) - loss(-one)) / (2 * step) for one in directions]
    return float(np.linalg.norm(slopes))


@pytest.mark.parametrize("options", KINDS)
def test_the_gradient_is_that_of_the_answers_loss_by_the_keys_vector(
    options: transformer.Options | recurrent.Options,
) -> None:
    network, answered = untrained(options).double(), questions(4, 8)
    norms = gradient_norms(network, answered)
    width = network.embedding.weight.shape[1]  # type: ignore[union-attr, index]
    expected = [differences(network, Documents.of([document]), width) for document in answered]
    np.testing.assert_allclose(np.sort(norms), np.sort(expected), rtol=1e-4)


def test_networks_of_one_seed_are_alike_and_those_of_two_differ() -> None:
    first = found(untrained(LSTM))
    assert found(untrained(LSTM)) == first
    assert found(untrained(LSTM, seed=1)) != first


def test_every_key_is_asked_for_as_often_and_nothing_else_tells_it() -> None:
    asked = np.array([list(document) for document in questions(6, 16)])
    assert asked.shape == (16, 9)
    assert np.bincount(asked[:, 0]).tolist() == [2] * recall.KEYS
    np.testing.assert_array_equal(asked[:, 0], asked[:, -1])
    assert set(asked[:, 1:-2].ravel()) <= set(range(recall.KEYS, recall.QUERY))


def test_ratios_and_slopes_are_those_of_the_gradients() -> None:
    rows = found(untrained(LSTM))
    norm = {distance: rows[f"initial_gradient distance={distance}"] for distance in (2, 5, 8, 10, 20, 30)}
    for distance, value in norm.items():
        assert rows[f"initial_gradient_ratio distance={distance}"] == pytest.approx(value / norm[5])
    places, logs = np.log([7, 10, 12]), np.log([norm[5], norm[8], norm[10]])
    slope = np.cov(places, logs)[0, 1] / np.var(places, ddof=1)
    assert rows["initial_gradient_exponent"] == pytest.approx(slope)
    rates = np.log(norm[8] / norm[5]) / 3, np.log(norm[10] / norm[8]) / 2
    assert rows["initial_gradient_persistence"] == pytest.approx(rates[1] / rates[0])


def test_a_state_that_halves_at_every_step_has_an_exponential_decay() -> None:
    """Elman's network with hidden weights of a half and hardly any input: tanh is linear there."""
    network = untrained(replace(LSTM, cell="rnn"))
    layer = network.layers[0]  # type: ignore[index]
    with torch.no_grad():
        layer.input_weight.mul_(1e-4)
        layer.input_bias.zero_()
        layer.hidden_bias.zero_()
        layer.hidden_weight.copy_(torch.eye(5) / 2)
    rows = found(network)
    for distance in (2, 5, 8, 10, 20, 30):
        ratio = rows[f"initial_gradient_ratio distance={distance}"]
        assert ratio == pytest.approx(0.5 ** (distance - 5), rel=0.01)
    assert rows["initial_gradient_persistence"] == pytest.approx(1, abs=0.01)


def test_what_ends_behind_the_position_table_has_no_row() -> None:
    rows = found(untrained(TRANSFORMER))
    assert "initial_gradient distance=20" in rows
    assert "initial_gradient distance=30" not in rows


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Options(least=11), "least 11: expected one of distances"),
        (lambda: Options(most=99), "most 99: expected one of distances"),
        (lambda: Options(middle=7), "middle 7: expected one of distances"),
        (lambda: Options(least=100, most=10), "least 100, middle 50, most 10: expected them to rise"),
        (lambda: Options(questions=4), "questions 4: expected a multiple of 8"),
        (
            lambda: Options(distances=(10, 5, 50, 100)),
            "expected at least one, each from 1 and above the one before",
        ),
        (lambda: Options(distances=()), "expected at least one"),
    ],
)
def test_options_out_of_range_are_refused(make: Callable[[], Options], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_a_position_table_that_ends_early_leaves_out_what_needs_more() -> None:
    short = found(untrained(replace(TRANSFORMER, max_positions=8)))
    assert {name.split()[0] for name in short} == {"initial_gradient", "initial_gradient_ratio"}
    shorter = found(untrained(replace(TRANSFORMER, max_positions=5)))
    assert set(shorter) == {"initial_gradient distance=2"}


def test_another_task_is_refused() -> None:
    with pytest.raises(ValueError, match="expected the task recall, found builtins"):
        list(demonstrate(SMALL, task=object(), networks={}))  # type: ignore[arg-type]


def test_the_projects_networks_give_the_ratios_of_the_reference(configuration: Configuration) -> None:
    """As measured in the networks of trainings of seed 0, before their first step."""
    name = "gradients-at-initialisation"
    entry = configuration.demonstrations[name]
    chosen = {key: entry.models[key] for key in ("rnn", "lstm-bias-3", "transformer")}
    job = replace(Plan(configuration).demonstration(name), entry=entry.model_copy(update={"models": chosen}))
    at_100 = {"network": "", "distance": 100}
    ratios = {
        one.condition["network"]: one.value
        for one in job.observe(0)
        if one.metric == "initial_gradient_ratio" and one.condition | {"network": ""} == at_100
    }
    assert ratios == pytest.approx(REFERENCE, rel=1e-6)
