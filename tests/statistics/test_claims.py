"""The schema says what a claim may say."""

from typing import Any

import pytest
from judging import claim, of
from pydantic import ValidationError

from seedbed.statistics.claims import Claim, Operand


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


@pytest.mark.parametrize("ways", [{}, {"same_as": ["a:b"], "setting": {"study": "a", "values": {"b": 1}}}])
def test_a_claim_is_decided_in_exactly_one_way(ways: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="exactly one of check, setting and same_as"):
        Claim.model_validate({"says": "x", "section": "1"} | ways)


def test_a_chain_may_be_one_operand_with_a_list() -> None:
    assert claim({"kind": "order", "of": [of("a", where={"epoch": [1, 2]})], "margin": 1}).check
