from __future__ import annotations

import pytest

from seedbed.documents import Documents
from seedbed.references import exact, ngram
from seedbed.tasks import recall

TASK = recall.Task(recall.Options())


def test_the_exact_reference_refuses_a_task_and_names_one_that_does_not() -> None:
    with pytest.raises(ValueError, match=r"kind: exact needs the data of a language, .* or write kind: guess"):
        exact.Reference(exact.Options(), TASK)  # type: ignore[arg-type]


def test_ngrams_refuse_a_task_whose_first_key_has_the_id_of_bos() -> None:
    with pytest.raises(ValueError, match=r"kind: ngram needs the data of a language, .* or write kind: guess"):
        ngram.Reference(ngram.Options(), TASK, Documents.of([[0, 9, 16, 0]]))  # type: ignore[arg-type]
