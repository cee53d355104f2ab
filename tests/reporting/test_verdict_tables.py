import csv
import io
import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import get_args
from urllib.parse import unquote

import pytest

from seedbed.reporting.verdict_tables import BASES, Judged, claim_anchor, counts, summary
from seedbed.statistics.claims import Claim
from seedbed.statistics.decisions import ALPHA

Build = Callable[..., str]


def _with(judged: Judged, name: str, **changes: object) -> Judged:
    """The same with other values in the verdict of one claim."""
    rows = [{**row, **changes} if row["id"] == name else row for row in judged.rows]
    return replace(judged, rows=rows)


def test_counts_are_recomputed_from_the_table_of_verdicts(build_page: Build, drawn: ModuleType) -> None:
    rows = [row for row in drawn.judged().rows if not row["same_as"] and not row["by_construction"]]
    found = Counter(row["outcome"] for row in rows)
    page = drawn.Page(build_page(page="claims"))
    told = ", ".join(f"{n} {outcome}" for outcome, n in found.items())
    assert page.text.count(f"Of {len(rows)} claims: {told}.") == 1
    decided = [row for row in rows if row["outcome"] in ("reproduced", "contradicted", "differs")]
    open_to = sum(bool(row["chance"]) for row in decided)
    compatible = sum(bool(row["compatible"]) for row in rows)
    bounded = open_to - compatible
    assert f"{len(decided)} of them are decided, {open_to} by numbers" in page.text
    assert f"Of these {open_to}, {compatible} compare one stated number" in page.text
    assert f"Each of the other {bounded} is wrong by chance in at most 5" in page.text
    assert f"so at most about {ALPHA * bounded:.1f} of them are wrong" in page.text


def test_an_outcome_that_no_claim_has_counts_zero(drawn: ModuleType) -> None:
    assert counts(()) == dict.fromkeys(
        ("reproduced", "contradicted", "differs", "undecided", "not run", "non-finite"), 0
    )
    empty = Judged({}, [], {})
    assert summary(empty) == "Of 0 [[claim]]s: 0 [[reproduced]], 0 [[contradicted]]."


def test_where_no_claim_is_about_this_build_that_is_said_and_nothing_is_counted(
    build_page: Build, drawn: ModuleType
) -> None:
    rows = [{**row, "outcome": "not run"} for row in drawn.judged().rows]
    html = build_page(page="claims", claims=replace(drawn.judged(), rows=rows), full=False)
    page = drawn.Page(html)
    assert page.text.count("None of the 7 claims is about what was built here.") == 1
    assert "Verdicts" not in page.attribute("aria-label", "section")
    assert "0 reproduced" not in page.text
    assert "decided" not in page.text.partition("What the lectures say")[2].partition("A claim is")[0]
    assert len(page.table("Claims with their verdicts")) == 8


def test_what_repeats_or_holds_by_construction_is_shown_and_not_counted(
    build_page: Build, drawn: ModuleType
) -> None:
    page = drawn.Page(build_page(page="claims"))
    assert (
        "a counted one (1), and those that are true by construction or settings of ours (2, of which 2 hold)"
        in page.text
    )
    assert len(page.table("Claims with their verdicts")) == 8
    assert len(page.table("Claims that hold by construction")) == 2


def test_every_claim_has_exactly_one_row_with_its_anchor(build_page: Build, drawn: ModuleType) -> None:
    judged = drawn.judged()
    page = drawn.Page(build_page(page="claims", claims=judged))
    ids = Counter(page.attribute("id"))
    assert [ids[claim_anchor(name)] for name in judged.claims] == [1] * len(judged.claims)
    shown = [*page.table("Claims with their verdicts"), *page.table("Claims that hold by construction")]
    assert len(shown) == len(judged.claims)
    says = [row["claim"].partition("how it is read")[0].strip() for row in shown]
    assert sorted(says) == sorted(claim.says for claim in judged.claims.values())


@pytest.mark.parametrize(
    ("basis", "reading", "told"),
    [
        ("stated", "", ""),
        ("stated", "Half of the effect.", "Half of the effect."),
        ("derived", "", "Derived from what the lecture states."),
        ("derived", "64 / 4.", "Derived from what the lecture states. 64 / 4."),
        ("recomputed", "64 / 4.", "Recomputed from what the lecture states. 64 / 4."),
    ],
)
def test_a_claim_that_the_lecture_does_not_state_says_so_where_it_says_how_it_is_read(
    build_page: Build, drawn: ModuleType, basis: str, reading: str, told: str
) -> None:
    claims = {"objectives:a": drawn.claim("a", basis=basis, reading=reading)}
    page = drawn.Page(
        build_page(page="claims", claims=Judged(claims, [drawn.verdict("objectives:a", "reproduced").row()], {}))
    )
    (row,) = page.table("Claims with their verdicts")
    assert row["claim"].partition("how it is read") == (
        "The lecture says a.",
        "how it is read" if told else "",
        told,
    )


def test_every_basis_of_a_claim_is_told_but_that_it_is_stated() -> None:
    assert {*BASES, "stated"} == set(get_args(Claim.model_fields["basis"].annotation))


