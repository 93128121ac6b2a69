"""The public face of references: the class `Ref` and the functions of `jax.ref`."""
from __future__ import annotations

import math
from typing import Any, Sequence, cast

import numpy as np

from ..extension_points import high_values, reference_operators
from ..representation import dtypes, splits, tree, tree_nodes
from ..representation.array import Array
from ..representation.aval import AbstractRef, AbstractValue, ShapedArray, ShapeDtypeStruct, get_aval, register_value_class
from ..representation.errors import no_array
from ..representation.typing import ArrayLike, DTypeLike, Indexer
from ..traces.structural import convert_element_type_p, reshard
from ..traces.trace import Tracer, escaped
from . import indexing, transforms
from .high_refs import HighRef
from .indexing import ds
from .primitives import LOCAL, EagerCell, RefPrimitive, addupdate_p, free_ref_p, freeze_p, get_p, is_ref, swap_p

__all__ = ["AbstractRef", "Ref", "addupdate", "ds", "empty_ref", "free_ref", "freeze", "get", "new_ref", "set", "swap"]


class _RefMeta(type):
    def __instancecheck__(cls, instance):
        if type.__instancecheck__(cls, instance):
            return True
        return cls is Ref and isinstance(instance, Tracer) and type(instance.aval) is AbstractRef


class _Access:
    """Reading and writing a reference, or a view of one."""

    __slots__ = ()

    def __getitem__(self, index):
        return get(self, index)

    def __setitem__(self, index, value):
        set(self, index, value)

    def addupdate(self: Any, x: ArrayLike, idx: Indexer = ()) -> None:
        """Add ``x`` to the part that ``idx`` names; by default to all of it."""
        addupdate(self, idx, x)

    def get(self: Any, idx: Indexer = ()) -> Any:
        """The part that ``idx`` names; by default all of it."""
        return get(self, idx)

    def set(self: Any, value: ArrayLike, idx: Indexer = ()) -> None:
        """Store ``value`` there."""
        set(self, idx, value)

    def swap(self: Any, value: ArrayLike, idx: Indexer = ()) -> Any:
        """Store ``value`` there, and return what was there."""
        return swap(self, idx, value)


class Ref(_Access, metaclass=_RefMeta):
    """A mutable reference to an array; made by `new_ref`.

    ``ref[...]`` reads it, ``ref[...] = x`` overwrites it, ``ref[i, 1:3] += x`` changes a part. A value that is stored has
    the dtype of the reference and the shape of the part. Inside a traced function a reference is a tracer; it is an
    instance of this class too.

    >>> ref = jax.new_ref(jnp.zeros(3))
    >>> ref[1] += 2.0
    >>> ref[...]
    Array([0., 2., 0.], dtype=float32)
    """
    __module__ = "jax"  # see `Tracer`

    __slots__ = ("_aval", "_cell", "__weakref__")

    def __init__(self, aval: AbstractRef, refs: Any):
        self._aval, self._cell = aval, EagerCell(refs)

    aval = property(lambda self: self._aval, doc="Its type: a reference to an array of some type.")
    shape = property(lambda self: self._aval.shape, doc="Lengths of the axes of the array.")
    dtype = property(lambda self: self._aval.dtype, doc="Dtype of the elements.")
    ndim = property(lambda self: self._aval.ndim, doc="Number of axes.")
    size = property(lambda self: self._aval.size, doc="Number of elements.")
    sharding = property(lambda self: self._cell.value.sharding, doc="Where the array lies.")
    format = property(lambda self: self._cell.value.format, doc="Where the array lies, and in which order it is stored.")
    committed = property(lambda self: self._cell.value.committed, doc="Whether the array was put on its devices by the user.")
    at = property(lambda self: RefAt(self, ()), doc="``ref.at[index]`` is a view of a part, which is a reference too.")

    def __len__(self):
        return len(self._aval)

    def __iter__(self):
        return iter([self[i] for i in range(len(self))])

    def __bool__(self):
        if not self._aval.shape:
            raise TypeError(no_array(self._aval))
        return len(self) > 0

    def __array__(self, *args, **kwargs):
        raise TypeError(no_array(self._aval))

    def unsafe_buffer_pointer(self) -> int:
        """Address of the memory in which the array lies now; the next store may move it."""
        return self._cell.value.unsafe_buffer_pointer()

    def __repr__(self):
        return "Ref" + repr(self._cell.value).removeprefix("Array")


