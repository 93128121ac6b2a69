"""checkify: errors as values, so that checks work inside compiled programs.

`checkify(f)` traces ``f`` and runs its equations with an error state threaded through: the number of the first check
that failed, and what its message shows. Sites of checks are numbered while tracing; their messages are static. Loops
and branches carry the state; programs nested in `jit`, `checkpoint` and custom derivatives are written out.
"""
from __future__ import annotations

import dataclasses
import functools
import math
from typing import TYPE_CHECKING, Any, Callable, Iterable, Sequence

import numpy as np

from jax_core.compat.fields import Fields
from jax_core.references.discharge import any_refs, pure
from jax_core.representation import dtypes, tree, tree_nodes
from jax_core.representation.aval import ShapedArray, get_aval, is_jax_type
from jax_core.representation.effects import UsualEffect
from jax_core.representation.jaxpr import ClosedJaxpr, JaxprEqn, Literal, as_written, interpret_nested, result_of
from jax_core.representation.placements import is_spec
from jax_core.representation.primitive import Primitive
from jax_core.representation.traits import Kind
from jax_core.representation.typing import ArrayLike
from jax_core.traces.staging import trace_to_closed
from jax_core.traces.structural import bdim_at_front, zeros
from jax_core.traces.trace import is_concrete, trace_state_clean
from jax_core.transformations import manual

from . import lax, numpy as jnp
from .numpy.promotion import is_arraylike

if TYPE_CHECKING:
    from jax_core.representation.array import Array
    from jax_core.representation.typing import PyTree


class JaxException(Exception):
    """What failed: base class of the causes of what `Error.throw` raises. Sets of its subclasses say what `checkify` looks for."""


class FailedCheckError(JaxException):
    """A `check` of the program did not hold."""


class NaNError(JaxException):
    """An operation gave NaN."""


class DivisionByZeroError(JaxException):
    """A division by zero."""


class OOBError(JaxException):
    """An index was out of bounds."""


class BatchedError(JaxException):
    """What failed in the lanes of a `vmap`, or on several devices."""


ErrorCategory = type[JaxException]
user_checks, nan_checks, index_checks, div_checks = (
    frozenset[ErrorCategory]({kind}) for kind in (FailedCheckError, NaNError, OOBError, DivisionByZeroError))
float_checks = nan_checks.union(div_checks)
automatic_checks = float_checks.union(index_checks)
all_checks = automatic_checks.union(user_checks)


class JaxRuntimeError(ValueError):
    """A check failed."""


