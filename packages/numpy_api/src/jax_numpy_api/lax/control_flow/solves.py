"""Solutions defined by equations, differentiated through the equation and not through the algorithm that solves it.

``custom_root``: for ``f(x, a) = 0`` the tangent of ``x`` solves ``(df/dx) dx = -(df/da) da``, by the implicit function
theorem. ``custom_linear_solve``: for ``A x = b`` the tangent solves ``A dx = db - dA x``, and the cotangent of ``b`` solves
the transposed system.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Sequence

import numpy as np

from jax_core.references.discharge import discharged, place, pure
from jax_core.representation import dtypes, tree
from jax_core.representation.aval import get_aval
from jax_core.representation.effects import RefEffect, operand_effects
from jax_core.representation.jaxpr import ClosedJaxpr, eval_jaxpr, types_compatible
from jax_core.representation.primitive import Linear, ProgramPrimitive, Zero, is_linear, none
from jax_core.representation.tracebacks import api_boundary
from jax_core.representation.typing import PyTree
from jax_core.traces.staging import trace_to_closed
from jax_core.traces.structural import add, bdim_at_front, instantiate, moved
from jax_core.transformations.autodiff import linearize
from jax_core.transformations.batching import batch_jaxpr
from jax_core.transformations.custom_jvp import custom_jvp
from jax_core.transformations.forward import jvp_flat
from jax_core.transformations.reverse import backward_pass

from ..arithmetic import neg
from .common import leaf_avals, require_callable, run_eagerly, split, trace_body

if TYPE_CHECKING:
    from jax_core.representation.array import Array


# -- custom_root -----------------------------------------------------------------------------------------------------

@api_boundary
def custom_root(f: Callable[..., PyTree], initial_guess: PyTree, solve: Callable[[Callable[..., Any], Any], Any],
                tangent_solve: Callable[[Callable[..., Any], Any], Any], has_aux: bool = False) -> Any:
    """A root of ``f``, differentiable with respect to what ``f`` closes over.

    Args:
      f: function of a pytree like ``initial_guess`` that returns the same structure, shapes and dtypes; it may close over
        values that are being differentiated.
      initial_guess: a pytree of arrays; its derivative is zero.
      solve: ``solve(f, initial_guess) -> root``, any algorithm; it is not differentiated.
      tangent_solve: ``tangent_solve(g, y) -> x`` such that ``g(x) = y`` for the linear function ``g``; built from
        differentiable operations.
      has_aux: ``solve`` returns ``(root, aux)``; so does this function, and ``aux`` has no derivative.

    Raises:
      TypeError: ``f``, ``solve`` or ``tangent_solve`` returns another structure or other types than those of the guess.

    Source: the implicit function theorem.

    >>> f = lambda x: x * x - 2.
    >>> lax.custom_root(f, 1., lambda f, x: lax.fori_loop(0, 20, lambda _, y: y - f(y) / (2 * y), x), lambda g, y: y / g(1.))
    Array(1.4142135, dtype=float32, weak_type=True)
    """
    require_callable("lax.custom_root", f=f, solve=solve, tangent_solve=tangent_solve)
    guess, guess_tree = tree.flatten(initial_guess)
    avals = leaf_avals("lax.custom_root", "initial_guess", initial_guess, guess)
    args_tree = tree.treedef_tuple((guess_tree,))
    program, consts, f_tree = trace_body("custom_root", f, args_tree, avals)
    _check_like_guess("f", f_tree, program.out_avals, guess_tree, avals)
    solver, solver_consts, out_tree = trace_body("custom_root", lambda x: solve(f, x), args_tree, avals)
    root_tree = out_tree.children()[0] if has_aux else out_tree
    n = guess_tree.num_leaves
    _check_like_guess("solve", root_tree, solver.out_avals[:n], guess_tree, avals)
    if all(dtypes.issubdtype(a.dtype, np.inexact) for a in avals):  # as it fails, not where the derivative is taken
        tangent, _, tangent_tree = trace_body("custom_root", lambda x: tangent_solve(linearize(f, x)[1], x), args_tree, avals)
        _check_like_guess("tangent_solve", tangent_tree, tangent.out_avals, guess_tree, avals)
    n_f, n_s = len(consts), len(solver_consts)
    at = lambda xs, cs: eval_jaxpr(program.jaxpr, program.consts, *cs, *xs)

    @custom_jvp
    def root(*args):
        _, solver_consts, guess = split(args, n_f, n_s)
        return eval_jaxpr(solver.jaxpr, solver.consts, *solver_consts, *guess)

    @root.defjvp
    def root_jvp(primals: Sequence[Array], tangents: Sequence[Array]):
        outs = root(*primals)
        x, aux = split(outs, n)
        consts, consts_t = primals[:n_f], tangents[:n_f]
        _, rhs = jvp_flat(lambda *cs: at(x, cs), consts, [
            Zero.of(c) if get_aval(c).to_tangent_aval().dtype != get_aval(c).dtype else t
            for c, t in zip(consts, consts_t)])
        _, g = linearize(lambda v: tree.unflatten(guess_tree, at(tree.leaves(v), consts)),
                         tree.unflatten(guess_tree, x))
        solution = tangent_solve(g, tree.unflatten(guess_tree, [instantiate(t) for t in rhs]))
        return outs, [*(neg(t) for t in tree.leaves(solution)), *(instantiate(Zero.of(y)) for y in aux)]

    outs = root(*consts, *solver_consts, *guess)
    return tree.unflatten(out_tree, outs)


def _check_like_guess(name, out_tree, returned, guess_tree, avals):
    if out_tree != guess_tree:
        raise TypeError(f"lax.custom_root: {name} must return the structure of initial_guess, {guess_tree}, but returned "
                        f"{out_tree}.")
    for a, b in zip(avals, returned):
        if not types_compatible(a, b):
            raise TypeError(f"lax.custom_root: {name} must return the types of initial_guess; where the guess is "
                            f"{a.str_short()} it returned {b.str_short()}.")


# -- custom_linear_solve ---------------------------------------------------------------------------------------------

class LinearSolveFunctions(NamedTuple):
    """Something for each of the four functions of a linear solve; the last two may be None."""

    matvec: Any
    vecmat: Any
    solve: Any
    transpose_solve: Any

    def transposed(self) -> "LinearSolveFunctions":
        return LinearSolveFunctions(self.vecmat, self.matvec, self.transpose_solve, self.solve)


@api_boundary
def custom_linear_solve(matvec: Callable[..., PyTree], b: PyTree, solve: Callable[[Callable[..., Any], Any], Any],
                        transpose_solve: Callable[[Callable[..., Any], Any], Any] | None = None,
                        symmetric: bool = False, has_aux: bool = False) -> Any:
    """Solve ``matvec(x) = b`` with derivatives by the equation itself.

    Args:
      matvec: linear function of a pytree like ``b``; it may close over values that are being differentiated.
      b: right-hand side, a pytree of arrays.
      solve: ``solve(matvec, b) -> x``, any algorithm; it is not differentiated.
      transpose_solve: ``transpose_solve(vecmat, b) -> x`` for the transposed system; needed for reverse mode.
      symmetric: ``matvec`` is symmetric, so ``solve`` serves for the transposed system too.
      has_aux: the solvers return ``(x, aux)``; so does this function, and ``aux`` has no derivative.

    Raises:
      TypeError: a function returns another structure or other dtypes than those of ``b``. ValueError: other shapes.

    Source: the derivative of ``A x = b``, Giles, "Collected matrix derivative results for forward and reverse mode",
    2008.

    >>> lax.custom_linear_solve(lambda x: 2. * x, jnp.array([2., 4.]), lambda _, b: b / 2, symmetric=True)
    Array([1., 2.], dtype=float32)
    """
    require_callable("lax.custom_linear_solve", matvec=matvec, solve=solve)
    if transpose_solve is not None and symmetric:
        raise TypeError("lax.custom_linear_solve: give transpose_solve or symmetric=True, not both.")
    return solve_with((), matvec, b, solve, transpose_solve, symmetric, has_aux)


def solve_with(given: Sequence[Array], matvec: Callable[..., PyTree], b: PyTree, solve: Callable[..., Any],
               transpose_solve: Callable[..., Any] | None = None, symmetric: bool = False, has_aux: bool = False) -> Any:
    """`custom_linear_solve` whose solvers take the arrays ``given`` before the right-hand side, and need not close over them: operands of the
    equation stand in that order, and not as they are used, for libraries that have a rule by the kinds of operands (unxt)."""
    leaves, b_tree = tree.flatten(b)
    avals = leaf_avals("lax.custom_linear_solve", "b", b, leaves)
    given = tuple(given)

    def program(name: str, fun: Callable[..., PyTree], given: tuple = ()):
        args_tree = tree.treedef_tuple((*[tree.structure(x) for x in given], b_tree))
        closed, consts, out_tree = trace_body("custom_linear_solve", fun, args_tree, (*map(get_aval, given), *avals))
        x_tree = out_tree.children()[0] if has_aux and name != "matvec" else out_tree
        _check_like_b(name, x_tree, closed.out_avals, b_tree, avals)
        return closed, [*consts, *given], out_tree

    forward, forward_consts, _ = program("matvec", matvec)
    solver, solver_consts, out_tree = program("solve", lambda *args: solve(matvec, *args), given)
    if symmetric:
        backward, backward_consts = forward, forward_consts
        back_solver, back_consts = solver, solver_consts
    elif transpose_solve is not None:
        backward, backward_consts = _transposed_program(forward, forward_consts, avals)
        vecmat = lambda v: tree.unflatten(b_tree, eval_jaxpr(
            backward.jaxpr, backward.consts, *backward_consts, *tree.leaves(v)))
        back_solver, back_consts, _ = program("transpose_solve", lambda *args: transpose_solve(vecmat, *args), given)
    else:
        backward = back_solver = None
        backward_consts = back_consts = []
    consts = [forward_consts, backward_consts, solver_consts, back_consts]
    outs = linear_solve_p.bind(
        *(x for group in consts for x in group), *leaves, const_lengths=LinearSolveFunctions(*map(len, consts)),
        jaxprs=LinearSolveFunctions(forward, backward, solver, back_solver))
    return tree.unflatten(out_tree, outs)


def _check_like_b(name, out_tree, returned, b_tree, avals):
    if out_tree != b_tree:
        raise TypeError(f"lax.custom_linear_solve: {name} must return the structure of b, {b_tree}, but returned "
                        f"{out_tree}.")
    for i, (a, r) in enumerate(zip(avals, returned)):
        if not types_compatible(a, r):
            kind = ValueError if a.shape != r.shape else TypeError
            raise kind(f"lax.custom_linear_solve: {name} must return the types of b; where leaf {i} of b is "
                       f"{a.str_short()} it returned {r.str_short()}.")


def _transposed_program(closed: ClosedJaxpr, consts: Sequence[Any], avals) -> tuple[ClosedJaxpr, list]:
    """The transposed linear function, as a program of the same constants."""
    n = len(consts)

    def run(*args):
        operands = [*args[:n], *(Linear(a) for a in avals)]
        return [instantiate(ct) for ct in backward_pass(closed.jaxpr, closed.consts, operands, args[n:])[n:]]
    program, more = trace_to_closed(run, [*(get_aval(x) for x in consts), *avals])
    return program, [*more, *consts]


def _groups(args, lengths):
    """Constants by function, and the right-hand side."""
    *consts, b = split(args, *lengths)
    return LinearSolveFunctions(*consts), b


def _linear_solve_type(*avals, const_lengths, jaxprs):
    return jaxprs.solve.out_avals


def _linear_solve_jvp(primals, tangents, *, const_lengths, jaxprs):
    outs = linear_solve_p.bind(*primals, const_lengths=const_lengths, jaxprs=jaxprs)
    consts, b = _groups(primals, const_lengths)
    consts_t, b_t = _groups(tangents, const_lengths)
    x, aux = split(outs, len(b))
    matvec = jaxprs.matvec
    if all(isinstance(t, Zero) for t in consts_t.matvec):
        rhs = [instantiate(t) for t in b_t]
    else:
        _, moved_by = jvp_flat(lambda *cs: eval_jaxpr(matvec.jaxpr, matvec.consts, *cs, *x), consts.matvec,
                               consts_t.matvec)
        rhs = [instantiate(add(t, m if isinstance(m, Zero) else neg(m))) for t, m in zip(b_t, moved_by)]
    flat = [c for group in consts for c in group]
    x_t = linear_solve_p.bind(*flat, *rhs, const_lengths=const_lengths, jaxprs=jaxprs)[:len(b)]
    return outs, [*x_t, *map(Zero.of, aux)]


def _linear_solve_transpose(cts, *args, const_lengths, jaxprs):
    if jaxprs.transpose_solve is None:
        raise TypeError("lax.custom_linear_solve: reverse-mode differentiation needs transpose_solve (or "
                        "symmetric=True).")
    consts, b = _groups(args, const_lengths)
    if any(is_linear(c) for group in consts for c in group):
        raise NotImplementedError("lax.custom_linear_solve is linear in b only; it cannot be transposed with respect to "
                                  "the matrix.")
    flat = [c for group in consts.transposed() for c in group]
    ct_x = [instantiate(ct) for ct in cts[:len(b)]]
    ct_b = linear_solve_p.bind(*flat, *ct_x, const_lengths=const_lengths.transposed(), jaxprs=jaxprs.transposed())
    return [None] * len(flat) + ct_b[:len(b)]


def _linear_solve_batch(axis, args, dims, *, const_lengths, jaxprs):
    consts, b = _groups(list(zip(args, dims)), const_lengths)

    def batched(closed, group):
        flags = [d is not None for _, d in group] + [True] * len(b)
        return closed and batch_jaxpr(closed, axis, flags, True)[0]
    programs = LinearSolveFunctions(*map(batched, jaxprs, consts))
    flat = [moved(x, d, 0) for group in consts for x, d in group]
    rhs = [bdim_at_front(x, d, axis) for x, d in b]
    outs = linear_solve_p.bind(*flat, *rhs, const_lengths=const_lengths, jaxprs=programs)
    return outs, [0] * len(outs)


def _linear_solve_lower(b, *args, const_lengths, jaxprs):
    consts, rhs = _groups(args, const_lengths)
    return b.jaxpr(jaxprs.solve, *consts.solve, *rhs)


def _linear_solve_interpret(run, *args, const_lengths, jaxprs):
    consts, rhs = _groups(args, const_lengths)
    return run(jaxprs.solve, *consts.solve, *rhs)


def _linear_solve_effects(*avals, const_lengths, jaxprs):
    operands = _solver_operands(len(avals), const_lengths)
    of_solver = frozenset(e.at(operands[e.ref]) if isinstance(e, RefEffect) else e for e in operand_effects(jaxprs.solve))
    others = [p.effects for p in jaxprs if p is not None]
    return of_solver.union(e for effects in others for e in effects if not isinstance(e, RefEffect))


def _solver_operands(count, const_lengths) -> list[int]:
    """Which of the operands the solver takes: its constants and the right-hand side."""
    _, _, consts, _, b = split(range(count), *const_lengths)
    return [*consts, *b]


def _linear_solve_discharge(prim, args, refs, params):
    """References that the programs make for themselves become values; with others the solver runs as it is."""
    programs, lengths = params["jaxprs"], params["const_lengths"]
    if all(r is None for r in refs):
        return prim.bind(*args, const_lengths=lengths, jaxprs=LinearSolveFunctions(*(c and pure(c) for c in programs))), [None] * len(args)
    operands = _solver_operands(len(args), lengths)
    closed, written = discharged(programs.solve, [refs[i] for i in operands])
    outs = eval_jaxpr(closed.jaxpr, closed.consts, *(args[i] for i in operands))
    n = len(programs.solve.out_avals)
    return outs[:n], place([operands[i] for i in written], outs[n:], len(args))


linear_solve_p: ProgramPrimitive = ProgramPrimitive(
    "custom_linear_solve",
    out_type=_linear_solve_type,
    effects=_linear_solve_effects,
    impl=lambda *args, **params: run_eagerly(linear_solve_p, args, params),
    jvp=_linear_solve_jvp, transpose=_linear_solve_transpose, batch=_linear_solve_batch, lower=_linear_solve_lower,
    linearize=none("its jvp is another solve"), split=none("the matrix and the right-hand side are known together"),
    dce=none("a solve gives all of its unknowns"), takes_refs=True, discharge=_linear_solve_discharge, interpret=_linear_solve_interpret)
