"""What a fingerprint cannot follow is refused with its line and the remedy."""

import ast

import pytest

from seedbed.pipeline.unfollowed import unfollowed


def found(text: str, declares: bool = False, is_package: bool = False) -> list[tuple[int, str]]:
    return list(unfollowed(list(ast.walk(ast.parse(text))), declares, is_package))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("import importlib\nimportlib.import_module(name)", "importlib.import_module"),
        ("import importlib as il\nil.import_module('a' + b)", "importlib.import_module"),
        ("from importlib import import_module as load\nload(f'a.{b}')", "importlib.import_module"),
        ("import importlib\nf = importlib.import_module", "importlib.import_module"),
        ("import importlib.util\nimportlib.util.spec_from_file_location(a, b)", "importlib.util.spec_from_file"),
        ("x = 1\n__import__(name)", "__import__"),
        ("x = 1\nexec(text)", "exec"),
        ("x = 1\nmap(eval, texts)", "eval"),
        ("import runpy\nrunpy.run_path(path)", "runpy.run_path"),
        ("import importlib\nimportlib.import_module(f'{__name__}.{name}')", "importlib.import_module"),
    ],
)
def test_an_import_that_cannot_be_followed_is_refused_also_where_files_are_declared(text: str, name: str) -> None:
    ((line, message),) = found(text, declares=True)
    assert line == 2
    assert message.startswith(name)
    assert "write an import statement" in message


@pytest.mark.parametrize(
    "line",
    [
        "open('words.txt')",
        "Path(__file__).with_name('words.txt').read_text()",
        "path.read_bytes()",
        "path.open()",
        "np.load('table.npy')",
        "numpy.loadtxt(path)",
        "load_table('t.npy')",
        "torch.load('w.pt')",
        "pd.read_csv('t.csv')",
        "sp.run(['cat', 'words.txt'])",
    ],
)
def test_reading_is_refused_but_where_files_are_declared(line: str) -> None:
    libraries = (
        "import numpy, numpy as np, torch, pandas as pd, subprocess as sp; from numpy import load as load_table"
    )
    ((number, message),) = found(f"{libraries}\n{line}")
    assert number == 2
    assert "name the files in this module's constant FILES" in message
    assert not found(f"{libraries}\n{line}", declares=True)


@pytest.mark.parametrize(
    "text",
    [
        "import importlib\nimportlib.import_module('seedbed.log')",
        "model.eval()\nself.open = 1\nnetwork.load(x)",
        "import re\nre.compile('a')",
        "def open(x):\n    return x\nopen(3)",
        "def f(exec):\n    return exec",
        "from seedbed.models.mixers import load\nload('attention')",
        "import numpy as np\nnp.arange(3)",
        "x = 'open(path)'",
    ],
)
def test_other_code_is_no_reading_and_no_hidden_import(text: str) -> None:
    assert not found(text)


def test_a_folder_may_load_its_own_files_by_name() -> None:
    text = "import importlib\nimportlib.import_module(f'{__name__}.{name}')"
    assert not found(text, is_package=True)
    assert found(text.replace("__name__", "other"), is_package=True)
