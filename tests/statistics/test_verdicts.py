"""The verdict that the page and `make claim` show, and every way in which a claim must not pass."""

import math
from typing import Any

import numpy as np
import pytest
from judging import cell, claim, judge, of

from seedbed.statistics.claims import Claim
from seedbed.statistics.decisions import MORE_SEEDS, NO_SEEDS
from seedbed.statistics.explanations import possible_words
from seedbed.statistics.observed import ObservationKey, ObservationTable
from seedbed.statistics.questions import undecidable
from seedbed.statistics.verdicts import Verdict, expected_wrong, unmeasured, verdicts

CHECKS: dict[str, dict[str, Any]] = {
    "exact": {"kind": "exact", "of": of("a"), "to": 1},
    "band": {"kind": "band", "of": of("a"), "to": 1, "margin": 1},
    "noise": {"kind": "band", "of": of("a", seeds="sd"), "to": 1, "margin": 0.5, "lecture_runs": 2},
    "bound": {"kind": "bound", "of": of("a"), "at_most": 2},
    "perplexity": {"kind": "bound", "of": of("a", scale="perplexity"), "at_most": 9},
    "difference": {"kind": "bound", "of": of("a", minus="b"), "at_most": 2},
    "share": {"kind": "bound", "of": of("a", seeds="share", passes={"at_most": 2}), "at_least": 0.5},
    "order": {"kind": "order", "of": [of("b"), of("a")], "margin": 0.5},
    "equivalent": {"kind": "equivalent", "of": [of("a"), of("b")], "margin": 3},
    "all": {
        "kind": "all",
        "of": [{"kind": "exact", "of": of("b"), "to": 2}, {"kind": "bound", "of": of("a"), "at_most": 2}],
    },
}
each_check = pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)


@each_check
def test_equal_seeds_give_a_decision_and_no_warning(check: dict[str, Any]) -> None:
    found = judge(check, cell("a", [1.0] * 5), cell("b", [2.0] * 5))
    assert found.outcome == ("contradicted" if check is CHECKS["noise"] else "reproduced")


@each_check
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_seed_that_is_not_finite_passes_nothing(check: dict[str, Any], bad: float) -> None:
    found = judge(check, cell("a", [1.0, bad, 1.0]), cell("b", [2.0] * 3))
    if check is CHECKS["share"]:
        assert found.outcome != "reproduced"
        assert found.estimate == pytest.approx(2 / 3)
        return
    assert found.outcome == "non-finite"
    assert "no finite number in seed 1" in found.explanation
    assert not found.decided


@each_check
def test_an_empty_table_passes_nothing(check: dict[str, Any]) -> None:
    found = judge(check)
    assert (found.outcome, found.estimate, found.n) == ("not run", None, 0)
    assert "there is no observation of garden/" in found.explanation


@each_check
def test_a_missing_seed_passes_nothing(check: dict[str, Any]) -> None:
    found = judge(check, cell("a", [1.0] * 4), cell("b", [2.0] * 5), cell("a", [0.0] * 5, "other"))
    assert found.outcome == ("undecided" if check is CHECKS["share"] else "non-finite")


@each_check
def test_one_seed_is_undecided_and_needs_two(check: dict[str, Any]) -> None:
    if check["kind"] == "exact":
        return
    found = judge(check, cell("a", [1.0]), cell("b", [2.0]))
    assert (found.outcome, found.seeds_needed) == ("undecided", 2)
    assert "At least 2 seeds are needed" in found.explanation


@each_check
def test_a_text_where_a_number_is_expected_passes_nothing(check: dict[str, Any]) -> None:
    found = judge(check, cell("a", [math.nan] * 3, text="1"), cell("b", [2.0] * 3))
    assert found.outcome in ("non-finite", "contradicted", "undecided")
    assert found.estimate in (None, 0)


def test_duplicated_rows_are_an_error() -> None:
    with pytest.raises(ValueError, match="measured twice"):
        judge(CHECKS["bound"], cell("a", [1.0]), cell("a", [1.0]))


