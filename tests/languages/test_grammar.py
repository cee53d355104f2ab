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
            "top level: 'sentences': expected a known key; did you mean sentence",
        ),
        (lambda c: c.pop("draws"), "top level: .*: expected the key 'draws' too"),
        (lambda c: c["tokens"].update(structual=[]), "tokens: 'structual': .*; did you mean structural"),
        (lambda c: c["tokens"].update(begin="two words"), "tokens.begin: 'two words': expected one word"),
        (lambda c: c["tokens"].update(structural=["pick"]), "tokens that occur in the vocabulary twice: pick"),
        (lambda c: c["sentence"][1].update(words="."), "tokens that occur in the vocabulary twice: ."),
        (lambda c: c.update(mean_sentences=0.5), "mean_sentences: 0.5: expected at least 1"),
        (lambda c: c.update(mean_sentences="3"), "mean_sentences: '3': expected a number"),
        (lambda c: c.update(mean_sentences=True), "mean_sentences: true: expected a number"),
        (lambda c: c.update(mean_sentences=float("nan")), "mean_sentences: nan: expected a finite number"),
        (lambda c: c.update(lexicon=[]), r"lexicon: \[\]: expected a mapping"),
        (lambda c: c["lexicon"].update(verb=[]), r"lexicon.verb: \[\]: expected a list with at least one"),
        (
            lambda c: c["lexicon"].update(verb=["pick", "pick"]),
            r"lexicon.verb\[1\]: 'pick': expected every name once",
        ),
        (lambda c: c["lexicon"].update(verb={True: {}}), "lexicon.verb: true: expected a key that is text"),
        (
            lambda c: c["lexicon"]["noun"].update(fig={"clas": "fruit"}),
            "lexicon.noun.fig: 'clas': .* mean class",
        ),
        (lambda c: c["lexicon"]["noun"].update(fig={"class": 3}), "lexicon.noun.fig.class: 3: expected text"),
        (
            lambda c: c["lexicon"].update(verb=["pick", "{verb}"]),
            r"lexicon.verb\[1\]: '{verb}': expected text without braces",
        ),
        (
            lambda c: c["lexicon"]["noun"].update({"a}": {"class": "fruit"}}),
            "lexicon.noun.a}: 'a}': expected text without braces",
        ),
        (
            lambda c: c["lexicon"]["noun"].update(fig={"class": "{noun}"}),
            "lexicon.noun.fig.class: '{noun}': expected text without braces",
        ),
        (
            lambda c: c["lexicon"]["adjective"].append("wild"),
            "draws.adjective.weights: .*expected the key 'wild' too",
        ),
        (
            lambda c: c["lexicon"]["verb"].append("chop"),
            "draws.noun.choices.chop: missing, but the sentence needs",
        ),
        (lambda c: c["draws"].update(Noun={}), "draws.Noun: 'Noun': expected a known name; did you mean noun"),
        (lambda c: c["draws"].update({"a-b": {}}), "draws.a-b: 'a-b': expected a variable of letters"),
        (
            lambda c: c["draws"]["look"]["weights"].update(plain=0),
            "draws.look.weights.plain: 0: expected a finite",
        ),
        (lambda c: c["draws"]["look"]["weights"].update(plan=1), "draws.look.weights: 'plan': .*mean plain"),
        (lambda c: c["draws"]["noun"].pop("given"), "draws.noun: .*expected both or neither of given, choices"),
        (lambda c: c["draws"]["noun"].update(given="verbs"), "draws.noun.given: 'verbs': .*did you mean verb"),
        (
            lambda c: c["draws"]["noun"].update(given="look"),
            "draws.noun.given: 'look': expected a known variable; known: subject, verb",
        ),
        (lambda c: c["draws"]["adjective"].update(given="noun.clas"), "'noun.clas': .*did you mean class"),
        (
            lambda c: c["draws"]["noun"]["choices"].update(pick=[]),
            r"draws.noun.choices.pick: \[\]: expected a list",
        ),
        (lambda c: c["draws"]["noun"]["choices"].update(pick=["plumb"]), r"pick\[0\]: 'plumb': .*mean plum"),
        (lambda c: c["draws"]["noun"]["choices"].update(pik=["plum"]), "draws.noun.choices: 'pik': .*mean pick"),
        (lambda c: c["draws"]["adjective"]["choices"].update(herb=["red"]), "draws.adjective.choices: 'herb'"),
        (lambda c: c["draws"]["noun"]["choices"].pop("eat"), "draws.noun.choices.eat: missing"),
        (lambda c: c["draws"]["noun"].update(weights={}), "draws.noun: .*at most one of weights, rank"),
        (lambda c: c["draws"]["noun"]["rank"].update(among="choice"), "rank.among: 'choice': .*mean choices"),
        (lambda c: c["draws"]["noun"]["rank"].update(exponent="1"), "rank.exponent: '1': expected a number"),
        (lambda c: c["draws"].update(extra={"from": "verb"}), "draws.extra: no sentence uses this"),
        (
            lambda c: c["sentence"][0].update(when={}),
            r"sentence\[0\].when: {}: expected a mapping with at least one",
        ),
        (
            lambda c: c["sentence"][0].update(words="{subject"),
            r"sentence\[0\].words: '{subject': expected references",
        ),
        (
            lambda c: c["sentence"][0].update(words="{{verb}}"),
            r"sentence\[0\].words: .*expected references in pairs",
        ),
        (lambda c: c["sentence"][0].update(words="{subjct}"), r"sentence\[0\].words: 'subjct': .*mean subject"),
        (
            lambda c: c["sentence"][4].update(words="{subject.ownr}"),
            r"sentence\[4\].words: 'subject.ownr': .*mean owner",
        ),
        (
            lambda c: c["sentence"][2].update(when={"look": "descrbed"}),
            r"when.look: 'descrbed': .*mean described",
        ),
        (
            lambda c: c["sentence"][2].update(when={"loko": "plain"}),
            r"sentence\[2\].when.loko: 'loko': .*mean look",
        ),
        (lambda c: c["sentence"][2].update(wen={}), r"sentence\[2\]: 'wen': .*did you mean when"),
        (lambda c: c["withheld"][0].update(noun="plumb"), r"withheld\[0\].noun: 'plumb': .*did you mean plum"),
        (lambda c: c["withheld"][0].update(nun="plum"), r"withheld\[0\]: 'nun': .*did you mean noun"),
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
