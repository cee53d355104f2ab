import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from seedbed.batching import Bucket, Mask, Packed, TokenRows, cross_layout, may_attend, pack
from seedbed.documents import Documents

Lengths = st.lists(st.integers(0, 70), max_size=12)


def documents(lengths: list[int]) -> Documents:
    return Documents.of([range(100 * index, 100 * index + length) for index, length in enumerate(lengths)])


def slots_of(rows: TokenRows, batch: Packed) -> Tensor:
    return rows.starts + batch.positions


def own_slots(rows: TokenRows, batch: Packed) -> None:
    """Every token has a slot, no two the same, each within its row."""
    slots = slots_of(rows, batch)
    assert len(slots.unique()) == len(batch.tokens)
    assert (batch.positions < rows.lengths).all()
    assert len(slots) == 0 or int(slots.max()) < rows.slots


def test_tokens_stay_flat_in_document_order() -> None:
    batch = pack(Documents.of([[5, 6], [7], [], [8, 9, 10]]))
    assert batch.tokens.tolist() == [5, 6, 7, 8, 9, 10]
    assert batch.positions.tolist() == [0, 1, 0, 0, 1, 2]


@given(lengths=Lengths)
def test_every_token_has_its_own_slot_within_its_row(lengths: list[int]) -> None:
    batch = pack(documents(lengths))
    own_slots(batch.layout.queries, batch)


@given(lengths=Lengths)
def test_every_document_has_one_row_of_one_bucket(lengths: list[int]) -> None:
    layout = pack(documents(lengths)).layout
    starts = {start for bucket in _row_starts(layout.buckets) for start in bucket}
    used = layout.queries.starts.unique().tolist()
    assert set(used) == starts
    assert len(used) == sum(length > 0 for length in lengths)


def _row_starts(buckets: tuple[Bucket, ...]) -> list[range]:
    ends = np.cumsum([0, *(bucket.rows * bucket.queries for bucket in buckets)])
    return [
        range(int(first), int(end), bucket.queries)
        for first, end, bucket in zip(ends, ends[1:], buckets, strict=False)
    ]


def test_rows_are_little_longer_than_their_documents_need() -> None:
    lengths = [200] + [25] * 31
    layout = pack(documents(lengths)).layout
    assert [(bucket.rows, bucket.queries, bucket.keys) for bucket in layout.buckets] == [
        (1, 200, 200),
        (31, 32, 32),
    ]


def test_few_short_documents_share_one_bucket() -> None:
    assert len(pack(documents([1, 2, 9, 17])).layout.buckets) == 1


@pytest.mark.parametrize("lengths", [[], [0], [0, 0]])
def test_no_token_is_an_empty_layout(lengths: list[int]) -> None:
    assert pack(documents(lengths)).layout.buckets == ()


