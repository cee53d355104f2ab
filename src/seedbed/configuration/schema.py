"""What the files config/config.yaml and config/studies/NAME.yaml may say: their keys, types and ranges.

Relations between values are checked by the modules that read these files. This one knows no file.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    model_validator,
)

#: Seeds from here on are for `make tune` alone and never reported.
TUNING_SEEDS = 1000

_Item = TypeVar("_Item")


def _distinct(items: list[_Item]) -> list[_Item]:
    twice = [item for index, item in enumerate(items) if item in items[:index]]
    if twice:
        raise ValueError(f"{twice[0]} occurs twice")
    return items


Name = Annotated[str, Field(pattern="^[a-z][a-z0-9-]*$")]
PluginName = Annotated[str, Field(pattern="^[a-z][a-z0-9_]*$")]
Text = Annotated[StrictStr, Field(min_length=1)]
Seed = Annotated[StrictInt, Field(ge=0, lt=TUNING_SEEDS)]
Scalar = StrictBool | StrictInt | StrictFloat | StrictStr
Values = dict[str, Scalar | tuple[Scalar, ...]]
Distinct = AfterValidator(_distinct)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Data(_Strict):
    """One data set of a study: how many documents of which language or task."""

    language: Name | None = None
    task: PluginName | None = None
    options: Values = {}
    training: Annotated[StrictInt, Field(ge=1)]
    validation: Annotated[StrictInt, Field(ge=1)]
    test: Annotated[StrictInt, Field(ge=1)]

    @model_validator(mode="after")
    def _has_one_source(self) -> Data:
        if (self.language is None) == (self.task is None):
            raise ValueError(
                "expected either language, a file of config/languages/, or task, of src/seedbed/tasks/"
            )
        if self.language and self.options:
            raise ValueError("a language has no options; they belong to a task")
        return self


class Start(_Strict):
    """The run whose weights of the same seed a training begins with."""

    study: Name
    run: Name


class Run(_Strict):
    """A training recipe, or a reference run (``kind``), which trains nothing."""

    label: Text
    data: Name = "text"
    kind: PluginName | None = None
    options: Values = {}
    model: Values = {}
    objective: Values = {}
    training: Values = {}
    streams: dict[Literal["data", "initialisation", "order", "corruption", "noise"], Seed] = {}
    seeds: Annotated[StrictInt, Field(ge=1, lt=TUNING_SEEDS)] | None = None
    start: Start | None = None
    quick: StrictBool = False

    @property
    def trained(self) -> bool:
        """Whether this run trains, so that it has seeds."""
        return self.kind is None


class Evaluation(_Strict):
    """What an evaluation measures of which runs.

    Attributes:
        kind: A file of src/seedbed/evaluations/; empty in a study file if it is the name of the entry.
        runs: ``all`` are the runs that it can measure, ``trained`` the trained ones among them.
        options: The options of its kind.
    """

    kind: PluginName | Literal[""] = ""
    runs: Literal["all", "trained"] | Annotated[list[Name], Field(min_length=1), Distinct] = "all"
    options: Values = {}


class Tune(_Strict):
    """What the lecture leaves open in a study: the run to try it on and the grid of model options."""

    run: Name
    seeds: Annotated[StrictInt, Field(ge=1)]
    grid: Annotated[list[Values], Field(min_length=2), Distinct]


class Study(_Strict):
    """A subject with its data sets, runs and evaluations (config/studies/NAME.yaml)."""

    title: Text
    lead: Text
    rebuilt: StrictBool = False
    data: Annotated[dict[Name, Data], Field(min_length=1)]
    training: Values = {}
    runs: Annotated[dict[Name, Run], Field(min_length=1)]
    evaluations: Annotated[dict[Name, Evaluation], Field(min_length=1)]
    tune: Tune | None = None


class Settings(_Strict):
    """config/config.yaml: which studies, the number of seeds of runs that do not give their own, and the scope.

    ``scope`` is ``report`` for everything; ``reference`` for everything, with ``reference_seeds`` instead of
    ``seeds``; ``quick`` for one seed of the runs marked ``quick``, trained briefly; ``sentinels`` for the same,
    with trainings of 150 steps.
    """

    studies: Annotated[list[Name], Field(min_length=1), Distinct]
    seeds: Annotated[StrictInt, Field(ge=1, lt=TUNING_SEEDS)]
    reference_seeds: Annotated[StrictInt, Field(ge=1, lt=TUNING_SEEDS)] = 10
    scope: Literal["report", "reference", "quick", "sentinels"] = "report"


def whole_number(values: Values, key: str) -> int:
    """An option that its plug-in declares as a whole number."""
    value = values[key]
    assert isinstance(value, int)
    return value
