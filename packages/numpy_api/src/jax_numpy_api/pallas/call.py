"""`pallas_call`: a kernel on references, run once for each step of a grid, as a function of arrays.

One primitive holds the kernel's program. It is interpreted, or compiled by who fills `extension_points.kernel_compiler`;
``vmap`` adds a grid axis in front, and a forward derivative is a kernel on twice as many references. A kernel has no
transpose, as steps overwrite what others stored: reverse mode needs a rule (`jax.custom_vjp`).
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Mapping

import numpy as np

from jax_core.configuration import context, engine
from jax_core.extension_points import kernel_compiler
from jax_core.references.primitives import RefTangent, strong
from jax_core.representation import tree
from jax_core.representation.aval import AbstractRef, ShapedArray, get_aval
from jax_core.representation.effects import LocalRefEffect, NamedAxisEffect, RefEffect
from jax_core.representation.jaxpr import ClosedJaxpr, DebugInfo, eval_jaxpr
from jax_core.representation.primitive import Primitive, Zero, none
from jax_core.representation.source import describe_function
from jax_core.representation.tracebacks import api_boundary
from jax_core.representation.typing import PyTree
from jax_core.traces.staging import trace_to_jaxpr
from jax_core.traces.structural import broadcast_in_dim, instantiate, moved
from jax_core.transformations import manual
from jax_core.transformations.forward import has_tangent, jvp_flat

from ..lax.control_flow.common import leaf_avals, run_eagerly
from ..lax.control_flow.map import map_flat
from . import interpreter
from .bounds import check_memory
from .grid import INDEX, Operand, Options, Program, operand, trace_kernel, with_scalars
from .hidden import traced
from .mode import forced_interpretation, interpreting
from .spaces import ref_type
from .specs import BlockSpec, CostEstimate, GridSpec, InterpretParams, frozen, no_block_spec

if TYPE_CHECKING:
    from jax_core.representation.typing import ArrayLike

    from .specs import CompilerParams


# -- the primitive -------------------------------------------------------------------------------------------------------

def _effects(*avals, program):
    return frozenset(e for e in program.kernel.effects if not isinstance(e, (RefEffect, LocalRefEffect)))


def _axes(program):
    """The mesh axes, of a checked manual region, that the kernel asks its place on; its results vary over them."""
    names = [e.name for e in program.kernel.effects if type(e) is NamedAxisEffect]
    return frozenset().union(*map(manual.axis_of, names))


def _types(*avals, program):
    axes = _axes(program)
    return [a.update(vma=axes) for a in program.out_avals] if axes else program.out_avals


def _agree(args, params):
    """Operands vary over all axes that one of them, or the kernel itself, varies over."""
    joint = _axes(params["program"]).union(*map(manual.varying, args))
    return manual.vary_to(args, [joint] * len(args)), params


def _lower(b, *values, program):
    if program.options.interpret:
        return b.jaxpr(_interpreted(program, [ShapedArray(x.aval.shape, x.aval.dtype) for x in values]), *values)
    if b.platform == "cpu":
        raise ValueError(f"pallas_call {program.options.name}: kernels are not compiled for the CPU (Only interpret mode is supported on "
                         "CPU backend). Pass interpret=True, which runs the kernel step by step on any platform.")
    return kernel_compiler.get()(b, program, values)


def _interpreted(program: Program, avals: list) -> ClosedJaxpr:
    """The loop over the program's grid, on arrays whose placement the compiler chooses."""
    def make():
        jaxpr, consts, _ = trace_to_jaxpr(lambda *operands: interpreter.run(program, *operands), avals)
        return ClosedJaxpr(jaxpr, consts)
    return program.kernel.memo(("interpreted", program.key(), tuple(avals), engine.trace_key()), make)


def _jvp(primals, tangents, *, program):
    flags = [not isinstance(t, Zero) for t in tangents]
    first = program.dynamic + len(program.scalars)
    for i, _ in program.aliases:  # the tangent of a result in the memory of an operand starts in that of its tangent
        flags[first + i] = flags[first + i] or has_tangent(program.inputs[i].aval)
    doubled = _jvp_program(program, tuple(flags[first:]))
    given = [instantiate(t) for t, f in zip(tangents[first:], flags[first:]) if f]
    outs = pallas_call_p.bind(*primals, *given, program=doubled)
    n, rest = len(program.outputs), iter(outs[len(program.outputs):])
    return outs[:n], [next(rest) if has_tangent(x) else Zero(x) for x in program.out_avals]


