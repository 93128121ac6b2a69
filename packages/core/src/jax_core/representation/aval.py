"""Abstract values: what is known of an array while a program is traced.

`ShapedArray` (shape, dtype, weak type, placement) is the type that every rule of every primitive works on. Instances
are immutable and are shared (the constructor returns a known instance for known arguments), so comparing two types is
almost always one pointer comparison; caches all over the system use them as keys.
"""
from __future__ import annotations

import functools
import math
import sys
from typing import TYPE_CHECKING, Any, Callable, Mapping

import numpy as np

from .. import backends
from ..compat.avals import ArrayTypeHabits, RefTypeHabits, TypeHabits, aval_method, aval_property
from ..configuration import context, flags
from ..extension_points import array_methods
from . import dtypes, splits
from .extended import EArray
from .manual_axis_type import ManualAxisType
from .memory import Space, mark
from .partial_sums import NOTHING, Sums
from .placements import is_format, is_on_mesh, is_spec

if TYPE_CHECKING:
    from .typing import ArrayLike, DTypeLike, Placement, PyTree, Shape, ShardingLike


class AbstractValue(TypeHabits):
    """Base class of all types of traced values. All but opaque ones have the attributes of `ShapedArray`."""

    __slots__ = ()
    shape: Any
    dtype: Any
    weak_type: Any
    sharding: Any
    memory_space: Any = Space.Device
    if TYPE_CHECKING:  # properties of those that have a shape
        ndim: Any
        size: Any
        nbytes: Any
    vma: frozenset = frozenset()
    sums: Sums = NOTHING
    placement: Any = None

    def to_tangent_aval(self) -> "AbstractValue":
        """The type of a tangent of a value of this type."""
        raise NotImplementedError(f"{type(self).__name__} has no tangent type")

    def to_ct_aval(self) -> "AbstractValue":
        """The type of a cotangent, the same as that of a tangent."""
        return self.to_tangent_aval()

    def at_least_vspace(self) -> "AbstractValue":
        """The vector space that tangents live in."""
        return self.to_tangent_aval()

    def vspace_add(self, x: PyTree, y: PyTree) -> Any:
        """The sum of two tangents of this type."""
        return x + y

    def update(self, **kwargs: Any) -> "AbstractValue":
        """This type with some fields replaced."""
        raise NotImplementedError(f"{type(self).__name__} has no fields that can be replaced")

    def strip_weak_type(self) -> "AbstractValue":
        return self

    def update_weak_type(self, weak_type: bool) -> "AbstractValue":
        """This type, weak or not; types without a dtype stay as they are."""
        return self

    def normalize(self) -> "AbstractValue":
        """The type that stands for all types equal to this one: itself, as equal types are shared."""
        return self

    def dec_rank(self, size: int, spec: int | None) -> "AbstractValue":
        """The type of one of the ``size`` values that are mapped as ``spec`` says."""
        raise NotImplementedError(f"{type(self).__name__} has no axes that can be mapped")

    def inc_rank(self, size: int, spec: int | None) -> "AbstractValue":
        """The type of ``size`` such values; the inverse of `dec_rank`."""
        raise NotImplementedError(f"{type(self).__name__} has no axes that can be mapped")

    def update_manual_axis_type(self, mat: ManualAxisType) -> "AbstractValue":
        """This type of a value that varies over the axes of ``mat``."""
        raise NotImplementedError(f"{type(self).__name__} cannot vary over mesh axes")

    # How a value is represented by arrays. All types of this system are their own representation.
    is_high = False

    def lo_ty(self) -> list["AbstractValue"]:
        """The types of the arrays that represent a value."""
        return [self]

    def lower_val(self, val: ArrayLike, /) -> list:
        """The arrays that represent ``val``."""
        return [val]

    def raise_val(self, *vals: Any) -> Any:
        """The value that arrays represent; the inverse of `lower_val`."""
        val, = vals
        return val

    def leading_axis_spec(self) -> Any:
        """Where `vmap` puts the mapped axis of such values to have it in front."""
        return 0

    def str_short(self, short_dtypes: bool = False, mesh_axis_types: bool = False) -> str:
        return str(self)


