"""What the lecture `objectives` states about the garden, each number computed exactly.

The lecture measured samples. Where the exact figure is not the lecture's to all digits, the tolerance is one
standard deviation of the figure over test sets of 1,000 documents (500 questions for the cloze).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import processes
import pytest

from seedbed.documents import Documents
from seedbed.languages import exact

if TYPE_CHECKING:
    from conftest import Case

    from seedbed.languages.automaton import Language

TAIL = "tail possessive"


@pytest.fixture(scope="module")
def sentences(garden: Language) -> exact.Sentences:
    return exact.all_sentences(garden)


def test_vocabulary_has_90_tokens_and_10_structural_ones(garden: Language) -> None:
    assert len(garden.vocabulary) == 100
    assert len(garden.vocabulary.marks + garden.vocabulary.words) == 90
    assert garden.vocabulary.structural == ("<pad>", "<mask>", *(f"<x{index}>" for index in range(8)))


def test_cloze_has_87_candidates(garden: Language) -> None:
    assert len(garden.vocabulary.word_ids) == 87
    assert (garden.probability[:, garden.vocabulary.word_ids] > 0).any(axis=0).all()


@pytest.mark.parametrize(
    "sentence",
    [
        "the children grow the fresh pumpkin from their own garden .",
        "she picks her ripe plum from her own garden .",
        "I grow my pretty tulip from my own garden .",
    ],
)
def test_example_sentences_of_the_lecture_are_grammatical(garden: Language, sentence: str) -> None:
    assert garden.first_error(garden.encode(sentence)) is None


@pytest.mark.parametrize(
    ("start", "possessive"),
    [
        ("the children grow the fresh pumpkin", "their"),
        ("she picks her ripe plum", "her"),
        ("I grow my pretty tulip", "my"),
        ("we slice the tomato", "our"),
    ],
)
@pytest.mark.parametrize("preposition", ["from", "with"])
def test_subject_decides_the_tail_possessive(
    garden: Language, start: str, possessive: str, preposition: str
) -> None:
    row = garden.next_token(garden.encode(f"<bos> she eats the fig . {start} {preposition}"))
    assert row[garden.vocabulary.id(possessive)] == pytest.approx(1)


def test_in_is_followed_by_the(garden: Language) -> None:
    row = garden.next_token(garden.encode("<bos> we slice the tomato in"))
    assert row[garden.vocabulary.id("the")] == pytest.approx(1)


def test_errors_in_tail_possessives_have_a_slot_of_their_own(garden: Language) -> None:
    wrong = garden.encode("the children grow the fresh pumpkin from our own garden .")
    assert garden.first_error(wrong) == TAIL


def test_five_pairs_are_withheld_pick_plum_and_grow_tulip_among_them(garden_content: dict[str, Any]) -> None:
    pairs = [tuple(pair.values()) for pair in garden_content["withheld"]]
    assert len(set(pairs)) == 5
    assert {("pick", "plum"), ("grow", "tulip")} <= set(pairs)


def test_withheld_pairs_are_in_the_language_and_not_in_training(
    garden: Language, garden_content: dict[str, Any], sentences: exact.Sentences
) -> None:
    third = {verb: forms["third"] for verb, forms in garden_content["lexicon"]["verb"].items()}
    pairs = {
        (form, pair["noun"]) for pair in garden_content["withheld"] for form in (pair["verb"], third[pair["verb"]])
    }
    ids = np.array([[garden.vocabulary.id(word) for word in pair] for pair in sorted(pairs)])
    texts = sentences.texts
    holds = np.zeros(len(texts), dtype=np.bool_)
    for verb, noun in ids:
        with_verb, with_noun = (np.unique(texts.owners[texts.tokens == word]) for word in (verb, noun))
        assert np.intersect1d(with_verb, with_noun).size
        holds[np.intersect1d(with_verb, with_noun)] = True
    withheld = np.zeros(len(texts), dtype=np.bool_)
    withheld[texts.owners[garden.withheld_tokens(texts)]] = True
    assert (holds == withheld).all()


def test_training_samples_hold_no_withheld_pair(garden: Language) -> None:
    documents = garden.training().sample(np.random.default_rng(0), 8000)
    assert not garden.withheld_tokens(documents).any()


def test_sentences_are_independent_after_each_period(garden: Language) -> None:
    documents = Documents.of(
        garden.encode(text) for text in ("<bos> she eats the fig .", "<bos> we cut the rose . I chop my pea .")
    )
    after = garden.states(documents)[documents.offsets[1:] - 1]
    assert after[0] == after[1]
    again = garden.next_token(documents[0])
    first = garden.next_token(garden.encode("<bos>"))
    np.testing.assert_allclose(again[3:], first[3:] * 2 / 3)


def test_documents_have_25_16_tokens(garden: Language) -> None:
    # 201,244 tokens in 8,000 training documents; the standard deviation of that mean is 0.22.
    assert garden.expected_length() == pytest.approx(201_244 / 8000, abs=0.01)
    assert garden.training().expected_length() == pytest.approx(201_244 / 8000, abs=0.01)


def test_perplexity_is_3_655(garden: Language) -> None:
    assert garden.perplexity() == pytest.approx(3.655, abs=0.0005)


def test_continuation_costs_1_330_nats_a_token(sentences: exact.Sentences) -> None:
    assert exact.continuation_entropy(sentences) == pytest.approx(1.330, abs=0.009)


def test_cloze_costs_0_792_nats(sentences: exact.Sentences) -> None:
    assert exact.cloze_entropy(sentences) == pytest.approx(0.792, abs=0.034)


def test_tail_possessives_are_out_of_the_window_in_437_of_980(sentences: exact.Sentences) -> None:
    assert exact.share_beyond_window(sentences, TAIL, "subject", window=5) == pytest.approx(437 / 980, abs=0.0005)


def test_withheld_sentences_hold_5_6_percent_of_the_tokens(sentences: exact.Sentences) -> None:
    assert exact.withheld_share(sentences) == pytest.approx(0.056, abs=0.0005)


def test_tails_see_21_positions(sentences: exact.Sentences) -> None:
    # 22.01 against a rounded 21, whose standard deviation is 1.0.
    assert exact.visible_positions(sentences, TAIL) == pytest.approx(21, abs=1.0 + 0.5)


def test_1000_documents_hold_980_tail_possessives(sentences: exact.Sentences) -> None:
    assert 1000 * exact.tokens_per_document(sentences, TAIL) == pytest.approx(980, abs=36)


#: The standard deviations of the numbers over test sets of 1,000 documents, of the tokens over 8,000.
SD = {
    "tokens a document": 0.22,
    "continuation, nats a token": 0.009,
    "cloze, nats": 0.034,
    "positions that a from or with sees": 1.0,
    "tail possessives in 1,000 documents": 36,
}


def figures(garden: Language, sentences: exact.Sentences) -> dict[str, tuple[float, ...]]:
    """Every row of the table in config/README.md, exactly."""
    vocabulary = garden.vocabulary
    return {
        "tokens, candidates of a cloze question": (
            len(vocabulary.marks + vocabulary.words),
            len(vocabulary.words),
        ),
        "tokens a document": (garden.expected_length(),),
        "perplexity": (garden.perplexity(),),
        "share of tail possessives out of a 5-word window": (
            exact.share_beyond_window(sentences, TAIL, "subject", 5),
        ),
        "share of tokens in withheld sentences": (exact.withheld_share(sentences),),
        "continuation, nats a token": (exact.continuation_entropy(sentences),),
        "cloze, nats": (exact.cloze_entropy(sentences),),
        "positions that a from or with sees": (exact.visible_positions(sentences, TAIL),),
        "tail possessives in 1,000 documents": (1000 * exact.tokens_per_document(sentences, TAIL),),
    }


def rows_of_the_readme() -> dict[str, tuple[str, str, str]]:
    text = (Path(__file__).parents[2] / "config/README.md").read_text(encoding="utf-8")
    lines = text.partition("| figure | lecture | here | off by |")[2].splitlines()[2:]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line]
    return {figure: (lecture, here, off) for figure, lecture, here, off in rows}


def test_the_table_of_the_readme_is_exact_to_the_digits_shown(
    garden: Language, sentences: exact.Sentences
) -> None:
    found, rows = figures(garden, sentences), rows_of_the_readme()
    assert rows.keys() == found.keys()
    for figure, (lecture, here, off) in rows.items():
        for value, text in zip(found[figure], here.split(", "), strict=True):
            assert round(value, len(text.partition(".")[2])) == float(text), figure
        if figure in SD:
            assert off == f"{abs(found[figure][0] - float(lecture)) / SD[figure]:.1f} sd"
        else:
            assert (here, off) == (lecture, "")


def test_longest_of_8000_training_documents_is_near_207(garden: Language) -> None:
    rng = np.random.default_rng(0)
    longest = [garden.training().sample(rng, 8000).lengths.max() for _ in range(6)]
    assert 150 < min(longest) < 207 < max(longest) + 50


def test_samples_score_the_exact_perplexity(garden: Language) -> None:
    documents = garden.sample(np.random.default_rng(1), 8000)
    surprise = -garden.token_log_probabilities(documents)
    assert math.exp(surprise.mean()) == pytest.approx(garden.perplexity(), abs=4 * 0.013 / math.sqrt(8))


def test_samples_have_the_exact_shares(garden: Language, sentences: exact.Sentences) -> None:
    documents = garden.sample(np.random.default_rng(2), 8000)
    found = garden.in_slot(documents, TAIL)
    assert found.sum() / 8 == pytest.approx(
        1000 * exact.tokens_per_document(sentences, TAIL), abs=4 * 36 / math.sqrt(8)
    )
    assert documents.positions[found].mean() == pytest.approx(
        exact.visible_positions(sentences, TAIL), abs=4 / math.sqrt(8)
    )
    share = garden.withheld_tokens(documents).sum() / (documents.lengths - 1).sum()
    assert share == pytest.approx(exact.withheld_share(sentences), abs=4 * 0.004 / math.sqrt(8))


def test_garden_equals_its_enumeration(
    make_case: Callable[[dict[str, Any]], Case], garden_content: dict[str, Any], sentences: exact.Sentences
) -> None:
    oracle = make_case(garden_content).oracle
    texts = [sentences.language.decode(text[1:-1]) for text in sentences.texts]
    np.testing.assert_allclose(sentences.probability, [oracle.full[text] for text in texts], rtol=1e-9)
    assert len(texts) == len(oracle.full)


def test_tables_do_not_depend_on_the_hash_seed() -> None:
    program = (
        "import hashlib, yaml; from seedbed.languages.compilation import read_language;"
        "garden = read_language(yaml.safe_load(open('config/languages/garden.yaml')), 'garden.yaml');"
        "print([hashlib.sha256(one.probability.tobytes()).hexdigest() for one in (garden, garden.training())])"
    )
    root = Path(__file__).parents[2]
    found = [
        processes.run(
            [sys.executable, "-c", program],
            cwd=root,
            env={"PYTHONHASHSEED": seed},
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert found[0] == found[1]
