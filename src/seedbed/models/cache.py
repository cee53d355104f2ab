"""What attention remembers of the tokens so far, so that one more costs one query."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float, Int
from torch import Tensor

_FIRST = 16  # tokens that fit at first


class Memory:
    """Room for keys and values, of which the first are in use; states share it as long as none branches off.

    Attributes:
        room: [layers, 2, batch, heads, capacity, width], keys before values.
        used: Tokens in use.
    """

    def __init__(self, room: Float[Tensor, "layers 2 batch heads capacity width"], used: int) -> None:
        """Take room whose first tokens are in use."""
        self.room, self.used = room, used


@dataclass(frozen=True, eq=False)
class State:
    """The first ``length`` tokens of a memory. It stays what it is, however often a model steps from it."""

    memory: Memory
    length: int

    @staticmethod
    def empty(like: Tensor, layers: int, batch: int, heads: int, width: int) -> State:
        """No token yet, for numbers of the same type as ``like``."""
        return State(Memory(like.new_empty(layers, 2, batch, heads, _FIRST, width), 0), 0)

    def longer(self) -> State:
        """A state of one more token, which is still to be written.

        It takes the next place in the same memory if that is free; else it moves to one of twice the size, so that
        a token is copied less than once on average.
        """
        memory = self.memory
        if self.length < memory.used or self.length == memory.room.shape[4]:
            room = memory.room.new_empty(
                *memory.room.shape[:4], 2 * max(self.length, _FIRST), memory.room.shape[5]
            )
            room[..., : self.length, :] = memory.room[..., : self.length, :]
            memory = Memory(room, self.length)
        memory.used += 1
        return State(memory, self.length + 1)

    def layer(self, index: int) -> Float[Tensor, "2 batch heads length width"]:
        """Keys and values of one layer, the last token's to be written."""
        return self.memory.room[index, :, :, :, : self.length]

    def take(self, rows: Int[Tensor, " rows"]) -> State:
        """The state of some of the documents, in a memory of its own."""
        room = self.memory.room[:, :, rows]
        return State(Memory(room, self.length), self.length)
