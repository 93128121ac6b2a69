"""`kernel`: a function that runs once on each core of a chip, on whole arrays in main memory.

It is a `pallas_call` whose grid is the cores, and whose operands are not cut. The name of the cores is a named axis inside.
"""
from __future__ import annotations

import dataclasses
import functools
from collections import OrderedDict
from typing import Any, Callable, Mapping, Sequence

import numpy as np

from jax_core.configuration import context
from jax_core.references.api import is_ref
from jax_core.representation import tree
from jax_core.representation.array import Array
from jax_core.representation.aval import ShapedArray, get_aval
from jax_core.representation.jaxpr import eval_jaxpr
from jax_core.representation.tracebacks import api_boundary
from jax_core.representation.typing import PyTree
from jax_core.traces.staging import trace_to_jaxpr

from ..lax.parallel import axis_index
from .call import pallas_call
from .chips import CoreType, cores_of_a_device
from .control import allocate, when
from .grid import INDEX, GridAxis, program_id
from .mode import forced_interpretation, interpreting
from .spaces import ANY
from .specs import BlockSpec, CostEstimate, InterpretParams
from .tpu import PARALLEL, CompilerParams, GridDimensionSemantics


@dataclasses.dataclass(frozen=True, kw_only=True)
class TensorCoreMesh:
    """The tensor cores of a TPU as a named axis.

    Args:
      axis_name: for `lax.axis_index` in the kernel.
      num_cores: how many; by default those of a device.

    >>> from jax.experimental.pallas import tpu as pltpu
    >>> dict(pltpu.TensorCoreMesh(axis_name="core", num_cores=2).shape)
    {'core': 2}
    """

    axis_name: str
    num_cores: int = dataclasses.field(default_factory=cores_of_a_device)

    @property
    def shape(self) -> OrderedDict:
        return OrderedDict({self.axis_name: self.num_cores})

    @property
    def core_type(self) -> CoreType:
        return CoreType.TC

    @property
    def default_memory_space(self) -> Any:
        """Where operands are."""
        return ANY

    @property
    def dimension_semantics(self) -> list[GridDimensionSemantics]:
        """What the compiler is told about the grid."""
        return [PARALLEL]


def create_tensorcore_mesh(axis_name: str, devices: Sequence[Any] | None = None, num_cores: int | None = None) -> TensorCoreMesh:
    """Deprecated spelling of `TensorCoreMesh`; ``devices`` do not matter.

    >>> from jax.experimental.pallas import tpu as pltpu
    >>> pltpu.create_tensorcore_mesh("core", num_cores=2).num_cores
    2
    """
    return TensorCoreMesh(axis_name=axis_name) if num_cores is None else TensorCoreMesh(axis_name=axis_name, num_cores=num_cores)


def _on_cores(mesh: TensorCoreMesh) -> context.Scope:
    return context.with_axes(GridAxis(mesh.axis_name, mesh.num_cores, program_id(0)))


@api_boundary
def kernel(body: Callable[..., None] | None = None, out_type: PyTree = (), *, mesh: TensorCoreMesh | Sequence[TensorCoreMesh],
           scratch_types: PyTree = (), compiler_params: CompilerParams | None = None, interpret: bool | InterpretParams = False,
           cost_estimate: CostEstimate | None = None, debug: bool = False, name: str | None = None,
           metadata: dict[str, str] | None = None) -> Callable[..., Any]:
    """A function of arrays that runs ``body`` on each core of ``mesh``; without ``body`` a decorator.

    Args:
      body: gets references to the operands and the results, whole and in main memory, and to scratch memory. It copies parts of them
        (`pltpu.sync_copy`, `pltpu.emit_pipeline`); ``lax.axis_index(mesh.axis_name)`` tells the core.
      out_type: pytree of `jax.ShapeDtypeStruct`; a tuple or list is one argument for each.
      scratch_types: as ``scratch_shapes`` of `pallas_call`, which explains the others too.

    Returns:
      a function of arrays that returns arrays like ``out_type``. An argument that is a `jax.Ref` is changed by what the body
      stores in it.

    Raises:
      NotImplementedError: several meshes.

    >>> from jax.experimental import pallas as pl
    >>> from jax.experimental.pallas import tpu as pltpu
    >>> cores = pltpu.TensorCoreMesh(axis_name="core", num_cores=2)
    >>> @pl.kernel(out_type=jax.ShapeDtypeStruct((4,), jnp.float32), mesh=cores, interpret=True)
    ... def halves(x, out):
    ...     mine = pl.ds(2 * jax.lax.axis_index("core"), 2)
    ...     pltpu.sync_copy(x.at[mine], out.at[mine])
    >>> halves(jnp.arange(4.))
    Array([0., 1., 2., 3.], dtype=float32)
    """
    options = dict(mesh=mesh, scratch_types=scratch_types, compiler_params=compiler_params, interpret=interpret, cost_estimate=cost_estimate,
                   debug=debug, name=name, metadata=metadata)
    if body is None:
        return lambda body: kernel(body, out_type, **options)  # type: ignore[arg-type]
    if isinstance(mesh, (tuple, list)):
        if len(mesh) != 1 or isinstance(body, (tuple, list)):
            raise NotImplementedError("pl.kernel: kernels on several meshes of cores at once are not implemented; give one mesh and one function.")
        mesh, = mesh
    results = tuple(out_type) if isinstance(out_type, (tuple, list)) else (out_type,)
    params = compiler_params or CompilerParams()
    if params.dimension_semantics is None:
        params = dataclasses.replace(params, dimension_semantics=mesh.dimension_semantics)  # type: ignore[union-attr]

    @api_boundary
    @functools.wraps(body)
    def call(*args: Any) -> Any:
        asked = interpret or forced_interpretation.value
        if isinstance(asked, InterpretParams):  # cores have memory of their own
            asked = dataclasses.replace(asked, num_cores_or_threads=mesh.num_cores)  # type: ignore[union-attr]
        held = [k for k, x in enumerate(args) if is_ref(x)]
        own = tuple(ShapedArray(args[k].shape, args[k].dtype) for k in held)
        first = len(tree.leaves(results))
        aliases = {len(tree.leaves([x if k not in held else 0 for k, x in enumerate(args[:k])])): first + n for n, k in enumerate(held)}

        def on_core(*refs: Any, **named: Any) -> None:
            given, rest = list(refs[:len(args)]), refs[len(args):]
            for k, ref in zip(held, rest[len(results):]):
                given[k] = ref
            with _on_cores(mesh):  # type: ignore[arg-type]
                body(*given, *rest[:len(results)], *rest[len(results) + len(held):], **named)
        whole = BlockSpec(memory_space=ANY)
        outs = pallas_call(on_core, (*results, *own), grid=(mesh.num_cores,), in_specs=whole, out_specs=whole,  # type: ignore[union-attr]
                           scratch_shapes=scratch_types, input_output_aliases=aliases, interpret=asked, cost_estimate=cost_estimate, debug=debug,
                           name=name or getattr(body, "__name__", None), compiler_params=params,
                           metadata=metadata)(*(x[...] if k in held else x for k, x in enumerate(args)))
        for k, x in zip(held, outs[len(results):]):
            args[k][...] = x
        found = outs[:len(results)]
        return type(out_type)(found) if isinstance(out_type, (tuple, list)) else found[0]
    return call


