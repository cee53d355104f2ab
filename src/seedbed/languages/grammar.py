"""Read a grammar, a file of ``config/languages``, and check it key by key.

A sentence is a sequence of slots. A slot's words are a template over variables. A variable is drawn from a
lexicon, perhaps given another variable. The module `compilation` makes a language of a grammar.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from seedbed.languages.entries import Entry
from seedbed.messages import nearest

#: value -> attribute -> text
Lexicon = Mapping[str, Mapping[str, str]]

#: Products of smaller probabilities would be rounded to 0.
_LEAST = 1e-12
#: Documents with more sentences do not fit in memory, or sampling would never end.
_MOST_SENTENCES = 10_000

_INNERMOST = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True)
class VariableReference:
    """A variable's value (``noun``) or an attribute of its value (``noun.class``)."""

    variable: str
    attribute: str = ""


@dataclass(frozen=True)
class Draw:
    """How a variable gets its value.

    Attributes:
        lexicon: The name of the lexicon with its values.
        given: What the distribution depends on; None if on nothing.
        choices: For each text of ``given``, the distribution of the value; the key is None without ``given``.
    """

    lexicon: str
    given: VariableReference | None
    choices: Mapping[str | None, Mapping[str, float]]


@dataclass(frozen=True)
class Slot:
    """A place in the sentence.

    Attributes:
        path: The path in the file, such as ``sentence[2]``.
        name: The name, such as ``noun``; several slots may have the same name.
        words: A template such as ``the {noun.{number}}``, resolved from the innermost reference outwards.
        when: The slot is present only if each of these references has one of its texts.
    """

    path: str
    name: str
    words: str
    when: Mapping[VariableReference, Collection[str]]

    @property
    def conditions(self) -> list[str]:
        """The variables that decide whether the slot is present."""
        return [reference.variable for reference in self.when]

    @property
    def variables(self) -> list[str]:
        """The variables of the template."""
        return re.findall(r"\{(\w+)", self.words)


@dataclass(frozen=True)
class Variables:
    """All variables and what they are drawn from.

    Attributes:
        lexicons: Name -> values and attributes.
        draws: Variable -> how it is drawn; a variable comes after the one that it is given.
    """

    lexicons: Mapping[str, Lexicon]
    draws: Mapping[str, Draw]

    def lexicon(self, variable: str) -> Lexicon:
        """The lexicon that a variable is drawn from."""
        return self.lexicons[self.draws[variable].lexicon]

    def text(self, reference: VariableReference, values: Mapping[str, str]) -> str:
        """The text of a reference under some values of the variables."""
        value = values[reference.variable]
        return self.lexicon(reference.variable)[value][reference.attribute] if reference.attribute else value

    def texts(self, reference: VariableReference) -> list[str]:
        """All texts that a reference can have."""
        values = self.lexicon(reference.variable)
        return list(dict.fromkeys(self.text(reference, {reference.variable: value}) for value in values))

    def read_reference(self, entry: Entry) -> VariableReference:
        """Read a reference such as ``noun`` or ``noun.class``.

        Raises:
            GrammarError: there is no such variable, or its values have no such attribute.
        """
        variable, dot, attribute = entry.text().partition(".")
        if variable not in self.draws:
            raise entry.error("a known variable", nearest(variable, self.draws))
        known = next(iter(self.lexicon(variable).values()))
        if dot and attribute not in known:
            raise entry.error("a known attribute", nearest(attribute, known))
        return VariableReference(variable, attribute)


@dataclass(frozen=True)
class Grammar:
    """A checked grammar file.

    Attributes:
        file: The file's name, for errors.
        marks: The tokens that begin a document, end a document and end a sentence.
        structural: Tokens of the vocabulary that no document holds.
        mean_sentences: The mean number of sentences in a document, at least 1; the number is geometric.
        variables: The variables.
        slots: The slots of a sentence, without its period.
        withheld: Combinations that training never shows, each as variable -> value.
    """

    file: str
    marks: tuple[str, str, str]
    structural: tuple[str, ...]
    mean_sentences: float
    variables: Variables
    slots: tuple[Slot, ...]
    withheld: tuple[Mapping[str, str], ...]

    def fill(self, slot: Slot, values: Mapping[str, str]) -> tuple[str, ...]:
        """The words of a slot under some values of the variables.

        Raises:
            GrammarError: the template has an unknown attribute.
        """
        text = slot.words
        while found := _INNERMOST.search(text):
            reference = self.variables.read_reference(Entry(self.file, f"{slot.path}.words", found[1]))
            text = text[: found.start()] + self.variables.text(reference, values) + text[found.end() :]
        return tuple(text.split())


