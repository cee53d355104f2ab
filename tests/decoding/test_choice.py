from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax
from scipy.stats import chisquare

from seedbed.decoding.choice import Choice, Numbers

SHARES = np.array([0.05, 0.4, 0.0, 0.25, 0.2, 0.1])
with np.errstate(divide="ignore"):
    LOGITS = np.log(SHARES)[None]

logit_rows = st.lists(st.floats(-20, 20), min_size=1, max_size=12).map(lambda row: np.array([row]))


def kept(choice: Choice, logits: Numbers = LOGITS) -> list[int]:
    return [int(token) for token in np.flatnonzero(choice.probabilities(logits)[0])]


def test_sampling_draws_each_token_as_often_as_the_model_expects_it() -> None:
    drawn = Choice().tokens(np.repeat(LOGITS, 20_000, 0), np.random.default_rng(0).random(20_000))
    counts = np.bincount(drawn, minlength=6)
    assert counts[2] == 0
    assert chisquare(counts[SHARES > 0], 20_000 * SHARES[SHARES > 0]).pvalue > 1e-3


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (Choice(temperature=0.5), SHARES**2 / (SHARES**2).sum()),
        (Choice(top_k=2), np.array([0, 8, 0, 5, 0, 0]) / 13),
        (Choice(top_p=0.65), np.array([0, 8, 0, 5, 0, 0]) / 13),
        (Choice(top_p=0.66), np.array([0, 8, 0, 5, 4, 0]) / 17),
        (Choice(top_k=3, top_p=0.5), np.array([0, 8, 0, 5, 0, 0]) / 13),
        (Choice(temperature=0.5, top_k=2), np.array([0, 64, 0, 25, 0, 0]) / 89),
    ],
    ids=str,
)
def test_the_cuts_leave_what_a_hand_computes(choice: Choice, expected: Numbers) -> None:
    np.testing.assert_allclose(choice.probabilities(LOGITS)[0], expected, atol=1e-12)


@settings(max_examples=200)
@given(logits=logit_rows, temperature=st.floats(0.1, 5), top_k=st.integers(0, 15), top_p=st.floats(0, 1))
def test_the_cuts_equal_those_made_one_token_at_a_time(
    logits: Numbers, temperature: float, top_k: int, top_p: float
) -> None:
    shares, order = softmax(logits[0] / temperature), sorted(range(logits.size), key=lambda i: (-logits[0, i], i))
    ranked = order[: top_k or None]
    total, chosen, mass = shares[ranked].sum(), [], 0.0
    for token in ranked:
        if chosen and mass >= top_p * total and top_p < 1:
            break
        chosen.append(token)
        mass += shares[token]
    found = Choice(temperature, top_k, top_p).probabilities(logits)[0]
    edge = any(math.isclose(part, top_p * total) for part in np.cumsum(shares[ranked]))
    if not edge:  # where rounding decides, either is right
        expected = np.zeros(logits.size)
        expected[chosen] = shares[chosen] / mass
        np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize(
    "choice",
    [
        Choice(temperature=0),
        Choice(temperature=1e-9),
        Choice(temperature=5e-324),
        Choice(top_k=1),
        Choice(top_p=0),
    ],
    ids=str,
)
@settings(max_examples=50)
@given(
    logits=st.lists(st.integers(-20, 20), min_size=1, max_size=12, unique=True), uniform=st.floats(0, 1 - 2**-53)
)
def test_greedy_in_each_of_its_forms_takes_the_most_probable_token(
    choice: Choice, logits: list[int], uniform: float
) -> None:
    row = np.array([logits], np.float64)
    assert choice.tokens(row, np.array([uniform])) == [np.argmax(row)]


@pytest.mark.parametrize("choice", [Choice(temperature=0), Choice(top_k=1), Choice(top_p=0)], ids=str)
def test_greedy_takes_the_first_of_equals(choice: Choice) -> None:
    assert kept(choice, np.array([[0.0, 1.0, 1.0, -math.inf]])) == [1]


@pytest.mark.parametrize(
    "choice", [Choice(top_k=0), Choice(top_k=40), Choice(top_k=10**9), Choice(top_p=1)], ids=str
)
def test_a_cut_that_cuts_nothing_is_plain_sampling(choice: Choice) -> None:
    rng = np.random.default_rng(0)
    logits, uniforms = 30 * rng.normal(size=(500, 40)), rng.random(500)
    assert (choice.tokens(logits, uniforms) == Choice().tokens(logits, uniforms)).all()
    assert (choice.probabilities(logits) > 0).all()


@pytest.mark.parametrize("uniform", [0.0, 1 - 2**-53])
def test_an_impossible_token_is_never_drawn(uniform: float) -> None:
    logits = np.array([[-math.inf, 0.0, -math.inf, 0.1, -math.inf]])
    assert Choice().tokens(logits, np.array([uniform])) == [1 if uniform == 0 else 3]


def test_logits_and_log_probabilities_choose_alike() -> None:
    logits = 3 * np.random.default_rng(0).normal(size=(50, 8))
    for choice in (Choice(), Choice(temperature=0.7, top_k=5, top_p=0.9)):
        expected = choice.probabilities(logits)
        np.testing.assert_allclose(choice.probabilities(np.log(softmax(logits, 1))), expected, atol=1e-12)


def test_the_given_logits_are_left_as_they_are() -> None:
    logits = LOGITS.copy()
    Choice(temperature=0.5, top_k=2, top_p=0.4).tokens(logits, np.array([0.5]))
    assert (logits == LOGITS).all()


@pytest.mark.parametrize("bad", [[math.nan, 0.0], [-math.inf, -math.inf]])
def test_logits_that_say_nothing_are_refused(bad: list[float]) -> None:
    with pytest.raises(ValueError, match="give no next token"):
        Choice().tokens(np.array([bad]), np.array([0.5]))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", -0.1),
        ("temperature", math.nan),
        ("temperature", math.inf),
        ("top_k", -1),
        ("top_p", -0.01),
        ("top_p", 1.01),
        ("top_p", math.nan),
    ],
)
def test_an_option_out_of_range_is_named_with_its_value(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"^{name} {value}: expected"):
        Choice(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("sampling", Choice()),
        ("greedy", Choice(temperature=0)),
        ("top-p 0.95", Choice(top_p=0.95)),
        ("temperature 0.7, top-k 10", Choice(temperature=0.7, top_k=10)),
    ],
)
def test_choices_are_read_from_words(text: str, choice: Choice) -> None:
    assert Choice.read(text) == choice


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("topp 0.9", r"decoding 'topp 0.9': 'topp': .*top-p"),
        ("top-p much", "'much': expected a number"),
        ("top-k 2.5", "'2.5': expected a whole number"),
        ("top-p 2", "top_p 2.0: expected"),
        ("", "decoding '': ''"),
    ],
)
def test_other_words_are_refused_with_the_remedy(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Choice.read(text)