class AbstractToken(AbstractValue):
    """The type of a token: it carries order and no data."""

    __slots__ = ()
    shape = ()
    dtype = dtypes.float0
    weak_type = False

    def __repr__(self):
        return "Tok"

    def __eq__(self, other):
        return type(other) is AbstractToken

    def __hash__(self):
        return hash(AbstractToken)

    def to_tangent_aval(self):
        return self


abstract_token = AbstractToken()


class Token:
    """A token as a value: what follows it is to wait until ``buf``, an array that some computation returns (or None), is there."""

    __slots__ = ("buf", "__weakref__")
    aval = abstract_token

    def __init__(self, buf: Any = None):
        self.buf = buf

    def block_until_ready(self) -> None:
        """Wait until ``buf`` has been computed; returns nothing."""
        if self.buf is not None:
            self.buf.block_until_ready()


class AbstractRef(RefTypeHabits, AbstractValue):
    """The type of a mutable reference to an array of type ``inner_aval``; see the package `refs`.

    Args:
      inner_aval: type of the array that it holds.
      memory_space: kind of memory, or None for the default.
      kind: a label that `new_ref` was given; it has no effect.
    """

    __slots__ = ("inner_aval", "memory_space", "kind")

    def __init__(self, inner_aval: AbstractValue, memory_space: object | None = None, kind: str | None = None):
        self.inner_aval, self.memory_space, self.kind = inner_aval, memory_space, kind

    shape = property(lambda self: self.inner_aval.shape)
    dtype = property(lambda self: self.inner_aval.dtype)
    ndim = property(lambda self: len(self.inner_aval.shape))
    size = property(lambda self: self.inner_aval.size)
    weak_type = property(lambda self: self.inner_aval.weak_type)
    sharding = property(lambda self: self.inner_aval.sharding)
    vma = property(lambda self: self.inner_aval.vma)
    sums = property(lambda self: self.inner_aval.sums)  # type: ignore[assignment]

    def _key(self):
        return self.inner_aval, self.memory_space, self.kind

    def __eq__(self, other):
        return type(other) is AbstractRef and self._key() == other._key()

    def __hash__(self):
        return hash((AbstractRef, self._key()))

    def __len__(self):
        return len(self.inner_aval)

    manual_axis_type = property(lambda self: self.inner_aval.manual_axis_type)

    def dec_rank(self, size: int, spec: int | None) -> "AbstractRef":
        """See `ShapedArray.dec_rank`."""
        return self.update(self.inner_aval.dec_rank(size, spec))

    def inc_rank(self, size: int, spec: int | None) -> "AbstractRef":
        """See `ShapedArray.inc_rank`."""
        return self.update(self.inner_aval.inc_rank(size, spec))

    def update_manual_axis_type(self, mat: ManualAxisType) -> "AbstractRef":
        return self.update(self.inner_aval.update_manual_axis_type(mat))

    def update_weak_type(self, weak_type: bool) -> "AbstractRef":
        return self.update(self.inner_aval.update_weak_type(weak_type))

    def update(self, inner_aval: AbstractValue | None = None, memory_space: object | None = None,  # type: ignore[override]
               kind: str | None = None) -> "AbstractRef":
        """This type with some fields replaced."""
        return AbstractRef(self.inner_aval if inner_aval is None else inner_aval,
                           self.memory_space if memory_space is None else memory_space,
                           self.kind if kind is None else kind)

    def to_tangent_aval(self) -> "AbstractRef":
        return self.update(self.inner_aval.to_tangent_aval())

    def strip_weak_type(self) -> "AbstractRef":
        return self.update(self.inner_aval.strip_weak_type())

    def str_short(self, short_dtypes: bool = False, mesh_axis_types: bool = False) -> str:
        return f"Ref{{{self.inner_aval.str_short(short_dtypes, mesh_axis_types)}}}"

    def __repr__(self):
        return self.str_short()


_known: dict = {}
_KNOWN_LIMIT = 1 << 17
_NO_AXES: frozenset = frozenset()


