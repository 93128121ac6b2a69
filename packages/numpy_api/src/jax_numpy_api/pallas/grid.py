"""A kernel's program: the kernel as a jaxpr on references, and for each operand how the grid's steps find their blocks.

The kernel's inputs are the indices of the step, the sizes of those grid axes that are known at run time only, and references:
scalars, operands, results, scratch. Indices being inputs, no primitive knows of grids: `program_id` returns the input, which
functions inside the kernel close over, and a transformation that adds an axis adds an input that is not used.
"""
from __future__ import annotations

import contextlib
import inspect
import math
import threading
from typing import Any, Callable, Iterator, NamedTuple, Sequence

import numpy as np

from jax_core.configuration import context
from jax_core.representation import dtypes, tree
from jax_core.representation.array import Array
from jax_core.representation.aval import AbstractRef, ShapedArray, get_aval
from jax_core.representation.jaxpr import ClosedJaxpr, DebugInfo, Jaxpr, Literal, Var
from jax_core.representation.source import describe_function
from jax_core.representation.typing import AxisName
from jax_core.traces.staging import trace_to_jaxpr
from jax_core.traces.structural import convert_element_type_p
from jax_core.traces.trace import Tracer

from ..lax.control_flow.common import structure_key
from .spaces import MemorySpace
from .specs import Blocked, BlockSpec, Element, Squeezed, no_block_spec, squeezed

INDEX = ShapedArray((), np.dtype(np.int32))


# -- the step that is being traced -------------------------------------------------------------------------------------

class _Step(threading.local):
    """``ids``, ``sizes``: of the grid of the kernel that this thread is tracing; None outside of kernels."""

    ids: Sequence[Any] | None = None
    sizes: Sequence[Any] = ()


_step = _Step()


@contextlib.contextmanager
def stepping(ids: Sequence[Any] | None, sizes: Sequence[object]) -> Iterator[None]:
    """Inside, `program_id` and `num_programs` tell these."""
    before = _step.ids, _step.sizes
    _step.ids, _step.sizes = ids, sizes
    try:
        yield
    finally:
        _step.ids, _step.sizes = before


class GridAxis:
    """An axis of the grid as a named axis; ``place``: of the step that runs."""

    __slots__ = ("name", "size", "place")

    def __init__(self, name: AxisName, size: int | Array, place: Array):
        self.name, self.size, self.place = name, size, place

    def key(self) -> tuple:
        return self.name, self.size, "grid"


def _axis(name: str, axis: int) -> int:
    if _step.ids is None:
        raise ValueError(f"{name}({axis!r}) was called outside of a kernel; call it in the function that is given to pallas_call.")
    if not isinstance(axis, (int, np.integer)) or not 0 <= axis < len(_step.ids):
        raise ValueError(f"{name}: axis {axis!r} is out of bounds for the grid {tuple(_step.sizes)}, which has {len(_step.ids)} axes.")
    return int(axis)


def program_id(axis: int) -> Any:
    """The index of this step along an axis of the grid, an int32 scalar. To be called in a kernel or an index map.

    >>> from jax.experimental import pallas as pl
    >>> def kernel(out):
    ...     out[pl.program_id(0)] = 10 * pl.program_id(0)
    >>> pl.pallas_call(kernel, jax.ShapeDtypeStruct((3,), jnp.int32), grid=3, interpret=True)()
    Array([ 0, 10, 20], dtype=int32)
    """
    return _step.ids[_axis("program_id", axis)]  # type: ignore[index]  # _axis raises where it is None


def num_programs(axis: int) -> Any:
    """The size of an axis of the grid: an int, or an int32 scalar where it is known at run time only. To be called in a kernel.

    >>> from jax.experimental import pallas as pl
    >>> def kernel(o_ref):
    ...     o_ref[pl.program_id(0)] = pl.num_programs(0)
    >>> pl.pallas_call(kernel, jax.ShapeDtypeStruct((3,), jnp.int32), grid=3, interpret=True)()
    Array([3, 3, 3], dtype=int32)
    """
    size = _step.sizes[_axis("num_programs", axis)]
    if size is None:
        raise NotImplementedError(f"num_programs({axis}): the size is known at run time only, and index maps do not get it; pass it as a scalar "
                                  "operand of a PrefetchScalarGridSpec.")
    return size


