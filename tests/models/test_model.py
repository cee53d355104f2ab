"""Every model has what the protocol of a model says."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator

import pytest
import torch
from networks import LENGTHS, Kind, random_documents
from torch import Tensor, nn

from seedbed.batching import pack
from seedbed.configuration import plugins
from seedbed.models import encoder_decoder, mixers, model, recurrent, transformer, window
from seedbed.models.initialisation import unfilled

READS = {"causal", "prefix", "bidirectional", "encoder_decoder"}


@pytest.mark.parametrize("name", plugins.names("models"))
def test_every_model_has_the_members_of_the_protocol(name: str) -> None:
    module = importlib.import_module(f"seedbed.models.{name}")
    network = unfilled(lambda: module.Model(module.Options(), 9))
    assert isinstance(network, nn.Module)
    assert set(network.reads) <= READS
    assert inspect.signature(network.forward).parameters["scored"].default is None
    assert next(iter(inspect.signature(network.step).parameters)) == "tokens"
    assert len(inspect.signature(network.start).parameters) == 1


def test_the_protocol_of_a_mixer_has_no_more_than_the_mixers_have() -> None:
    asked = {name for name in vars(mixers.Mixer) if not name.startswith("_")} | {"reads", "encodings"}
    for name in mixers.names():
        assert asked <= set(dir(mixers.load(name)))
    assert {"start", "step"} <= set(vars(model.Model))


KINDS = [
    *(Kind(transformer, transformer.Options(d_model=24, heads=3, mixer=name)) for name in mixers.names()),
    *(Kind(recurrent, recurrent.Options(cell=cell, embedding=8, hidden=12)) for cell in ("rnn", "gru", "lstm")),
    Kind(window, window.Options(embedding=8, hidden=12)),
    Kind(encoder_decoder, encoder_decoder.Options(d_model=24, heads=3)),
]


@pytest.fixture
def deterministic() -> Iterator[None]:
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)
    torch.utils.deterministic.fill_uninitialized_memory = True


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_no_model_reads_memory_that_nothing_was_written_to(kind: Kind, deterministic: None) -> None:
    """Fresh memory that holds NaN changes no gradient."""

    def gradients(fill: bool) -> list[Tensor]:
        torch.utils.deterministic.fill_uninitialized_memory = fill
        network, batch = kind.make(), pack(random_documents(LENGTHS))
        network(*[batch] * (2 if network.reads == ("encoder_decoder",) else 1)).square().sum().backward()
        return [parameter.grad for parameter in network.parameters()]  # type: ignore[misc]

    for filled, unfilled_ in zip(gradients(True), gradients(False), strict=True):
        assert filled.isfinite().all()
        assert torch.equal(filled, unfilled_)
