"""`seedbed check`: compare the present results with the reference, as an exit code and as JUnit XML.

The code is 0 for the same, 1 for moved or impossible, 2 for bad input, 3 if results are missing or nothing was
compared, and 4 for a fault in Seedbed. With it, continuous integration notices that a number moved, or that a run
predicts a language better than the language itself.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from seedbed.observations import DEMONSTRATIONS
from seedbed.pipeline import reference_files, storage
from seedbed.pipeline.plan import Plan
from seedbed.statistics.comparison import ComparedItem
from seedbed.statistics.floors import FloorViolation, floor_violations

SAME, MOVED, INCOMPLETE = 0, 1, 3
#: Outcomes of what is in both these results and a reference, or should be.
_COMPARED = ("same", "moved", "missing")
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
    if junit:
        junit.parent.mkdir(parents=True, exist_ok=True)
        storage.write_text(junit, junit_xml(found, impossible))
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
    if impossible or any(one.failed for one in found):
        return MOVED
    if any(one.outcome in _COMPARED for one in found):
        return SAME
    print("Incomplete: nothing of these results was compared.")
    return INCOMPLETE


def summary(found: Sequence[ComparedItem]) -> str:
    """What was compared, what moved, and what to do about it."""
    lines = []
    for tier, kind in _KINDS.items():
        here = [one for one in found if one.tier == tier]
        failed = [one for one in here if one.failed]
        counts = {outcome: sum(one.outcome == outcome for one in here) for outcome in _COMPARED}
        lines.append(f"{kind}: " + ", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
        if aside := sum(one.outcome not in _COMPARED for one in here):
            lines[-1] += f"; {aside} of another recipe or new, compared with nothing"
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


def junit_xml(found: Iterable[ComparedItem], impossible: Iterable[FloorViolation] = ()) -> str:
    """The comparison as JUnit XML: a test for each watched number, each verdict, and the rows of a run and metric.

    Numbers below their exact floor are failed tests of their own.
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
        suite = ElementTree.SubElement(root, "testsuite", name=kind, tests=str(len(mine)), failures=str(failures))
        for (_, group, name), members in mine.items():
            case = ElementTree.SubElement(suite, "testcase", classname=group, name=name)
            if failed := [line(one) for one in members if one.failed]:
                failure = ElementTree.SubElement(case, "failure", message=failed[0])
                failure.text = "\n".join(failed)
    if names := [f"{one.study}/{one.words}" for one in impossible]:
        count = str(len(names))
        suite = ElementTree.SubElement(root, "testsuite", name="exact floors", tests=count, failures=count)
        for name in names:
            case = ElementTree.SubElement(suite, "testcase", classname="exact floors", name=name)
            ElementTree.SubElement(case, "failure", message=name)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"