@tree_nodes.register_pytree_node_class
class Error:
    """Whether a check failed, and which; a pytree that can be returned from compiled functions.

    >>> from jax.experimental import checkify
    >>> error, _ = checkify.checkify(lambda x: checkify.check(x > 0, "x is {x}", x=x))(-1)
    >>> error.get()
    'x is -1 (`check` failed)'
    """

    __dataclass_fields__ = Fields("_code", "_payloads", "_sites", "_parts")

    def __init__(self, _code: Any, _payloads: dict, _sites: tuple, _parts: Sequence[tuple[Any, dict]] = ()):
        self._code, self._payloads, self._sites = _code, _payloads, _sites
        self._parts = tuple(_parts)  # codes and payloads of each device, of the regions that ran on several

    def get(self) -> str | None:
        """The message of the first check that failed, or None. With several lanes (vmap) or devices, of the first of each."""
        codes, payloads = self._by_lane()
        messages = []
        for index in np.ndindex(np.shape(codes)):
            if (number := int(codes[index])) >= 0:
                prefix = f"at mapped index {', '.join(map(str, index))}: " if index else ""
                messages.append(prefix + self._sites[number].message([x[index] for x in payloads[number]] if index else payloads[number]))
        return "\n".join(messages) or None

    def _by_lane(self) -> tuple:
        """Codes and payloads, by device where the check that failed first did so in a region on several."""
        codes = np.asarray(self._code)
        if codes.dtype == dtypes.float0:  # the tangent of an error: nothing failed
            return np.full(codes.shape, -1), {}
        if codes.ndim == 0 and codes >= 0:
            for found, payloads in self._parts:
                if np.any(np.asarray(found) == codes):
                    return np.asarray(found), payloads
        return codes, self._payloads

    def throw(self) -> None:
        """Raise JaxRuntimeError if a check failed."""
        check_error(self)

    def get_exception(self) -> JaxException | None:
        """What failed, or None: the cause of the JaxRuntimeError that `throw` raises."""
        message = self.get()
        if message is None:
            return None
        codes = self._by_lane()[0]
        failure = BatchedError(message) if codes.ndim else self._sites[int(codes)].kind(message)
        for where in {self._sites[n].where: None for n in np.ravel(codes) if n >= 0}:
            if where:
                failure.add_note(f"The check stands at {where}")
        return failure

    @property
    def _metadata(self) -> dict[int, "_Site"]:
        """The checks of the program by their number; empty where there are none."""
        return dict(enumerate(self._sites))

    def tree_flatten(self) -> tuple[tuple, tuple]:
        """What is known when the program runs; the checks are known before."""
        return (self._code, self._payloads, self._parts), self._sites

    @classmethod
    def tree_unflatten(cls, metadata: tuple, data: Sequence[Any]) -> "Error":
        """The error of these parts."""
        code, payloads, parts = data
        return cls(code, payloads, metadata, parts)

    def __repr__(self):
        known = is_arraylike(self._code) and is_concrete(self._code)
        return f"Error({self.get() if known else '<traced>' if is_arraylike(self._code) else self._code})"


@dataclasses.dataclass(frozen=True)
class _Site:
    """One check in the program: its category, and how its message is made. Those of two traces of one function are equal, and so
    are the structures of their errors."""

    kind: ErrorCategory
    text: str
    structure: Any = None
    where: str = ""

    def message(self, shown: Sequence[object]) -> str:
        if self.structure is None:
            return self.text.format(*shown)
        args, kwargs = tree.unflatten(self.structure, shown)
        return f"{self.text.format(*args, **kwargs)} (`check` failed)"


# -- checks in user code -----------------------------------------------------------------------------------------------

class CheckEffect(UsualEffect):
    """A check that has not been functionalised by `checkify` yet."""

    __slots__ = ()

    def __eq__(self, other):
        return type(other) is CheckEffect

    def __hash__(self):
        return hash(CheckEffect)

    def __repr__(self):
        return "Check"


_EFFECT = frozenset({CheckEffect()})


def _refuse(*_, **__):
    raise ValueError("checkify.check: a traced function (under jit, scan, vmap, ...) can only report a failure as a value; "
                     "wrap the outermost function in checkify.checkify, or use checkify.debug_check, which is dropped "
                     "without it")


check_p: Primitive = Primitive(
    "check", multiple_results=True, cacheable=False,
    out_type=lambda *avals, site, debug: [], effects=lambda *avals, site, debug: frozenset() if debug else _EFFECT,
    jvp=lambda primals, tangents, **params: (check_p.bind(*primals, **params), []),
    transpose=lambda cts, *args, **params: [None] * len(args),
    batch=lambda axis, args, dims, **params: (check_p.bind(*(bdim_at_front(x, d, axis) for x, d in zip(args, dims)), **params), []),
    impl=lambda pred, *shown, site, debug: _check_now(pred, shown, site, debug),
    lower=lambda b, *xs, site, debug: [] if debug else _refuse(),
)


def _check_now(pred, shown, site, debug):
    if not debug and not np.all(np.asarray(pred)):
        message = site.message(_of_first_failure(pred, shown))
        raise JaxRuntimeError(message) from site.kind(message)
    return []


def _of_first_failure(pred, shown):
    """What to show of a check on a batch: the values of the first lane in which it failed."""
    n = np.ndim(pred)
    if not n:
        return list(shown)
    first = jnp.argmin(jnp.ravel(pred))
    return [jnp.reshape(x, (np.size(pred), *np.shape(x)[n:]))[first] for x in shown]


