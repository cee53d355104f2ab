"""A job may read the files of the project that its fingerprint covers, and no others."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import processes
import pytest
from miniature import make

#: A miniature whose evaluation runs some lines; it says what a measurement of the language itself raises.
PROGRAM = """
from seedbed.configuration.configuration import Configuration
from seedbed.errors import SeedbedError
from seedbed.pipeline import guarding
from seedbed.pipeline.plan import Plan
plan = Plan(Configuration())
plan.corpus("garden", "text", "test", None).compute()
try:
    guarding.compute(plan.measurement("garden", "exact", "mine"))
except SeedbedError as error:
    print(error)
"""
EVALUATION = '''"""Mine."""
from pathlib import Path
from dataclasses import dataclass
from seedbed.observations import Observation
NEEDS = ("log_probabilities",)
SOURCE = "language"
FILES = ("words.txt",)
{head}
ROOT = Path(__file__).parents[3]
@dataclass(frozen=True)
class Options:
    """None."""
def evaluate(model, context, options):
    """Mine."""
    one = two = 1.0
    {body}
    yield Observation("mine", one)
'''


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = make(tmp_path_factory.mktemp("guarded") / "with a space").root
    study = root / "config/studies/garden.yaml"
    study.write_text(study.read_text() + "  mine: {runs: [exact]}\n")
    (root / "src/seedbed/evaluations/words.txt").write_text("one\n")
    (root / "src/seedbed/evaluations/_helper.py").write_text("ONE = 1.0\n")
    (root / "src/helper.py").write_text("ONE = 1.0\n")
    (root / "src/mine.egg-info").mkdir()
    (root / "src/mine.egg-info/PKG-INFO").write_text("Name: mine\nVersion: 1\n")
    (root / "src/mine.egg-info/entry_points.txt").write_text("[mine]\na = b\n")
    (root / "notes").mkdir()
    (root / "notes/words.txt").write_text("one\n")
    return root


def said(root: Path, body: str, head: str = "") -> str:
    """What a measurement with an evaluation of these lines says; empty if it went well."""
    text = EVALUATION.replace("{head}", head).replace("{body}", textwrap.indent(body, "    ").strip())
    (root / "src/seedbed/evaluations/mine.py").write_text(text)
    for kept in (root / "results").rglob("mine*"):
        if kept.is_file():
            kept.unlink()
    environment = {"PYTHONPATH": str(root / "src"), "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}
    done = processes.run([sys.executable, "-c", PROGRAM], cwd=root, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("body", "file", "remedy"),
    [
        ("(ROOT / 'notes/words.txt').read_text()", "notes/words.txt", "name it in the constant FILES of mine.py"),
        ("open('notes/words.txt')", "notes/words.txt", "name it in the constant FILES of mine.py"),
        ("open('config/config.yaml')", "config/config.yaml", "name it in the constant FILES"),
        (
            "import numpy\ngetattr(numpy, 'lo' + 'ad' 'txt')('notes/words.txt', dtype=str)",
            "notes/words.txt",
            "name it in the constant FILES",
        ),
        (
            "import helper\none = helper.ONE",
            "src/helper.py",
            "import it with an import statement, from src/seedbed",
        ),
        (
            "import sys\ngetattr(sys.modules['importlib'], 'import_module')('seedbed.evaluations._helper')",
            "src/seedbed/evaluations/_helper.py",
            "import it with an import statement",
        ),
        (
            "try:\n    open('notes/words.txt')\nexcept Exception:\n    pass",
            "notes/words.txt",
            "name it in the constant FILES",
        ),
    ],
)
def test_reading_what_no_fingerprint_covers_fails_with_line_and_remedy(
    root: Path, body: str, file: str, remedy: str
) -> None:
    message = said(root, body)
    assert message.startswith("src/seedbed/evaluations/mine.py:")
    assert f": reads {file}, which no fingerprint of this job covers" in message
    assert remedy in message


@pytest.mark.parametrize(
    "body",
    [
        "Path(__file__).with_name('words.txt').read_text()",
        "import seedbed.evaluations._helper",
        "import importlib\nimportlib.import_module('seedbed.evaluations._helper')",
        "import tempfile\nwith tempfile.TemporaryFile('w+') as file:\n    file.write('a')",
        "open('/proc/cpuinfo').read()",
        "import json, wave, torch, pandas, matplotlib.pyplot",
        "import importlib.metadata\nassert importlib.metadata.entry_points(group='mine')",
        "import warnings\nwarnings.warn('a', stacklevel=3)",
        "import traceback, inspect\ntraceback.format_stack()\ninspect.stack()",
    ],
)
def test_what_is_covered_or_none_of_the_projects_own_may_be_read(root: Path, body: str) -> None:
    assert said(root, body) == ""


@pytest.mark.parametrize("drawn", ["random.random()", "numpy.random.rand()", "torch.rand(())"])
def test_a_module_that_draws_while_it_is_imported_is_refused(root: Path, drawn: str) -> None:
    helper = root / "src/seedbed/measuring/drawn.py"
    helper.write_text(f"import random, numpy, torch\nX = {drawn}\n")
    message = said(root, "one = X", "from seedbed.measuring.drawn import X")
    assert message.startswith("seedbed.evaluations.mine draws random numbers while it is imported")
    assert "draw them in the functions and classes that a job calls" in message
