import csv
import io
import json
import math
import os
import re
import sys
import textwrap
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from urllib.parse import unquote

import drawn_farm as farm
import pandas as pd
import processes
import pytest

from seedbed.configuration.yaml import read
from seedbed.observations import Observation, rows
from seedbed.reporting.figures import Part, figure
from seedbed.reporting.others import other_figures
from seedbed.reporting.pages import claims, lecture, study
from seedbed.reporting.pages.site import Site
from seedbed.reporting.panels.strips import strip
from seedbed.reporting.results import Measure, Results, ShownDemonstration, ShownRun, ShownStudy
from seedbed.reporting.studies import garden
from seedbed.reporting.tables import anchor
from seedbed.reporting.verdict_tables import Judged
from seedbed.statistics.intervals import t_interval

Build = Callable[..., str]


def _values(table: pd.DataFrame, metric: str, sentences: str = "all") -> pd.Series:
    chosen = (
        (table["run"] == "flm") & (table["metric"] == metric) & (table["condition"] == f"sentences={sentences}")
    )
    return table[chosen].set_index("seed")["value"].sort_index()


# --- numbers


def test_every_seed_in_the_table_below_a_figure_is_that_of_the_observations(
    build_page: Build, drawn: ModuleType
) -> None:
    table = drawn.draw_observations(drawn.trained(), drawn.EXACT)
    shown = drawn.Page(build_page(table)).table("Numbers of the figure: How close")
    losses, divergences = _values(table, "loss"), _values(table, "divergence")
    for row in shown[:5]:
        seed = int(row["seed"])
        assert row["perplexity"] == f"{math.exp(losses[seed]):.3f}"
        assert row["divergence"] == f"{divergences[seed]:.4f}"
    assert shown[5] | {"seed": "none", "perplexity": "3.655", "divergence": "0", "diverged": "none"} == shown[5]


def test_the_table_of_variance_is_recomputed_from_the_observations(build_page: Build, drawn: ModuleType) -> None:
    table = drawn.draw_observations(drawn.trained(), drawn.EXACT)
    rows = {row["measure"]: row for row in drawn.Page(build_page(table)).table("Measures")}
    excess = _values(table, "excess", "withheld")
    shown = rows["excess, withheld sentences"]
    interval = t_interval(list(excess))
    assert [shown[key] for key in ("n", "mean", "sd", "min", "max")] == [
        "5",
        *(f"{value:.4f}" for value in (excess.mean(), excess.std(), excess.min(), excess.max())),
    ]
    assert shown["95 % interval"] == f"{interval.low:.4f} to {interval.high:.4f}"
    losses = t_interval(list(_values(table, "loss"))).exponentiated()
    assert rows["perplexity"]["95 % interval"] == f"{losses.low:.3f} to {losses.high:.3f}"


def test_the_headline_is_recomputed_from_the_observations(build_page: Build, drawn: ModuleType) -> None:
    table = drawn.draw_observations(drawn.trained(), drawn.EXACT)
    mean = math.exp(_values(table, "loss").mean())
    assert (
        f"on the garden language: perplexity {mean:.3f}, where 3.655 is possible"
        in drawn.Page(build_page(table, page="index")).text
    )


def test_cost_is_recomputed_from_the_timings(build_page: Build, drawn: ModuleType) -> None:
    timings = drawn.draw_timings(drawn.trained(), drawn.EXACT)
    cpu = timings[(timings["metric"] == "cpu_seconds") & (timings["condition"] == "job=train")]["value"]
    page = drawn.Page(build_page(timings=timings, page="index"))
    (row,) = [row for row in page.table("CPU seconds") if row["job"] == "train"]
    assert (row["jobs"], row["CPU mean"], row["CPU max"]) == ("5", f"{cpu.mean():.1f}", f"{cpu.max():.1f}")
    total = timings[timings["metric"] == "cpu_seconds"]["value"].sum()
    assert f"All trainings together took {total:.1f} CPU seconds" in page.text


