"""What `seedbed check` says of a number that moved."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest

from seedbed.commands import checking
from seedbed.commands.checking import line
from seedbed.statistics.comparison import ComparedItem


def watched(reference: float | None, now: float | None) -> ComparedItem:
    return ComparedItem("watched", "garden", "flm", None, "loss", "", "moved", True, reference, now)


def test_a_number_where_the_reference_has_none_is_told() -> None:
    assert line(watched(None, 1.5)) == "garden/flm: loss: was no number, is 1.5"


def test_a_number_that_became_none_is_told() -> None:
    assert line(watched(1.5, None)) == "garden/flm: loss: was 1.5, is no number"


def row(
    outcome: str, study: str = "garden", decides: bool = True, run: str = "flm", now: float = 1.5
) -> ComparedItem:
    return ComparedItem("row", study, run, 0, "loss", "", outcome, decides, 1.5, now)


def checked(*found: ComparedItem, verdict: str = "reproduced", junit: Path | None = None) -> int:
    """The exit code of a check of a whole build of the garden, which has a reference, with this comparison."""
    built = {"id": "objectives:it", "by_construction": True, "outcome": verdict, "explanation": "It is 2."}
    configuration = SimpleNamespace(quick=False, studies={"garden": None})
    comparison = SimpleNamespace(read=lambda: found)
    observations = SimpleNamespace(read=lambda: pa.table({}))
    plan = SimpleNamespace(
        configuration=configuration,
        references={"garden": ""},
        demonstrations=(),
        pending=list,
        observations=observations,
        comparison=comparison,
        verdicts=SimpleNamespace(read=lambda: [built]),
    )
    return checking.check(plan, junit)


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        ([], checking.INCOMPLETE),
        (["new", "other recipe"], checking.INCOMPLETE),
        (["new", "same"], checking.SAME),
        (["other recipe", "same"], checking.INCOMPLETE),
        (["other recipe", "moved"], checking.MOVED),
        (["same", "missing"], checking.MOVED),
        (["same", "moved"], checking.MOVED),
    ],
)
def test_only_what_was_compared_can_be_the_same(outcomes: list[str], code: int) -> None:
    assert checked(*map(row, outcomes)) == code


def test_the_studies_whose_rows_decide_nothing_are_named() -> None:
    said = checking.summary([row("moved", "farm", decides=False), row("same")])
    assert "observations: 1 same, 1 moved, 0 missing; those of farm decide nothing: libraries" in said


def test_runs_of_another_recipe_are_named_with_what_they_were(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    junit = tmp_path / "junit.xml"
    assert checked(row("same"), row("other recipe", run="wide", now=1.75), junit=junit) == checking.INCOMPLETE
    said = capsys.readouterr().out
    assert "The recipe of these runs is not that of the reference" in said
    assert "garden/wide, seed 0: loss: 1.5, 1.75" in said
    assert "`make reference STUDY=garden`" in said
    suite = ElementTree.parse(junit).getroot().find("testsuite")
    assert suite is not None
    assert (suite.get("failures"), suite.get("skipped")) == ("0", "1")
    skipped = [case.get("classname") for case in suite if case.find("skipped") is not None]
    assert skipped == ["garden/wide"]


def test_a_claim_that_holds_by_construction_and_is_contradicted_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    junit = tmp_path / "junit.xml"
    assert checked(row("same"), verdict="contradicted", junit=junit) == checking.MOVED
    assert "objectives:it: It is 2." in capsys.readouterr().out
    cases = [case.get("name") for case in ElementTree.parse(junit).getroot().iter("testcase") if len(case)]
    assert cases == ["objectives:it: It is 2."]
