"""What the objectives make of the lecture's sentence (objectives 6.2)."""

from __future__ import annotations

import numpy as np
import pytest

from seedbed.demonstrations.corruption_examples import Options, demonstrate
from seedbed.documents import Documents
from seedbed.languages.automaton import Language
from seedbed.objectives import flm, mlm, plm, span
from seedbed.objectives.scoring import Batch

SENTENCE = "she picks her ripe plum from her own garden ."


class CountingDraws:
    """An objective whose draws are counted."""

    def __init__(self, objective: flm.Objective | span.Objective) -> None:
        self.objective, self.draws = objective, 0

    def examples(self, documents: Documents, rng: np.random.Generator) -> Batch:
        self.draws += 1
        return self.objective.examples(documents, rng)


def found(language: Language, kind: object, first: str) -> dict[tuple[str, str], object]:
    return rows(language, kind.Objective(kind.Options(), language.vocabulary), first)  # type: ignore[attr-defined]


def rows(language: Language, objective: object, first: str) -> dict[tuple[str, str], object]:
    options = Options(SENTENCE, tuple(first.split()))
    return {
        (one.metric, str(one.condition["first"])): one.text or one.value
        for one in demonstrate(options, language=language, objectives={"it": objective})
    }


def test_forward_asks_for_every_token_but_the_first(garden: Language) -> None:
    assert found(garden, flm, "she ripe") == {
        ("example_read", "she"): f"<bos> {SENTENCE}",
        ("example_asked", "she"): f"{SENTENCE} <eos>",
        ("example_tokens", "she"): 11,
        ("example_given", "she"): 11,
    }


def test_a_prefix_is_not_asked_for(garden: Language) -> None:
    examples = found(garden, plm, "ripe")
    assert examples["example_asked", "ripe"] == "ripe plum from her own garden . <eos>"
    assert (examples["example_tokens", "ripe"], examples["example_given", "ripe"]) == (8, 11)


def test_of_twelve_tokens_two_are_masked(garden: Language) -> None:
    examples = found(garden, mlm, "plum")
    assert (examples["example_tokens", "plum"], examples["example_given", "plum"]) == (2, 12)
    assert str(examples["example_asked", "plum"]).startswith("plum ")


def test_a_span_is_written_behind_its_sentinel(garden: Language) -> None:
    examples = found(garden, span, "<x0>")
    source, written = str(examples["example_read", "<x0>"]).split(" | ")
    asked = str(examples["example_asked", "<x0>"]).split()
    assert written.split() == ["<bos>", *asked[:-1]]
    assert (asked[0], asked[-1], examples["example_tokens", "<x0>"]) == ("<x0>", "<eos>", 4)
    assert source.replace("<x0>", " ".join(asked[1:-1])) == f"{SENTENCE} <eos>"


def test_an_objective_that_leaves_nothing_to_chance_is_drawn_once(garden: Language) -> None:
    objective = CountingDraws(flm.Objective(flm.Options(), garden.vocabulary))
    rows(garden, objective, "she ripe")
    assert objective.draws == 1


def test_drawing_ends_when_all_is_found(garden: Language) -> None:
    objective = CountingDraws(span.Objective(span.Options(), garden.vocabulary))
    rows(garden, objective, "<x0>")
    assert objective.draws < 10


def test_the_examples_of_an_objective_do_not_depend_on_those_beside_it(garden: Language) -> None:
    objectives = {kind.__name__: kind.Objective(kind.Options(), garden.vocabulary) for kind in (plm, mlm, span)}
    options = Options(SENTENCE, ("ripe", "plum"))

    def texts(names: list[str]) -> set[tuple[str, str, str]]:
        chosen = {name: objectives[name] for name in names}
        observations = demonstrate(options, language=garden, objectives=chosen)
        return {(str(one.condition), one.metric, one.text) for one in observations}

    together = texts(list(objectives))
    assert together == set().union(*(texts([name]) for name in reversed(objectives)))
    assert {text for _, metric, text in together if metric == "example_asked"} >= {
        "ripe plum from her own garden . <eos>"
    }


def test_an_unknown_word_is_refused(garden: Language) -> None:
    with pytest.raises(ValueError, match="nosuch"):
        list(demonstrate(Options(SENTENCE, ("nosuch",)), language=garden, objectives={}))