def test_differences_between_runs_are_paired_by_seed_and_recomputed(build_page: Build, drawn: ModuleType) -> None:
    runs = (drawn.trained(), drawn.trained("gru", 3), drawn.EXACT)
    table = drawn.draw_observations(*runs)
    losses = table[(table["metric"] == "loss") & (table["condition"] == "sentences=all")]
    of = {run: losses[losses["run"] == run].set_index("seed")["value"].map(math.exp) for run in ("flm", "gru")}
    differences = (of["gru"] - of["flm"]).dropna()
    interval = t_interval(list(differences))
    page = drawn.Page(build_page(table, runs))
    rows = [
        row for row in page.table("Numbers of the figure: Does changing the architecture") if row["run"] == "gru"
    ]
    shown = [row["difference from the first run"].replace("−", "-") for row in rows]
    assert shown == [f"{value:.3f}" for value in differences]
    alt = next(one for one in page.attribute("aria-label") if one.startswith("Difference in perplexity"))
    ends = f"[{interval.low:.3f}, {interval.high:.3f}], n = 3".replace("-", "−")
    assert f"{interval.mean:.3f} {ends}" in alt


def test_the_headline_figure_is_recomputed_from_the_observations(build_page: Build, drawn: ModuleType) -> None:
    runs = (drawn.trained(), drawn.EXACT, drawn.WINDOW)
    table = drawn.draw_observations(*runs)
    chosen = (table["run"] == "flm") & (table["metric"] == "pronoun_probability")
    means = table[chosen].groupby("condition")["value"].mean() * 100
    page = drawn.Page(build_page(table, runs))
    alt = next(
        one for one in page.attribute("aria-label") if one.startswith("Probability of the right possessive")
    )
    words = f"{means['window=inside']:.1f}\N{NO-BREAK SPACE}% · {means['window=outside']:.1f}\N{NO-BREAK SPACE}%"
    assert f"{words}, n = 5" in alt
    assert "best outside with 5 words 70.0" in alt


def test_a_learning_rate_is_compared_only_where_both_variants_are_there(
    build_page: Build, drawn: ModuleType
) -> None:
    variants = [drawn.trained(f"flm{ending}", 3) for ending in ("-lr-third", "-lr-triple")]
    few, all_of_them = (drawn.Page(build_page(runs=(drawn.trained(), *variants[:n], drawn.EXACT))) for n in (1, 2))
    assert "figure:garden:rates" not in few.attribute("id")
    assert "figure:garden:rates" in all_of_them.attribute("id")
    assert [row["run"] for row in all_of_them.table("Numbers of the figure: How much does the")][::3][:2] == [
        "flm-lr-third",
        "flm",
    ]


# --- bytes


def test_the_order_of_rows_changes_no_byte(build_page: Build, drawn: ModuleType) -> None:
    runs = (drawn.trained(), drawn.trained("gru"), drawn.EXACT)
    tables = drawn.draw_observations(*runs), drawn.draw_timings(*runs)
    for page in ("index", "claims", "study"):
        first = build_page(tables[0], runs, tables[1], page=page)
        for state in (1, 2):
            shuffled = [table.sample(frac=1, random_state=state) for table in tables]
            assert build_page(shuffled[0], runs, shuffled[1], page=page) == first


def test_another_hash_seed_changes_no_byte(drawn: ModuleType) -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(drawn.TEMPLATES.parent / 'tests' / 'reporting')!r})\n"
        "import conftest as c, hashlib, json\n"
        "runs = c.trained(), c.EXACT\n"
        "tables = c.draw_observations(*runs), c.draw_timings(*runs)\n"
        "pages = c.build_site(*tables, [c.study(*runs)], c.judged())\n"
        "print(json.dumps([hashlib.sha256(page.encode()).hexdigest() for page in pages.values()]))"
    )
    digests = {
        tuple(
            json.loads(
                processes.run(
                    [sys.executable, "-c", code],
                    env=os.environ | {"PYTHONHASHSEED": seed},
                    check=True,
                ).stdout
            )
        )
        for seed in ("1", "2")
    }
    assert len(digests) == 1


