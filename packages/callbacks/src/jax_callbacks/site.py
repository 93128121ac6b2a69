"""One call of a callback in a program: what the function is given, and what it has to return.

A `Site` is made when the call is traced, and is a parameter of the equation. Its `host_function` is what the runtime
calls, with the operands as NumPy arrays. The runtime writes what comes back into its own buffers without looking at
shapes, so every result is checked here.
"""
from __future__ import annotations

import copy
import itertools
import time
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from jax_core.configuration import context
from jax_core.representation import dtypes, tree
from jax_core.representation.arguments import check_callable, note_call
from jax_core.representation.aval import AbstractValue, ShapedArray
from jax_core.representation.source import describe_function
from jax_core.traces.trace import EVAL

from . import stats
from .errors import carrier
from .views import HostArray, complete

if TYPE_CHECKING:
    from jax_core.representation.tree import PyTreeDef
    from jax_core.representation.typing import PyTree


class _Dynamic:
    """In the place of an argument that is an operand of the program."""

    def __repr__(self):
        return "(operand)"


DYNAMIC = _Dynamic()
_ARRAYS = frozenset((np.ndarray, HostArray))


class Site:
    """One call of a callback.

    Args:
      kind: the public function, for messages.
      function: the user's.
      in_tree: structure of ``(args, kwargs)``.
      statics: for each leaf of it an object to be passed as it is, or `DYNAMIC`.
      out_tree: structure of the result; None if the result is ignored.
      out_avals: types of its leaves.

    Attributes:
      record: counts the calls.
    """

    __slots__ = ("kind", "function", "out_tree", "out_avals", "record", "_function", "_in_tree", "_inputs", "_wanted",
                 "__weakref__")

    def __init__(self, kind: str, function: Callable, in_tree: Any, statics: Sequence[Any], out_tree: Any,
                 out_avals: Sequence[AbstractValue]):
        self.kind, self.function, self.out_tree, self.out_avals = kind, function, out_tree, tuple(out_avals)
        self._function, self._in_tree = _of_operands(function, in_tree, statics), in_tree
        self._inputs: int | None = sum(s is DYNAMIC for s in statics)
        self._wanted = [_stored(a) for a in self.out_avals]
        self.record = stats.record_of(kind, function)

    def __repr__(self):
        return f"<{describe_function(self.function)}>"

    def returning(self, out_avals: Sequence[AbstractValue]) -> "Site":
        """This site with other result types."""
        other = copy.copy(self)
        other.out_avals, other._wanted = tuple(out_avals), [_stored(a) for a in out_avals]
        return other

    def run(self, arrays: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        """Call the user's function once on operands, and return the checked leaves of its result."""
        state = context.state
        if state.trace is not EVAL:  # the program runs in the middle of a transformation, which is not the callback's
            with context.Use(EVAL):
                return self.run(arrays)
        record = self.record
        start = time.perf_counter_ns()
        try:
            if stats.limit is not None:
                with stats.watched(self):
                    result = self._function(*[HostArray(x) for x in arrays])
            else:
                result = self._function(*[HostArray(x) for x in arrays])
        except TypeError as error:
            self._note_call(error)
            raise
        finally:
            record.count += 1
            record.nanoseconds += time.perf_counter_ns() - start
        if self.out_tree is None:
            return ()
        return self._checked(result)

    def host_function(self, ordered: bool, platform: str) -> Callable:
        """The function for the runtime of a platform. With ``ordered`` the first operand and the first result are tokens."""
        if self._inputs == 1 and len(self._wanted) == 1 and self.out_tree.num_nodes == 1:
            return self._one_to_one(ordered, platform)
        call = self._any(platform)
        return (lambda token, *arrays: (token, *call(*arrays))) if ordered else call

    def _any(self, platform: str) -> Callable:
        run = self.run

        def call(*arrays):
            try:
                return tuple(run(arrays))
            except BaseException as error:
                failure = carrier(error, self.kind, platform)
            raise failure
        return call

    def _one_to_one(self, ordered: bool, platform: str) -> Callable:
        """`_any` for the commonest case, one array in and one out: what is only needed in special cases is left to `run`.

        The runtime takes results with any strides.
        """
        run, function, record, kind, (want,) = self.run, self._function, self.record, self.kind, self._wanted
        dtype, shape, checked, note = want.dtype, want.shape, self._checked, self._note_call
        state, clock = context.state, time.perf_counter_ns

        def call(x):
            try:
                if stats.limit is not None or state.trace is not EVAL:
                    return tuple(run((x,)))
                start = clock()
                try:
                    result = function(HostArray(x))
                except TypeError as error:
                    note(error)
                    raise
                finally:
                    record.nanoseconds += clock() - start
                    record.count += 1
                if type(result) is HostArray:
                    result = result._npy_value
                if type(result) is np.ndarray and result.dtype is dtype and result.shape == shape:
                    return (result,)
                return tuple(checked(result))
            except BaseException as error:
                failure = carrier(error, kind, platform)
            raise failure
        return (lambda token, x: (token, call(x)[0])) if ordered else call

    def _note_call(self, error: TypeError) -> None:
        args, kwargs = tree.skeleton(self._in_tree)
        what = ([f"{len(args)} by position"] if args else []) + list(kwargs) or ["none"]
        after = "it" if self.out_tree is None else "result_shape_dtypes"
        note_call(error, self.function, f"{self.kind} calls the function with the arguments that follow {after}, here {', '.join(what)}", args, kwargs)

    # -- results -----------------------------------------------------------------------------------------------------

    def _checked(self, result: Any) -> Sequence[np.ndarray]:
        wanted = self._wanted
        if len(wanted) == 1 and type(result) in _ARRAYS:
            if self.out_tree.num_nodes == 1:
                return (self._fitted(result, wanted[0], 0),)
        leaves, structure = tree.flatten(result)
        if structure != self.out_tree:
            self._check_structure(leaves, structure)
        return [self._fitted(x, want, i) for i, (x, want) in enumerate(zip(leaves, wanted))]

    def _fitted(self, x: Any, want: ShapedArray, i: int) -> np.ndarray:
        if type(x) is HostArray:
            x = x._npy_value
        if type(x) is np.ndarray and x.dtype == want.dtype and x.shape == want.shape:
            return x if x.flags.c_contiguous else np.ascontiguousarray(x).reshape(want.shape)
        return self._converted(x, want, i)

    def _converted(self, x: Any, want: ShapedArray, i: int) -> np.ndarray:
        """A result that is not an array of the right type yet."""
        scalar = type(x) in (bool, int, float, complex)
        if isinstance(getattr(x, "dtype", None), dtypes.ExtendedDType):
            x = x.dtype.unwrap(x)
        try:
            value = np.asarray(x)
            if value.dtype.kind in "OSUMm":
                raise TypeError(f"its dtype is {value.dtype.name}")
            got = dtypes.canonicalize_dtype(value.dtype)
        except Exception as error:
            raise TypeError(f"{self._where(i)} is {x!r} of type {type(x).__name__}, which is not an array or number; "
                            f"expected {want.str_short()}.") from error
        if value.shape != want.shape:
            raise ValueError(f"{self._where(i)} has the wrong shape: expected {want.str_short()}, got "
                             f"{value.dtype.name}[{','.join(map(str, value.shape))}].")
        if got != want.dtype and not (scalar and np.can_cast(_KIND_OF[type(x)], want.dtype, "same_kind")):
            raise ValueError(f"{self._where(i)} has the wrong dtype: expected {want.str_short()}, got "
                             f"{value.dtype.name}[{','.join(map(str, value.shape))}]; return "
                             f"`result.astype({want.dtype.name!r})`, or declare {value.dtype.name}.")
        return np.ascontiguousarray(value, want.dtype).reshape(want.shape)

    def _check_structure(self, leaves, structure):
        """Lists and tuples may stand for each other; all else must be as declared."""
        if len(leaves) == len(self._wanted):
            declared = tree.skeleton(self.out_tree)
            returned = tree.skeleton(structure)
            if _keys(declared) == _keys(returned):
                return
        raise ValueError(f"{self.kind}: the result of {describe_function(self.function)} has the wrong structure: "
                         f"expected {self.out_tree}, got {structure}; result_shape_dtypes declares the structure that it returns.")

    def _where(self, i: int) -> str:
        paths = tree.flatten_with_path(tree.skeleton(self.out_tree))[0]
        place = tree.keystr(paths[i][0]) if i < len(paths) else f"[{i}]"
        return f"{self.kind}: the result{f' at {place}' if place else ''} of {describe_function(self.function)}"


_KIND_OF = {bool: np.dtype(bool), int: np.dtype("int8"), float: np.dtype("float16"), complex: np.dtype("complex64")}


def _keys(value: Any) -> list:
    return [[getattr(k, "key", getattr(k, "name", getattr(k, "idx", None))) for k in path]
            for path, _ in tree.flatten_with_path(value)[0]]


def _stored(aval: Any) -> ShapedArray:
    """The type that a value is stored as: of keys, the array of numbers."""
    if isinstance(aval.dtype, dtypes.ExtendedDType):
        element = aval.dtype.physical_element_aval
        return ShapedArray((*aval.shape, *element.shape), element.dtype)
    return aval


def _of_operands(function: Callable, in_tree: Any, statics: Sequence[Any]) -> Callable:
    """``function`` as a function of the operands alone, which are put in their places."""
    if all(s is DYNAMIC for s in statics):
        args, kwargs = tree.skeleton(in_tree)
        if not kwargs and all(type(a) is int for a in args):  # nothing but arrays by position; a node may compare in its own way
            return function

        def with_structure(*operands):
            args, kwargs = tree.unflatten(in_tree, operands)
            return function(*args, **kwargs)
        return with_structure

    def with_statics(*operands):
        given = iter(operands)
        args, kwargs = tree.unflatten(in_tree, [next(given) if s is DYNAMIC else s for s in statics])
        return function(*args, **kwargs)
    return with_statics


class BatchedSite(Site):
    """Calls another site once for each element of a batch, in order.

    Of a batch of batches the outermost index runs fastest: what the inner `vmap` made a row of calls, the outer one repeats call by call.

    Args:
      inner: the site for one element.
      size: of the batch.
      mapped: which operands have a leading batch axis.
    """

    __slots__ = ("inner", "size", "mapped")

    def __init__(self, inner: Site, size: int, mapped: Sequence[bool]):
        self.kind, self.function, self.out_tree, self.record = inner.kind, inner.function, inner.out_tree, inner.record
        self.inner, self.size, self.mapped = inner, size, tuple(mapped)
        self._inputs = None  # it has a `run` of its own, which `_one_to_one` would pass by
        self.out_avals = tuple(ShapedArray((size, *a.shape), a.dtype) for a in inner.out_avals)
        self._wanted = [_stored(a) for a in self.out_avals]

    def run(self, arrays: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        layers, site = [self], self.inner
        while isinstance(site, BatchedSite):
            layers.append(site)
            site = site.inner
        mapped = list(zip(*(layer.mapped for layer in layers)))  # of each operand, by which layers
        results = [np.empty(w.shape, w.dtype) for w in self._wanted]
        for reverse in np.ndindex(*(layer.size for layer in reversed(layers))):
            index = reverse[::-1]
            element = site.run([x[(*itertools.compress(index, by), ...)] for x, by in zip(arrays, mapped)])
            for whole, part in zip(results, element):
                whole[index] = part
        return results


def make_site(kind: str, function: Callable[..., PyTree], args: tuple, kwargs: dict, out_tree: PyTreeDef, out_avals: Sequence[AbstractValue],
              is_operand: Callable[[Any], bool]) -> tuple[Site, list]:
    """The site of a call with these arguments, and those of them that are operands."""
    check_callable(kind, function)
    complete()
    leaves, in_tree = tree.flatten((args, kwargs))
    statics = [DYNAMIC if is_operand(x) else x for x in leaves]
    operands = [x for x, s in zip(leaves, statics) if s is DYNAMIC]
    return Site(kind, function, in_tree, statics, out_tree, out_avals), operands