def _jvp_program(program: Program, nonzero: tuple[bool, ...]) -> Program:
    return program.kernel.memo(("pallas jvp", nonzero, program.key()), lambda: _make_jvp_program(program, nonzero))


def _make_jvp_program(program, nonzero):
    kernel, arguments, scalars = program.kernel, program.arguments, len(program.scalars)
    groups = [list(nonzero), [has_tangent(o.aval) for o in program.outputs], [has_tangent(r.inner_aval) for r in program.scratch]]
    refs = [[o.ref for o in program.inputs], [o.ref for o in program.outputs], list(program.scratch)]
    types = [[*group, *(r for r, f in zip(group, flags) if f)] for group, flags in zip(refs, groups)]

    def run(*args):
        plain, rest = list(args[:arguments + scalars]), iter(args[arguments + scalars:])
        primals, tangents = list(plain), [Zero.of(x) for x in plain]
        for group, flags in zip(refs, groups):
            primals += [next(rest) for _ in group]
            tangents += [RefTangent(next(rest)) if f else Zero(r.to_tangent_aval()) for r, f in zip(group, flags)]
        jvp_flat(lambda *xs: eval_jaxpr(kernel.jaxpr, kernel.consts, *xs), primals, tangents)
        return []
    avals = [INDEX] * arguments + list(program.scalars) + [r for group in types for r in group]
    jaxpr, consts, _ = trace_to_jaxpr(run, avals, DebugInfo("jvp of pallas_call", program.options.name))
    jaxpr, consts = with_scalars(jaxpr, consts)  # which a rule is called with, as those of functions with rules of their own are
    tangent_of = lambda o: Operand(o.aval, o.block, o.index_map, o.memory_space, o.pipeline_mode, "tangent of " + o.name)
    inputs = [*program.inputs, *(tangent_of(o) for o, f in zip(program.inputs, nonzero) if f)]
    outputs = [*program.outputs, *(tangent_of(o) for o, f in zip(program.outputs, groups[1]) if f)]
    place = lambda flags, i: len(flags) + sum(flags[:i])
    aliases = [*program.aliases, *((place(nonzero, i), place(groups[1], o)) for i, o in program.aliases if groups[1][o])]
    return program.replace(kernel=ClosedJaxpr(jaxpr, consts), inputs=tuple(inputs), outputs=tuple(outputs), scratch=tuple(types[2]),
                           aliases=tuple(aliases), options=program.options._replace(name="jvp_" + program.options.name))


def _linearize(primals, tangents, *, program):
    raise ValueError(f"pallas_call {program.options.name}: a kernel has no reverse derivative, as its steps overwrite what others stored. "
                     "Give the function around it one, by jax.custom_vjp; forward derivatives (jax.jvp) work without.")


def _batch(axis, args, dims, *, program):
    first = program.dynamic + len(program.scalars)
    if any(d is not None for d in dims[:first]):  # each lane has its own sizes or index maps: one after the other
        return _one_by_one(args, dims, program)
    mapped = [d is not None for d in dims[first:]]
    args = [moved(x, d, 0) if d is not None else x for x, d in zip(args, dims)]
    for i, _ in program.aliases:
        if not mapped[i]:
            x = args[first + i]
            args[first + i] = broadcast_in_dim(x, (axis.size, *np.shape(x)), tuple(range(1, np.ndim(x) + 1)))
            mapped[i] = True
    return pallas_call_p.bind(*args, program=program.batched(axis.size, mapped)), [0] * len(program.outputs)


def _one_by_one(args, dims, program):
    lanes = [moved(x, d, 0) for x, d in zip(args, dims) if d is not None]

    def lane(*xs):
        given = iter(xs)
        return pallas_call_p.bind(*(x if d is None else next(given) for x, d in zip(args, dims)), program=program)
    return map_flat(lane, lanes), [0] * len(program.outputs)


