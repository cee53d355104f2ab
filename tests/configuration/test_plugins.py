import ast
import dataclasses
import importlib
import inspect
import math
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import processes
import pytest

import seedbed.models
from seedbed.configuration import plugins
from seedbed.configuration.configuration import Configuration
from seedbed.configuration.yaml import ConfigError
from seedbed.measuring.trained import TrainedModel

FOLDERS = ("models", "objectives", "evaluations", "references", "training")
ALL = [(folder, name) for folder in FOLDERS for name in plugins.names(folder)]


def test_every_folder_has_a_plugin() -> None:
    assert {folder for folder, _ in ALL} == set(FOLDERS)


@pytest.mark.parametrize(("folder", "name"), ALL)
def test_options_read_from_the_source_are_those_of_the_module(folder: str, name: str) -> None:
    module = importlib.import_module(f"seedbed.{folder}.{name}")
    fields = dataclasses.fields(module.Options)
    required = {field.name: "a" for field in fields if field.default is dataclasses.MISSING}
    texts = {"tuple[str, ...]": ("a",), "str": "a"}
    required = {field.name: texts[field.type] for field in fields if field.name in required}
    assert plugins.options(folder, name, required, "place") == dataclasses.asdict(module.Options(**required))


def test_given_values_replace_defaults_and_a_whole_number_is_a_float() -> None:
    found = plugins.options("training", "loop", {"learning_rate": 1, "epochs": 2}, "place")
    assert found["epochs"] == 2
    assert found["learning_rate"] == 1.0
    assert type(found["learning_rate"]) is float


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"epoch": 3}, r"place\.epoch: unknown key; did you mean epochs"),
        ({"epochs": "3"}, r"place\.epochs: expected a whole number, found '3'"),
        ({"epochs": True}, r"place\.epochs: expected a whole number, found true"),
        ({"learning_rate": math.nan}, r"place\.learning_rate: expected a finite number, found nan"),
        ({"learning_rate": -math.inf}, r"place\.learning_rate: expected a finite number, found -inf"),
        ({"learning_rate": "1e-3"}, r"place\.learning_rate: expected a number, found '1e-3'"),
    ],
)
def test_a_wrong_option_names_the_place_and_the_remedy(values: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        plugins.options("training", "loop", values, "place")


MODELS = {"Predictor", "Filler", "Infiller", "Continuer", "Writer", "TrainedModel"}


@pytest.mark.parametrize("name", plugins.names("evaluations"))
def test_what_an_evaluation_needs_is_what_the_types_of_its_parameters_have(name: str) -> None:
    module = importlib.import_module(f"seedbed.evaluations.{name}")
    model, context, _ = inspect.signature(module.evaluate, eval_str=True).parameters.values()
    contexts = {one.__name__ for one in get_args(context.annotation) or (context.annotation,)}
    sources = {"Context": {"language"}, "TaskContext": {"task"}}
    assert (
        {"language", "task"}
        if plugins.source(name) == "any"
        else {plugins.source(name)} == set().union(*(sources[one] for one in contexts))
    )
    assert model.annotation.__name__ in MODELS
    assert (model.annotation is TrainedModel) == bool(set(plugins.needs(name)) & set(plugins.TRAINED))
    for needed in plugins.needs(name):
        assert needed in plugins.TRAINED or hasattr(model.annotation, needed)
    tree = ast.parse(inspect.getsource(module))
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "model"
    }
    assert used <= {*plugins.needs(name), "parameters"}


def test_what_training_gives_every_model_is_an_attribute_of_a_trained_model() -> None:
    fields = {field.name for field in dataclasses.fields(TrainedModel)}
    assert all(name in fields or hasattr(TrainedModel, name) for name in plugins.TRAINED)


@pytest.mark.parametrize(
    ("folder", "name"), [one for one in ALL if one[0] in ("objectives", "references")], ids=lambda part: part
)
def test_what_an_objective_or_a_reference_offers_are_just_its_methods_that_evaluations_ask_for(
    folder: str, name: str
) -> None:
    defined = getattr(importlib.import_module(f"seedbed.{folder}.{name}"), plugins.DEFINES[folder])
    asked = {"log_probabilities", "fill", "infill", "continuation", "beginning"}
    assert set(plugins.offers(folder, name)) == {method for method in asked if hasattr(defined, method)}
    assert all(hasattr(TrainedModel, method) for method in plugins.offers(folder, name))


