"""The page in Chromium. Skips by name where there is none, unless SEEDBED_REQUIRE_CHROMIUM=1 asks for it."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

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


@pytest.fixture
def open_page(browser, build_page: Callable[..., str], tmp_path: Path) -> Iterator[Callable]:  # noqa: ANN001
    """Opens the page of the drawn tables; afterwards no request has left and no error stands in the console."""
    path = tmp_path / "index.html"
    path.write_text(build_page(), encoding="utf-8")
    faults: list[str] = []
    contexts = []

    def opened(width: int = 1280, **settings):  # noqa: ANN003, ANN202
        context = browser.new_context(viewport={"width": width, "height": 900}, **settings)
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


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_text_and_marks_stand_out_from_the_paper_in_both_modes(open_page: Callable, mode: str) -> None:
    page = open_page(color_scheme=mode)
    brightness = """(selector, property) => {
        const found = getComputedStyle(document.querySelector(selector))[property].match(/[0-9.]+/g).map(Number);
        return (0.2126 * found[0] + 0.7152 * found[1] + 0.0722 * found[2]) / 255;
    }"""

    def of(selector: str, name: str) -> float:
        return page.evaluate(f"([a, b]) => ({brightness})(a, b)", [selector, name])

    paper = of("body", "backgroundColor")
    assert (paper > 0.9) == (mode == "light")
    for selector, name in (("body", "color"), ("svg.panel text", "fill"), (".strip circle", "fill")):
        assert abs(of(selector, name) - paper) > 0.35, selector


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_never_scrolls_sideways(open_page: Callable, width: int) -> None:
    page = open_page(width)
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


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


def test_claims_are_filtered_by_outcome_and_words_from_the_keyboard(open_page: Callable) -> None:
    page = open_page()
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
    page = open_page()
    page.locator("#claims").get_by_role("searchbox").fill("says b")
    page.locator('[id="claim:objectives:b.reproduced"] td.evidence a').press("Enter")
    row = page.locator('[id="observation:garden:flm:loss:sentences%3Dall"]')
    row.wait_for(state="visible")
    page.goto(page.url.partition("#")[0] + "#claim:objectives:a.reproduced")
    page.locator('[id="claim:objectives:a.reproduced"]').wait_for(state="visible")


def test_on_a_phone_a_claim_is_read_without_scrolling_sideways(open_page: Callable) -> None:
    page = open_page(390)
    scroll = page.locator("#claims .scroll").first
    assert scroll.evaluate("one => one.scrollWidth <= one.clientWidth")
    page.locator("#claims").get_by_role("button", name="outcome").first.press("Enter")
    first = page.locator("#claims table").first.locator("tbody tr").first
    assert "contradicted" in first.inner_text()
