import pytest
import torch
from networks import LENGTHS, Kind, close, random_documents, size
from torch import Tensor, nn
from torch.nn import functional as F

from seedbed.batching import pack
from seedbed.documents import Documents
from seedbed.models import recurrent
from seedbed.models.recurrence import CELLS, Recurrence
from seedbed.models.recurrent import Model, Options

THEIRS = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}

every_cell = pytest.mark.parametrize("cell", CELLS)
biases = pytest.mark.parametrize("two_biases", [True, False])


def model_of(options: Options, vocabulary: int = 100) -> Model:
    return Kind(recurrent, options).make(vocabulary)  # type: ignore[return-value]


class Independent:
    """The same network of PyTorch's own recurrent layers, one document at a time, on copies of the weights."""

    def __init__(self, model: Model, cell: str) -> None:
        self.table = model.embedding.weight.detach().clone().requires_grad_()
        self.output = model.output
        self.layers = [self._copy(layer, cell) for layer in model.layers]

    @staticmethod
    def _copy(layer: nn.Module, cell: str) -> nn.RNNBase:
        assert isinstance(layer, Recurrence)
        copy = THEIRS[cell](layer.input_weight.shape[1], layer.hidden_weight.shape[1], batch_first=True)
        second = torch.zeros_like(layer.input_bias) if layer.hidden_bias is None else layer.hidden_bias
        ours = (layer.input_weight, layer.hidden_weight, layer.input_bias, second)
        for theirs, value in zip(copy.parameters(), ours, strict=True):
            theirs.data = value.detach().clone()
        return copy.to(layer.input_weight.dtype)

    def __call__(self, documents: Documents) -> Tensor:
        logits = []
        for tokens in documents:
            hidden = F.embedding(torch.from_numpy(tokens), self.table)[None]
            for layer in self.layers:
                hidden, _ = layer(hidden)
            logits.append(F.linear(hidden[0], self.table if self.output is None else self.output.weight))
            if self.output is not None:
                logits[-1] = logits[-1] + self.output.bias
        return torch.cat(logits)

    def gradients(self, loss: Tensor, two_biases: bool) -> list[Tensor]:
        """In the order of our parameters; a second bias that we do not have is left out."""
        own = [parameter for layer in self.layers for parameter in list(layer.parameters())[: 3 + two_biases]]
        output = [] if self.output is None else list(self.output.parameters())
        return list(torch.autograd.grad(loss, [self.table, *own, *output]))


@every_cell
@biases
@pytest.mark.parametrize("changes", [{}, {"layers": 2}, {"tied": True, "hidden": 8}], ids=str)
def test_equals_torch_with_the_same_weights(cell: str, two_biases: bool, changes: dict[str, int]) -> None:
    options = Options(**{"cell": cell, "two_biases": two_biases, "embedding": 8, "hidden": 13} | changes)
    model, documents = model_of(options).double(), random_documents(LENGTHS)
    theirs = Independent(model, cell)
    ours, expected = model(pack(documents)), theirs(documents)
    close(ours, expected, 1e-12)
    weights = torch.randn(ours.shape, generator=torch.Generator().manual_seed(2), dtype=torch.double)
    gradients = torch.autograd.grad((ours * weights).sum(), list(model.parameters()))
    for mine, other in zip(gradients, theirs.gradients((expected * weights).sum(), two_biases), strict=True):
        close(mine, other, 1e-10)


@every_cell
@biases
def test_the_written_gradient_is_the_numeric_one(cell: str, two_biases: bool) -> None:
    generator = torch.Generator().manual_seed(0)
    layer = Recurrence(cell, 3, 2, two_biases).double()
    batch = pack(random_documents([3, 1, 5, 3]))
    inputs = torch.randn(12, 3, generator=generator, dtype=torch.double).requires_grad_()
    weights = [torch.randn(weight.shape, generator=generator, dtype=torch.double) for weight in layer.parameters()]
    names = [name for name, _ in layer.named_parameters()]

    def run(inputs: Tensor, *weights: Tensor) -> Tensor:
        values = dict(zip(names, weights, strict=True))
        return torch.func.functional_call(layer, values, (inputs, batch.time_steps))  # type: ignore[no-any-return]

    assert torch.autograd.gradcheck(run, (inputs, *(weight.requires_grad_() for weight in weights)))


@pytest.mark.parametrize(
    ("options", "vocabulary", "expected"),
    [
        (Options(cell="rnn", embedding=32, hidden=64, two_biases=False), 56, 11_640),
        (Options(cell="lstm", embedding=32, hidden=64), 56, 30_520),
        (Options(cell="rnn", embedding=32, hidden=64), 18, 8_018),
        (Options(cell="lstm", embedding=32, hidden=64), 18, 26_834),
        (Options(cell="lstm", embedding=32, hidden=64, forget_bias=3.0), 18, 26_834),
        (Options(cell="rnn", hidden=244), 100, 106_540),
        (Options(cell="gru", hidden=140), 100, 107_020),
        (Options(cell="lstm", hidden=119), 100, 106_460),
    ],
    ids=str,
)
def test_the_parameters_count_as_the_lectures_say(options: Options, vocabulary: int, expected: int) -> None:
    assert size(model_of(options, vocabulary)) == expected


def test_the_recurrent_layers_count_as_the_lecture_says() -> None:
    assert size(Recurrence("lstm", 32, 64, two_biases=True)) == 25_088
    assert size(Recurrence("rnn", 32, 64, two_biases=False)) == 6_208


@every_cell
@biases
@pytest.mark.parametrize("tied", [True, False])
def test_the_parameters_count_as_the_closed_formula(cell: str, two_biases: bool, tied: bool) -> None:
    e, h, v, gates = 12, 12 if tied else 20, 57, {"rnn": 1, "gru": 3, "lstm": 4}[cell]
    options = Options(cell=cell, embedding=e, hidden=h, layers=2, two_biases=two_biases, tied=tied)
    layers = sum(gates * (h * width + h * h + (1 + two_biases) * h) for width in (e, h))
    assert size(model_of(options, v)) == v * e + layers + (0 if tied else h * v + v)


def test_a_forget_bias_moves_the_forget_gate_and_nothing_else() -> None:
    plain, moved = (model_of(Options(cell="lstm", hidden=30, forget_bias=bias)) for bias in (0.0, 3.0))
    for (name, before), after in zip(plain.named_parameters(), moved.parameters(), strict=True):
        expected = torch.zeros_like(before)
        if name.endswith("input_bias"):
            expected[30:60] = 3
        close(after - before, expected, 1e-6)


def test_a_high_forget_gate_keeps_the_cell() -> None:
    layer = Recurrence("lstm", 1, 1, two_biases=True)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.zero_()
        layer.input_bias[1] = 40
        _, cell = layer.step(torch.zeros(1, 1), (torch.zeros(1, 1), torch.full((1, 1), 0.7)))
    assert cell.item() == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"cell": "gru", "forget_bias": 1.0}, "only the lstm has a forget gate"),
        ({"tied": True}, "embedding and hidden to be equal, not 64 and 140"),
        ({"hidden": 0}, "hidden 0: expected at least 1"),
        ({"layers": 0}, "layers 0: expected at least 1"),
        ({"embedding_std": -1.0}, "embedding_std is at least 0, not -1"),
    ],
)
def test_options_that_do_not_fit_are_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Options(**changes)