register_value_class(Ref, lambda ref: ref._aval)


class RefAt:
    """``ref.at``; ``ref.at[index]`` is a view of a part."""

    __slots__ = ("ref", "path")

    def __init__(self, ref: Any, path: tuple):
        self.ref, self.path = ref, path

    def __getitem__(self, index):
        return RefView(self.ref, (*self.path, index))

    def __repr__(self):
        return f"RefAt({self.ref!r})"


class RefView(_Access):
    """A part of a reference, or it in another form, which can be read, overwritten and indexed like one.

    Args:
      ref: the reference.
      transforms: how the view comes of it, step by step: indices, and steps of `transforms`.
    """

    __slots__ = ("ref", "path")

    def __init__(self, ref: Any, transforms: tuple):
        self.ref, self.path = ref, transforms

    transforms = property(lambda self: self.path)
    at = property(lambda self: RefAt(self.ref, self.path))
    shape = property(lambda self: _view_shape(self))
    dtype = property(lambda self: next((s.to for s in reversed(self.path) if type(s) is transforms.BitcastTransform), self.ref.dtype))
    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: math.prod(self.shape))
    type = property(lambda self: AbstractRef(ShapedArray(self.shape, self.dtype), self.memory_space))
    memory_space = property(lambda self: get_aval(self.ref).memory_space)
    is_dynamic_size = multiref = False  # lengths are known, and a view is of one reference
    T = property(lambda self: self.transpose(range(self.ndim)[::-1]))

    def transpose(self, permutation: Sequence[int]) -> "RefView":
        """The view with its axes in another order."""
        return self._then(transforms.TransposeTransform(tuple(map(int, permutation))))

    def reshape(self, *shape: int | Sequence[int]) -> "RefView":
        """The view in another shape, of which one length may be -1."""
        lengths = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        return self._then(transforms.ReshapeTransform(tuple(map(int, cast(Any, lengths)))))

    def bitcast(self, dtype: DTypeLike) -> "RefView":
        """The bits of the view as elements of another dtype; of another width, the axis before the last has more or fewer of them.

        Raises:
          NotImplementedError: another width, and fewer than two axes. ValueError: the rows are no whole number of wider elements.
        """
        return self._then(transforms.BitcastTransform(np.dtype(self.dtype), np.dtype(dtype)))

    def _then(self, step: Any) -> "RefView":
        step.shape_of(self.shape)  # which raises where it does not fit
        return RefView(self.ref, (*self.path, step))

    def __repr__(self):
        return f"RefView({self.ref!r}, {self.path})"


def _flatten_view(view: RefView):
    leaves, structure = tree.flatten(view.path)
    moving = [x for x in leaves if hasattr(x, "dtype")]
    static = tuple(None if hasattr(x, "dtype") else (x.start, x.stop, x.step) if type(x) is slice else (x,) for x in leaves)
    return (view.ref, *moving), (structure, static)


def _unflatten_view(aux, children):
    structure, static = aux
    ref, *moving = children
    rest = iter(moving)
    return RefView(ref, tree.unflatten(structure, [next(rest) if x is None else slice(*x) if len(x) == 3 else x[0] for x in static]))


tree_nodes.register_pytree_node(RefView, _flatten_view, _unflatten_view)


def refuse_views(name: str, operands: object) -> None:
    """Raise TypeError where a view is among ``operands``, a pytree of values whose axes ``name`` takes apart."""
    if any(type(x) is RefView for x in tree.leaves(operands, is_leaf=lambda x: type(x) is RefView)):
        raise TypeError(f"{name}: TransformedRefs are not allowed as its arguments, that is views of parts of references; pass the "
                        "reference, and take the part inside the function.")


