from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from seedbed.documents import Documents
from seedbed.languages.compilation import read_language
from seedbed.languages.entries import GrammarError

if TYPE_CHECKING:
    from conftest import Case

Spoil = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (
            lambda c: c.update(sentences=3),
            "sentences: unknown key; did you mean sentence",
        ),
        (lambda c: c.pop("draws"), "draws: this key is required"),
        (lambda c: c["tokens"].update(structual=[]), "tokens.structual: unknown key; did you mean structural"),
        (lambda c: c["tokens"].update(begin="two words"), "tokens.begin: expected one word.*, found 'two words'"),
        (lambda c: c["tokens"].update(structural=["pick"]), "tokens that occur in the vocabulary twice: pick"),
        (lambda c: c["sentence"][1].update(words="."), "tokens that occur in the vocabulary twice: ."),
        (lambda c: c.update(mean_sentences=0.5), "mean_sentences: expected at least 1.*, found 0.5"),
        (lambda c: c.update(mean_sentences="3"), "mean_sentences: expected a number, found '3'"),
        (lambda c: c.update(mean_sentences=True), "mean_sentences: expected a number, found true"),
        (
            lambda c: c.update(mean_sentences=float("nan")),
            "mean_sentences: expected a finite number above 0",
        ),
        (lambda c: c.update(lexicon=[]), r"lexicon: expected a mapping.*, found \[\]"),
        (lambda c: c["lexicon"].update(verb=[]), r"lexicon.verb: expected a list with at least one.*, found \[\]"),
        (
            lambda c: c["lexicon"].update(verb=["pick", "pick"]),
            r"lexicon.verb\[1\]: expected every name once.*, found 'pick'",
        ),
        (
            lambda c: c["lexicon"].update(verb={True: {}}),
            "lexicon.verb: expected a key that is text.*, found true",
        ),
        (
            lambda c: c["lexicon"]["noun"].update(fig={"clas": "fruit"}),
            "lexicon.noun.fig.clas: unknown key; did you mean class",
        ),
        (
            lambda c: c["lexicon"]["noun"].update(fig={"class": 3}),
            "lexicon.noun.fig.class: expected text.*, found 3",
        ),
        (
            lambda c: c["lexicon"].update(verb=["pick", "{verb}"]),
            r"lexicon.verb\[1\]: expected text without braces.*, found '{verb}'",
        ),
        (
            lambda c: c["lexicon"]["noun"].update({"a}": {"class": "fruit"}}),
            "lexicon.noun.a}: expected text without braces.*, found 'a}'",
        ),
        (
            lambda c: c["lexicon"]["noun"].update(fig={"class": "{noun}"}),
            "lexicon.noun.fig.class: expected text without braces.*, found '{noun}'",
        ),
        (
            lambda c: c["lexicon"]["adjective"].append("wild"),
            "draws.adjective.weights.wild: this key is required",
        ),
        (
            lambda c: c["lexicon"]["verb"].append("chop"),
            "draws.noun.choices.chop: missing, but the sentence needs",
        ),
        (
            lambda c: c["draws"].update(Noun={}),
            "draws.Noun: expected a known name, found 'Noun'; did you mean noun",
        ),
        (lambda c: c["draws"].update({"a-b": {}}), "draws.a-b: expected a variable of letters.*, found 'a-b'"),
        (
            lambda c: c["draws"]["look"]["weights"].update(plain=0),
            "draws.look.weights.plain: expected a finite.*, found 0",
        ),
        (
            lambda c: c["draws"]["look"]["weights"].update(plan=1),
            "draws.look.weights.plan: unknown key; did you mean plain",
        ),
        (lambda c: c["draws"]["noun"].pop("given"), "draws.noun: .*expected both or neither of given, choices"),
        (
            lambda c: c["draws"]["noun"].update(given="verbs"),
            "draws.noun.given: expected .*, found 'verbs'; did you mean verb",
        ),
        (
            lambda c: c["draws"]["noun"].update(given="look"),
            "draws.noun.given: expected a known variable, found 'look'; known: subject, verb",
        ),
        (
            lambda c: c["draws"]["adjective"].update(given="noun.clas"),
            "given: expected a known attribute, found 'noun.clas'; did you mean class",
        ),
        (
            lambda c: c["draws"]["noun"]["choices"].update(pick=[]),
            r"draws.noun.choices.pick: expected a list.*, found \[\]",
        ),
        (
            lambda c: c["draws"]["noun"]["choices"].update(pick=["plumb"]),
            r"pick\[0\]: expected .*, found 'plumb'; did you mean plum",
        ),
        (
            lambda c: c["draws"]["noun"]["choices"].update(pik=["plum"]),
            "draws.noun.choices: expected .*, found 'pik'; did you mean pick",
        ),
        (
            lambda c: c["draws"]["adjective"]["choices"].update(herb=["red"]),
            "choices: expected a known name, found 'herb'",
        ),
        (lambda c: c["draws"]["noun"]["choices"].pop("eat"), "draws.noun.choices.eat: missing"),
        (lambda c: c["draws"]["noun"].update(weights={}), "draws.noun: .*at most one of weights, rank"),
        (
            lambda c: c["draws"]["noun"]["rank"].update(among="choice"),
            "rank.among: expected .*, found 'choice'; did you mean choices",
        ),
        (
            lambda c: c["draws"]["noun"]["rank"].update(exponent="1"),
            "rank.exponent: expected a number.*, found '1'",
        ),
        (lambda c: c["draws"].update(extra={"from": "verb"}), "draws.extra: no sentence uses this"),
        (
            lambda c: c["sentence"][0].update(when={}),
            r"sentence\[0\].when: expected a mapping with at least one.*, found {}",
        ),
        (
            lambda c: c["sentence"][0].update(words="{subject"),
            r"sentence\[0\].words: expected references.*, found '{subject'",
        ),
        (
            lambda c: c["sentence"][0].update(words="{{verb}}"),
            r"sentence\[0\].words: .*expected references in pairs",
        ),
        (
            lambda c: c["sentence"][0].update(words="{subjct}"),
            r"sentence\[0\].words: expected .*, found 'subjct'; did you mean subject",
        ),
        (
            lambda c: c["sentence"][4].update(words="{subject.ownr}"),
            r"sentence\[4\].words: expected .*, found 'subject.ownr'; did you mean owner",
        ),
        (
            lambda c: c["sentence"][2].update(when={"look": "descrbed"}),
            r"when.look: expected .*, found 'descrbed'; did you mean described",
        ),
        (
            lambda c: c["sentence"][2].update(when={"loko": "plain"}),
            r"sentence\[2\].when.loko: expected .*, found 'loko'; did you mean look",
        ),
        (lambda c: c["sentence"][2].update(wen={}), r"sentence\[2\].wen: unknown key; did you mean when"),
        (
            lambda c: c["withheld"][0].update(noun="plumb"),
            r"withheld\[0\].noun: expected .*, found 'plumb'; did you mean plum",
        ),
        (
            lambda c: c["withheld"][0].update(nun="plum"),
            r"withheld\[0\]: expected .*, found 'nun'; did you mean noun",
        ),
        (lambda c: c["withheld"].append({"verb": "eat", "noun": "rose"}), r"withheld\[2\]: no sentence uses this"),
        (
            lambda c: c["withheld"].extend([{"look": "plain"}, {"look": "described"}]),
            "nothing is left for training",
        ),
    ],
)
def test_errors_name_file_key_value_and_the_nearest_right_name(
    content: dict[str, Any], spoil: Spoil, message: str
) -> None:
    spoil(content)
    with pytest.raises(GrammarError, match=f"^test.yaml: .*{message}"):
        read_language(content, "test.yaml")


