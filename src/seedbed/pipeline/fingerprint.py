"""Fingerprints: one hash of everything that determines a result.

It covers values, code, versions and inputs. Code counts by meaning: comments, docstrings and formatting change
nothing. Snakemake compares the hash, and every result carries it.
"""

from __future__ import annotations

import ast
import hashlib
import json
import platform
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path

from seedbed.configuration.plugins import PACKAGE, REHEARSED, parse, read_names
from seedbed.configuration.yaml import ConfigError
from seedbed.pipeline.unfollowed import imported, unfollowed

#: The libraries that computed numbers depend on.
COMPUTING = ("numpy", "torch")
#: The sentences of error messages, which decide no result: to reword one must not retrain what may raise it.
MESSAGES = "seedbed.messages"
#: Pages load the figures of a study by its name and read templates; their jobs name both.
PAGES = "seedbed.reporting"
#: The libraries that verdicts and pages depend on.
REPORTING = ("jinja2", "matplotlib", "numpy", "pandas", "scipy")


def digest(value: object) -> str:
    """The sha256 of a value's canonical JSON (keys sorted, nothing but JSON's own types)."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def fingerprint(
    values: Mapping[str, object],
    modules: Iterable[str] = (),
    libraries: Iterable[str] = COMPUTING,
    inputs: Iterable[str] = (),
    files: Iterable[Path] = (),
) -> str:
    """The hash of a job.

    Args:
        values: Its named values.
        modules: The modules it computes with; their whole import closure counts.
        libraries: The distributions whose versions count.
        inputs: The fingerprints of its inputs, in order.
        files: Other source files that count by content, such as templates, relative to the project's folder.
    """
    return digest(
        {
            "values": values,
            "code": code(tuple(modules)),
            "versions": versions(tuple(libraries)),
            "inputs": list(inputs),
            "files": {
                file.as_posix(): hashlib.sha256((PACKAGE.parents[1] / file).read_bytes()).hexdigest()
                for file in files
            },
        }
    )


@cache
def versions(libraries: tuple[str, ...]) -> dict[str, str]:
    """Python's version and those of the named distributions."""
    return {"python": platform.python_version()} | {name: version(name) for name in libraries}


@cache
def code(modules: tuple[str, ...]) -> dict[str, str]:
    """The hash of each module in the import closure, by its meaning.

    Raises:
        ConfigError: a module imports or reads what cannot be followed; it names file, line and remedy.
    """
    found = closure(modules)
    for name, path in found.items():
        if not name.startswith(PAGES):
            _require_followed(path)
    return {name: _meaning(path) for name, path in found.items()}


@cache
def _require_followed(path: Path) -> None:
    found = sorted(set(unfollowed(_nodes(path), bool(_files(path)), path.name == "__init__.py")))
    if found:
        place = path.relative_to(PACKAGE.parents[1]).as_posix()
        raise ConfigError("\n".join(f"{place}:{line}: {wrong}" for line, wrong in found))


def declared_files(modules: Iterable[str]) -> set[Path]:
    """The source files of the import closure, and the data files that they declare."""
    paths = closure(modules).values()
    return {*paths, *(_declared(path, name).resolve() for path in paths for name in _files(path))}


def closure(modules: Iterable[str]) -> dict[str, Path]:
    """Every module of this package that the given ones import, directly or not, and the packages that hold them.

    Raises:
        ModuleNotFoundError: one of the given modules does not exist.
    """
    found: dict[str, Path] = {}
    waiting = list(modules)
    for name in waiting:
        if _file(name) is None:
            raise ModuleNotFoundError(name)
    while waiting:
        name = waiting.pop()
        path = _file(name)
        if path is None or name in found or name == MESSAGES:
            continue
        found[name] = path
        waiting += [name.rpartition(".")[0], *_imports(path)]
    return dict(sorted(found.items()))


def imports(modules: Iterable[str], library: str) -> bool:
    """Whether the import closure imports a library, other than for the streams that every job may ask for."""
    found = closure(modules)
    found.pop("seedbed.randomness", None)
    return any(name.partition(".")[0] == library for path in found.values() for name in _imports(path))


def _file(name: str) -> Path | None:
    if name.partition(".")[0] != PACKAGE.name:
        return None
    base = PACKAGE.parent / Path(*name.split("."))
    candidates = (base.with_suffix(".py"), base / "__init__.py")
    return next((path for path in candidates if path.is_file()), None)


@cache
def _imports(path: Path) -> tuple[str, ...]:
    """The names of modules that a file may import; `_file` leaves out those that are no modules."""
    names: list[str] = []
    for node in _nodes(path):
        if name := imported(node):
            names.append(name)
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = _absolute(node, path)
            names += [module, *(f"{module}.{alias.name}" for alias in node.names)]
    return tuple(names)


def _absolute(node: ast.ImportFrom, path: Path) -> str:
    if not node.level:
        return node.module or ""
    package = path.relative_to(PACKAGE.parent).parent.parts
    return ".".join([*package[: len(package) - node.level + 1], *([node.module] if node.module else [])])


@cache
def _meaning(path: Path) -> str:
    """The hash of a module by its meaning, and of the files that it declares by their content."""
    tree = _tree(path)
    files = [hashlib.sha256(_declared(path, name).read_bytes()).hexdigest() for name in _files(path)]
    tree.body = [node for node in tree.body if not _is_rehearsed(node)]
    for node in _nodes(path):
        body = getattr(node, "body", None)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and body:
            first = body[0]
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                del body[0]
    return hashlib.sha256("\n".join([ast.dump(tree), *files]).encode()).hexdigest()


def _is_rehearsed(node: ast.stmt) -> bool:
    """Whether a statement sets the constant that only a rehearsal reads."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name == REHEARSED
    return False


def _files(path: Path) -> tuple[str, ...]:
    """What a module's constant ``FILES`` names: the data files that it reads, relative to itself."""
    return read_names(_tree(path), path.relative_to(PACKAGE.parent).as_posix(), "FILES") or ()


def _declared(path: Path, name: str) -> Path:
    """A data file that a module declares.

    Raises:
        ConfigError: there is no such file.
    """
    file = path.parent / name
    if not file.is_file():
        raise ConfigError(f"{path.relative_to(PACKAGE.parent).as_posix()}: FILES: {name}: there is no such file")
    return file


@cache
def _nodes(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(_tree(path)))


@cache
def _tree(path: Path) -> ast.Module:
    return parse(path)