def test_a_study_of_eighteen_runs_stays_below_three_megabytes(build_page: Build, drawn: ModuleType) -> None:
    runs = drawn.full_study()
    html = build_page(runs=runs)
    assert len(runs) == 18
    assert len(html.encode()) < 3_000_000
    anchors = drawn.Page(html).attribute("id", "tr")
    assert {f"run:garden:{run.name}" for run in runs} <= set(anchors)


def test_the_index_of_seven_studies_stays_below_one_megabyte(
    monkeypatch: pytest.MonkeyPatch, drawn: ModuleType
) -> None:
    names, runs = [f"garden-{at}" for at in range(7)], drawn.full_study()
    monkeypatch.setattr("seedbed.reporting.sections.study_module", lambda name: garden)
    pages = drawn.build_site(*_tables(drawn, runs, names), _studies(drawn, runs, names), drawn.judged())
    assert len(pages["index.html"].encode()) < 1_000_000
    assert pages["index.html"].count('class="panel"') == 7


# --- the page as a file


def test_nothing_is_loaded_from_elsewhere(build_page: Build, drawn: ModuleType) -> None:
    for name in ("index", "claims", "study"):
        html = build_page(page=name)
        page = drawn.Page(html)
        assert not re.search(r"https?://|//[a-z]+\.", html)
        assert not page.attribute("src")
        assert all(re.match(r"#|data:|[a-z]+\.html", href) for href in page.attribute("href"))


def test_anchors_are_unique_and_every_link_within_the_page_arrives(build_page: Build, drawn: ModuleType) -> None:
    for name in ("index", "claims", "study"):
        page = drawn.Page(build_page(runs=(drawn.trained(), drawn.trained("gru"), drawn.EXACT), page=name))
        ids = page.attribute("id")
        assert len(ids) == len(set(ids))
        assert {href[1:] for href in page.attribute("href") if href.startswith("#")} <= set(ids)


def test_anchors_of_different_names_differ() -> None:
    names = [("a", "b:c"), ("a:b", "c"), ("a b",), ("a-b",), ("a%20b",), ("ä",)]
    assert len({anchor(*name) for name in names}) == len(names)


def test_every_glossary_mark_in_the_texts_is_resolved(build_page: Build) -> None:
    assert "[[" not in build_page()


def test_every_part_of_a_table_whose_rows_become_blocks_has_its_role_by_name(build_page: Build) -> None:
    html = build_page(page="claims")
    tables = re.findall(r"<table\b[^>]*\bstacked\b[^>]*>.*?</table>", html, re.S)
    assert len(tables) == 3
    for one in tables:
        parts = re.findall(r"<(table|tr|th|td)\b([^>]*)>", one)
        roles = {"table": "table", "tr": "row", "th": "columnheader", "td": "cell"}
        assert [tag for tag, attributes in parts if f'role="{roles[tag]}"' not in attributes] == []


def test_the_window_of_the_glossary_has_the_length_of_no_study(drawn: ModuleType) -> None:
    assert not re.search(r"\d", read(drawn.TEMPLATES / "glossary.yaml")["window"])


def test_no_word_of_the_glossary_stands_twice(drawn: ModuleType) -> None:
    assert {"reference", "reference run"} < read(drawn.TEMPLATES / "glossary.yaml").keys()


def test_every_figure_has_alternative_text_a_table_and_its_numbers_as_csv(
    build_page: Build, drawn: ModuleType
) -> None:
    page = drawn.Page(build_page())
    panels = [found for tag, found in page.elements if tag == "svg" and found.get("class") == "panel"]
    assert len(panels) == 11
    assert all(panel["role"] == "img" and len(panel["aria-label"] or "") > 40 for panel in panels)
    figures = page.attribute("id", "figure")
    assert len([name for name in figures if ":metric-" not in name]) == 6
    assert sum(name.startswith("Numbers of the figure") for name in page.tables) == len(figures)
    names = page.attribute("download")
    assert {f"garden-{figure.rpartition(':')[2]}.csv" for figure in figures} < set(names)


