"""What goes wrong around a build: it ends in the right results, or in a message that names the remedy."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import processes
import pyarrow.parquet as pq
import pytest
from miniature import Project
from processes import LIMIT

PAGE = "results/report/index.html"
CORPUS = "results/data/garden/text/seed-0/training.parquet"
STORAGE = "src/seedbed/pipeline/storage.py"
WRITING = "            yield temporary\n            _synchronise"
HANGING = """            yield temporary
            while Path("hang").exists() and path.suffix != ".json":  # which the build itself writes
                __import__("time").sleep(0.05)
            _synchronise"""
FINGERPRINT = """
from seedbed.configuration.configuration import Configuration
from seedbed.pipeline.plan import Plan
print(Plan(Configuration()).corpus("garden", "text", "training", 0).fingerprint)
"""
#: Python imports it at its start.
POOR_FILE_SYSTEM = """
import errno, fcntl, os, stat
synchronise = os.fsync
def flock(*_):
    raise OSError(errno.REFUSED, os.strerror(errno.REFUSED))
def fsync(handle):
    if stat.S_ISDIR(os.fstat(handle).st_mode):
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    synchronise(handle)
fcntl.flock, os.fsync = flock, fsync
"""
SIGNALS = [signal.SIGINT, signal.SIGTERM]


@pytest.fixture
def hanging(project: Project) -> Iterator[Project]:
    """A project whose jobs wait in the middle of writing, as long as a file ``hang`` is there."""
    project.edit(STORAGE, WRITING, HANGING)
    (project.root / "hang").touch()
    yield project
    (project.root / "hang").unlink(missing_ok=True)


def test_a_stopped_build_says_so_and_goes_on_to_the_same_bytes(hanging: Project) -> None:
    page = hanging.root / PAGE
    before = page.read_bytes()
    page.unlink()
    for number in [*SIGNALS, signal.SIGQUIT]:
        with writing(hanging, page, "build") as process:
            process.send_signal(number)
            output, _ = process.communicate(timeout=LIMIT)
        assert process.returncode == 128 + number
        assert output.endswith("Stopped. Run the same command to go on where it stopped.\n")
        assert not page.exists()
        assert not is_locked(hanging.root / "results/.jobs.lock")
    (hanging.root / "hang").unlink()
    assert hanging.command("build", PYTHONHASHSEED="2").returncode == 0
    assert page.read_bytes() == before
    assert not list((hanging.root / "results").rglob("*.part"))


def test_a_killed_build_keeps_its_folder_until_its_jobs_have_ended(hanging: Project) -> None:
    page = hanging.root / PAGE
    page.unlink()
    with writing(hanging, page, "build") as process:
        process.kill()
    second = hanging.command("build")
    assert second.returncode == 2
    assert "jobs of an interrupted build still run in this folder; wait for them" in second.stdout
    assert str(process.pid) not in second.stdout
    (hanging.root / "hang").unlink()
    wait_until(lambda: not is_locked(hanging.root / "results/.build.lock"))
    third = hanging.command("build")
    assert third.returncode == 0, third.stdout
    assert hanging.planned() == []


def test_a_build_whose_output_is_closed_ends_its_jobs(hanging: Project) -> None:
    (hanging.root / PAGE).unlink()
    with hanging.start("-m", "seedbed", "build") as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("In ")
        assert process.stdout.readline().startswith("Checking everything")
        process.stdout.close()
        assert process.wait(LIMIT) in (128 + signal.SIGPIPE, -signal.SIGPIPE)
    assert not is_locked(hanging.root / "results/.build.lock")
    assert not is_locked(hanging.root / "results/.jobs.lock")


def test_a_paused_build_pauses_its_jobs_and_goes_on_with_them(hanging: Project) -> None:
    page = hanging.root / PAGE
    before = page.read_bytes()
    page.unlink()
    with writing(hanging, page, "build") as process:
        process.send_signal(signal.SIGTSTP)
        wait_until(lambda: all(map(is_paused, processes_of(hanging))))
        (hanging.root / "hang").unlink()
        process.send_signal(signal.SIGCONT)
        output, _ = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, output
    assert page.read_bytes() == before


def test_a_paused_build_that_is_ended_ends_its_jobs(hanging: Project) -> None:
    (hanging.root / PAGE).unlink()
    with writing(hanging, hanging.root / PAGE, "build") as process:
        process.send_signal(signal.SIGTSTP)
        wait_until(lambda: all(map(is_paused, processes_of(hanging))))
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGCONT)  # as the shells' own `kill` does
        output, _ = process.communicate(timeout=LIMIT)
    assert process.returncode == 128 + signal.SIGTERM
    assert output.endswith("Stopped. Run the same command to go on where it stopped.\n")
    wait_until(lambda: not processes_of(hanging))


def test_what_is_left_of_a_paused_build_that_was_killed_is_named_and_can_be_ended(hanging: Project) -> None:
    (hanging.root / PAGE).unlink()
    with writing(hanging, hanging.root / PAGE, "build") as process:
        process.send_signal(signal.SIGTSTP)
        wait_until(lambda: all(map(is_paused, processes_of(hanging))))
        process.kill()
    (hanging.root / "hang").unlink()
    second = hanging.command("build")
    assert second.returncode == 2
    for number in second.stdout.partition("kill -KILL ")[2].split():
        os.kill(int(number), signal.SIGKILL)
    while "kill -KILL" in (third := hanging.command("build")).stdout:  # jobs hold another lock than the build
        for number in third.stdout.partition("kill -KILL ")[2].split():
            os.kill(int(number), signal.SIGKILL)
    for number in processes_of(hanging):  # shells that wait for a job hold no lock, and stay paused
        os.kill(number, signal.SIGKILL)
    assert third.returncode == 0, third.stdout


def test_a_build_heeds_an_interrupt_where_it_was_started_with_interrupts_ignored(hanging: Project) -> None:
    (hanging.root / PAGE).unlink()
    with writing(hanging, hanging.root / PAGE, "build", prepare=ignore_interrupts) as process:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=LIMIT)
    assert process.returncode == 128 + signal.SIGINT


@pytest.mark.parametrize("number", [*SIGNALS, signal.SIGKILL])
def test_a_job_that_is_ended_while_it_writes_leaves_the_old_file(hanging: Project, number: signal.Signals) -> None:
    corpus = hanging.root / CORPUS
    before = corpus.read_bytes()
    job = draw(hanging)
    with writing(hanging, corpus, *job) as process:
        process.send_signal(number)
        process.communicate(timeout=LIMIT)
    assert process.returncode != 0
    assert corpus.read_bytes() == before
    (hanging.root / "hang").unlink()
    corpus.unlink()
    assert hanging.command(*job).returncode == 0
    assert corpus.read_bytes() == before


@pytest.mark.skipif(sys.platform != "linux", reason="only there a build forks")
def test_a_job_ends_with_the_process_that_asked_for_it(hanging: Project) -> None:
    page = hanging.root / PAGE
    page.unlink()
    with writing(hanging, page, "build") as process:
        asking = [number for number in processes_of(hanging) if asks_for_the_page(number)]
        os.kill(asking[-1], signal.SIGKILL)
        output, _ = process.communicate(timeout=LIMIT)
    assert process.returncode == 1
    assert "pages index, results/logs/pages/index.log\n" in output
    assert "Something ended it from outside" in output
    assert not is_locked(hanging.root / "results/.jobs.lock")


def test_a_build_whose_snakemake_is_killed_fails_and_ends_its_jobs(hanging: Project) -> None:
    (hanging.root / PAGE).unlink()
    with writing(hanging, hanging.root / PAGE, "build") as process:
        (runner,) = [number for number in processes_of(hanging) if runs_snakemake(number)]
        os.kill(runner, signal.SIGKILL)
        output, _ = process.communicate(timeout=LIMIT)
    assert process.returncode == 128 + signal.SIGKILL
    assert "Snakemake ended with code 137, see results/logs/build.log" in output
    wait_until(lambda: not is_locked(hanging.root / "results/.jobs.lock"))


def test_after_a_failed_training_old_numbers_never_look_fresh(project: Project) -> None:
    project.edit(
        "src/seedbed/pipeline/jobs/training.py",
        "        return loop.train(",
        '        if Path("kill").exists():  # as a system does that has no memory left\n'
        '            __import__("os").kill(__import__("os").getpid(), 9)\n'
        "        return loop.train(",
    )
    (project.root / "kill").touch()
    project.edit("config/studies/garden.yaml", "words: 2", "words: 3")
    changed = project.pending()
    assert "train window 0" in changed
    done = project.command("build")
    assert done.returncode == 1
    assert "train garden/window/seed-0, results/logs/train/garden/window/seed-0.log\n" in done.stdout
    assert "Something ended it from outside, perhaps for want of memory" in done.stdout
    assert not (project.root / "results/runs/garden/window/seed-0/model.safetensors").exists()
    assert project.planned() == project.pending() == changed


def test_results_that_are_cut_off_foreign_or_of_an_older_format_are_made_again(project: Project) -> None:
    names = (PAGE, "results/verdicts.parquet", "results/timings.parquet")
    page, verdicts, timings = paths = [project.root / name for name in names]
    before = [path.read_bytes() for path in paths]
    page.write_bytes(before[0][: len(before[0]) // 2])
    verdicts.write_bytes(b"no table")
    table = pq.read_table(timings, partitioning=None)
    pq.write_table(table.replace_schema_metadata({"fingerprint": "0" * 64, "format": "1"}), timings)
    done = project.command("build")
    assert done.returncode == 0, done.stdout
    assert [path.read_bytes() for path in paths] == before


@pytest.mark.parametrize(
    ("file", "job"),
    [
        (CORPUS, "corpus text 0"),
        ("results/runs/garden/flm/seed-1/model.safetensors", "train flm 1"),
        ("results/observations/garden/exact/perplexity.parquet", "evaluate exact perplexity"),
        (PAGE, "index_page"),
    ],
)
def test_a_result_that_is_damaged_is_not_up_to_date(project: Project, file: str, job: str) -> None:
    path = project.root / file
    content = path.read_bytes()
    middle = len(content) // 2
    for damaged in (
        content[:-100],
        content[: middle - 50] + content[middle + 50 :],
        content[: middle - 50] + bytes(100) + content[middle + 50 :],
        content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
    ):
        path.write_bytes(damaged)
        os.utime(path, (0, 0))
        assert project.pending() == [job]


def test_a_build_makes_damaged_results_again_to_the_same_bytes(project: Project) -> None:
    names = ("runs/garden/flm/seed-1/model.safetensors", "observations/garden/exact/perplexity.parquet")
    names += ("report/garden.html",)  # the index shows seconds, which differ
    paths = [project.root / "results" / name for name in names]
    before = [path.read_bytes() for path in paths]
    for path, content in zip(paths, before, strict=True):
        path.write_bytes(content[:-300] + bytes(100) + content[-200:])
    plain = project.run()
    assert plain.returncode != 0
    assert "3 results, such as results/" in plain.stdout
    assert "are not as they were written. Run `make report`" in plain.stdout
    done = project.command("build")
    assert done.returncode == 0, done.stdout
    assert [path.read_bytes() for path in paths] == before


def test_a_full_disk_is_named_with_the_file_and_the_remedy(project: Project) -> None:
    corpus = project.root / CORPUS
    corpus.unlink()
    done = prepared(project, draw(project), lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)))
    assert done.returncode == 2
    assert done.stdout.startswith(f"seedbed: {CORPUS}: File too large; make room for it and run the same command")
    assert not list(corpus.parent.iterdir())


def test_results_that_may_not_be_written_are_named_with_the_remedy(project: Project) -> None:
    (project.root / PAGE).unlink()
    (project.root / "results").chmod(0o500)
    done = prepared(project, ["build"], without_roots_rights)
    (project.root / "results").chmod(0o700)
    assert done.returncode == 2
    assert "seedbed: results/.build.lock: Permission denied; let this user read and write there" in done.stdout
    assert len(done.stdout.splitlines()) == 2


def test_a_build_of_a_read_only_folder_in_which_all_is_up_to_date_says_so(project: Project) -> None:
    with read_only(project.root):
        done = prepared(project, ["build"], without_roots_rights)
    assert done.returncode == 0, done.stdout
    assert "Everything is up to date.\n" in done.stdout
    assert "\nThe first page: " in done.stdout


@pytest.mark.parametrize("folder", [".snakemake", "results/logs", "results/report"])
def test_a_folder_that_may_not_be_written_is_named_with_the_remedy(project: Project, folder: str) -> None:
    (project.root / PAGE).unlink()
    with read_only(project.root / folder):
        done = prepared(project, ["build"], without_roots_rights)
    assert done.returncode in (1, 2)
    assert f"{folder}/" in done.stdout
    assert "Permission denied; let this user read and write there" in done.stdout
    assert "Traceback" not in done.stdout


def test_a_build_needs_no_home_and_no_cache(project: Project) -> None:
    (project.root / PAGE).unlink()
    nothing = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"), "/proc/nothing")
    done = project.command("build", **nothing)
    assert done.returncode == 0, done.stdout
    assert "/proc/nothing" not in done.stdout


@pytest.mark.parametrize("refused", ["ENOSYS", "ENOLCK"])
def test_on_a_file_system_without_locks_and_fsync_of_folders_a_build_makes_the_same(
    project: Project, refused: str
) -> None:
    page = project.root / PAGE
    before = page.read_bytes()
    page.unlink()
    (project.root / "src/sitecustomize.py").write_text(POOR_FILE_SYSTEM.replace("REFUSED", refused))
    done = project.command("build")
    assert done.returncode == 0, done.stdout
    assert "results: this file system has no locks (" in done.stdout
    assert page.read_bytes() == before


def test_a_file_where_the_results_should_stand_is_named_with_the_remedy(project: Project) -> None:
    shutil.rmtree(project.root / "results")
    (project.root / "results").touch()
    done = project.command("build")
    assert done.returncode == 2
    assert "/results: File exists; move away what stands there" in done.stdout


def test_an_error_of_the_build_itself_ends_its_jobs(project: Project) -> None:
    (project.root / PAGE).unlink()
    (project.root / "results/logs/build.log").unlink(missing_ok=True)
    (project.root / "results/logs/build.log").mkdir()
    done = project.command("build")
    assert done.returncode == 2
    assert "seedbed: results/logs/build.log: Is a directory; move away what stands there" in done.stdout
    assert not is_locked(project.root / "results/.build.lock")


def test_results_on_another_disk_are_results(project: Project, tmp_path: Path) -> None:
    (project.root / "results").rename(tmp_path / "large disk")
    (project.root / "results").symlink_to(tmp_path / "large disk")
    assert "Everything is up to date." in project.command("build").stdout


def test_snakemake_with_another_directory_builds_there(built: Project, tmp_path: Path) -> None:
    for folder in ("results", ".snakemake"):
        shutil.copytree(built.root / folder, tmp_path / folder)
    given = ["--snakefile", str(built.root / "Snakefile"), "--directory", str(tmp_path)]
    done = Project(tmp_path.parent).run("--dry-run", *given)
    assert "Nothing to be done" in done.stdout


def test_make_from_another_directory_builds_in_its_own(project: Project, tmp_path: Path) -> None:
    root = project.root.rename(tmp_path / "$(HOME) and 'more'")
    for name in ("Makefile", "pyproject.toml", "requirements.lock"):
        shutil.copy(Path(__file__).parents[2] / name, root)
    python = root / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nPYTHONPATH=src exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    (root / ".venv/installed").touch()
    done = processes.run(["make", "-C", str(root), "report"], cwd="/")
    assert done.returncode == 0, done.stderr
    assert f"The first page: {root.resolve()}/{PAGE}" in done.stdout


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait for a condition that only a fault keeps from becoming true."""
    limit = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.05)