def _view_shape(view: RefView) -> tuple:
    shape = view.ref.shape
    for step in view.path:
        if type(step) in transforms.KINDS:
            shape = step.shape_of(shape)
            continue
        static, operands = indexing.parse(step, shape)
        shape = indexing.part_shape(shape, static, [get_aval(x) for x in operands])
    return shape


def _read(step: Any, value: Any) -> Any:
    """What one step of a view sees of ``value``."""
    return step.read(value) if type(step) in transforms.KINDS else indexing.read(value, *indexing.parse(step, np.shape(value)))


def _write(step: Any, value: Any, new: Any) -> Any:
    """``value`` with ``new`` as what the step sees of it."""
    return step.write(value, new) if type(step) in transforms.KINDS else indexing.write(value, *indexing.parse(step, np.shape(value)), new)


def _seen(view: RefView, index: Any) -> tuple[Any, list, list]:
    """The index of the part that has to be read for a part of a view, the steps from there, and what is seen after each."""
    first, *steps = ((), *view.path, index) if type(view.path[0]) in transforms.KINDS else (*view.path, index)
    held = [get(view.ref, first)]
    for step in steps:
        held.append(_read(step, held[-1]))
    return first, steps, held


def _change_view(view: RefView, index: Any, value: Any, change: Any) -> Any:
    """Read the part that the view's first index names, change what is inside it, store it; returns what was there."""
    first, steps, held = _seen(view, index)
    new = change(held[-1], value)
    for step, outer in zip(reversed(steps), reversed(held[:-1])):
        new = _write(step, outer, new)
    set(view.ref, first, new)
    return held[-1]


# -- the primitives that make references -------------------------------------------------------------------------------

def _new_type(init, *, memory_space, kind, pin):
    if type(init) is AbstractRef:
        raise TypeError(f"new_ref: the initial value is itself a reference of type {init}; pass its contents, ref[...]")
    return AbstractRef(init.strip_weak_type(), memory_space, kind)


def _run_new(init, **params):
    if isinstance(init, Tracer):
        raise escaped(init)
    return Ref(new_ref_p.out_type(get_aval(init), **params), init)


def _run_empty(*, ty, memory_space, pin):
    return _run_new(np.zeros(ty.shape, ty.dtype), memory_space=memory_space, kind=None, pin=pin)


new_ref_p = RefPrimitive(
    "new_ref", out_type=_new_type, effects=LOCAL, run=_run_new,
    under=lambda trace, args, params: trace.new_ref(args[0], params))
empty_ref_p = RefPrimitive(
    "empty_ref", out_type=lambda *, ty, memory_space, pin: AbstractRef(ty, memory_space), effects=LOCAL, run=_run_empty,
    under=lambda trace, args, params: trace.new_ref(np.zeros(params["ty"].shape, params["ty"].dtype), dict(
        memory_space=params["memory_space"], kind=None, pin=params["pin"])))


def _check(name: str, ref: Any) -> None:
    if not (isinstance(ref, Ref) or is_ref(ref)):
        raise ValueError(f"{name} must be called on a reference (made by jax.new_ref), got {ref!r} of type "
                         f"{type(ref).__name__}")


def new_ref(init_val: ArrayLike, *, memory_space: object | None = None, kind: str | None = None, pin: bool = False) -> Any:
    """A mutable reference to a copy of the array ``init_val``.

    Args:
      init_val: array or number; its weak type, if it has one, is dropped.
      memory_space, kind, pin: part of the type and of the printed program; they have no effect here.

    Raises:
      TypeError: not an array or number, or itself a reference.

    Inside a traced function the reference lives as long as the function runs; it cannot be returned.

    >>> total = jax.new_ref(0)
    >>> total[...] = 5
    >>> total[...]
    Array(5, dtype=int32)
    """
    try:
        aval = get_aval(init_val)
    except TypeError:
        raise TypeError(f"new_ref: the initial value must be an array or a number, got {init_val!r} of type "
                        f"{type(init_val).__name__}; make one reference for each leaf of a pytree with jax.tree.map") from None
    if type(aval) is AbstractRef:
        raise TypeError(f"new_ref: the initial value is itself a reference of type {aval}; pass its contents, ref[...]")
    if aval.is_high:
        return HighRef(aval, [new_ref(x, memory_space=memory_space, kind=kind, pin=pin) for x in high_values.get()[0](aval, init_val)])
    return new_ref_p.bind(init_val, memory_space=memory_space, kind=kind, pin=pin)


