"""Figures checked before a build: what they look up must be measured, and the runs that they name must exist.

Without this check, a figure with a misspelt metric would be empty on the page, and no message would say so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from seedbed.messages import nearest
from seedbed.observations import Scalar, read_condition
from seedbed.reporting import sections
from seedbed.reporting.numbers import FORMATS
from seedbed.reporting.others import IN_THE_TABLE_OF_RUNS
from seedbed.reporting.results import Lookup, Results

#: A word of a condition that nothing has is a mistake if a known one is as near as this. Others, such as a kind of
#: error, may be missing in a few documents.
_ALIKE = 0.8


def check_figures(results: Results) -> None:
    """Compare what a study's figures look up with what there is; every mistake is named at once.

    Args:
        results: The observations of all runs and demonstrations of the study; a few documents and one seed are
            enough: numbers in conditions are not compared, and a word only if a known one is near to it.

    Raises:
        ValueError: a figure looks up a metric, the keys of a condition or a run that the study does not have, or
            shows a unit that neither an observation nor `numbers.FORMATS` has; or a trained run is in no list of a
            study whose main figure lists its runs.
    """
    module = sections.study_module(results.study.name)
    if module is None:
        return
    sections.headline_of(results)
    results.lookups.assign("the headline")
    for _ in module.parts(results):
        pass
    results.lookups.assign("a figure that is left out")
    for measure in module.MEASURES:
        for run in results.study.runs:
            results.values(run, measure)
    results.lookups.assign("the table of variance across seeds")
    wrong = list(_wrong(results))
    for (name, *_), one in results.demonstrations.items():
        one.lookups.assign(f"what figures show of the demonstration {name}")
        wrong += _wrong(one)
    wrong += _unlisted(results, getattr(module, "LISTED", None), getattr(module, "ELSEWHERE", ()))
    if wrong:
        raise ValueError("\n".join(dict.fromkeys(wrong)))


def _wrong(results: Results) -> Iterator[str]:
    """What is wrong with the lookups of each figure."""
    known = _Known(results)
    for figure, lookups in results.lookups.figures.items():
        for lookup in lookups:
            found = known.wrong_run(lookup) if isinstance(lookup, str) else known.wrong_measure(lookup)
            if found:
                yield f"{results.study.name}: {figure}: {found}"


class _Known:
    """What a study has."""

    def __init__(self, results: Results) -> None:
        """Take its runs, and the metrics with their conditions and units."""
        measures = [one for metric in results.metrics for one in results.measures(metric)]
        self.runs = [run.name for run in results.study.runs]
        self.units = {*FORMATS, "", *(one.unit for one in measures)}
        self.conditions: dict[str, list[dict[str, Scalar]]] = {}
        for one in measures:
            self.conditions.setdefault(one.metric, []).append(dict(one.condition))

    def wrong_run(self, name: str) -> str:
        """What is wrong with the name of a run."""
        return "" if name in self.runs else f"the study has no run {name}; {nearest(name, self.runs)}"

    def wrong_measure(self, lookup: Lookup) -> str:
        """What is wrong with a measure."""
        if lookup.metric in IN_THE_TABLE_OF_RUNS:
            return ""
        if lookup.metric not in self.conditions:
            return f"nothing measures the metric {lookup.metric}; {nearest(lookup.metric, self.conditions)}"
        if lookup.unit not in self.units:
            return f"{lookup.metric}: no number has the unit {lookup.unit}; {nearest(lookup.unit, self.units)}"
        return self._wrong_condition(lookup)

    def _wrong_condition(self, lookup: Lookup) -> str:
        among = self.conditions[lookup.metric]
        given = dict(read_condition(lookup.condition))
        keys = {*given, *lookup.keys}
        alike = [one for one in among if one.keys() == keys]
        if not alike:
            listed = " or ".join(sorted({", ".join(sorted(one)) or "nothing" for one in among}))
            found = ", ".join(sorted(keys)) or "nothing"
            return f"{lookup.metric}: no observation has the condition keys {found}; it is measured by {listed}"
        for key, value in given.items():
            words = {str(one[key]) for one in alike}
            if isinstance(value, str) and value not in words and get_close_matches(value, words, cutoff=_ALIKE):
                return f"{lookup.metric}: no observation has {key}={value}; {nearest(value, words)}"
        return ""


def _unlisted(results: Results, listed: Iterable[str] | None, elsewhere: Iterable[str]) -> Iterator[str]:
    """The trained runs that a study's main figure would leave out silently."""
    if listed is None:
        return
    known = {*listed, *elsewhere}
    for run in results.trained:
        if run.name not in known:
            yield (
                f"{results.study.name}: the run {run.name} is in no figure: add it to LISTED, the runs of the "
                f"main figure, or to ELSEWHERE, in {sections.study_module(results.study.name).__name__}"
            )