def test_a_verdict_has_the_numbers_that_decided_and_their_evidence() -> None:
    check = {"kind": "order", "of": [of("a", where={"window": "outside"}), of("b", where={"window": "outside"})]}
    found = judge(
        check | {"margin": 0.1},
        cell("a", [0.9, 1.0, 0.95], window="outside"),
        cell("b", [0.5, 0.7, 0.6], window="outside"),
    )
    assert found.outcome == "reproduced"
    assert found.estimate == pytest.approx(0.35)
    assert found.low is not None
    assert found.high is not None
    assert 0.1 < found.low < 0.35 < found.high
    assert (found.level, found.n, found.expected, found.seeds_needed) == (0.9, 3, "at least 0.1", None)
    assert found.evidence == (
        ObservationKey("garden", "a", "loss", "window=outside"),
        ObservationKey("garden", "b", "loss", "window=outside"),
    )
    assert found.explanation == (
        "a loss (window=outside) − b loss (window=outside) is 0.35 over 3 seeds (90 % interval 0.2657 to 0.4343); "
        "expected at least 0.1."
    )


@each_check
def test_the_order_of_rows_changes_nothing(check: dict[str, Any]) -> None:
    rows = cell("a", [1.0, 1.3, 0.7, 1.1]) + cell("b", [2.0, 2.2, 1.7, 1.9])
    assert judge(check, rows) == judge(check, rows[::-1])


def test_a_row_holds_only_values_that_a_table_can_store() -> None:
    row = judge(CHECKS["bound"], cell("a", [1.0, 1.5])).row()
    assert row["evidence"] == [{"study": "garden", "run": "a", "metric": "loss", "condition": ""}]
    assert row["same_as"] == []


def test_differences_are_paired_on_the_seeds_that_both_runs_have() -> None:
    found = judge(CHECKS["difference"], cell("a", [1.0, 2.0, 9.0]), cell("b", [0.0, 1.0]))
    assert (found.outcome, found.estimate, found.n) == ("reproduced", 1.0, 2)


def test_runs_without_a_seed_in_common_are_not_compared() -> None:
    shifted = [row | {"seed": 7} for row in cell("b", [1.0])]
    found = judge(CHECKS["difference"], cell("a", [1.0]), shifted)
    assert found.outcome == "not run"
    assert "no seed in common" in found.explanation


@pytest.mark.parametrize("minus", [False, True])
def test_a_reference_run_is_paired_with_every_seed(minus: bool) -> None:
    check = CHECKS["difference"] if minus else {"kind": "order", "of": [of("a"), of("b")], "margin": -9}
    found = judge(check, cell("a", 1.0), cell("b", [0.5, 0.25, 0.0]))
    assert (found.n, found.estimate) == (3, 0.75)
    assert judge(CHECKS["difference"], cell("a", 1.0), cell("b", 0.5)).n == 0


def test_an_order_is_contradicted_by_its_one_wrong_pair_and_names_it() -> None:
    order = {"kind": "order", "of": [of("a", where={"epoch": [1, 2, 3]})], "margin": 0.1}
    cells = [
        cell("a", [mean, mean + 0.01, mean - 0.01], epoch=epoch) for epoch, mean in ((1, 5.0), (2, 3.0), (3, 4.0))
    ]
    found = judge(order, *cells)
    assert found.outcome == "contradicted"
    assert found.estimate == pytest.approx(-1.0)
    assert found.explanation.startswith(
        "1 of 2 statements hold, but not this: a loss (epoch=2) − a loss (epoch=3) is"
    )
    assert judge({**order, "of": [of("a", where={"epoch": [1, 3, 2]})]}, *cells).outcome == "reproduced"


def test_equivalence_compares_every_pair() -> None:
    check = {"kind": "equivalent", "of": [of("a"), of("b"), of("c")], "margin": 1.0}
    apart = [cell("a", [0.0, 0.01]), cell("b", [0.9, 0.91]), cell("c", [1.8, 1.81])]
    assert judge(check, *apart).outcome == "contradicted"


def test_a_seed_succeeds_if_each_of_its_numbers_does() -> None:
    where = {"token": ["my", "our"]}
    check = {"kind": "bound", "of": of("a", where=where, seeds="share", passes={"at_most": 0.1}), "at_least": 0.5}
    found = judge(check, cell("a", [0.0] * 5, token="my"), cell("a", [0.0, 0.0, 0.0, 0.2, 0.0], token="our"))
    assert (found.estimate, found.outcome) == (0.8, "undecided")
    assert found.explanation.startswith(
        "share of seeds with a loss (token=my and our) at most 0.1 is 0.8 over 5 seeds"
    )


