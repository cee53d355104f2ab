"""How each objective writes: the cached way, where there is one, says what whole passes say."""

from __future__ import annotations

import numpy as np
import pytest
import texts
import torch
from numpy.typing import NDArray
from torch import nn

from seedbed.batching import Packed
from seedbed.decoding.choice import Choice
from seedbed.decoding.following import rows_as_documents
from seedbed.decoding.writing import draw_uniforms, generate_documents
from seedbed.documents import Documents
from seedbed.languages.vocabulary import BEGIN, END
from seedbed.models.embedding import select_rows
from seedbed.objectives import flm, mlm, plm, span

Objective = flm.Objective | plm.Objective | span.Objective | mlm.Objective

FLM = {name: flm.Objective(flm.Options(name), texts.VOCABULARY) for name in ("causal", "encoder_decoder")}
PLM = {name: plm.Objective(plm.Options(name), texts.VOCABULARY) for name in texts.ARCHITECTURES}
SPAN = {name: span.Objective(span.Options(architecture=name), texts.VOCABULARY) for name in texts.ARCHITECTURES}
MLM = mlm.Objective(mlm.Options(), texts.VOCABULARY)
LEAKY = flm.Objective(flm.Options("bidirectional"), texts.VOCABULARY)
CASES: list[tuple[str, Objective, str]] = [
    *((f"flm {name}", objective, name) for name, objective in FLM.items()),
    *((f"plm {name}", objective, name) for name, objective in PLM.items()),
    *((f"span {name}", objective, name) for name, objective in SPAN.items()),
    ("mlm", MLM, "causal"),
    ("leaky", LEAKY, "causal"),
]
every_objective = pytest.mark.parametrize(
    ("objective", "architecture"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)


def numbers(documents: int = 25, longest: int = 30) -> NDArray[np.float64]:
    return draw_uniforms(np.random.default_rng(0), documents, longest)


def rest(documents: Documents, begun: list[int]) -> Documents:
    return Documents.of(document[len(begun) :] for document in documents)


@every_objective
def test_what_is_written_follows_what_the_objective_says_of_continuations(
    objective: Objective, architecture: str
) -> None:
    model, choice, drawn = texts.network(architecture), Choice(temperature=0.8), numbers()
    begun, score_next = objective.beginning(model, len(drawn))
    found = rest(generate_documents(score_next, begun, choice, drawn, [END]), begun)

    def whole(growing: NDArray[np.int64], tokens: NDArray[np.int64]) -> NDArray[np.float64]:
        words = np.arange(len(texts.VOCABULARY))
        longer = np.column_stack([np.repeat(tokens, len(words), 0), np.tile(words, len(tokens))])
        scored = objective.continuation(model, rows_as_documents(longer), np.ones(len(longer), np.int64))
        last: NDArray[np.float64] = scored.reshape(len(tokens), len(words), -1)[:, :, -1]
        return last

    expected = rest(generate_documents(whole, [BEGIN], choice, drawn, [END]), [BEGIN])
    assert found.tokens.tolist() == expected.tokens.tolist()
    assert found.lengths.tolist() == expected.lengths.tolist()
    assert len(set(found.lengths)) > 5


class Reads(nn.Module):
    """Remembers what it was asked, and expects all tokens alike."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def forward(self, rows: Packed, scored: torch.Tensor | None = None) -> torch.Tensor:
        self.asked = [texts.spoken(row) for row in rows.tokens.split(rows.lengths.tolist())]
        return torch.zeros(len(select_rows(rows.tokens, scored)), len(texts.VOCABULARY))


def asked(objective: Objective, *written_so_far: str) -> list[str]:
    model = Reads()
    _, score_next = objective.beginning(model, len(written_so_far))
    score_next(
        np.arange(len(written_so_far)), np.array([texts.VOCABULARY.encode(text) for text in written_so_far])
    )
    return model.asked


def test_a_masked_model_fills_a_mask_after_the_tokens_so_far() -> None:
    assert asked(MLM, "<bos>") == ["<bos> <mask>"]
    assert asked(MLM, "<bos> she picks", "<bos> her own") == [
        "<bos> she picks <mask>",
        "<bos> her own <mask>",
    ]


def test_span_corruption_writes_one_span_after_its_sentinel() -> None:
    found = {
        name: SPAN[name].beginning(texts.network(name), 1)[0]  # nothing is given: the source is <x0> alone
        for name in texts.ARCHITECTURES
    }
    assert {name: texts.spoken(begun) for name, begun in found.items()} == {
        "causal": "<x0> <eos> <x0>",
        "prefix": "<x0> <eos> <x0>",
        "encoder_decoder": "<bos> <x0>",
    }


def test_documents_that_ended_leave_the_others_as_they_are() -> None:
    """The encoder-decoder drops rows of its source as well."""
    for architecture in texts.ARCHITECTURES:
        objective, model, drawn = SPAN[architecture], texts.network(architecture), numbers(40)
        begun, score_next = objective.beginning(model, 40)
        together = generate_documents(score_next, begun, Choice(), drawn, [END])
        for index in (0, 17, 39):
            begun, score_next = objective.beginning(model, 1)
            (alone,) = generate_documents(score_next, begun, Choice(), drawn[[index]], [END])
            assert alone.tolist() == together[index].tolist()