def test_the_rule_sees_the_past_and_the_prefix() -> None:
    place = torch.arange(4)
    allowed = may_attend(place[:, None], place, torch.tensor(2))
    assert allowed.int().tolist() == [[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]


def test_a_prefix_of_one_is_causal() -> None:
    place = torch.arange(5)
    causal, one = (may_attend(place[:, None], place, torch.tensor(prefix)) for prefix in (0, 1))
    assert torch.equal(causal, one)


def test_each_row_of_the_mask_follows_the_prefix_of_its_document() -> None:
    (bucket,) = pack(documents([3, 8]), prefixes=[3, 2]).layout.buckets
    longest, short = (bucket.mask.bias[row, 0] == 0 for row in (0, 1))
    assert longest[0].int().tolist() == [1, 1, 0, 0, 0, 0, 0, 0]
    assert short[0].int().tolist() == [1, 1, 1, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("prefixes", [[1], [1, 5], [-1, 1]])
def test_a_wrong_prefix_is_refused(prefixes: list[int]) -> None:
    with pytest.raises(ValueError, match="prefix"):
        pack(documents([3, 4]), prefixes)


def test_a_mask_adds_nothing_where_a_query_may_attend() -> None:
    mask = Mask.of(torch.tensor([[[True, False], [True, True]]]))
    assert mask.bias[0, 0].tolist() == [[0, -torch.inf], [0, 0]]
    assert mask.sees is None


def test_a_mask_names_the_queries_that_see_nothing() -> None:
    mask = Mask.of(torch.tensor([[[False, False], [True, False]]]))
    assert mask.sees is not None
    assert mask.sees.flatten().tolist() == [0, 1]
    assert mask.bias[0, 0].tolist() == [[0, 0], [0, -torch.inf]]


TwoStreams = st.lists(st.tuples(st.integers(0, 70), st.integers(0, 70)), max_size=12)


def two_streams(lengths: list[tuple[int, int]]) -> tuple[Packed, Packed]:
    targets, sources = ([pair[side] for pair in lengths] for side in (0, 1))
    return pack(documents(targets)), pack(documents(sources))


@given(lengths=TwoStreams)
def test_every_token_of_two_streams_has_its_own_slot_within_its_row(lengths: list[tuple[int, int]]) -> None:
    target, source = two_streams(lengths)
    layout = cross_layout(target, source)
    own_slots(layout.queries, target)
    own_slots(layout.keys, source)


@given(lengths=TwoStreams)
def test_a_row_of_two_streams_shows_its_document_all_of_the_source_and_no_more(
    lengths: list[tuple[int, int]],
) -> None:
    target, source = two_streams(lengths)
    layout = cross_layout(target, source)
    seen = {}
    query, key = 0, 0
    for bucket in layout.buckets:
        bias = bucket.mask.bias.expand(bucket.rows, 1, bucket.queries, bucket.keys)
        sees = torch.ones(bucket.rows, 1, 1, 1) if bucket.mask.sees is None else bucket.mask.sees
        for row in range(bucket.rows):
            visible = (bias[row, 0, 0] == 0) & (sees[row, 0, 0] > 0)
            seen[query] = (key + torch.arange(bucket.keys))[visible].tolist()
            query, key = query + bucket.queries, key + bucket.keys
    owners = torch.arange(len(lengths)).repeat_interleave(source.lengths)
    for start, owner in zip(
        layout.queries.starts, torch.arange(len(lengths)).repeat_interleave(target.lengths), strict=True
    ):
        assert seen[int(start)] == slots_of(layout.keys, source)[owners == owner].tolist()


def test_two_streams_of_unlike_shapes_take_buckets_of_their_own() -> None:
    target, source = two_streams([(8, 8)] * 200 + [(8, 160)] * 100)
    shapes = [(bucket.rows, bucket.queries, bucket.keys) for bucket in cross_layout(target, source).buckets]
    assert shapes == [(100, 8, 160), (200, 8, 8)]


def test_streams_of_unequal_numbers_of_documents_are_refused() -> None:
    with pytest.raises(ValueError, match="1 documents have no partners in 2"):
        cross_layout(pack(documents([3])), pack(documents([3, 4])))


@given(lengths=Lengths)
def test_time_steps_are_those_of_a_packed_sequence(lengths: list[int]) -> None:
    texts = documents(lengths)
    batch = pack(texts)
    assert batch.lengths.tolist() == lengths
    parts = sorted((torch.from_numpy(text) for text in texts if len(text)), key=len, reverse=True)
    theirs = nn.utils.rnn.pack_sequence(parts) if parts else None
    assert batch.tokens[batch.time_steps.order].tolist() == ([] if theirs is None else theirs.data.tolist())
    assert batch.time_steps.sizes == ([] if theirs is None else theirs.batch_sizes.tolist())
    assert torch.equal(batch.tokens[batch.time_steps.order][batch.time_steps.inverse], batch.tokens)


def test_more_to_add_leaves_the_mask() -> None:
    mask = Mask.of(torch.tensor([[[False, False], [True, False]]])).plus(torch.full((1, 2, 2, 2), -3.0))
    assert mask.sees is not None
    assert mask.bias[0, 1].tolist() == [[-3, -3], [-3, -torch.inf]]