class ShapedArray(ArrayTypeHabits, AbstractValue):
    """The type of an array.

    Args:
      shape: lengths of the axes.
      dtype: a NumPy dtype, an ml_dtypes dtype or an extended dtype (keys).
      weak_type: the dtype gives way in promotion, as that of a Python scalar does.
      sharding: a placement. The type carries what it says of ``Explicit`` mesh axes, as ``placement``: None where the mesh has
        none, and the compiler may choose. See `splits`.
      vma: names of the manual mesh axes that the value varies over.
      sums: the manual mesh axes that it is a sum over which is still to be made, and those that it is reduced over (`partial_sums`).
      memory_space: the kind of memory (`memory`).
      manual_axis_type: in place of ``vma`` and ``sums``, their public form.
    """

    __slots__ = ("shape", "dtype", "weak_type", "placement", "vma", "sums", "memory_space", "_hash", "_where", "__weakref__")
    _hash: int
    _where: Any  # of what `typeof` gives: where the array lies, which is no part of its type
    placement: Any
    array_abstraction_level = 1

    def __new__(cls, shape, dtype, weak_type=False, *, sharding=None, vma=_NO_AXES, sums=NOTHING, memory_space=Space.Device,
                manual_axis_type: ManualAxisType | None = None):
        if manual_axis_type is not None:
            vma, sums = manual_axis_type.varying, Sums.of_manual(manual_axis_type)
        if sharding is not None and flags.remove_size_one_mesh_axis_from_type.value:  # the same placement is another one in types
            sharding = splits.in_type(sharding, len(shape)) if is_on_mesh(sharding) else sharding
        key = (shape, dtype, weak_type, sharding, vma, sums, memory_space)
        try:
            return _known[key]
        except (KeyError, TypeError):
            pass
        self = object.__new__(cls)
        self.shape = tuple(map(_dimension, shape))
        self.dtype = dtype if isinstance(dtype, dtypes.ExtendedDType) else np.dtype(dtype)
        self.weak_type = bool(weak_type)
        if sharding is not None:
            if is_spec(sharding):  # for the mesh in context
                return cls(shape, dtype, weak_type, sharding=backends.get().placements.as_sharding(sharding), vma=vma,
                           sums=sums, memory_space=memory_space)
            sharding = splits.in_type(sharding, len(self.shape))
            if sharding is not None:
                splits.check_lengths(sharding, self.shape)
        self.placement, self.vma, self.sums, self.memory_space = sharding, frozenset(vma), sums if any(sums) else NOTHING, memory_space
        normal = (self.shape, self.dtype, self.weak_type, self.placement, self.vma, self.sums, self.memory_space)
        self._hash = hash(normal)
        if len(_known) > _KNOWN_LIMIT:
            _known.clear()
        return _known.setdefault(normal, self)

    def __reduce__(self):
        return _rebuild, (self.shape, self.dtype, self.weak_type, self.memory_space)

    def __eq__(self, other):
        if self is other:
            return True
        return (type(other) is ShapedArray and self._hash == other._hash and self.shape == other.shape
                and self.dtype == other.dtype and self.weak_type == other.weak_type and self.placement == other.placement
                and self.vma == other.vma and self.sums == other.sums and self.memory_space == other.memory_space)

    def __hash__(self):
        return self._hash

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def sharding(self) -> Any:
        """The placement; where the type leaves it open, one that splits nothing, on the mesh where the array lies, or the one in use."""
        if self.placement is not None:
            return self.placement
        placements, where = backends.get().placements, getattr(self, "_where", None)
        if where is None and context.state.arguments_on is not None and placements.on_no_mesh(0).mesh.empty:
            where = context.state.arguments_on
        return placements.on_no_mesh(self.ndim, where)

    @functools.lru_cache(4096)
    def on_mesh_of(self, where: ShardingLike) -> "ShapedArray":
        """This same type, whose ``sharding`` names the mesh of ``where`` though it splits nothing over it."""
        found = object.__new__(ShapedArray)
        for field in ("shape", "dtype", "weak_type", "placement", "vma", "sums", "memory_space", "_hash"):
            setattr(found, field, getattr(self, field))
        found._where = where
        return found

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def update(self, shape: Shape | None = None, dtype: DTypeLike | None = None, weak_type: bool | None = None,
               **kwargs: Any) -> "ShapedArray":
        """This type with some fields replaced."""
        fields = dict(sharding=self.placement, vma=self.vma, sums=self.sums, memory_space=self.memory_space)
        if shape is not None and len(shape) != len(self.shape):
            fields["sharding"] = None  # a placement belongs to a number of axes
        fields.update(kwargs)
        return ShapedArray(self.shape if shape is None else tuple(shape), self.dtype if dtype is None else dtype,
                           self.weak_type if weak_type is None else weak_type, **fields)

    def strip_weak_type(self) -> "ShapedArray":
        return self.update(weak_type=False) if self.weak_type else self

    def update_weak_type(self, weak_type: bool) -> "ShapedArray":
        return self.update(weak_type=weak_type)

    @property
    def manual_axis_type(self) -> ManualAxisType:
        """``vma`` and ``sums`` in their public form."""
        unreduced, reduced, kind = self.sums
        return ManualAxisType(varying=self.vma, unreduced=unreduced, reduced=reduced, unreduced_kind=kind)

    mat = manual_axis_type

    def update_manual_axis_type(self, mat: ManualAxisType) -> "ShapedArray":
        """This type of a value that stands to the manual mesh axes as ``mat`` says."""
        return self.update(vma=mat.varying, sums=Sums.of_manual(mat))

    def dec_rank(self, size: int, spec: int | None) -> "ShapedArray":
        """The type of one row along the axis ``spec`` of length ``size``; with None, of what is not mapped, itself.

        Raises:
          ValueError: the axis is not of that length.
        """
        if spec is None:
            return self
        if self.shape[spec] != size:
            raise ValueError(f"dec_rank: axis {spec} of {self} has length {self.shape[spec]}, not {size}")
        return self.update(shape=self.shape[:spec] + self.shape[spec + 1:], sharding=splits.without_axis(self.placement, spec))

    def inc_rank(self, size: int, spec: int | None) -> "ShapedArray":
        """The type of ``size`` such arrays, stacked along a new axis ``spec``; itself for None."""
        return self if spec is None else self.update(shape=(*self.shape[:spec], size, *self.shape[spec:]),
                                                     sharding=splits.with_axis(self.placement, spec))

    def to_tangent_aval(self) -> "ShapedArray":
        """Tangents of inexact arrays have the same type; those of all others are float0 (they carry nothing)."""
        if isinstance(self.dtype, dtypes.ExtendedDType):
            return ShapedArray(self.shape, self.dtype.tangent_dtype, vma=self.vma, sums=self.sums, memory_space=self.memory_space)
        if self.dtype.kind in "fcV" and dtypes.issubdtype(self.dtype, np.inexact):
            return self
        return ShapedArray(self.shape, dtypes.float0, vma=self.vma, sums=self.sums, memory_space=self.memory_space)

    def to_ct_aval(self) -> "ShapedArray":
        return splits.cotangent_type(self.to_tangent_aval())

    def str_short(self, short_dtypes: bool = False, mesh_axis_types: bool = False) -> str:
        """``float32[3,4]``, or ``f32[3,4]`` with ``short_dtypes``; with ``mesh_axis_types`` also the axes of its mesh by type."""
        name = dtypes.short_name(self.dtype) if short_dtypes else dtypes.name_of(self.dtype)
        axes = self.shape if self.placement is None else map(splits.text_of_axis, self.shape, splits.entries(self))
        if self.memory_space is not Space.Device:
            name += mark(self.memory_space)
        marks = self._marks() if self.vma or self.sums is not NOTHING or self.placement is not None else ""
        return f"{name}[{','.join(map(str, axes))}]{marks}{_mesh_axes_text(self.sharding.mesh) if mesh_axis_types else ''}"

    def _marks(self) -> str:
        spec = self.sums if self.placement is None else self.placement.spec
        found = [("V", self.vma), ("U", self.sums.unreduced | spec.unreduced), ("R", self.sums.reduced | spec.reduced)]
        texts = [_axes_text(mark, axes) for mark, axes in found if axes]
        return f"{{{', '.join(texts)}}}" if texts else ""

    def __repr__(self):
        return f"ShapedArray({self.str_short()}{', weak_type=True' if self.weak_type else ''})"

    def __str__(self):
        return ("~" if self.weak_type else "") + self.str_short()