def check(pred: ArrayLike, msg: str, *fmt_args: Any, debug: bool = False, **fmt_kwargs: Any) -> None:
    """Check that ``pred`` holds; inside a compiled function only `checkify` makes it possible.

    Args:
      pred: boolean scalar.
      msg: format string for ``fmt_args`` and ``fmt_kwargs``, arrays that it shows.
      debug: outside `checkify` the check is left out instead of being an error.

    Raises:
      TypeError: ``pred`` is not a boolean scalar. JaxRuntimeError: it is known and False.

    >>> from jax.experimental import checkify
    >>> def root(x):
    ...     checkify.check(x >= 0, 'x is {}', x)
    ...     return jnp.sqrt(x)
    >>> error, _ = jax.jit(checkify.checkify(root))(-1.0)
    >>> error.get().partition(' (')[0]
    'x is -1.0'
    """
    aval = get_aval(pred)
    if aval.dtype != np.bool_ or aval.shape != ():
        raise TypeError(f"checkify.check takes a scalar bool as argument, got {aval.str_short()}")
    if not isinstance(msg, str):
        raise TypeError(f"checkify.check: msg must be a string, got {msg!r} of type {type(msg).__name__}")
    leaves, structure = tree.flatten((fmt_args, fmt_kwargs))
    bad = next((x for x in leaves if not is_arraylike(x)), None)
    if bad is not None:
        raise TypeError(f"checkify.check: what the message shows must be arrays, numbers or pytrees of them, got {bad!r} of type "
                        f"{type(bad).__name__}; put what is known now into the message itself")
    try:
        msg.format(*tree.unflatten(structure, leaves)[0], **tree.unflatten(structure, leaves)[1])
    except (IndexError, KeyError) as error:
        raise type(error)(f"checkify.check: the message {msg!r} wants arguments that were not given: {error}") from None
    except (TypeError, ValueError):
        pass  # formats that want values
    check_p.bind(pred, *leaves, site=_Site(FailedCheckError, msg, structure), debug=debug)


def debug_check(pred: ArrayLike, msg: str, *fmt_args: Any, **fmt_kwargs: Any) -> None:
    """A `check` for functions that are given to `checkify`; elsewhere it costs nothing, as nobody looks.

    >>> import jax.experimental.checkify as checks
    >>> side = jax.jit(lambda area: (checks.debug_check(area >= 0, 'an area below 0'), jnp.sqrt(area))[1])
    >>> side(4.0)
    Array(2., dtype=float32, weak_type=True)
    """
    check(pred, msg, *fmt_args, debug=True, **fmt_kwargs)


def check_error(error: Error) -> None:
    """Raise (or check, inside a function that is checkified again) what ``error`` holds.

    Raises:
      TypeError: ``error`` is not what a function given to `checkify` returned.
      JaxRuntimeError (a ValueError): it holds an error, and this is not inside of `checkify`.

    >>> from jax.experimental import checkify
    >>> error, _ = checkify.checkify(lambda x: x)(1.0)
    >>> checkify.check_error(error)  # none, so nothing is raised
    """
    if not isinstance(error, Error):
        raise TypeError("check_error takes an Error as argument, got "
                         f"{error!r} of type {type(error).__name__}; it is the first result of a checkified function")
    if trace_state_clean():
        cause = error.get_exception()
        if cause is not None:
            failure = JaxRuntimeError(str(cause))
            failure.__notes__ = getattr(cause, "__notes__", [])
            raise failure from cause
        return
    for number, site in enumerate(error._sites):
        passes = error._code != number
        check_p.bind(jnp.all(passes), *_of_first_failure(passes, error._payloads[number]), site=site, debug=False)


# -- the interpreter ---------------------------------------------------------------------------------------------------

