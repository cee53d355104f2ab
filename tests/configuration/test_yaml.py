from pathlib import Path

import pytest

from seedbed.configuration.yaml import ConfigError, read, read_text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 0.001),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("010", 10),
        ("0x10", 16),
        ("0o10", 8),
        ("-7", -7),
        ("1_000", "1_000"),
        ("no", "no"),
        ("on", "on"),
        ("Yes", "Yes"),
        ("true", True),
        ("~", None),
        ("", None),
        ("12:30:45", "12:30:45"),
        ("2026-01-01", "2026-01-01"),
        ("[1, a]", [1, "a"]),
    ],
)
def test_plain_scalars_mean_what_yaml_1_2_says(text: str, value: object) -> None:
    found = read_text(text, "place")
    assert found == value
    assert type(found) is type(value)


def test_numbers_that_are_none_are_floats() -> None:
    assert str(read_text(".nan", "place")) == "nan"
    assert read_text("-.inf", "place") == float("-inf")


@pytest.mark.parametrize("text", ["a: 1\na: 2\n", "top:\n  b: 1\n  c: 2\n  b: 3\n", "list:\n  - {x: 1, x: 1}\n"])
def test_a_key_that_stands_twice_is_an_error_at_every_level(tmp_path: Path, text: str) -> None:
    path = tmp_path / "file.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"file\.yaml.*occurs twice"):
        read(path)


@pytest.mark.parametrize(
    "text", ["- 1\n", "word\n", "", "1: 2\n", "a: [\n", "? [a]: b", "!!python/name:os.system x"]
)
def test_what_is_no_mapping_of_words_is_an_error_that_names_the_file(tmp_path: Path, text: str) -> None:
    path = tmp_path / "file.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"file\.yaml"):
        read(path)


def test_a_missing_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"absent\.yaml: cannot be read"):
        read(tmp_path / "absent.yaml")


def test_a_folder_or_bytes_that_are_no_text_are_errors(tmp_path: Path) -> None:
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00")
    for name in (".", "bytes.yaml"):
        with pytest.raises(ConfigError):
            read(tmp_path / name)


@pytest.mark.parametrize(
    "text", ["]", "{a: 1, a: 2}", "{[a]: b}", "!!int x", "!!bool x", "!!timestamp x", "9" * 5000]
)
def test_a_text_that_is_no_yaml_is_an_error_that_names_its_place(text: str) -> None:
    with pytest.raises(ConfigError, match=r"^--config seeds(, line 1, column \d+)?: "):
        read_text(text, "--config seeds")