def _describe_arrays(methods: Mapping[str, Any]) -> None:
    """Give `ShapedArray` the public methods and properties of arrays as marks, for types that pass on to it what they do not have."""
    for name, method in methods.items():
        if not name.startswith("_") and not hasattr(ShapedArray, name):
            marked = aval_property(method.fget) if isinstance(method, property) and method.fget else aval_method(method)
            setattr(ShapedArray, name, marked)


array_methods.when_filled(_describe_arrays)


def _axes_text(mark: str, axes: frozenset) -> str:
    """``V:x``, ``U:(x,y)``: mesh axes that a value varies over, or is unreduced or reduced over."""
    names = sorted(map(str, axes))
    return f"{mark}:{names[0]}" if len(names) == 1 else f"{mark}:({','.join(names)})"


def _mesh_axes_text(mesh: Any) -> str:
    """``({Explicit: ('x',), Auto: ('y',)})``, or nothing for a mesh without axes."""
    by_type: dict = {}
    for name, kind in zip(mesh.axis_names, mesh.axis_types):
        by_type.setdefault(kind.name, []).append(name)
    return f"({{{', '.join(f'{kind}: {tuple(names)}' for kind, names in by_type.items())}}})" if by_type else ""


def _rebuild(shape, dtype, weak_type, memory_space=Space.Device):
    return ShapedArray(shape, dtype, weak_type, memory_space=memory_space)


