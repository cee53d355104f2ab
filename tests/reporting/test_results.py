import math
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from seedbed.observations import Observation, rows
from seedbed.reporting.results import Measure, Results
from seedbed.reporting.sentences import lowest

LOSS = Measure("loss", "loss", "loss", "nat", {"sentences": "all"})
PERPLEXITY = Measure("perplexity", "perplexity", "loss", "perplexity", {"sentences": "all"}, exponentiated=True)
RECALL = Measure("recall", "recall", "recall", "share")


def test_an_unplanned_seed_is_never_averaged_in(drawn: ModuleType) -> None:
    table = drawn.draw_observations(drawn.trained(seeds=5))
    run = drawn.trained(seeds=3)
    interval = Results(table, drawn.study(run)).interval(run, LOSS)
    kept = table[(table["metric"] == "loss") & (table["condition"] == "sentences=all") & (table["seed"] < 3)]
    assert interval.n == 3
    assert interval.mean == pytest.approx(kept["value"].mean())


def test_runs_are_named_in_the_order_that_is_asked_for_and_those_that_a_build_lacks_are_left_out(
    drawn: ModuleType,
) -> None:
    runs = (drawn.trained(), drawn.EXACT, drawn.trained("gru"))
    results = Results(drawn.draw_observations(*runs), drawn.study(*runs))
    assert [run.name for run in results.named(["gru", "absent", "exact", "flm"])] == ["gru", "exact", "flm"]


def test_the_lowest_of_several_measures_is_told_of_the_seeds_that_have_all_of_them(drawn: ModuleType) -> None:
    run = drawn.trained(seeds=4)
    values = {0: (0.5, 0.25), 1: (0.75, 1.0), 2: (0.5, math.nan)}
    found = [
        row
        for seed, pair in values.items()
        for at, value in enumerate(pair)
        for row in rows([Observation("recall", value, {"at": at}, "share")], study="garden", run="flm", seed=seed)
    ]
    results = Results(drawn.table(found), drawn.study(run, drawn.EXACT))
    both = [RECALL.at({"at": at}) for at in (0, 1)]
    assert lowest(results, run, both) == {0: 0.25, 1: 0.75}
    assert lowest(results, run, []) == lowest(results, drawn.EXACT, both) == {}


def test_a_planned_seed_without_a_row_is_none_and_counted_as_missing(drawn: ModuleType) -> None:
    run = drawn.trained(seeds=3)
    results = Results(drawn.draw_observations(drawn.trained(seeds=2)), drawn.study(run))
    assert results.values(run, LOSS)[2] is None
    assert "n = 2 of 3" in results.note(run, LOSS)


def test_a_cell_that_stands_twice_is_refused(drawn: ModuleType) -> None:
    table = drawn.draw_observations(drawn.trained())
    with pytest.raises(ValueError, match="two observations"):
        Results(pd.concat([table, table.iloc[:1]]), drawn.study(drawn.trained()))


def test_conditions_are_found_in_any_order_of_their_keys(drawn: ModuleType) -> None:
    found = rows([Observation("loss", 1.0)], study="garden", run="flm", seed=0) * 1
    found[0]["condition"] = "layer=2;distance=50"
    run = drawn.trained(seeds=1)
    measure = Measure("loss", "loss", "loss", "nat", {"distance": 50, "layer": 2})
    assert Results(drawn.table(found), drawn.study(run)).values(run, measure) == {0: 1.0}


def test_perplexity_is_the_exponential_of_the_mean_loss(drawn: ModuleType) -> None:
    run = drawn.trained()
    results = Results(drawn.draw_observations(run), drawn.study(run))
    losses = list(results.values(run, LOSS).values())
    assert results.interval(run, PERPLEXITY).mean == pytest.approx(math.exp(np.mean(losses)))


def test_seeds_that_all_score_one_get_the_interval_of_one_test_set(drawn: ModuleType) -> None:
    run = drawn.trained()
    found = [
        row
        for seed in run.seeds
        for row in rows([Observation("recall", 1.0, unit="share", n=500)], study="garden", run="flm", seed=seed)
    ]
    interval = Results(drawn.table(found), drawn.study(run)).interval(run, RECALL)
    assert 0.99 < interval.low < interval.high == 1.0


@pytest.mark.parametrize("score", [0.0, 1.0])
def test_one_seed_has_no_interval_whatever_it_scores(drawn: ModuleType, score: float) -> None:
    run = drawn.trained(seeds=1)
    found = rows([Observation("recall", score, unit="share", n=500)], study="garden", run="flm", seed=0)
    results = Results(drawn.table(found), drawn.study(run))
    assert not results.interval(run, RECALL).defined
    assert results.note(run, RECALL).endswith("[undefined, one seed]")


def test_a_measure_over_a_condition_is_found_under_all_its_values_in_their_order(drawn: ModuleType) -> None:
    found = [
        row
        for distance in (100, 9, 20)
        for row in rows(
            [Observation("recall", 0.5, {"distance": distance, "layer": 1})], study="garden", run="flm", seed=0
        )
    ]
    results = Results(drawn.table(found), drawn.study(drawn.trained(seeds=1)))
    over = results.over(Measure("recall", "recall", "recall", "share", {"layer": 1}), "distance")
    assert list(over) == [(9,), (20,), (100,)]
    assert over[(9,)].condition == {"layer": 1, "distance": 9}
    assert not results.over(RECALL, "distance")  # of other layers, too, nothing is known


def test_what_was_measured_of_a_seed_that_is_not_planned_is_no_measure(drawn: ModuleType) -> None:
    found = rows([Observation("recall", 0.5, {"distance": 3})], study="garden", run="flm", seed=7)
    assert Results(drawn.table(found), drawn.study(drawn.trained(seeds=1))).metrics == ()


def test_a_non_finite_seed_is_told_and_never_averaged_away(drawn: ModuleType) -> None:
    run = drawn.trained()
    table = drawn.draw_observations(run)
    table.loc[(table["seed"] == 2) & (table["metric"] == "loss"), "value"] = math.nan
    results = Results(table, drawn.study(run))
    assert math.isnan(results.interval(run, LOSS).mean)
    assert results.note(run, LOSS) == "a seed is non-finite, n = 5"
