"""The claims: config/claims/*.yaml is read and checked against the rest of the configuration.

This module passes claims on to the code that judges them, and computes no verdict.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from seedbed.configuration.configuration import ROOT, Configuration
from seedbed.configuration.validation import together, validate
from seedbed.configuration.yaml import ConfigError, read
from seedbed.messages import nearest, quote, unexpected
from seedbed.observations import DEMONSTRATIONS, Scalar, condition_text
from seedbed.statistics.claims import Claim, ClaimsFile, Excluded, ExcludedFile, Operand, StatedSettings, expand

EXCLUDED = "excluded"


@dataclass(frozen=True)
class Claims:
    """Every claim, every item of a lecture that has none for a stated reason, and the title of every lecture."""

    claims: dict[str, Claim]
    excluded: dict[str, Excluded]
    titles: dict[str, str]


def read_claims(root: Path = ROOT) -> Claims:
    """All claims, in the order of files and lines.

    Raises:
        ConfigError: an entry is invalid, occurs twice, or repeats a claim that has no check of its own.
    """
    paths = sorted((root / "config" / "claims").glob("*.yaml"))
    files = together(partial(_read_lecture, path) for path in paths if path.stem != EXCLUDED)
    claims = {name: expand(claim) for file in files for name, claim in file.claims.items()}
    names = [path.stem for path in paths if path.stem != EXCLUDED]
    titles = {name: file.title or name.capitalize() for name, file in zip(names, files, strict=True)}
    reasons = [_excluded(path) for path in paths if path.stem == EXCLUDED]
    excluded = reasons[0] if reasons else {}
    _check_excluded(claims, excluded)
    _check_repeated(claims)
    return Claims(claims, excluded, titles)


def _read_lecture(path: Path) -> ClaimsFile:
    place = f"config/claims/{path.name}"
    file = validate(ClaimsFile, read(path, place), place)
    _check_lecture(file.claims, path.stem, place)
    return file


def _excluded(path: Path) -> dict[str, Excluded]:
    place = f"config/claims/{path.name}"
    return validate(ExcludedFile, read(path, place), place).excluded


def check_names(claims: Claims, configuration: Configuration) -> None:
    """Check that the configuration has every study, run and demonstration of a claim, and every path of a setting.

    Claims about a study that is not built now are not judged, and only its name is checked.

    Raises:
        ConfigError: an unknown name; the message says the nearest right one.
    """
    operands = [
        partial(_check_operand, operand, configuration, _place_of_check(name, claim))
        for name, claim in claims.claims.items()
        for operand in claim.operands
    ]
    together([lambda: together(operands), lambda: settings(claims, configuration)])


def _check_operand(operand: Operand, configuration: Configuration, place: str) -> None:
    if operand.study == DEMONSTRATIONS:
        for name in operand.runs:
            if name not in configuration.demonstrations:
                raise ConfigError(f"{place}: demonstration {name}: {nearest(name, configuration.demonstrations)}")
    elif _built(operand.study, configuration, place):
        known = configuration.studies[operand.study].runs
        for run in operand.runs:
            if run not in known:
                raise ConfigError(f"{place}: run {run}: {nearest(run, known)}")


@dataclass(frozen=True)
class Seen:
    """A metric under a condition that an evaluation of a run, or a demonstration, has yielded.

    For a demonstration, ``study`` is ``demonstrations``; ``run`` and ``evaluation`` are its name.
    """

    study: str
    run: str
    evaluation: str
    metric: str
    condition: Mapping[str, Scalar]


@dataclass(frozen=True)
class Wanted:
    """What a file asks of the observations: a metric of runs, under each of some conditions."""

    place: str
    study: str
    runs: tuple[str, ...]
    metric: str
    conditions: Sequence[Mapping[str, Scalar]]


def wanted(claims: Claims) -> list[Wanted]:
    """What the claims ask for."""
    return [
        Wanted(_place_of_check(name, claim), one.study, one.runs, one.metric, one.conditions)
        for name, claim in claims.claims.items()
        for one in claim.operands
    ]


def check_decidable(claims: Claims, configuration: Configuration) -> None:
    """Check that each claim on a share of seeds can be decided by the seeds of a reference.

    Raises:
        ConfigError: whatever the seeds do, they confirm and contradict nothing.
    """
    together(partial(_check_decidable, name, claim, configuration) for name, claim in claims.claims.items())


def _check_decidable(name: str, claim: Claim, configuration: Configuration) -> None:
    from seedbed.statistics.questions import undecidable

    usual = configuration.settings.reference_seeds
    runs = [
        configuration.studies[operand.study].runs[run]
        for operand in claim.operands
        if operand.study in configuration.studies
        for run in operand.runs
    ]
    seeds = min((run.seeds or usual for run in runs if run.trained), default=usual)
    if claim.check and undecidable(claim.check, seeds):
        raise ConfigError(
            f"{_place_of_check(name, claim)}: no outcome of {seeds} seeds, those of its runs in a reference, can "
            "confirm or contradict these shares of seeds; give the runs more seeds, or choose other limits"
        )


def check_measured(wanted: Iterable[Wanted], seen: Collection[Seen], configuration: Configuration) -> None:
    """Check that everything wanted of the runs and demonstrations that are measured now has been yielded.

    A demonstration always yields the same conditions, so each condition must have been seen. For a run, numbers in
    conditions are not compared: a few documents do not show how many epochs or positions there are. A text is
    right if it was seen, or if it consists of words of the study's languages.

    Raises:
        ConfigError: an unknown metric, key or text; the message says the nearest right one.
    """
    measured = {(one.study, one.run) for one in seen}
    together(
        partial(_check_fact, one, seen)
        if one.study == DEMONSTRATIONS
        else partial(_check_metric, one, seen, configuration)
        for one in wanted
        if all((one.study, run) in measured for run in one.runs)
    )


def _check_fact(wanted: Wanted, seen: Collection[Seen]) -> None:
    """Check that demonstrations yield a metric under all conditions that are wanted."""
    for name in wanted.runs:
        of_name = [one for one in seen if (one.study, one.run) == (wanted.study, name)]
        known = {condition_text(one.condition) for one in of_name if one.metric == wanted.metric}
        if not known:
            metrics = nearest(wanted.metric, {one.metric for one in of_name})
            raise ConfigError(f"{wanted.place}: metric {wanted.metric}: {name} does not yield it; {metrics}")
        for text in map(condition_text, wanted.conditions):
            if text not in known:
                there = nearest(text, {each or "no condition" for each in known})
                raise ConfigError(f"{wanted.place}: {wanted.metric}: where: {text or 'nothing'}: {there}")


def _check_metric(wanted: Wanted, seen: Collection[Seen], configuration: Configuration) -> None:
    of_study = [one for one in seen if one.study == wanted.study]
    among = [one for one in of_study if one.metric == wanted.metric]
    if not among:
        known = nearest(wanted.metric, {one.metric for one in of_study})
        raise ConfigError(f"{wanted.place}: metric {wanted.metric}: nothing measures it; {known}")
    evaluations = sorted({one.evaluation for one in among})
    for run in wanted.runs:
        if not any(run in configuration.evaluated(wanted.study, each) for each in evaluations):
            measuring = ", ".join(evaluations)
            raise ConfigError(f"{wanted.place}: {wanted.metric} of run {run}: {measuring} does not measure it")
    used = {data.language for data in configuration.studies[wanted.study].data.values() if data.language}
    words = _words([configuration.languages[name] for name in used])
    for condition in wanted.conditions:
        _check_condition(condition, among, words, f"{wanted.place}: {wanted.metric}: where")


def _check_condition(
    condition: Mapping[str, object], among: Collection[Seen], words: set[str], place: str
) -> None:
    keys = {tuple(sorted(one.condition)) for one in among}
    if tuple(sorted(condition)) not in keys:
        listed = " or ".join(", ".join(each) or "nothing" for each in sorted(keys))
        raise ConfigError(f"{place}: expected {listed}, found {', '.join(condition) or 'nothing'}")
    for key, value in condition.items():
        known = {one.condition.get(key) for one in among}
        if isinstance(value, str) and value not in known and not words.issuperset(value.split()):
            raise ConfigError(f"{place}.{key}: {value}: {nearest(value, known)}")


def _words(content: object) -> set[str]:
    """Every word of a parsed file, keys included."""
    if isinstance(content, dict):
        return set().union(*map(_words, [*content, *content.values()]))
    if isinstance(content, list):
        return set().union(*map(_words, content))
    return set(content.split()) if isinstance(content, str) else set()


def settings(claims: Claims, configuration: Configuration) -> dict[str, dict[str, object]]:
    """What the merged configuration says at each path of each ``setting`` claim whose study is built now.

    Raises:
        ConfigError: a path that is not in the study; a misspelt one would look like an error of the lecture.
    """
    chosen = {name: claim.setting for name, claim in claims.claims.items() if claim.setting}
    steps = [partial(_set, one, configuration, f"{place_of(name)}.setting") for name, one in chosen.items()]
    found = zip(chosen, together(steps), strict=True)
    return {name: values for name, values in found if values is not None}


def _set(setting: StatedSettings, configuration: Configuration, place: str) -> dict[str, object] | None:
    """What the study says at each path of the setting; None if the study is not built now."""
    if not _built(setting.study, configuration, place):
        return None
    merged = configuration.described[setting.study].model_dump(mode="json")
    return {path: _at(merged, path, place) for path in setting.values}


def _at(merged: object, path: str, place: str) -> object:
    for key in path.split("."):
        known = merged if isinstance(merged, dict) else {}
        if key not in known:
            raise ConfigError(f"{place}.values: {path}: {quote(key)}: {nearest(key, known)}")
        merged = known[key]
    if isinstance(merged, dict):
        raise ConfigError(f"{place}.values: {path}: {unexpected(merged, 'the path of one value or list')}")
    return merged


def _built(study: str, configuration: Configuration, place: str) -> bool:
    if study in configuration.studies:
        return True
    known = [file.stem for file in (configuration.root / "config" / "studies").glob("*.yaml")]
    if study not in known:
        raise ConfigError(f"{place}: study {study}: {nearest(study, known)}")
    return False


def place_of(name: str) -> str:
    """The file and key of a claim."""
    return f"config/claims/{_lecture(name)}.yaml: claims.{name}"


def _place_of_check(name: str, claim: Claim) -> str:
    return f"{place_of(name)}.{'check' if claim.fact is None else 'fact'}"


def _lecture(name: str) -> str:
    return name.partition(":")[0]


def _check_lecture(entries: dict[str, Claim], lecture: str, place: str) -> None:
    for name in entries:
        if _lecture(name) != lecture:
            raise ConfigError(f"{place}: claims.{name}: an id begins with the lecture's name, {lecture}:")


def _check_excluded(claims: dict[str, Claim], excluded: dict[str, Excluded]) -> None:
    lectures = {_lecture(name) for name in claims}
    for name in excluded:
        place = f"config/claims/{EXCLUDED}.yaml: excluded.{name}"
        if name in claims:
            raise ConfigError(f"{place}: it is also a claim; delete one of the two")
        if _lecture(name) not in lectures:
            raise ConfigError(f"{place}: lecture {_lecture(name)}: {nearest(_lecture(name), lectures)}")


def _check_repeated(claims: dict[str, Claim]) -> None:
    own = [name for name, claim in claims.items() if claim.same_as is None]
    for name, claim in claims.items():
        for target in claim.same_as or ():
            if target not in own:
                place = f"{place_of(name)}.same_as"
                raise ConfigError(f"{place}: {target} is no claim with a check of its own; {nearest(target, own)}")