pallas_call_p: Primitive = Primitive(
    "pallas_call", multiple_results=True, out_type=_types, effects=_effects, jvp=_jvp, agree=_agree, cacheable=False,
    linearize=_linearize, transpose=none("a kernel has no transpose; give the function around it a rule by jax.custom_vjp"),
    batch=_batch, lower=_lower, impl=lambda *args, **params: run_eagerly(pallas_call_p, args, params))


# -- the function --------------------------------------------------------------------------------------------------------

@api_boundary
def pallas_call(kernel: Callable[..., None], out_shape: PyTree, *, grid_spec: GridSpec | None = None,
                grid: int | tuple[ArrayLike, ...] = (), in_specs: PyTree = no_block_spec, out_specs: PyTree = no_block_spec,
                scratch_shapes: PyTree = (), input_output_aliases: Mapping[int, int] = {}, debug: bool = False,
                interpret: bool | InterpretParams = False, name: str | None = None,
                compiler_params: CompilerParams | dict | None = None, cost_estimate: CostEstimate | None = None,
                backend: str | None = None, metadata: Mapping[str, str] | None = None) -> Callable[..., Any]:
    """A function of arrays that runs ``kernel`` once for each step of a grid.

    Args:
      kernel: gets references: to scalar operands (`PrefetchScalarGridSpec`), to this step's blocks of the operands and of the
        results, to scratch memory. It reads ``x[...]`` and stores ``out[...] = value``, and returns None.
      out_shape: pytree of `jax.ShapeDtypeStruct`, or of arrays: types of the results. A tuple (or list) is one argument of the kernel
        for each.
      grid: sizes; the last axis changes fastest. A size may be traced. `program_id` tells the step. A pair ``(name, size)`` makes the axis
        a named one inside the kernel.
      in_specs, out_specs: a `BlockSpec` for each operand and result; by default they are not cut.
      scratch_shapes: sequence of memory (``pltpu.VMEM(shape, dtype)``) that the kernel keeps from step to step.
      grid_spec: the four in one, in place of them.
      input_output_aliases: from numbers of operands (leaves, scalars counted) to numbers of results that live in the same memory.
      debug: print the kernel's program.
      interpret: run the kernel by a loop over the grid on arrays, on any platform; also `pltpu.InterpretParams`. The CPU has no other way.
      name: for messages and profiles; by default the kernel's.
      compiler_params: ``pltpu.CompilerParams`` or ``triton.CompilerParams``.
      cost_estimate, metadata: for the compiler; the results do not depend on them.

    Returns:
      a function of arrays (and pytrees of them) that returns arrays like ``out_shape``. What no step stores is not specified; the
      interpreter has NaN there. It can be jitted, mapped by ``vmap`` and differentiated forwards; for reverse mode wrap it in `jax.custom_vjp`.

    Raises:
      ValueError: specs that do not fit operands or results, a kernel or index map that closes over arrays, a value stored in a
        reference of another shape or dtype; ``dimension_semantics`` for another number of axes than the grid has; reverse mode;
        the CPU without ``interpret``. TypeError: an index map that takes another
        number of arguments.

    >>> from jax.experimental import pallas as pl
    >>> def kernel(x, out):
    ...     out[...] = 2 * x[...]
    >>> double = pl.pallas_call(kernel, jax.ShapeDtypeStruct((6,), jnp.float32), grid=3, interpret=True,
    ...                         in_specs=[pl.BlockSpec((2,), lambda i: i)], out_specs=pl.BlockSpec((2,), lambda i: i))
    >>> double(jnp.arange(6.))
    Array([ 0.,  2.,  4.,  6.,  8., 10.], dtype=float32)
    """
    name = name or getattr(kernel, "__name__", None) or describe_function(kernel).split(" ")[0]
    where = f"pallas_call {name}"
    if grid_spec is None:
        grid_spec = GridSpec(grid, in_specs, out_specs, scratch_shapes)
    elif grid not in ((), None) or in_specs is not no_block_spec or out_specs is not no_block_spec or scratch_shapes not in ((), []):
        raise ValueError(f"{where}: grid_spec holds grid, in_specs, out_specs and scratch_shapes; give either it or them.")
    names, lengths = _named(grid_spec.grid)
    sizes = _check_grid(where, lengths)
    out_shape = tuple(out_shape) if isinstance(out_shape, list) else out_shape
    results, out_tree = tree.flatten(out_shape)
    results = [_result_type(where, x) for x in results]
    interpret = interpret or forced_interpretation.value
    semantics = getattr(compiler_params, "dimension_semantics", None)
    if not interpret and semantics is not None and len(semantics) != len(sizes):
        raise ValueError(f"{where}: dimension_semantics has {len(semantics)} entries, and the grid {len(sizes)} axes; give one for each axis.")
    options = Options(name, interpret, bool(debug), compiler_params, cost_estimate, frozen(metadata))
    traced_before: dict[Any, Program] = {}

    @api_boundary
    def call(*args: Any) -> Any:
        alone = not context.state.axes  # among devices none can stop the others
        asked = options
        if isinstance(interpret, InterpretParams):
            asked = options._replace(bounds=interpret.out_of_bounds_reads if alone else None, mesh=manual.axes_in_scope())
        with manual.unchecked():
            program, operands = _program(where, kernel, grid_spec, sizes, args, out_shape, out_tree, results, input_output_aliases, asked, names,
                                         traced_before)
        if isinstance(interpret, InterpretParams):
            check_memory(where, program.kernel.jaxpr)
        if debug:
            print(program)
        return tree.unflatten(out_tree, pallas_call_p.bind(*operands, program=program))
    return call


