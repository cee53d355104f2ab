from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seedbed.documents import Documents

if TYPE_CHECKING:
    from conftest import Case

    from seedbed.languages.automaton import Language


def some_documents(case: Case, count: int) -> list[str]:
    """About ``count`` documents of one or two sentences, evenly taken from all of them."""
    texts = list(case.oracle.full)
    pairs = itertools.product(texts, texts) if case.content["mean_sentences"] > 1 else ()
    documents = [case.oracle.wrap(*one) for one in (*((text,) for text in texts), *pairs)]
    return documents[:: max(1, len(documents) // count)]


def test_document_probabilities_equal_enumeration(small: Case) -> None:
    for text in some_documents(small, 200):
        assert math.exp(small.language.log_probability(small.language.encode(text))) == pytest.approx(
            small.oracle.document(text), rel=1e-9
        )


def test_training_probabilities_equal_enumeration_without_withheld_combinations(small: Case) -> None:
    training = small.language.training()
    for text in some_documents(small, 200):
        assert math.exp(training.log_probability(training.encode(text))) == pytest.approx(
            small.oracle.document(text, training=True), rel=1e-9
        )


@pytest.mark.parametrize("form", ["full", "training"])
def test_next_token_equals_ratio_of_enumerated_prefixes(small: Case, form: str) -> None:
    sentences = getattr(small.oracle, form)
    language = small.language.training() if form == "training" else small.language
    begin = language.vocabulary.tokens[0]
    mass: Counter[tuple[str, ...]] = Counter()
    for text, probability in sentences.items():
        words = [*text.split(), "."]
        for length in range(len(words) + 1):
            mass[tuple(words[:length])] += probability
    for prefix, probability in mass.items():
        if prefix[-1:] != (".",):
            row = language.next_token(language.encode(" ".join([begin, *prefix])))
            expected = [mass[(*prefix, token)] / probability for token in language.vocabulary.tokens]
            np.testing.assert_allclose(row, expected, atol=1e-12)


def test_rows_add_up_to_one_except_after_the_end(small: Case) -> None:
    for language in (small.language, small.language.training()):
        total = language.probability.sum(axis=1)
        reached = language.expected_visits > 0
        np.testing.assert_allclose(total[reached & (np.arange(len(total)) != language.end)], 1.0)
        assert total[language.end] == total[language.dead] == 0


def test_impossible_tokens_lead_to_the_dead_state_and_nothing_leads_out(small: Case) -> None:
    for language in (small.language, small.language.training()):
        assert (language.next_state[language.probability == 0] == language.dead).all()


def test_boundary_is_the_only_state_after_a_period(small: Case) -> None:
    after = small.language.next_state[small.language.probability[:, 2] > 0, 2]
    assert set(after) == {2}


def test_posterior_equals_enumeration_at_every_position(small: Case) -> None:
    vocabulary = small.language.vocabulary
    for text in some_documents(small, 12):
        tokens = text.split()
        for position in range(len(tokens)):
            rivals = [
                " ".join([*tokens[:position], rival, *tokens[position + 1 :]]) for rival in vocabulary.tokens
            ]
            expected = np.array([small.oracle.document(rival) for rival in rivals])
            found = small.language.posterior(vocabulary.encode(text), position)
            np.testing.assert_allclose(found, expected / expected.sum(), atol=1e-12)


def test_posterior_ignores_the_token_at_the_position(late: Case) -> None:
    texts = [f"<bos> we pick {word} plum from our garden . <eos>" for word in ("red", "<mask>", "<eos>")]
    found = [late.language.posterior(late.language.encode(text), 3) for text in texts]
    assert (found[0] == found[1]).all()
    assert (found[0] == found[2]).all()


def test_posterior_holds_for_documents_beyond_floating_range(late: Case) -> None:
    sentence = "the children eat ripe plum from their garden"
    document = late.language.encode(late.oracle.wrap(*[sentence] * 1000))
    assert math.exp(late.language.log_probability(document)) == 0
    expected = late.language.posterior(late.language.encode(late.oracle.wrap(sentence)), 4)
    np.testing.assert_allclose(late.language.posterior(document, 4), expected)


def test_posterior_refuses_documents_that_no_token_can_save(late: Case) -> None:
    with pytest.raises(ValueError, match="no token at position 1 makes this possible"):
        late.language.posterior(late.language.encode("<bos> we pick plum from their garden . <eos>"), 1)
    with pytest.raises(ValueError, match="no token at position 2 makes this possible"):
        late.language.posterior(late.language.encode("<bos> we pick plum"), 2)
    with pytest.raises(IndexError, match="position 2 of a document of 2 tokens"):
        late.language.posterior([0, 1], 2)


def test_expected_length_and_entropy_equal_enumeration(small: Case) -> None:
    for language, sentences in (
        (small.language, small.oracle.full),
        (small.language.training(), small.oracle.training),
    ):
        mean = small.content["mean_sentences"]
        length = sum(p * (len(text.split()) + 1) for text, p in sentences.items())
        entropy = -sum(p * math.log(p) for p in sentences.values())
        stop = 1 / mean
        going_on = -math.log(stop) - (mean - 1) * (math.log(1 - stop) if mean > 1 else 0.0)
        assert language.expected_length() == pytest.approx(2 + mean * length)
        assert language.entropy_rate() == pytest.approx((mean * entropy + going_on) / (mean * length + 1))
        assert language.perplexity() == pytest.approx(math.exp(language.entropy_rate()))


def test_states_index_the_next_token_distribution_after_every_prefix(late: Case) -> None:
    documents = late.language.sample(np.random.default_rng(0), 20)
    rows = late.language.probability[late.language.states(documents)]
    for document, start in zip(documents, documents.offsets, strict=False):
        for length in range(1, len(document) + 1):
            assert (rows[start + length - 1] == late.language.next_token(document[:length])).all()


def test_batched_scores_equal_single_ones(small: Case) -> None:
    documents = small.language.sample(np.random.default_rng(1), 50)
    scores = small.language.token_log_probabilities(documents)
    owners = documents.without_first().owners
    single = [small.language.log_probability(document) for document in documents]
    np.testing.assert_allclose(np.bincount(owners, weights=scores), single)


def test_true_language_scores_its_entropy_on_samples(small: Case) -> None:
    documents = small.language.sample(np.random.default_rng(2), 4000)
    scores = -small.language.token_log_probabilities(documents)
    totals = np.bincount(documents.without_first().owners, weights=scores - small.language.entropy_rate())
    assert abs(totals.mean()) < 4 * totals.std() / math.sqrt(len(documents))


def test_samples_follow_the_enumerated_probabilities(small: Case) -> None:
    for language, sentences in (
        (small.language, small.oracle.full),
        (small.language.training(), small.oracle.training),
    ):
        documents = language.sample(np.random.default_rng(3), 20_000)
        first = Counter(language.decode(document[1:]).split(" .")[0] for document in documents)
        assert set(first) <= set(sentences)
        for text, p in sentences.items():
            assert abs(first[text] - 20_000 * p) < 5 * math.sqrt(20_000 * p * (1 - p)) + 1


def test_samples_repeat_with_the_stream_and_can_be_none(late: Case) -> None:
    one, two = (late.language.sample(np.random.default_rng(4), 30) for _ in range(2))
    assert (one.tokens == two.tokens).all()
    assert len(late.language.sample(np.random.default_rng(4), 0)) == 0


@pytest.mark.parametrize("number", [0.0, np.nextafter(1.0, 0.0)])
def test_extreme_random_numbers_draw_possible_documents(repeated: Case, number: float) -> None:
    rng = SimpleNamespace(random=lambda shape: np.full(shape, number))
    documents = repeated.language.sample(cast(np.random.Generator, rng), 2)
    assert np.isfinite([repeated.language.log_probability(document) for document in documents]).all()


def test_impossible_tokens_have_probability_zero_from_there_on(late: Case) -> None:
    language = late.language
    documents = Documents.of([language.encode("<bos> we ripe plum . <eos>"), language.encode("we pick")])
    assert list(language.states(documents) == language.dead) == [False, False, True, True, True, True, True, True]
    assert list(np.isneginf(language.token_log_probabilities(documents))) == [False, True, True, True, True, True]
    assert (language.probability[language.states(documents)][-1] == 0).all()


def test_unfinished_empty_and_impossible_documents_have_probability_zero(late: Case) -> None:
    for text in ("", "<bos>", "<bos> <eos>", "<bos> we", "<bos> we pick plum from our garden .", "<mask>"):
        assert late.language.log_probability(late.language.encode(text)) == -math.inf


def test_empty_input_is_scored_as_empty(late: Case) -> None:
    nothing = Documents.of([])
    assert late.language.states(nothing).size == late.language.token_log_probabilities(nothing).size == 0
    assert late.language.withheld_tokens(nothing).size == late.language.in_slot(nothing, "verb").size == 0
    assert late.language.states(Documents.of([[], []])).size == 0
    assert late.language.next_token([])[0] == 1.0
    with pytest.raises(ValueError, match="empty document"):
        late.language.token_log_probabilities(Documents.of([[]]))


def test_next_token_names_the_impossible_token_and_what_was_expected(late: Case) -> None:
    prefix = late.language.encode("<bos> we pick ripe our")
    with pytest.raises(ValueError, match="'our' at position 4, where noun is expected"):
        late.language.next_token(prefix)
    whole = late.language.encode("<bos> we pick plum from our garden . <eos>")
    assert (late.language.next_token(whole) == 0).all()


@pytest.mark.parametrize("token", [-1, 10_000])
def test_token_ids_outside_the_vocabulary_are_refused(late: Case, token: int) -> None:
    for call in (late.language.next_token, late.language.log_probability, late.language.first_error):
        with pytest.raises(ValueError, match=f"token id {token}"):
            call([0, token])
    with pytest.raises(ValueError, match=f"token id {token}"):
        late.language.token_log_probabilities(Documents.of([[0, token]]))


@pytest.mark.parametrize(
    ("sentence", "slot"),
    [
        ("we pick ripe plum from our garden .", None),
        ("we pick ripe plum from their garden .", "tail"),
        ("we pick lovely plum from our garden .", "noun"),
        ("we pick we", "adjective or noun"),
        ("the we", "subject"),
        ("we pick ripe plum from our garden", "."),
        ("we pick ripe plum from our garden . we", "subject or <eos>"),
        ("we pick ripe plum from our garden . <bos>", "subject or <eos>"),
        ("we", "verb"),
        ("", "subject"),
    ],
)
def test_first_error_names_the_slot_that_failed(late: Case, sentence: str, slot: str | None) -> None:
    assert late.language.first_error(late.language.encode(sentence)) == slot


def test_first_error_is_none_exactly_for_sentences_of_the_language(small: Case) -> None:
    for text in small.oracle.full:
        assert small.language.first_error(small.language.encode(f"{text} .")) is None
        assert small.language.first_error(small.language.encode(text)) is not None


def test_in_slot_marks_the_tokens_of_a_slot(late: Case) -> None:
    documents = Documents.of([late.language.encode("<bos> the children eat fig from their garden . <eos>")])
    assert late.language.in_slot(documents, "subject").nonzero()[0].tolist() == [1, 2]
    assert late.language.in_slot(documents, "tail").nonzero()[0].tolist() == [5, 6, 7]
    with pytest.raises(ValueError, match="did you mean tail"):
        late.language.in_slot(documents, "tails")


def test_in_slot_marks_a_slot_in_every_sentence_also_where_other_slots_are_possible(late: Case) -> None:
    text = "<bos> the children eat fig from their garden . we eat ripe fig from our garden . <eos>"
    documents = Documents.of([late.language.encode(text)])
    assert late.language.in_slot(documents, "subject").nonzero()[0].tolist() == [1, 2, 9]
    assert late.language.in_slot(documents, "noun").nonzero()[0].tolist() == [4, 12]


def test_in_slot_marks_a_wrong_word_where_only_one_slot_is_possible(late: Case) -> None:
    documents = Documents.of([late.language.encode("<bos> plum"), late.language.encode("<bos> we pick from")])
    assert late.language.in_slot(documents, "subject").nonzero()[0].tolist() == [1, 3]
    assert not late.language.in_slot(documents, "noun").any()


def test_candidates_are_the_words_that_a_slot_can_hold(late: Case) -> None:
    language = late.language
    assert language.decode(language.candidates("subject")).split() == ["children", "the", "we"]
    assert language.decode(language.candidates("noun")).split() == ["fig", "plum", "rose"]
    with pytest.raises(ValueError, match="did you mean noun"):
        language.candidates("nouns")


def test_withheld_marks_whole_sentences_with_their_periods(late: Case) -> None:
    kept, withheld = "we eat fig from our garden", "the children eat fig from their garden"
    documents = Documents.of(
        [late.language.encode(late.oracle.wrap(*texts)) for texts in ([kept, withheld], [kept])]
    )
    expected = [*[0] * (1 + 7), *[1] * 8, 0, *[0] * 9]
    assert late.language.withheld_tokens(documents).tolist() == [bool(flag) for flag in expected]


def test_withheld_sentences_are_those_that_training_lacks(small: Case) -> None:
    for text in small.oracle.full:
        documents = Documents.of([small.language.encode(small.oracle.wrap(text))])
        assert small.language.withheld_tokens(documents).any() == (text not in small.oracle.training)


def test_unfinished_documents_are_withheld_apart_from_the_next_one(late: Case) -> None:
    documents = Documents.of([late.language.encode(text) for text in ("<bos> we pick plum", "<bos> we eat fig")])
    assert late.language.withheld_tokens(documents).tolist() == [
        False,
        True,
        True,
        True,
        False,
        False,
        False,
        False,
    ]


def test_ungrammatical_sentences_are_not_withheld(late: Case) -> None:
    documents = Documents.of([late.language.encode("<bos> pick plum . <eos>")])
    assert not late.language.withheld_tokens(documents).any()


def test_training_keeps_the_number_of_sentences(late: Case) -> None:
    training = late.language.training()
    assert training.another_sentence == late.language.another_sentence == pytest.approx(0.6)
    periods = (training.sample(np.random.default_rng(5), 5000).tokens == 2).sum() / 5000
    assert periods == pytest.approx(2.5, abs=0.15)


def test_training_of_a_language_without_withheld_combinations_is_itself(repeated: Case) -> None:
    assert repeated.language.training() is repeated.language
    assert repeated.language.training().training() is repeated.language


def test_structural_tokens_are_never_possible(garden: Language) -> None:
    assert (garden.probability[:, -10:] == 0).all()


weights = st.floats(0.01, 100)


@st.composite
def grammars(draw: st.DrawFn) -> dict[str, Any]:
    """An agreement at a distance, a word that is evidence for a later one, and a random withheld pair."""
    nouns, kinds = ["ant", "bee", "cat"], ["soft", "loud"]
    return {
        "tokens": {"begin": "<s>", "end": "</s>", "period": "."},
        "mean_sentences": draw(st.floats(1, 5)),
        "lexicon": {
            "who": {"I": {"own": "my"}, "we": {"own": "our"}},
            "noun": nouns,
            "kind": kinds,
            "has": ["no", "yes"],
        },
        "draws": {
            "who": {"weights": {"I": draw(weights), "we": draw(weights)}},
            "noun": {"weights": {noun: draw(weights) for noun in nouns}},
            "kind": {
                "given": "noun",
                "choices": {"ant": kinds, "bee": ["loud"], "cat": ["soft", "loud"]},
                "rank": {
                    "exponent": draw(st.floats(0.1, 3)),
                    "among": draw(st.sampled_from(["lexicon", "choices"])),
                },
            },
            "has": {"weights": {"no": draw(weights), "yes": draw(weights)}},
        },
        "sentence": [
            {"slot": "who", "words": "{who}"},
            {"slot": "kind", "words": "{kind}", "when": {"has": ["yes"]}},
            {"slot": "noun", "words": "{noun}"},
            {"slot": "own", "words": "with {who.own} {noun}"},
        ],
        "withheld": [{"who": draw(st.sampled_from(["I", "we"])), "noun": draw(st.sampled_from(nouns))}],
    }


@settings(max_examples=25)
@given(content=grammars())
def test_any_grammar_equals_its_enumeration(
    make_case: Callable[[dict[str, Any]], Case], content: dict[str, Any]
) -> None:
    case = make_case(content)
    stop = 1 / content["mean_sentences"]
    for language, training in ((case.language, False), (case.language.training(), True)):
        documents = [case.oracle.wrap(text) for text in case.oracle.full]
        found = [math.exp(language.log_probability(language.encode(text))) for text in documents]
        np.testing.assert_allclose(found, [case.oracle.document(text, training) for text in documents], atol=1e-12)
        assert sum(found) == pytest.approx(stop)