def with_scalars(jaxpr: Jaxpr, consts: Sequence[Any]) -> tuple[Jaxpr, list]:
    """The program with those constants written into it that are scalars, such as ``jnp.float32(2)``, and the other constants."""
    known = {v: Literal(np.asarray(c)[()]) for v, c in zip(jaxpr.constvars, consts) if v.aval.shape == () and not isinstance(c, Tracer)}
    if not known:
        return jaxpr, list(consts)
    inlined = lambda v: known.get(v, v) if type(v) is Var else v
    eqns = [e.replace(invars=[inlined(v) for v in e.invars]) for e in jaxpr.eqns]
    rest = [v for v in jaxpr.constvars if v not in known]
    return jaxpr.replace(constvars=rest, eqns=eqns, outvars=[inlined(v) for v in jaxpr.outvars]), [
        c for v, c in zip(jaxpr.constvars, consts) if v not in known]


# -- operands ----------------------------------------------------------------------------------------------------------

class Operand:
    """One operand or result and its blocks.

    Attributes:
      aval: type of the whole array.
      block: for each axis a `Blocked`, `Squeezed` or `Element`.
      index_map: program from the grid's indices and the scalar references to an index for each axis.
      memory_space: where its blocks are.
      name: for messages.
    """

    __slots__ = ("aval", "block", "index_map", "memory_space", "pipeline_mode", "name")

    def __init__(self, aval: ShapedArray, block: tuple, index_map: ClosedJaxpr, memory_space: Any, pipeline_mode: Any, name: str):
        self.aval, self.block, self.index_map = aval, block, index_map
        self.memory_space, self.pipeline_mode, self.name = memory_space, pipeline_mode, name

    @property
    def sizes(self) -> tuple[int, ...]:
        """Length of a block along each axis of the array."""
        return tuple(1 if type(d) is Squeezed else d.block_size for d in self.block)

    @property
    def block_aval(self) -> ShapedArray:
        """The type of a block as the kernel sees it."""
        return ShapedArray(tuple(d.block_size for d in self.block if type(d) is not Squeezed), self.aval.dtype)

    @property
    def ref(self) -> AbstractRef:
        return AbstractRef(self.block_aval, self.memory_space)

    @property
    def whole(self) -> bool:
        """Whether a block is the whole array."""
        return self.sizes == self.aval.shape and all(type(d) is not Element or d.padding == (0, 0) for d in self.block)

    def batched(self, size: int, mapped: bool) -> Operand:
        """The same under one more grid axis in front, over which the array is mapped or not."""
        step = Var(INDEX)
        jaxpr = self.index_map.jaxpr
        index_map = ClosedJaxpr(jaxpr.replace(invars=[step, *jaxpr.invars], outvars=[step] * mapped + jaxpr.outvars), ())
        aval, block = self.aval, self.block
        if mapped:
            aval, block = ShapedArray((size, *aval.shape), aval.dtype), (squeezed, *block)
        return Operand(aval, block, index_map, self.memory_space, self.pipeline_mode, self.name)

    def key(self) -> tuple:
        return self.aval, self.block, structure_key(self.index_map), self.memory_space, self.pipeline_mode, self.name

    def __repr__(self):
        return f"{self.name}: {self.aval.str_short()} in blocks {self.block} at {self.index_map.jaxpr}"


def block_dims(where: str, spec: BlockSpec, aval: ShapedArray) -> tuple:
    """For each axis of an array a `Blocked`, `Squeezed` or `Element`; messages begin with ``where``."""
    if spec.block_shape is None:
        return tuple(map(Blocked, aval.shape))
    dims = []
    for d in spec.block_shape:
        if d is None:
            d = squeezed
        elif isinstance(d, (int, np.integer)):
            d = Blocked(int(d))
        if not isinstance(d, (Blocked, Squeezed, Element)):
            raise ValueError(f"{where}: {d!r} in its block shape is no length of a block; use an integer, None or pl.squeezed, or "
                             "pl.Element(length).")
        if not isinstance(d, Squeezed) and d.block_size < 1:
            raise ValueError(f"{where}: its block shape {spec.block_shape} has a length below one; a block has at least one element.")
        dims.append(d)
    if len(dims) != len(aval.shape):
        raise ValueError(f"{where}: its block shape {spec.block_shape} has {len(dims)} dimensions, and the array {aval.str_short()} has "
                         f"{len(aval.shape)}; give one entry for each axis.")
    return tuple(dims)


