"""Running one primitive now.

Two ways. Primitives whose result is exact on the host (data movement, comparisons, integer arithmetic, sorting,
creation) run as their NumPy reference on views of the buffers: nothing is compiled, so a new shape costs nothing. All
others run as a program of one equation, through a C++ dispatcher for each primitive and its parameters. So do exact ones
on large operands, once they have moved so many bytes on the host as take it longer than compiling.
"""
from __future__ import annotations

import math
from typing import Any, Sequence

import numpy as np

from jax_core.configuration import flags
from jax_core.interfaces import FastCall, LowerSpec
from jax_core.representation import dtypes, tree
from jax_core.representation.aval import ShapedArray, aval_of_type, get_aval, plain_values
from jax_core.representation.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Var
from jax_core.representation.primitive import Primitive, abstract_eval

from ..arrays import put as _put, transfer_guards
from ..arrays.array import LARGE, ArrayImpl, check_not_deleted, view_for_now
from ..arrays.put import put_now
from ..jaxlib_compat import RuntimeError_
from ..placement.partition_spec import PartitionSpec
from ..placement.sharding import NamedSharding
from . import stages
from .dispatch import dispatcher

_LIMIT = 8192
_calls: dict[Any, Any] = {}
_moved: dict[Any, int] = {}  # bytes of results that the host has made of large operands, by primitive, parameters and types
_WORTH_COMPILING = 1 << 25
"""Bytes that NumPy takes 2 to 30 ms for where compiled code takes 0.1 to 1; compiling takes some 10 ms."""
_MORE_THAN_THERE_IS = 1 << 47
"""Bytes: the address space of a process."""
_ONE = tree.structure(0)


def clear() -> None:
    """Forget the dispatchers of all primitives."""
    _calls.clear()
    _moved.clear()


def evaluate(prim: Primitive, args: Sequence[object], params: dict) -> Any:
    """Run ``prim`` on concrete arguments; see `jax_core.interfaces.Backend.evaluate`."""
    exact = prim.exact
    if exact and flags.mesh_in_context.value is None:  # under a mesh results are on its devices
        avals = [x.aval if type(x) is ArrayImpl else get_aval(x) for x in args]
        if exact is True or exact(*avals, **params):
            result = _on_host(prim, args, avals, params)
            if result is not NotImplemented:
                return result
    if not prim.cacheable:
        return _run_holding_jaxprs(prim, args, params)
    try:
        call = _calls[(prim, *params.items()) if params else prim]
    except KeyError:
        call = _new_call(prim, params)
    except TypeError:  # a parameter that cannot be hashed
        return _run_once(prim, args, params)
    return call(*args)


def _new_call(prim: Primitive, params: dict) -> Any:
    in_python: dict[Any, Any] = {}  # executables that the dispatcher cannot keep, as each call passes through here

    def miss(*args):
        args = plain_values(list(args))
        avals = tuple(map(get_aval, args))
        executable = in_python.get(avals)
        if executable is None:
            executable = _compile(prim, avals, params)
        run = executable.execute(args)
        outs = run.results if prim.multiple_results else run.results[0]
        if run.program is None:
            in_python[avals] = executable
            return outs, None
        out_tree = tree.structure(outs) if prim.multiple_results else _ONE
        return outs, FastCall(run.program, out_tree, len(avals))

    call = dispatcher(miss, miss, (), (), prim.name, eager=True)
    if len(_calls) >= _LIMIT:
        _calls.clear()
    _calls[(prim, *params.items()) if params else prim] = call
    return call


def _program(prim: Primitive, avals: Sequence[Any], params: dict) -> ClosedJaxpr:
    """The program that is this one equation."""
    types, effects = abstract_eval(prim, avals, params)
    invars, outvars = [Var(a) for a in avals], [Var(a) for a in types]
    equation = JaxprEqn(invars, outvars, prim, params, effects)
    return ClosedJaxpr(Jaxpr([], invars, outvars, [equation], effects), ())


def _compile(prim: Primitive, avals: Sequence[Any], params: dict) -> Any:
    spec = LowerSpec(prim.name, keep_unused=True)
    return stages.executable(stages.lower(_program(prim, avals, params), spec), spec)


def _run_once(prim: Primitive, args: Sequence[Any], params: dict) -> Any:
    """Run without keeping more than the compiled module, which is found again by its text."""
    args = plain_values(list(args))
    executable = _compile(prim, tuple(map(get_aval, args)), params)
    outs = executable.execute(args).results
    return outs if prim.multiple_results else outs[0]


def _run_holding_jaxprs(prim: Primitive, args: Sequence[Any], params: dict) -> Any:
    """Control flow and other primitives with programs among their parameters. The executable is kept in the first of
    those programs, so that both are forgotten together."""
    args = plain_values(list(args))
    holder = next((v for v in params.values() if isinstance(v, ClosedJaxpr)), None)
    if holder is None:
        holder = next((w for v in params.values() if isinstance(v, tuple) for w in v if isinstance(w, ClosedJaxpr)), None)
    if holder is None:
        return _run_once(prim, args, params)
    avals = tuple(map(get_aval, args))
    others = tuple(v for v in params.values() if v is not holder)
    try:
        executable = holder.memo(("evaluate", prim, avals, others), lambda: _compile(prim, avals, params))
    except TypeError:
        return _run_once(prim, args, params)
    outs = executable.execute(args).results
    return outs if prim.multiple_results else outs[0]


# -- on the host -----------------------------------------------------------------------------------------------------