def _dimension(n) -> int:
    try:
        return n.__index__()
    except (AttributeError, TypeError):
        raise TypeError(f"a shape holds integers, got {n!r} of type {type(n).__name__}") from None


# -- types of Python values ----------------------------------------------------------------------------------------

def _python_scalar(kind: type) -> Callable[[Any], ShapedArray]:
    by_width: dict[bool, ShapedArray] = {}

    def aval(x):
        x64 = flags.enable_x64.value
        found = by_width.get(x64)
        if found is None:
            found = by_width[x64] = ShapedArray((), dtypes.canonicalize_dtype(kind), True)
        if kind is int and not (-1 << 31 <= x < 1 << 31 or x64 and -1 << 63 <= x < 1 << 63):
            raise OverflowError(f"Python int {x} does not fit in {found.dtype.name}; use a NumPy array of a wider dtype"
                                f"{'' if x64 else ', and enable x64 to keep it 64 bits wide'}.")
        return found
    return aval


def _numpy_value(x) -> ShapedArray:
    return ShapedArray(x.shape, dtypes.array_dtype(x.dtype, x))


def _own_aval(x) -> AbstractValue:
    return x.aval


aval_of_type: dict[type, Callable[[Any], AbstractValue]] = {
    bool: lambda x: ShapedArray((), np.dtype(bool), False),
    int: _python_scalar(int), float: _python_scalar(float), complex: _python_scalar(complex),
    np.ndarray: _numpy_value,
}
"""How the type of a value is found, by the value's Python class. Backends and packages add their array classes."""


canonicalize_handlers: dict[type, Callable[[Any], Any]] = {
    cls: np.asarray for cls in (np.ndarray, bool, int, float, complex)}
"""How values of other classes become arrays, by class; libraries with array types of their own add theirs."""


def foreign_value(x: object) -> Any:
    """``x``, of a class that a library has registered, as an array."""
    return canonicalize_handlers.get(type(x), np.asarray)(x)


def own_array(x: Any) -> Any:
    """What ``x`` converts itself to by ``__jax_array__``. Raises TypeError if that is something to be converted again."""
    value = x.__jax_array__()
    if type(value) not in aval_of_type and hasattr(value, "__jax_array__"):
        raise TypeError(f"{type(x).__name__}.__jax_array__ must return an array, got {value!r} of type {type(value).__name__}")
    return value