def _takes(function: Callable, count: int) -> bool:
    try:
        inspect.signature(function).bind(*[None] * count)
    except TypeError:
        return False
    except ValueError:  # a function that does not tell
        pass
    return True


def _trace_index_map(where: str, spec: BlockSpec, grid: tuple, scalars: Sequence[AbstractRef], block: tuple) -> ClosedJaxpr:
    index_map, rank = spec.index_map, len(grid)
    if index_map is None:
        return ClosedJaxpr(trace_to_jaxpr(lambda *_: [np.int32(0)] * len(block), [INDEX] * rank + list(scalars))[0], ())
    what = f"{where}: the index map {describe_function(index_map)}"
    if not _takes(index_map, rank + len(scalars)):
        raise TypeError(f"{what} must take {rank + len(scalars)} positional arguments, one for each axis of the grid"
                        f"{' and each scalar operand' if scalars else ''}; it takes {inspect.signature(index_map)}.")

    def flat(*args):
        with stepping(args[:rank], grid):
            outs = index_map(*args)
        outs = tuple(outs) if isinstance(outs, (tuple, list)) else (outs,)
        if len(outs) != len(block):
            raise ValueError(f"{what} must return {len(block)} indices for the blocks {spec.block_shape}, and returned {len(outs)}.")
        return [_index(f"{what}, result {i}", x) for i, x in enumerate(outs)]
    jaxpr, consts, _ = trace_to_jaxpr(flat, [INDEX] * rank + list(scalars), DebugInfo("pallas_call index_map", describe_function(index_map)))
    jaxpr, consts = with_scalars(jaxpr, consts)
    if consts:
        raise ValueError(f"{what} closes over arrays ({', '.join(get_aval(c).str_short() for c in consts)}); pass them as scalar operands "
                         "of a PrefetchScalarGridSpec, or use Python numbers.")
    return ClosedJaxpr(jaxpr, ())


def _index(what: str, x: Any) -> Any:
    try:
        aval = get_aval(x)
    except TypeError:
        raise TypeError(f"{what} must be an integer scalar, got {x!r} of type {type(x).__name__}.") from None
    if aval.shape != () or not dtypes.issubdtype(aval.dtype, np.integer):
        raise ValueError(f"{what} must be an integer scalar, got {aval.str_short()}.")
    if isinstance(x, (int, np.integer)):
        return np.int32(x)
    return convert_element_type_p.bind(x, new_dtype=INDEX.dtype, weak_type=False) if aval.dtype != INDEX.dtype or aval.weak_type else x


def operand(where: str, name: str, spec: object, aval: ShapedArray, grid: tuple, scalars: Sequence[AbstractRef]) -> Operand:
    """What ``spec`` says about an array of type ``aval``; ``grid`` has None for sizes known at run time. Messages begin with ``where``."""
    where = f"{where}, {name}"
    if spec is no_block_spec:
        spec = BlockSpec()
    if not isinstance(spec, BlockSpec):
        raise TypeError(f"{where}: {spec!r} of type {type(spec).__name__} is no pl.BlockSpec.")
    block = block_dims(where, spec, aval)
    space = MemorySpace.DEFAULT if spec.memory_space is None else spec.memory_space
    return Operand(aval, block, _trace_index_map(where, spec, grid, scalars, block), space, spec.pipeline_mode, name)


# -- the program -------------------------------------------------------------------------------------------------------

class Options(NamedTuple):
    """What a call says about its kernel besides shapes; ``interpret`` is false, true or an `InterpretParams`, ``bounds`` what an interpreter does about
    reads beyond the end: None, or what `InterpretParams.out_of_bounds_reads` says, ``mesh`` names and sizes of the axes of devices that run it."""

    name: str
    interpret: Any = False
    debug: bool = False
    compiler_params: Any = None
    cost_estimate: Any = None
    metadata: Any = None
    bounds: str | None = None
    mesh: tuple = ()