class _State:
    """The error while a program runs: number of the first failed check (-1: none) and what each message shows.

    ``parts`` has the same for each device, of regions on several devices that run once: not in loops and branches.
    """

    def __init__(self, errors: frozenset, sites: list, code: Any, payloads: dict, made: dict | None = None):
        self.errors, self.sites, self.code, self.payloads = errors, sites, code, payloads
        self.made = {} if made is None else made
        self.parts: list[tuple[Any, dict]] = []

    def site(self, eqn: JaxprEqn, kind: ErrorCategory, text: str) -> _Site:
        """The check of this kind of an equation; the same one each time, as a loop's body is run several times."""
        key = (id(eqn), kind)
        if key not in self.made:
            self.made[key] = _Site(kind, text, None, str(eqn.source_info)), eqn  # holding it keeps its id its own
        return self.made[key][0]

    def fail_if(self, failed: Any, site: _Site, shown: Sequence[Any] = ()) -> None:
        """Note that the check ``site`` failed where ``failed`` holds, unless one failed before."""
        number = self._number(site)
        first = failed & (self.code < 0)
        before = self.payloads.get(number)
        self.payloads[number] = list(shown) if before is None else [
            jnp.where(first, x, y) for x, y in zip(shown, before)]
        self.code = jnp.where(first, np.int32(number), self.code)

    def _number(self, site):
        for i, known in enumerate(self.sites):
            if known is site:
                return i
        self.sites.append(site)
        return len(self.sites) - 1

    def inner(self, code: object, payloads: dict) -> "_State":
        """A state for a nested program; it numbers the same checks."""
        return _State(self.errors, self.sites, code, payloads, self.made)

    def values(self, numbers: Sequence[int], types: dict) -> tuple:
        """Code and payloads as values that a loop can carry; zeros for checks that did not run yet."""
        return self.code, {n: self.payloads.get(n, [zeros(a) for a in types[n]]) for n in numbers}


_STATIC = (bool, int)


def checkify(f: Callable[..., PyTree], errors: frozenset = user_checks) -> Callable:
    """``f`` with its checks made part of its result.

    Args:
      f: function of pytrees. Python integers among its arguments, and what is no array, are handed on as they are, so that it may use
        them as static ones.
      errors: what to look for: `user_checks`, `nan_checks`, `div_checks`, `index_checks`, or unions of them.

    Returns:
      a function that returns ``(Error, result of f)`` and can be compiled and batched.

    >>> from jax.experimental import checkify
    >>> error, y = checkify.checkify(jnp.log, errors=checkify.nan_checks)(-1.0)
    >>> error.get().partition('.')[0]
    'nan generated by primitive: log'
    """
    if not isinstance(errors, Iterable) or isinstance(errors, str):
        raise TypeError(f"checkify: errors must be a set of kinds of errors, such as checkify.nan_checks, got {errors!r}")
    errors = frozenset(errors)
    for kind in errors:
        if not (isinstance(kind, type) and issubclass(kind, JaxException)):
            raise TypeError(f"checkify: errors holds {kind!r}, which is no kind of error; give a union of checkify.user_checks, nan_checks, "
                            "div_checks and index_checks")

    @functools.wraps(f)
    def checked(*args, **kwargs):
        leaves, in_tree = tree.flatten((args, kwargs))
        static = [type(x) in _STATIC or not is_jax_type(x) for x in leaves]
        flat = [x for x, handed_on in zip(leaves, static) if not handed_on]
        out_tree: list = []

        def run(*xs):
            traced = iter(xs)
            given, given_kwargs = tree.unflatten(in_tree, [x if handed_on else next(traced) for x, handed_on in zip(leaves, static)])
            outs, structure = tree.flatten(f(*given, **given_kwargs))
            out_tree[:] = [structure]
            return outs
        closed, consts = trace_to_closed(run, [get_aval(x) for x in flat])
        if not any_refs(closed.in_avals):
            closed = pure(closed)
        state = _State(errors, [], jnp.asarray(-1, np.int32), {})
        outs = _run(closed, [*consts, *flat], state)
        error = Error(state.code, {n: state.payloads.get(n, []) for n in range(len(state.sites))}, tuple(state.sites), state.parts)
        return error, tree.unflatten(out_tree[0], outs)
    return checked