def empty_ref(ty: AbstractValue, memory_space: object | None = None, pin: bool = False) -> Any:
    """A mutable reference to an array of the shape and dtype of ``ty`` whose contents are not specified (they are zeros).

    Raises:
      TypeError: ``ty`` is not the type of an array.

    >>> ref = jax.empty_ref(jax.ShapeDtypeStruct((3,), jnp.int32))
    >>> ref[...] = jnp.arange(3)
    >>> ref[...]
    Array([0, 1, 2], dtype=int32)
    """
    aval = ty.aval if isinstance(ty, ShapeDtypeStruct) else ty
    if getattr(aval, "is_high", False):
        return HighRef(aval, [empty_ref(a, memory_space, pin) for a in aval.lo_ty()])
    if not isinstance(aval, ShapedArray):
        raise TypeError(f"empty_ref: ty must be a type such as jax.ShapeDtypeStruct(shape, dtype) or jax.typeof(x), got {ty!r}")
    return empty_ref_p.bind(ty=aval.strip_weak_type(), memory_space=memory_space, pin=pin)


def freeze(ref: Ref) -> Array:
    """The contents of ``ref``, which must not be used any more.

    >>> ref = jax.new_ref(jnp.zeros(2))
    >>> ref[0] = 1.
    >>> jax.freeze(ref)
    Array([1., 0.], dtype=float32)
    """
    if isinstance(ref, HighRef):
        return ref.value([freeze(part) for part in ref.parts])
    _check("freeze", ref)
    return freeze_p.bind(ref)


def free_ref(ref: Ref) -> None:
    """Say that ``ref`` is not used any more.

    >>> ref = jax.new_ref(jnp.zeros(3))
    >>> jax.free_ref(ref)
    """
    if isinstance(ref, HighRef):
        for part in ref.parts:
            free_ref(part)
        return
    _check("free_ref", ref)
    free_ref_p.bind(ref)


def get(ref: Ref | RefView, idx: Indexer | None = None) -> Any:
    """The part of ``ref`` that ``idx`` names, by default all of it.

    Args:
      idx: integers, slices with positive steps, `ds`, arrays of integers, ``...``, or a tuple of these.

    Raises:
      ValueError: an index out of bounds. TypeError: not an index.

    >>> ref = jax.new_ref(jnp.arange(3))
    >>> jax.ref.get(ref, 1)
    Array(1, dtype=int32)
    """
    if isinstance(ref, RefView):
        found = indexing.composed((*ref.path, idx), ref.ref.shape)
        if found is not None:
            return get_p.bind(ref.ref, *found[1], index=found[0])
        return _seen(ref, idx)[2][-1]
    if isinstance(ref, HighRef):
        return ref.get(idx)
    _check("ref.get", ref)
    index, operands = indexing.parse(idx, ref.shape)
    return get_p.bind(ref, *operands, index=index)


def swap(ref: Ref | RefView, idx: Indexer, value: ArrayLike, _function_name: str = "ref_swap") -> Any:
    """Store ``value`` in the part of ``ref`` that ``idx`` names, and return what was there.

    Args:
      value: of the dtype of ``ref`` and the shape of the part. A weakly typed value (a Python number) of the same kind,
        integer, real or complex, is converted.

    Raises:
      ValueError: ``value`` has another dtype or shape.

    >>> ref = jax.new_ref(jnp.arange(3))
    >>> jax.ref.swap(ref, 1, 7)
    Array(1, dtype=int32)
    >>> ref[...]
    Array([0, 7, 2], dtype=int32)
    """
    if isinstance(ref, RefView):
        found = indexing.composed((*ref.path, idx), ref.ref.shape)
        if found is not None:
            return swap_p.bind(ref.ref, _typed(ref, value), *found[1], index=found[0])
        return _change_view(ref, idx, value, lambda old, new: _fitting(ref, old, new))
    if isinstance(ref, HighRef):
        return ref.swap(value, idx)
    _check(_function_name, ref)
    index, operands = indexing.parse(idx, ref.shape)
    value = _typed(ref, value)
    return swap_p.bind(ref, value if index.entries else _split_as(ref, value), *operands, index=index)


