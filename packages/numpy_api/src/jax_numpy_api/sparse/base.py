"""The base class of all sparse formats: what users see as an array, and operators through `sparsify`.

`transform` needs all formats and these their operators: so they find it in the package's namespace, at the first call.
"""
from __future__ import annotations

from types import ModuleType
from typing import Any, Callable, Sequence

import numpy as np

from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike, Axis, PyTree

from .. import numpy as jnp
from .util import static_shape

_sparse: Any = None  # jax.experimental.sparse, from `provide`


def provide(namespace: ModuleType) -> None:
    """Give operators the package, whose names are imported when they are asked for."""
    global _sparse
    _sparse = namespace


def operations() -> Any:
    """The module `transform`."""
    return _sparse.transform


def mapped_along_batch_axes(node: object, axes: list, name: str) -> None:
    """The rule of `vmap` for sparse arrays: batch axes come first in all their buffers, so one of those is mapped, or a new one put among them.

    Raises:
      ValueError: another axis, whose meaning the buffers do not share.
    """
    count = getattr(node, "n_batch", 0)
    axis = axes[0]
    if all(a == axis for a in axes) and (axis is None or hasattr(axis, "__index__") and 0 <= axis < count + (name == "out_axes" and hasattr(node, "n_batch"))):
        return
    advice = f"the mapped axis of a sparse array is one of its batch axes, of which there are {count}; formats with n_batch can be given one, " \
             "as by BCOO.fromdense(x, n_batch=1)"
    if name == "out_axes":
        advice = f"the axis is put among its {count} batch axes or behind them, so at most at {count}"
    raise ValueError(f"vmap: {name}={axis if all(a == axis for a in axes) else tuple(axes)} of {node!r}: {advice}")


def _late(name: str, reflected: bool = False) -> Callable:
    """The operator that `sparsify` makes of the function ``name`` of jax.numpy."""
    def operator(self, other: object):
        fun = getattr(jnp, name)
        if isinstance(other, (bool, int, float, complex)):  # its value may decide which operation it is, as in x ** 2
            return operations().sparsify(lambda x: fun(other, x) if reflected else fun(x, other))(self)
        return operations().sparsify(lambda x, y: fun(y, x))(self, other) if reflected else operations().sparsify(fun)(self, other)
    return operator


def _late_unary(name: str) -> Callable:
    def operator(self):
        return operations().sparsify(getattr(jnp, name))(self)
    return operator


class JAXSparse:
    """A sparse array: buffers and a shape. Formats derive from it and are pytrees of their buffers.

    Args:
      args: the buffers.
      shape: of the array.
    """

    data: Any
    shape: tuple[int, ...]
    nse: Any
    dtype: Any
    __array_priority__ = 100  # NumPy's operators leave the work to ours
    __hash__ = None  # type: ignore[assignment]  # as arrays have none

    def __init__(self, args: Sequence[ArrayLike], *, shape: Sequence[int]):
        self.shape = static_shape(shape)

    size = property(lambda self: int(np.prod(self.shape, dtype=object)), doc="Number of elements of the array that it stands for.")
    ndim = property(lambda self: len(self.shape), doc="Number of axes.")
    T = property(lambda self: self.transpose(), doc="The transpose.")

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __repr__(self):
        name = type(self).__name__
        try:
            extra = f", nse={self.nse}" + "".join(
                f", {n}={getattr(self, n)}" for n in ("n_batch", "n_dense") if getattr(self, n, 0))
            return f"{name}({self.dtype.name}[{', '.join(map(str, self.shape))}]{extra})"
        except Exception:  # buffers that are no arrays, as inside of tree operations
            return f"{name}(<invalid>)"

    def block_until_ready(self) -> "JAXSparse":
        """Wait until the buffers are computed."""
        for x in self.tree_flatten()[0]:
            getattr(x, "block_until_ready", lambda: None)()
        return self

    def tree_flatten(self) -> tuple:
        """The buffers, and what describes them."""
        raise NotImplementedError(f"{type(self).__name__}.tree_flatten")

    @classmethod
    def tree_unflatten(cls, aux_data: PyTree, children: Sequence[PyTree]) -> "JAXSparse":
        """The array of buffers and description."""
        raise NotImplementedError(f"{cls.__name__}.tree_unflatten")

    def transpose(self, axes: Axis = None) -> "JAXSparse":
        """The array with its axes in another order, reversed by default."""
        raise NotImplementedError(f"{type(self).__name__}.transpose")

    def todense(self) -> Array:
        """The same array, dense."""
        raise NotImplementedError(f"{type(self).__name__}.todense")

    def sum(self, *args: Any, **kwargs: Any) -> Any:
        """As `jax.numpy.sum`."""
        return operations().sparsify(lambda x: jnp.sum(x, *args, **kwargs))(self)

    def __getitem__(self, index):
        raise NotImplementedError(f"{type(self).__name__}: indexing is not implemented; convert to BCOO")

    __add__, __radd__ = _late("add"), _late("add", True)
    __sub__, __rsub__ = _late("subtract"), _late("subtract", True)
    __mul__, __rmul__ = _late("multiply"), _late("multiply", True)
    __matmul__, __rmatmul__ = _late("matmul"), _late("matmul", True)
    __neg__ = _late_unary("negative")
    __pos__ = _late_unary("positive")