def processes_of(project: Project) -> list[int]:
    """Those in the project's folder."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            if (folder / "cwd").resolve(strict=True) == project.root.resolve():
                found.append(int(folder.name))
    return found


def is_paused(process: int) -> bool:
    with contextlib.suppress(OSError):  # it has ended meanwhile
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "T"
    return True


@contextlib.contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Inside the block nobody but root may write in the folder."""
    modes = {path: path.stat().st_mode for path in [folder, *folder.rglob("*")]}
    for path, mode in modes.items():
        path.chmod(mode & 0o555)
    yield
    for path, mode in modes.items():
        path.chmod(mode)


def asks_for_the_page(process: int) -> bool:
    arguments = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
    return b"seedbed.building.fork_client" in arguments and PAGE.encode() in arguments


def runs_snakemake(process: int) -> bool:
    arguments = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
    return arguments[1:3] == [b"-m", b"seedbed.building.snakemake_runner"]


def ignore_interrupts() -> None:
    """As a shell script does for what it starts in the background."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextlib.contextmanager
def writing(
    project: Project, path: Path, *arguments: str, prepare: Callable[[], object] = lambda: None
) -> Iterator[subprocess.Popen[str]]:
    """A command of a hanging project that waits in the middle of writing the file."""
    pattern = f".{path.name}.*.part"
    for part in path.parent.glob(pattern):
        part.unlink()
    with project.start("-m", "seedbed", *arguments, prepare=prepare) as process:
        wait_until(lambda: process.poll() is not None or any(path.parent.glob(pattern)))
        assert process.poll() is None
        yield process


def draw(project: Project) -> list[str]:
    """The command that draws the corpus."""
    own = project.python("-c", FINGERPRINT).stdout.strip()
    return ["job", CORPUS, "--fingerprint", own]


def prepared(
    project: Project, arguments: list[str], prepare: Callable[[], object]
) -> subprocess.CompletedProcess[str]:
    """A command in a process that is prepared first."""
    with project.start("-m", "seedbed", *arguments, prepare=prepare) as process:
        output, _ = process.communicate(timeout=LIMIT)
    return subprocess.CompletedProcess(arguments, process.returncode, output)


def without_roots_rights() -> None:
    """Let file permissions bind, also where the tests run as root (prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE))."""
    if os.geteuid() == 0:
        ctypes.CDLL(None).prctl(24, 1)


def is_locked(path: Path) -> bool:
    """Whether a process holds the lock in any way."""
    with path.open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_a_link_to_nowhere_is_named_with_the_remedy(built: Project, tmp_path: Path) -> None:
    project = built.copy(tmp_path / "copy")
    shutil.rmtree(project.root / "results")
    (project.root / "results").symlink_to("away")
    done = project.command("build")
    assert done.returncode == 2
    assert "results is a link to away, which is not there: make that folder, or remove the link" in done.stdout
    (project.root / "away").mkdir()
    assert project.command("check-config").returncode == 0
