import math

import pytest
import torch

from seedbed.models.embedding import Embedding, position_vectors, sinusoidal


@pytest.mark.parametrize("width", [2, 6, 64])
def test_sinusoidal_entries_follow_the_formula(width: int) -> None:
    expected = torch.tensor(
        [
            [
                (math.cos if column % 2 else math.sin)(place / 10000 ** ((column - column % 2) / width))
                for column in range(width)
            ]
            for place in range(600)
        ]
    )
    torch.testing.assert_close(sinusoidal(600, width), expected, rtol=0, atol=1e-6)


def test_dot_products_depend_on_the_distance_only() -> None:
    vectors = sinusoidal(300, 64).double()
    products = vectors @ vectors.T
    for distance in (0, 1, 7, 150):
        along = products.diagonal(distance)
        torch.testing.assert_close(along, along[:1].expand_as(along), rtol=0, atol=1e-5)


def test_a_vector_has_the_norm_of_half_the_width() -> None:
    torch.testing.assert_close(sinusoidal(100, 64).norm(dim=1), torch.full((100,), math.sqrt(32)))


def test_an_odd_width_is_refused() -> None:
    with pytest.raises(ValueError, match="even width, not 7"):
        sinusoidal(10, 7)


@pytest.mark.parametrize("place", [0, 63, 64, 65, 511, 5000])
def test_any_position_has_its_vector(place: int) -> None:
    vector = position_vectors(torch.tensor([place]), 4)[0]
    expected = [math.sin(place), math.cos(place), math.sin(place / 100), math.cos(place / 100)]
    torch.testing.assert_close(vector, torch.tensor(expected), rtol=0, atol=1e-6)


@pytest.mark.parametrize(("scale", "factor"), [(True, 4.0), (False, 1.0)])
def test_only_the_input_is_scaled(scale: bool, factor: float) -> None:
    table = Embedding(3, 16, 1.0, scale)
    torch.nn.init.normal_(table.weight, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(table(torch.tensor([2, 0])), factor * table.weight[[2, 0]])
    torch.testing.assert_close(table.logits(torch.eye(16)), table.weight.T)
