import pytest

from seedbed.messages import nearest, quote, require_at_least, unexpected, unknown_key


def test_near_names_come_first_nearest_first() -> None:
    assert nearest("nun", ["verb", "noun", "nouns", "subject"]) == "did you mean noun or nouns?"


def test_without_a_near_name_all_are_listed() -> None:
    assert nearest("x", ["verb", "noun"]) == "known: noun, verb"
    assert nearest("x", []) == "known: none"
    assert nearest(None, ["rnn"]) == "known: rnn"


def test_many_names_are_counted_and_not_listed() -> None:
    assert nearest("x", range(100, 190)).endswith("118, 119, and 70 more")


@pytest.mark.parametrize(
    ("found", "expected", "said"),
    [
        (3, ["text"], "expected text, found 3; quote it"),
        (3, ["text", "a list"], "expected text or a list, found 3"),
        (None, ["a", "b", "c", "b"], "expected a, b or c, found nothing"),
        ((1, 2), ["a number"], "expected a number, found [1, 2]"),
    ],
)
def test_what_was_expected_and_found_is_one_sentence(found: object, expected: list[str], said: str) -> None:
    assert unexpected(found, *expected) == said


def test_an_unknown_key_comes_with_the_nearest() -> None:
    assert unknown_key("nun", ["noun", "verb"]) == "unknown key; did you mean noun?"


def test_values_are_written_as_in_a_file() -> None:
    assert [quote(value) for value in (True, None, "a", (1,))] == ["true", "nothing", "'a'", "[1]"]


def test_the_first_option_below_its_least_value_is_named() -> None:
    require_at_least(0, one=0, two=0.5)
    with pytest.raises(ValueError, match=r"^two -0\.5: expected at least 0$"):
        require_at_least(0, one=0, two=-0.5, three=-1)
