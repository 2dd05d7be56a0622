"""The imports of the package, read from its source without importing it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = "calib_pipeline"


@dataclass(frozen=True)
class Import:
    """One imported name.

    ``target`` is the dotted name, as far as it may be a module; ``lazy`` marks imports inside of functions, ``typing``
    those under ``TYPE_CHECKING``.
    """

    target: str
    line: int
    lazy: bool
    typing: bool


@cache
def modules() -> Mapping[str, Path]:
    """Every module of the package by dotted name; template and example projects are no part of it."""
    found = {}
    for path in sorted((ROOT / PACKAGE).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if parts[1] in ("project_template", "project_examples"):
            continue
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def imports_of(module: str) -> tuple[Import, ...]:
    """The imports of a module, in the order in which they stand."""
    tree = ast.parse(modules()[module].read_text(encoding="utf-8"))
    return tuple(_imports(tree, lazy=False, typing=False))


def _imports(node: ast.AST, *, lazy: bool, typing: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for name in child.names:
                yield Import(name.name, child.lineno, lazy, typing)
        elif isinstance(child, ast.ImportFrom):
            for name in child.names:
                yield Import(f"{child.module}.{name.name}", child.lineno, lazy, typing)
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _imports(child, lazy=True, typing=typing)
        elif isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            yield from _imports(child, lazy=lazy, typing=True)
        else:
            yield from _imports(child, lazy=lazy, typing=typing)


def own_modules(target: str) -> list[str]:
    """The modules of the package that importing a dotted name runs: itself and the packages that hold it."""
    parts = target.split(".")
    names = [".".join(parts[:end]) for end in range(1, len(parts) + 1)]
    return [name for name in names if name in modules()]


def runs(module: str, *, lazy: bool) -> set[str]:
    """The modules of the package that a module's imports run; a module's own packages are running already."""
    own = set(own_modules(module))
    return {
        name
        for one in imports_of(module)
        if not one.typing and (lazy or not one.lazy)
        for name in own_modules(one.target)
        if name not in own
    }


def circle(edges: Mapping[str, set[str]]) -> list[str]:
    """A circle in a directed graph as the names along it, the first one again at its end; empty where there is none."""
    done: set[str] = set()

    def visit(name: str, above: list[str]) -> list[str]:
        if name in above:
            return [*above[above.index(name) :], name]
        if name in done:
            return []
        for target in sorted(edges.get(name, ())):
            found = visit(target, [*above, name])
            if found:
                return found
        done.add(name)
        return []

    return next((found for name in sorted(edges) if (found := visit(name, []))), [])
