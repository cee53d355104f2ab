import hashlib
from collections import Counter
from itertools import pairwise
from math import comb

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from texts import (
    ARCHITECTURES,
    SENTINELS,
    TEXT,
    VOCABULARY,
    documents,
    gradients,
    network,
    random_texts,
    same,
    spoken,
)

from seedbed.configuration.configuration import Configuration
from seedbed.documents import Documents, join_each
from seedbed.languages.vocabulary import BEGIN, END, PERIOD, Vocabulary
from seedbed.objectives import scoring
from seedbed.objectives.conditioning import conditional_batch
from seedbed.objectives.span import Objective, Options
from seedbed.pipeline.plan import Plan
from seedbed.randomness import stream

IDS = [VOCABULARY.id(name) for name in SENTINELS]
every_architecture = pytest.mark.parametrize("architecture", ARCHITECTURES)
both_placements = pytest.mark.parametrize("placement", ["anywhere", "end"])


def objective(**options: object) -> Objective:
    return Objective(Options(**options), VOCABULARY)


def corrupted(some: Documents, seed: int = 0, **options: object) -> tuple[Documents, Documents]:
    return objective(**options).corrupt(some, np.random.default_rng(seed))


def spliced(source: list[int], answer: list[int]) -> list[int]:
    """The text again: each sentinel of the source replaced by what follows it in the answer."""
    spans: dict[int, list[int]] = {}
    for token in answer[:-1]:
        if token in IDS:
            spans[token] = []
        else:
            spans[[*spans][-1]].append(token)
    assert answer[-1] == END
    return [one for token in source for one in spans.get(token, [token])]


def test_the_example_of_the_lecture() -> None:
    """Two of its words are hidden, in one span; with some draw they are "her own"."""
    found = {}
    for seed in range(200):
        (source,), (answer,) = corrupted(documents(TEXT), seed)
        found[spoken(answer)] = spoken(source)
    assert found["<x0> her own <eos>"] == "she picks her ripe plum from <x0> garden . <eos>"
    words = TEXT.split()[1:-1]
    assert set(found) == {f"<x0> {first} {second} <eos>" for first, second in pairwise(words)}


@every_architecture
def test_the_example_is_laid_out_for_each_architecture(architecture: str) -> None:
    some = documents(TEXT)
    for seed in range(200):
        batch = objective(architecture=architecture).examples(some, np.random.default_rng(seed))
        if spoken(batch.targets) == "<x0> her own <eos>":
            break
    read = [spoken(packed.tokens) for packed in batch.inputs]
    source = "she picks her ripe plum from <x0> garden . <eos>"
    if architecture == "encoder_decoder":
        assert read == [source, "<bos> <x0> her own"]
    else:
        assert read == [f"{source} <x0> her own"]
        assert batch.scored.tolist() == [9, 10, 11, 12]  # <eos> predicts <x0>
    assert batch.added == 2


@both_placements
@settings(max_examples=200)
@given(
    lengths=st.lists(st.integers(1, 40), min_size=1, max_size=8),
    part=st.floats(0, 1),
    mean_span=st.floats(1, 6),
    most=st.integers(1, len(IDS)),
    seed=st.integers(0, 99),
)
def test_splicing_back_restores_the_text(
    placement: str, lengths: list[int], part: float, mean_span: float, most: int, seed: int
) -> None:
    some, share = random_texts(lengths), part * mean_span / (mean_span + 1)
    options = {"placement": placement, "share": share, "mean_span": mean_span, "most_spans": most}
    sources, answers = corrupted(some, seed, **options)
    for tokens, source, answer in zip(some, sources, answers, strict=True):
        assert spliced([*source], [*answer]) == [*tokens[1:]]
        length, spans = len(tokens) - 2, sum(token in IDS for token in source)
        hidden = len(answer) - spans - 1
        assert hidden == min(max(1, round(share * (length + 1))), length)
        wanted = max(1, round(hidden / mean_span))
        room = length - hidden + 1 if placement == "anywhere" else max(length - hidden, 1)
        assert spans == min(wanted, room, most)


@both_placements
@given(lengths=st.lists(st.integers(1, 40), min_size=1, max_size=8), seed=st.integers(0, 99))
def test_sentinels_count_up_in_source_and_answer_and_spans_do_not_touch(
    placement: str, lengths: list[int], seed: int
) -> None:
    sources, answers = corrupted(
        random_texts(lengths), seed, placement=placement, most_spans=4, share=0.4, mean_span=1.5
    )
    for source, answer in zip(sources, answers, strict=True):
        of_source, of_answer = ([token for token in one if token in IDS] for one in (source, answer))
        assert of_source == of_answer == IDS[: len(of_source)]
        places = np.flatnonzero(np.isin(source, IDS))
        assert (np.diff(places) > 1).all()
        assert source[-1] == END
        assert BEGIN not in source


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5])
def test_short_documents_have_one_hidden_token_anywhere(length: int) -> None:
    draws = 10_000
    sources, answers = corrupted(random_texts([length] * draws))
    assert (answers.lengths == 3).all()
    places = sources.positions[sources.tokens == IDS[0]]
    counts = np.bincount(places, minlength=length)
    assert len(counts) == length
    assert (abs(counts - draws / length) <= 5 * np.sqrt(draws / length)).all()