@pytest.mark.parametrize(("count", "share"), [(1, 1.0), (2, 0.6), (3, 0.2)])
def test_a_seed_succeeds_if_the_required_count_of_its_numbers_does(count: int, share: float) -> None:
    passes = {"at_least": 0.9, "count": count}
    check = {
        "kind": "bound",
        "of": of("a", where={"head": [1, 2, 3]}, seeds="share", passes=passes),
        "at_least": 0,
    }
    found = judge(
        check,
        cell("a", [1.0, 0.0, 1.0, 1.0, 0.0], head=1),
        cell("a", [0.0, 1.0, 1.0, 1.0, 0.0], head=2),
        cell("a", [0.0, 1.0, 0.0, 1.0, 1.0], head=3),
    )
    assert found.estimate == share
    assert found.explanation.startswith(
        f"share of seeds with {count} or more of a loss (head=1 and 2 and 3) at least 0.9 is"
    )


@pytest.mark.parametrize(("value", "outcome"), [(0.1 + 0.2, "reproduced"), (0.3000001, "contradicted")])
def test_exact_forgives_rounding_errors_alone(value: float, outcome: str) -> None:
    assert judge({"kind": "exact", "of": of("a"), "to": 0.3}, cell("a", [0.3, value])).outcome == outcome


@pytest.mark.parametrize(
    ("text", "outcome"), [("she picks", "reproduced"), ("she pick", "contradicted"), ("", "contradicted")]
)
def test_a_text_is_compared_as_it_is(text: str, outcome: str) -> None:
    found = judge({"kind": "exact", "of": of("a"), "to": "she picks"}, cell("a", math.nan, text=text))
    assert (found.outcome, found.estimate) == (outcome, None)


@pytest.mark.parametrize("kind", ["exact", "band", "bound"])
def test_only_a_stated_value_of_a_rebuilt_study_differs(kind: str) -> None:
    wrong = cell("a", [7.0, 7.1, 7.2])
    assert judge(CHECKS[kind], wrong).outcome == "contradicted"
    assert judge(CHECKS[kind], wrong, rebuilt=("farm",)).outcome == "contradicted"
    expected = "contradicted" if kind == "bound" else "differs"
    assert judge(CHECKS[kind], wrong, rebuilt=("garden",)).outcome == expected


def test_one_false_statement_makes_the_whole_false_whatever_is_missing() -> None:
    found = judge(CHECKS["all"], cell("b", [3.0] * 3))
    assert found.outcome == "contradicted"
    assert judge(CHECKS["all"], cell("b", [2.0] * 3)).outcome == "not run"


def test_an_undecided_claim_says_how_many_seeds_it_would_need() -> None:
    found = judge({"kind": "bound", "of": of("a"), "at_least": 1.0}, cell("a", [0.8, 1.6, 1.2, 0.9]))
    assert found.outcome == "undecided"
    assert found.seeds_needed == 25
    assert found.explanation.endswith("About 25 seeds would decide.")
    hopeless = judge({"kind": "band", "of": of("a"), "to": 1.0, "margin": 0.1}, cell("a", [0.8, 1.6, 1.2, 0.9]))
    assert hopeless.seeds_needed == NO_SEEDS
    assert hopeless.explanation.endswith("No number of seeds would decide this.")
    slow = judge({"kind": "bound", "of": of("a"), "at_least": 1.0}, cell("a", [0.5, 1.6, 1.1, 0.9]))
    assert slow.seeds_needed == MORE_SEEDS
    assert slow.explanation.endswith("More than 100 seeds would be needed to decide.")


def test_only_what_other_seeds_could_change_counts_for_chance() -> None:
    decided = judge(CHECKS["bound"], cell("a", [1.0, 1.1]))
    assert decided.chance
    assert not judge(CHECKS["exact"], cell("a", [1.0, 1.0])).chance
    assert not judge(CHECKS["bound"], cell("a", 1.0)).chance
    undecided = judge(CHECKS["bound"], cell("a", [1.0]))
    assert expected_wrong([decided, decided, undecided]) == pytest.approx(0.1)


