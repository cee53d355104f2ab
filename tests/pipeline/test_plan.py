"""Which files a job reads, and that its fingerprint covers each of them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from seedbed.configuration.claim_files import read_claims
from seedbed.configuration.configuration import ROOT, Configuration
from seedbed.configuration.yaml import ConfigError
from seedbed.evaluations import perplexity
from seedbed.pipeline.fingerprint import closure
from seedbed.pipeline.jobs.corpus import Corpus
from seedbed.pipeline.jobs.job import Job, JobError
from seedbed.pipeline.jobs.pages import LecturePage
from seedbed.pipeline.jobs.training import Training
from seedbed.pipeline.lectures import lectures
from seedbed.pipeline.plan import Plan, check

STUDY = """
title: A study
lead: Of runs that read different corpora.
rebuilt: true
data:
  text: {language: garden, training: 10, validation: 4, test: 4}
runs:
  flm:
    label: Transformer
    model: {kind: transformer}
    objective: {kind: flm}
  pinned:
    label: all seeds on the corpus of seed 7
    model: {kind: transformer}
    objective: {kind: flm}
    streams: {data: 7}
  exact: {label: the language itself, kind: exact}
  ngram: {label: n-grams, kind: ngram, options: {corpus_seed: 3}}
evaluations:
  perplexity: {}
"""


def make(root: Path, study: str = STUDY) -> Plan:
    (root / "config/studies").mkdir(parents=True, exist_ok=True)
    (root / "config/languages").mkdir(exist_ok=True)
    (root / "config/config.yaml").write_text("studies: [garden]\nseeds: 2\n")
    (root / "config/studies/garden.yaml").write_text(study)
    (root / "config/languages/garden.yaml").write_text((ROOT / "config/languages/garden.yaml").read_text())
    return Plan(Configuration(root=root))


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return make(tmp_path)


def test_an_evaluation_reads_the_corpus_behind_each_prediction(plan: Plan) -> None:
    def corpora(run: str) -> list[int | None]:
        inputs = plan.measurement("garden", run, "perplexity").inputs
        return [one.seed for one in inputs if isinstance(one, Corpus) and one.split == "training"]

    assert corpora("flm") == [0, 1]
    assert corpora("pinned") == [7]
    assert corpora("ngram") == [3]
    assert corpora("exact") == []


def test_only_a_trained_run_has_weights_to_read(plan: Plan) -> None:
    def trainings(run: str) -> list[int]:
        inputs = plan.measurement("garden", run, "perplexity").inputs
        return [one.seed for one in inputs if isinstance(one, Training)]

    assert trainings("flm") == [0, 1]
    assert trainings("ngram") == []


def test_every_input_is_the_output_of_an_earlier_job(plan: Plan) -> None:
    known: set[Job] = set()
    for job in plan.jobs:
        assert set(job.inputs) <= known
        known.add(job)


def test_no_file_is_written_by_two_jobs(plan: Plan) -> None:
    written = [path for job in plan.jobs for path in job.outputs]
    assert len(set(written)) == len(written)


def test_an_unknown_file_is_written_by_no_job(plan: Plan) -> None:
    with pytest.raises(JobError, match=r"results/x\.parquet: no job of the present configuration"):
        plan.job("results/x.parquet")


def test_a_reference_depends_on_its_corpus_and_on_no_other(tmp_path: Path) -> None:
    def rows(study: str) -> list[str]:
        plan = make(tmp_path, study)
        measurements = [plan.measurement("garden", run, "perplexity") for run in ("exact", "ngram")]
        return [one.rows[None]["fingerprint"] for one in measurements]

    exact, ngram = rows(STUDY)
    assert rows(STUDY.replace("training: 10", "training: 11"))[0] == exact
    for edit in (("training: 10", "training: 11"), ("corpus_seed: 3", "corpus_seed: 4")):
        assert rows(STUDY.replace(*edit))[1] != ngram


def test_a_right_configuration_passes_the_check(plan: Plan) -> None:
    check(plan.configuration)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (
            ("label: Transformer\n", "label: T\n    training: {epochs: 0}\n"),
            r"runs\.flm\.training: epochs 0: expected",
        ),
        (
            ("label: Transformer\n", "label: T\n    training: {batch: 0}\n"),
            r"runs\.flm\.training: batch 0: expected",
        ),
        (("corpus_seed: 3", "order: 0"), r"runs\.ngram\.options: order 0: expected"),
        (("kind: transformer}", "kind: transformer, d_model: 5}"), r"runs\.flm\.model: .*d_model"),
        (
            ("evaluations:", "tune: {run: flm, seeds: 1, grid: [{}, {d_model: 5}]}\nevaluations:"),
            r"garden\.yaml: tune\.grid\[1\]: .*d_model",
        ),
    ],
)
def test_the_check_builds_every_plugins_options(tmp_path: Path, edit: tuple[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        check(make(tmp_path, STUDY.replace(*edit)).configuration)


def test_the_check_builds_the_options_of_evaluations(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: perplexity.Options) -> None:
        raise ValueError("refused")

    monkeypatch.setattr(perplexity.Options, "__init__", refuse)
    with pytest.raises(ConfigError, match=r"garden\.yaml: evaluations\.perplexity\.options: refused"):
        check(plan.configuration)


def test_a_run_computes_with_the_mixer_that_it_names_and_no_other() -> None:
    plan = Plan(Configuration())
    for run, mixer, other in [("flm", "attention", "gated_linear"), ("gla", "gated_linear", "attention")]:
        covered = closure(plan.training("garden", run, 0).modules)
        assert f"seedbed.models.mixers.{mixer}" in covered
        assert f"seedbed.models.mixers.{other}" not in covered


CLAIMS = """
claims:
  notes:own:
    says: On the study alone.
    section: "1"
    check: &check {kind: bound, of: {study: garden, run: exact, metric: divergence}, at_most: 1}
  notes:again:
    says: The same.
    section: "1"
    same_as: ["notes:own"]
  notes:beside:
    says: On the study and a demonstration.
    section: "1"
    check:
      kind: all
      of: [*check, {kind: exact, of: {study: demonstrations, run: garden-facts, metric: vocabulary}, to: 100}]
  notes:fact:
    says: On a demonstration alone.
    section: "1"
    fact: {garden-facts: {vocabulary: 100}}
  notes:fast:
    says: On a time.
    section: "1"
    check: {kind: bound, of: {study: demonstrations, run: attention-speed, metric: loop_ratio}, at_least: 100}
  notes:faster:
    says: The same again.
    section: "1"
    same_as: ["notes:fast"]
  notes:elsewhere:
    says: On a study that is not built now.
    section: "1"
    check: {kind: bound, of: {study: farm, run: exact, metric: divergence}, at_most: 1}