def _run(closed: ClosedJaxpr, args: Sequence[Any], state: _State) -> list:
    env: dict = dict(zip(closed.jaxpr.constvars, closed.consts))
    env.update(zip(closed.jaxpr.invars, args))
    for eqn in closed.jaxpr.eqns:
        values = [x.val if type(x) is Literal else env[x] for x in eqn.invars]
        env.update(zip(eqn.outvars, as_written(eqn, _equation, eqn, values, state)))
    return [result_of(x) if type(x) is Literal else env[x] for x in closed.jaxpr.outvars]


def _equation(eqn: JaxprEqn, values: list, state: _State) -> list:
    special = _RULES.get(eqn.primitive)
    if special is None and eqn.primitive.traits.kind is Kind.PARTS:
        special = _parts_rule
    if special is not None:
        return special(eqn, values, state)
    nested = interpret_nested(eqn, values, lambda closed, *args: _run(closed, args, state))
    if nested is not None:  # jit, checkpoint, functions with custom derivatives
        return nested
    _before(eqn, values, state)
    out = eqn.primitive.bind(*values, **eqn.params)
    outs = out if eqn.primitive.multiple_results else [out]
    if NaNError in state.errors and not _only_passes_nan(eqn.primitive):
        for x in outs:
            if dtypes.issubdtype(lax.dtype(x), np.inexact):
                bad = jnp.any(jnp.isnan(x))
                state.fail_if(bad, state.site(eqn, NaNError, f"nan generated by primitive: {eqn.primitive.name}."))
    return outs


_ROUNDING = frozenset({lax.neg_p, lax.abs_p, lax.sign_p, lax.floor_p, lax.ceil_p, lax.round_p, lax.max_p, lax.min_p, lax.reduce_max_p,
                       lax.reduce_min_p, lax.cummax_p, lax.cummin_p, lax.reduce_precision_p, lax.nextafter_p, lax.top_k_p})


def _only_passes_nan(prim: Primitive) -> bool:
    """Whether NaN in its results was in its operands: it moves numbers, chooses among them, or rounds them."""
    return prim.exact is True or prim.traits.kind in (Kind.MOVE, Kind.VIEW, Kind.IDENTITY) or prim in _ROUNDING


def _before(eqn, values, state):
    prim = eqn.primitive
    if prim is lax.div_p and DivisionByZeroError in state.errors:
        state.fail_if(jnp.any(values[1] == 0), state.site(eqn, DivisionByZeroError, "division by zero"))
    if OOBError not in state.errors:
        return
    if prim in (lax.dynamic_slice_p, lax.dynamic_update_slice_p):
        x = values[0]
        starts = values[1:] if prim is lax.dynamic_slice_p else values[2:]
        sizes = eqn.params["slice_sizes"] if prim is lax.dynamic_slice_p else np.shape(values[1])
        if starts:
            _check_indices(eqn, state, np.shape(x), jnp.stack(list(starts)), range(len(starts)), sizes)
    elif prim is lax.gather_p or prim.traits.kind is Kind.SCATTER:
        x, indices = values[0], values[1]
        numbers = eqn.params["dimension_numbers"]
        if prim is lax.gather_p:
            axes, sizes = numbers.start_index_map, eqn.params["slice_sizes"]
        else:
            axes = numbers.scatter_dims_to_operand_dims
            sizes = _window_sizes(np.shape(x), np.shape(values[2]), numbers)
        if axes:
            _check_indices(eqn, state, np.shape(x), indices, axes, [sizes[a] for a in axes])