def test_a_reproduced_stated_value_is_compatible_and_not_counted_as_a_decision() -> None:
    band = {"kind": "band", "of": of("a"), "to": 1.0, "margin": 0.5}
    held, missed = judge(band, cell("a", [1.0, 1.01, 1.02])), judge(band, cell("a", [9.0, 9.01, 9.02]))
    assert (held.outcome, held.compatible, missed.outcome, missed.compatible) == (
        "reproduced",
        True,
        "contradicted",
        False,
    )
    both = judge({"kind": "all", "of": [band, CHECKS["bound"]]}, cell("a", [1.0, 1.01, 1.02]))
    assert (both.outcome, both.compatible) == ("reproduced", True)
    assert expected_wrong([held, missed, both]) == pytest.approx(0.05)


def repeated(*targets: str) -> Claim:
    return Claim.model_validate({"says": "Again.", "section": "2", "same_as": list(targets)})


def test_every_claim_has_one_verdict_in_the_order_of_claims() -> None:
    claims = {"l:c": repeated("l:a", "l:b"), "l:b": claim(CHECKS["exact"]), "l:a": claim(CHECKS["bound"])}
    found = verdicts(claims, ObservationTable(cell("a", [1.5, 1.6, 1.7])), {}, ())
    assert [one.id for one in found] == list(claims)
    again = found[0]
    assert (again.outcome, again.same_as, again.chance) == ("contradicted", ("l:a", "l:b"), False)
    assert again.explanation.startswith("The same as l:b: a loss is 1.6 over 3 seeds, from 1.5 to 1.7")


@pytest.mark.parametrize("target", ["l:absent", "l:again"])
def test_a_claim_repeats_only_one_with_a_check_of_its_own(target: str) -> None:
    claims = {"l:a": claim(CHECKS["exact"]), "l:again": repeated("l:a"), "l:it": repeated(target)}
    with pytest.raises(ValueError, match=f"l:it: same_as: {target}"):
        verdicts(claims, ObservationTable([]), {}, ())


def setting(found: dict[str, object] | None, rebuilt: tuple[str, ...] = ()) -> Verdict:
    wanted = {"study": "garden", "values": {"runs.flm.model.layers": 2, "runs.flm.model.tied": True}}
    entry = Claim.model_validate({"says": "x", "section": "1", "setting": wanted})
    (verdict,) = verdicts({"l:it": entry}, ObservationTable([]), {} if found is None else {"l:it": found}, rebuilt)
    return verdict


@pytest.mark.parametrize(("tied", "outcome"), [(True, "reproduced"), (1, "contradicted"), (False, "contradicted")])
def test_a_setting_is_compared_with_the_configuration(tied: object, outcome: str) -> None:
    found = setting({"runs.flm.model.layers": 2, "runs.flm.model.tied": tied})
    assert (found.outcome, found.by_construction) == (outcome, True)


def test_a_wrong_setting_is_named_and_one_of_another_build_is_not_run() -> None:
    wrong = setting({"runs.flm.model.layers": 3, "runs.flm.model.tied": True}, rebuilt=("garden",))
    assert wrong.outcome == "differs"
    assert wrong.explanation.startswith("garden has runs.flm.model.layers = 3; expected runs.flm.model.layers = 2")
    assert setting(None).outcome == "not run"


def test_one_seed_proves_that_it_can_be_done() -> None:
    check = {"kind": "exists", "of": of("a", where={"part": [1, 2]}), "at_least": 0.9}
    first = cell("a", [0.95, 0.2, 0.95], part=1)
    found = judge(check, first, cell("a", [0.1, 0.95, 0.91], part=2))
    assert (found.outcome, found.chance) == ("reproduced", False)
    none = judge(check, first, cell("a", [0.1, 0.95, 0.2], part=2))
    assert (none.outcome, none.chance, none.estimate) == ("undecided", True, 0)
    assert none.seeds_needed == 19
    assert judge(check, cell("a", [0.1] * 19, part=1), cell("a", [0.1] * 19, part=2)).outcome == "contradicted"