def test_csv_round_trips_to_the_observations(build_page: Build, drawn: ModuleType) -> None:
    table = drawn.draw_observations(drawn.trained(), drawn.EXACT)
    page = drawn.Page(build_page(table))
    links = dict(
        zip(
            page.attribute("download"),
            [h for h in page.attribute("href") if h.startswith("data:text")],
            strict=True,
        )
    )
    rows = list(
        csv.DictReader(io.StringIO(unquote(links["garden-gap.csv"].partition(",")[2]).removeprefix("\ufeff")))
    )
    expected = _values(table, "excess", "withheld").to_dict()
    assert {int(row["seed"]): float(row["excess_withheld"]) for row in rows} == pytest.approx(expected, rel=1e-9)


def test_the_drawings_of_a_page_share_their_styles(build_page: Build) -> None:
    page = build_page()
    rules = re.findall(r"\.(s[0-9a-f]+)\{", page)
    assert len(rules) == len(set(rules))
    assert set(re.findall(r'class="(s[0-9a-f]{6})"', page)) == set(rules)


def test_text_from_tables_is_never_markup(build_page: Build, drawn: ModuleType) -> None:
    attack = "<script>alert(1)</script>\"'><img src=x>"
    run = drawn.trained(label=attack)
    html = build_page(
        runs=(run, drawn.EXACT), title=attack, lead=f"{attack} [[run]] [[{attack}]]", language=attack
    )
    page = drawn.Page(html)
    assert "<script>alert" not in html
    assert [tag for tag, _ in page.elements].count("script") == 1
    assert not page.attribute("src")
    assert attack in page.text


# --- what is missing


def test_one_seed_has_numbers_and_no_interval(build_page: Build, drawn: ModuleType) -> None:
    page = drawn.Page(build_page(runs=(drawn.trained(seeds=1), drawn.EXACT), full=False))
    rows = page.table("Measures")
    assert {row["95 % interval"] for row in rows} == {"undefined, one seed"}
    assert {row["sd"] for row in rows} == {"undefined, one seed"}
    assert "Partial build, no evidence" in page.text


def test_numbers_that_no_honest_run_can_have_are_named(build_page: Build, drawn: ModuleType) -> None:
    table = drawn.draw_observations(drawn.trained(), drawn.EXACT)
    assert "Impossible numbers" not in build_page(table)
    at = (table["seed"] == 2) & (table["metric"] == "excess") & (table["condition"] == "sentences=all")
    table.loc[at, "value"] = -0.2
    assert "flm, seed 2: excess (sentences=all) is -0.2, below 0 by more than chance" in build_page(table)


def test_a_seed_that_is_not_finite_shows_as_such_and_takes_the_mean_with_it(
    build_page: Build, drawn: ModuleType
) -> None:
    table = drawn.draw_observations(drawn.trained(), drawn.EXACT)
    table.loc[(table["seed"] == 2) & table["metric"].isin(["loss", "divergence"]), "value"] = math.nan
    table.loc[(table["seed"] == 2) & (table["metric"] == "diverged"), "value"] = 1
    page = drawn.Page(build_page(table))
    row = next(row for row in page.table("Measures") if row["measure"] == "perplexity")
    assert {row[key] for key in ("mean", "sd", "min", "max")} == {"non-finite"}
    assert row["95 % interval"] == "undefined, a seed is non-finite"
    assert page.table("Numbers of the figure: How close")[2]["perplexity"] == "non-finite"
    assert page.table("Runs of the study")[0]["diverged"] == "1 of 5"
    assert "no finite result in this build" in page.text


def test_an_evaluation_that_is_missing_shows_as_not_measured(build_page: Build, drawn: ModuleType) -> None:
    table = drawn.draw_observations(drawn.trained(), drawn.trained("gru"), drawn.EXACT)
    table = table[~((table["run"] == "gru") & table["condition"].str.startswith("sentences"))]
    page = drawn.Page(build_page(table, (drawn.trained(), drawn.trained("gru"), drawn.EXACT)))
    rows = [row for row in page.table("Measures") if row["run"] == "garden/gru" and row["measure"] == "divergence"]
    assert [rows[0][key] for key in ("n", "mean", "sd", "min", "max", "95 % interval")] == ["0"] + [
        "not measured"
    ] * 5
    assert "not measured" in {row["perplexity"] for row in page.table("Numbers of the figure: How close")}


