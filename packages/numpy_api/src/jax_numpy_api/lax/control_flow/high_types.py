"""Loops and branches on values of high-level types: they carry the arrays that represent these."""
from __future__ import annotations

from typing import Any, Callable

from jax_core.representation import high
from jax_core.representation.typing import PyTree
from jax_core.transformations.high_primitives import Represented


def scan_high(scan: Callable, f: Callable[..., PyTree], init: PyTree, xs: PyTree, length: int | None, **options: Any) -> tuple[Any, Any]:
    """`scan` by ``scan``."""
    carry, rows = Represented(init), Represented(xs)
    seen: list[tuple[Represented, Represented]] = []
    if length is None and all(a.is_high for a in rows.avals):
        raise ValueError("lax.scan: where xs has no arrays but values of high-level types, the call must provide `length`.")

    def body(state, row):
        n = length if length is not None else lengths[0]
        row_types = [a.dec_rank(n, a.leading_axis_spec()) if a.is_high else a for a in rows.avals]
        state, out = f(carry.value(state), rows.value(row, row_types))
        out = Represented(out)
        seen[:] = [(Represented(state), out)]
        return seen[0][0].arrays, out.arrays
    lengths = [x.shape[0] for a, x in zip(rows.avals, rows.arrays) if not a.is_high]
    state, outs = scan(body, carry.arrays, rows.arrays, length, **options)
    last, out = seen[0]
    n = length if length is not None else lengths[0]
    stacked = [a.inc_rank(n, a.leading_axis_spec()) if a.is_high else a for a in out.avals]
    return last.value(state), out.value(outs, stacked)


def while_loop_high(loop: Callable, cond_fun: Callable[..., PyTree], body_fun: Callable[..., PyTree], init: PyTree) -> Any:
    """`while_loop` by ``loop``."""
    carry = Represented(init)
    return carry.value(loop(lambda state: cond_fun(carry.value(state)),
                            lambda state: Represented(body_fun(carry.value(state))).arrays, carry.arrays))


def choose_high(choose: Callable, functions: tuple, operands: tuple) -> Any:
    """``choose(functions, operands)``, where operands or results may be of high-level types."""
    given = Represented(operands)
    seen: list[Represented] = []

    def on_arrays(fun: Callable[..., PyTree]):
        def run(*arrays):
            out = Represented(fun(*given.value(arrays)))
            if seen and (out.structure, out.avals) != (seen[0].structure, seen[0].avals) and (high.any_high(out.avals) or high.any_high(seen[0].avals)):
                raise TypeError("the branches of a conditional must return values of the same structure and high-level types, but one returns "
                                f"{out.structure.unflatten(out.avals)} and another {seen[0].structure.unflatten(seen[0].avals)}")
            seen[:] = [out]
            return out.arrays
        return run
    outs = choose(tuple(map(on_arrays, functions)), tuple(given.arrays))
    return seen[0].value(outs)