def _check_indices(eqn, state, shape, indices, axes, sizes):
    """Check indices whose last axis runs over ``axes`` of an array, where windows of ``sizes`` are read or written."""
    if not np.prod(np.shape(indices)):
        return
    axes, lengths = np.array(axes, np.int32), np.array([shape[a] for a in axes], np.int32)
    bad = (indices < 0) | (indices > np.broadcast_to(lengths - np.array(sizes), np.shape(indices)).astype(lax.dtype(indices)))
    first = jnp.argmax(bad.ravel())
    column = first % len(lengths)
    shown = [jnp.ravel(indices)[first], jnp.asarray(axes)[column], jnp.asarray(lengths)[column]]
    site = state.site(eqn, OOBError, f"out-of-bounds indexing for array of shape {shape}: index {{}} is out of bounds for axis "
                                     "{} with size {}.")
    state.fail_if(jnp.any(bad), site, shown)


def _window_sizes(operand, updates, numbers):
    window = iter(numbers.update_window_dims)
    batching = getattr(numbers, "operand_batching_dims", ())
    return [1 if a in numbers.inserted_window_dims or a in batching else updates[next(window)]
            for a in range(len(operand))]


def _check_rule(eqn, values, state):
    pred, *shown = values
    if FailedCheckError in state.errors:  # else it is not looked at
        state.fail_if(~jnp.all(pred), eqn.params["site"], _of_first_failure(pred, shown))
    return []


def _sites_inside(run: Callable, state: _State, *args: Any) -> tuple[list[int], dict]:
    """The checks that ``run(inner_state, *args)`` passes, with the types of what they show."""
    found: dict = {}

    def probe(*xs):
        inner = state.inner(jnp.asarray(-1, np.int32), {})
        run(inner, *xs)
        found.update({n: [get_aval(x) for x in shown] for n, shown in inner.payloads.items()})
        return []
    trace_to_closed(probe, [get_aval(x) for x in args])
    types = {**found, **{n: [get_aval(x) for x in shown] for n, shown in state.payloads.items()}}
    return sorted(types), types


def _enter(state: _State, carried: tuple) -> _State:
    code, payloads = carried
    return state.inner(code, {n: list(shown) for n, shown in payloads.items()})


def _leave(state: _State, carried: tuple) -> None:
    state.code, state.payloads = carried[0], {n: list(shown) for n, shown in carried[1].items()}


def _cond_rule(eqn, values, state):
    index, *operands = values
    branches = eqn.params["branches"]
    every: dict = {}
    for branch in branches:
        _, types = _sites_inside(lambda inner, *xs, branch=branch: _run(branch, xs, inner), state, *operands)
        every.update(types)
    numbers = sorted(every)

    def run(branch):
        def go(carried, *xs):
            inner = _enter(state, carried)
            outs = _run(branch, xs, inner)
            return inner.values(numbers, every), outs
        return go
    carried, outs = lax.switch(index, [run(b) for b in branches], state.values(numbers, every), *operands)
    _leave(state, carried)
    return list(outs)


def _while_rule(eqn, values, state):
    p = eqn.params
    nc, nb = p["cond_nconsts"], p["body_nconsts"]
    cond_consts, body_consts, init = values[:nc], values[nc:nc + nb], values[nc + nb:]

    def both(inner, *carry):
        _run(p["cond_jaxpr"], [*cond_consts, *carry], inner)
        _run(p["body_jaxpr"], [*body_consts, *carry], inner)
    numbers, types = _sites_inside(both, state, *init)
    [go] = _run(p["cond_jaxpr"], [*cond_consts, *init], state)

    def body(carry: PyTree):
        carried, _, xs = carry
        inner = _enter(state, carried)
        outs = _run(p["body_jaxpr"], [*body_consts, *xs], inner)
        [again] = _run(p["cond_jaxpr"], [*cond_consts, *outs], inner)
        return inner.values(numbers, types), again, outs
    carried, _, outs = lax.while_loop(lambda carry: carry[1], body, (state.values(numbers, types), go, list(init)))
    _leave(state, carried)
    return list(outs)