def get_aval(x: object) -> AbstractValue:
    """The type of ``x``: an array, tracer, NumPy value or Python scalar.

    Raises:
      TypeError: ``x`` is not a valid JAX type.

    >>> jax.core.get_aval(np.ones((2, 3), np.float32))
    ShapedArray(float32[2,3])
    """
    rule = aval_of_type.get(type(x))
    if rule is None:
        rule = _find_rule(x)
    return rule(x)


def refuse_masked(x: object, unless_whole: bool = False) -> None:
    """Raises ValueError for an array of `numpy.ma`, whose masked elements would count; with ``unless_whole`` only where there are any."""
    masked = sys.modules.get("numpy.ma")  # which NumPy imports when it is asked for, at a price
    kind = getattr(masked, "MaskedArray", None)  # not there yet while another thread imports the module, when nothing can be one
    if kind is not None and isinstance(x, kind) and (not unless_whole or masked.is_masked(x)):  # type: ignore[union-attr]
        raise ValueError(f"numpy masked arrays are not supported: elements that are masked would count; got {x.dtype} of shape {x.shape}. "
                         "Fill it by its method filled, or pass data and mask")


def described_class(kind: type) -> str:
    """The name of a class for messages: ``str``, ``mymodule.Config``."""
    kind = getattr(kind, "_plain_number", kind)  # a number with a dtype is no class of the user's
    module = getattr(kind, "__module__", "builtins")  # a class made by a program without a name has none
    return kind.__qualname__ if module == "builtins" else f"{module}.{kind.__qualname__}"


def described_value(x: object) -> str:
    """What ``x`` is, for messages: the type of an array or tracer, else the class."""
    if isinstance(x, (tuple, list)):
        return f"a {type(x).__name__} of length {len(x)}"
    return get_aval(x).str_short() if hasattr(x, "aval") else f"a value of type {described_class(type(x))}"


def _find_rule(x) -> Callable[[Any], AbstractValue]:
    kind = type(x)
    rule: Callable[[Any], AbstractValue] | None
    if issubclass(kind, np.generic):
        rule = _numpy_value
    else:
        refuse_masked(x)
        rule = next((aval_of_type[base] for base in kind.__mro__ if base in aval_of_type), None)
        if rule is None and hasattr(x, "__jax_array__"):
            return lambda x: get_aval(own_array(x))
        if rule is None:
            raise TypeError(f"{x!r} of type {described_class(kind)} is not a valid JAX type")
    aval_of_type[kind] = rule
    return rule


def plain_values(leaves: list) -> list:
    """``leaves``, with those that convert themselves by ``__jax_array__`` converted."""
    known = aval_of_type
    for x in leaves:
        if type(x) not in known and hasattr(x, "__jax_array__"):
            return [own_array(x) if type(x) not in known and hasattr(x, "__jax_array__") else x for x in leaves]
    return leaves


def is_jax_type(x: object) -> bool:
    """Whether ``x`` can be an argument of a primitive."""
    try:
        get_aval(x)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def typeof(x: ArrayLike) -> AbstractValue:
    """The abstract value of an array-like ``x``: shape, dtype, weak type. Raises TypeError for other values.

    Its ``sharding`` tells how the array is split over ``Explicit`` mesh axes, and on which mesh it lies.

    >>> jax.typeof(jnp.ones((2, 3)))
    ShapedArray(float32[2,3])
    """
    rule = aval_of_type.get(type(x))
    if rule is None:
        return get_aval(x)
    aval: Any = rule(x)
    if rule is not _own_aval or type(aval) is not ShapedArray or aval.placement is not None:
        return aval
    where = getattr(x, "sharding", None)
    if where is None or not is_on_mesh(where) and backends.get().placements.on_no_mesh(0).mesh.empty:
        return aval
    return aval.on_mesh_of(where)


def register_value_class(cls: type, rule: Callable[[Any], AbstractValue] = _own_aval) -> None:
    """``rule(x)`` is the type of values ``x`` of class ``cls``; by default their attribute ``aval``. For arrays: `array.register_array_class`."""
    aval_of_type[cls] = rule


register_value_class(EArray)
register_value_class(Token)


def _is_no_placement(where: object) -> bool:
    """Whether ``where`` is a number, a text, an array, a type, a device or a layout, which users mistake for placements."""
    return isinstance(where, (int, float, complex, str, dict, type)) or any(hasattr(where, name) for name in ("dtype", "platform", "major_to_minor"))


