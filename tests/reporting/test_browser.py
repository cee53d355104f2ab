"""The page in Chromium. Skips by name where there is none, unless SEEDBED_REQUIRE_CHROMIUM=1 asks for it."""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import drawn_farm as farm
import pandas as pd
import pytest

from seedbed.reporting import sections

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
QUIET += ["--disable-component-update", "--disable-sync"]

pytestmark = pytest.mark.skipif(
    not CHROMIUM and os.environ.get("SEEDBED_REQUIRE_CHROMIUM") != "1", reason="Chromium is not installed"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, drawn: ModuleType) -> Path:
    """The pages of the garden, of a study in parts with every kind of panel, and of one without a file."""
    runs = (drawn.trained(), drawn.trained("gru", 3, "GRU"), drawn.EXACT, drawn.WINDOW)
    plain = replace(farm.STUDY, name="plain", title="The farm without a file")
    table = pd.concat([drawn.draw_observations(*runs), farm.observations(), farm.observations("plain")])
    folder = tmp_path_factory.mktemp("site")
    own = sections.study_module
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sections, "study_module", lambda name: farm if name == "farm" else own(name))
        studies = [drawn.study(*runs), farm.STUDY, plain]
        for name, text in drawn.build_site(table, drawn.draw_timings(*runs), studies, drawn.judged()).items():
            (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(params=["index", "claims", "garden", "farm", "plain"])
def each(request: pytest.FixtureRequest, site: Path) -> Path:
    """Each page in turn."""
    return site / f"{request.param}.html"


@pytest.fixture
def open_page(browser, build_page: Callable[..., str], tmp_path: Path) -> Iterator[Callable]:  # noqa: ANN001
    """Opens a page without network, that of the drawn tables where none is given.

    Afterwards no request has left and no error stands in the console.
    """
    faults: list[str] = []
    contexts = []

    def opened(width: int = 1280, path: Path | None = None, name: str = "study", **settings):  # noqa: ANN003, ANN202
        if path is None:
            path = tmp_path / "page.html"
            path.write_text(build_page(page=name), encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": 900}, offline=True, **settings)
        contexts.append(context)
        page = context.new_page()
        page.on(
            "request", lambda request: request.url.startswith(("file:", "data:")) or faults.append(request.url)
        )
        page.on("console", lambda message: faults.append(message.text))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(path.as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert faults == []


OPEN_ALL = "document.querySelectorAll('details').forEach(one => one.open = true)"

#: Every text and mark that stands out less from what is behind it than it must, as words.
FAINT = """() => {
    const numbers = text => (text.match(/[0-9.]+/g) || []).map(Number);
    const linear = part => (part /= 255) <= .04045 ? part / 12.92 : ((part + .055) / 1.055) ** 2.4;
    const light = ([r, g, b]) => .2126 * linear(r) + .7152 * linear(g) + .0722 * linear(b);
    const mixed = (color, alpha, behind) => color.map((part, i) => alpha * part + (1 - alpha) * behind[i]);
    const ratio = (a, b) => (Math.max(light(a), light(b)) + .05) / (Math.min(light(a), light(b)) + .05);
    const behind = element => {
        for (let at = element; at; at = at.parentElement) {
            const [r, g, b, alpha = 1] = numbers(getComputedStyle(at).backgroundColor);
            if (alpha === 1) return [r, g, b];
        }
        return [255, 255, 255];
    };
    const faint = [];
    const judge = (element, paint, alpha, least) => {
        const ground = behind(element), [r, g, b, own = 1] = numbers(paint);
        const found = ratio(mixed([r, g, b], alpha * own, ground), ground);
        const words = element.textContent.trim().slice(0, 30);
        if (found < least) faint.push(`${element.tagName} ${element.getAttribute("class")} ${words}: ${found}`);
    };
    for (const element of document.querySelectorAll("main *, nav *")) {
        if (!element.checkVisibility() || element.closest("output, select, [hidden]")) continue;
        const style = getComputedStyle(element);
        const words = [...element.childNodes].some(one => one.nodeType === 3 && one.textContent.trim());
        if (element.closest("svg")) {
            if (element.tagName === "text") judge(element, style.fill, 1, 4.5);
            if (element.tagName === "use" && style.fill !== "none" && Number(style.fillOpacity))
                judge(element, style.fill, Number(style.fillOpacity), 2);
        } else if (words) judge(element, style.color, 1, parseFloat(style.fontSize) >= 24 ? 3 : 4.5);
    }
    return [...new Set(faint)];
}"""


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_every_text_and_mark_stands_out_from_what_is_behind_it(open_page: Callable, each: Path, mode: str) -> None:
    page = open_page(path=each, color_scheme=mode)
    page.evaluate(OPEN_ALL)
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor").removeprefix("rgb(").split(",")[0]
    assert (int(paper) > 200) == (mode == "light")
    assert page.evaluate(FAINT) == []


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_every_figure_is_seen_at_both_widths_in_both_modes(
    open_page: Callable, site: Path, width: int, mode: str
) -> None:
    seen = 0
    for path in site.iterdir():
        page = open_page(width, path, color_scheme=mode)
        page.evaluate(OPEN_ALL)
        boxes = page.evaluate(
            "[...document.querySelectorAll('svg.panel')]"
            ".map(one => [one.getBoundingClientRect().width, one.getBBox().height])"
        )
        seen += len(boxes)
        assert all(width >= 150 and height > 40 for width, height in boxes)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert seen > 40


def test_headings_follow_each_other_without_a_gap(open_page: Callable, each: Path) -> None:
    levels = open_page(path=each).evaluate(
        "[...document.querySelectorAll('h1, h2, h3, h4, h5, h6')].map(one => Number(one.tagName[1]))"
    )
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_the_keyboard_goes_through_the_page_in_its_order_and_shows_where_it_is(
    open_page: Callable, each: Path
) -> None:
    page = open_page(path=each, reduced_motion="reduce")
    place = """() => {
        const one = document.activeElement, style = getComputedStyle(one), box = one.getBoundingClientRect();
        return {
            at: [...document.querySelectorAll("*")].indexOf(one),
            outline: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
            seen: box.width > 0 && box.bottom > 0 && box.top < innerHeight,
            name: one.className || one.tagName,
        };
    }"""
    places = []
    for _ in range(80):
        page.keyboard.press("Tab")
        found = page.evaluate(place)
        if places and found["name"] in ("skip", "BODY"):  # a short page begins again
            break
        places.append(found)
    assert len(places) > 20
    assert places[0]["name"] == "skip"
    assert [one["at"] for one in places] == sorted(one["at"] for one in places)
    assert [one for one in places if not (one["outline"] and one["seen"])] == []


def test_the_first_link_skips_to_the_results(open_page: Callable) -> None:
    page = open_page()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('main') !== null")


def _opened(page):  # noqa: ANN001, ANN202
    """The table below the figure on closeness, unfolded."""
    figure = page.locator('[id="figure:garden:closeness"]')
    figure.locator("summary").click()
    return figure.locator("table")


def test_a_table_is_sorted_by_value_from_the_keyboard(open_page: Callable) -> None:
    table = _opened(open_page())
    button = table.get_by_role("button", name="perplexity")
    column = table.locator("tbody td:nth-child(3)")
    orders = []
    for _ in range(2):
        button.press("Enter")
        orders.append([float(text) for text in column.all_inner_texts()])
    assert orders == [sorted(orders[0]), sorted(orders[0], reverse=True)]


def test_cells_sort_by_what_they_say(open_page: Callable) -> None:
    cells = {
        "<td>−0.5</td>": -0.5,
        "<td>1,204</td>": 1204,
        "<td>74.1\N{NO-BREAK SPACE}%</td>": 74.1,
        '<td data-sort="6.6e-05">6.6 × 10⁻⁵</td>': 6.6e-5,
        '<td data-sort="25">25.0 % to 50.0 %</td>': 25,
        "<td>not measured</td>": None,
        "<td>none</td>": None,
        "<td>non-finite</td>": None,
        '<td class="text">flm 10</td>': "flm 10",
        '<td class="text" data-sort="not run">○ not run</td>': "not run",
    }
    found = """rows => {
      const table = document.createElement("table");
      return rows.map(row => { table.innerHTML = `<tr>${row}</tr>`; return value(table.rows[0], 0); });
    }"""
    assert open_page().evaluate(found, list(cells)) == list(cells.values())


def test_a_column_tells_in_which_order_it_is_sorted_and_only_that_one(open_page: Callable) -> None:
    table = _opened(open_page())
    sorts = "heads => heads.map(one => one.getAttribute('aria-sort'))"
    heads = table.locator("th")
    for key, name, expected in (
        ("Enter", "seed", [None, "ascending"]),
        ("Space", "seed", [None, "descending"]),
        ("Enter", "run", ["ascending", None]),
    ):
        table.get_by_role("button", name=name, exact=True).press(key)
        assert heads.evaluate_all(sorts)[:2] == expected


def test_what_is_no_number_stays_last_in_both_directions(open_page: Callable) -> None:
    table = _opened(open_page())
    for _ in range(2):
        table.get_by_role("button", name="seed").press("Space")
        assert table.locator("tbody td:nth-child(2)").all_inner_texts()[-1] == "none"


def test_the_filter_keeps_the_rows_that_hold_its_words(open_page: Callable) -> None:
    page = open_page()
    page.locator("#seeds").get_by_role("searchbox").fill("flm withheld")
    shown = page.locator("#seeds tbody tr:visible").all_inner_texts()
    assert len(shown) == 2
    assert all("withheld" in row for row in shown)
    assert page.locator("#seeds output").inner_text() == "2 of 11 rows"


def test_a_word_of_the_glossary_is_explained_on_focus(open_page: Callable) -> None:
    page = open_page()
    page.locator("a.term", has_text="divergence").first.focus()
    assert "Kullback-Leibler" in page.get_by_role("tooltip").inner_text()
    page.keyboard.press("Escape")
    assert not page.get_by_role("tooltip").is_visible()


def test_without_script_everything_is_there_and_nothing_is_dead(open_page: Callable) -> None:
    page = open_page(java_script_enabled=False)
    assert page.locator("button:visible, input:visible").count() == 0
    assert page.locator("svg.panel:visible").count() == 11
    page.locator("summary").first.click()
    assert page.locator("details table").first.is_visible()
    page.locator("details.others > summary").click()
    assert page.locator("details.others table").first.is_visible()


def test_a_link_to_a_figure_that_is_folded_away_shows_it(open_page: Callable) -> None:
    page = open_page()
    figure = page.locator('[id="figure:garden:metric-loss"]')
    assert not figure.is_visible()
    page.goto(page.url + "#figure:garden:metric-loss")
    figure.wait_for(state="visible")


def test_studies_and_their_parts_are_found_from_the_navigation(open_page: Callable, site: Path) -> None:
    page = open_page(path=site / "index.html")
    page.locator("nav").get_by_role("link", name="The farm", exact=True).click()
    assert page.url.endswith("/farm.html")
    assert page.locator("nav [aria-current=page]").inner_text() == "The farm"
    page.locator("nav").get_by_role("link", name="Attention", exact=True).click()
    heading = page.locator("main").get_by_role("heading", name="Attention", exact=True)
    heading.wait_for(state="visible")
    page.wait_for_function(
        "one => one.getBoundingClientRect().top < innerHeight / 2", arg=heading.element_handle()
    )


@pytest.mark.parametrize(
    ("anchor", "leads"),
    [
        ("figure:garden:closeness", "garden.html"),
        ("part:farm:Attention", "farm.html"),
        ("run:plain:near", "plain.html"),
        ("claim:objectives:contradicted", "claims.html"),
        ("observation:garden:flm:loss:sentences%3Dall", "claims.html"),
        ("excluded:objectives:time", "claims.html"),
        ("claims", "claims.html"),
        ("figure:garden:knowledge", "index.html"),
        ("cost", "index.html"),
        ("figure:nowhere:closeness", "index.html"),
    ],
)
def test_an_address_of_the_single_page_leads_to_the_page_that_has_it_now(
    open_page: Callable, site: Path, anchor: str, leads: str
) -> None:
    page = open_page(path=site / "index.html")
    page.goto(f"{(site / 'index.html').as_uri()}#{anchor}")
    page.wait_for_url(f"**/{leads}#{anchor}")
    if leads != "index.html":
        page.locator(f'[id="{anchor}"]').wait_for(state="visible")


# --- on paper


def test_on_paper_the_page_is_light_and_has_no_controls(open_page: Callable, each: Path) -> None:
    page = open_page(794, each, color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert (
        page.locator("nav:visible, .filter:visible, .download:visible, summary:visible, .skip:visible").count()
        == 0
    )
    ink = page.evaluate("getComputedStyle(document.querySelector('h1')).color")
    assert max(map(int, ink.removeprefix("rgb(").removesuffix(")").split(","))) < 100
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgba(0, 0, 0, 0)"


def test_on_paper_no_heading_is_left_alone_and_a_figure_stays_whole(open_page: Callable, site: Path) -> None:
    page = open_page(794, site / "farm.html")
    page.emulate_media(media="print")
    for selector, rule, value in (
        ("h2", "breakAfter", "avoid"),
        ("h3.question", "breakAfter", "avoid"),
        (".panel-title", "breakAfter", "avoid"),
        ("figure", "breakInside", "avoid"),
    ):
        assert (
            page.evaluate("([a, b]) => getComputedStyle(document.querySelector(a))[b]", [selector, rule]) == value
        )


def test_on_paper_folded_claims_are_open_and_long_tables_of_figures_are_not(
    open_page: Callable, site: Path
) -> None:
    page = open_page(794, site / "garden.html")
    page.emulate_media(media="print")
    height = "one => one.getBoundingClientRect().height"
    assert page.locator("#claims details.more table").first.evaluate(height) > 20
    assert page.locator("figure .data:visible").count() == 0
    assert page.locator("details.others svg.panel:visible").count() == 0
    assert page.locator("svg.panel:visible").count() > 8


def test_claims_are_filtered_by_outcome_and_words_from_the_keyboard(open_page: Callable) -> None:
    page = open_page(name="claims")
    choice = page.locator("#claims select")
    choice.focus()
    page.keyboard.press("ArrowDown")
    shown = page.locator("#claims table").first.locator("tbody tr:visible")
    assert choice.input_value() == "reproduced"
    assert [cell.strip() for cell in shown.locator("td.outcome").all_inner_texts()] == ["✓ reproduced"] * 2
    page.keyboard.press("Tab")
    page.keyboard.type("says b.")
    assert shown.count() == 1
    assert page.locator("#claims output").inner_text() == "1 of 8 rows"


def test_a_link_to_folded_or_filtered_evidence_shows_it(open_page: Callable) -> None:
    page = open_page(name="claims")
    page.locator("#claims").get_by_role("searchbox").fill("says b")
    page.locator('[id="claim:objectives:b.reproduced"] td.evidence a').press("Enter")
    row = page.locator('[id="observation:garden:flm:loss:sentences%3Dall"]')
    row.wait_for(state="visible")
    page.goto(page.url.partition("#")[0] + "#claim:objectives:a.reproduced")
    page.locator('[id="claim:objectives:a.reproduced"]').wait_for(state="visible")


def test_on_a_phone_a_claim_is_read_without_scrolling_sideways(open_page: Callable) -> None:
    page = open_page(390, name="claims")
    scroll = page.locator("#claims .scroll").first
    assert scroll.evaluate("one => one.scrollWidth <= one.clientWidth")
    page.locator("#claims").get_by_role("button", name="outcome").first.press("Enter")
    first = page.locator("#claims table").first.locator("tbody tr").first
    assert "contradicted" in first.inner_text()
