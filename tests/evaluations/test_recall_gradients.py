from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
from recalling import CONTEXT, LSTM, TRANSFORMER, trained
from torch import Tensor, nn

from seedbed.documents import Documents
from seedbed.evaluations.recall_gradients import Options, evaluate, gradient_norms
from seedbed.measuring.recall_questions import ask
from seedbed.measuring.trained import TrainedModel
from seedbed.models import recurrent, transformer
from seedbed.observations import condition_text

SMALL = Options(distances=(2, 5, 8, 10, 20, 30), questions=8, least=5, middle=8, most=10)
KINDS = [TRANSFORMER, LSTM, replace(LSTM, cell="rnn"), replace(LSTM, cell="gru", tied=True, embedding=5)]


def found(model: TrainedModel, options: Options = SMALL) -> dict[str, float]:
    rows = list(evaluate(model, CONTEXT, options))
    return {f"{one.metric} {condition_text(one.condition)}".strip(): one.value for one in rows}


def differences(model: TrainedModel, document: Documents, width: int) -> float:
    """The norm of the gradient by what the key is read as, by central differences."""
    network, step = model.initial().double(), 1e-6

    def loss(shift: Tensor) -> float:
        def moved(_: nn.Module, tokens: tuple[Tensor], vectors: Tensor) -> Tensor:
            return vectors + (tokens[0] < 8)[:, None] * shift

        hook = network.embedding.register_forward_hook(moved)
        with torch.no_grad():
            total, _ = model.objective.loss(network, model.objective.examples(document, np.random.default_rng(0)))
        hook.remove()
        return float(total)

    directions = step * torch.eye(width, dtype=torch.float64)
    slopes = [(loss(one) - loss(-one)) / (2 * step) for one in directions]
    return float(np.linalg.norm(slopes))


@pytest.mark.parametrize("options", KINDS)
def test_the_gradient_is_that_of_the_answers_loss_by_the_keys_vector(
    options: transformer.Options | recurrent.Options,
) -> None:
    model, asked = trained(options), ask(CONTEXT, 4, 8).answered
    norms = gradient_norms(model.initial().double(), model.objective, asked)
    width = model.network.embedding.weight.shape[1]
    expected = [differences(model, Documents.of([document]), width) for document in asked]
    np.testing.assert_allclose(np.sort(norms), np.sort(expected), rtol=1e-4)


def test_it_is_the_network_before_training() -> None:
    first = found(trained(LSTM))
    model = trained(LSTM)
    with torch.no_grad():
        for parameter in model.network.parameters():
            parameter.mul_(3)
    assert found(model) == first
    assert found(trained(LSTM, seed=1)) != first


def test_ratios_and_slopes_are_those_of_the_gradients() -> None:
    rows = found(trained(LSTM))
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
    model = trained(replace(LSTM, cell="rnn"))

    def initial() -> nn.Module:
        network = TrainedModel.initial(model)
        layer = network.layers[0]  # type: ignore[index]
        with torch.no_grad():
            layer.input_weight.mul_(1e-4)
            layer.input_bias.zero_()
            layer.hidden_bias.zero_()
            layer.hidden_weight.copy_(torch.eye(5) / 2)
        return network  # type: ignore[no-any-return]

    class Linear(TrainedModel):
        def initial(self) -> nn.Module:
            return initial()

    rows = found(Linear(model.network, model.objective, model.log, model.read_corpus, 0))
    for distance in (2, 5, 8, 10, 20, 30):
        ratio = rows[f"initial_gradient_ratio distance={distance}"]
        assert ratio == pytest.approx(0.5 ** (distance - 5), rel=0.01)
    assert rows["initial_gradient_persistence"] == pytest.approx(1, abs=0.01)


def test_what_ends_behind_the_position_table_has_no_row() -> None:
    rows = found(trained(TRANSFORMER))
    assert "initial_gradient distance=20" in rows
    assert "initial_gradient distance=30" not in rows


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Options(least=11), "least 11: expected one of the distances"),
        (lambda: Options(most=99), "most 99: expected one of the distances"),
        (lambda: Options(middle=7), "middle 7: expected one of the distances"),
        (lambda: Options(least=100, most=10), "least 100, middle 50, most 10: expected them to rise"),
        (lambda: Options(questions=4), "questions 4: expected a multiple of 8"),
    ],
)
def test_options_out_of_range_are_refused(make: Callable[[], Options], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_a_position_table_that_ends_early_leaves_out_what_needs_more() -> None:
    short = found(trained(replace(TRANSFORMER, max_positions=8)))
    assert {name.split()[0] for name in short} == {"initial_gradient", "initial_gradient_ratio"}
    shorter = found(trained(replace(TRANSFORMER, max_positions=5)))
    assert set(shorter) == {"initial_gradient distance=2"}