def _on_host(prim: Primitive, args: Sequence[Any], avals: Sequence[Any], params: dict) -> Any:
    """The result of the NumPy reference, or NotImplemented if the operands are not all in this host's memory."""
    where = _put._default or _put.default_placement()
    sharding: Any = where.sharding
    devices, committed, arrays = where.devices, False, False
    views, size = [], 0
    for x, aval in zip(args, avals):
        if type(x) is ArrayImpl:
            arrays = True
            view = x._npy_value
            if view is None or x.is_deleted():
                if _moved and _moved_before(prim, avals, params) >= _WORTH_COMPILING:
                    return NotImplemented  # said here already: views of large operands are not kept, and take a while to make
                view = _view(x)
                if view is None:
                    return NotImplemented
            if x._committed:
                if committed and x._sharding != sharding or len(x._sharding._internal_device_list) != 1:
                    return NotImplemented
                sharding, devices, committed = x._sharding, x._sharding._addressable_device_assignment, True
        elif isinstance(aval.dtype, dtypes.ExtendedDType):
            return NotImplemented
        elif type(x) not in aval_of_type and hasattr(x, "__jax_array__"):
            args = plain_values(list(args))
            return _on_host(prim, args, [get_aval(y) for y in args], params)
        else:
            view = np.asarray(x, aval.dtype)
        views.append(view)
        size += view.nbytes
    if not arrays and where.platform != "cpu":
        return NotImplemented
    types, effects = abstract_eval(prim, avals, params)
    if effects or type(sharding) is not NamedSharding and any([t.placement is not None for t in types]):  # what a type splits lies on a mesh
        return NotImplemented
    if types:
        size = max(size, 4 * math.prod(types[0].shape))
    if size >= LARGE and _compiled_is_faster(prim, avals, params, size):
        return NotImplemented
    try:
        result = prim.reference(*views, **params)  # type: ignore[misc]  # one that is exact has it
        with transfer_guards.own():
            if prim.multiple_results:
                return [_wrap(r, t, _fitting(sharding, t, avals), devices, committed, views) for r, t in zip(result, types)]
            return _wrap(result, types[0], _fitting(sharding, types[0], avals), devices, committed, views)
    except MemoryError as error:
        raise _out_of_memory(prim, types) from error
    except RuntimeError:
        if max(view.ndim for view in views) <= 32:
            raise
        return NotImplemented  # some functions of NumPy go no further, though its arrays do
    except ValueError as error:
        if size < _MORE_THAN_THERE_IS:  # else it is NumPy's, which counts no further
            raise
        raise _out_of_memory(prim, types) from error


def _fitting(sharding: Any, aval: Any, operands: Sequence[Any]) -> Any:
    """The placement of a result: what its type says, on the mesh of an operand. On a mesh of one device the axes of an operand have names, which
    else say nothing of a result of another shape."""
    if type(sharding) is not NamedSharding:
        return sharding
    if aval.placement is not None:
        return _put.on_devices(aval.placement, sharding)
    if not len(sharding.spec) or all([a.shape in ((), aval.shape) for a in operands]):
        return sharding
    return sharding.update(spec=PartitionSpec())


def _out_of_memory(prim: Primitive, types: Sequence[Any]) -> Exception:
    """The error in the class, and with the code, that the runtime's own has."""
    size = sum(math.prod(t.shape) * t.dtype.itemsize for t in types)
    return RuntimeError_(f"RESOURCE_EXHAUSTED: Out of memory: the result of {prim.name}, {', '.join(t.str_short() for t in types)}, "
                         f"takes {size} bytes")


def _compiled_is_faster(prim: Primitive, avals: Sequence[Any], params: dict, size: int) -> bool:
    """Whether a call that touches ``size`` bytes shall be compiled, as all those before it with these types touched many."""
    fast = prim.traits.fast_on_host
    if fast is True or not prim.cacheable or fast and fast(**params):
        return False
    before = _moved_before(prim, avals, params)
    if before < 0 or before >= _WORTH_COMPILING:
        return before > 0
    if len(_moved) >= _LIMIT:
        _moved.clear()
    _moved[prim, tuple(avals), *params.items()] = before + size
    return False


def _moved_before(prim: Primitive, avals: Sequence[Any], params: dict) -> int:
    """Bytes that calls with these types touched, -1 if a parameter cannot be hashed."""
    try:
        return _moved.get((prim, tuple(avals), *params.items()), 0)
    except TypeError:
        return -1


def _wrap(value: Any, aval: ShapedArray, sharding: Any, devices: Sequence[Any], committed: bool, views: Sequence[np.ndarray]) -> ArrayImpl:
    """An array of the result ``value``. A view of a small part of a large operand is copied: it would keep the whole alive, and memory that
    is shared cannot be donated in place."""
    if type(value) is not np.ndarray or value.dtype != aval.dtype:
        value = np.asarray(value, aval.dtype)
    if not value.dtype.itemsize:  # float0
        return value
    if not value.flags.c_contiguous and value.itemsize not in value.strides:  # jaxlib copies what lies in steps element by element
        value = np.ascontiguousarray(value)
    if value.base is None or not views or views[0].nbytes < LARGE or 2 * value.nbytes >= views[0].nbytes:
        return put_now(aval, sharding, [value], devices, committed, False, _put._ALIAS, True)
    return put_now(aval, sharding, [value], devices, committed, False, _put._COPY, True)


def _view(x: ArrayImpl) -> np.ndarray | None:
    """A view of a CPU array on one device, waiting for it if it is being computed: that ends sooner than compiling
    would. None for arrays elsewhere."""
    check_not_deleted(x)
    if x.platform() != "cpu" or len(x._sharding._internal_device_list) != 1:
        return None
    return view_for_now(x)


__all__ = ["clear", "evaluate"]
