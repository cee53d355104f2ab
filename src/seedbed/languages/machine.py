"""The nondeterministic machine of one sentence of a grammar.

Its state is the next slot and the values of the variables that later slots still need. A variable is drawn when a
slot first needs it, and forgotten after the last slot that needs it, so there are few states. The module
`compilation` makes the deterministic states of the language from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from seedbed.languages.entries import GrammarError
from seedbed.languages.grammar import Grammar, Slot
from seedbed.languages.vocabulary import PERIOD

Values = Mapping[str, str]


class MachineState(NamedTuple):
    """A point in a sentence: ``slot`` comes next, after the ``pending`` words of the slot before it."""

    slot: int
    pending: tuple[str, ...]
    values: tuple[tuple[str, str], ...]


#: The state before a sentence, and the state after its period.
SENTENCE_START = MachineState(0, (), ())
SENTENCE_END = MachineState(-1, (), ())


class Emission(NamedTuple):
    """A word, the index of its slot, the state after it, and the probability of both."""

    word: str
    slot: int
    following: MachineState
    probability: float


class Machine:
    """The nondeterministic machine of one sentence.

    It records the ``words`` that it emits, and in ``used`` the paths of the parts of the file that it uses. With
    ``redraw``, a draw that completes a withheld combination is dropped. The probabilities of the emissions of a
    state may then add up to less than 1.
    """

    def __init__(self, grammar: Grammar, redraw: bool) -> None:
        self.grammar = grammar
        self.redraw = redraw
        self.used: set[str] = set()
        self.words: set[str] = set()
        self._emissions: dict[MachineState, list[Emission]] = {}

    def emissions(self, machine_state: MachineState) -> list[Emission]:
        """All words that can come next, with the states after them."""
        if machine_state not in self._emissions:
            self._emissions[machine_state] = list(self._expand(machine_state))
        return self._emissions[machine_state]

    def _expand(self, machine_state: MachineState) -> Iterator[Emission]:
        index, pending, values = machine_state
        if machine_state == SENTENCE_END:
            return
        if pending:
            yield Emission(pending[0], index - 1, machine_state._replace(pending=pending[1:]), 1.0)
        elif index == len(self.grammar.slots):
            yield Emission(self.grammar.marks[PERIOD], index, SENTENCE_END, 1.0)
        else:
            slot = self.grammar.slots[index]
            for drawn, probability in self._assignments(slot.conditions, dict(values)):
                step = self._present if self._is_present(slot, drawn) else self._absent
                for emission in step(index, drawn):
                    yield emission._replace(probability=probability * emission.probability)

    def _is_present(self, slot: Slot, values: Values) -> bool:
        return all(
            self.grammar.variables.text(reference, values) in texts for reference, texts in slot.when.items()
        )

    def _present(self, index: int, values: Values) -> Iterator[Emission]:
        slot = self.grammar.slots[index]
        self.used.add(slot.path)
        for drawn, probability in self._assignments(slot.variables, values):
            word, *pending = words = self.grammar.fill(slot, drawn)
            self.words.update(words)
            following = MachineState(index + 1, tuple(pending), self._values_needed(index + 1, drawn))
            yield Emission(word, index, following, probability)

    def _absent(self, index: int, values: Values) -> Iterator[Emission]:
        yield from self.emissions(MachineState(index + 1, (), self._values_needed(index + 1, values)))

    def _assignments(self, variables: Iterable[str], values: Values) -> list[tuple[Values, float]]:
        """All ways to draw the variables that have no value yet, with their probabilities."""
        ways = [(values, 1.0)]
        for variable in self._variables_to_draw(variables, values):
            if variable not in values:
                ways = [
                    (drawn, probability * chance)
                    for before, probability in ways
                    for drawn, chance in self._draw(variable, before)
                ]
        return ways

    def _draw(self, variable: str, values: Values) -> Iterator[tuple[Values, float]]:
        draw = self.grammar.variables.draws[variable]
        given = None if draw.given is None else self.grammar.variables.text(draw.given, values)
        path = f"draws.{variable}" if given is None else f"draws.{variable}.choices.{given}"
        if given not in draw.choices:
            raise GrammarError(f"{self.grammar.file}: {path}: missing, but the sentence needs a choice there")
        self.used.add(path)
        for value, probability in draw.choices[given].items():
            drawn = {**values, variable: value}
            self.used.add(f"lexicon.{draw.lexicon}.{value}")
            if not (self._is_withheld(drawn) and self.redraw):
                yield drawn, probability

    def _is_withheld(self, values: Values) -> bool:
        """Whether the values contain a whole withheld combination."""
        pairs = enumerate(self.grammar.withheld)
        complete = [index for index, combination in pairs if combination.items() <= values.items()]
        self.used.update(f"withheld[{index}]" for index in complete)
        return bool(complete)

    def _variables_to_draw(self, variables: Iterable[str], values: Values) -> list[str]:
        """The variables, and the ones that must be known to draw those without a value, in drawing order."""
        required, waiting = set[str](), list(variables)
        while waiting:
            variable = waiting.pop()
            given = self.grammar.variables.draws[variable].given
            if given is not None and variable not in values:
                waiting.append(given.variable)
            required.add(variable)
        return [variable for variable in self.grammar.variables.draws if variable in required]

    def _values_needed(self, index: int, values: Values) -> tuple[tuple[str, str], ...]:
        """The values that slots from this one on may need, and the values of unfinished combinations."""
        later = [name for slot in self.grammar.slots[index:] for name in (*slot.conditions, *slot.variables)]
        needed = self._variables_to_draw(later, values)
        for combination in self.grammar.withheld:
            if any(variable in needed and variable not in values for variable in combination):
                needed = [*needed, *combination]
        return tuple((variable, value) for variable, value in values.items() if variable in needed)

    def refuse_unused(self) -> None:
        """Check that sentences use every part of the grammar.

        Raises:
            GrammarError: a lexicon value, a choice, a slot or a withheld combination is never used.
        """
        grammar = self.grammar
        stated = [
            f"lexicon.{name}.{value}" for name, lexicon in grammar.variables.lexicons.items() for value in lexicon
        ]
        for variable, draw in grammar.variables.draws.items():
            stated += [f"draws.{variable}" + (f".choices.{given}" if given else "") for given in draw.choices]
        stated += [slot.path for slot in grammar.slots]
        stated += [f"withheld[{index}]" for index in range(len(grammar.withheld))]
        unused = [path for path in stated if path not in self.used]
        if unused:
            raise GrammarError(f"{grammar.file}: {', '.join(unused)}: no sentence uses this; delete it or use it")