def test_every_way_to_cut_and_place_two_spans_is_as_likely() -> None:
    """Of 6 tokens 3 are hidden in 2 spans: 2 ways to cut 3, 6 pairs of the 4 places around the other 3."""
    draws = 12_000
    some = Documents.of([[BEGIN, 3, 4, 5, 6, 7, 8, END]] * draws)
    sources, answers = corrupted(some, share=0.43, mean_span=1.5)
    found = Counter((spoken(source), spoken(answer)) for source, answer in zip(sources, answers, strict=True))
    assert len(found) == 2 * comb(4, 2)
    assert max(abs(count - draws / 12) for count in found.values()) < 5 * np.sqrt(draws / 12)


def test_at_the_end_the_last_span_ends_the_text_and_the_first_never_begins_it() -> None:
    some = Documents.of([[BEGIN, 3, 4, 5, 6, 7, 8, END]] * 2000)
    sources, _ = corrupted(some, placement="end", share=0.43, mean_span=1.5)
    shapes = {tuple(np.flatnonzero(np.isin(source, IDS))) for source in sources}
    assert all(len(source) == 6 and source[-2] == IDS[1] for source in sources)
    assert shapes == {(1, 4), (2, 4)}  # after 1 or 2 of the visible tokens, and after all 3


def few_sentinels() -> Vocabulary:
    """Two: <x3> does not follow <x1>."""
    return Vocabulary(VOCABULARY.marks, VOCABULARY.words, ("<x0>", "<x1>", "<x3>"))


def test_a_document_that_needs_more_sentinels_than_there_are_is_refused() -> None:
    """Fewer spans would be longer than the options say; of 40 tokens 20 are hidden, one by one."""
    task = Objective(Options(share=0.5, mean_span=1), few_sentinels())
    message = "mean_span 1: a document of 40 words and periods has 20 spans, .* at most 2,.* most_spans: 2"
    with pytest.raises(ValueError, match=message):
        task.examples(random_texts([3, 40]), np.random.default_rng(0))


def test_the_options_may_limit_the_number_of_spans() -> None:
    task = Objective(Options(share=0.5, mean_span=1, most_spans=2), few_sentinels())
    sources, answers = task.corrupt(random_texts([40] * 50), np.random.default_rng(0))
    assert np.isin(sources.tokens, task.sentinels).sum() == 2 * 50
    assert (answers.lengths == 20 + 2 + 1).all()
    assert task.sentinels.tolist() == [few_sentinels().id("<x0>"), few_sentinels().id("<x1>")]


def test_a_limit_above_the_number_of_sentinels_is_refused() -> None:
    with pytest.raises(ValueError, match="most_spans 3: expected at most 2, the sentinels"):
        Objective(Options(most_spans=3), few_sentinels())


@pytest.mark.parametrize(("mean_span", "share"), [(1.0, 0.5), (3.0, 0.75), (3.0, 0.15)])
def test_spans_of_long_documents_have_the_mean_that_the_options_say(mean_span: float, share: float) -> None:
    many = Vocabulary(VOCABULARY.marks, VOCABULARY.words, tuple(f"<x{index}>" for index in range(200)))
    task = Objective(Options(share=share, mean_span=mean_span), many)
    _, answers = task.corrupt(random_texts([200] * 20), np.random.default_rng(0))
    spans = np.isin(answers.tokens, task.sentinels).sum()
    assert (len(answers.tokens) - spans - len(answers)) / spans == pytest.approx(mean_span, rel=0.05)


#: SHA-256 of the corpus of the garden's seed 0 as its runs corrupt it: another trains on other examples.
CORRUPTED = {
    "anywhere": "8f0af2a9b608602ed2085c92f279b19fa96aa63a285f79acc755bfc3ce198b27",
    "end": "ba20f1bcfae15f9eeb2b27afb230c7740ef5646ae9f0553ede12255f7b57eb02",
}


@pytest.mark.parametrize("run", ["span", "span-at-end"])
def test_the_garden_is_corrupted_as_ever(run: str) -> None:
    plan = Plan(Configuration({"studies": ["garden"]}))
    corpus, values = plan.corpus("garden", "text", "training", 0), plan.configuration.studies["garden"].runs[run]
    options = Options(**{key: value for key, value in values.objective.items() if key != "kind"})
    task = Objective(options, corpus.source.loaded.vocabulary)
    found = hashlib.sha256()
    for part in task.corrupt(corpus.draw(), stream(0, "corruption")):
        found.update(part.tokens.tobytes())
        found.update(part.offsets.tobytes())
    assert found.hexdigest() == CORRUPTED[options.placement]


def test_a_language_without_sentinels_is_refused() -> None:
    with pytest.raises(ValueError, match="no token '<x0>' in this vocabulary"):
        Objective(Options(), Vocabulary(VOCABULARY.marks, VOCABULARY.words, ("<mask>",)))