class ShapeDtypeStruct:
    """Shape and dtype of an array that need not exist: what `eval_shape` returns and `jit(f).lower` accepts.

    Args:
      shape: lengths of the axes.
      dtype: of the elements, as given; an array of this description (`aval`) is narrower while x64 is off.
      sharding: placement, or None; with a `Format` also the order in which it is stored.
      weak_type: as for `ShapedArray`.

    Raises:
      TypeError: the format leaves the layout to the compiler, or there is no mesh for a spec.
      ValueError: the sharding is none, or for more axes than there are.

    >>> jax.eval_shape(lambda x: x @ x.T, jax.ShapeDtypeStruct((2, 3), jnp.float32))
    ShapeDtypeStruct(shape=(2, 2), dtype=float32)
    >>> jax.ShapeDtypeStruct((2, 3), jnp.float32).update(shape=(4,)).size
    4
    """

    __slots__ = ("shape", "dtype", "sharding", "stored", "weak_type", "vma", "is_ref")
    if TYPE_CHECKING:  # `__init__` sets them in one loop
        shape: tuple[int, ...]
        dtype: Any
        sharding: Any
        stored: Any
        weak_type: bool
        vma: frozenset | None
        is_ref: bool
    __module__ = "jax"
    named_shape: dict = {}

    def __init__(self, shape: Shape, dtype: DTypeLike, *, sharding: Placement | None = None, weak_type: bool = False,
                 vma: frozenset | None = None, is_ref: bool = False, manual_axis_type: ManualAxisType | None = None):
        if dtype is None:
            raise ValueError("ShapeDtypeStruct: dtype must be given")
        if manual_axis_type is not None:
            if not isinstance(manual_axis_type, ManualAxisType):
                raise TypeError(f"ShapeDtypeStruct: manual_axis_type must be a jax.sharding.ManualAxisType, got {manual_axis_type!r} of type "
                                f"{type(manual_axis_type).__name__}")
            vma = manual_axis_type.varying
        shape = tuple(shape)
        if None in shape:
            raise ValueError(f"ShapeDtypeStruct: a length in `shape` is missing, and it cannot have None. Got {shape}")
        dtype = dtype if isinstance(dtype, dtypes.ExtendedDType) else np.dtype(dtype)
        where: Any = sharding
        if is_spec(where):  # for the mesh in context
            if backends.get().placements.on_no_mesh(0).mesh.empty:
                raise TypeError(f"ShapeDtypeStruct: sharding={where} names axes of a mesh, and none is set; call jax.set_mesh(mesh), or give "
                                "NamedSharding(mesh, spec)")
            where = backends.get().placements.as_sharding(where)
        layout = getattr(where, "layout", None)
        if layout is not None and not hasattr(layout, "major_to_minor"):
            raise TypeError(f"ShapeDtypeStruct: {sharding} leaves the layout to the compiler, so it describes no array; give a Layout, or the "
                            "sharding alone")
        if where is not None and _is_no_placement(where):
            raise ValueError(f"ShapeDtypeStruct: sharding must be a jax.sharding.Sharding, a PartitionSpec or a Format, got {sharding!r} of type "
                             f"{type(sharding).__name__}")
        stored = None if layout is None else where
        where = where.sharding if is_format(where) else where
        spec = getattr(where, "spec", None)
        if spec is not None and len(spec) > len(shape):
            raise ValueError(f"ShapeDtypeStruct: sharding={where} names {len(spec)} axes, and the shape {shape} has {len(shape)}; "
                             "give a spec that is no longer")
        for put, value in zip(_STRUCT_SLOTS, (shape, dtype, where, stored, weak_type, vma, is_ref)):
            put(self, value)

    size = property(lambda self: math.prod(self.shape), doc="Number of elements.")
    ndim = property(lambda self: len(self.shape), doc="Number of axes.")
    nbytes = property(lambda self: self.size * self.dtype.itemsize, doc="Size in bytes.")
    format = property(lambda self: backends.get().placements.format_of(self.sharding) if self.stored is None else self.stored,
                      doc="The placement and the layout as a `Format`, whose parts are None where they were not given.")
    _given = property(lambda self: self.sharding if self.stored is None else self.stored)

    @property
    def manual_axis_type(self) -> ManualAxisType | None:
        """The axes that the array varies over in a manual region; None if not given."""
        return None if self.vma is None else ManualAxisType(varying=frozenset(self.vma))

    @property
    def aval(self) -> AbstractValue:
        """The type of an array of this description, as programs see it."""
        dtype = dtypes.explicit_dtype(self.dtype)
        aval = ShapedArray(self.shape, dtype, self.weak_type, sharding=self.sharding if is_on_mesh(self.sharding) else None)
        return AbstractRef(aval) if self.is_ref else aval

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    @staticmethod
    def like(x: ArrayLike) -> "ShapeDtypeStruct":
        """The description of the array ``x``; with its placement, if it is committed to it or a traced value typed by it."""
        aval = get_aval(x)
        where = getattr(x, "sharding", None) if getattr(x, "committed", False) else None
        if where is None:
            where = getattr(aval, "placement", None)
        return ShapeDtypeStruct(aval.shape, aval.dtype, sharding=where, weak_type=aval.weak_type)

    def update(self, **kwargs: Any) -> "ShapeDtypeStruct":
        """A copy with some of the fields replaced; ``sharding`` may be a `Format`, too."""
        if self.stored is not None and "sharding" in kwargs and not is_format(kwargs["sharding"]):
            raise ValueError(f"updating ShapeDtypeStruct: it has the format {self.stored}, so sharding must be a Format too, got "
                             f"{kwargs['sharding']}")
        fields = dict(shape=self.shape, dtype=self.dtype, sharding=self._given, weak_type=self.weak_type,
                      vma=self.vma, is_ref=self.is_ref)
        return ShapeDtypeStruct(**{**fields, **kwargs})

    def __setattr__(self, name, value):
        if name in ShapeDtypeStruct.__slots__ and hasattr(self, name):  # it has a hash, and programs are kept under it
            raise RuntimeError(f"ShapeDtypeStruct: {name} cannot be changed; call x.update({name}=...), which gives another one")
        object.__setattr__(self, name, value)

    def __repr__(self):
        extra = (f", sharding={self._given}" if self._given is not None else "") + (
            f", weak_type={self.weak_type}" if self.weak_type else "")
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={dtypes.name_of(self.dtype)}{extra})"

    def _key(self):
        return self.shape, self.dtype, self._given, self.weak_type, self.is_ref

    def __eq__(self, other):
        return isinstance(other, ShapeDtypeStruct) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __reduce__(self):
        return functools.partial(type(self), self.shape, self.dtype, sharding=self._given, weak_type=self.weak_type, is_ref=self.is_ref,
                                 manual_axis_type=self.manual_axis_type), ()

    def __setstate__(self, state: tuple[None, dict[str, Any]]) -> None:
        """What the public jax wrote: its attributes by name."""
        theirs = state[1]
        # as pickle makes objects first
        self.__init__(theirs["shape"], theirs["dtype"], sharding=theirs["_sharding"], weak_type=theirs["weak_type"],  # type: ignore[misc]
                      is_ref=theirs["is_ref"], manual_axis_type=theirs["manual_axis_type"])


_STRUCT_SLOTS = [getattr(ShapeDtypeStruct, name).__set__ for name in ShapeDtypeStruct.__slots__]
"""Past `__setattr__`, which took most of the time of making one."""
register_value_class(ShapeDtypeStruct)


def as_type(x: object) -> Any:
    """``x`` where it has a type, else the `ShapeDtypeStruct` of its attributes ``shape`` and ``dtype``, if it has both, and ``weak_type``.

    Types themselves (`ShapedArray`) are described with their placement.
    """
    if is_jax_type(x) or not (hasattr(x, "shape") and hasattr(x, "dtype")):
        return x
    return ShapeDtypeStruct(x.shape, x.dtype, weak_type=bool(getattr(x, "weak_type", False)),
                            sharding=x.placement if isinstance(x, ShapedArray) else None)
