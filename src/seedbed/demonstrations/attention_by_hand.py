"""Attention over a few words, with numbers that a reader can follow with a pencil.

Examples: "Jane visite l'Afrique en septembre" with four meanings of a vector, person, action, place and time
(transformer 2.3, 5.1), and the class exercises (objectives 7.3; recurrence 3.4; transformer 13.1). Vectors that a
lecture does not print are the ones that its results follow from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from seedbed.demonstrations.numpy_layers import softmax
from seedbed.observations import Observation, Scalar

NEEDS = ()

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Options:
    """Which example."""

    example: Literal["jane", "visite", "two-dimensions", "four-dimensions", "given-weights"]


@dataclass(frozen=True)
class Example:
    """Queries, keys and values, by names in the order of the text.

    Attributes:
        queries: [width] each.
        keys: [width] each.
        values: [value width] each, in the order of the keys.
    """

    queries: Mapping[str, Array]
    keys: Mapping[str, Array]
    values: Array


#: Person, action, place, time.
_JANE = {
    "1 Jane": [1, 0, 0, 0],
    "2 visite": [0, 1, 0, 0],
    "3 l'Afrique": [0, 0, 1, 0],
    "4 en": [0.25, 0.25, 0.25, 0.25],
    "5 septembre": [0, 0, 0, 1],
}
#: What each meaning asks for: persons, places and times ask for an action, an action for a person or a place.
_ASKS = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 1, 0, 0]], float)
_STRENGTH = {"jane": 4.0, "visite": 6.0}
_QUESTIONS = {"all at once": [1, 0, 1, 1], "who": [1, 0, 0, 0], "where": [0, 0, 1, 0], "when": [0, 0, 0, 1]}


def demonstrate(options: Options) -> Iterator[Observation]:
    """By query and key ``score`` and ``weight``; by query and entry ``asked`` and ``output``.

    ``raised`` is e to the score, before it is divided by ``raised_sum`` of the query. ``score`` is divided by the
    root of the width. ``overlap`` of an example with several heads is the largest product of two of their
    outputs, of which each has its own entries of what they are joined to. With given weights, ``output`` is by
    ``order`` of the inputs, the second and third exchanged with their weights or not.
    """
    if options.example == "given-weights":
        yield from _given_weights()
        return
    example = examples()[options.example]
    keys = np.stack(list(example.keys.values()))
    for query, asked in example.queries.items():
        scores = keys @ asked / np.sqrt(len(asked))
        weights = softmax(scores[None])[0]
        of: dict[str, Scalar] = {"query": query}
        for entry, value in enumerate(asked.tolist()):
            yield Observation("asked", value, of | {"entry": entry}, "number")
        for key, score, weight in zip(example.keys, scores.tolist(), weights.tolist(), strict=True):
            yield Observation("score", score, of | {"key": key}, "number")
            yield Observation("raised", float(np.exp(score)), of | {"key": key}, "number")
            yield Observation("weight", weight, of | {"key": key}, "share")
        yield Observation("raised_sum", float(np.exp(scores).sum()), of, "number")
        for entry, value in enumerate((weights @ example.values).tolist()):
            yield Observation("output", value, of | {"entry": entry}, "number")
    if options.example == "visite":
        heads = [
            softmax((keys @ example.queries[name] / 2)[None])[0] @ example.values for name in list(_QUESTIONS)[1:]
        ]
        joined = [
            np.concatenate([one * (at == place) for place, one in enumerate(heads)]) for at in range(len(heads))
        ]
        products = [float(one @ other) for at, one in enumerate(joined) for other in joined[:at]]
        yield Observation("overlap", max(products), {}, "number")
        yield Observation("joined_entries", len(joined[0]), {}, "count")


def examples() -> dict[str, Example]:
    """The examples by name."""
    words = {word: np.array(vector, float) for word, vector in _JANE.items()}
    values = np.stack(list(words.values()))
    asked = {word: _STRENGTH["jane"] * (vector @ _ASKS) for word, vector in words.items()}
    questions = {name: _STRENGTH["visite"] * np.array(meant, float) for name, meant in _QUESTIONS.items()}
    short = {"1": np.array([1.0, 0]), "2": np.array([0, 1.0]), "3": np.array([1.0, 1])}
    long = {"1": [1, 0, 0, 0], "2": [1, 1, 0, 0], "3": [0, 0, 0, 1]}
    queries = {"1": [2, 0, 0, 0], "2": [0, 2, 0, 0], "3": [0, 0, 2, 0]}
    return {
        "jane": Example(asked, words, values),
        "visite": Example(questions, words, values),
        "two-dimensions": Example({"q": np.array([1.0, 0])}, short, np.stack(list(short.values()))),
        "four-dimensions": Example(
            {name: np.array(one, float) for name, one in queries.items()},
            {name: np.array(one, float) for name, one in long.items()},
            np.array([[1.0, 0], [0, 1], [1, 1]]),
        ),
    }


def _given_weights() -> Iterator[Observation]:
    """Weights of 0.1, 0.2, 0.6 and 0.1 on four inputs of one entry each, the third of which is 2."""
    weights, inputs = np.array([0.1, 0.2, 0.6, 0.1]), np.diag([1.0, 1, 2, 1])
    for name, order in (("as given", [0, 1, 2, 3]), ("exchanged", [0, 2, 1, 3])):
        for entry, value in enumerate((weights[order] @ inputs[order]).tolist()):
            yield Observation("output", value, {"order": name, "entry": entry}, "number")
