"""Generation: written sentences judged by hand, and runs whose sentences are known."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch

from seedbed.decoding.following import NextTokenScorer, Numbers
from seedbed.documents import Documents, Tokens
from seedbed.evaluations.generation import Options, evaluate, measured
from seedbed.languages.automaton import Language
from seedbed.languages.compilation import read_language
from seedbed.languages.exact import all_sentences
from seedbed.log import Log
from seedbed.measuring.context import Context, Writer
from seedbed.measuring.trained import TrainedModel
from seedbed.models import transformer
from seedbed.models.initialisation import fill, unfilled
from seedbed.objectives import flm
from seedbed.observations import Observation, condition_text
from seedbed.randomness import stream
from seedbed.references import exact, ngram

SMALL = Options("tail possessive", "subject")
SENTENCES = 600  # the context has 300 documents


def named(observations: list[Observation]) -> dict[str, Observation]:
    return {f"{one.metric} {condition_text(one.condition)}".strip(): one for one in observations}


def judged(garden: Language, *texts: str) -> dict[str, float]:
    sentences = Documents.of(garden.encode(text) for text in texts)
    return {name: one.value for name, one in named(list(measured(garden, sentences, {}, SMALL))).items()}


def observed(model: Writer, context: Context, options: Options = SMALL) -> dict[str, Observation]:
    return named(list(evaluate(model, context, options)))


@dataclass(frozen=True)
class Writes:
    """Writes one and the same text again and again."""

    language: Language
    text: str

    def beginning(self, documents: int) -> tuple[list[int], NextTokenScorer]:
        tokens = self.language.encode(f"<bos> <x0> {self.text}")

        def score_next(growing: Tokens, texts: Tokens) -> Numbers:
            logits = np.full((len(growing), len(self.language.vocabulary)), -np.inf)
            logits[:, tokens[texts.shape[1]]] = 0
            return logits

        return tokens[:2].tolist(), score_next


def test_sentences_are_counted_by_their_first_error(garden: Language) -> None:
    found = judged(
        garden,
        "she picks the plum .",
        "she pick the plum from my own garden .",
        "I grow my pretty tulip from her own garden .",
        "I pick the plum from her own garden .",
    )
    assert found["legal"] == 0.25
    assert found["illegal error=verb"] == 0.25
    assert found["illegal error=tail possessive"] == 0.5
    assert found["commonest_error"] == pytest.approx(2 / 3)
    assert sum(value for name, value in found.items() if "error=" in name and "window" not in name) == 0.75


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("she picks the plum from my own garden .", "inside"),
        ("she picks the ripe plum from my own garden .", "outside"),
        ("the children grow the pumpkin with my own hands .", "inside"),
        ("the children grow the fresh pumpkin from <eos>", "outside"),
        ("she picks the ripe plum from her garden .", None),
        ("she picks the plum from her own garden garden", None),
        ("she pick the ripe plum from my own garden .", None),
    ],
)
def test_a_wrong_possessive_is_inside_or_outside_the_window(
    garden: Language, text: str, window: str | None
) -> None:
    found = judged(garden, text)
    outcome = {name: found[f"illegal error=tail possessive;window={name}"] for name in ("inside", "outside")}
    assert outcome == {name: float(name == window) for name in outcome}
    assert found["outside_errors"] == float(window == "outside")
    assert found["legal"] == 0


def test_an_end_without_a_period_is_an_error_where_the_sentence_should_go_on(garden: Language) -> None:
    found = judged(garden, "<eos>", "she picks <eos>", "she picks the plum <eos>", "she picks the plum .")
    assert found["illegal error=subject"] == found["illegal error=determiner"] == 0.25
    assert found["illegal error=tail or ."] == found["legal"] == 0.25
    assert found["stopped_first"] == 0.25
    assert found["written"] == (0 + 2 + 4 + 5) / 4


def test_without_an_error_there_is_no_commonest_one(garden: Language) -> None:
    assert not {"commonest_error", "outside_errors"} & set(judged(garden, "she picks the plum ."))


def test_what_cannot_be_the_slot_of_an_error_has_no_row(garden: Language) -> None:
    found = judged(garden, "she picks the plum .")
    slots = {name.removeprefix("illegal error=") for name in found if "error=" in name and "window" not in name}
    assert {"subject", "noun", "tail or ."} <= slots
    assert not {"<bos>", "subject or <eos>"} & slots


def test_repeated_sentences_are_not_distinct(garden: Language) -> None:
    assert judged(garden, *["she picks the plum ."] * 3, "she eats the fig .")["distinct"] == 0.5


def test_a_withheld_pair_is_legal(garden: Language) -> None:
    assert judged(garden, "I pick the plum .", "I grow the tulip .")["legal"] == 1


def test_a_sentence_ends_at_its_first_period_and_what_was_given_is_not_part_of_it(
    garden: Language, context: Context
) -> None:
    found = observed(Writes(garden, "she picks the plum . she pick"), context)
    assert found["legal decoding=sampling"].value == 1
    assert found["written decoding=sampling"].value == 5
    assert found["distinct decoding=sampling"].value == 1 / SENTENCES
    assert found["cut_off decoding=sampling"].value == 0


def test_writing_stops_at_the_longest_allowed(garden: Language, context: Context) -> None:
    found = observed(Writes(garden, "she picks the plum ."), context, replace(SMALL, longest=3))
    assert found["written decoding=sampling"].value == 3
    assert found["legal decoding=sampling"].value == found["cut_off decoding=sampling"].value == 1


def test_an_error_before_the_cut_counts_as_one(garden: Language, context: Context) -> None:
    found = observed(Writes(garden, "she pick the plum ."), context, replace(SMALL, longest=3))
    assert found["illegal decoding=sampling;error=verb"].value == 1
    assert found["legal decoding=sampling"].value == found["cut_off decoding=sampling"].value == 0


#: Sentences of 3 or of 43 tokens, the period included; the last word agrees with the first.
LONG = {
    "tokens": {"begin": "<bos>", "end": "<eos>", "period": "."},
    "mean_sentences": 2,
    "lexicon": {"first": {"odd": {"last": "one"}, "even": {"last": "two"}}, "size": ["short", "long"]},
    "draws": {"first": {}, "size": {"weights": {"short": 1, "long": 3}}},
    "sentence": [
        {"slot": "first", "words": "{first}"},
        *({"slot": "filler", "words": "very", "when": {"size": "long"}} for _ in range(40)),
        {"slot": "last", "words": "{first.last}"},
    ],
}


@pytest.mark.parametrize("longest", [1, 2, 3, 10, 20, 60])
@pytest.mark.parametrize("name", ["garden", "farm", "long"])
def test_the_language_itself_is_legal_whatever_the_limit(
    garden: Language, farm: Language, name: str, longest: int
) -> None:
    language, slot, antecedent = {
        "garden": (garden, "tail possessive", "subject"),
        "farm": (farm, "object", "subject"),
        "long": (read_language(LONG, "long.yaml"), "filler", "first"),
    }[name]
    test = language.sample(stream(0, "evaluation tests"), 100)
    options = replace(SMALL, slot=slot, antecedent=antecedent, longest=longest)
    found = observed(exact.Reference(exact.Options(), language), Context(language, test), options)
    assert {one.value for key, one in found.items() if key.startswith("legal")} == {1}
    assert {one.value for key, one in found.items() if key.startswith("illegal")} == {0}
    expected = {1: 1.0, 2: 1.0, 60: 0.0}  # no sentence is shorter than 3 tokens or longer than 43
    cut = found["cut_off decoding=sampling"].value
    assert cut == expected.get(longest, cut)


def test_what_a_limit_cuts_off_is_a_number_of_its_own() -> None:
    language = read_language(LONG, "long.yaml")
    options = replace(SMALL, slot="filler", antecedent="first", per_document=20)
    test = language.sample(stream(0, "evaluation tests"), 100)
    found = observed(exact.Reference(exact.Options(), language), Context(language, test), options)
    cut = found["cut_off decoding=sampling"]
    assert cut.item_error is not None
    assert abs(cut.value - 3 / 4) < 4 * cut.item_error


def test_the_language_itself_writes_legal_sentences_of_the_exact_mean_length(context: Context) -> None:
    found = observed(exact.Reference(exact.Options(), context.language), context)
    for decoding in ("sampling", "top-p 0.95"):
        assert found[f"legal decoding={decoding}"].value == 1
    length = found["written decoding=sampling"]
    assert length.item_error is not None
    assert abs(length.value - all_sentences(context.language).mean_length) < 4 * length.item_error


def test_the_best_that_a_window_allows_errs_at_possessives_outside_it_alone(context: Context) -> None:
    found = observed(exact.Reference(exact.Options(window=5), context.language), context)
    for decoding in ("sampling", "top-p 0.95"):
        wrong = found[f"illegal decoding={decoding};error=tail possessive;window=outside"].value
        assert wrong == pytest.approx(1 - found[f"legal decoding={decoding}"].value)
        assert wrong > 0.01
        assert found[f"commonest_error decoding={decoding}"].value == 1


def test_counted_ngrams_write_too(context: Context) -> None:
    reference = ngram.Reference(ngram.Options(order=3), context.language, context.test)
    assert 0 < observed(reference, context)["legal decoding=sampling"].value < 1


def untrained(context: Context) -> TrainedModel:
    network = unfilled(lambda: transformer.Model(transformer.Options(d_model=16, heads=2, d_ff=8), 100))
    fill(network, torch.Generator().manual_seed(0))
    return TrainedModel(network, flm.Objective(flm.Options(), 100), Log(), lambda: Documents.of([]))


def test_a_seed_draws_its_own_sentences_and_always_the_same(context: Context) -> None:
    model = exact.Reference(exact.Options(), context.language)
    first, again, other = (
        observed(model, replace(context, seed=seed))["distinct decoding=sampling"].value for seed in (0, 0, 1)
    )
    assert first == again != other


def test_every_decoding_is_of_all_sentences(context: Context) -> None:
    found = observed(untrained(context), context, replace(SMALL, decodings=("greedy", "temperature 0.5, top-k 3")))
    assert {one.condition["decoding"] for one in found.values()} == {"greedy", "temperature 0.5, top-k 3"}
    assert found["distinct decoding=greedy"].value == 1 / SENTENCES
    assert {one.n for name, one in found.items() if name.startswith(("legal", "illegal"))} == {SENTENCES}


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"per_document": 0}, "per_document 0: expected at least 1"),
        ({"longest": 0}, "longest 0: expected at least 1"),
        ({"window": 0}, "window 0: expected at least 1"),
        ({"decodings": ("sampling", "top-q 0.9")}, "'top-q'.*top-p"),
    ],
)
def test_options_that_cannot_be_are_refused(option: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(SMALL, **option)  # type: ignore[arg-type]
