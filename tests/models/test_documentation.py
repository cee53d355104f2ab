"""The model that CONTRIBUTING.md shows works as it is written there."""

from __future__ import annotations

import textwrap
from types import ModuleType

import numpy as np
import pytest
import torch
from networks import LENGTHS, Kind, close, random_documents

from seedbed.batching import pack
from seedbed.configuration.configuration import ROOT
from seedbed.documents import Documents
from seedbed.objectives import flm
from seedbed.training import loop


@pytest.fixture(scope="module")
def example() -> ModuleType:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    _, start, rest = text.partition('    """The leaky sum')
    module = ModuleType("leaky")
    code = textwrap.dedent(start + rest.partition("\n- The tokens")[0])
    exec(compile(code, "CONTRIBUTING.md", "exec", dont_inherit=True), module.__dict__)
    return module


def test_the_example_learns_in_one_step(example: ModuleType) -> None:
    model, documents = Kind(example, example.Options()).make(9), random_documents([12] * 32, 9)
    options = loop.Options(epochs=1, batch=32, warm_up=0, schedule="constant")
    before = loop.validation_loss(model, flm.Objective(flm.Options(), 9), documents, 32)  # type: ignore[arg-type]
    seeds = dict.fromkeys(("initialisation", "order", "corruption", "noise"), 0)
    start = dict(model.state_dict())
    trained = loop.train(
        model,
        flm.Objective(flm.Options(), 9),
        documents,
        documents,
        options,
        seeds,
        start,  # type: ignore[arg-type]
    )
    assert len(trained.log.training_loss) == 1
    assert trained.log.validation_loss[-1] < before


def test_the_example_sees_no_later_token_and_no_other_document(example: ModuleType) -> None:
    model, documents = Kind(example, example.Options()).make(), random_documents(LENGTHS)
    before = model(pack(documents))
    late = (documents.positions >= 7) | (documents.owners == 2)
    after = model(pack(Documents(np.where(late, 5, documents.tokens), documents.offsets)))
    early = torch.from_numpy(~late)
    assert torch.equal(before[early], after[early])
    assert not torch.equal(before[~early], after[~early])


def test_the_steps_of_the_example_equal_its_forward(example: ModuleType) -> None:
    model, tokens = Kind(example, example.Options()).make(), torch.randint(100, (3, 40))
    state, logits = model.start(3), []
    for column in tokens.T:
        now, state = model.step(column, state)
        logits.append(now)
    close(torch.stack(logits, 1).flatten(0, 1), model(pack(Documents.of(tokens.tolist()))).detach(), 1e-5)


def test_the_example_scores_what_is_asked_for(example: ModuleType) -> None:
    model, batch = Kind(example, example.Options()).make(), pack(random_documents([3, 0, 5]))
    close(model(batch, torch.tensor([6, 1])), model(batch)[[6, 1]], 1e-6)
    assert model(pack(Documents.of([[]]))).shape == (0, 100)