def test_a_run_without_an_evaluation_keeps_its_row_in_the_figures(build_page: Build, drawn: ModuleType) -> None:
    runs = (drawn.trained(), drawn.trained("gru", label="GRU"), drawn.EXACT)
    table = drawn.draw_observations(*runs)
    table = table[~((table["run"] == "gru") & table["metric"].str.startswith("pronoun"))]
    page = drawn.Page(build_page(table, runs))
    alt = next(
        one for one in page.attribute("aria-label") if one.startswith("Probability of the right possessive")
    )
    assert "GRU: not measured · not measured" in alt


def test_an_empty_table_builds_and_says_so(build_page: Build, drawn: ModuleType) -> None:
    nothing = drawn.table([])
    index = drawn.Page(build_page(nothing, timings=nothing, page="index"))
    page = drawn.Page(build_page(nothing))
    assert "no finite result in this build" in index.text
    assert "Nothing was timed" in index.text
    assert {row["mean"] for row in page.table("Measures")} == {"not measured"}


def test_a_study_without_runs_says_so(build_page: Build, drawn: ModuleType) -> None:
    page = drawn.Page(build_page(drawn.table([]), runs=(), timings=drawn.table([])))
    assert "No runs are in this build." in page.text
    assert not page.attribute("id", "figure")


# --- what no figure declares


def test_a_study_without_a_file_of_figures_shows_every_metric_with_its_seeds(
    build_page: Build, drawn: ModuleType
) -> None:
    runs = (drawn.trained(), drawn.EXACT)
    table = drawn.draw_observations(*runs, study_name="plain")
    page = drawn.Page(build_page(table, runs, name="plain", title="Plain"))
    assert "No text is written for them" in page.text
    named = {name.removeprefix("figure:plain:metric-") for name in page.attribute("id", "figure")}
    assert named == set(table["metric"]) - {"parameters", "tokens", "best_epoch", "diverged"}
    losses = table[(table["run"] == "flm") & (table["metric"] == "loss") & (table["condition"] == "sentences=all")]
    rows = page.table("Numbers of the figure: loss, by sentences")
    assert [row["loss, sentences all"] for row in rows][:5] == [f"{value:.4f}" for value in losses["value"]]


def test_what_a_studys_figures_show_is_not_repeated_below_them(build_page: Build, drawn: ModuleType) -> None:
    page = drawn.Page(build_page())
    folded = page.table("Numbers of the figure: divergence, by sentences")
    assert [name for name in folded[0] if name.startswith("divergence")] == [
        "divergence, sentences other",
        "divergence, sentences withheld",
    ]
    assert "figure:garden:metric-excess" not in page.attribute("id", "figure")


def test_a_claims_evidence_that_only_a_folded_figure_shows_leads_there(
    build_page: Build, drawn: ModuleType
) -> None:
    verdict = drawn.verdict(
        "objectives:a", "reproduced", evidence=(drawn.LOSS._replace(condition="sentences=other"),)
    )
    one = Judged({"objectives:a": drawn.claim("a")}, [verdict.row()], {})
    page = drawn.Page(build_page(claims=one))
    assert "#figure:garden:metric-loss" in page.attribute("href", "a")


def test_numbers_of_a_single_run_without_seed_and_texts_are_one_table(
    build_page: Build, drawn: ModuleType
) -> None:
    found = [
        row
        for run, one in (
            ("exact", Observation("vocabulary", 90, unit="count")),
            ("exact", Observation("grammatical", 1.0, {"sentence": "she picks it ."}, "share")),
            ("flm", Observation("raised", math.nan, text="ValueError")),
        )
        for row in rows([one], study="recall", run=run, seed=0 if run == "flm" else None)
    ]
    page = drawn.Page(build_page(drawn.table(found), name="recall"))
    table = page.table("Numbers of the figure: Numbers without seeds")
    assert [
        (row["metric"], row["condition"], row["value"]) for row in table if row["value"] != "not measured"
    ] == [
        ("grammatical", "sentence she picks it .", "100.0\N{NO-BREAK SPACE}%"),
        ("raised", "", "ValueError"),
        ("vocabulary", "", "90"),
    ]


