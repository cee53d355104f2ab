"""What CONTRIBUTING.md shows of an evaluation works as it is printed there."""

from __future__ import annotations

import re
import sys
import textwrap
from types import ModuleType

import pytest

from seedbed.configuration.configuration import ROOT
from seedbed.documents import Documents
from seedbed.languages.automaton import Language
from seedbed.measuring.context import Context
from seedbed.reporting import figures, sentences
from seedbed.reporting.drawing import marks
from seedbed.reporting.results import Results

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def example(begin: str, end: str) -> str:
    """The indented code from its first words to the text that follows it."""
    return textwrap.dedent(f"    {begin}" + TEXT.partition(f"    {begin}")[2].partition(end)[0])


def test_the_example_and_its_test_work(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    plugin, its_test = ModuleType("seedbed.evaluations.top_accuracy"), ModuleType("test_top_accuracy")
    exec(example('"""How often the most', "\nA number is an"), plugin.__dict__)
    monkeypatch.setitem(sys.modules, plugin.__name__, plugin)
    exec(example('"""Top accuracy, of a', "\nA plug-in that reads"), its_test.__dict__)
    its_test.test_the_language_itself_guesses_the_likeliest_token(context)


@pytest.mark.parametrize(
    ("row", "of"),
    [
        ("| `context.test`", Documents),
        ("| `context.language`", Language),
        ("| `results.named", Results),
        ("| `results.values", Results),
        ("| `results.over", Results),
        ("| `results.of_demonstration", Results),
        ("| `sentences.means", sentences),
        ("| `figures.Headline", figures),
    ],
)
def test_every_name_in_the_tables_exists(row: str, of: object) -> None:
    (line,) = [line for line in TEXT.splitlines() if line.startswith(row)]
    names = re.findall(r"`(?:results|sentences|figures|context)?\.?(\w+)(?:\([^)`]*\))?`", line)
    fields = getattr(of, "__annotations__", {})
    known = {*dir(of), *fields, "Documents", "Language", "test", "language", "headline"}
    assert names
    assert set(names) <= known


def test_the_lines_that_a_panel_is_read_against_exist() -> None:
    assert {"Mark", "Shading"} <= set(dir(marks))
    assert {"exact_floor", "mark"} <= set(dir(sentences))
