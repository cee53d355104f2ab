import pytest
import torch

from seedbed.models.embedding import Embedding


@pytest.mark.parametrize(("scale", "factor"), [(True, 4.0), (False, 1.0)])
def test_only_the_input_is_scaled(scale: bool, factor: float) -> None:
    table = Embedding(3, 16, 1.0, scale)
    torch.nn.init.normal_(table.weight, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(table(torch.tensor([2, 0])), factor * table.weight[[2, 0]])
    torch.testing.assert_close(table.logits(torch.eye(16)), table.weight.T)