def read_grammar(content: Mapping[str, object], file: str) -> Grammar:
    """Check a parsed grammar file; ``config/languages/garden.yaml`` shows every key in use.

    Args:
        content: The file as plain mappings, lists and scalars.
        file: Its name, for errors.

    Raises:
        GrammarError: an unknown or missing key, a value of the wrong kind, an unknown name. The message names
            file, key, value, what was expected and the nearest right name.
    """
    top = Entry(file, "", content).fields(
        ["tokens", "mean_sentences", "lexicon", "draws", "sentence"], ["withheld"]
    )
    tokens = top["tokens"].fields(["begin", "end", "period"], ["structural"])
    variables = Variables({name: _read_lexicon(entry) for name, entry in top["lexicon"].items().items()}, {})
    for name, entry in top["draws"].items().items():
        variables = replace(variables, draws={**variables.draws, name: _read_draw(name, entry, variables)})
    if not 1 <= top["mean_sentences"].number() <= _MOST_SENTENCES:
        raise top["mean_sentences"].error(
            f"at least 1, since every document has a sentence, and at most {_MOST_SENTENCES}"
        )
    return Grammar(
        file=file,
        marks=(tokens["begin"].word(), tokens["end"].word(), tokens["period"].word()),
        structural=tuple(token.word() for token in _elements(tokens, "structural")),
        mean_sentences=top["mean_sentences"].number(),
        variables=variables,
        slots=tuple(_read_slot(entry, variables) for entry in top["sentence"].elements()),
        withheld=_read_withheld(_elements(top, "withheld"), variables),
    )


def _elements(fields: Mapping[str, Entry], key: str) -> list[Entry]:
    return fields[key].elements() if key in fields else []


def _read_lexicon(entry: Entry) -> Lexicon:
    """Read a list of values, or a mapping from values to attributes; all values have the same attributes."""
    if isinstance(entry.value, list):
        return {value: {} for value in entry.distinct([_literal(element) for element in entry.elements()])}
    values = entry.items()
    attributes = list(next(iter(values.values())).items())
    for value, given in values.items():
        _literal(Entry(entry.file, given.path, value))
    return {
        value: {attribute: _literal(text) for attribute, text in given.fields(attributes).items()}
        for value, given in values.items()
    }


def _literal(entry: Entry) -> str:
    """A text that is put into templates. It has no braces, since it would then be a template itself."""
    if set("{}") & set(entry.text()):
        raise entry.error("text without braces")
    return entry.text()


def _read_draw(name: str, entry: Entry, variables: Variables) -> Draw:
    """Read how a variable is drawn; ``variables`` are the ones before it."""
    if not name.isidentifier():
        raise entry.at("", name).error("a variable of letters, digits and _")
    fields = entry.fields([], ["from", "given", "choices", "weights", "rank"])
    lexicon = fields.get("from", entry.at("", name)).one_of(variables.lexicons)
    values = list(variables.lexicons[lexicon])
    if ("given" in fields) != ("choices" in fields):
        raise entry.error("both or neither of given, choices")
    if "given" not in fields:
        return Draw(lexicon, None, {None: _distribution(entry, fields, values, values)})
    given = variables.read_reference(fields["given"])
    texts = variables.texts(given)
    choices: dict[str | None, Mapping[str, float]] = {}
    for text, listed in fields["choices"].items().items():
        fields["choices"].at("", text).one_of(texts)
        choices[text] = _distribution(entry, fields, values, listed.distinct(values))
    return Draw(lexicon, given, choices)


def _distribution(
    entry: Entry, fields: Mapping[str, Entry], values: list[str], chosen: list[str]
) -> dict[str, float]:
    """The probability of each chosen value: by weight, by rank, or uniform."""
    if "weights" in fields and "rank" in fields:
        raise entry.error("at most one of weights, rank")
    weights = dict.fromkeys(chosen, 1.0)
    if "weights" in fields:
        stated = fields["weights"].fields(values)
        weights = {value: stated[value].number() for value in chosen}
    if "rank" in fields:
        rule = fields["rank"].fields(["exponent", "among"])
        order = {"lexicon": values, "choices": chosen}[rule["among"].one_of(["lexicon", "choices"])]
        weights = {value: (1 + order.index(value)) ** -rule["exponent"].number() for value in chosen}
    total = sum(weights.values())
    distribution = {value: weight / total for value, weight in weights.items()}
    if not min(distribution.values()) > _LEAST:
        raise entry.error(f"weights that give every value a probability above {_LEAST:g}")
    return distribution


def _read_slot(entry: Entry, variables: Variables) -> Slot:
    fields = entry.fields(["slot", "words"], ["when"])
    when: dict[VariableReference, Collection[str]] = {}
    for key, stated in fields["when"].items().items() if "when" in fields else ():
        reference = variables.read_reference(stated.at("", key))
        texts = variables.texts(reference)
        when[reference] = stated.distinct(texts) if isinstance(stated.value, list) else [stated.one_of(texts)]
    slot = Slot(entry.path, fields["slot"].text(), fields["words"].text(), when)
    skeleton = slot.words
    while _INNERMOST.search(skeleton):
        skeleton = _INNERMOST.sub("_", skeleton)
    if set("{}") & set(skeleton) or slot.words.count("{") != len(slot.variables):
        raise fields["words"].error("references in pairs of braces, each beginning with the name of a variable")
    for variable in slot.variables:
        fields["words"].at("", variable).one_of(variables.draws)
    return slot


def _read_withheld(entries: list[Entry], variables: Variables) -> tuple[Mapping[str, str], ...]:
    combinations: list[Mapping[str, str]] = []
    for entry in entries:
        combinations.append(_read_combination(entry, variables))
        if combinations[-1] in combinations[:-1]:
            raise entry.error("every combination once")
    return tuple(combinations)


def _read_combination(entry: Entry, variables: Variables) -> Mapping[str, str]:
    values = {}
    for variable, value in entry.items().items():
        entry.at("", variable).one_of(variables.draws)
        values[variable] = value.one_of(variables.lexicon(variable))
    return values
