from seedbed.messages import nearest


def test_near_names_come_first_nearest_first() -> None:
    assert nearest("nun", ["verb", "noun", "nouns", "subject"]) == "did you mean noun or nouns?"


def test_without_a_near_name_all_are_told() -> None:
    assert nearest("x", ["verb", "noun"]) == "known: noun, verb"
    assert nearest("x", []) == "known: none"
    assert nearest(None, ["rnn"]) == "known: rnn"


def test_many_names_are_counted_and_not_listed() -> None:
    assert nearest("x", range(100, 190)).endswith("118, 119, and 70 more")
