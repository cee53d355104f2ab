"""Claims as data: what a lecture says, as a check that observations decide.

The schema of the files in config/claims, whose every field the README there explains. It knows what a claim may
say and what contradicts itself, and nothing of files, studies or observations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from itertools import product
from typing import Annotated, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    StringConstraints,
    model_validator,
)

from seedbed.observations import DEMONSTRATIONS, read_condition

Name = Annotated[str, StringConstraints(pattern="^[a-z][a-z0-9-]*$")]
Word = Annotated[str, StringConstraints(pattern="^[a-z][a-z0-9_]*$")]
ClaimId = Annotated[str, StringConstraints(pattern=r"^[a-z]+:[a-z0-9_.-]+$")]
Sentence = Annotated[str, StringConstraints(strict=True, min_length=1)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Positive = Annotated[Number, Field(gt=0)]
NotNegative = Annotated[Number, Field(ge=0)]
Count = Annotated[StrictInt, Field(ge=1)]
Key = StrictInt | Number | StrictStr
#: A metric, with a condition in brackets where it has one.
FactKey = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*(\([^=;]+=[^=;]+(;[^=;]+=[^=;]+)*\))?$")]
_Part = TypeVar("_Part", bound=BaseModel)
_Scalar = StrictBool | StrictInt | Number | StrictStr
Setting = _Scalar | list[_Scalar]
#: A number whose last digit says how exact it is.
_DECIMALS = r"-?\d+\.\d+"
#: The range around a number is as wide as its rounding but for the last bits of floats, so the margin is wider.
_ABOVE = 1 + 1e-6


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _distinct(values: list[Key]) -> list[Key]:
    twice = [value for index, value in enumerate(values) if value in values[:index]]
    if twice:
        raise ValueError(f"{twice[0]} occurs twice")
    return values


class _Ends(_Strict):
    """What has a lower end, an upper end, or both.

    Attributes:
        at_least: The lower end.
        at_most: The upper end.
    """

    at_least: Number | None = None
    at_most: Number | None = None

    @model_validator(mode="after")
    def _has_an_end(self) -> Self:
        if self.at_least is None and self.at_most is None:
            raise ValueError("needs at_least, at_most or both")
        if self.at_least is not None and self.at_most is not None and self.at_least > self.at_most:
            raise ValueError(f"at_least {self.at_least:g} is above at_most {self.at_most:g}")
        return self


class Passes(_Ends):
    """What a value must be so that its seed counts as a success.

    Attributes:
        count: How many of several numbers must lie there; none: all.
    """

    count: Count | None = None


class Operand(_Strict):
    """Which observations a check reads: one number a seed, or several where ``where`` lists values.

    Attributes:
        study: The study.
        run: The run.
        metric: The metric.
        where: The whole condition; a list makes one number for each of its values, in that order.
        minus: Another run of the study, whose value is subtracted seed by seed.
        scale: ``perplexity`` makes exp of nats.
        reduce: ``range`` makes one number of several: the largest of a seed less its smallest.
        seeds: The ``mean`` over seeds, their standard deviation (``sd``), or the ``share`` that ``passes``.
        passes: What makes a seed a success.
    """

    study: Name
    run: Name
    metric: Word
    where: dict[str, Key | Annotated[list[Key], Field(min_length=1), AfterValidator(_distinct)]] = {}
    minus: Name | None = None
    scale: Literal["perplexity"] | None = None
    reduce: Literal["range"] | None = None
    seeds: Literal["mean", "sd", "share"] = "mean"
    passes: Passes | None = None

    @model_validator(mode="after")
    def _differs(self) -> Operand:
        if self.minus == self.run:
            raise ValueError(f"minus: {self.minus} is the run itself")
        return self

    @model_validator(mode="after")
    def _passes_with_share(self) -> Operand:
        if (self.seeds == "share") != (self.passes is not None):
            raise ValueError("seeds: share and passes need each other")
        if self.passes:
            _require_numbers(self.passes.count, self, "passes.count")
        return self

    @property
    def conditions(self) -> list[dict[str, Key]]:
        """One condition for each combination of the listed values, the last key varying fastest."""
        values = [value if isinstance(value, list) else [value] for value in self.where.values()]
        return [dict(zip(self.where, chosen, strict=True)) for chosen in product(*values)]

    @property
    def numbers(self) -> int:
        """How many numbers of each seed it makes."""
        return 1 if self.reduce else len(self.conditions)

    @property
    def runs(self) -> tuple[str, ...]:
        """The runs that it reads."""
        return (self.run, self.minus) if self.minus else (self.run,)


def _of_the_mean(operand: Operand) -> Operand:
    if operand.seeds != "mean":
        raise ValueError(f"seeds: {operand.seeds}: this kind of check reads the mean over seeds")
    return operand


MeanOperand = Annotated[Operand, AfterValidator(_of_the_mean)]
Operands = Annotated[list[MeanOperand], Field(min_length=1)]


class ExactCheck(_Strict):
    """Every seed has this number, up to rounding errors, or this text; a list has one for each number."""

    kind: Literal["exact"]
    of: MeanOperand
    to: Number | StrictStr | Annotated[list[Number | StrictStr], Field(min_length=1)]

    @model_validator(mode="after")
    def _one_each(self) -> ExactCheck:
        _same_length(self.to, self.of)
        return self


class BandCheck(_Strict):
    """A figure of the lecture lies where further runs are to be expected.

    Attributes:
        kind: The kind.
        of: What the figure is of.
        to: The figure; a list has one for each number of ``of``.
        margin: The largest difference that does not matter: half of the effect that the lecture relies on.
        rounding: Half a unit of the figure's last digit.
        lecture_runs: How many runs the figure is the mean, or the standard deviation, of.
        noise: The standard deviation of the figure itself, where no observation has its error over items.
    """

    kind: Literal["band"]
    of: Operand
    to: Number | Annotated[list[Number], Field(min_length=1)]
    margin: Positive
    rounding: NotNegative = 0.0
    lecture_runs: Count = 1
    noise: NotNegative = 0.0

    @model_validator(mode="after")
    def _one_each(self) -> BandCheck:
        _same_length(self.to, self.of)
        if self.of.seeds == "share":
            raise ValueError("of.seeds: share: what further runs score is not predicted from a share; use bound")
        if self.of.seeds == "sd" and self.lecture_runs < 2:
            raise ValueError("lecture_runs: a standard deviation needs at least 2")
        return self


class BoundCheck(_Ends):
    """A number lies above ``at_least``, below ``at_most``, or between both."""

    kind: Literal["bound"]
    of: Operand

    @model_validator(mode="after")
    def _ends_of_a_share(self) -> BoundCheck:
        for name, end in {"at_least": self.at_least, "at_most": self.at_most}.items():
            if self.of.seeds == "share" and end is not None and not 0 <= end <= 1:
                raise ValueError(f"{name} {end:g}: a share of seeds lies between 0 and 1")
        return self


class OrderCheck(_Strict):
    """Numbers, the largest first, each above the next by at least ``margin``, paired by seed.

    A margin below 0 says that the first is not smaller than the next by more than that: not worse.
    """

    kind: Literal["order"]
    of: Operands
    margin: Number

    @model_validator(mode="after")
    def _compares(self) -> OrderCheck:
        _several(self.of)
        if self.margin == 0:
            raise ValueError("margin: 0 asks for a difference of no size, which no number of seeds decides")
        return self


class EquivalentCheck(_Strict):
    """No two of the numbers, paired by seed, are more than ``margin`` apart."""

    kind: Literal["equivalent"]
    of: Operands
    margin: Positive

    @model_validator(mode="after")
    def _compares(self) -> EquivalentCheck:
        _several(self.of)
        return self


class NoiseCheck(_Strict):
    """No two of the numbers, paired by seed, differ by more than ``at_most`` times the seed noise of ``to``."""

    kind: Literal["noise"]
    of: Operands
    to: MeanOperand
    at_most: Positive

    @model_validator(mode="after")
    def _compares(self) -> NoiseCheck:
        _several(self.of)
        if self.to.numbers > 1:
            raise ValueError("to: the seed noise of one number is needed, not of several")
        return self


class ExistsCheck(_Ends):
    """At least one seed has numbers above ``at_least``, below ``at_most``, or between both.

    Attributes:
        kind: The kind.
        of: The numbers.
        count: How many of several numbers of the seed must lie there; none: all.
        lecture_runs: In how many runs the lecture saw it happen at least once.
    """

    kind: Literal["exists"]
    of: MeanOperand
    count: Count | None = None
    lecture_runs: Count = 1

    @model_validator(mode="after")
    def _enough_numbers(self) -> ExistsCheck:
        _require_numbers(self.count, self.of, "count")
        return self


class AllCheck(_Strict):
    """What one sentence says together: every one of the checks holds."""

    kind: Literal["all"]
    of: Annotated[list[Check], Field(min_length=2)]


Fact = Annotated[dict[FactKey, Key], Field(min_length=1)]
Check = Annotated[
    ExactCheck | BandCheck | BoundCheck | OrderCheck | EquivalentCheck | NoiseCheck | ExistsCheck | AllCheck,
    Field(discriminator="kind"),
]
AllCheck.model_rebuild()  # it was declared before what it holds


class StatedSettings(_Strict):
    """Values of the merged study file, by dotted path."""

    study: Name
    values: Annotated[dict[StrictStr, Setting], Field(min_length=1)]


class Claim(_Strict):
    """One sentence of a lecture; its id, ``LECTURE:NAME``, is the key in the file.

    Attributes:
        says: The sentence.
        section: The section of the lecture.
        basis: Whether the lecture states it, it follows from what is stated, or we computed it again.
        by_construction: Whether it holds because we built it so, and is no evidence.
        reading: How the sentence becomes the check, and the reason of a margin.
        check: What decides it.
        fact: The short form of a check: metrics of demonstrations with their values; `expand` makes ``check`` of
            it.
        setting: What the configuration must say.
        same_as: The claims that say the same.
        recipes: Runs that differ only in what the lecture leaves open, the one of the check first. The check is
            asked of each of them.
        rewritten: Why its check was changed after its first full build; none if it was not.
    """

    says: Sentence
    section: Sentence
    basis: Literal["stated", "derived", "recomputed"] = "stated"
    by_construction: StrictBool = False
    reading: StrictStr = ""
    check: Check | None = None
    fact: Annotated[dict[Name, Fact], Field(min_length=1)] | None = None
    setting: StatedSettings | None = None
    same_as: Annotated[list[ClaimId], Field(min_length=1)] | None = None
    recipes: Annotated[list[Name], Field(min_length=2), AfterValidator(_distinct)] | None = None
    rewritten: Sentence | None = None

    @model_validator(mode="after")
    def _recipes_of_its_check(self) -> Claim:
        if self.recipes and (self.check is None or self.recipes[0] not in self._runs()):
            raise ValueError(f"recipes: the check reads no run {self.recipes[0]}, the first of the recipes")
        return self

    @model_validator(mode="after")
    def _one_way_to_decide(self) -> Claim:
        given = [key for key in ("check", "fact", "setting", "same_as") if getattr(self, key) is not None]
        if len(given) != 1:
            raise ValueError(
                f"needs exactly one of check, fact, setting and same_as, found {' and '.join(given) or 'none'}"
            )
        return self

    @property
    def checks(self) -> list[Check]:
        """Its check, asked of each of its recipes; none without a check."""
        if self.check is None:
            return []
        if not self.recipes:
            return [self.check]
        return [_with_run(self.check, self.recipes[0], run) for run in self.recipes]

    @property
    def operands(self) -> list[Operand]:
        """Every operand of its check, in all its recipes."""
        return [operand for check in self.checks for operand in _operands(check)]

    def _runs(self) -> set[str]:
        return {run for operand in _operands(self.check) for run in operand.runs} if self.check else set()


class Excluded(_Strict):
    """Why an item of a lecture has no claim.

    Attributes:
        reason: ``definition`` (nothing to measure), ``lost`` (no figure and no comparison survives), ``machine``
            (needs other hardware) or ``scale`` (needs a large model).
        because: The reason in a sentence.
    """

    reason: Literal["definition", "lost", "machine", "scale"]
    because: Sentence


class ClaimsFile(_Strict):
    """A file config/claims/LECTURE.yaml.

    Attributes:
        title: The title of the lecture; the name of its file if there is none.
        claims: Its claims by id.
    """

    title: Sentence | None = None
    claims: dict[ClaimId, Claim]


class ExcludedFile(_Strict):
    """The file config/claims/excluded.yaml."""

    excluded: dict[ClaimId, Excluded]


def expand(claim: Claim) -> Claim:
    """The claim with the check that its ``fact`` is short for; without a fact, the claim itself."""
    if claim.fact is None:
        return claim
    checks = [_check_of(run, *one) for run, facts in claim.fact.items() for one in facts.items()]
    check = checks[0] if len(checks) == 1 else AllCheck(kind="all", of=checks)
    return claim.model_copy(update={"check": check})


def _check_of(run: str, key: str, value: int | float | str) -> Check:
    """A metric has a value: exactly, or to half a unit of the last digit of a number with decimals."""
    metric, _, condition = key.removesuffix(")").partition("(")
    of = Operand.model_validate(
        {"study": DEMONSTRATIONS, "run": run, "metric": metric, "where": read_condition(condition)}
    )
    if isinstance(value, int) or (isinstance(value, str) and not re.fullmatch(_DECIMALS, value)):
        return ExactCheck(kind="exact", of=of, to=value)
    number = Decimal(str(value))
    half = float(Decimal(5).scaleb(int(number.as_tuple().exponent) - 1))
    return BandCheck(kind="band", of=of, to=float(number), rounding=half, margin=half * _ABOVE)


def _operands(check: Check) -> Iterator[Operand]:
    match check:
        case AllCheck():
            for part in check.of:
                yield from _operands(part)
        case OrderCheck() | EquivalentCheck():
            yield from check.of
        case NoiseCheck():
            yield from (*check.of, check.to)
        case _:
            yield check.of


def _with_run(part: _Part, run: str, other: str) -> _Part:
    """A check, or a part of one, with another run in the place of ``run``."""

    def changed(value: object) -> object:
        if isinstance(value, BaseModel):
            return _with_run(value, run, other)
        return [changed(one) for one in value] if isinstance(value, list) else value

    values: dict[str, object] = {name: changed(getattr(part, name)) for name in type(part).model_fields}
    if isinstance(part, Operand):
        values |= {name: other for name in ("run", "minus") if values[name] == run}
    return part.model_copy(update=values)


def _same_length(to: object, operand: Operand) -> None:
    numbers = operand.numbers
    if isinstance(to, list) and len(to) != numbers:
        raise ValueError(f"to: {len(to)} values for the {numbers} numbers of `of`")


def _require_numbers(count: int | None, operand: Operand, name: str) -> None:
    if (count or 0) > operand.numbers:
        raise ValueError(f"{name}: {count} of only {operand.numbers} numbers")


def _several(operands: list[Operand]) -> None:
    if sum(operand.numbers for operand in operands) < 2:
        raise ValueError("of: a comparison needs at least two numbers")
    if any(operand in operands[:index] for index, operand in enumerate(operands)):
        raise ValueError("of: a comparison of a number with itself")
