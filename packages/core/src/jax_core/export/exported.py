"""Programs that outlive their process: export lowers a jitted function, `Exported` can be stored, loaded and called.

An exported program holds one StableHLO module for each platform it was lowered for, and the types and structures of its
arguments and results; nothing of the Python function. A call is one equation, `call_exported`; lowering writes the
module's functions into the caller's module.

Left aside: one module for all platforms, which chooses between them while it runs. Modules of their own are those that
`jit` would compile there.
"""
from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Callable, Sequence

from .. import backends
from ..compat.fields import Fields
from ..configuration.flags import mesh_in_context, write_public_formats
from ..representation import partial_sums, splits, tree
from ..representation.aval import ShapedArray, get_aval
from ..representation.dtypes import ExtendedDType, extended_dtype_named
from ..representation.memory import Space
from ..representation.primitive import Primitive, Zero, none
from ..traces.structural import instantiate
from ..transformations.custom_vjp import custom_vjp
from . import container, public_format, solving, symbolic_shapes, symbols

if TYPE_CHECKING:
    from ..representation.tree import PyTreeDef

minimum_supported_calling_convention_version = 9
maximum_supported_calling_convention_version = 10


class DisabledSafetyCheck:
    """Names a check that `export` and calls of the result leave out."""

    def __init__(self, _impl: str):
        self._impl = _impl

    @classmethod
    def platform(cls) -> "DisabledSafetyCheck":
        """Allow calls on platforms that the program was not exported for."""
        return cls("platform")

    @classmethod
    def custom_call(cls, target_name: str) -> "DisabledSafetyCheck":
        """Allow the custom call ``target_name``, or each for ``"ALL"``, although nobody promises that it will mean the same tomorrow."""
        return cls(f"custom_call:{target_name}")

    def is_custom_call(self) -> str | None:
        """The target, if this is about a custom call."""
        kind, _, target = self._impl.partition(":")
        return target if kind == "custom_call" else None

    def __eq__(self, other):
        return isinstance(other, DisabledSafetyCheck) and self._impl == other._impl

    def __hash__(self):
        return hash(self._impl)

    def __repr__(self):
        return self._impl


