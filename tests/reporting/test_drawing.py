import math
import re
import sys
from itertools import pairwise
from xml.etree import ElementTree

import processes
import pytest

from seedbed.reporting.drawing.canvas import COLORS, LETTER, WIDTH
from seedbed.reporting.drawing.curves import Curve, Curves
from seedbed.reporting.drawing.dots import Dots, Group, Row, Span
from seedbed.reporting.drawing.heat import Heat, HeatRow, Tile
from seedbed.reporting.drawing.marks import Axis, Mark
from seedbed.reporting.drawing.patterns import Pattern
from seedbed.reporting.drawing.points import Point, Points
from seedbed.reporting.drawing.svg import draw


def dots(label: str = "flm", values: dict[int | None, float | None] | None = None) -> Dots:
    seeds = {0: 3.8, 1: 3.9, 2: 3.85} if values is None else values
    return Dots(
        (Row(label, "3.85, n = 3", (Group(seeds, 3.85, (Span(3.8, 3.9),)),)),),
        "perplexity",
        Mark(3.655, "floor 3.655"),
    )


def curves(*points: float) -> Curves:
    line = Curve("seed 0", tuple(enumerate(points, 1)), ring=2)
    return Curves((line,), Axis("count", "epoch"), Axis("perplexity"), Mark(3.655, "floor"))


def test_every_seed_is_a_mark_with_its_words() -> None:
    titles = [title.text for title in ElementTree.fromstring(draw(dots(), "p", "Loss")).iter("title")]
    assert titles == ["seed 0: 3.800", "seed 1: 3.900", "seed 2: 3.850"]


def test_the_alternative_text_tells_title_mark_and_rows() -> None:
    alt = ElementTree.fromstring(draw(dots(), "p", "Loss")).get("aria-label")
    assert alt == "Loss. floor 3.655; flm: 3.85, n = 3."


def test_no_color_of_its_own_is_left_for_either_mode() -> None:
    for panel in (dots(), curves(4.5, 4.1, 3.9)):
        svg = draw(panel, "p", "Loss")
        assert not re.search(r"#[0-9a-f]{6}\b(?!-)", svg)
        assert set(re.findall(r"var\(--([\w-]+)\)", svg)) <= set(COLORS)


def test_nothing_leads_outside_and_ids_are_the_panels_own() -> None:
    svg = draw(dots(), "garden:p", "Loss")
    assert "http" not in svg
    ids = re.findall(r' id="([^"]+)"', svg)
    assert ids
    assert not set(ids) & set(re.findall(r' id="([^"]+)"', draw(dots(), "garden:q", "Loss")))
    assert set(re.findall(r'href="#([^"]+)"', svg)) | set(re.findall(r"url\(#([^)]+)\)", svg)) <= set(ids)


@pytest.mark.parametrize("label", ["<script>alert(1)</script>", "$x$ 50 % \\alpha", "园 🌱", "a\x00b", "x" * 300])
def test_labels_are_text_whatever_they_hold(label: str) -> None:
    root = ElementTree.fromstring(draw(dots(label), "p", "Loss"))
    assert not list(root.iter("script"))
    assert any((text.text or "").startswith(label[:2].rstrip("\x00")) for text in root.iter("text"))


@pytest.mark.parametrize("values", [{}, {0: None}, {0: math.nan, 1: math.inf}, {0: 2.0}, {0: 2.0, 1: 2.0}])
def test_odd_values_draw_without_warning(values: dict[int | None, float | None]) -> None:
    row = Row("flm", "note", (Group(values, math.nan, (Span(math.nan, math.nan), Span(-1, 1, "items"))),))
    draw(Dots((row,), "nat"), "p", "Loss")
    draw(Dots((), "nat"), "p", "Loss")


@pytest.mark.parametrize("place", [(math.nan, 0.5), (0.5, math.inf), (0.5, 0.5)])
def test_points_without_a_place_are_not_drawn(place: tuple[float, float]) -> None:
    axes = Axis("share", "across"), Axis("share", "up")
    panel = Points((Point("seed 0", *place), Point("seed 1", 0.1, 0.2, contrast=True)), *axes, ("dot", "triangle"))
    titles = [title.text for title in ElementTree.fromstring(draw(panel, "p", "Heads")).iter("title")]
    assert len(titles) == 1 + all(map(math.isfinite, place))
    assert titles[-1] == "seed 1: across 10.0\xa0%, up 20.0\xa0%"


def test_points_are_told_on_both_axes_in_the_unit_of_each() -> None:
    axes = Axis("share", "across"), Axis("nat", "up")
    panel = Points((Point("seed 0", 0.5, 1.25), Point("seed 1", 0.75, 2.5)), *axes, ("dot", "triangle"))
    assert panel.words() == "2 points, across 50.0\xa0% to 75.0\xa0%, up 1.2500 to 2.5000"


@pytest.mark.parametrize("rows", [((0.0,),), ((1.0, 1.0, 0.5),), ((0.0, 1.0), (1.0, 0.0), (0.2, 0.2))])
def test_a_pattern_has_a_mark_for_each_stretch_of_equal_shares(rows: tuple[tuple[float, ...], ...]) -> None:
    titles = [t.text for t in ElementTree.fromstring(draw(Pattern(rows), "p", "Inputs")).iter("title")]
    assert titles == [stretch.words() for stretch in Pattern(rows).stretches()]


