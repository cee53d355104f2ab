from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from seedbed.languages.lengths import length_distribution

if TYPE_CHECKING:
    from conftest import Case


def test_every_length_has_the_probability_of_its_sentences(repeated: Case) -> None:
    expected = np.zeros(40)
    for text, probability in repeated.oracle.full.items():
        expected[len(repeated.oracle.wrap(text).split())] += probability
    found = length_distribution(repeated.language)
    np.testing.assert_allclose(found, expected[: len(found)])
    assert found[-1] > 0
    assert not expected[len(found) :].any()


def test_documents_of_any_length_are_refused(late: Case) -> None:
    with pytest.raises(ValueError, match="another may follow"):
        length_distribution(late.language)
