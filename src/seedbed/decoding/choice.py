"""Choose the next token from a model's logits and a random number (objectives 5.3).

The random number is an argument. A document then depends on its own random numbers only, and not on the documents
that are written with it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from seedbed.decoding.following import Numbers
from seedbed.documents import Tokens
from seedbed.messages import nearest


@dataclass(frozen=True)
class Choice:
    """How the next token is sampled. The options apply in the order below; the defaults change nothing.

    Attributes:
        temperature: The logits are divided by it. At 0 the most probable token is chosen: greedy decoding.
        top_k: Only this number of the most probable tokens is possible; 0 sets no limit.
        top_p: Only the smallest set of most probable tokens that together have this probability is possible, at
            least one (nucleus sampling; Holtzman et al. 2020, section 3.1); 1 sets no limit.

    Of equally probable tokens, those with a lower id are kept first.

    Raises:
        ValueError: an option is out of its range.
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.temperature < math.inf:
            raise ValueError(f"temperature {self.temperature}: expected a finite number, 0 (greedy) or above")
        if self.top_k < 0:
            raise ValueError(f"top_k {self.top_k}: expected a number of tokens, or 0 for all")
        if not 0 <= self.top_p <= 1:
            raise ValueError(f"top_p {self.top_p}: expected a probability, 0 (greedy) to 1 (all tokens)")

    @staticmethod
    def read(text: str) -> Choice:
        """Read ``sampling``, ``greedy``, or options such as ``top-p 0.95`` and ``temperature 0.7, top-k 10``.

        Raises:
            ValueError: the text is anything else; the message names the wrong part.
        """
        if text in _NAMED:
            return _NAMED[text]
        found: dict[str, float] = {}
        for part in text.split(", "):
            name, _, value = part.partition(" ")
            if name not in _OPTIONS:
                raise ValueError(f"decoding {text!r}: {name!r}: {nearest(name, {*_OPTIONS, *_NAMED})}")
            found[_OPTIONS[name]] = _number(value, int if name == "top-k" else float, text)
        return Choice(**found)  # type: ignore[arg-type]

    def probabilities(self, logits: Numbers) -> Numbers:
        """[rows, vocabulary], the probability of each token, from logits or log probabilities; rows add up to 1.

        Raises:
            ValueError: a row has a NaN, or no finite logit.
        """
        best = logits.max(1, keepdims=True)
        if not np.isfinite(best).all():
            raise ValueError("logits that are NaN, or all minus infinity, give no next token")
        with np.errstate(over="ignore"):
            weights = np.exp((logits - best) / (self.temperature or 1.0))
        order = np.argsort(-logits, axis=1, kind="stable")
        ranked = np.take_along_axis(weights, order, 1)
        ranked[:, self._limit(logits.shape[1]) :] = 0
        if self.top_p < 1:
            before = np.cumsum(ranked, 1) - ranked
            before[:, 0] = -1  # the most probable token is always kept
            ranked[before >= self.top_p * ranked.sum(1, keepdims=True)] = 0
        np.put_along_axis(weights, order, ranked, 1)
        return np.asarray(weights / weights.sum(1, keepdims=True))

    def tokens(self, logits: Numbers, uniforms: Numbers) -> Tokens:
        """[rows], the next token of each row: the first whose cumulative probability exceeds the uniform number.

        Args:
            logits: [rows, vocabulary].
            uniforms: [rows], from 0 up to but not including 1.

        Raises:
            ValueError: see `probabilities`.
        """
        total = np.cumsum(self.probabilities(logits), 1)
        # Divided by its last value, so that a number just below 1 still selects a possible token.
        below: Tokens = (total / total[:, -1:] <= uniforms[:, None]).sum(1)
        return below

    def _limit(self, vocabulary: int) -> int:
        return 1 if self.temperature == 0 else self.top_k or vocabulary


_NAMED = {"sampling": Choice(), "greedy": Choice(temperature=0.0)}
_OPTIONS = {"temperature": "temperature", "top-k": "top_k", "top-p": "top_p"}


def _number(value: str, kind: type[int] | type[float], text: str) -> float:
    try:
        return kind(value)
    except ValueError:
        wanted = "a whole number" if kind is int else "a number"
        raise ValueError(f"decoding {text!r}: {value!r}: expected {wanted}") from None