def _named(grid: tuple) -> tuple[list, tuple]:
    """The names of the axes, None where there is none, and the sizes."""
    named = [n if isinstance(n, tuple) and len(n) == 2 else (None, n) for n in grid]
    return [name for name, _ in named], tuple(n for _, n in named)


def _check_grid(where, grid):
    for n in grid:
        if isinstance(n, (int, np.integer)) and not isinstance(n, bool):
            continue
        try:
            aval = get_aval(n)
        except TypeError:
            aval = None
        if aval is None or aval.shape != () or not np.issubdtype(aval.dtype, np.integer) or isinstance(n, bool):
            raise ValueError(f"{where}: the grid {grid} has {n!r} of type {type(n).__name__}; a size is an integer or an integer scalar.")
    return tuple(max(int(n), 0) if isinstance(n, (int, np.integer)) else n for n in grid)


def _result_type(where, x) -> ShapedArray:
    if isinstance(x, ShapedArray):
        return x.strip_weak_type()
    if not (hasattr(x, "shape") and hasattr(x, "dtype")):
        raise ValueError(f"{where}: out_shape has {x!r} of type {type(x).__name__}, which has no shape and dtype; "
                         "use jax.ShapeDtypeStruct(shape, dtype).")
    return ShapedArray(tuple(x.shape), np.dtype(x.dtype))


def _specs(where: str, argument: str, other: str, specs: Any, full: Any, count: int) -> list:
    """A spec for each leaf of ``full``."""
    if specs is no_block_spec or specs is None:
        return [no_block_spec] * count
    specs = tuple(specs) if isinstance(specs, list) else specs
    is_spec = lambda x: isinstance(x, BlockSpec) or x is no_block_spec or x is None
    problems = list(tree.prefix_mismatches(specs, full, argument, other, is_leaf=is_spec))
    if problems:
        raise ValueError(f"{where}: {argument} must have the structure of {other}. " + " ".join(problems))
    found = tree.broadcast_prefix(specs, full, is_leaf=is_spec)
    return [no_block_spec if s is None else s for s in found]


