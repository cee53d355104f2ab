import math

import pytest
import torch

from seedbed.models.positions import (
    LearnedPositions,
    distance_bias,
    position_vectors,
    rotations,
    sinusoidal,
    slopes,
)


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


@pytest.mark.parametrize("place", [0, 1, 63, 64, 300])
def test_a_pair_turns_by_the_angle_of_its_sinusoid(place: int) -> None:
    expected = [complex(math.cos(angle), math.sin(angle)) for angle in (place, place / 100)]
    torch.testing.assert_close(rotations(torch.tensor([place]), 4)[0], torch.tensor(expected), rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("heads", "expected"),
    [
        (1, [1 / 256]),
        (4, [1 / 4, 1 / 16, 1 / 64, 1 / 256]),
        (8, [1 / 2**power for power in range(1, 9)]),
        (3, [1 / 16, 1 / 256, 1 / 4]),
        (12, [1 / 2**power for power in (1, 2, 3, 4, 5, 6, 7, 8, 0.5, 1.5, 2.5, 3.5)]),
    ],
)
def test_slopes_are_those_of_the_paper(heads: int, expected: list[float]) -> None:
    assert slopes(heads) == pytest.approx(expected)


def test_distance_costs_its_slope_in_both_directions() -> None:
    place = torch.arange(3)
    bias = distance_bias(place[:, None], place, 2)
    distance = torch.tensor([[0.0, 1, 2], [1, 0, 1], [2, 1, 0]])
    assert torch.equal(bias, -torch.stack([distance / 16, distance / 256])[None])


def test_a_learned_position_is_a_row_of_the_table() -> None:
    table = LearnedPositions(5, 3, 1.0)
    torch.nn.init.normal_(table.weight, generator=torch.Generator().manual_seed(0))
    assert torch.equal(table(torch.tensor([4, 0, 4])), table.weight[[4, 0, 4]])


def test_a_document_longer_than_the_table_is_refused() -> None:
    with pytest.raises(ValueError, match=r"a document of 6 tokens .* max_positions, which is 5"):
        LearnedPositions(5, 3, 1.0)(torch.tensor([0, 5, 1]))
