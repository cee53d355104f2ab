import csv
import io
import math
from urllib.parse import unquote

import pytest

from seedbed.reporting.tables import Column, Strip, Table, Value
from seedbed.statistics.intervals import Interval

COLUMNS = (
    Column("run", "run"),
    Column("seeds", "seeds"),
    Column("value", "value", "nat"),
    Column("interval", "95 % interval", "nat"),
)


def table(*rows: tuple[object, ...]) -> Table:
    return Table("name", COLUMNS, tuple(rows))  # type: ignore[arg-type]


def test_csv_gives_back_names_and_ten_digits() -> None:
    awkward = 'a,"b"\n<script>'
    one = table((awkward, Strip({0: 1.0}, "nat"), 0.1 + 0.2, Interval(1, 1 / 3, 2, 2)))
    link = unquote(one.link().partition(",")[2])
    header, row = csv.reader(io.StringIO(link.removeprefix("\ufeff")))
    assert link.encode().startswith(b"\xef\xbb\xbf")  # by which a spreadsheet knows UTF-8
    assert header == ["run", "value", "low", "high"]
    assert row[0] == awkward
    assert row[1:] == ["0.3", "0.3333333333", "2"]


@pytest.mark.parametrize(
    ("first", "fields"), [("none", ["none", "none"]), (None, ["", ""]), (Interval(1, 0, 3, 2), ["0", "3"])]
)
def test_an_interval_is_two_fields_of_a_csv_in_every_row_whichever_comes_first(
    first: Value, fields: list[str]
) -> None:
    seeds = Strip({}, "nat")
    one = table(("exact", seeds, 1.0, first), ("flm", seeds, 1.0, Interval(1, 0.5, 2, 3)))
    header, *rows = csv.reader(io.StringIO(one.csv()))
    assert header == ["run", "value", "low", "high"]
    assert [row[2:] for row in rows] == [fields, ["0.5", "2"]]


@pytest.mark.parametrize(
    ("text", "field"),
    [("106,496", "106496"), ("1,000.5", "1000.5"), ("1,2", "1,2"), ("1,000 to 2,000", "1,000 to 2,000")],
)
def test_a_number_with_separators_is_a_number_in_a_csv(text: str, field: str) -> None:
    one = table((text, Strip({}, "nat"), 1.0, Interval(1, 1, 1, 2)))
    assert list(csv.reader(io.StringIO(one.csv())))[1][0] == field


def test_csv_keeps_missing_and_non_finite_apart() -> None:
    one = table(*[("flm", Strip({}, "nat"), value, Interval(1, 1, 1, 2)) for value in (None, math.nan)])
    assert [row[1] for row in csv.reader(io.StringIO(one.csv()))] == ["value", "", "nan"]


def test_only_what_does_not_read_as_its_number_has_something_to_sort_by() -> None:
    values = (None, math.nan, "undefined", 0.5, -1.25, 6.6e-7)
    one = table(*[("flm", Strip({}, "nat"), value, Interval(1, math.nan, math.nan, 1)) for value in values])
    assert [row[2].sort for row in one.shown()] == ["", "", "", "", "", "6.6e-07"]
    assert {row[3].sort for row in one.shown()} == {""}
    (defined,) = table(("flm", Strip({}, "nat"), 1.0, Interval(1, 0.5, 2, 3))).shown()
    assert defined[3].sort == "0.5"


def test_shares_sort_in_per_cent_as_they_are_written() -> None:
    columns = (Column("share", "share", "share"), Column("interval", "95 %", "share"))
    one = Table("shares", columns, ((6.6e-7, Interval(1, 0.25, 0.5, 3)), (0.741, Interval(1, 0.5, 1, 3))))
    assert [[cell.sort for cell in row] for row in one.shown()] == [["6.6e-05", "25"], ["", "50"]]


def test_a_strip_shows_every_finite_seed_and_reads_all_of_them_out() -> None:
    strip = Strip({0: 1.0, 1: 3.0, 2: math.nan, 3: None, 4: 2.0}, "nat")
    assert strip.dots() == [0, 50, 100]
    assert "seed 2: non-finite; seed 3: not measured" in strip.words()


def test_a_strip_of_equal_seeds_stands_in_the_middle() -> None:
    assert Strip({0: 0.1, 1: 0.1}, "nat").dots() == [50, 50]
