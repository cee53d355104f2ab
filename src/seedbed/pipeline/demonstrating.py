"""Demonstrate: build what a demonstration asks for, and call it. Nothing here knows of files, plan or jobs.

A demonstration that needs no network and no objective is computed without importing torch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from seedbed.configuration import plugins
from seedbed.configuration.claim_files import Seen
from seedbed.configuration.configuration import Configuration
from seedbed.configuration.demonstrations import PLACE, Demonstration, needs, parts
from seedbed.observations import Observation, condition_text, read_condition
from seedbed.randomness import stream
from seedbed.statistics.claims import DEMONSTRATIONS

if TYPE_CHECKING:
    from torch import nn

    from seedbed.languages.automaton import Language
    from seedbed.languages.vocabulary import Vocabulary
    from seedbed.tasks.task import Task


def observe(
    entry: Demonstration, name: str, languages: Mapping[str, Mapping[str, object]], seeds: Iterable[int | None]
) -> list[tuple[int | None, Observation]]:
    """The observations of a demonstration, each with its seed.

    Args:
        entry: Its entry in config/demonstrations.yaml, with every option filled in.
        name: The name of the entry, which is also that of its streams.
        languages: The grammars by name; that of the entry must be among them.
        seeds: As `Configuration.demonstration_seeds` says them. The observations of a seed depend on no other.
    """
    module = plugins.load("demonstrations", entry.kind)
    options, source = module.Options(**entry.options), _source(entry, languages)
    found = []
    for seed in seeds:
        arguments = {need: _argument(need, entry, name, source, seed) for need in needs(entry.kind)}
        found += [(seed, one) for one in module.demonstrate(options, **arguments)]
    return found


def observe_once(configuration: Configuration) -> Iterator[Seen]:
    """What every demonstration yields, for the check of names: called with its first seed alone.

    Raises:
        ConfigError: a demonstration fails.
    """
    for name, entry in configuration.demonstrations.items():
        with plugins.explained(f"{PLACE}: {name}"):
            found = observe(entry, name, configuration.languages, configuration.demonstration_seeds(name)[:1])
        for _, one in found:
            yield Seen(DEMONSTRATIONS, name, entry.kind, one.metric, read_condition(condition_text(one.condition)))


def modules(entry: Demonstration) -> list[str]:
    """The modules that a demonstration computes with; what they import counts too."""
    found = [f"seedbed.{folder}.{kind}" for _, folder, kind, _ in parts("", entry)]
    found += ["seedbed.languages.compilation"] if entry.language else []
    found += ["seedbed.models.initialisation"] if entry.models else []
    return list(dict.fromkeys(["seedbed.randomness", *found]))


def _argument(need: str, entry: Demonstration, name: str, source: Any, seed: int | None) -> object:  # noqa: ANN401 - a language, a task or nothing
    """What a demonstration is given for one of its needs, made anew for each seed."""
    match need:
        case "networks":
            vocabulary = len(source.vocabulary)
            return {key: _network(values, vocabulary, _require_seed(seed)) for key, values in entry.models.items()}
        case "objectives":
            return {key: _objective(values, source.vocabulary) for key, values in entry.objectives.items()}
        case "rng":
            return stream(_require_seed(seed), f"demonstration {name}")
    return source


def _source(entry: Demonstration, languages: Mapping[str, Mapping[str, object]]) -> Language | Task | None:
    if entry.language:
        from seedbed.languages.compilation import read_language

        return read_language(languages[entry.language], f"config/languages/{entry.language}.yaml")
    if entry.task:
        module = plugins.load("tasks", entry.task.task)
        task: Task = module.Task(module.Options(**entry.task.options))
        return task
    return None


def _network(values: Mapping[str, Any], vocabulary: int, seed: int) -> nn.Module:
    """An untrained network, with the weights with which a training of that seed begins."""
    from seedbed.models.initialisation import fill, unfilled
    from seedbed.randomness import torch_stream

    module = plugins.load("models", str(values["kind"]))
    options = module.Options(**_without_kind(values))
    network: nn.Module = unfilled(lambda: module.Model(options, vocabulary))
    fill(network, torch_stream(seed, "initialisation"))
    return network


def _objective(values: Mapping[str, Any], vocabulary: Vocabulary) -> object:
    module = plugins.load("objectives", str(values["kind"]))
    return module.Objective(module.Options(**_without_kind(values)), vocabulary)


def _without_kind(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key != "kind"}


def _require_seed(seed: int | None) -> int:
    """The seed of something that is drawn."""
    if seed is None:
        raise ValueError("what is drawn needs a seed, found None")
    return seed
