"""Small grammars and an oracle: plain enumeration, written apart from the package's machine and automaton."""

from __future__ import annotations

import copy
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
import yaml

from seedbed.languages.automaton import Language
from seedbed.languages.compilation import read_language

#: An adjective depends on the noun after it, so it is evidence for the noun. After "pick"
#: and "cut" come the same nouns with other probabilities.
NOUN_DRAWN_BEFORE_ADJECTIVE = """
tokens: {begin: <bos>, end: <eos>, period: ".", structural: [<mask>]}
mean_sentences: 2.5
lexicon:
  subject: {we: {owner: our}, the children: {owner: their}}
  verb: [pick, eat, cut]
  noun: {plum: {class: fruit}, rose: {class: flower}, fig: {class: fruit}}
  adjective: [red, ripe, lovely]
  look: [plain, described]
draws:
  subject: {weights: {we: 3, the children: 1}}
  verb: {}
  noun:
    given: verb
    choices: {pick: [plum, rose, fig], eat: [fig, plum], cut: [plum, fig, rose]}
    rank: {exponent: 1, among: choices}
  adjective:
    given: noun.class
    choices: {fruit: [red, ripe], flower: [red, lovely]}
    weights: {red: 3, ripe: 2, lovely: 1}
  look: {weights: {plain: 0.4, described: 0.6}}
sentence:
  - {slot: subject, words: "{subject}"}
  - {slot: verb, words: "{verb}"}
  - {slot: adjective, words: "{adjective}", when: {look: described}}
  - {slot: noun, words: "{noun}"}
  - {slot: tail, words: "from {subject.owner} garden"}
withheld:
  - {verb: pick, noun: plum}
  - {subject: the children, verb: eat, noun: fig}
"""

#: Up to two attractors between a subject and the verb that agrees with it.
REPEATED_SLOTS = """
tokens: {begin: <s>, end: </s>, period: "."}
mean_sentences: 1
lexicon:
  number: [one, many]
  noun: {cow: {one: cow, many: cows}, hen: {one: hen, many: hens}}
  attractors: [none, single, double]
  verb: {eat: {one: eats, many: eat, kind: transitive}, sleep: {one: sleeps, many: sleep, kind: intransitive}}
  object: [hay, corn]
draws:
  number: {}
  noun: {rank: {exponent: 1, among: lexicon}}
  attractors: {weights: {none: 2, single: 1, double: 1}}
  number1: {from: number}
  noun1: {from: noun}
  number2: {from: number}
  noun2: {from: noun}
  verb: {weights: {eat: 2, sleep: 1}}
  object: {given: verb, choices: {eat: [corn, hay]}, rank: {exponent: 1, among: choices}}
sentence:
  - {slot: subject, words: "the {noun.{number}}"}
  - {slot: attractor, words: "near the {noun1.{number1}}", when: {attractors: [single, double]}}
  - {slot: attractor, words: "near the {noun2.{number2}}", when: {attractors: double}}
  - {slot: verb, words: "{verb.{number}}"}
  - {slot: object, words: "the {object}", when: {verb.kind: transitive}}
"""

#: One text can come about in several ways and is withheld only where all of them are. The first half of a withheld
#: pair (rose) is needed by nothing else when the second (long) is drawn.
AMBIGUOUS = """
tokens: {begin: <bos>, end: <eos>, period: "."}
mean_sentences: 2
lexicon:
  plant: {mint: {name: herb}, sage: {name: herb}, rose: {name: rose}}
  place: [here, there]
  ending: [short, long]
draws:
  plant: {weights: {mint: 1, sage: 2, rose: 3}}
  place: {given: plant, choices: {mint: [here], sage: [here, there], rose: [there]}}
  ending: {}
sentence:
  - {slot: plant, words: "{plant.name}"}
  - {slot: place, words: "grows {place}"}
  - {slot: ending, words: again, when: {ending: long}}
withheld:
  - {plant: mint, place: here}
  - {plant: rose, ending: long}
"""

SMALL = {"late": NOUN_DRAWN_BEFORE_ADJECTIVE, "repeated": REPEATED_SLOTS, "ambiguous": AMBIGUOUS}