"""


@pytest.fixture
def claimed(tmp_path: Path) -> Plan:
    """A plan with claims that rest on one study, on a demonstration, on both, and on a study that is not built."""
    make(tmp_path)
    (tmp_path / "config/claims").mkdir()
    (tmp_path / "config/claims/notes.yaml").write_text(CLAIMS)
    (tmp_path / "config/studies/farm.yaml").write_text(STUDY)
    shutil.copy(ROOT / "config/demonstrations.yaml", tmp_path / "config")
    shutil.copy(ROOT / "config/languages/farm.yaml", tmp_path / "config/languages")
    return Plan(Configuration(root=tmp_path))


def test_a_claim_is_judged_with_the_one_study_that_it_rests_on(claimed: Plan) -> None:
    found = {one.study: (list(one.claims), one.parts) for one in claimed.study_verdicts}
    assert found["garden"][0] == ["notes:own", "notes:again", "notes:beside"]
    assert claimed.demonstration("garden-facts") in found["garden"][1]
    assert claimed.demonstration("farm-facts") not in found["garden"][1]
    assert found["demonstrations"][0] == ["notes:fact"]
    assert found["timings"][0] == ["notes:fast", "notes:faster"]


def test_a_lecture_has_a_page_of_the_demonstrations_that_its_claims_rest_on(claimed: Plan) -> None:
    pages = {one.outputs[0].stem: one.lecture.claims for one in claimed.pages if isinstance(one, LecturePage)}
    assert pages["lecture-notes"] == {
        "garden-facts": ("notes:fact",),
        "attention-speed": ("notes:fast", "notes:faster"),
    }
    assert set(pages["demonstrations"]) == set(claimed.configuration.demonstrations) - set(pages["lecture-notes"])


def test_claims_beside_a_demonstration_are_in_the_order_of_their_sections(claimed: Plan) -> None:
    path = claimed.configuration.root / "config/claims/notes.yaml"
    more = """
  notes:later:
    says: In section ten.
    section: "2.10"
    fact: {farm-facts: {vocabulary: 100}}
  notes:sooner:
    says: In section nine.
    section: "2.9"
    fact: {farm-facts: {vocabulary: 100}}
  notes:first:
    says: In section one.
    section: "1.4"
    fact: {parity: {"largest_difference": 0}}
"""
    path.write_text(CLAIMS + more)
    found = lectures(read_claims(claimed.configuration.root), ["farm-facts", "parity", "garden-facts"])
    assert [one.page for one in found] == ["lecture-notes"]
    assert found[0].claims["farm-facts"] == ("notes:sooner", "notes:later")
    assert list(found[0].claims) == ["garden-facts", "parity", "farm-facts"]


def test_what_is_measured_in_seconds_is_kept_apart(claimed: Plan) -> None:
    timed = claimed.demonstration("attention-speed")
    assert timed.outputs == (Path("results/timings/attention-speed.parquet"),)
    assert timed in claimed.timings.inputs
    assert timed not in claimed.observations.parts
    assert "notes:fast" not in claimed.verdicts.claims
    assert {name for one in claimed.all_verdicts for name in one.claims} == claimed.claims.claims.keys()
    readers = [job for job in claimed.jobs if timed in job.inputs]
    assert [job.outputs[0].name for job in readers if job not in claimed.pages] == [
        "timings.parquet",
        "timings.parquet",
    ]


def test_a_claim_file_that_means_nothing_stops_no_training(claimed: Plan) -> None:
    path = claimed.configuration.root / "config/claims/notes.yaml"
    path.write_text("claims: {")
    plan = Plan(Configuration(root=claimed.configuration.root))
    output = claimed.training("garden", "flm", 0).weights
    assert plan.job(output).fingerprint == claimed.training("garden", "flm", 0).fingerprint
    with pytest.raises(ConfigError):
        plan.job("results/verdicts.parquet")