def _split_as(ref: Any, value: Any) -> Any:
    """A value that is whole on each device, split as ``ref`` is: what a reference holds lies as its type says."""
    want, got = cast(AbstractRef, get_aval(ref)).inner_aval, get_aval(value)
    placed = want.placement
    if placed is None or got.shape != want.shape or placed.spec.unreduced or placed.spec.reduced or got.placement == placed or any(splits.entries(got)):
        return value
    return reshard(value, placed)


_KINDS = (np.integer, np.floating, np.complexfloating)


def _typed(ref: Any, value: Any) -> Any:
    """``value`` in the dtype of ``ref``, if it is weakly typed (a Python number, say) and of the same kind."""
    aval, dtype = get_aval(value), ref.dtype
    if not aval.weak_type or aval.dtype == dtype or not any(
            dtypes.issubdtype(aval.dtype, kind) and dtypes.issubdtype(dtype, kind) for kind in _KINDS):
        return value
    if isinstance(value, (int, float, complex)):
        return np.asarray(value, dtype)[()]
    return convert_element_type_p.bind(value, new_dtype=dtype, weak_type=False)


def _fitting(view, old, new):
    new = _typed(view, new)
    got = get_aval(new)
    if got.shape != np.shape(old) or got.dtype != view.dtype:
        raise ValueError(f"a value of type {got.str_short()} cannot be stored in a part of a reference of type "
                         f"{view.dtype.name}{list(np.shape(old))}; convert it to that dtype and shape first")
    return new


def set(ref: Ref | RefView, idx: Indexer, value: ArrayLike) -> None:
    """Store ``value`` in the part of ``ref`` that ``idx`` names; see `swap`.

    >>> ref = jax.new_ref(jnp.arange(3))
    >>> jax.ref.set(ref, 1, 7)
    >>> ref[...]
    Array([0, 7, 2], dtype=int32)
    """
    swap(ref, idx, value, "ref_set")


def addupdate(ref: Ref | RefView, idx: Indexer, x: ArrayLike) -> None:
    """Add ``x`` to the part of ``ref`` that ``idx`` names; elements that ``idx`` names twice get both.

    Raises:
      ValueError: ``x`` has another dtype than ``ref``, or another shape than the part.

    >>> ref = jax.new_ref(jnp.zeros(3))
    >>> jax.ref.addupdate(ref, 1, 5.0)
    >>> ref[...]
    Array([0., 5., 0.], dtype=float32)
    """
    if isinstance(ref, RefView):
        found = indexing.composed((*ref.path, idx), ref.ref.shape)
        if found is not None:
            addupdate_p.bind(ref.ref, _typed(ref, x), *found[1], index=found[0])
        else:
            _change_view(ref, idx, x, lambda old, new: old + _fitting(ref, old, new))
        return
    if isinstance(ref, HighRef):
        ref.set(ref.inner_aval.vspace_add(ref.get(idx), x), idx)
        return
    _check("ref.addupdate", ref)
    index, operands = indexing.parse(idx, ref.shape)
    addupdate_p.bind(ref, _typed(ref, x), *operands, index=index)


# -- tracers -----------------------------------------------------------------------------------------------------------

def _whole(name: str) -> Any:
    """The method of that name of a view of all of a reference."""
    def method(ref: object, *args: Any) -> RefView:
        return getattr(RefView(ref, (...,)), name)(*args)
    return method


reference_operators.fill({"__getitem__": get, "__setitem__": set, "at": Ref.at, "addupdate": Ref.addupdate, "get": Ref.get, "set": Ref.set,
                          "swap": Ref.swap, "reshape": _whole("reshape"), "transpose": _whole("transpose"), "bitcast": _whole("bitcast"),
                          "T": property(lambda ref: RefView(ref, (...,)).T)})