def _program(where, kernel, spec, sizes, args, out_shape, out_tree, results, aliases, options, axis_names=None, known=None):
    """The program of one call, and the flat operands; ``known``: programs of calls before, of the same kernel and specs."""
    dynamic = [n for n in sizes if not isinstance(n, int)]
    grid = tuple(n if isinstance(n, int) else None for n in sizes)
    count = spec.num_scalar_prefetch
    if count > len(args):
        raise ValueError(f"{where}: the grid has {count} scalar operands, and {len(args)} operands were given.")
    flat, structure = tree.flatten(args)
    avals = [a if type(a) is AbstractRef else ShapedArray(a.shape, a.dtype) for a in leaf_avals(where, "args", args, flat)]
    if any(type(a) is AbstractRef for a in avals):
        raise TypeError(f"{where}: an operand is a mutable reference; pass its contents, ref[...].")
    operands = [*(_int32(n) for n in dynamic), *map(strong, flat)]
    key = None if known is None or context.state.axes else (structure, tuple(avals), options.bounds, engine.trace_key())
    if key is not None and key in known:
        return known[key], operands
    scalar_leaves = len(tree.leaves(args[:count]))
    scalar_refs = tuple(AbstractRef(a) for a in avals[:scalar_leaves])
    in_specs = _specs(where, "in_specs", "the operands", spec.in_specs, args[count:], len(flat) - scalar_leaves)
    out_specs = _specs(where, "out_specs", "out_shape", spec.out_specs, out_shape, len(results))
    names = ["args" + tree.keystr(path) for path, _ in tree.flatten_with_path(args)[0]]
    inputs = tuple(operand(where, n, s, a, grid, scalar_refs)
                   for n, s, a in zip(names[scalar_leaves:], in_specs, avals[scalar_leaves:]))
    out_names = ["out_shape" + tree.keystr(path) for path, _ in tree.flatten_with_path(out_shape)[0]]
    outputs = tuple(operand(where, n, s, a, grid, scalar_refs) for n, s, a in zip(out_names, out_specs, results))
    in_refs = tree.unflatten(structure, [*scalar_refs, *(o.ref for o in inputs)])
    out_refs = tree.unflatten(out_tree, [o.ref for o in outputs])
    scratch, keywords = _scratch(where, spec.scratch_shapes)
    positional = (*in_refs, *(out_refs if isinstance(out_refs, tuple) else (out_refs,)), *scratch)
    sizes_known = tuple(n if isinstance(n, int) else None for n in grid)
    axis_names = axis_names or [None] * len(sizes)
    with interpreting(options.interpret):
        jaxpr, keywords = traced(lambda run, named: trace_kernel(where, run, sizes_known, axis_names, positional, named, len(dynamic)), kernel, keywords)
    memory = tuple(tree.leaves((scratch, keywords)))
    program = Program(ClosedJaxpr(jaxpr, ()), grid, scalar_refs, inputs, outputs, memory,
                      _aliases(where, aliases, scalar_leaves, inputs, outputs), options)
    if key is not None:
        known[key] = program
    return program, operands


def _int32(x: Any) -> Any:
    return np.asarray(x, np.int32)[()] if isinstance(x, (int, np.generic)) else x.astype(np.int32)


def _scratch(where, shapes) -> tuple[tuple, dict]:
    """Types of references for scratch memory, those given by position and those given by name."""
    is_leaf = lambda x: hasattr(x, "get_ref_aval") or hasattr(x, "shape")
    types = tree.tree_map(lambda x: ref_type(where, x), shapes, is_leaf=is_leaf)
    if isinstance(types, Mapping):
        return (), dict(types)
    return (tuple(types), {}) if isinstance(types, (tuple, list)) else ((types,), {})


def _aliases(where, aliases, scalars, inputs, outputs) -> tuple:
    found = []
    for i, o in sorted(dict(aliases).items()):
        if not scalars <= i < scalars + len(inputs) or not 0 <= o < len(outputs):
            raise ValueError(f"{where}: input_output_aliases says {i}: {o}; operands that are no scalars have the numbers {scalars} to "
                             f"{scalars + len(inputs) - 1}, and results 0 to {len(outputs) - 1}.")
        a, b = inputs[i - scalars].aval, outputs[o].aval
        if (a.shape, a.dtype) != (b.shape, b.dtype):
            raise ValueError(f"{where}: input_output_aliases says {i}: {o}, but the operand is {a.str_short()} and the result {b.str_short()}; what "
                             "lives in the same memory has the same type.")
        found.append((i - scalars, o))
    return tuple(found)
