"""The project as it is committed: its configuration means something, and its documents are finished."""

from __future__ import annotations

import re

import pytest

from seedbed.configuration.configuration import ROOT, Configuration
from seedbed.pipeline.plan import Plan, check


@pytest.fixture(scope="module")
def plan() -> Plan:
    return Plan(Configuration())


def test_every_study_grammar_plugin_and_claim_is_right(plan: Plan) -> None:
    check(plan.configuration)
    assert plan.claims.claims


def test_every_run_is_measured(plan: Plan) -> None:
    measured = {(one.study, one.run) for one in plan.measurements}
    assert measured == {(name, run) for name, study in plan.configuration.studies.items() for run in study.runs}


def test_the_runs_of_a_study_that_train_differ(plan: Plan) -> None:
    recipes = [one.recipe for one in plan.trainings]
    assert len(set(recipes)) == len(recipes)


def test_fingerprints_are_computed_once(plan: Plan) -> None:
    """A build asks for most of them many times; parsing the workflow must stay quick."""
    for one in (plan.measurements[0], plan.trainings[0], plan.corpora[0]):
        assert one.fingerprint is one.fingerprint
        assert plan.job(one.outputs[0]) is one


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "config/README.md", "config/claims/README.md"])
def test_documents_have_no_placeholder_and_no_dead_link(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert not re.findall(r"\b(?:TODO|FIXME|XXX|DECISIONS|LANGUAGE|INSTALL|REPORT|TESTTIME)\b", text)
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", text)
    assert all((ROOT / name).parent.joinpath(link).exists() for link in links)
