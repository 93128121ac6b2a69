"""The shortest text that still differs in the same way, found by cutting the syntax tree."""
from __future__ import annotations

import ast
import copy
from typing import Any, Callable, Iterator


def _places(tree: ast.AST) -> Iterator[tuple[Any, str, int | None]]:
    """Where a node hangs: its parent, the parent's field, and the index there."""
    for parent in ast.walk(tree):
        for field, child in ast.iter_fields(parent):
            if isinstance(child, ast.AST):
                yield parent, field, None
            elif isinstance(child, list):
                yield from ((parent, field, i) for i in range(len(child)) if isinstance(child[i], ast.AST))


def _smaller(node: Any) -> Iterator[Any]:
    """What may stand in a node's place: None for nothing at all."""
    if isinstance(node, ast.stmt):
        yield None
    if isinstance(node, (ast.Tuple, ast.List)):
        yield from (type(node)(node.elts[:i] + node.elts[i + 1:], node.ctx) for i in range(len(node.elts)) if len(node.elts) > 1)
    if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
        yield from (ast.Return(e) for e in node.value.elts)
    if isinstance(node, ast.Call):
        yield from (a for a in node.args if not isinstance(a, (ast.Lambda, ast.Starred, ast.Constant, ast.List, ast.Tuple)))
        if isinstance(node.func, ast.Attribute) and not isinstance(node.func.value, (ast.Name, ast.Attribute)):
            yield node.func.value
        yield from (ast.Call(node.func, node.args, node.keywords[:i] + node.keywords[i + 1:]) for i in range(len(node.keywords)))
        yield from (ast.Call(node.func, node.args[:i] + node.args[i + 1:], node.keywords) for i in range(1, len(node.args)))
    if isinstance(node, ast.BinOp):
        yield from (node.left, node.right)
    if isinstance(node, (ast.UnaryOp, ast.Attribute)):
        yield node.operand if isinstance(node, ast.UnaryOp) else node.value
    if isinstance(node, ast.Subscript):
        yield node.value
    if isinstance(node, ast.Constant) and isinstance(node.value, (float, int)) and not isinstance(node.value, bool) and node.value not in (0, 1):
        yield from (ast.Constant(type(node.value)(1)), ast.Constant(type(node.value)(2)))


def _candidates(text: str) -> Iterator[str]:
    tree = ast.parse(text)
    for number, (parent, field, index) in enumerate(_places(tree)):
        node = getattr(parent, field) if index is None else getattr(parent, field)[index]
        if field == "func" and isinstance(node, ast.Attribute):  # a function's module is no function
            continue
        for choice in range(len(list(_smaller(node)))):
            changed = copy.deepcopy(tree)
            parent2, field2, index2 = list(_places(changed))[number]
            node2 = getattr(parent2, field2) if index2 is None else getattr(parent2, field2)[index2]
            new = list(_smaller(node2))[choice]
            if index2 is not None:
                getattr(parent2, field2)[index2:index2 + 1] = [] if new is None else [new]
            elif new is None:
                continue
            else:
                setattr(parent2, field2, new)
            try:
                yield ast.unparse(ast.fix_missing_locations(changed))
            except (ValueError, AttributeError):
                continue


def shrink(text: str, differs: Callable[[str], bool], tries: int = 400) -> str:
    """``text`` cut while ``differs`` holds, at most ``tries`` times asked."""
    seen = {text}
    improved = True
    while improved:
        improved = False
        for candidate in _candidates(text):
            if len(candidate) >= len(text) or candidate in seen:
                continue
            seen.add(candidate)
            if len(seen) > tries:
                return text
            if differs(candidate):
                text, improved = candidate, True
                break
    return text