def test_a_document_with_nothing_to_hide_is_refused() -> None:
    with pytest.raises(ValueError, match="document 1 of the batch has no token"):
        corrupted(Documents.of([[BEGIN, 3, END], [BEGIN, END]]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"share": -0.1}, "share -0.1"),
        ({"mean_span": 0.5}, "mean_span 0.5"),
        ({"mean_span": np.inf}, "mean_span inf"),
        ({"most_spans": -1}, "most_spans -1: expected at least 0"),
        ({"share": 0.6, "mean_span": 1}, "share 0.6: .* with mean_span 1 expected at most 0.5"),
        ({"share": 1, "most_spans": 2}, "share 1: .* at most 0.75; or else a larger mean_span, or most_spans: 1"),
    ],
)
def test_options_that_do_not_fit_are_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Options(**options)


def test_sentinels_and_ends_are_scored_but_are_no_text() -> None:
    found = scoring.scored_shares(objective(), random_texts([24] * 100), np.random.default_rng(0))
    assert (found.text, found.scored) == (4 / 25, 6 / 25)  # one span of 4 tokens, its sentinel, <eos>


@every_architecture
def test_loss_and_gradients_of_a_batch_equal_those_of_its_documents(architecture: str) -> None:
    some, model, task = random_texts([1, 30, 5, 2]), network(architecture), objective(architecture=architecture)
    batch = task.examples(some, np.random.default_rng(0))
    sources, answers = task.corrupt(some, np.random.default_rng(0))
    apart = [
        conditional_batch(join_each(source, answer), source.lengths, architecture)
        for source, answer in ((sources.take([index]), answers.take([index])) for index in range(len(some)))
    ]
    same(gradients(model, [batch]), gradients(model, apart))
    total, count = task.loss(model, batch)
    assert count == len(answers.tokens)
    torch.testing.assert_close(total, sum(scoring.loss(model, one)[0] for one in apart))


def scored(model: torch.nn.Module, source: str, answer: list[int], architecture: str) -> np.ndarray:
    """The log probability of each token of an answer to a source."""
    pair = documents(source), Documents.of([answer])
    batch = conditional_batch(join_each(*pair), pair[0].lengths, architecture)
    found = scoring.logits(model, batch).log_softmax(-1).gather(1, batch.targets[:, None])[:, 0]
    return found.detach().numpy()


@every_architecture
def test_a_hole_is_a_span_of_exactly_one_word(architecture: str) -> None:
    some = documents(TEXT, "<bos> she picks fig . she picks her fig . <eos>")
    model = network(architecture)
    found = objective(architecture=architecture).fill(model, some, np.array([5, 1]))
    sources = ("she picks her ripe <x0> from her own garden . <eos>", "<x0> picks fig . she picks her fig . <eos>")
    for index, source in enumerate(sources):
        answers = [[IDS[0], word, END] for word in VOCABULARY.word_ids]
        weights = np.exp([scored(model, source, answer, architecture)[1:].sum() for answer in answers])
        np.testing.assert_allclose(np.exp(found[index, VOCABULARY.word_ids]), weights / weights.sum(), atol=1e-10)
    assert np.isneginf(found[:, [BEGIN, END, PERIOD, *IDS]]).all()


@every_architecture
def test_a_hole_of_several_tokens_is_a_span_of_just_these(architecture: str) -> None:
    some, model = documents(TEXT, "<bos> she picks fig . she picks her fig . <eos>"), network(architecture)
    found = objective(architecture=architecture).infill(model, some, np.array([2, 4]), np.array([3, 1]))
    holes = (
        ("she <x0> plum from her own garden . <eos>", "picks her ripe"),
        ("she picks fig <x0> she picks her fig . <eos>", "."),
    )
    answers = [[IDS[0], *VOCABULARY.encode(held), END] for _, held in holes]
    pairs = zip(holes, answers, strict=True)
    expected = [scored(model, source, answer, architecture)[1:].sum() for (source, _), answer in pairs]
    np.testing.assert_allclose(found, expected, atol=1e-10)


@every_architecture
def test_a_continuation_is_written_as_the_span_after_the_given_tokens(architecture: str) -> None:
    some, model, task = documents(TEXT), network(architecture), objective(architecture=architecture)
    found = task.continuation(model, some, np.array([4]))
    rest = VOCABULARY.encode("ripe plum from her own garden . <eos>")
    expected = scored(model, "she picks her <x0> <eos>", [IDS[0], *rest], architecture)[1:]
    np.testing.assert_allclose(found, expected, atol=1e-10)


@every_architecture
def test_from_scratch_it_writes_a_span_of_an_empty_text(architecture: str) -> None:
    some, model, task = documents("<bos> she"), network(architecture), objective(architecture=architecture)
    (found,) = task.continuation(model, some, np.array([1]))
    expected = scored(model, "<x0> <eos>", [IDS[0], VOCABULARY.id("she")], architecture)
    assert found == pytest.approx(expected[1])