def _kinds(drawn: ModuleType, *conditions: dict[str, object]) -> list[str]:
    """The kinds of drawing of a metric that was measured under these conditions, of one run."""
    run = drawn.trained()
    found = [
        row
        for seed in run.seeds
        for at in conditions
        for row in rows([Observation("x", 0.5, at)], study="plain", run="flm", seed=seed)  # type: ignore[arg-type]
    ]
    results = Results(drawn.table(found), drawn.study(run, name="plain"))
    return [type(panel.drawing).__name__ for one in other_figures(results, ()) for panel in one.panels]


def test_the_drawing_of_a_metric_follows_from_its_conditions(drawn: ModuleType) -> None:
    numbers = [{"distance": distance} for distance in (1, 2, 50)]
    words = [{"slot": slot} for slot in "abcde"]
    grid = [{"layer": layer, "head": head} for layer in (1, 2) for head in (1, 2, 3, 4)]
    mixed = [
        {"numbers": kind, "attractors": k, **more}
        for kind in "om"
        for k in range(3)
        for more in ({}, {"subject": "one"})
    ]
    assert _kinds(drawn, {}) == ["Dots"]
    assert _kinds(drawn, *numbers[:2]) == ["Dots", "Dots"]
    assert _kinds(drawn, *numbers) == ["Curves"]
    assert _kinds(drawn, *words) == ["Dots"]
    assert _kinds(drawn, *grid) == ["Heat"]
    assert _kinds(drawn, *mixed) == ["Curves"] * 4


def test_a_metric_of_thousands_of_marks_is_a_table(drawn: ModuleType) -> None:
    assert _kinds(drawn, *({"distance": distance} for distance in range(401))) == []


# --- several studies, and parts


def _tables(drawn: ModuleType, runs: tuple[ShownRun, ...], names: list[str]) -> list[pd.DataFrame]:
    """The observations and the timings of several studies."""
    return [
        pd.concat([draw(*runs, study_name=name) for name in names])
        for draw in (drawn.draw_observations, drawn.draw_timings)
    ]


def _studies(drawn: ModuleType, runs: tuple[ShownRun, ...], names: list[str]) -> list[ShownStudy]:
    return [drawn.study(*runs, name=name, title=f"The {name}") for name in names]


def test_pages_lead_to_each_other_and_every_link_arrives(drawn: ModuleType) -> None:
    names, runs = ["garden", "recall"], (drawn.trained(), drawn.EXACT)
    texts = drawn.build_site(*_tables(drawn, runs, names), _studies(drawn, runs, names), drawn.judged())
    pages = {name: drawn.Page(text) for name, text in texts.items()}
    assert set(pages) == {"index.html", "claims.html", "garden.html", "recall.html"}
    for name, page in pages.items():
        found = [href for href in page.attribute("href", "a") if not href.startswith("data:")]
        assert set(pages) <= {href.partition("#")[0] for href in page.attribute("href", "a")}
        for href in found:
            target, _, place = href.partition("#")
            assert not place or place in pages[target or name].attribute("id"), f"{name}: {href}"


def test_a_page_of_a_study_is_the_same_whatever_other_studies_measured(drawn: ModuleType) -> None:
    names, runs = ["garden", "recall"], (drawn.trained(), drawn.EXACT)
    table, _ = _tables(drawn, runs, names)
    own = table[table["study"] == "garden"]
    one, site = drawn.study(*runs), Site({"garden": "The garden", "recall": "Recall"}, {}, drawn.TEMPLATES)
    pages = [study.build(site, one, (), rows, drawn.judged(), drawn.FINGERPRINT) for rows in (table, own)]
    assert pages[0] == pages[1]


