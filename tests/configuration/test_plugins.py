import dataclasses
import importlib
import inspect
import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

import seedbed.models
from seedbed.configuration import plugins
from seedbed.configuration.yaml import ConfigError

FOLDERS = ("models", "objectives", "evaluations", "references", "training")
ALL = [(folder, name) for folder in FOLDERS for name in plugins.names(folder)]


def test_every_folder_has_a_plugin() -> None:
    assert {folder for folder, _ in ALL} == set(FOLDERS)


@pytest.mark.parametrize(("folder", "name"), ALL)
def test_options_read_from_the_source_are_those_of_the_module(folder: str, name: str) -> None:
    module = importlib.import_module(f"seedbed.{folder}.{name}")
    assert plugins.options(folder, name, {}, "place") == dataclasses.asdict(module.Options())


def test_given_values_replace_defaults_and_a_whole_number_is_a_float() -> None:
    found = plugins.options("training", "loop", {"learning_rate": 1, "epochs": 2}, "place")
    assert found["epochs"] == 2
    assert found["learning_rate"] == 1.0
    assert type(found["learning_rate"]) is float


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"epoch": 3}, r"place\.epoch: loop has no such option; did you mean epochs"),
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


@pytest.mark.parametrize("name", plugins.names("evaluations"))
def test_what_an_evaluation_measures_is_read_from_its_parameters(name: str) -> None:
    module = importlib.import_module(f"seedbed.evaluations.{name}")
    model, source, _ = inspect.signature(module.evaluate, eval_str=True).parameters.values()
    found = [{one.__name__ for one in get_args(each.annotation) or (each.annotation,)} for each in (model, source)]
    assert [set(each) for each in plugins.measures(name)] == found
    assert found[0] <= {"TrainedModel", "Predictor", "Filler", "Infiller", "Continuer", "Writer"}
    assert found[1] <= {"Context", "TaskContext"}


def test_what_a_protocol_asks_and_a_plugin_offers_are_methods_by_name() -> None:
    assert plugins.asks("Predictor") == {"log_probabilities"}
    assert plugins.offers("objectives", "flm") >= plugins.asks("Predictor")
    assert plugins.offers("references", "exact") >= plugins.asks("Predictor")


def test_an_unknown_plugin_names_the_near_ones() -> None:
    with pytest.raises(ConfigError, match="did you mean transformer"):
        plugins.check_name("models", "transfomer", "place")


def test_a_choice_outside_a_literal_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "plugin.py"
    path.write_text("class Options:\n    cell: Literal['rnn', 'gru'] = 'rnn'\n")
    option = plugins._declared(path)["cell"]
    assert option.check("gru", "place") == "gru"
    with pytest.raises(ConfigError, match="did you mean gru"):
        option.check("gruu", "place")


@pytest.mark.parametrize("line", ["x: list[int] = []", "x: int = 1 + f()", "x: int | None = None"])
def test_an_option_of_another_kind_is_refused_at_its_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "plugin.py"
    path.write_text(f"class Options:\n    {line}\n")
    with pytest.raises(ConfigError, match=r"plugin\.py:2"):
        plugins._declared(path)


def test_checking_options_imports_no_torch() -> None:
    program = (
        "import sys; from seedbed.configuration import plugins; plugins.options('models', 'transformer', {}, '');"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_a_plugin_that_is_no_python_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "plugin.py"
    path.write_text("x = 1\nclass Options\n")
    with pytest.raises(ConfigError, match=r"plugin\.py:2: "):
        plugins._declared(path)


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
        (
            OPTIONS.replace(" = 1", ""),
            "src/seedbed/models/mine.py:6: size: int: an option is int, float, bool, str",
        ),
        (OPTIONS.replace("= 1", "= len('a')"), "src/seedbed/models/mine.py:6: size: int = len('a'): an option is"),
        (OPTIONS.replace("int = 1", "list = 1"), "src/seedbed/models/mine.py:6: size: list = 1: an option is int"),
        (
            OPTIONS.replace("= 1", "= 'a'"),
            "src/seedbed/models/mine.py:6: size: int = 'a': expected a whole number",
        ),
        (
            OPTIONS.replace("int = 1", "Literal['a', 'b'] = 'c'"),
            "src/seedbed/models/mine.py:6: size: Literal['a', 'b'] = 'c': 'c': known: a, b",
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
    ("parameters", "said"),
    [
        ("model, context, options", "expected the type of model to be of .*Predictor.*; found none"),
        (
            "model: Predictor, context: context.Context, options: Options",
            "type of context .* found context.Context",
        ),
    ],
)
def test_an_evaluation_must_say_by_known_types_what_it_measures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parameters: str, said: str
) -> None:
    folder = tmp_path / "seedbed" / "evaluations"
    folder.mkdir(parents=True)
    (folder / "context.py").write_bytes((plugins.PACKAGE / "evaluations" / "context.py").read_bytes())
    (folder / "untyped.py").write_text(f"def evaluate({parameters}): ...\n", encoding="utf-8")
    monkeypatch.setattr(plugins, "PACKAGE", tmp_path / "seedbed")
    with pytest.raises(ConfigError, match=said):
        plugins.measures("untyped")


def test_an_option_that_names_a_file_is_checked_against_the_files_that_exist() -> None:
    with pytest.raises(ConfigError, match=r"place\.mixer: no models/mixers/gated.py; .*gated_linear"):
        plugins.options("models", "transformer", {"mixer": "gated"}, "place")


def test_the_module_that_an_option_names_is_known_without_importing_it() -> None:
    given = plugins.options("models", "transformer", {"mixer": "gated_linear"}, "place")
    assert plugins.parts("models", "transformer", given) == ["seedbed.models.mixers.gated_linear"]
    assert plugins.parts("models", "window", {}) == []