@pytest.mark.parametrize("change", ["lost", "twice", "unknown"])
def test_verdicts_that_are_not_one_for_each_claim_are_refused(
    build_page: Build, drawn: ModuleType, change: str
) -> None:
    judged = drawn.judged()
    first = judged.rows[0]
    rows = {
        "lost": judged.rows[1:],
        "twice": [*judged.rows, first],
        "unknown": [*judged.rows, {**first, "id": "objectives:unknown"}],
    }[change]
    with pytest.raises(ValueError, match="not one verdict for each claim: objectives:"):
        build_page(page="claims", claims=replace(judged, rows=rows))


def test_the_order_of_verdicts_changes_no_byte(build_page: Build, drawn: ModuleType) -> None:
    judged = drawn.judged()
    first = build_page(page="claims", claims=judged)
    for seed in (1, 2):
        rows = random.Random(seed).sample(judged.rows, len(judged.rows))
        assert build_page(page="claims", claims=replace(judged, rows=rows)) == first


def test_an_outcome_is_a_sign_and_a_word(build_page: Build, drawn: ModuleType) -> None:
    rows = drawn.Page(build_page(page="claims")).table("Claims with their verdicts")
    assert {row["outcome"] for row in rows} == {
        "✓ reproduced",
        "✕ contradicted",
        "≠ differs",
        "? undecided",
        "○ not run",
        "! non-finite",
    }


def test_every_outcome_is_explained_in_the_glossary(build_page: Build, drawn: ModuleType) -> None:
    words = drawn.Page(build_page(page="claims")).attribute("id", "div")
    assert {f"word:{unquote(word)}" for word in counts(())} <= {unquote(word) for word in words}


def test_evidence_leads_to_its_seeds_its_run_and_its_figure(build_page: Build, drawn: ModuleType) -> None:
    page = drawn.Page(build_page(page="claims"))
    links = Counter(page.attribute("href", "a"))
    cell = drawn.LOSS._asdict()
    resting = [row for row in drawn.judged().rows if cell in row["evidence"] and not row["same_as"]]
    assert links["#observation:garden:flm:loss:sentences%3Dall"] == len(resting)
    assert links["garden.html#run:garden:flm"] == 1
    (row,) = page.table("Observations that the claims rest on")
    losses = drawn.draw_observations(drawn.trained())
    losses = losses[(losses["metric"] == "loss") & (losses["condition"] == "sentences=all")]["value"]
    assert (row["run"], row["n"], row["mean"]) == ("garden/flm", "5", f"{losses.mean():.4f}")


def test_evidence_that_was_not_measured_is_named_and_leads_nowhere(build_page: Build, drawn: ModuleType) -> None:
    page = drawn.Page(build_page(page="claims"))
    rows = page.table("Claims with their verdicts")
    assert [row["evidence"] for row in rows if "not run" in row["outcome"]] == ["absent loss"]
    assert not any("absent" in href for href in page.attribute("href", "a") if href.startswith("#"))


def test_what_repeats_a_claim_leads_to_it(build_page: Build, drawn: ModuleType) -> None:
    page = drawn.Page(build_page(page="claims"))
    assert "#claim:objectives:contradicted" in page.attribute("href", "a")
    assert "claim objectives:contradicted" in {row["evidence"] for row in page.table("Claims with their")}


def test_items_without_a_claim_are_counted_by_reason_and_shown(build_page: Build, drawn: ModuleType) -> None:
    page = drawn.Page(build_page(page="claims"))
    text = re.sub(r"\s+", " ", page.text)
    assert (
        "2 statements of the lectures cannot be checked here: nothing to measure (1), needs other hardware (1)."
        in text
    )
    rows = page.table("Items without a claim")
    assert {row["item"]: row["because"] for row in rows} == {
        name: one.because for name, one in drawn.judged().excluded.items()
    }


def test_texts_of_claims_are_never_markup(build_page: Build, drawn: ModuleType) -> None:
    attack = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)> [[<b>]]"
    judged = drawn.judged()
    claims = judged.claims | {
        "objectives:a.reproduced": drawn.claim("a", says=attack, reading=attack, section=attack)
    }
    cells = [{"study": attack, "run": attack, "metric": attack, "condition": ""}]
    judged = _with(replace(judged, claims=claims), "objectives:a.reproduced", explanation=attack, evidence=cells)
    html = build_page(page="claims", claims=judged)
    page = drawn.Page(html)
    assert [tag for tag, _ in page.elements].count("script") == 1
    assert not page.attribute("src")
    assert not page.attribute("onerror")
    assert page.text.count(attack) >= 4


def test_claims_as_csv_hold_every_row_and_plain_words(build_page: Build, drawn: ModuleType) -> None:
    page = drawn.Page(build_page(page="claims"))
    files = {name: at for at, name in enumerate(page.attribute("download"))}
    links = [href for href in page.attribute("href") if href.startswith("data:text")]
    rows = list(
        csv.DictReader(io.StringIO(unquote(links[files["claims.csv"]].partition(",")[2]).removeprefix("\ufeff")))
    )
    assert [row["outcome"] for row in rows][2:5] == ["contradicted", "differs", "undecided"]
    assert rows[0]["says"] == "The lecture says a."
    assert rows[0]["evidence"] == "flm loss (sentences=all)"


def test_no_claims_at_all_build_and_say_so(build_page: Build, drawn: ModuleType) -> None:
    page = drawn.Page(build_page(page="claims", claims=Judged({}, [], {})))
    assert "Of 0 claims" in page.text
    assert "cannot be checked here" not in page.text
