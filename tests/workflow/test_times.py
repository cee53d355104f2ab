"""A demonstration that takes times: it runs alone, and what it finds is in no table that two builds share."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from miniature import Project, make

DEMONSTRATION = '''
"""The time of a sum."""
from dataclasses import dataclass
from seedbed.observations import Observation
from seedbed.timer import ratio
NEEDS = ("timer",)

@dataclass(frozen=True)
class Options:
    """None."""

def demonstrate(options, *, timer):
    """The time of a long sum in that of a short one."""
    seconds = timer.seconds({"short": lambda: sum(range(10)), "long": lambda: sum(range(100_000))})
    yield Observation("long_ratio", ratio(seconds, "long", "short"), {}, "ratio")
'''
#: Another one, which takes no times.
PLAIN = '''
"""One number."""
from dataclasses import dataclass
from seedbed.observations import Observation
NEEDS = ()

@dataclass(frozen=True)
class Options:
    """None."""

def demonstrate(options):
    """One number."""
    yield Observation("number", 7)
'''
ENTRIES = """sums: {title: Is a long sum slow?, lead: A ratio of seconds.}
seven: {title: How much is seven?, lead: One number.}
"""
CLAIMS = """claims:
  objectives:long:
    says: A long sum takes longer than a short one.
    section: "1"
    check: {kind: bound, of: {study: demonstrations, run: sums, metric: long_ratio}, at_least: 1.5}
"""


@pytest.fixture(scope="module")
def timed(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = make(tmp_path_factory.mktemp("times") / "project")
    for one in (project.root / "src/seedbed/demonstrations").glob("[!_]*.py"):
        one.unlink()
    (project.root / "src/seedbed/demonstrations/sums.py").write_text(DEMONSTRATION, encoding="utf-8")
    (project.root / "src/seedbed/demonstrations/seven.py").write_text(PLAIN, encoding="utf-8")
    (project.root / "config/demonstrations.yaml").write_text(ENTRIES, encoding="utf-8")
    (project.root / "config/claims/objectives.yaml").write_text(CLAIMS, encoding="utf-8")
    (project.root / "config/claims/excluded.yaml").unlink()
    (project.root / "config/watched.yaml").unlink()
    done = project.command("build", "--cores", "2")
    assert done.returncode == 0, done.stdout
    assert "Claims: 1 reproduced." in done.stdout
    return project


def test_times_are_in_no_table_that_two_builds_share(timed: Project) -> None:
    results = timed.root / "results"
    found = {
        path.relative_to(results).as_posix()
        for path in results.rglob("*.parquet")
        if "sums" in {str(row.get("run")) for row in pq.ParquetFile(path).read().to_pylist()}
    }
    assert found == {
        "timings.parquet",
        "timings/sums.parquet",
        *(f"timings/sums/seed-{seed}.parquet" for seed in (0, 1)),
    }
    assert "objectives:long" not in pq.ParquetFile(results / "verdicts.parquet").read()["id"].to_pylist()


def test_nothing_runs_beside_what_is_timed(timed: Project) -> None:
    log = (timed.root / "results/logs/build.log").read_text(encoding="utf-8")
    (block,) = re.findall(r"localrule time:.*?\n\n", log, re.DOTALL)
    assert "threads: 2" in block


def test_the_page_and_the_command_show_times_and_their_verdict(timed: Project) -> None:
    page = (timed.root / "results/report/lecture-objectives.html").read_text(encoding="utf-8")
    assert "Is a long sum slow?" in page
    assert "long ratio" in page
    assert "A long sum takes longer" in (timed.root / "results/report/claims.html").read_text(encoding="utf-8")
    done = timed.command("claim", "objectives:long")
    assert done.returncode == 0, done.stdout
    assert "Reproduced: " in done.stdout
    assert re.search(r"demonstrations/sums long_ratio\n +\d+\.?\d*  \d+", done.stdout)


def test_a_comparison_with_the_reference_leaves_times_out(timed: Project, tmp_path: Path) -> None:
    project = timed.copy(tmp_path / "copy")
    assert project.command("reference", "garden").returncode == 0
    assert project.command("build").returncode == 0
    done = project.command("check", "--junit", "check.xml")
    assert done.returncode == 0, done.stdout
    assert "decide nothing" not in done.stdout
    cases = (project.root / "check.xml").read_text(encoding="utf-8")
    assert "demonstrations/seven" in cases
    assert "sums" not in cases