def test_a_statement_about_noise_is_compared_with_the_measured_spread() -> None:
    rng = np.random.default_rng(1)
    noise = rng.normal(0.0, 0.006, 10)
    check = {"kind": "noise", "of": [of("a"), of("b")], "to": of("a"), "at_most": 1.0}
    far = judge(check, cell("a", (1.34 + noise).tolist()), cell("b", (1.324 + noise).tolist()))
    assert far.outcome == "contradicted"
    assert far.estimate == pytest.approx(0.016 / noise.std(ddof=1))
    near = judge(check, cell("a", (1.34 + noise).tolist()), cell("b", (1.3401 + noise).tolist()))
    assert near.outcome == "reproduced"
    assert "as a multiple of the seed noise of a loss" in near.explanation


def test_the_noise_of_shared_items_is_part_of_a_difference() -> None:
    apart = [[0.05, -0.05] + [0.0] * 14] * 5
    values = cell("a", [1.3, 1.31, 1.32, 1.33, 1.34], groups=apart), cell("b", [1.2, 1.21, 1.22, 1.23, 1.24])
    check = {"kind": "order", "of": [of("a"), of("b")], "margin": 0.01}
    assert judge(check, *values).outcome == "reproduced"
    values = values[0], cell("b", [1.2, 1.21, 1.22, 1.23, 1.24], groups=[[-0.05, 0.05] + [0.0] * 14] * 5)
    assert judge(check, *values).outcome == "undecided"
    values = values[0], cell("b", [1.2, 1.21, 1.22, 1.23, 1.24], groups=apart)
    assert judge(check, *values).outcome == "reproduced"


def test_a_claim_is_asked_of_every_recipe_that_the_lecture_allows() -> None:
    check = {"kind": "order", "of": [of("a"), of("c")], "margin": 0.5}
    rows = [*cell("a", [3.0, 3.1]), *cell("b", [5.0, 5.1]), *cell("z", [1.0, 1.1]), *cell("c", [1.0, 1.1])]

    def asked(*recipes: str) -> Verdict:
        made = {"lecture:it": claim(check, recipes=list(recipes))}
        (found,) = verdicts(made, ObservationTable(rows), {}, ())
        return found

    both = asked("a", "b")
    assert both.outcome == "reproduced"
    assert both.explanation.startswith("Holds in 2 of 2 recipes that the lecture’s text allows: ")
    mixed = asked("a", "b", "z")
    assert (mixed.outcome, mixed.seeds_needed) == ("undecided", NO_SEEDS)
    assert mixed.explanation.startswith("Fails in 1 of 3 recipes that the lecture’s text allows (z): ")
    assert {key.run for key in mixed.evidence} == {"a", "b", "c", "z"}
    rows += cell("y", [0.0, 3.2])
    open_ended = asked("a", "y")
    assert open_ended.outcome == "undecided"
    assert open_ended.seeds_needed not in (None, NO_SEEDS)
    failed = asked("a", "y", "z")
    assert failed.outcome == "undecided"
    rows[:2] = cell("a", [0.0, 0.1])
    assert asked("a", "y").outcome == "undecided"  # the lecture may have used y
    assert asked("a", "z").outcome == "contradicted"


def test_recipes_begin_with_a_run_of_the_check() -> None:
    with pytest.raises(ValueError, match="the check reads no run z"):
        claim({"kind": "bound", "of": of("a"), "at_least": 1.0}, recipes=["z", "a"])


def test_a_training_that_diverged_passes_nothing_and_is_told() -> None:
    rows = cell("a", [1.0, 1.0, 1.0]), cell("a", [0.0, 1.0, 0.0], "diverged"), cell("a", [7.0] * 3, "parameters")
    bound = judge({"kind": "bound", "of": of("a"), "at_most": 2}, *rows)
    assert bound.outcome == "non-finite"
    assert "The training of 1 seed diverged and counts as a failure." in bound.explanation
    share = judge(CHECKS["share"], *rows)
    assert share.estimate == pytest.approx(2 / 3)
    assert "1 seed diverged" in share.explanation
    assert judge({"kind": "exact", "of": of("a", "parameters"), "to": 7}, *rows).outcome == "reproduced"
    diverging = {"kind": "bound", "of": of("a", "diverged"), "at_least": 0.1}
    assert judge(diverging, *rows).outcome == "undecided"