@api_boundary
def core_map(mesh: TensorCoreMesh, *, compiler_params: CompilerParams | None = None, interpret: bool | InterpretParams = False,
             debug: bool = False, cost_estimate: CostEstimate | None = None, name: str | None = None, metadata: dict[str, str] | None = None,
             scratch_shapes: PyTree = ()) -> Callable[[Callable[..., None]], None]:
    """Decorator: run a function at once, on each core of ``mesh``. It works on the references that it closes over.

    Args:
      mesh: the cores; ``lax.axis_index(mesh.axis_name)`` tells which one runs.
      scratch_shapes: memory that the function gets, as in `pallas_call`, which explains the others too.

    Raises:
      ValueError: the function closes over arrays; only references and numbers can be used in it.

    >>> from jax.experimental import pallas as pl
    >>> from jax.experimental.pallas import tpu as pltpu
    >>> def both(refs):
    ...     x_ref, y_ref = refs
    ...     @pl.core_map(pltpu.TensorCoreMesh(axis_name="core", num_cores=2), interpret=True)
    ...     def _():
    ...         mine = pl.ds(2 * jax.lax.axis_index("core"), 2)
    ...         pltpu.sync_copy(x_ref.at[mine], y_ref.at[mine])
    >>> pl.run_state(both)((jnp.arange(4.), jnp.zeros(4)))[1]
    Array([0., 1., 2., 3.], dtype=float32)
    """
    def run(body: Callable[..., None]) -> None:
        called = name or getattr(body, "__name__", None)

        def flat(place: Array) -> list:  # only to find what the function closes over
            with context.with_axes(GridAxis(mesh.axis_name, mesh.num_cores, place)), interpreting(interpret or forced_interpretation.value):
                body(*(new_scratch() for new_scratch in rooms), **{k: new_scratch() for k, new_scratch in named.items()})
            return []
        rooms, named = _rooms(scratch_shapes)
        jaxpr, consts, _ = trace_to_jaxpr(flat, [INDEX])
        held = [k for k, c in enumerate(consts) if is_ref(c)]
        arrays = [c for c in consts if not is_ref(c) and np.shape(c)]
        if arrays:
            raise ValueError(f"pl.core_map: the function closes over arrays ({', '.join(get_aval(c).str_short() for c in arrays)}); put them in references, "
                             "as pl.run_state does, and copy from these.")

        def on_core(*refs: Any) -> None:
            values = list(consts)
            for k, ref in zip(held, refs):
                values[k] = ref
            eval_jaxpr(jaxpr, values, program_id(0))
        kernel(on_core, (), mesh=mesh, compiler_params=compiler_params, interpret=interpret, cost_estimate=cost_estimate, debug=debug, name=called,
               metadata=metadata)(*(consts[k] for k in held))
    return run


def _rooms(shapes: PyTree) -> tuple[list[Callable[[], Any]], dict[str, Callable[[], Any]]]:
    """What makes the references to scratch memory, those given by position and those given by name."""
    maker = lambda what: lambda: allocate("core_map", what)
    if isinstance(shapes, Mapping):
        return [], {k: maker(what) for k, what in shapes.items()}
    return [maker(what) for what in (shapes if isinstance(shapes, (tuple, list)) else (shapes,))], {}


def run_on_first_core(core_axis_name: str) -> Callable[[Callable[[], None]], None]:
    """Decorator: run a function of no arguments on the first core only.

    >>> from jax.experimental import pallas as pl
    >>> from jax.experimental.pallas import tpu as pltpu
    >>> cores = pltpu.TensorCoreMesh(axis_name="core", num_cores=2)
    >>> @pl.kernel(out_type=jax.ShapeDtypeStruct((2,), jnp.float32), mesh=cores, interpret=True)
    ... def copied(x, out):
    ...     @pltpu.run_on_first_core("core")
    ...     def _():
    ...         pltpu.sync_copy(x, out)
    >>> copied(jnp.arange(2.))
    Array([0., 1.], dtype=float32)
    """
    return when(axis_index(core_axis_name) == 0)
