"""What the project is asked to build: config.yaml, the studies and their languages, read and checked as a whole.

Everything is checked before anything runs. An error names the file, the key and what to do. This module computes
no result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property, partial
from pathlib import Path

from seedbed.configuration import plugins
from seedbed.configuration.demonstrations import PLACE, Demonstration, read_demonstrations
from seedbed.configuration.schema import Data, Run, Settings, Start, Study, whole_number
from seedbed.configuration.studies import obstacle, read_study
from seedbed.configuration.validation import together, validate
from seedbed.configuration.yaml import ConfigError, read, read_text
from seedbed.messages import nearest
from seedbed.observations import DEMONSTRATIONS

#: The folder that holds config/, workflow/ and src/.
ROOT = plugins.PACKAGE.parents[1]
#: Names that no study can have: those of the pages that every build has.
_TAKEN = ("index", "claims", DEMONSTRATIONS)
#: A sentinel's training steps, and its validation and test documents.
SENTINEL_STEPS = 150
#: The epochs of a quick build, and the validation and test documents of quick builds and sentinels.
QUICK_EPOCHS, FEW_DOCUMENTS = 1, 200


class Configuration:
    """The whole configuration, with ``overrides`` of config.yaml's keys (as after ``--config``).

    Raises:
        ConfigError: anything in it is unknown, of the wrong type or contradictory.
    """

    def __init__(self, overrides: Mapping[str, object] | None = None, root: Path = ROOT) -> None:
        self.root = root
        self.overrides = dict(overrides or {})
        place = "config/config.yaml"
        written = read(root / place, place)
        self._planned = validate(Settings, written, place)
        self.settings = (
            validate(Settings, written | self.overrides, "--config") if self.overrides else self._planned
        )
        place = f"{'--config' if 'studies' in self.overrides else place}: studies"
        steps = [partial(self._read_study, name, place) for name in self.settings.studies]
        #: The studies as their files describe them, and as the scope builds them.
        self.described = dict(zip(self.settings.studies, together(steps), strict=True))
        self.studies = {name: _reduce(study, self.settings.scope) for name, study in self.described.items()}
        self._check_starts()
        #: The demonstrations by name.
        self.demonstrations: dict[str, Demonstration] = read_demonstrations(root)
        trained = [name for study in self.studies for name, run in self.runs(study).items() if run.trained]
        if self.quick and not trained:
            raise ConfigError(
                f"{place}: no run is marked `quick: true`, so that a quick build would train nothing"
            )

    @property
    def quick(self) -> bool:
        """Whether only one seed of the runs marked ``quick`` is built."""
        return self.settings.scope in ("quick", "sentinels")

    @property
    def folder(self) -> Path:
        """The folder that holds results/: paths do not contain the scope, so a quick build has its own."""
        return Path(self.settings.scope) if self.quick else Path()

    def runs(self, study: str) -> dict[str, Run]:
        """The runs of a study that are built now."""
        return {
            name: run
            for name, run in self.studies[study].runs.items()
            if run.quick or not (self.quick and run.trained)
        }

    def seeds(self, study: str, run: str) -> tuple[int | None, ...]:
        """The seeds of a run; only None for a reference run."""
        entry = self.studies[study].runs[run]
        return self._seeds(entry.seeds) if entry.trained else (None,)

    def demonstration_seeds(self, name: str) -> tuple[int | None, ...]:
        """The seeds that a demonstration is repeated with; only None if it draws nothing."""
        entry = self.demonstrations[name]
        return self._seeds(entry.seeds) if entry.repeated else (None,)

    def _seeds(self, own: int | None) -> tuple[int, ...]:
        """The seeds of an entry that may name their number itself."""
        if self.quick:
            return (0,)
        if "seeds" in self.overrides:
            return tuple(range(self.settings.seeds))
        usual = self.settings.reference_seeds if self.settings.scope == "reference" else self.settings.seeds
        return tuple(range(own or usual))

    def full(self, study: str) -> bool:
        """Whether every run of a study has at least the seeds that the files give it."""
        return self._enough(run.seeds for run in self.studies[study].runs.values() if run.trained)

    @property
    def full_demonstrations(self) -> bool:
        """The same of every demonstration that is repeated."""
        return self._enough(one.seeds for one in self.demonstrations.values() if one.repeated)

    def _enough(self, planned: Iterable[int | None]) -> bool:
        if self.quick or "seeds" not in self.overrides:
            return not self.quick
        return all(self.settings.seeds >= (own or self._planned.seeds) for own in planned)

    def evaluated(self, study: str, evaluation: str) -> list[str]:
        """The runs of a study that an evaluation measures now; ``all`` are those that it can measure."""
        entry = self.studies[study]
        asked = entry.evaluations[evaluation]
        return [
            name
            for name, run in self.runs(study).items()
            if (name in asked.runs if isinstance(asked.runs, list) else run.trained or asked.runs == "all")
            and not obstacle(asked, run, entry)
        ]

    @cached_property
    def languages(self) -> dict[str, dict[str, object]]:
        """The grammars that the studies and the demonstrations use, by name."""
        used = {
            data.language: f"config/studies/{study}.yaml: data.{name}.language"
            for study, entry in self.studies.items()
            for name, data in entry.data.items()
            if data.language
        } | {
            entry.language: f"{PLACE}: {name}: of" for name, entry in self.demonstrations.items() if entry.language
        }
        steps = [partial(self._read_named, "languages", name, place) for name, place in sorted(used.items())]
        return dict(zip(sorted(used), together(steps), strict=True))

    def _read_study(self, name: str, named: str) -> Study:
        if name in _TAKEN:
            raise ConfigError(f"{named}: {name}: a page of every build has this name; give the study another")
        return read_study(self._read_named("studies", name, named), f"config/studies/{name}.yaml")

    def _check_starts(self) -> None:
        """Check every run that begins with another's weights: that one has the same network and all its seeds."""
        for study, entry in self.studies.items():
            for name, run in entry.runs.items():
                if run.start:
                    self._check_start(study, name, run.start)

    def _check_start(self, study: str, name: str, start: Start) -> None:
        place = f"config/studies/{study}.yaml: runs.{name}.start"
        if start.study not in self.studies:
            raise ConfigError(f"{place}.study: {start.study}: {nearest(start.study, self.studies)}")
        known = {key: run for key, run in self.studies[start.study].runs.items() if run.trained}
        if start.run not in known:
            raise ConfigError(f"{place}.run: {start.run}: {nearest(start.run, known)}")
        run, first = self.studies[study].runs[name], known[start.run]
        if first.start:
            raise ConfigError(f"{place}: {start.run} begins with another run's weights itself; name that one")
        if run.model != first.model:
            raise ConfigError(f"{place}: {start.run} has another network; both need the same model and options")
        if run.quick and not first.quick:
            raise ConfigError(f"{place}: {name} is quick, so {start.run} must be quick too")
        wanted, there = len(self.seeds(study, name)), len(self.seeds(start.study, start.run))
        if wanted > there:
            raise ConfigError(
                f"{place}: {start.run} has {there} seeds and {name} {wanted}; give {name} seeds: {there}"
            )

    def _read_named(self, folder: str, name: str, named: str) -> dict[str, object]:
        """The content of a file that the key ``named`` asks for."""
        place = f"config/{folder}/{name}.yaml"
        path = self.root / place
        if not path.exists():
            known = [file.stem for file in path.parent.glob("*.yaml") if file.is_file()]
            raise ConfigError(f"{named}: {name}: no {place}; {nearest(name, known)}")
        return read(path, place)


