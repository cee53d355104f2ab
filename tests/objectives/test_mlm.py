from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from texts import TEXT, VOCABULARY, documents, gradients, network, random_texts, same, spoken

from seedbed.batching import pack
from seedbed.documents import Documents
from seedbed.languages.vocabulary import BEGIN, END, PERIOD
from seedbed.objectives import scoring
from seedbed.objectives.mlm import Objective, Options
from seedbed.objectives.scoring import Batch

MASK = VOCABULARY.id("<mask>")


def objective(**options: float) -> Objective:
    return Objective(Options(**options), VOCABULARY)


def drawn(some: Documents, seed: int = 0, **options: float) -> Batch:
    return objective(**options).examples(some, np.random.default_rng(seed))


def test_the_example_of_the_lecture() -> None:
    """Of its 12 positions two are scored; with some draw they are plum and the period."""
    some, found = documents(TEXT), {}
    for seed in range(500):
        batch = drawn(some, seed, mask=1, random=0, keep=0)
        found[tuple(batch.scored.tolist())] = batch
    assert {len(places) for places in found} == {2}
    batch = found[5, 10]
    assert spoken(batch.inputs[0].tokens) == "<bos> she picks her ripe <mask> from her own garden <mask> <eos>"
    assert spoken(batch.targets) == "plum ."
    assert {place for places in found for place in places} == set(range(1, 12))  # all but <bos>, <eos> included


@pytest.mark.parametrize("length", [0, 1, 2, 3, 4, 5])
def test_short_documents_have_a_hidden_token_and_begin_as_they_do(length: int) -> None:
    some = random_texts([length] * 10_000)
    batch = drawn(some)
    owners = some.owners[batch.scored.numpy()]
    assert (np.bincount(owners, minlength=10_000) == 1).all()
    assert not (batch.targets == BEGIN).any()
    assert torch.equal(batch.targets, torch.from_numpy(some.tokens)[batch.scored])
    shares = np.bincount(some.positions[batch.scored.numpy()], minlength=length + 2)[1:] / 10_000
    np.testing.assert_allclose(shares, 1 / (length + 1), atol=5 * 0.5 / 100)


@given(lengths=st.lists(st.integers(0, 60), min_size=1, max_size=20), share=st.floats(0, 1))
def test_exactly_the_share_is_hidden_and_nothing_else_changes(lengths: list[int], share: float) -> None:
    some = random_texts(lengths)
    batch = drawn(some, share=share)
    counts = np.bincount(some.owners[batch.scored.numpy()], minlength=len(lengths))
    assert counts.tolist() == [max(1, round(share * (length + 1))) for length in lengths]
    assert len(set(batch.scored.tolist())) == len(batch.scored)
    kept = np.delete(np.arange(len(some.tokens)), batch.scored)
    assert np.array_equal(batch.inputs[0].tokens.numpy()[kept], some.tokens[kept])


def test_eighty_ten_ten() -> None:
    some = random_texts([24] * 5000, seed=3)
    batch = drawn(some)
    hidden, shown = batch.targets.numpy(), batch.inputs[0].tokens.numpy()[batch.scored.numpy()]
    masked, kept = (shown == MASK).mean(), ((shown == hidden) & (shown != MASK)).mean()
    others = shown[(shown != MASK) & (shown != hidden)]
    count, words = len(hidden), len(VOCABULARY.words)
    error = 5 * np.sqrt(0.25 / count)
    coincidence = 0.1 * np.isin(hidden, VOCABULARY.word_ids).mean() / words
    assert masked == pytest.approx(0.8, abs=error)
    assert kept == pytest.approx(0.1 + coincidence, abs=error)
    assert set(others.tolist()) == set(VOCABULARY.word_ids.tolist())  # no <bos>, <eos>, period, <pad> or sentinel
    assert len(others) / count == pytest.approx(0.1 - coincidence, abs=error)


def test_every_token_sees_the_whole_document() -> None:
    some, model = random_texts([9]), network("causal")
    batch = drawn(some)
    before = scoring.logits(model, batch)
    for place in range(11):
        tokens = batch.inputs[0].tokens.clone()
        tokens[place] = (tokens[place] + 1) % 13
        changed = pack(Documents(tokens.numpy(), some.offsets), some.lengths)
        assert (scoring.logits(model, replace(batch, inputs=(changed,))) != before).any(1).all()


def test_loss_and_gradients_of_a_batch_equal_those_of_its_documents() -> None:
    some, model = random_texts([0, 1, 30, 5]), network("causal")
    batch = drawn(some)
    read, apart = Documents(batch.inputs[0].tokens.numpy(), some.offsets), []
    for index in range(len(some)):
        mine = some.owners[batch.scored.numpy()] == index
        one = read.take([index])
        scored = batch.scored[mine] - some.offsets[index]
        apart.append(Batch((pack(one, one.lengths),), batch.targets[mine], scored))
    same(gradients(model, [batch]), gradients(model, apart))


def test_a_share_of_the_text_is_scored() -> None:
    found = scoring.scored_shares(objective(), random_texts([24] * 100), np.random.default_rng(0))
    assert (found.text, found.scored) == (4 / 25, 4 / 25)  # 0.15 of 25 tokens, rounded


def test_a_document_with_nothing_to_hide_is_refused() -> None:
    with pytest.raises(ValueError, match="document 1 of the batch has no token but <bos>"):
        drawn(Documents.of([[BEGIN, END], [BEGIN]]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"share": 1.5}, "share 1.5: expected a share"),
        ({"mask": 0.7}, "mask, random and keep add up to 0.9"),
        ({"keep": -0.1, "mask": 1.0}, "keep -0.1: expected a share"),
    ],
)
def test_options_that_do_not_fit_are_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Options(**options)


def test_a_hole_is_read_where_the_mask_is() -> None:
    some, model, places = random_texts([5, 1, 20]), network("causal"), np.array([2, 1, 17])
    found = objective().fill(model, some, places)
    for index, (tokens, place) in enumerate(zip(some, places, strict=True)):
        masked = tokens.copy()
        masked[place] = MASK
        logits = model(pack(Documents.of([masked]), [len(masked)]))[place].detach()
        words = logits[VOCABULARY.word_ids].log_softmax(0)
        np.testing.assert_allclose(found[index, VOCABULARY.word_ids], words, atol=1e-10)
    assert np.isneginf(found[:, [BEGIN, END, PERIOD, MASK]]).all()


@settings(max_examples=10)
@given(pairs=st.lists(st.tuples(st.integers(1, 6), st.integers(0, 6)), min_size=1, max_size=6))
def test_it_writes_by_filling_a_mask_after_the_tokens_so_far(pairs: list[tuple[int, int]]) -> None:
    some = random_texts([sum(pair) for pair in pairs])
    starts, model, expected = np.array([pair[0] for pair in pairs]), network("causal"), []
    for tokens, start in zip(some, starts, strict=True):
        for place in range(start, len(tokens)):
            row = Documents.of([[*tokens[:place], MASK]])
            expected.append(model(pack(row, row.lengths))[-1].log_softmax(-1)[tokens[place]].item())
    np.testing.assert_allclose(objective().continuation(model, some, starts), expected, atol=1e-10)
