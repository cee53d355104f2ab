"""What one layer of attention remembers of the tokens so far, so that one more costs one query."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float, Int
from torch import Tensor

_FIRST = 16  # tokens that fit at first


class Memory:
    """Room for keys and values, of which the first are in use; caches share it until they branch.

    Attributes:
        room: [2, batch, heads, capacity, width], keys before values.
        used: Tokens in use.
    """

    def __init__(self, room: Float[Tensor, "2 batch heads capacity width"], used: int) -> None:
        """Take room whose first tokens are in use."""
        self.room, self.used = room, used


@dataclass(frozen=True, eq=False)
class Cache:
    """The keys and values of the first ``length`` tokens of a memory.

    A cache stays as it is, however often a token is appended to it.
    """

    memory: Memory
    length: int

    @staticmethod
    def empty(like: Tensor, batch: int, heads: int, width: int) -> Cache:
        """No token yet, for numbers of the same type as ``like``."""
        return Cache(Memory(like.new_empty(2, batch, heads, _FIRST, width), 0), 0)

    def append(self, key: Float[Tensor, "batch heads width"], value: Float[Tensor, "batch heads width"]) -> Cache:
        """A cache of one more token of each document.

        It takes the next place in the same memory if that is free; else it moves to one of twice the size, so that
        a token is copied less than once on average.
        """
        memory, room = self.memory, self.memory.room
        if self.length < memory.used or self.length == room.shape[3]:
            larger = room.new_empty(*room.shape[:3], 2 * max(self.length, _FIRST), room.shape[4])
            larger[..., : self.length, :] = room[..., : self.length, :]
            memory = Memory(larger, self.length)
        memory.used += 1
        memory.room[0, :, :, self.length], memory.room[1, :, :, self.length] = key, value
        return Cache(memory, self.length + 1)

    def keys_and_values(self) -> Float[Tensor, "2 batch heads length width"]:
        """Of all tokens so far."""
        return self.memory.room[:, :, :, : self.length]

    def take(self, rows: Int[Tensor, " rows"]) -> Cache:
        """The cache of some of the documents, in a memory of its own."""
        return Cache(Memory(self.memory.room[:, rows], self.length), self.length)
