"""How much of the configuration is built: all, the reference, or what is quick."""

from __future__ import annotations

import pytest

from seedbed.configuration import plugins
from seedbed.configuration.claim_files import settings
from seedbed.configuration.configuration import FEW_DOCUMENTS, QUICK_EPOCHS, ROOT, SENTINEL_STEPS, Configuration
from seedbed.configuration.yaml import ConfigError
from seedbed.pipeline.plan import Plan


def seeds(**overrides: object) -> dict[tuple[str, str], int]:
    """How often each run trains."""
    found: dict[tuple[str, str], int] = {}
    for one in Plan(Configuration(overrides)).trainings:
        found[one.study, one.run] = found.get((one.study, one.run), 0) + 1
    return found


def test_a_reference_has_more_seeds_but_where_a_run_names_its_own() -> None:
    report, reference = seeds(), seeds(scope="reference")
    runs = {
        (study, name): run for study, entry in Configuration().studies.items() for name, run in entry.runs.items()
    }
    assert report.keys() == reference.keys()
    for name, number in reference.items():
        assert (number, report[name]) == ((runs[name].seeds,) * 2 if runs[name].seeds else (10, 5))


def test_seeds_of_the_command_line_hold_for_every_run() -> None:
    assert set(seeds(seeds=2).values()) == {2}


@pytest.mark.parametrize("scope", ["quick", "sentinels"])
def test_a_quick_build_has_one_seed_of_the_runs_that_are_marked(scope: str) -> None:
    marked = {
        (study, name)
        for study, entry in Configuration().studies.items()
        for name, run in entry.runs.items()
        if run.quick
    }
    assert seeds(scope=scope) == dict.fromkeys(marked, 1)
    configuration = Configuration({"scope": scope})
    assert not any(map(configuration.full, configuration.studies))


def test_what_is_quick_touches_every_plugin_in_use_every_mixer_and_position_encoding() -> None:
    def used(scope: str, **studies: object) -> set[tuple[str, object]]:
        plan = Plan(Configuration({"scope": scope, **studies}))
        found: set[tuple[str, object]] = {
            ("evaluations", evaluation) for one in plan.measurements for evaluation in [one.entry.kind]
        }
        for run in [one.entry for one in plan.trainings]:
            found |= {("models", run.model["kind"]), ("objectives", run.objective["kind"])}
            found |= {(key, run.model[key]) for key in ("cell", "mixer", "positions") if key in run.model}
        return found

    missing = used("report") - used("quick")
    assert not missing, f"no quick build uses {missing}: mark a run that does `quick: true`"
    # A study that config.yaml does not name is built by STUDY= alone.
    everywhere = used("report", studies=sorted(file.stem for file in (ROOT / "config/studies").glob("*.yaml")))
    mixers = {("mixer", file.stem) for file in (plugins.PACKAGE / "models" / "mixers").glob("[!_]*.py")}
    unused = (mixers | {("models", name) for name in plugins.names("models")}) - everywhere
    assert not unused, f"no study uses {unused}: add a run that does, or delete the file"


def test_a_quick_build_trains_briefly_and_measures_on_few_documents() -> None:
    plan = Plan(Configuration({"scope": "quick"}))
    for one in plan.trainings:
        assert int(one.entry.training["epochs"]) <= QUICK_EPOCHS
        assert one.corpus.entry.test <= FEW_DOCUMENTS


def test_settings_are_judged_by_what_the_files_say_whatever_the_scope() -> None:
    found = [Plan(Configuration({"scope": scope})) for scope in ("report", "quick")]
    judged = [settings(plan.claims, plan.configuration) for plan in found]
    assert judged[0] == judged[1]


def test_a_sentinel_trains_so_many_steps() -> None:
    plan = Plan(Configuration({"scope": "sentinels"}))
    for one in plan.trainings:
        assert one.entry.training["epochs"] == 1
        assert one.corpus.size / int(one.entry.training["batch"]) == SENTINEL_STEPS


def test_an_unknown_scope_names_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"--config: scope: .*quick"):
        Configuration({"scope": "quik"})


def test_a_quick_build_is_compared_with_no_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert Plan(Configuration()).references
    assert not Plan(Configuration({"scope": "quick"})).references
