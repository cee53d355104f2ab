import math

import pytest
from judging import cell

from seedbed.statistics.observed import ObservationKey, ObservationTable

LOSS = ObservationKey("garden", "flm", "loss", "")


def test_a_series_has_every_seed_in_order() -> None:
    rows = cell("flm", [1.0, 2.0, 3.0])
    assert list(ObservationTable(reversed(rows)).series(LOSS).items()) == [(0, 1.0), (1, 2.0), (2, 3.0)]


def test_a_reference_run_has_one_value_without_a_seed() -> None:
    assert ObservationTable(cell("flm", 1.5)).series(LOSS) == {None: 1.5}


def test_a_text_is_a_value() -> None:
    assert ObservationTable(cell("flm", math.nan, text="ValueError")).series(LOSS) == {None: "ValueError"}


def test_conditions_are_compared_by_content() -> None:
    observed = ObservationTable(cell("flm", [1.0], window="inside", distance=50))
    assert observed.series(LOSS._replace(condition="distance=50;window=inside")) == {0: 1.0}
    assert observed.series(LOSS._replace(condition="window=inside")) == {}


def test_a_seed_that_was_measured_elsewhere_is_not_dropped() -> None:
    observed = ObservationTable(cell("flm", [1.0, 2.0]) + cell("flm", [0.1, 0.2, 0.3], "excess"))
    series = observed.series(LOSS)
    assert (series[0], series[1]) == (1.0, 2.0)
    assert math.isnan(float(series[2]))


def test_a_missing_value_is_none() -> None:
    rows = cell("flm", [1.0])
    rows[0]["value"] = None
    assert math.isnan(float(ObservationTable(rows).series(LOSS)[0]))


def test_a_key_that_occurs_twice_is_an_error_that_names_it() -> None:
    with pytest.raises(ValueError, match=r"study garden, seed 1: flm loss \(epoch=2\) was measured twice"):
        ObservationTable(cell("flm", [1.0, 2.0], epoch=2) + cell("flm", [3.0, 4.0], epoch=2)[1:])


def test_a_missing_key_is_named_with_the_nearest_known_one() -> None:
    observed = ObservationTable(cell("flm", [1.0], "excess", sentences="all"))
    assert observed.explain_missing(LOSS._replace(run="gru")) == "there is no observation of garden/gru"
    wrong = LOSS._replace(metric="exces", condition="sentences=all")
    assert (
        observed.explain_missing(wrong)
        == "garden has no flm exces (sentences=all); the nearest is flm excess (sentences=all)"
    )
