"""What the objectives make of the lecture's sentence (objectives 6.2)."""

from __future__ import annotations

import numpy as np
from torch import nn

from seedbed.documents import Documents
from seedbed.evaluations.example import Options, evaluate
from seedbed.languages.automaton import Language
from seedbed.log import Log
from seedbed.measuring.context import Context
from seedbed.measuring.trained import TrainedModel
from seedbed.objectives import flm, mlm, plm, span
from seedbed.objectives.scoring import Batch

SENTENCE = "she picks her ripe plum from her own garden ."


class Counted:
    """An objective whose draws are counted."""

    def __init__(self, objective: flm.Objective | span.Objective) -> None:
        self.objective, self.draws = objective, 0

    def examples(self, documents: Documents, rng: np.random.Generator) -> Batch:
        self.draws += 1
        return self.objective.examples(documents, rng)


def found(language: Language, kind: object, first: str) -> dict[tuple[str, str], object]:
    return shown(language, kind.Objective(kind.Options(), language.vocabulary), first)  # type: ignore[attr-defined]


def shown(language: Language, objective: object, first: str) -> dict[tuple[str, str], object]:
    model = TrainedModel(nn.Module(), objective, Log(), lambda: Documents.of([]))
    context = Context(language, Documents.of([]))
    rows = evaluate(model, context, Options(SENTENCE, first))
    return {(one.metric, str(one.condition["first"])): one.text or one.value for one in rows}


def test_forward_asks_for_every_token_but_the_first(garden: Language) -> None:
    assert found(garden, flm, "she ripe") == {
        ("example_read", "she"): f"<bos> {SENTENCE}",
        ("example_asked", "she"): f"{SENTENCE} <eos>",
        ("example_tokens", "she"): 11,
        ("example_given", "she"): 11,
    }


def test_a_prefix_is_not_asked_for(garden: Language) -> None:
    rows = found(garden, plm, "ripe")
    assert rows["example_asked", "ripe"] == "ripe plum from her own garden . <eos>"
    assert (rows["example_tokens", "ripe"], rows["example_given", "ripe"]) == (8, 11)


def test_of_twelve_tokens_two_are_masked(garden: Language) -> None:
    rows = found(garden, mlm, "plum")
    assert (rows["example_tokens", "plum"], rows["example_given", "plum"]) == (2, 12)
    assert str(rows["example_asked", "plum"]).startswith("plum ")


def test_a_span_is_written_behind_its_sentinel(garden: Language) -> None:
    rows = found(garden, span, "<x0>")
    source, written = str(rows["example_read", "<x0>"]).split(" | ")
    asked = str(rows["example_asked", "<x0>"]).split()
    assert written.split() == ["<bos>", *asked[:-1]]
    assert (asked[0], asked[-1], rows["example_tokens", "<x0>"]) == ("<x0>", "<eos>", 4)
    assert source.replace("<x0>", " ".join(asked[1:-1])) == f"{SENTENCE} <eos>"


def test_an_objective_that_leaves_nothing_to_chance_is_drawn_once(garden: Language) -> None:
    objective = Counted(flm.Objective(flm.Options(), garden.vocabulary))
    shown(garden, objective, "she ripe")
    assert objective.draws == 1


def test_drawing_ends_when_all_is_found(garden: Language) -> None:
    objective = Counted(span.Objective(span.Options(), garden.vocabulary))
    shown(garden, objective, "<x0>")
    assert objective.draws < 10