def overrides(texts: Iterable[str]) -> dict[str, object]:
    """``KEY=VALUE`` texts as a mapping, values read as YAML.

    Raises:
        ConfigError: a text without ``=``, or a value that is not valid YAML.
    """
    found: dict[str, object] = {}
    for text in texts:
        key, _, value = text.partition("=")
        if not key or not value:
            raise ConfigError(f"--config {text}: expected KEY=VALUE, such as seeds=3")
        if key in found:
            raise ConfigError(f"--config {text}: {key} occurs twice")
        found[key] = read_text(value, f"--config {text}")
    return found


def _reduce(study: Study, scope: str) -> Study:
    """The study as a scope builds it: trained briefly in a quick build, for a few steps as sentinels."""
    if scope == "quick":
        few = {name: _shorten_data(data, FEW_DOCUMENTS) for name, data in study.data.items()}
        return study.model_copy(update={"data": few, "runs": _shorten_runs(study.runs, QUICK_EPOCHS)})
    if scope == "sentinels":
        batch = max((whole_number(run.training, "batch") for run in study.runs.values() if run.trained), default=1)
        sizes = {"training": SENTINEL_STEPS * batch, "validation": FEW_DOCUMENTS, "test": FEW_DOCUMENTS}
        few = {name: data.model_copy(update=sizes) for name, data in study.data.items()}
        return study.model_copy(update={"data": few, "runs": _shorten_runs(study.runs, 1)})
    return study


def _shorten_data(data: Data, documents: int) -> Data:
    sizes = {"validation": min(data.validation, documents), "test": min(data.test, documents)}
    return data.model_copy(update=sizes)


def _shorten_runs(runs: Mapping[str, Run], epochs: int) -> dict[str, Run]:
    """The runs with at most this many epochs."""
    return {
        name: run.model_copy(
            update={"training": run.training | {"epochs": min(whole_number(run.training, "epochs"), epochs)}}
        )
        if run.trained
        else run
        for name, run in runs.items()
    }