def test_values_that_no_sentence_holds_are_refused(content: dict[str, Any]) -> None:
    content["lexicon"]["noun"]["leek"] = {"class": "flower"}
    with pytest.raises(GrammarError, match=r"lexicon\.noun\.leek: no sentence uses this"):
        read_language(content, "test.yaml")


def test_choices_that_a_condition_rules_out_are_refused(content: dict[str, Any]) -> None:
    content["lexicon"]["manner"] = ["slowly"]
    content["draws"]["manner"] = {"given": "look", "choices": {"plain": ["slowly"], "described": ["slowly"]}}
    content["sentence"].append({"slot": "manner", "words": "{manner}", "when": {"look": "plain"}})
    with pytest.raises(GrammarError, match=r"draws\.manner\.choices\.described: no sentence uses this"):
        read_language(content, "test.yaml")


def test_slots_that_never_occur_are_refused(content: dict[str, Any]) -> None:
    never = {"slot": "never", "words": "really", "when": {"verb": "eat", "noun": "rose"}}
    content["sentence"].append(never)
    with pytest.raises(GrammarError, match=r"sentence\[5\]: no sentence uses this"):
        read_language(content, "test.yaml")


def test_weights_are_normalised(content: dict[str, Any], late: Case) -> None:
    content["draws"]["subject"]["weights"] = {"we": 0.75, "the children": 0.25}
    assert (read_language(content, "test.yaml").probability == late.language.probability).all()


def test_prefixes_with_the_same_future_share_a_state(content: dict[str, Any]) -> None:
    content["draws"]["noun"]["choices"] = {"pick": ["plum", "fig"], "cut": ["plum", "fig"], "eat": ["fig", "rose"]}
    language = read_language(content, "test.yaml")
    prefixes = Documents.of(language.encode(f"<bos> we {verb} ripe") for verb in ("pick", "cut", "eat"))
    pick, cut, eat = language.states(prefixes)[3::4]
    assert pick == cut != eat


def test_repeated_optional_slots_need_few_states(repeated: Case) -> None:
    # 2 x 2 subjects, 3 possible attractor counts: with all drawn at once there would be hundreds.
    assert len(repeated.language.slots) < 35
