"""The schema says what a claim may say."""

from typing import Any

import pytest
from judging import cell, claim, of
from pydantic import ValidationError

from seedbed.statistics.claims import Claim, Operand, expand
from seedbed.statistics.observed import ObservationTable
from seedbed.statistics.verdicts import Verdict, verdicts


def test_a_list_in_where_stands_for_one_number_each_in_the_order_given() -> None:
    operand = Operand.model_validate(of("flm", where={"epoch": [2, 1], "token": ["my", "our"]}))
    assert operand.conditions == [
        {"epoch": 2, "token": "my"},
        {"epoch": 2, "token": "our"},
        {"epoch": 1, "token": "my"},
        {"epoch": 1, "token": "our"},
    ]
    assert Operand.model_validate(of("flm")).conditions == [{}]


def test_a_claim_knows_every_operand_of_nested_checks() -> None:
    bound = {"kind": "bound", "of": of("a", minus="b"), "at_least": 0}
    order = {"kind": "order", "of": [of("c"), of("d")], "margin": 1}
    both = claim({"kind": "all", "of": [bound, {"kind": "all", "of": [order, bound]}]})
    assert [run for operand in both.operands for run in operand.runs] == ["a", "b", "c", "d", "a", "b"]


@pytest.mark.parametrize(
    ("check", "message"),
    [
        ({"kind": "exact", "of": of("a"), "to": float("nan")}, "finite number"),
        ({"kind": "exact", "of": of("a"), "to": [1, 2]}, "2 values for the 1 numbers"),
        ({"kind": "exact", "of": of("a", seeds="sd"), "to": 1}, "reads the mean over seeds"),
        ({"kind": "band", "of": of("a"), "to": 1}, "margin\n  Field required"),
        ({"kind": "band", "of": of("a"), "to": 1, "margin": 0}, "greater than 0"),
        ({"kind": "band", "of": of("a"), "to": 1, "margin": float("inf")}, "finite number"),
        ({"kind": "band", "of": of("a"), "to": 1, "margin": "0.1"}, "valid number"),
        ({"kind": "band", "of": of("a"), "to": 1, "margin": True}, "valid number"),
        ({"kind": "band", "of": of("a", seeds="sd"), "to": 1, "margin": 1}, "needs at least 2"),
        (
            {"kind": "band", "of": of("a", seeds="share", passes={"at_least": 0}), "to": 1, "margin": 1},
            "use bound",
        ),
        ({"kind": "bound", "of": of("a")}, "needs at_least, at_most or both"),
        ({"kind": "bound", "of": of("a"), "at_least": 2, "at_most": 1}, "at_least 2 is above at_most 1"),
        ({"kind": "bound", "of": of("a", seeds="share"), "at_least": 0.5}, "need each other"),
        (
            {"kind": "bound", "of": of("a", seeds="share", passes={"at_least": 0}), "at_least": 90},
            "at_least 90: a share of seeds lies between 0 and 1",
        ),
        ({"kind": "bound", "of": of("a", passes={"at_least": 0}), "at_least": 0.5}, "need each other"),
        ({"kind": "bound", "of": of("a", seeds="share", passes={}), "at_least": 0.5}, "needs at_least"),
        ({"kind": "bound", "of": of("a", seeds="share", passes={"count": 1}), "at_least": 0.5}, "needs at_least"),
        (
            {"kind": "bound", "of": of("a", seeds="share", passes={"at_least": 0, "count": 2}), "at_least": 0.5},
            "2 of only 1 numbers",
        ),
        (
            {"kind": "bound", "of": of("a", seeds="share", passes={"at_least": 2, "at_most": 1}), "at_least": 0.5},
            "at_least 2 is above at_most 1",
        ),
        ({"kind": "exists", "of": of("a")}, "needs at_least, at_most or both"),
        ({"kind": "exists", "of": of("a"), "at_least": 2, "at_most": 1}, "at_least 2 is above at_most 1"),
        ({"kind": "exists", "of": of("a"), "at_least": 2, "count": 2}, "count: 2 of only 1 numbers"),
        ({"kind": "noise", "of": [of("a")], "to": of("a"), "at_most": 1}, "at least two numbers"),
        (
            {"kind": "noise", "of": [of("a"), of("b")], "to": of("a", where={"d": [1, 2]}), "at_most": 1},
            "the seed noise of one number",
        ),
        ({"kind": "order", "of": [of("a")], "margin": 1}, "at least two numbers"),
        ({"kind": "order", "of": [of("a"), of("b")], "margin": 0}, "no size"),
        ({"kind": "equivalent", "of": [], "margin": 1}, "at least 1 item"),
        ({"kind": "equivalent", "of": [of("a"), of("b")], "margin": -1}, "greater than 0"),
        ({"kind": "all", "of": [{"kind": "bound", "of": of("a"), "at_least": 0}]}, "at least 2 items"),
    ],
)
def test_a_check_that_contradicts_itself_is_refused(check: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        claim(check)


@pytest.mark.parametrize(
    "ways",
    [
        {},
        {"fact": {"a": {"b": 1}}, "same_as": ["a:b"]},
        {"same_as": ["a:b"], "setting": {"study": "a", "values": {"b": 1}}},
    ],
)
def test_a_claim_is_decided_in_exactly_one_way(ways: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="exactly one of check, fact, setting and same_as"):
        Claim.model_validate({"says": "x", "section": "1"} | ways)


def test_a_chain_may_be_one_operand_with_a_list() -> None:
    assert claim({"kind": "order", "of": [of("a", where={"epoch": [1, 2]})], "margin": 1}).check


def fact(**facts: dict[str, Any]) -> Claim:
    """A claim in short form, on demonstrations whose names have hyphens for underscores."""
    named = {name.replace("_", "-"): metrics for name, metrics in facts.items()}
    return expand(Claim.model_validate({"says": "It is so.", "section": "1", "fact": named}))


def found(said: Claim, value: float | str, metric: str = "size", **condition: str | int) -> Verdict:
    """The verdict where one demonstration, `facts`, finds a value."""
    text = value if isinstance(value, str) else ""
    number = float("nan") if text else float(value)
    rows = cell("facts", number, metric, text=text, study="demonstrations", **condition)
    (verdict,) = verdicts({"lecture:it": said}, ObservationTable(rows), {}, ("demonstrations/rebuilt",))
    return verdict


@pytest.mark.parametrize(
    ("stated", "right", "wrong"),
    [
        (100, 100, 100.5),
        (0, 0, 1e-6),
        (-3, -3, 3),
        (3.655, 3.6546, 3.6544),
        (3.655, 3.6554, 3.6556),
        (0.056, 0.0555, 0.05549),  # both ends belong to it, though no float is at the end
        (-0.25, -0.2451, -0.2449),
        (2.0, 2.04, 2.06),
        (1e-5, 1.4e-5, 1.6e-5),
        ("1.330", 1.3304, 1.3306),
        (1.33, 1.3306, 1.336),  # YAML drops the zero
        ("-0.50", -0.504, -0.506),
        (12345.6789, 12345.67894, 12345.67896),
        ("she picks it .", "she picks it .", "she picks it"),
        ("12", "12", 12),  # a text, for what is one
    ],
)
def test_a_fact_holds_to_the_last_digit_that_is_stated(
    stated: float | str, right: float | str, wrong: float | str
) -> None:
    said = fact(facts={"size": stated})
    assert found(said, right).outcome == "reproduced"
    assert found(said, wrong).outcome == "contradicted"


def test_a_fact_says_what_is_expected_with_half_a_unit_of_its_last_digit() -> None:
    assert found(fact(facts={"size": 3.655}), 3.6549).expected == "3.655 (margin 0.0005)"
    assert found(fact(facts={"size": 100}), 100).expected == "100"


def test_a_fact_of_a_rebuilt_language_differs_where_it_is_missed() -> None:
    for stated in (7, 3.655):
        rows = cell("rebuilt", 4, "size", study="demonstrations")
        said = {"lecture:it": fact(rebuilt={"size": stated})}
        (verdict,) = verdicts(said, ObservationTable(rows), {}, ("demonstrations/rebuilt", "garden"))
        assert verdict.outcome == "differs"


def test_a_metric_in_a_fact_is_written_with_its_condition() -> None:
    said = fact(facts={"after(word=in;next=tail slot)": 1, "place(attractors=3)": 12})
    assert [(one.study, one.run, one.metric, one.where) for one in said.operands] == [
        ("demonstrations", "facts", "after", {"word": "in", "next": "tail slot"}),
        ("demonstrations", "facts", "place", {"attractors": 3}),
    ]
    assert found(fact(facts={"place(attractors=3)": 12}), 12, "place", attractors=3).outcome == "reproduced"


def test_all_facts_of_a_claim_must_hold() -> None:
    both = fact(facts={"size": 1}, more_facts={"size": 2})
    assert [one.run for one in both.operands] == ["facts", "more-facts"]
    rows = [
        *cell("facts", 1, "size", study="demonstrations"),
        *cell("more-facts", 3, "size", study="demonstrations"),
    ]
    assert verdicts({"lecture:it": both}, ObservationTable(rows), {}, ())[0].outcome == "contradicted"


def test_a_fact_is_the_check_that_it_stands_for() -> None:
    check = {"kind": "exact", "of": of("facts", "size") | {"study": "demonstrations"}, "to": 3}
    assert fact(facts={"size": 3}).check == claim(check).check
    assert expand(claim(check)) == claim(check)


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"a": {}},
        {"a": {"size": True}},
        {"a": {"size": None}},
        {"a": {"size": [1, 2]}},
        {"A": {"size": 1}},
        {"a": {"Size": 1}},
        {"a": {"size()": 1}},
        {"a": {"size(x)": 1}},
        {"a": {"size(x=1": 1}},
        {"a": {"size(x=1;)": 1}},
    ],
)
def test_a_fact_that_means_nothing_is_refused(facts: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="fact"):
        Claim.model_validate({"says": "It is so.", "section": "1", "fact": facts})
