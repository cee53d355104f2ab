"""`seedbed check`: compare the present results with the reference, as an exit code and as JUnit XML.

The code is 0 for the same, 1 for moved or impossible, 2 for bad input, 3 if results are missing or nothing was
compared, and 4 for a fault in Seedbed. With it, continuous integration notices that a number moved, or that a run
predicts a language better than the language itself.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from seedbed.observations import DEMONSTRATIONS
from seedbed.pipeline import reference_files, storage
from seedbed.pipeline.plan import Plan
from seedbed.statistics.comparison import ComparedItem, runs_of_another_recipe
from seedbed.statistics.floors import FloorViolation, floor_violations

SAME, MOVED, INCOMPLETE = 0, 1, 3
#: Outcomes of what is in both these results and a reference, or should be.
_COMPARED = ("same", "moved", "missing")
OTHER = "other recipe"
#: Lines of one kind that are printed; the rest are in the table and on the page.
_SHOWN = 20
_KINDS = {"row": "observations", "watched": "watched numbers", "verdict": "verdicts"}


def check(plan: Plan, junit: Path | None) -> int:
    """Print what moved; returns the exit code.

    Args:
        plan: The plan of the build whose results are checked.
        junit: Where to write the outcome as JUnit XML, for a service that shows it.
    """
    if plan.configuration.quick:
        print("Incomplete: a quick build is compared with no reference.")
        return INCOMPLETE
    if pending := plan.pending():
        print(
            f"Incomplete: the results of {len(pending)} jobs, such as {pending[0].outputs[0]}, are missing or of "
            "other code or values."
        )
        print("Run `make report` first, with the same STUDY and SEEDS.")
        return INCOMPLETE
    found = plan.comparison.read()
    impossible = floor_violations(plan.observations.read().to_pylist())
    wrong = [row for row in plan.verdicts.read() if row["by_construction"] and row["outcome"] == "contradicted"]
    if junit:
        junit.parent.mkdir(parents=True, exist_ok=True)
        storage.write_text(junit, junit_xml(found, impossible, wrong))
    if wrong:
        print("Contradicted although it holds by construction, so the error is in the benchmark or in the claim:")
        print(*_first(f"  {row['id']}: {row['explanation']}" for row in wrong), sep="\n")
    if impossible:
        print("Impossible, for nothing predicts a language better than the language itself; a run below it has")
        print("seen what it is asked for, or is measured wrongly:")
        print(*_first(f"  {one.study}/{one.words}" for one in impossible), sep="\n")
    for study in [one for one in plan.configuration.studies if one not in plan.references]:
        print(f"{study} has no reference; `make reference STUDY={study}` makes one.")
    if plan.demonstrations and DEMONSTRATIONS not in plan.references:
        print("The demonstrations have no reference; `make reference` of any study makes one.")
    if plan.references:
        print(summary(found))
    if changed := changed_runs(found):
        print(*changed, sep="\n")
    if wrong or impossible or any(one.failed for one in found):
        return MOVED
    if changed:
        return INCOMPLETE
    if any(one.outcome in _COMPARED for one in found):
        return SAME
    print("Incomplete: nothing of these results was compared.")
    return INCOMPLETE


def changed_runs(found: Sequence[ComparedItem]) -> list[str]:
    """What to say of runs whose recipe is not that of the reference: which, and what moved most."""
    runs = sorted(runs_of_another_recipe(found))
    if not runs:
        return []
    studies = ", ".join(f"`make reference STUDY={study}`" for study in sorted({study for study, _ in runs}))
    lines = ["The recipe of these runs is not that of the reference, so they were not compared:"]
    for study, run in runs:
        rows = [one for one in found if (one.tier, one.study, one.run, one.outcome) == ("row", study, run, OTHER)]
        lines.append(f"  {study}/{run}, {len(rows)} observations; those that moved most, reference and now:")
        lines += [f"    {one.place}: {one.reference:.6g}, {one.now:.6g}" for one in _moved_most(rows)]
    return [*lines, f"If the change was meant: {studies}, and commit what it writes to {reference_files.FOLDER}."]


def _moved_most(rows: Sequence[ComparedItem]) -> list[ComparedItem]:
    """The three numbers that moved by the largest share of their size, of the lowest seed."""
    numbers = [one for one in rows if one.reference is not None and one.now is not None]
    numbers = [one for one in numbers if one.seed == numbers[0].seed and math.isfinite(_share_moved(one))]
    return sorted(numbers, key=_share_moved, reverse=True)[:3]


def _share_moved(one: ComparedItem) -> float:
    before, now = one.reference or 0.0, one.now or 0.0
    return abs(now - before) / max(abs(now), abs(before), 1e-12)


def summary(found: Sequence[ComparedItem]) -> str:
    """What was compared, what moved, and what to do about it."""
    lines = []
    for tier, kind in _KINDS.items():
        here = [one for one in found if one.tier == tier]
        failed = [one for one in here if one.failed]
        counts = {outcome: sum(one.outcome == outcome for one in here) for outcome in _COMPARED}
        lines.append(f"{kind}: " + ", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
        for outcome, words in {OTHER: "of another recipe", "new": "new"}.items():
            if aside := sum(one.outcome == outcome for one in here):
                lines[-1] += f"; {aside} {words}, compared with nothing"
        if silent := ", ".join(sorted({one.study for one in here if not one.decides})):
            lines[-1] += f"; those of {silent} decide nothing: libraries or processor are not the reference's"
        lines += _first(f"  {line(one)}" for one in failed)
    studies = sorted({one.study for one in found if one.failed and one.study}) or ["NAME"]
    if any(one.failed for one in found):
        commands = ", ".join(f"`make reference STUDY={study}`" for study in studies)
        lines.append(f"If this was meant: {commands}, and commit what it writes to {reference_files.FOLDER}.")
    return "\n".join(lines)


def _first(lines: Iterable[str]) -> list[str]:
    """The lines that are printed of one kind."""
    found = list(lines)
    more = [f"  and {len(found) - _SHOWN} more; see results/comparison.parquet"] if len(found) > _SHOWN else []
    return found[:_SHOWN] + more


def line(one: ComparedItem) -> str:
    """One thing that moved, in words."""
    if one.outcome == "missing":
        return f"{one.place}: was {one.reference if one.reference is not None else one.text}, is missing"
    if one.tier == "verdict" or one.text:
        return f"{one.place}: {one.text}"
    expected = "" if one.low is None else f", expected {one.low:.6g} to {one.high:.6g}"
    before, now = ("no number" if value is None else f"{value:.9g}" for value in (one.reference, one.now))
    return f"{one.place}: was {before}, is {now}{expected}"


def junit_xml(
    found: Iterable[ComparedItem],
    impossible: Iterable[FloorViolation] = (),
    wrong: Iterable[Mapping[str, object]] = (),
) -> str:
    """The comparison as JUnit XML: a test for each watched number, each verdict, and the rows of a run and metric.

    What is compared with nothing is skipped. Numbers below their exact floor, and claims that are contradicted
    although they hold by construction, are failed tests of their own.
    """
    cases: dict[tuple[str, str, str], list[ComparedItem]] = defaultdict(list)
    for one in found:
        group = f"{one.study}/{one.run}" if one.study else "claims"
        name = one.metric if one.tier == "row" else one.place
        cases[_KINDS[one.tier], group, name].append(one)
    root = ElementTree.Element("testsuites", name="seedbed check")
    for kind in dict.fromkeys(kind for kind, _, _ in cases):
        mine = {key: members for key, members in cases.items() if key[0] == kind}
        failures = sum(any(one.failed for one in members) for members in mine.values())
        skipped = sum(not _compared(members) for members in mine.values())
        counts = {"tests": str(len(mine)), "failures": str(failures), "skipped": str(skipped)}
        suite = ElementTree.SubElement(root, "testsuite", {"name": kind, **counts})
        for (_, group, name), members in mine.items():
            case = ElementTree.SubElement(suite, "testcase", classname=group, name=name)
            if failed := [line(one) for one in members if one.failed]:
                failure = ElementTree.SubElement(case, "failure", message=failed[0])
                failure.text = "\n".join(failed)
            elif not _compared(members):
                ElementTree.SubElement(case, "skipped", message=f"{members[0].outcome}, compared with nothing")
    failed_alone = {
        "exact floors": [f"{one.study}/{one.words}" for one in impossible],
        "by construction": [f"{row['id']}: {row['explanation']}" for row in wrong],
    }
    for kind, names in failed_alone.items():
        if not names:
            continue
        count = str(len(names))
        suite = ElementTree.SubElement(root, "testsuite", name=kind, tests=count, failures=count)
        for name in names:
            case = ElementTree.SubElement(suite, "testcase", classname=kind, name=name)
            ElementTree.SubElement(case, "failure", message=name)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _compared(members: Sequence[ComparedItem]) -> bool:
    """Whether any of the items was compared with the reference."""
    return any(one.outcome in _COMPARED for one in members)
