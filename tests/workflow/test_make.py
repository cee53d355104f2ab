"""What the Makefile calls for what is typed, with stand-ins for Python that note how they are called."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import processes
import pytest

from seedbed.configuration.configuration import ROOT

#: Runs `-c` itself, makes a .venv of itself, and notes every other call.
PYTHON = f"""#!/bin/sh
case "$1" in -c) exec {sys.executable} "$@" ;; esac
echo "$*" >> calls
[ "$2" != venv ] || {{ mkdir -p .venv/bin && cp "$0" .venv/bin/python; }}
"""
OTHER = """#!/bin/sh
echo Python 3.99.0 in /elsewhere
"""
SEEDBED = "-m seedbed"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The Makefile beside a .venv that looks installed, and two interpreters."""
    for name in ("Makefile", "pyproject.toml", "requirements.lock"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / ".venv/bin").mkdir(parents=True)
    for path, text in ((".venv/bin/python", PYTHON), ("python", PYTHON), ("other", OTHER)):
        (tmp_path / path).write_text(text)
        (tmp_path / path).chmod(0o755)
    (tmp_path / ".venv/installed").touch()
    return tmp_path


def make(project: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Call make, which knows nothing of a make that runs these tests."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    return processes.run(["make", *arguments], cwd=project, env=inherited | environment)


def called(project: Path) -> list[str]:
    """The calls of Python so far."""
    return (project / "calls").read_text().splitlines()


@pytest.mark.parametrize(
    ("typed", "call"),
    [
        ("report STUDY=farm SEEDS=2", "--config seeds=2 --config studies=[farm] build --cores all"),
        ("quick STUDY=farm CORES=1", "--config studies=[farm] --config scope=quick build --cores 1"),
        ("check STUDY=farm", "--config studies=[farm] check"),
        ("claim STUDY=farm ID=a:b", "--config studies=[farm] claim a:b"),
        ("reference STUDY=farm SEEDS=2", "--config seeds=2 reference farm --cores all"),
        ("tune STUDY=farm", "tune farm"),
    ],
)
def test_what_is_typed_reaches_the_command(project: Path, typed: str, call: str) -> None:
    done = make(project, *typed.split())
    assert done.returncode == 0, done.stderr
    assert called(project) == [f"{SEEDBED} {call}"]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("report SEED=3", "SEED is unknown, SEEDS is meant"),
        ("report seeds=3", "seeds is unknown, SEEDS is meant"),
        ("report study=farm", "study is unknown, STUDY is meant"),
        ("report STUDYS=farm", "STUDYS is unknown, STUDY is meant"),
        ("report JOBS=1", "JOBS is unknown, CORES is meant"),
        ("report ROOT=1", "ROOT is unknown, one of STUDY SEEDS CORES ID PYTHON is meant"),
        ("report SEEDS=", "SEEDS is empty: give it a value or leave it out"),
        ("claim ID=", "ID is empty"),
        ("report CORE=3", "CORE is unknown, CORES is meant"),
        ("report STUDIES=farm", "STUDIES is unknown, STUDY is meant"),
        ("quick SEEDS=3", "SEEDS means nothing here"),
        ("tune STUDY=farm SEEDS=3", "SEEDS means nothing here"),
    ],
)
def test_what_would_be_ignored_is_refused(project: Path, typed: str, said: str) -> None:
    done = make(project, *typed.split())
    assert done.returncode == 2
    assert said in done.stderr


def test_a_variable_of_the_environment_stops_nothing(project: Path) -> None:
    assert make(project, "check", SEED="3", CORE="3").returncode == 0


def test_another_python_than_that_of_the_environment_is_refused_with_the_remedy(project: Path) -> None:
    done = make(project, "check", "PYTHON=./other")
    assert done.returncode == 2
    assert "PYTHON=./other is another.\nRemove .venv to have it made anew" in done.stdout
    assert not (project / "calls").exists()


def test_the_python_of_the_environment_may_be_named_again(project: Path) -> None:
    assert make(project, "check", "PYTHON=./python").returncode == 0


def test_an_installation_takes_the_lock_first_and_setuptools_from_it(project: Path) -> None:
    shutil.rmtree(project / ".venv")
    done = make(project, "check", f"PYTHON={project}/python")
    assert done.returncode == 0, done.stderr
    venv, lock, own, check = called(project)
    assert venv == "-m venv .venv"
    assert lock.endswith("--requirement requirements.lock")
    assert "--no-build-isolation" in own
    assert own.endswith("--editable .")
    assert check == f"{SEEDBED} check"


def test_a_copy_of_an_installed_project_is_refused_with_the_remedy(project: Path, tmp_path: Path) -> None:
    (project / ".venv/installed").write_text("/elsewhere\n")
    done = make(project, "report")
    assert done.returncode == 2
    assert ".venv was made in /elsewhere, and would run the code there.\nRemove .venv" in done.stdout
    assert not (project / "calls").exists()


def test_an_installation_notes_its_folder(project: Path) -> None:
    shutil.rmtree(project / ".venv")
    assert make(project, "check", f"PYTHON={project}/python").returncode == 0
    assert (project / ".venv/installed").read_text() == f"{project}\n"
    assert make(project, "check").returncode == 0


def test_a_machine_without_packages_is_told_which_have_them(project: Path) -> None:
    shutil.rmtree(project / ".venv")
    failing = PYTHON.replace("#!/bin/sh\n", '#!/bin/sh\n[ "$3" != install ] || exit 1\n')
    (project / "python").write_text(failing)
    done = make(project, "check", f"PYTHON={project}/python")
    assert done.returncode == 2
    assert "pip could not install requirements.lock. This is Python 3" in done.stdout
    assert "glibc 2.28 or newer" in done.stdout
    assert not (project / ".venv/installed").exists()


def test_help_lists_every_target_with_what_it_does(project: Path) -> None:
    done = make(project, "help")
    phony = next(line for line in (ROOT / "Makefile").read_text().splitlines() if line.startswith(".PHONY:"))
    named = [line for line in done.stdout.splitlines() if line and line[0] != " "][1:]
    assert set(named) == set(phony.split()[1:]) - {"interpreter"}
    assert "One seed of the runs marked `quick`" in done.stdout