def test_a_study_cannot_have_the_name_of_another_page(drawn: ModuleType) -> None:
    with pytest.raises(ValueError, match=r"study claims: the page claims\.html is another"):
        Site({"claims": "Claims"}, {}, drawn.TEMPLATES)


def test_figures_stand_under_the_headings_of_their_parts(
    monkeypatch: pytest.MonkeyPatch, build_page: Build, drawn: ModuleType
) -> None:
    loss = Measure("loss", "loss", "loss", "nat", {"sentences": "all"})

    def parts(results: Results) -> list[Part]:
        one = figure(results, "loss", "How high is the loss?", "It is.", strip(results, loss))
        return [Part("Context", "What a [[seed]] changes.", (one,)), Part("Generation")]

    module = SimpleNamespace(MEASURES=(loss,), parts=parts)
    monkeypatch.setattr("seedbed.reporting.sections.study_module", lambda study: module)
    html = build_page(drawn.draw_observations(drawn.trained(), drawn.EXACT))
    page = drawn.Page(html)
    ids = page.attribute("id")
    assert ids.index("part:garden:Context") < ids.index("figure:garden:loss") < ids.index("part:garden:Generation")
    assert "#part:garden:Context" in page.attribute("href", "a")
    assert re.search(r'<h3 class="question">.*?How high is the loss', html)
    assert "What a seed changes." in page.text