class Program:
    """A kernel with its grid and operands; it does not change, and programs of equal structure are equal.

    Attributes:
      kernel: closed jaxpr of ``indices, sizes known at run time, references``, without results.
      grid: sizes, None where the size is an operand (those come first).
      scalars: types of the references to scalar operands (those come next).
      inputs, outputs: the `Operand` for each of the others, and for each result.
      scratch: types of references.
      aliases: pairs (number among ``inputs``, number among ``outputs``).
      options: what else the call was given.
    """

    __slots__ = ("kernel", "grid", "scalars", "inputs", "outputs", "scratch", "aliases", "options", "_key")

    def __init__(self, kernel: ClosedJaxpr, grid: tuple, scalars: tuple, inputs: tuple, outputs: tuple, scratch: tuple, aliases: tuple,
                 options: Options):
        self.kernel, self.grid, self.scalars, self.inputs, self.outputs = kernel, grid, scalars, inputs, outputs
        self.scratch, self.aliases, self.options = scratch, aliases, options
        self._key: tuple | None = None

    def replace(self, **changes: Any) -> Program:
        """This program with some fields replaced."""
        fields = {n: getattr(self, n) for n in self.__slots__ if n != "_key"}
        return Program(**{**fields, **changes})

    def key(self) -> tuple:
        if self._key is None:
            self._key = (structure_key(self.kernel), self.grid, self.scalars, tuple(o.key() for o in self.inputs),
                         tuple(o.key() for o in self.outputs), self.scratch, self.aliases, self.options)
        return self._key

    def __eq__(self, other):
        return self is other or type(other) is Program and self.key() == other.key()

    def __hash__(self):
        return hash(self.key())

    @property
    def dynamic(self) -> int:
        """How many sizes of the grid are operands."""
        return sum(n is None for n in self.grid)

    @property
    def steps(self) -> int | None:
        """How many steps there are, None if known at run time only."""
        return None if self.dynamic else math.prod(self.grid)

    @property
    def arguments(self) -> int:
        """How many inputs of the kernel are no references."""
        return len(self.grid) + self.dynamic

    @property
    def out_avals(self) -> list:
        return [o.aval for o in self.outputs]

    def batched(self, size: int, mapped: Sequence[bool]) -> Program:
        """The program with one more grid axis in front; ``mapped`` says which ``inputs`` have it as their first."""
        jaxpr = self.kernel.jaxpr
        kernel = ClosedJaxpr(jaxpr.replace(invars=[Var(INDEX), *jaxpr.invars]), ())
        return self.replace(kernel=kernel, grid=(size, *self.grid), inputs=tuple(o.batched(size, m) for o, m in zip(self.inputs, mapped)),
                            outputs=tuple(o.batched(size, True) for o in self.outputs))

    def __repr__(self):
        lines = [f"grid {self.grid}", *map(repr, self.inputs), *map(repr, self.outputs), *(f"scratch {r}" for r in self.scratch),
                 *(f"{self.inputs[i].name} is {self.outputs[o].name}" for i, o in self.aliases), repr(self.kernel.jaxpr)]
        return "{ " + f"{self.options.name}: " + "; ".join(lines) + " }"


def trace_kernel(where: str, kernel: Callable, grid: tuple, names: Sequence[AxisName | None], refs: object, keywords: object, dynamic: int) -> Jaxpr:
    """The jaxpr of ``kernel``; ``refs`` and ``keywords`` are the pytrees of types of its arguments, ``names`` those of the grid's axes, or None."""
    leaves, structure = tree.flatten((refs, keywords))
    rank = len(grid)

    def flat(*args):
        ids, rest = args[:rank], iter(args[rank:rank + dynamic])
        sizes = [next(rest) if n is None else n for n in grid]
        named_axes = [GridAxis(name, n, i) for name, n, i in zip(names, sizes, ids) if name is not None]
        with stepping(ids, sizes), context.with_axes(*named_axes) if named_axes else contextlib.nullcontext():
            given, named = tree.unflatten(structure, args[rank + dynamic:])
            result = kernel(*given, **named)
        if result is not None:
            raise ValueError(f"{where}: the kernel {describe_function(kernel)} must return None, and returned a value of structure "
                             f"{tree.structure(result)}; results are stored in the references of its last arguments, out[...] = value.")
        return []
    jaxpr, consts, _ = trace_to_jaxpr(flat, [INDEX] * (rank + dynamic) + leaves, DebugInfo("pallas_call", describe_function(kernel)))
    jaxpr, consts = with_scalars(jaxpr, consts)
    if consts:
        raise ValueError(f"{where}: the kernel {describe_function(kernel)} closes over arrays ("
                         f"{', '.join(get_aval(c).str_short() for c in consts)}); pass them as operands.")
    return jaxpr
