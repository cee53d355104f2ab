"""The reference: the committed observations of a full build, one file a study, to compare later builds with.

This module reads and writes it; `statistics.comparison` decides what moved.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field, StrictFloat, StrictInt, StrictStr

from seedbed.configuration.configuration import Configuration
from seedbed.configuration.schema import Name, PluginName
from seedbed.configuration.validation import validate
from seedbed.configuration.yaml import ConfigError, read
from seedbed.messages import nearest
from seedbed.observations import DEMONSTRATIONS, Scalar, condition_text
from seedbed.pipeline import storage
from seedbed.pipeline.fingerprint import COMPUTING, versions
from seedbed.pipeline.machine import DECIDING
from seedbed.statistics.observed import ObservationKey

if TYPE_CHECKING:
    import pyarrow as pa

WATCHED = Path("config") / "watched.yaml"
FOLDER = Path("results") / "reference"
SENTINELS = FOLDER / "sentinels.parquet"
#: How long each kind of job took where the references were made; a first build tells the time left by them.
DURATIONS = FOLDER / "durations.json"
_ENVIRONMENT = "environment"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Watched(_Strict):
    """One number of the table of observations that `make check` decides on."""

    study: Name
    run: Name
    metric: PluginName
    where: dict[StrictStr, StrictStr | StrictInt | StrictFloat] = {}


class WatchedFile(_Strict):
    """config/watched.yaml: few numbers, so that each can be looked at if it moves."""

    watched: Annotated[list[Watched], Field(max_length=60)]


def read_watched(configuration: Configuration) -> list[ObservationKey]:
    """The watched numbers of the runs and demonstrations that are built now; none without config/watched.yaml.

    Raises:
        ConfigError: a wrong key, a study that no file describes, or a run that its study does not have.
    """
    path, place = configuration.root / WATCHED, WATCHED.as_posix()
    if not path.exists():
        return []
    found = []
    for index, one in enumerate(validate(WatchedFile, read(path, place), place).watched):
        if one.study == DEMONSTRATIONS:
            if one.run not in configuration.demonstrations:
                near = nearest(one.run, configuration.demonstrations)
                raise ConfigError(f"{place}: watched[{index}].run: {one.run}: {near}")
            found.append(ObservationKey(one.study, one.run, one.metric, condition_text(one.where)))
            continue
        known = [file.stem for file in (path.parent / "studies").glob("*.yaml")]
        if one.study not in known:
            raise ConfigError(f"{place}: watched[{index}].study: {one.study}: {nearest(one.study, known)}")
        if one.study not in configuration.studies:
            continue
        runs = configuration.studies[one.study].runs
        if one.run not in runs:
            raise ConfigError(f"{place}: watched[{index}].run: {one.run}: {nearest(one.run, runs)}")
        if one.run in configuration.runs(one.study):
            found.append(ObservationKey(one.study, one.run, one.metric, condition_text(one.where)))
    return found


def path_of(study: str) -> Path:
    """The reference of a study, relative to the project's folder."""
    return FOLDER / f"{study}.parquet"


def contents(studies: Iterable[str]) -> dict[str, str]:
    """The hash of each reference that is there, by study: what a comparison depends on."""
    there = {study: path_of(study) for study in studies if path_of(study).is_file()}
    return {study: hashlib.sha256(path.read_bytes()).hexdigest() for study, path in there.items()}


def environment(machines: Sequence[Mapping[str, object]]) -> dict[str, str]:
    """What decides the last digits of a number.

    Args:
        machines: Rows of the table of timings, where each training notes its machine.
    """
    seen = {name: sorted({str(row["text"]) for row in machines if row["metric"] == name}) for name in DECIDING}
    # Wheels of one version, such as 2.13.0 and 2.13.0+cpu, are told apart by their arithmetic.
    libraries = {name: number.partition("+")[0] for name, number in versions(COMPUTING).items()}
    return libraries | {name: ", ".join(texts) for name, texts in seen.items()}


def write(path: Path, table: pa.Table, made: Mapping[str, str]) -> None:
    """Write rows of observations as a reference; ``made`` is the environment that made them.

    Fingerprints are left out: a reference is valid for any code that computes the same recipe.
    """
    kept = table.drop_columns(["fingerprint"])
    storage.write_table(path, kept, "", {_ENVIRONMENT: json.dumps(made, sort_keys=True)})


def read_reference(path: Path) -> tuple[list[dict[str, Scalar | None]], dict[str, str]]:
    """The rows of a reference, and the environment that made them.

    Raises:
        StorageError: missing, broken or of another format.
    """
    try:
        table = storage.read_table(path)
    except storage.StorageError as error:
        raise storage.StorageError(
            f"{path}: holds no reference that can be read; take the file from the repository again"
        ) from error
    return table.to_pylist(), json.loads(table.schema.metadata[_ENVIRONMENT.encode()])
