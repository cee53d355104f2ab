"""Three memories of one number each: one that contracts, one that adds up, and a latch (recurrence 2.2, 2.3).

Both units of a network read a 1 once, the first unit at step 3 and the second at step 4. The right answer is
whether both have been seen. The contraction computes ``h' = h / 2 + x``, the integrator ``h' = h + x``, and the
latch ``h' = sigmoid(10 h + 10 x - 5)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seedbed.observations import Observation, Scalar

NEEDS = ("rng",)

Array = NDArray[np.float64]
#: The next state, given the state and the input; and its derivative by the state, given the next state.
Step = Callable[[Array, Array], Array]

#: When the units read their 1.
WRITTEN = (3, 4)


@dataclass(frozen=True)
class Options:
    """How long the memories are watched, and the noise of their inputs."""

    steps: int = 1000
    shown: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 8, 10, 12, 13, 20, 50, 100, 103, 1000)
    noise: float = 0.05  # the standard deviation of what is added to every input
    draws: int = 4000  # of noisy inputs
    threshold: float = 0.001  # the contraction answers yes if both units are above it

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: fewer steps than are shown or than the second unit needs, fewer than two draws, or a noise
            or
                a threshold that is not above 0.
        """
        for name in ("noise", "threshold"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} {getattr(self, name)}: expected above 0")
        if self.steps < max(*self.shown, *WRITTEN) or min(self.shown) < 1:
            raise ValueError(f"shown {list(self.shown)}: expected each from 1 to steps {self.steps}")
        if self.draws < 2:
            raise ValueError(f"draws {self.draws}: expected at least 2")


def _contract(state: Array, given: Array) -> Array:
    return state / 2 + given


def _integrate(state: Array, given: Array) -> Array:
    return state + given


def _latch(state: Array, given: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-(10 * state + 10 * given - 5))))


MEMORIES: dict[str, Step] = {"contraction": _contract, "integrator": _integrate, "latch": _latch}
#: The derivative of the next state by the state, from the next state.
SLOPES: dict[str, Callable[[Array], Array]] = {
    "contraction": lambda after: np.full_like(after, 0.5),
    "integrator": np.ones_like,
    "latch": lambda after: 10 * after * (1 - after),
}


def demonstrate(options: Options, *, rng: np.random.Generator) -> Iterator[Observation]:
    """By memory, what it keeps, how noise changes it, and what is left of a gradient.

    Without noise: ``state`` by unit and step; ``trace`` is how far the units are from a network that has read
    nothing; ``answer`` (+1 or -1) by step and ``last_right_step`` are of the contraction with the threshold.
    ``log10_gradient`` is the decimal logarithm of the derivative of a state by the one that many steps before,
    along the held state. With noise: ``noise_deviation`` by step, of a memory that reads noise alone, beside
    ``noise_deviation_formula``; ``right_share`` of all answers of the latch. ``fixed_point`` of the latch, from 0
    and from 1, and its ``slope`` there. ``halvings`` is how often single precision can halve a 1 until it is 0,
    ``radius`` the largest eigenvalue of a network of each linear memory.
    """
    for name, step in MEMORIES.items():
        yield from _noiseless(options, name, step)
    yield from _answers(options)
    yield from _latch_facts()
    yield from _noisy(options, rng)
    halved, count = np.float32(1), 0
    while halved > 0:
        halved, count = np.float32(halved / 2), count + 1
    yield Observation("halvings", count, unit="count")
    for name, factor in (("contraction", 0.5), ("integrator", 1.0)):
        radius = float(np.abs(np.linalg.eigvals(factor * np.eye(2))).max())
        yield Observation("radius", radius, {"memory": name}, "ratio")


def states(step: Step, inputs: Array) -> Array:
    """[steps, ...], the states of a memory that begins with 0; the first axis of the inputs are the steps."""
    state, found = np.zeros(inputs.shape[1:]), np.empty(inputs.shape)
    for at, given in enumerate(inputs):
        state = step(state, given)
        found[at] = state
    return found


def written(steps: int) -> Array:
    """[steps, 2], a 1 for each unit at its step."""
    inputs = np.zeros((steps, 2))
    for unit, at in enumerate(WRITTEN):
        inputs[at - 1, unit] = 1
    return inputs


def _noiseless(options: Options, name: str, step: Step) -> Iterator[Observation]:
    inputs = written(options.steps)
    found, empty = states(step, inputs), states(step, np.zeros_like(inputs))
    of: dict[str, Scalar] = {"memory": name}
    for at in options.shown:
        for unit, value in enumerate(found[at - 1].tolist(), 1):
            yield Observation("state", value, of | {"step": at, "unit": unit}, "number")
        yield Observation("trace", float(np.abs(found - empty)[at - 1].max()), of | {"step": at}, "number")
    held = found[WRITTEN[1] :, 0]
    for steps in (10, 50, 100):
        logarithm = float(np.log10(SLOPES[name](held[:steps])).sum())
        yield Observation("log10_gradient", logarithm, of | {"steps": steps}, "number")


def _answers(options: Options) -> Iterator[Observation]:
    """Of the contraction, whose units are read with the threshold."""
    yes = states(_contract, written(options.steps)).min(1) > options.threshold
    for at in options.shown:
        yield Observation("answer", 1.0 if yes[at - 1] else -1.0, {"step": at}, "number")
    yield Observation("last_right_step", int(np.flatnonzero(yes).max()) + 1, unit="step")


def _latch_facts() -> Iterator[Observation]:
    for start in (0, 1):
        state = np.array(float(start))
        for _ in range(200):
            state = _latch(state, np.zeros(()))
        yield Observation("fixed_point", float(state), {"start": start}, "number")
        yield Observation("slope", float(SLOPES["latch"](state)), {"start": start}, "ratio")


def _noisy(options: Options, rng: np.random.Generator) -> Iterator[Observation]:
    noise = options.noise * rng.standard_normal((options.steps, options.draws))
    for name, factor in (("contraction", 0.5), ("integrator", 1.0)):
        found = states(MEMORIES[name], noise)
        for at in options.shown:
            of: dict[str, Scalar] = {"memory": name, "step": at}
            yield Observation("noise_deviation", float(found[at - 1].std(ddof=1)), of, "number")
            powers = float((factor ** (2 * np.arange(at))).sum())
            yield Observation("noise_deviation_formula", options.noise * powers**0.5, of, "number")
    latched = states(_latch, written(options.steps)[:, :1] + noise[:, : options.draws // 10]) > 0.5
    right = latched == (np.arange(options.steps) >= WRITTEN[0] - 1)[:, None]
    yield Observation("right_share", float(right.mean()), {"memory": "latch"}, "share")
