import math

import pytest
import torch
from torch import Tensor, nn

from seedbed.models import recurrent
from seedbed.models.embedding import Embedding
from seedbed.models.initialisation import fill, unfilled
from seedbed.models.positions import LearnedPositions
from seedbed.models.transformer import Model, Options


def filled(seed: int, options: Options = Options()) -> Model:  # noqa: B008 - frozen
    model = unfilled(lambda: Model(options, 100))
    fill(model, torch.Generator().manual_seed(seed))
    return model


def weights(model: nn.Module) -> dict[str, Tensor]:
    return dict(model.named_parameters())


def test_the_same_stream_gives_the_same_bytes() -> None:
    first, second = weights(filled(1)), weights(filled(1))
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_another_stream_gives_other_weights() -> None:
    first, second = filled(1), filled(2)
    assert not torch.equal(first.embedding.weight, second.embedding.weight)


def test_what_the_memory_held_does_not_matter() -> None:
    model = filled(1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(torch.nan)
    fill(model, torch.Generator().manual_seed(3))
    fresh = weights(filled(3))
    assert all(torch.equal(parameter, fresh[name]) for name, parameter in weights(model).items())


def test_linear_layers_may_be_normal_with_biases_of_0() -> None:
    for name, values in weights(filled(1, Options(d_model=128, d_ff=512, linear_std=0.02))).items():
        if name.endswith("bias"):
            assert not values.any()
        elif values.dim() == 2 and name != "embedding.weight":
            assert values.std().item() == pytest.approx(0.02, rel=0.05)
            assert values.abs().max() > 3 * 0.02


def test_a_linear_layer_without_a_bias_may_be_normal() -> None:
    assert filled(1, Options(tied=False, linear_std=0.02)).output.weight.std().item() == pytest.approx(
        0.02, rel=0.1
    )


def test_the_global_generator_is_untouched() -> None:
    before = torch.get_rng_state()
    filled(1)
    assert torch.equal(before, torch.get_rng_state())


def test_every_kind_of_weight_has_its_distribution() -> None:
    model = filled(
        1, Options(d_model=256, layers=1, d_ff=1024, embedding_std=0.3, positions="learned", position_std=0.05)
    )
    for layer in model.modules():
        if isinstance(layer, nn.Linear):
            bound = 1 / math.sqrt(layer.in_features)
            for values in (layer.weight, layer.bias):
                assert 0.95 * bound < values.abs().max() <= bound
                assert abs(values.mean()) < 5 * bound / math.sqrt(3 * values.numel())
                assert values.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.1)
        if isinstance(layer, nn.LayerNorm):
            assert (layer.weight == 1).all()
            assert (layer.bias == 0).all()
        if isinstance(layer, Embedding):
            assert layer.weight.mean().item() == pytest.approx(0, abs=0.01)
            assert layer.weight.std().item() == pytest.approx(0.3, rel=0.02)
        if isinstance(layer, LearnedPositions):
            assert layer.weight.mean().item() == pytest.approx(0, abs=0.001)
            assert layer.weight.std().item() == pytest.approx(0.05, rel=0.02)


@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
def test_recurrent_weights_have_the_distribution_of_torch(cell: str) -> None:
    options = recurrent.Options(cell=cell, embedding=100, hidden=400)
    model = unfilled(lambda: recurrent.Model(options, 100))
    fill(model, torch.Generator().manual_seed(1))
    parameters = dict(model.layers[0].named_parameters())
    assert parameters.keys() == {"input_weight", "hidden_weight", "input_bias", "hidden_bias"}
    for values in parameters.values():
        assert 0.98 / 20 < values.abs().max() <= 1 / 20
        assert abs(values.mean()) < 5 / 20 / math.sqrt(3 * values.numel())
        assert values.std().item() == pytest.approx(1 / 20 / math.sqrt(3), rel=0.1)


def test_a_layer_without_a_rule_is_refused() -> None:
    with pytest.raises(TypeError, match="1: no rule to fill a Conv1d"):
        fill(nn.Sequential(nn.Linear(2, 2), nn.Conv1d(1, 1, 1)), torch.Generator())


def test_a_buffer_that_would_be_lost_is_refused() -> None:
    with pytest.raises(TypeError, match="buffer running_mean"):
        unfilled(lambda: nn.BatchNorm1d(2))
