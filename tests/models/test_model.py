"""Every model has what the protocol of a model says."""

from __future__ import annotations

import importlib
import inspect

import pytest
from torch import nn

from seedbed.configuration import plugins
from seedbed.models import mixers, model
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
    for name in ("attention", "gated_linear"):
        assert asked <= set(dir(mixers.load(name)))
    assert {"start", "step"} <= set(vars(model.Model))