def test_what_the_seeds_can_decide_is_said() -> None:
    found = judge(CHECKS["share"], cell("a", [1.0, 3.0, 1.0, 3.0]))
    assert found.possible == ()
    assert possible_words(found.possible) == "These seeds are too few to confirm it or to contradict it."
    five = judge(CHECKS["share"], cell("a", [1.0] * 5))
    assert possible_words(five.possible) == "These seeds can confirm it and can contradict it."
    assert possible_words(("reproduced",)) == "These seeds can confirm it, and are too few to contradict it."
    assert judge(CHECKS["bound"], cell("a", [1.0] * 5)).possible is None
    assert possible_words(None) == ""


@pytest.mark.parametrize(
    ("at_least", "at_most", "statements", "seeds", "expected"),
    [
        (0.5, None, 1, 5, False),
        (0.5, None, 1, 4, True),  # 4 of 4 and 0 of 4 are possible by chance in 6 % of cases
        (0.5, None, 2, 5, False),  # 5 of 5 confirm both
        (0.7, None, 1, 5, False),  # 0 of 5 contradict it
        (0.7, None, 2, 3, True),
        (0.3, None, 2, 10, False),
        (0.1, 0.9, 1, 10, False),
        (0.1, 0.9, 1, 5, True),
    ],
)
def test_shares_that_no_outcome_of_the_seeds_decides(
    at_least: float, at_most: float | None, statements: int, seeds: int, expected: bool
) -> None:
    share = {"kind": "bound", "of": of("a", seeds="share", passes={"at_least": 1}), "at_least": at_least}
    share |= {"at_most": at_most} if at_most else {}
    check = claim(share if statements == 1 else {"kind": "all", "of": [share] * statements}).check
    assert check is not None
    assert undecidable(check, seeds) == expected


def test_a_text_is_no_number_and_the_sentence_shows_it() -> None:
    setting = {"says": "Two epochs.", "section": "1", "setting": {"study": "garden", "values": {"epochs": 2}}}
    made = {"lecture:it": Claim.model_validate(setting)}
    (found,) = verdicts(made, ObservationTable([]), {"lecture:it": {"epochs": "2"}}, ())
    assert found.outcome == "contradicted"
    assert found.explanation == "garden has epochs = '2'; expected epochs = 2."


def test_a_claim_on_what_its_run_lacks_is_named() -> None:
    rows = [*cell("a", [1.0, 2.0], epoch=1), *cell("b", 1.0)]
    asked = {
        "lecture:right": claim({"kind": "bound", "of": of("a", where={"epoch": 1.0}), "at_least": 0}),
        "lecture:wrong": claim({"kind": "bound", "of": of("a", where={"epoch": 7}), "at_least": 0}),
        "lecture:absent": claim({"kind": "bound", "of": of("c"), "at_least": 0}),
    }
    found = unmeasured(asked, ObservationTable(rows))
    assert found == {"lecture:wrong": "garden has no a loss (epoch=7); the nearest is a loss (epoch=1)"}


def test_a_range_is_one_number_of_a_seed() -> None:
    flat = of("a", where={"d": [1, 2, 3]}, reduce="range")
    cells = [cell("a", values, d=d) for d, values in ((1, [0.1, 0.5]), (2, [0.3, 0.5]), (3, [0.2, 0.6]))]
    found = judge({"kind": "bound", "of": flat, "at_most": 0.5}, *cells)
    assert found.estimate == pytest.approx(0.15)
    assert found.explanation.startswith("range of a loss (d=1 and 2 and 3) is 0.15")
    share = flat | {"seeds": "share", "passes": {"at_most": 0.15}}
    assert judge({"kind": "bound", "of": share, "at_least": 0.1}, *cells).estimate == 0.5
    assert judge({"kind": "bound", "of": flat, "at_most": 0.5}, *cells[:2]).outcome == "not run"
    assert judge({"kind": "exact", "of": flat, "to": 0.2}, *[cell("a", [d / 10], d=d) for d in (1, 2, 3)]).decided


def test_some_numbers_of_one_seed_are_enough_where_a_claim_says_how_many() -> None:
    cells = [cell("a", values, d=d) for d, values in ((1, [0.1, 0.5]), (2, [0.3, 0.9]))]
    check = {"kind": "exists", "of": of("a", where={"d": [1, 2]}), "at_least": 0.8}
    assert judge(check, *cells).outcome == "undecided"
    assert judge(check | {"count": 1}, *cells).outcome == "reproduced"