REHEARSING = [(folder, name) for folder in ("evaluations", "demonstrations") for name in plugins.names(folder)]


@pytest.mark.parametrize(("folder", "name"), REHEARSING)
def test_the_sizes_of_a_rehearsal_are_options_and_nothing_computes_with_them(folder: str, name: str) -> None:
    path = plugins.PACKAGE / folder / f"{name}.py"
    sizes = plugins._read_rehearsed(path)
    assert plugins.rehearsed(folder, name, {option: most + 1 for option, most in sizes.items()}) == sizes
    used = [node for node in ast.walk(plugins.parse(path)) if isinstance(node, ast.Name)]
    assert sum(node.id == plugins.REHEARSED for node in used) == bool(sizes)


def test_a_rehearsal_takes_no_larger_size_than_a_study() -> None:
    assert plugins.rehearsed("evaluations", "cloze_bayes", {"items": 500, "until": "sentence"}) == {
        "items": 16,
        "until": "sentence",
    }
    assert plugins.rehearsed("evaluations", "cloze", {"items": 3}) == {"items": 3}
    assert plugins.rehearsed("evaluations", "perplexity", {}) == {}


@pytest.mark.parametrize(
    ("constant", "message"),
    [
        ("(3,)", "few.py: REHEARSED: expected a mapping of options to whole numbers"),
        ('{"items": "3"}', "few.py: REHEARSED: expected a mapping of options to whole numbers"),
        ('{"item": 3}', "few.py: REHEARSED: unknown key; did you mean items?"),
        ('{"share": 3}', "few.py: REHEARSED: share: expected an option that is a whole number"),
    ],
)
def test_wrong_sizes_of_a_rehearsal_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, constant: str, message: str
) -> None:
    monkeypatch.setattr(plugins, "PACKAGE", tmp_path / "src/seedbed")
    path = tmp_path / "src/seedbed/evaluations/few.py"
    path.parent.mkdir(parents=True)
    path.write_text(f"REHEARSED = {constant}\nclass Options:\n    items: int = 500\n    share: float = 0.5\n")
    with pytest.raises(ConfigError, match=re.escape(message)):
        plugins.rehearsed("evaluations", "few", {"items": 500, "share": 0.5})


def test_an_unknown_plugin_names_the_near_ones() -> None:
    with pytest.raises(ConfigError, match="did you mean transformer"):
        plugins.check_name("models", "transfomer", "place")


def test_a_choice_outside_a_literal_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "plugin.py"
    path.write_text("class Options:\n    cell: Literal['rnn', 'gru'] = 'rnn'\n")
    option = plugins._read_options(path)["cell"]
    assert option.check("gru", "place") == "gru"
    with pytest.raises(ConfigError, match="expected rnn or gru, found 'gruu'"):
        option.check("gruu", "place")


RECORDS = """
class Layer(TypedDict):
    width: int
    kind: Literal["wide", "deep"]
    heads: NotRequired[int]

class Options:
    layers: tuple[Layer, ...] = ()
"""


def test_the_values_of_a_list_may_be_mappings(tmp_path: Path) -> None:
    path = tmp_path / "plugin.py"
    path.write_text(RECORDS)
    option = plugins._read_options(path)["layers"]
    assert option.default == ()
    given = [{"kind": "wide", "width": 3}, {"width": 4, "heads": 2, "kind": "deep"}]
    found = option.check(given, "place")
    assert found == tuple(given)
    assert [list(one) for one in found] == [["width", "kind"], ["width", "kind", "heads"]]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"width": 3}, r"place: expected a list"),
        (["wide"], r"place\[0\]: expected a mapping"),
        ([{"width": 3, "kind": "wide", "head": 1}], r"place\[0\]\.head: unknown key; did you mean heads"),
        ([{"kind": "wide"}], r"place\[0\]\.width: this key is required"),
        ([{"width": "3", "kind": "wide"}], r"place\[0\]\.width: expected a whole number, found '3'"),
        ([{"width": 3, "kind": "wid"}], r"place\[0\]\.kind: expected wide or deep, found 'wid'"),
    ],
)
def test_a_wrong_mapping_names_its_place(tmp_path: Path, value: object, message: str) -> None:
    path = tmp_path / "plugin.py"
    path.write_text(RECORDS)
    with pytest.raises(ConfigError, match=message):
        plugins._read_options(path)["layers"].check(value, "place")