class Exported:
    """An exported program. Made by `export` and `deserialize`.

    Attributes:
      fun_name: of the function, for messages.
      in_tree, in_avals: structure of ``(args, kwargs)``, types of its leaves; shapes may be symbolic.
      out_tree, out_avals: of the result.
      nr_devices: how many devices it runs on.
      platforms: names of the platforms it was lowered for.
      ordered_effects, unordered_effects: none.
      disabled_safety_checks: checks that calls leave out.
      calling_convention_version: version of this contract.
      module_kept_var_idx: which leaves of the arguments the modules take.
      uses_global_constants: whether what runs depends on the platform or on symbolic dimensions, and not on the arguments alone.
      modules: for each platform the StableHLO text, or for symbolic shapes a `templates.Module` of it, or a
        `public_format.OpenModule`.

    >>> from jax import export
    >>> exported = export.export(jax.jit(jnp.sin))(jax.ShapeDtypeStruct((2,), jnp.float32))
    >>> exported.in_avals, exported.platforms
    ((ShapedArray(float32[2]),), ('cpu',))
    >>> exported.call(jnp.zeros(2))
    Array([0., 0.], dtype=float32)
    """

    fun_name: str
    in_tree: Any
    in_avals: tuple
    out_tree: Any
    out_avals: tuple
    nr_devices: int
    platforms: tuple[str, ...]
    disabled_safety_checks: tuple
    calling_convention_version: int
    module_kept_var_idx: tuple[int, ...]
    ordered_effects: tuple = ()
    unordered_effects: tuple = ()
    __dataclass_fields__ = Fields(
        "fun_name", "in_tree", "in_avals", "out_tree", "out_avals", "platforms", "disabled_safety_checks", "modules", "module_kept_var_idx",
        "calling_convention_version", "_get_vjp", "nr_devices", "_in_placements", "_out_placements", "_calls_such")

    def __init__(self, fun_name: str, in_tree: PyTreeDef, in_avals: Sequence[ShapedArray], out_tree: PyTreeDef,
                 out_avals: Sequence[ShapedArray], platforms: Sequence[str],
                 disabled_safety_checks: Sequence[DisabledSafetyCheck], modules: dict,
                 module_kept_var_idx: Sequence[int],
                 calling_convention_version: int = maximum_supported_calling_convention_version,
                 _get_vjp: Callable[["Exported"], "Exported"] | None = None, nr_devices: int = 1,
                 _in_placements: Sequence[dict | None] | None = None,
                 _out_placements: Sequence[dict | None] | None = None, _calls_such: bool = False):
        self.fun_name, self.in_tree, self.out_tree = fun_name, in_tree, out_tree
        self.in_avals, self.out_avals = tuple(in_avals), tuple(out_avals)
        self.platforms, self.disabled_safety_checks = tuple(platforms), tuple(disabled_safety_checks)
        self.modules, self.module_kept_var_idx = modules, tuple(module_kept_var_idx)
        self.calling_convention_version, self._get_vjp = calling_convention_version, _get_vjp
        self.nr_devices, self._calls_such = nr_devices, _calls_such
        self._in_placements = tuple(_in_placements or (None,) * len(self.in_avals))
        self._out_placements = tuple(_out_placements or (None,) * len(self.out_avals))

    def __repr__(self):
        return f"Exported(fun_name={self.fun_name}, in_avals={self.in_avals}, out_avals={self.out_avals}, platforms={self.platforms})"

    @property
    def symbolic(self) -> bool:
        """Whether a shape among the arguments is symbolic."""
        return any(symbols.is_symbolic_dim(d) for a in self.in_avals for d in a.shape)

    @property
    def uses_global_constants(self) -> bool:
        """Whether what runs depends on the platform or on symbolic dimensions, and not on the arguments alone."""
        return len(self.platforms) > 1 or self.symbolic or self._calls_such

    def mlir_module(self, serialized: bool = True) -> str:
        """The StableHLO module of the first platform; where shapes are symbolic, the template of it."""
        return str(self.modules[self.platforms[0]])

    @property
    def mlir_module_serialized(self) -> bytes:
        """The same as a portable artifact (or, of a template, as its text)."""
        module = self.modules[self.platforms[0]]
        if isinstance(module, public_format.OpenModule):
            return module.artifact
        return backends.get().exporting.portable_artifact(module) if isinstance(module, str) else str(module).encode()

    @property
    def in_shardings_hlo(self) -> tuple:
        """Placements of the arguments' leaves as XLA has them; None where none is asked for."""
        return tuple(backends.get().placements.in_hlo(p, len(a.shape)) for p, a in zip(self._in_placements, self.in_avals))

    @property
    def out_shardings_hlo(self) -> tuple:
        """Placements of the results' leaves."""
        return tuple(backends.get().placements.in_hlo(p, len(a.shape)) for p, a in zip(self._out_placements, self.out_avals))

    def in_shardings_jax(self, mesh: object | None = None) -> tuple:
        """Placements of the arguments' leaves on ``mesh``, whose axes must have the names that they had; None where none is asked for."""
        known = backends.get().placements
        return tuple(known.on_mesh(known.in_host_memory(a.ndim) if p is None and a.memory_space is Space.Host else p, mesh)
                     for a, p in zip(self.in_avals, self._in_placements))

    def out_shardings_jax(self, mesh: object) -> tuple:
        """Placements of the results' leaves on ``mesh``."""
        return tuple(backends.get().placements.on_mesh(p, mesh) for p in self._out_placements)

    def has_vjp(self) -> bool:
        """Whether the program can be differentiated (in reverse mode)."""
        return self._get_vjp is not None

    def vjp(self) -> "Exported":
        """The program from the flat arguments and the cotangents of all results to those of all arguments.

        Cotangents of what is neither floating nor complex are of dtype float0.

        Raises:
          ValueError: it was serialized without.
        """
        if self._get_vjp is None:
            raise ValueError("No VJP is available: the program was serialized without derivatives; serialize(vjp_order=1) keeps one")
        return self._get_vjp(self)

    def serialize(self, vjp_order: int = 0) -> bytearray:
        """The program as bytes, for `deserialize`: in a format of this system, or with ``jax_write_public_formats``, and of programs
        that were loaded from it, in that of the public jax, which needs the package `flatbuffers`.

        Args:
          vjp_order: how often the loaded program can be differentiated.

        Raises:
          ValueError: a node of the arguments' or results' structure is of a type that was not registered for this.
          NotImplementedError: the format of the public jax is asked for, and shapes are symbolic.
        """
        public = write_public_formats.value or any(isinstance(m, public_format.OpenModule) for m in self.modules.values())
        return bytearray((public_format.write if public else container.write)(self, vjp_order))

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Call the program, also inside `jit` and under reverse-mode differentiation.

        Raises:
          ValueError: structure, shape or dtype of an argument differs from what was exported, or the platform does.
          NotImplementedError: under `vmap`.
        """
        flat, in_tree = tree.flatten((args, kwargs))
        if in_tree != self.in_tree:
            raise ValueError(f"call of the exported {self.fun_name!r}: the arguments form {in_tree}, but it was exported for "
                             f"{self.in_tree}; nest them as then, or export it anew")
        paths = [path for path, _ in tree.flatten_with_path((args, kwargs))[0]]
        avals: list[Any] = [get_aval(x) for x in flat]
        for path, want, have in zip(paths, self.in_avals, avals):
            if not _same_dtype(want.dtype, have.dtype):
                raise ValueError(f"Dtype mismatch for {_argument(path)}: expected {want.dtype} and called with {have.dtype}")
        solving.solve(self.in_avals, avals, [_argument(p) for p in paths])
        return tree.unflatten(self.out_tree, self._differentiable(*flat))

    @functools.cached_property
    def _differentiable(self) -> Callable:
        """The program on leaves, with its VJP."""
        def forward(*leaves):
            return call_exported_p.bind(*leaves, exported=self)

        def backward(leaves, cotangents):
            return tuple(self.vjp()._differentiable(*leaves, *[instantiate(ct) if isinstance(ct, Zero) else ct for ct in cotangents]))
        fun: Any = custom_vjp(forward)
        fun.defvjp(lambda *leaves: (fun(*leaves), leaves), backward)
        fun.__name__ = self.fun_name
        return fun

    def module_for(self, platform: str, in_avals: Sequence[ShapedArray]) -> str:
        """The module to run on ``platform`` for arguments of these types.

        Raises:
          ValueError: there is none for the platform.
        """
        module = self.modules.get(platform)
        if module is None:
            if DisabledSafetyCheck.platform() not in self.disabled_safety_checks:
                raise ValueError(f"Function '{self.fun_name}' was exported for platforms '{self.platforms}' but it is used on "
                                 f"'{(platform,)}'. Export it with platforms=[...] that include '{platform}'.")
            module = self.modules[self.platforms[0]]
        return module if isinstance(module, str) else module.fill(solving.solve(self.in_avals, in_avals))


def _same_dtype(a: Any, b: Any) -> bool:
    """Dtypes of keys go by their names, as a loaded program may not know more of them."""
    return a == b or isinstance(a, ExtendedDType) and isinstance(b, ExtendedDType) and a.name == b.name


def _argument(path: tuple) -> str:
    """``args[0]['x']`` or ``kwargs['y']`` for the path of a leaf in ``(args, kwargs)``."""
    return ("args", "kwargs")[path[0].idx] + tree.keystr(path[1:])


# -- the primitive -----------------------------------------------------------------------------------------------------------

def _call_type(*avals, exported):
    values = solving.solve(exported.in_avals, avals) if exported.symbolic else {}
    mesh = next((a.placement.mesh for a in avals if a.placement is not None), None)
    return tuple(ShapedArray(symbolic_shapes.evaluate_shape(a.shape, values), _known_dtype(a.dtype), a.weak_type, sharding=_on(a.placement, mesh),
                             memory_space=a.memory_space)
                 for a in exported.out_avals)


def _on(placement: Any, mesh: Any) -> Any:
    """The placement in the type of a result, on the mesh that the types of the arguments name, where that has its axes.

    None where neither they nor a mesh in use name one: then the program says where its results are, and their types do not.
    """
    if placement is None or mesh is None and mesh_in_context.value is None:
        return None
    return placement.update(mesh=mesh) if mesh is not None and mesh.shape_tuple == placement.mesh.shape_tuple else placement


def _known_dtype(dtype: Any) -> Any:
    """The dtype itself; for keys, that of the package that makes them.

    Raises:
      ValueError: the package is not loaded.
    """
    if not isinstance(dtype, ExtendedDType):
        return dtype
    known = extended_dtype_named(dtype.name)
    if known is None:
        raise ValueError(f"Exported.call: the program returns random keys of type {dtype.name}, which no package that is loaded knows; "
                         "import jax.random, and register the implementation if it is your own.")
    return known


def _call_lower(b, *xs, exported):
    module = exported.module_for(b.platform, [x.aval for x in xs])
    if exported.nr_devices > 1:
        xs = [_placed(b, exported, x, p) for x, p in zip(xs, exported._in_placements)]
    outs = b.call_module(exported.fun_name, module, *[b.physical(xs[i]) for i in exported.module_kept_var_idx])
    if exported.nr_devices > 1:
        outs = [_placed(b, exported, x, p) for x, p in zip(outs, exported._out_placements)]
    return outs


def _placed(b, exported, x, placement):
    if placement is None:
        return x
    try:
        return b.sharding_constraint(x, backends.get().placements.on_devices(placement), anywhere=True)
    except ValueError as error:
        raise ValueError(f"Function '{exported.fun_name}' was {error}.") from None


_NO_RULE = none("an exported program is called through Exported.call, which knows its VJP")
call_exported_p = Primitive(
    "call_exported", multiple_results=True, cacheable=False, out_type=_call_type, jvp=_NO_RULE, transpose=_NO_RULE,
    batch=none("Exported.call cannot be vmapped: the program is compiled for its shapes. Apply vmap before export, or use lax.map."),
    lower=_call_lower, splits=splits.as_told, sums=partial_sums.of_target,
    lowers_keys=True)