@dataclass
class Oracle:
    """A grammar's sentences by drawing every variable first and speaking afterwards."""

    content: dict[str, Any]
    #: text without its period -> probability, all ways together, and those without a withheld combination
    full: dict[str, float]
    allowed: dict[str, float]

    @cached_property
    def training(self) -> dict[str, float]:
        total = sum(self.allowed.values())
        return {text: mass / total for text, mass in self.allowed.items() if mass > 0}

    def document(self, text: str, training: bool = False) -> float:
        """The probability of a document, given as text."""
        tokens, begin, end = text.split(), *(self.content["tokens"][key] for key in ("begin", "end"))
        if len(tokens) < 3 or tokens[0] != begin or tokens[-1] != end or tokens[-2] != ".":
            return 0.0
        sentences = " ".join(tokens[1:-2]).split(" . ")
        stop = 1 / self.content["mean_sentences"]
        known = self.training if training else self.full
        chances = [known.get(sentence, 0.0) for sentence in sentences]
        return float(stop * (1 - stop) ** (len(sentences) - 1) * math.prod(chances))

    def wrap(self, *sentences: str) -> str:
        """The document of some sentences."""
        begin, end = (self.content["tokens"][key] for key in ("begin", "end"))
        return f"{begin} {' '.join(f'{one} .' for one in sentences)} {end}"


def enumerate_grammar(content: dict[str, Any]) -> Oracle:
    full: defaultdict[str, float] = defaultdict(float)
    allowed: defaultdict[str, float] = defaultdict(float)
    for values, probability in assignments(content, list(content["draws"]), {}):
        text = speak(content, values)
        full[text] += probability
        withheld = any(pair.items() <= values.items() for pair in content.get("withheld", []))
        allowed[text] += 0.0 if withheld else probability
    return Oracle(content, dict(full), dict(allowed))


def assignments(
    content: dict[str, Any], variables: list[str], values: dict[str, str]
) -> Iterable[tuple[dict[str, str], float]]:
    if not variables:
        yield values, 1.0
        return
    draw = content["draws"][variables[0]]
    lexicon = list(content["lexicon"][draw.get("from", variables[0])])
    listed = draw["choices"].get(look_up(content, values, draw["given"])) if "given" in draw else lexicon
    if listed is None:  # never asked for under these values
        yield from assignments(content, variables[1:], values)
        return
    weights = {value: weight(draw, value, lexicon, listed) for value in listed}
    for value in listed:
        for rest, probability in assignments(content, variables[1:], values | {variables[0]: value}):
            yield rest, probability * weights[value] / sum(weights.values())


def weight(draw: dict[str, Any], value: str, lexicon: list[str], listed: list[str]) -> float:
    if "weights" in draw:
        return float(draw["weights"][value])
    if "rank" in draw:
        order = lexicon if draw["rank"]["among"] == "lexicon" else listed
        return float((order.index(value) + 1) ** -draw["rank"]["exponent"])
    return 1.0


def look_up(content: dict[str, Any], values: dict[str, str], reference: str) -> str:
    variable, *attribute = reference.split(".")
    lexicon = content["draws"][variable].get("from", variable)
    value = values[variable]
    return str(content["lexicon"][lexicon][value][attribute[0]]) if attribute else value


def speak(content: dict[str, Any], values: dict[str, str]) -> str:
    words: list[str] = []
    for slot in content["sentence"]:
        if all(look_up(content, values, key) in texts for key, texts in slot.get("when", {}).items()):
            text = slot["words"]
            while "{" in text:
                text = re.sub(r"\{([^{}]*)\}", lambda found: look_up(content, values, found[1]), text)
            words += text.split()
    return " ".join(words)


@dataclass
class Case:
    """A grammar with its language and its oracle."""

    content: dict[str, Any]
    language: Language
    oracle: Oracle


def case(content: dict[str, Any]) -> Case:
    return Case(content, read_language(content, "test.yaml"), enumerate_grammar(content))


@pytest.fixture(scope="session", params=list(SMALL))
def small(request: pytest.FixtureRequest) -> Case:
    """Each of the small grammars."""
    return case(yaml.safe_load(SMALL[request.param]))


@pytest.fixture(scope="session")
def late() -> Case:
    return case(yaml.safe_load(NOUN_DRAWN_BEFORE_ADJECTIVE))


@pytest.fixture(scope="session")
def ambiguous() -> Case:
    return case(yaml.safe_load(AMBIGUOUS))


@pytest.fixture(scope="session")
def repeated() -> Case:
    return case(yaml.safe_load(REPEATED_SLOTS))


@pytest.fixture(scope="session")
def make_case() -> Callable[[dict[str, Any]], Case]:
    return case


@pytest.fixture
def content() -> dict[str, Any]:
    """A valid grammar to be spoilt by a test."""
    return copy.deepcopy(yaml.safe_load(NOUN_DRAWN_BEFORE_ADJECTIVE))


@pytest.fixture(scope="session")
def garden_content() -> dict[str, Any]:
    path = Path(__file__).parents[2] / "config" / "languages" / "garden.yaml"
    found: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="session")
def garden(garden_content: dict[str, Any]) -> Language:
    return read_language(garden_content, "garden.yaml")