def labels(*columns: str) -> dict[str, tuple[float, float, str]]:
    """The labels below the columns of a heat map: text → left end and height in pixels, and tooltip."""
    row = HeatRow("layer 1", tuple(Tile(None, "") for _ in columns))
    figure = Heat((row,), columns, "share", (0.0, 1.0)).figure()
    (axes,) = figure.axes
    found = {}
    for text in axes.texts[1:-1]:  # between the label of the row and the note
        x, y = axes.transData.transform(text.get_position()) * 72 / figure.dpi
        width = LETTER * len(text.get_text())
        left = x - {"left": 0, "center": 0.5, "right": 1}[text.get_ha()] * width
        found[text.get_text()] = (left, round(y), text.get_gid() or "")
    return found


GROUPS = ("attractors", "determiners", "last attractor", "prepositions", "start", "subject (noun)")


def test_labels_of_columns_that_are_longer_than_their_cells_stand_on_two_levels_and_are_whole() -> None:
    found = labels(*GROUPS)
    assert list(found) == list(GROUPS)
    upper, lower = ({y for _, y, _ in list(found.values())[first::2]} for first in (0, 1))
    assert len(upper) == len(lower) == 1
    assert min(upper) > max(lower) > 0  # pixels count from below
    assert len({y for _, y, _ in labels(*"abcdef").values()}) == 1


@pytest.mark.parametrize("columns", [GROUPS, GROUPS[1:3], GROUPS[2:3], ("word " * 9,) * 5, ("word " * 30,)])
def test_labels_of_columns_neither_meet_nor_leave_the_panel(columns: tuple[str, ...]) -> None:
    named = [f"{at}{column}" for at, column in enumerate(columns)]
    found = labels(*named)
    assert len(found) == len(named)
    for y in {y for _, y, _ in found.values()}:
        ends = [(left, left + LETTER * len(text)) for text, (left, at, _) in found.items() if at == y]
        assert all(before[1] <= after[0] for before, after in pairwise(ends))
        assert ends[0][0] >= 0
        assert ends[-1][1] <= WIDTH


def test_a_label_of_a_column_that_is_cut_all_the_same_is_told_whole() -> None:
    long = "a label that is longer than three cells"
    (text,) = [text for text in labels("a", "b", long, "d", "e", "f") if text.startswith("a label")]
    assert text.endswith("…")
    assert len(text) > 15
    assert labels("a", "b", long, "d", "e", "f")[text][2] == f"tip:{long}"


def test_a_diverged_curve_keeps_its_finite_points_and_its_words() -> None:
    panel = curves(4.5, 4.1, math.nan)
    assert draw(panel, "p", "Loss").count("<title>seed 0, epoch") == 2
    assert "from 4.500 to non-finite" in panel.words()


def test_the_line_of_the_floor_stops_short_of_the_rows_words() -> None:
    svg = draw(dots(), "p", "Loss")
    dashed = re.search(r"\.(s[0-9a-f]+)\{[^}]*dasharray", svg)
    assert dashed
    (line,) = re.findall(rf'<path d="M ([0-9.]+) ([0-9.]+) [0-9.]+ ([0-9.]+)" class="{dashed[1]}"', svg)
    top, bottom = sorted(float(y) for y in line[1:])
    baselines = [float(y) for y in re.findall(r'<text x="[0-9.]+" y="([0-9.]+)"[^>]*>(?:flm|3.85, n = 3)<', svg)]
    assert len(baselines) == 2
    assert all(y < top for y in baselines)
    assert bottom < 22 + 50


def test_a_training_of_one_epoch_has_one_tick_and_its_mean_is_seen() -> None:
    mean = Curve("flm, mean of n = 2", ((1, 4.0),), "mean")
    panel = Curves((*curves(4.1).curves, mean), Axis("count", "epoch"), Axis("perplexity"))
    svg = draw(panel, "p", "Loss")
    ticks = [text.text for text in ElementTree.fromstring(svg).iter("text")]
    assert ticks.count("1") == 1
    assert not {"0", "2", "0.95", "1.05"} & set(ticks)
    assert "<title>flm, mean of n = 2, epoch 1: 4.000</title>" in svg


def test_a_style_has_the_same_name_in_every_drawing() -> None:
    rules = [
        dict(re.findall(r"\.(s[0-9a-f]+)\{([^}]*)\}", draw(one, "p", "x"))) for one in (dots(), curves(4.5, 4.1))
    ]
    both = rules[0].keys() & rules[1].keys()
    assert both
    assert all(rules[0][name] == rules[1][name] for name in both)


def test_every_style_of_a_drawing_is_declared_in_it() -> None:
    for panel in (dots(), curves(4.5, 4.1)):
        svg = draw(panel, "p", "Loss")
        used = set(re.findall(r'class="(s[0-9a-f]{8})"', svg))
        assert used == set(re.findall(r"\.(s[0-9a-f]{8})\{", svg))


def test_many_marks_become_pixels() -> None:
    panel = dots(values={seed: 3.8 + seed / 1e5 for seed in range(2001)})
    svg = draw(panel, "p", "Loss")
    assert "<image" in svg
    assert len(svg) < 500_000


def test_importing_figures_leaves_matplotlib_alone() -> None:
    code = "import seedbed.reporting.pages.study, sys; sys.exit('matplotlib' in sys.modules)"
    assert processes.run([sys.executable, "-c", code]).returncode == 0