@pytest.mark.parametrize(
    "line",
    [
        "x: list[int] = []",
        "x: tuple[int] = (1,)",
        "x: tuple[int, int] = (1, 2)",
        "x: tuple[tuple[str, ...], ...] = ()",
        "x: int = 1 + f()",
        "x: int | None = None",
        "x: Layer = {}",
    ],
)
def test_an_option_of_another_kind_is_refused_at_its_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "plugin.py"
    path.write_text(f"class Options:\n    {line}\n")
    with pytest.raises(ConfigError, match=r"plugin\.py:2"):
        plugins._read_options(path)


def test_checking_options_imports_no_torch() -> None:
    program = (
        "import sys; from seedbed.configuration import plugins; plugins.options('models', 'transformer', {}, '');"
        "sys.exit('torch' in sys.modules)"
    )
    assert processes.run([sys.executable, "-c", program]).returncode == 0


def test_a_plugin_that_is_no_python_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "plugin.py"
    path.write_text("x = 1\nclass Options\n")
    with pytest.raises(ConfigError, match=r"plugin\.py:2: "):
        plugins._read_options(path)


OPTIONS = "from dataclasses import dataclass\n\n\n@dataclass(frozen=True)\nclass Options:\n    size: int = 1\n"


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The file of a model that is called `mine`, in a package of its own."""
    path = tmp_path / "src/seedbed/models/mine.py"
    path.parent.mkdir(parents=True)
    monkeypatch.setattr(plugins, "PACKAGE", tmp_path / "src/seedbed")
    monkeypatch.setattr(seedbed.models, "__path__", [str(path.parent)])
    yield path
    sys.modules.pop("seedbed.models.mine", None)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (OPTIONS.replace("int = 1", "int = "), "src/seedbed/models/mine.py:6: no Python: "),
        ("\0" + OPTIONS, "src/seedbed/models/mine.py"),
        (OPTIONS.replace("= 1", "= len('a')"), "src/seedbed/models/mine.py:6: size: int = len('a'): an option is"),
        (OPTIONS.replace("int = 1", "list = 1"), "src/seedbed/models/mine.py:6: size: list = 1: an option is int"),
        (
            OPTIONS.replace("= 1", "= 'a'"),
            "src/seedbed/models/mine.py:6: size: int = 'a': expected a whole number",
        ),
        (
            OPTIONS.replace("int = 1", "Literal['a', 'b'] = 'c'"),
            "src/seedbed/models/mine.py:6: size: Literal['a', 'b'] = 'c': expected a or b, found 'c'",
        ),
        (
            OPTIONS.replace("int = 1", "tuple[int, ...] = (1, 'a')"),
            "src/seedbed/models/mine.py:6: size: tuple[int, ...] = (1, 'a')[1]: expected a whole number, found",
        ),
        (OPTIONS.replace(" = 1", ""), "place.size: this key is required"),
        (
            OPTIONS + "\n\nOFFERS = ('fill',)\n\n\nclass Model: ...\n",
            "place: models/mine.py: OFFERS: Model has no method fill",
        ),
        ("x = 1\n", "place.kind: models/mine.py defines no class Options; known: none"),
        (OPTIONS, "place: models/mine.py defines no Model"),
        (
            "import nosuch\n" + OPTIONS,
            "place: models/mine.py cannot be imported: src/seedbed/models/mine.py:1: ModuleNotFoundError: ",
        ),
        (
            OPTIONS + "\n\nraise ValueError('broken')\n",
            "place: models/mine.py cannot be imported: src/seedbed/models/mine.py:9: ValueError: broken",
        ),
        (
            OPTIONS.replace("@dataclass(frozen=True)", "") + "\n\nclass Model: ...\n",
            "place: TypeError: Options() takes no arguments",
        ),
        (
            OPTIONS
            + "\n    def __post_init__(self) -> None:\n        raise KeyError('size')\n\n\nclass Model: ...\n",
            "place: src/seedbed/models/mine.py:9: KeyError: 'size'",
        ),
        (
            OPTIONS + "\n    def __post_init__(self) -> None:\n        raise ValueError('size 1: too small')\n\n\n"
            "class Model: ...\n",
            "place: size 1: too small",
        ),
    ],
)
def test_a_broken_plugin_is_said_with_its_file(mine: Path, source: str, said: str) -> None:
    mine.write_text(source)
    with pytest.raises(ConfigError) as error:
        _use_mine()
    assert str(error.value).startswith(said)


def _use_mine() -> None:
    plugins.check_name("models", "mine", "place.kind")
    plugins.build("models", "mine", plugins.options("models", "mine", {}, "place"), "place")


@pytest.mark.parametrize(
    ("constants", "said"),
    [
        ("", "src/seedbed/evaluations/mine.py: defines no constant NEEDS"),
        ("NEEDS = ('netwrk',)", "src/seedbed/evaluations/mine.py: NEEDS: 'netwrk': did you mean network?"),
        ("NEEDS = 'network'", "src/seedbed/evaluations/mine.py: NEEDS: expected a tuple of texts"),
        ("NEEDS = tuple('a')", "src/seedbed/evaluations/mine.py:1: NEEDS: expected a literal"),
        ("NEEDS = ()", "src/seedbed/evaluations/mine.py: defines no constant SOURCE"),
        (
            "NEEDS = ('log',)\nSOURCE = 'text'",
            "src/seedbed/evaluations/mine.py: SOURCE: expected language, task or any, found 'text'",
        ),
    ],
)
def test_an_evaluation_must_say_what_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, constants: str, said: str
) -> None:
    folder = tmp_path / "src/seedbed/evaluations"
    folder.mkdir(parents=True)
    (folder / "mine.py").write_text(constants, encoding="utf-8")
    monkeypatch.setattr(plugins, "PACKAGE", tmp_path / "src/seedbed")
    with pytest.raises(ConfigError, match=f"^{re.escape(said)}"):
        plugins.needs("mine"), plugins.source("mine")


def test_every_file_of_evaluations_is_a_plugin() -> None:
    files = {path.stem for path in (plugins.PACKAGE / "evaluations").glob("*.py")} - {"__init__"}
    assert files == set(plugins.names("evaluations"))


def test_no_file_name_is_used_three_times_in_the_package() -> None:
    counts = Counter(path.name for path in plugins.PACKAGE.rglob("*.py"))
    assert [name for name, count in counts.items() if count > 2] == ["__init__.py"]


def test_an_option_that_names_a_file_is_checked_against_the_files_that_exist() -> None:
    with pytest.raises(ConfigError, match=r"place\.mixer: no models/mixers/gated.py; .*gated_linear"):
        plugins.options("models", "transformer", {"mixer": "gated"}, "place")


def test_the_module_that_an_option_names_is_known_without_importing_it() -> None:
    given = plugins.options("models", "transformer", {"mixer": "gated_linear"}, "place")
    assert plugins.parts("models", "transformer", given) == ["seedbed.models.mixers.gated_linear"]
    assert plugins.parts("models", "window", {}) == []


def test_no_file_is_parsed_anew_for_every_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every job reads the configuration, so that parsing each time would cost more than most jobs."""
    original, parsed = plugins.parse, Counter[Path]()

    def count(path: Path) -> ast.Module:
        parsed[path] += 1
        return original(path)

    monkeypatch.setattr(plugins, "parse", count)
    for function in vars(plugins).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()
    Configuration()
    assert parsed
    assert max(parsed.values()) <= 4
