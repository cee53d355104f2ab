"""The fingerprint follows meaning: what changes a result changes it, nothing else does."""

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from seedbed.configuration.yaml import ConfigError
from seedbed.pipeline import fingerprint as module
from seedbed.pipeline.fingerprint import closure, digest, fingerprint

FILES = {
    "__init__.py": '"""Package."""\n',
    "a.py": (
        '"""A."""\nfrom seedbed.sub.b import two\n\ndef one():\n    """Doc."""\n    return two() + 1  # comment\n'
    ),
    "sub/__init__.py": "",
    "sub/b.py": "from . import c\nfrom ..d import five\n\ndef two():\n    return c.three\n",
    "sub/c.py": "def lazy():\n    import seedbed.e\nthree = 3\n",
    "d.py": "five = 5\n",
    "e.py": "six = 6\n",
    "f.py": "seven = 7\n",
}


CACHED = (module._tree, module._nodes, module._imports, module._meaning, module._require_followed, module.code)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "seedbed"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    monkeypatch.setattr(module, "PACKAGE", root)
    return root


@pytest.fixture
def hashed(package: Path) -> Callable[[], str]:
    def compute() -> str:
        for function in CACHED:
            function.cache_clear()  # type: ignore[attr-defined]
        return fingerprint({"x": 1}, ["seedbed.a"], libraries=[])

    return compute


def test_the_closure_follows_imports_parents_relative_and_lazy_ones(package: Path) -> None:
    assert set(closure(["seedbed.a"])) == {
        "seedbed",
        "seedbed.a",
        "seedbed.sub",
        "seedbed.sub.b",
        "seedbed.sub.c",
        "seedbed.d",
        "seedbed.e",
    }


def test_an_unknown_module_is_an_error(package: Path) -> None:
    with pytest.raises(ModuleNotFoundError):
        closure(["seedbed.absent"])


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("a.py", "# comment", "# another, longer comment"),
        ("a.py", '    """Doc."""\n', '    """Another."""\n'),
        ("a.py", '    """Doc."""\n', ""),
        ("a.py", "two() + 1", "(\n        two()\n        + 1\n    )"),
        ("a.py", '"""A."""\n', ""),
        ("a.py", "\ndef one", '\nREHEARSED = {"items": 3}\n\ndef one'),
        ("a.py", "\ndef one", '\nREHEARSED: dict[str, int] = {"items": 3}\n\ndef one'),
        ("f.py", "7", "8"),
    ],
)
def test_what_means_the_same_keeps_the_fingerprint(
    package: Path, hashed: Callable[[], str], file: str, old: str, new: str
) -> None:
    before = hashed()
    path = package / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    assert hashed() == before


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("a.py", "+ 1", "+ 2"),
        ("sub/c.py", "3", "4"),
        ("d.py", "5", "6"),
        ("e.py", "6", "7"),
        ("sub/__init__.py", "", "x = 1"),
        ("a.py", "    return two", "    REHEARSED = 3\n    return two"),
    ],
)
def test_what_means_something_else_changes_it(
    package: Path, hashed: Callable[[], str], file: str, old: str, new: str
) -> None:
    before = hashed()
    path = package / file
    path.write_text(path.read_text().replace(old, new))
    assert hashed() != before


def test_a_new_module_in_the_closure_changes_it(package: Path, hashed: Callable[[], str]) -> None:
    before = hashed()
    (package / "sub" / "c.py").write_text(textwrap.dedent("import seedbed.f\n") + FILES["sub/c.py"])
    assert hashed() != before


def test_values_are_named_typed_and_unordered() -> None:
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    assert digest({"a": 1, "b": 2}) != digest({"a": 2, "b": 1})
    assert len({digest({"a": value}) for value in (1, 1.0, "1", True, None)}) == 5


def test_a_value_that_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        digest({"a": float("nan")})


def test_versions_inputs_and_files_count(tmp_path: Path) -> None:
    template = tmp_path / "t.html"
    template.write_text("a")
    first = fingerprint({}, libraries=["numpy"], inputs=["x", "y"], files=[template])
    assert fingerprint({}, libraries=[], inputs=["x", "y"], files=[template]) != first
    assert fingerprint({}, libraries=["numpy"], inputs=["y", "x"], files=[template]) != first
    template.write_text("b")
    assert fingerprint({}, libraries=["numpy"], inputs=["x", "y"], files=[template]) != first


def test_carriers_are_outside_the_closure_of_everything_that_computes() -> None:
    computing = closure(["seedbed.training.loop", "seedbed.evaluations.perplexity", "seedbed.corpora"])
    assert not [
        name
        for name in computing
        if name.startswith(("seedbed.pipeline", "seedbed.configuration", "seedbed.reporting"))
    ]
    assert "seedbed.__main__" not in computing


def test_an_edit_of_a_data_file_that_a_module_declares_counts(package: Path, hashed: Callable[[], str]) -> None:
    words = package / "sub/words.txt"
    words.write_text("one\n")
    undeclared = hashed()
    declared = 'FILES: tuple[str, ...] = ("words.txt",)\n'
    (package / "sub/b.py").write_text(FILES["sub/b.py"] + declared)
    before = hashed()
    words.write_text("two\n")
    assert len({undeclared, before, hashed()}) == 3
    (package / "sub/c.txt").write_text("a file that no module declares")
    after = hashed()
    words.write_text("one\n")
    assert hashed() == before != after


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('FILES = ("absent.txt",)', r"seedbed/sub/b\.py: FILES: absent\.txt: there is no such file"),
        ("FILES = 'words.txt'", r"seedbed/sub/b\.py: FILES: expected a tuple of texts"),
        ("FILES = (two, )", r"seedbed/sub/b\.py:7: FILES: expected a literal"),
    ],
)
def test_a_declaration_that_cannot_be_followed_is_refused(
    package: Path, hashed: Callable[[], str], line: str, message: str
) -> None:
    (package / "sub/b.py").write_text(FILES["sub/b.py"] + "\n" + line + "\n")
    with pytest.raises(ConfigError, match=message):
        hashed()


def test_the_sentences_of_error_messages_are_outside_every_closure() -> None:
    assert "seedbed.messages" not in closure(["seedbed.models.transformer", "seedbed.languages.compilation"])


def test_a_module_that_is_imported_by_a_name_written_out_counts(package: Path, hashed: Callable[[], str]) -> None:
    (package / "a.py").write_text('import importlib\nimportlib.import_module("seedbed.f")\n')
    before = hashed()
    (package / "f.py").write_text("seven = 8\n")
    assert hashed() != before


@pytest.mark.parametrize("line", ["open('words.txt')", "__import__(name)"])
def test_what_cannot_be_followed_is_refused_with_file_and_line(
    package: Path, hashed: Callable[[], str], line: str
) -> None:
    (package / "sub/b.py").write_text(f"{FILES['sub/b.py']}\n{line}\n")
    with pytest.raises(ConfigError, match=r"/seedbed/sub/b\.py:7: (open|__import__): .*; (name|write)"):
        hashed()
