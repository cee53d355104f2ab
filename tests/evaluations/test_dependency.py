"""Dependency matrices against the masks of the lecture, written out by hand (objectives 4.1, 4.2)."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
import torch

from seedbed.documents import Documents
from seedbed.evaluations.dependency import Options, evaluate
from seedbed.languages.automaton import Language
from seedbed.log import Log
from seedbed.measuring.context import Context
from seedbed.measuring.trained import TrainedModel
from seedbed.models import encoder_decoder, recurrent, transformer, window
from seedbed.models.initialisation import fill, unfilled
from seedbed.objectives import flm, mlm, plm, span
from seedbed.observations import Observation, condition_text

TRANSFORMER = transformer.Options(d_model=16, heads=2, d_ff=8, layers=3, embedding_std=1.0)
FEW = Options(documents=6, longest=20, example="she picks the plum")  # 6 tokens


def trained(module: ModuleType, options: object, objective: object) -> TrainedModel:
    network = unfilled(lambda: module.Model(options, 100))
    fill(network, torch.Generator().manual_seed(0))
    return TrainedModel(network, objective, Log(), lambda: Documents.of([]))


def found(model: TrainedModel, context: Context) -> dict[str, Observation]:
    return {f"{one.metric} {condition_text(one.condition)}": one for one in evaluate(model, context, FEW)}


def flm_of(architecture: Any, language: Language) -> flm.Objective:  # noqa: ANN401
    return flm.Objective(flm.Options(architecture), language.vocabulary)


def values(observations: dict[str, Observation]) -> dict[str, float]:
    return {name: one.value for name, one in observations.items() if name.startswith("dependency on")}


def matrix(observations: dict[str, Observation], on: str = "text") -> list[str]:
    return observations[f"dependency_matrix on={on}"].text.split()


def triangle(size: int) -> list[str]:
    return [(row + 1) * "1" + (size - row - 1) * "0" for row in range(size)]


@pytest.mark.parametrize(
    ("module", "options"),
    [(transformer, TRANSFORMER), (recurrent, recurrent.Options(embedding=8, hidden=8))],
    ids=["transformer", "recurrent"],
)
def test_a_causal_network_hangs_on_all_that_came_and_nothing_that_comes(
    context: Context, module: ModuleType, options: object
) -> None:
    observed = found(trained(module, options, flm_of("causal", context.language)), context)
    assert values(observed) == {"dependency on=text;pair=allowed": 1, "dependency on=text;pair=forbidden": 0}
    assert matrix(observed) == triangle(5)  # <eos> is not read


def test_a_window_hangs_on_its_last_words(context: Context) -> None:
    model = trained(window, window.Options(words=2, embedding=8, hidden=8), flm_of("causal", context.language))
    observed = found(model, context)
    assert matrix(observed) == ["10000", "11000", "01100", "00110", "00011"]
    assert 0 < values(observed)["dependency on=text;pair=allowed"] < 1


@pytest.mark.parametrize("name", ["mlm", "a leak"])
def test_a_bidirectional_network_hangs_on_everything(context: Context, name: str) -> None:
    objective = (
        mlm.Objective(mlm.Options(), context.language.vocabulary)
        if name == "mlm"
        else flm_of("bidirectional", context.language)
    )
    observed = found(trained(transformer, TRANSFORMER, objective), context)
    assert values(observed) == {"dependency on=text;pair=allowed": 1}  # nothing is forbidden
    assert set("".join(matrix(observed))) == {"1"}


def test_a_prefix_hangs_on_itself_and_the_rest_on_what_came(context: Context) -> None:
    objective = plm.Objective(plm.Options(), context.language.vocabulary)
    observed = found(trained(transformer, TRANSFORMER, objective), context)
    assert values(observed) == {"dependency on=text;pair=allowed": 1, "dependency on=text;pair=forbidden": 0}
    rows = matrix(observed)
    prefix = rows[0].count("1")
    assert rows == [prefix * "1" + (5 - prefix) * "0"] * prefix + triangle(5)[prefix:]


def test_an_answer_hangs_on_its_whole_source_and_on_what_it_has_written(context: Context) -> None:
    objective = span.Objective(span.Options(), context.language.vocabulary)
    options = encoder_decoder.Options(d_model=16, heads=2, d_ff=8)
    observed = found(trained(encoder_decoder, options, objective), context)
    assert values(observed) == {
        "dependency on=source;pair=allowed": 1,
        "dependency on=text;pair=allowed": 1,
        "dependency on=text;pair=forbidden": 0,
    }
    assert matrix(observed) == triangle(len(matrix(observed)))
    assert set("".join(matrix(observed, "source"))) == {"1"}


def test_a_network_that_looks_ahead_is_found_out(context: Context) -> None:
    """It is called with causal rows and reads the token behind each as well."""

    class Peeks(torch.nn.Module):
        def forward(self, batch: Any) -> torch.Tensor:  # noqa: ANN401
            ahead = torch.roll(batch.tokens, -1)
            return torch.nn.functional.one_hot(batch.tokens, 100) + 2.0 * torch.nn.functional.one_hot(ahead, 100)

    model = TrainedModel(Peeks(), flm_of("causal", context.language), Log(), lambda: Documents.of([]))
    assert values(found(model, context))["dependency on=text;pair=forbidden"] > 0
    assert matrix(found(model, context)) == ["11000", "01100", "00110", "00011", "10001"]


def test_a_test_set_without_a_document_that_is_short_enough_is_refused(context: Context) -> None:
    model = trained(transformer, TRANSFORMER, flm_of("causal", context.language))
    shortest = context.test.lengths.min()
    with pytest.raises(ValueError, match=f"longest 3: no test document is so short; expected {shortest} or above"):
        list(evaluate(model, context, Options(longest=3)))