def test_the_example_of_the_documentation_builds(monkeypatch: pytest.MonkeyPatch, drawn: ModuleType) -> None:
    text = (drawn.TEMPLATES.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    code = (
        text.partition("## Figures of a study")[2].partition('    """The farm')[2].partition("\nBeside panels")[0]
    )
    module = ModuleType("example")
    exec(textwrap.dedent('    """The farm' + code), module.__dict__)
    monkeypatch.setattr("seedbed.reporting.sections.study_module", lambda study: module)
    site = Site({"farm": "The farm"}, {}, drawn.TEMPLATES)
    html = study.build(site, farm.STUDY, (), farm.observations(), Judged({}, [], {}), drawn.FINGERPRINT)
    page = drawn.Page(html)
    declared = [name for name in page.attribute("id", "figure") if ":metric-" not in name]
    assert declared == ["figure:farm:agreement", "figure:farm:heads", "figure:farm:cut"]
    assert re.search(r"With 4 attractors the means of the trained runs are [\d.]+\s%", page.text)


def test_the_page_says_its_fingerprint_where_the_next_build_looks_first(
    build_page: Build, drawn: ModuleType
) -> None:
    for page in ("index", "claims", "study"):
        head = build_page(page=page).encode()[:4096].decode(errors="ignore")  # as `storage.carries` reads it
        assert f'<meta name="seedbed-fingerprint" content="{drawn.FINGERPRINT}">' in head


# --- demonstrations


def _demonstrated(drawn: ModuleType) -> pd.DataFrame:
    """A demonstration without random numbers, and one of five streams."""
    exact = [
        Observation("vocabulary", 90, unit="count"),
        *(
            Observation("share", 1 / at, {"distance": at, "network": net}, "share")
            for at in (1, 2, 5)
            for net in "ab"
        ),
    ]
    found = rows(exact, study="demonstrations", run="facts", seed=None)
    for seed in range(5):
        drawn_once = [Observation("mean", 1 + 0.1 * seed, unit="nat", n=100)]
        found = [*found, *rows(drawn_once, study="demonstrations", run="streams", seed=seed)]
    return drawn.table(found)


NOTES = "lecture-notes"
DEMONSTRATED = (
    ShownDemonstration("facts", "What is exactly true?", "Counted, not measured by [[run]]s.", (), (NOTES,)),
    ShownDemonstration("streams", "How far do random numbers go?", "Drawn five times.", tuple(range(5)), (NOTES,)),
    ShownDemonstration("elsewhere", "What does another lecture show?", "Nothing here.", (), ("lecture-other",)),
)


@pytest.fixture
def lecture_site(drawn: ModuleType) -> Site:
    return Site({"garden": "The garden"}, {NOTES: "Notes of a lecture"}, drawn.TEMPLATES)


def test_each_demonstration_has_its_question_its_lead_and_all_its_numbers(
    drawn: ModuleType, lecture_site: Site
) -> None:
    topics: dict[str, tuple[str, ...]] = {"facts": (), "streams": ()}
    nothing = Judged({}, [], {})
    html = lecture.build(
        lecture_site, NOTES, topics, DEMONSTRATED, _demonstrated(drawn), nothing, drawn.FINGERPRINT
    )
    page = drawn.Page(html)
    assert "Notes of a lecture" in page.text
    assert "another lecture" not in page.text
    ids = page.attribute("id", "section")
    assert ids[:2] == ["demonstration:facts", "demonstration:streams"]
    assert "Counted, not measured by runs." in page.text
    curves = page.table("Numbers of the figure: share, by distance and network")
    assert [row["value"] for row in curves][:3] == [
        "100.0\N{NO-BREAK SPACE}%",
        "100.0\N{NO-BREAK SPACE}%",
        "50.0\N{NO-BREAK SPACE}%",
    ]
    numbers = [rows for name, rows in page.tables.items() if ": The numbers of " in name]
    assert [rows[1][2].strip() for rows in numbers] == ["90", numbers[1][1][2].strip()]
    assert "Independent streams of them: 5" in page.text
    assert numbers[1][1][4].strip() == "1.2000"


def test_a_claim_on_a_demonstration_leads_to_its_numbers(drawn: ModuleType, lecture_site: Site) -> None:
    cell = drawn.LOSS._replace(study="demonstrations", run="facts", metric="vocabulary", condition="")
    one = Judged(
        {"objectives:a": drawn.claim("a")},
        [drawn.verdict("objectives:a", "reproduced", evidence=(cell,)).row()],
        {},
    )
    table = _demonstrated(drawn)
    page = drawn.Page(claims.build(lecture_site, [], DEMONSTRATED, table, one, drawn.FINGERPRINT))
    assert {"#observation:demonstrations:facts:vocabulary:", "lecture-notes.html#demonstration:facts"} < set(
        page.attribute("href", "a")
    )
    (row,) = page.table("Observations that the claims rest on")
    assert (row["run"], row["mean"], row["shown in"]) == ("facts", "90", "The numbers of facts")
    topics = {"facts": ("objectives:a",)}
    html = lecture.build(lecture_site, NOTES, topics, DEMONSTRATED, table, one, drawn.FINGERPRINT)
    own = drawn.Page(html)
    assert "#demonstration:facts" in own.attribute("href", "a")
    (beside,) = own.table("Claims: What is exactly true?")
    assert "reproduced" in beside["outcome"]
    assert "Of 1 claim" in own.text


def test_a_figure_of_a_study_reads_a_demonstration_by_the_values_of_a_key(drawn: ModuleType) -> None:
    one = Results(_demonstrated(drawn), drawn.study(drawn.trained()))
    found = one.of_demonstration("facts", "network", {"b": "Network B"})
    assert [(run.name, run.label, run.kind) for run in found.study.runs] == [
        ("b", "Network B", "reference"),
        ("a", "a", "reference"),
    ]
    share = Measure("share", "share", "share", "share", {"distance": 5})
    assert found.mean(found.study.runs[0], share) == pytest.approx(0.2)
    assert found.study.name == "garden"


def test_a_demonstration_is_read_anew_for_another_key(drawn: ModuleType) -> None:
    one = Results(_demonstrated(drawn), drawn.study(drawn.trained()))
    by_network, by_distance = (one.of_demonstration("facts", key, {}) for key in ("network", "distance"))
    assert {run.name for run in by_network.study.runs} == {"a", "b"}
    assert {run.name for run in by_distance.study.runs}.isdisjoint({"a", "b"})
    assert one.of_demonstration("facts", "network", {}) is by_network
