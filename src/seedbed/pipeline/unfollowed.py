"""Code that a fingerprint cannot follow: an import by a computed name, the reading of an undeclared file.

An edit of what is imported or read in such a way would leave old numbers for up to date. So it is refused when a
fingerprint is made; what no syntax shows is found when the job runs, see `guarding`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

_IMPORTING = {
    "__import__",
    "builtins.__import__",
    "builtins.eval",
    "builtins.exec",
    "eval",
    "exec",
    "importlib.__import__",
    "importlib.import_module",
    "importlib.machinery.SourceFileLoader",
    "importlib.util.spec_from_file_location",
    "runpy.run_module",
    "runpy.run_path",
}
_READING = {
    "builtins.open",
    "bz2.open",
    "codecs.open",
    "gzip.open",
    "io.open",
    "linecache.getline",
    "linecache.getlines",
    "lzma.open",
    "numpy.fromfile",
    "numpy.genfromtxt",
    "numpy.load",
    "numpy.loadtxt",
    "numpy.memmap",
    "open",
    "os.open",
    "os.popen",
    "os.system",
    "pkgutil.get_data",
    "sqlite3.connect",
    "torch.load",
    "zipfile.ZipFile",
}
_READING_LIBRARIES = ("importlib.resources.", "pandas.read_", "pyarrow.", "safetensors.", "subprocess.")
#: Methods of paths.
_READING_METHODS = {"open", "read_bytes", "read_text"}


def unfollowed(nodes: Iterable[ast.AST], declares: bool, is_package: bool) -> Iterator[tuple[int, str]]:
    """The line of each such place in a module, and what is wrong there with its remedy.

    Args:
        nodes: All nodes of its tree.
        declares: Whether it declares the files that it reads, in its constant ``FILES``.
        is_package: Whether it is the ``__init__`` of a folder, which may load the files of its folder by name: the
            constant ``PARTS`` of a plug-in says which it is.
    """
    nodes = list(nodes)
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    names, followed = _names(nodes), {id(call.func) for call in calls if _is_followed(call, is_package)}
    for node in nodes:
        found = _reference(node, names)
        if found in _IMPORTING and id(node) not in followed:
            remedy = "it hides from fingerprints what it runs; write an import statement with the module's name"
            yield getattr(node, "lineno", 0), f"{found}: {remedy}"
        elif found and not declares and _reads(found):
            remedy = "no fingerprint covers what it reads; name the files in this module's constant FILES"
            yield getattr(node, "lineno", 0), f"{found}: {remedy}"


def imported(node: ast.AST) -> str | None:
    """The module that a call imports by a name that is written out, such as ``import_module("seedbed.log")``."""
    match node:
        case ast.Call(
            func=ast.Name(id="import_module" | "__import__") | ast.Attribute(attr="import_module"),
            args=[ast.Constant(value=str(name))],
            keywords=[],
        ):
            return name
    return None


def _is_followed(call: ast.Call, is_package: bool) -> bool:
    if imported(call):
        return True
    match call:
        case ast.Call(args=[ast.JoinedStr(values=[ast.FormattedValue(value=ast.Name(id="__name__")), *_])]):
            return is_package
    return False


def _reads(name: str) -> bool:
    return name in _READING or name.startswith((*_READING_LIBRARIES, "."))


def _reference(node: ast.AST, names: Mapping[str, str]) -> str | None:
    """What a node refers to: the full name of what is imported or built in; of a path's method, ``.NAME``."""
    match node:
        case ast.Name(id=name, ctx=ast.Load()):
            return names.get(name)
        case ast.Attribute(value=value, attr=attribute, ctx=ast.Load()):
            if owner := _reference(value, names):
                return f"{owner}.{attribute}" if not owner.startswith(".") else None
            return f".{attribute}" if attribute in _READING_METHODS else None
    return None


def _names(nodes: Iterable[ast.AST]) -> dict[str, str]:
    """What each name of a module that is imported or built in stands for; a definition of its own hides either."""
    found, own = {name: name for name in _IMPORTING | _READING if "." not in name}, set()
    for node in nodes:
        match node:
            case ast.Import(names=aliases):
                whole = [one.name if one.asname else one.name.partition(".")[0] for one in aliases]
                found |= {one.asname or name: name for one, name in zip(aliases, whole, strict=True)}
            case ast.ImportFrom(module=str(module), names=aliases, level=0):
                found |= {one.asname or one.name: f"{module}.{one.name}" for one in aliases}
            case ast.FunctionDef(name=name) | ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                own.add(name)
    return {name: full for name, full in found.items() if name not in own}
