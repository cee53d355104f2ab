"""The claims of the lectures: config/claims/*.yaml read, and checked against the rest of the configuration.

This module carries claims to the code that judges them and computes no verdict.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from seedbed.names import nearest
from seedbed.pipeline.configuration import ROOT, Configuration
from seedbed.pipeline.validation import validated
from seedbed.pipeline.yaml import ConfigError, read
from seedbed.statistics.claims import Claim, ClaimsFile, Excluded, ExcludedFile

EXCLUDED = "excluded"


@dataclass(frozen=True)
class Claims:
    """Every claim, and every item of a lecture that has none for a stated reason, by id."""

    claims: dict[str, Claim]
    excluded: dict[str, Excluded]


def read_claims(root: Path = ROOT) -> Claims:
    """All claims, in the order of files and lines.

    Raises:
        ConfigError: an entry means nothing, stands twice, or repeats a claim that has no check of its own.
    """
    claims: dict[str, Claim] = {}
    excluded: dict[str, Excluded] = {}
    for path in sorted((root / "config" / "claims").glob("*.yaml")):
        place = path.relative_to(root).as_posix()
        if path.stem == EXCLUDED:
            excluded = validated(ExcludedFile, read(path), place).excluded
        else:
            entries = validated(ClaimsFile, read(path), place).claims
            _check_lecture(entries, path.stem, place)
            claims |= entries
    _check_excluded(claims, excluded)
    _check_repeated(claims)
    return Claims(claims, excluded)


def check_names(claims: Claims, configuration: Configuration) -> None:
    """Every study and run of a claim, and every path of a setting, is one of the configuration.

    Claims about a study that is not built now are not judged, and only its name is checked.

    Raises:
        ConfigError: an unknown name; the message says the nearest right one.
    """
    for name, claim in claims.claims.items():
        place = f"config/claims/{_lecture(name)}.yaml: claims.{name}"
        for operand in claim.operands:
            if _built(operand.study, configuration, place):
                known = configuration.studies[operand.study].runs
                for run in operand.runs:
                    if run not in known:
                        raise ConfigError(f"{place}: run {run}: {nearest(run, known)}")
    settings(claims, configuration)


def settings(claims: Claims, configuration: Configuration) -> dict[str, dict[str, object]]:
    """What the merged configuration says at each path of each ``setting`` claim whose study is built now.

    Raises:
        ConfigError: a path that is not in the study, which misspelt would read as a lecture's error.
    """
    found = {}
    for name, claim in claims.claims.items():
        place = f"config/claims/{_lecture(name)}.yaml: claims.{name}"
        if claim.setting and _built(claim.setting.study, configuration, place):
            merged = configuration.studies[claim.setting.study].model_dump(mode="json")
            found[name] = {path: _at(merged, path, place) for path in claim.setting.values}
    return found


def _at(merged: object, path: str, place: str) -> object:
    for key in path.split("."):
        known = merged if isinstance(merged, dict) else {}
        if key not in known:
            raise ConfigError(f"{place}: setting {path}: {key}: {nearest(key, known)}")
        merged = known[key]
    return merged


def _built(study: str, configuration: Configuration, place: str) -> bool:
    if study in configuration.studies:
        return True
    known = [file.stem for file in (configuration.root / "config" / "studies").glob("*.yaml")]
    if study not in known:
        raise ConfigError(f"{place}: study {study}: {nearest(study, known)}")
    return False


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
                place = f"config/claims/{_lecture(name)}.yaml: claims.{name}.same_as"
                raise ConfigError(f"{place}: {target} is no claim with a check of its own; {nearest(target, own)}")