def _scan_rule(eqn, values, state):
    p = eqn.params
    n_consts, n_carry = p["num_consts"], p["num_carry"]
    consts, init, xs = values[:n_consts], values[n_consts:n_consts + n_carry], values[n_consts + n_carry:]

    def once(inner, *first):
        _run(p["jaxpr"], [*consts, *first], inner)
    first_xs = [zeros(ShapedArray(np.shape(x)[1:], lax.dtype(x))) for x in xs]
    numbers, types = _sites_inside(once, state, *init, *first_xs)

    def body(carry: PyTree, x: Array):
        carried, values = carry
        inner = _enter(state, carried)
        outs = _run(p["jaxpr"], [*consts, *values, *x], inner)
        return (inner.values(numbers, types), outs[:n_carry]), outs[n_carry:]
    (carried, carry), ys = lax.scan(body, (state.values(numbers, types), list(init)), list(xs), length=p["length"],
                                    reverse=p["reverse"], unroll=p["unroll"])
    _leave(state, carried)
    return [*carry, *ys]


def _parts_rule(eqn, values, state):
    """The body is checked on each device; the error is that of the first device on which one failed, and all are noted."""
    p = eqn.params
    axes, program = tuple(a for a in p["mesh"].axis_names if a in p["manual_axes"]), p["jaxpr"]
    region = manual.region({a: p["mesh"].shape[a] for a in axes}, p["check_vma"])
    with region:
        numbers, types = _sites_inside(lambda inner, *xs: _run(program, xs, inner), _State(state.errors, state.sites, None, {}, state.made),
                                       *map(_placeholder, program.in_avals))
    if not numbers:
        return eqn.primitive.bind(*values, **p)

    def on_parts(*xs):
        inner = state.inner(jnp.asarray(-1, np.int32), {})
        outs = _run(program, xs, inner)
        code, payloads = inner.values(numbers, types)
        place, last = lax.axis_index(axes), np.int32(math.prod(p["mesh"].shape[a] for a in axes))
        first = lax.pmin(jnp.where(code >= 0, place, last), axes)
        chosen = lambda x: lax.psum(jnp.where(place == first, x, jnp.zeros_like(x)), axes)
        values = [x for n in numbers for x in payloads[n]]
        return [*outs, lax.psum(jnp.where(place == first, code + 1, 0), axes) - 1, *map(chosen, values),
                *(varying(x)[None] for x in (code, *values))]

    def varying(x: Array):
        return manual.pvary(x, tuple(a for a in axes if a not in get_aval(x).vma)) if p["check_vma"] else x
    with region:
        closed, consts = trace_to_closed(on_parts, program.in_avals)
    specs = (*p["in_specs"], *p["out_specs"])
    spec = next(type(s) for s in specs if is_spec(s))
    everywhere, by_device = spec(), spec(axes)
    n, count = len(p["out_specs"]), (len(closed.out_avals) - len(p["out_specs"])) // 2
    outs = eqn.primitive.bind(*consts, *values, **{
        **p, "jaxpr": closed, "in_specs": (everywhere,) * len(consts) + p["in_specs"],
        "out_specs": p["out_specs"] + (everywhere,) * count + (by_device,) * count})
    code, shown, each = outs[n], iter(outs[n + 1:n + count]), iter(outs[n + count:])
    state.parts.append((next(each), {number: [next(each) for _ in types[number]] for number in numbers}))
    fails = (state.code < 0) & (code >= 0)
    for number in numbers:
        new = [next(shown) for _ in types[number]]
        before = state.payloads.get(number, [zeros(a) for a in types[number]])
        state.payloads[number] = [jnp.where(fails, x, y) for x, y in zip(new, before)]
    state.code = jnp.where(fails, code, state.code)
    return outs[:n]


def _placeholder(aval):
    """Zeros of this type, which vary as it says."""
    return manual.pvary(zeros(aval), manual.in_order(aval.vma))


_RULES: dict[Primitive, Callable] = {
    check_p: _check_rule, lax.cond_p: _cond_rule, lax.while_p: _while_rule, lax.scan_p: _scan_rule}
init_error = Error(np.int32(-1), {}, ())
