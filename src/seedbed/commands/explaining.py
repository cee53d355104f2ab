"""One claim in words: what the lecture says, its verdict, and every seed behind it (`make claim ID=...`)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from seedbed.configuration.yaml import ConfigError
from seedbed.messages import nearest
from seedbed.observations import Scalar
from seedbed.pipeline.jobs.tables import rows_of
from seedbed.pipeline.plan import Plan
from seedbed.statistics.explanations import possible_words
from seedbed.statistics.numbers import seeds_text

_CELL = ("study", "run", "metric", "condition")


def explain(plan: Plan, name: str) -> str:
    """The claim with its verdict in the present results.

    Raises:
        ConfigError: no such claim; the message says the nearest ids.
        StorageError: the results are not built, or not from the present claims.
    """
    claims, excluded = plan.claims.claims, plan.claims.excluded
    if name in excluded:
        return f"{name}\nNo claim ({excluded[name].reason}): {excluded[name].because}"
    if name not in claims:
        raise ConfigError(f"claim {name}: {nearest(name, [*claims, *excluded])}")
    claim = claims[name]
    verdict = next(row for one in plan.all_verdicts for row in one.read() if row["id"] == name)
    observed = [*plan.observations.read().to_pylist(), *rows_of(plan.timed)]
    rewritten = claim.rewritten and f"Rewritten after the first build, {claim.rewritten}"
    head = filter(None, [name, f"Section {claim.section}: {claim.says}", claim.reading, rewritten])
    found = f"{str(verdict['outcome']).capitalize()}: {verdict['explanation']}"
    there = f"The reference, {seeds_text(verdict['reference_n'])}: {verdict['reference']}."
    judged = filter(None, [found, possible_words(verdict["possible"]), verdict["reference"] and there])
    return "\n".join([*head, "", *judged, "", *_evidence(verdict["evidence"], observed)])


def _evidence(cells: Iterable[dict[str, str]], observed: Iterable[dict[str, Scalar | None]]) -> Iterator[str]:
    """The values of all seeds of each cell."""
    values: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for row in observed:
        values[tuple(str(row[key]) for key in _CELL)].append(str(row["text"] or f"{row['value']:.6g}"))
    for cell in cells:
        key = tuple(cell[name] for name in _CELL)
        yield f"  {key[0]}/{key[1]} {key[2]} {key[3]}".rstrip()
        yield f"      {'  '.join(values.get(key, ['not measured']))}"
