"""Bayes' rule in a decoder: the most probable source given what was received (recurrence 1.1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from seedbed.messages import require_positive
from seedbed.observations import Observation

NEEDS = ("rng",)


@dataclass(frozen=True)
class Options:
    """The sizes of a random joint distribution."""

    sources: int = 20
    received: int = 50

    def __post_init__(self) -> None:
        """Check the sizes.

        Raises:
            ValueError: a size below 1.
        """
        require_positive(**vars(self))


def demonstrate(options: Options, *, rng: np.random.Generator) -> Iterator[Observation]:
    """``agreement``: the share of what may be received for which both decoders choose the same source.

    One maximises p(source | received), from the joint table; the other the channel times the prior.
    The channel alone may choose another one.
    """
    prior = rng.dirichlet(np.ones(options.sources))
    channel = rng.dirichlet(np.ones(options.received), options.sources)
    joint = prior[:, None] * channel
    posterior = joint / joint.sum(0)
    direct = posterior.argmax(0)
    product = (np.log(channel) + np.log(prior)[:, None]).argmax(0)
    yield Observation("agreement", float((direct == product).mean()), {"by": "channel and prior"}, "share")
    yield Observation("agreement", float((direct == channel.argmax(0)).mean()), {"by": "channel"}, "share")
