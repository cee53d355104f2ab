"""Second sentences: which are asked for, and what the language itself scores on them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.typing import NDArray

from seedbed.documents import Documents
from seedbed.evaluations.continuation import Options, evaluate
from seedbed.languages.automaton import Language
from seedbed.languages.exact import all_sentences, continuation_entropy
from seedbed.measuring.context import Context
from seedbed.observations import Observation
from seedbed.references import exact, ngram


@dataclass
class Recorded:
    """A continuer that keeps what it is asked, and is the more surprised the later a token stands."""

    asked: list[tuple[Documents, NDArray[np.int64]]] = field(default_factory=list)

    def continuation(self, documents: Documents, starts: NDArray[np.int64]) -> NDArray[np.float64]:
        self.asked.append((documents, starts))
        places = documents.positions - starts[documents.owners]
        return -places[places >= 0].astype(np.float64)


def found(predictor: object, context: Context, options: Options = Options()) -> dict[str, Observation]:  # noqa: B008
    observations = evaluate(predictor, context, options)  # type: ignore[arg-type]
    return {f"{one.metric}{one.condition.get('word', '')}": one for one in observations}


def test_the_second_sentence_is_asked_for_and_the_first_given(garden: Language) -> None:
    texts = [
        "she eats the fig",
        "I eat the fig . we cut the rose",
        "I eat the fig . we cut the rose . I eat the fig",
    ]
    recorded = Recorded()
    found(recorded, Context(garden, Documents.of(garden.encode(f"<bos> {text} . <eos>") for text in texts)))
    ((documents, starts),) = recorded.asked
    assert [garden.decode(one) for one in documents] == ["<bos> I eat the fig . we cut the rose ."] * 2
    assert starts.tolist() == [6, 6]


def test_the_language_has_no_excess_and_its_own_entropy(context: Context) -> None:
    known = found(exact.Reference(exact.Options(), context.language), context)
    loss = known["continuation_loss"]
    assert known["continuation_excess"].value == pytest.approx(0, abs=1e-12)
    assert known["continuation_language_loss"].value == pytest.approx(loss.value)
    assert loss.item_error is not None
    entropy = continuation_entropy(all_sentences(context.language))
    assert abs(loss.value - entropy) < 4 * loss.item_error


@pytest.mark.parametrize("order", [3, 6])
def test_counting_is_not_below_the_exact_floor(context: Context, order: int) -> None:
    reference = ngram.Reference(ngram.Options(order), context.language, context.test.take(range(200)))
    excess = found(reference, Context(context.language, context.test.take(range(200, 300))))["continuation_excess"]
    assert excess.item_error is not None
    assert excess.value > -3 * excess.item_error


def test_words_are_counted_from_the_second_sentence_on(context: Context) -> None:
    known = found(Recorded(), context, Options(words=3))
    language = found(exact.Reference(exact.Options(), context.language), context)["continuation_loss"]
    assert known["continuation_loss"].n == language.n
    assert [key for key in known if key[-1].isdigit()] == [f"continuation_excess{word}" for word in (1, 2, 3)]
    assert known["continuation_excess1"].n == known["continuation_excess3"].n


def test_a_test_set_without_second_sentences_has_no_value(garden: Language) -> None:
    known = found(Recorded(), Context(garden, Documents.of([garden.encode("<bos> she eats the fig . <eos>")])))
    assert known["continuation_loss"].n == 0
    assert list(known) == ["continuation_loss", "continuation_language_loss", "continuation_excess"]
