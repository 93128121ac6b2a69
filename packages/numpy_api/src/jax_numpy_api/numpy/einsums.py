"""einsum: Einstein's summation, as a sequence of pairwise products in the order that opt_einsum finds cheapest.

Each step first takes diagonals of labels that come twice and sums over labels that nobody else needs, then is one
`dot_general`: labels that both operands have and the result keeps are batch axes, those it does not keep are summed.

Source: `numpy.einsum`; the order of contraction: Smith and Gray, "opt_einsum", Journal of Open Source Software 3(26), 2018.
"""
from __future__ import annotations

import functools
import os
import string
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from jax_core.programs.jit import inlined
from jax_core.representation import dtypes, splits
from jax_core.representation.array import Array
from jax_core.representation.aval import get_aval
from jax_core.representation.typing import ArrayLike, DTypeLike, Placement
from jax_core.traces import structural

from .. import lax
from .creation import placed
from .promotion import as_array, check_arraylike, convert, joined_in_product, shape_of, unwrapped
from .shaping import diagonal

if TYPE_CHECKING:
    from jax_numpy_api.lax.dot import PrecisionLike


def einsum(subscripts: str | ArrayLike, /, *operands: Any, out: None = None,
           optimize: str | bool | list[tuple[int, ...]] = "auto", precision: PrecisionLike = None,
           preferred_element_type: DTypeLike | None = None, _dot_general: Callable[..., ArrayLike] | None = None,
           out_sharding: Placement | None = None) -> Array:
    """Sums of products over labelled axes, as in ``einsum("ij,jk->ik", a, b)``.

    Args:
      subscripts: labels of the axes of each operand and of the result (by default the labels that come once, in
        alphabetical order); ``...`` stands for axes that broadcast. Or the first operand, with the operands and lists of
        integer labels taking turns.
      operands: arrays.
      out: must be None.
      optimize: how the order of products is found, as for opt_einsum: "auto", "optimal", "greedy", True, or a list of
        pairs.
      precision: of the products.
      preferred_element_type: dtype to accumulate in, and of the result.
      out_sharding: placement of the result.

    Raises:
      ValueError: labels that do not fit the operands, or lengths that differ.

    Source: `numpy.einsum`.

    >>> jnp.einsum("ij,j->i", jnp.array([[1, 2], [3, 4]]), jnp.array([1, 10]))
    Array([21, 43], dtype=int32)
    """
    if out is not None:
        raise NotImplementedError("The 'out' argument to jnp.einsum is not supported.")
    labels, arrays = _parsed(subscripts, operands)
    check_arraylike("einsum", *arrays)
    shapes = tuple(tuple(shape_of(a)) for a in arrays)
    steps = _plan(labels, shapes, _hashable(optimize))
    preferred = None if preferred_element_type is None else dtypes.canonicalize_user_dtype(preferred_element_type, "einsum")
    if _dot_general is not None and _dot_general is not lax.dot_general:
        result = _contract(arrays, steps, precision, preferred, _dot_general, out_sharding)
    else:
        result = _run(tuple(arrays), steps, precision, preferred, structural.resolved(out_sharding))
    if out_sharding is not None:
        return placed(result, None, out_sharding)
    return result


def einsum_path(subscripts: str | ArrayLike, /, *operands: Any,
                optimize: bool | str | list[tuple[int, ...]] = "auto") -> tuple:
    """The order of pairwise products that `einsum` would take, and a description.

    Args:
      optimize: how a path is looked for, as for `einsum`.

    Source: `numpy.einsum_path`.

    >>> jnp.einsum_path("ij,jk,k->i", jnp.ones((2, 3)), jnp.ones((3, 4)), jnp.ones(4))[0]
    [(1, 2), (0, 1)]
    """
    import opt_einsum  # start-up: loaded when a sum has three operands or more, or its path is asked for
    labels, arrays = _parsed(subscripts, operands)
    return opt_einsum.contract_path(labels, *map(shape_of, arrays), shapes=True, optimize=_search(optimize))


def _hashable(optimize: Any) -> Any:
    return tuple(map(tuple, optimize)) if isinstance(optimize, (list, tuple)) else optimize


def _search(optimize: Any) -> Any:
    if optimize is True:
        return "optimal"
    if optimize is False:
        return "auto"
    return [tuple(p) for p in optimize] if isinstance(optimize, (list, tuple)) else optimize


# -- labels ------------------------------------------------------------------------------------------------------------

def _parsed(subscripts: Any, operands: tuple) -> tuple[str, list]:
    """Labels with ``->`` and without ``...``, and the operands."""
    if isinstance(subscripts, str):
        text, arrays = subscripts.replace(" ", ""), [unwrapped(x) for x in operands]
    else:
        text, arrays = _from_lists((subscripts, *operands))
    left, arrow, right = text.partition("->")
    inputs = left.split(",")
    if len(inputs) != len(arrays):
        raise ValueError(f"einsum: subscripts {text!r} are for {len(inputs)} operands, got {len(arrays)}")
    ranks = [len(shape_of(a)) for a in arrays]
    spare = [c for c in map(_letter, range(len(set(text)) + 64)) if c not in text]  # NumPy's arrays have at most 64 axes
    widths = [rank - len(t.replace("...", "")) for t, rank in zip(inputs, ranks) if "..." in t]
    dots = spare[:max(widths, default=0)] if widths else []
    filled = [_fill(t, rank, dots, text) for t, rank in zip(inputs, ranks)]
    if arrow:
        out = right.replace("...", "".join(dots))
    else:
        flat = "".join(t.replace("...", "") for t in inputs)
        out = "".join(dots) + "".join(sorted(c for c in set(flat) if flat.count(c) == 1))
    for c in out:
        if not any(c in t for t in filled):
            raise ValueError(f"einsum: label {c!r} of the result is not in any operand of {text!r}")
        if out.count(c) > 1:
            raise ValueError(f"einsum: label {c!r} comes twice in the result of {text!r}")
    return ",".join(filled) + "->" + out, arrays


def _fill(labels: str, rank: int, dots: list, text: str) -> str:
    if "..." in labels:
        width = rank - len(labels.replace("...", ""))
        if width < 0:
            raise ValueError(f"einsum: operand of rank {rank} has fewer axes than labels {labels!r} in {text!r}")
        labels = labels.replace("...", "".join(dots[len(dots) - width:]))
    if len(labels) != rank:
        raise ValueError(f"einsum: operand of rank {rank} does not fit labels {labels!r} in {text!r}")
    if not set(".->").isdisjoint(labels):
        raise ValueError(f"einsum: labels must be single characters other than '.', '-' and '>', got {labels!r} in {text!r}")
    return labels


def _letter(number: int) -> str:
    """The label of this number: ASCII letters first, then those of other alphabets, in their order."""
    return string.ascii_letters[number] if number < 52 else chr(192 + number - 52)


def _from_lists(parts: tuple) -> tuple[str, list]:
    """The form with operands and lists of labels taking turns."""
    letters: dict = {}

    def name(label: str):
        if label is Ellipsis:
            return "..."
        if label not in letters:
            letters[label] = _letter(len(letters))
        return letters[label]
    pairs = len(parts) // 2
    arrays = [unwrapped(parts[2 * i]) for i in range(pairs)]
    everything = sorted({x for i in range(pairs) for x in parts[2 * i + 1] if x is not Ellipsis})
    for label in everything:  # so that the order of letters is that of the labels
        name(label)
    text = ",".join("".join(map(name, parts[2 * i + 1])) for i in range(pairs))
    if len(parts) % 2:
        text += "->" + "".join(map(name, parts[-1]))
    return text, arrays


# -- the plan ----------------------------------------------------------------------------------------------------------

@functools.lru_cache(maxsize=512)
def _plan(labels: str, shapes: tuple, optimize: Any) -> tuple:
    """Steps: (positions of the operands, their labels, labels of the result)."""
    left, _, out = labels.partition("->")
    inputs = left.split(",")
    _check_lengths(labels, inputs, shapes)
    path = _path(labels, shapes, optimize)
    steps = []
    for n, positions in enumerate(path):
        positions = tuple(sorted(min(p, len(inputs) - 1) for p in positions))
        taken = _take(inputs, positions)
        needed = set(out).union(*inputs)
        last = n == len(path) - 1
        result = out if last else "".join(dict.fromkeys(c for t in taken for c in t if c in needed))
        steps.append((positions, tuple(taken), result))
        inputs.append(result)
    return tuple(steps)


def _take(items: list, positions: tuple) -> list:
    """Remove and return those at ``positions``, which ascend."""
    return [items.pop(p) for p in reversed(positions)][::-1]


def _check_lengths(labels: str, inputs: list, shapes: tuple) -> None:
    lengths: dict = {}
    for text, shape in zip(inputs, shapes):
        for c, n in zip(text, shape):
            known = lengths.setdefault(c, n)
            if known == 1:
                lengths[c] = n
            elif n != 1 and n != known:
                raise ValueError(f"einsum: label {c!r} of {labels!r} has length {known} and {n}; the operands have shapes "
                                 f"{', '.join(map(str, shapes))}")


def _path(labels: str, shapes: tuple, optimize: Any) -> list:
    if len(shapes) == 1:
        return [(0,)]
    if len(shapes) == 2:
        return [(0, 1)]
    import opt_einsum  # start-up: loaded when a sum has three operands or more, or its path is asked for
    path = opt_einsum.contract_path(labels, *shapes, shapes=True, optimize=_search(optimize))[0]
    return _in_pairs(path)


_LAST = 1 << 30  # in a path: the result of the step before


def _in_pairs(path: Any) -> list:
    """A path whose steps take one or two operands each: opt_einsum may contract several at once, and puts the result
    of a step at the end of the list."""
    steps: list = []
    for p in path:
        p = sorted(p)
        while len(p) > 2:
            first, second, *rest = p
            steps.append((first, second))
            p = sorted([q - 2 for q in rest] + [_LAST])
        steps.append(tuple(p))
    return steps


# -- running -----------------------------------------------------------------------------------------------------------

@inlined(static_argnums=(1, 2, 3, 4))
def _run(arrays, steps, precision, preferred, out_sharding):
    return _contract(list(arrays), steps, precision, preferred, None, out_sharding)


def _contract(arrays, steps, precision, preferred, dot_general, out_sharding):
    arrays = list(arrays)
    dtype, weak = joined_in_product(preferred, *arrays)
    result_dtype = dtype if preferred is None else preferred
    asked = preferred if dot_general is None else result_dtype  # a user's product may round its operands, and not the result
    arrays = [as_array(convert(a, dtype, weak)) for a in arrays]
    for i, (positions, labels, out) in enumerate(steps):
        taken = _take(arrays, positions)
        where = None if dot_general is not None else out_sharding
        if where is not None and i < len(steps) - 1:
            where = _of_intermediate(taken, labels, out)
        if len(taken) == 1:
            arrays.append(_single(taken[0], labels[0], out, where))
        else:
            arrays.append(_pair(*taken, *labels, out, precision, asked, dot_general, where))
    return convert(arrays[0], np.dtype(result_dtype), weak and preferred is None)


def _of_intermediate(arrays, labels, out):
    """The placement of a result that the next step reads: split as the operands are, but over each mesh axis once."""
    placement = next((p for x in arrays if (p := get_aval(x).placement) is not None), None)
    if placement is None:
        return None
    found, used = {}, set()
    for x, names in zip(arrays, labels):
        for c, entry in zip(names, splits.entries(get_aval(x))):
            axes = set(entry if isinstance(entry, tuple) else (entry,)) - {None}
            if c in out and c not in found and axes and not axes & used:
                found[c] = entry
                used |= axes
    return placement.update(spec=type(placement.spec)(*[found.get(c) for c in out]))


def _single(x, labels, out, where):
    """Diagonals, sums and a transpose of one operand."""
    x, labels = _diagonals(x, labels)
    x, labels = _summed(x, labels, [c for c in labels if c not in out], where, out)
    return _ordered(x, labels, out)


def _diagonals(x, labels):
    for c in dict.fromkeys(labels):
        while labels.count(c) > 1:
            i, j = labels.index(c), labels.index(c, labels.index(c) + 1)
            x = diagonal(x, 0, i, j)
            labels = labels[:i] + labels[i + 1:j] + labels[j + 1:] + c
    return x, labels


def _summed(x, labels, drop, where=None, out=""):
    """``x`` without the axes ``drop``; the result has the placement ``where`` has for its axes in the order ``out``."""
    axes, kept = tuple(i for i, c in enumerate(labels) if c in drop), "".join(c for c in labels if c not in drop)
    if axes:
        x = lax.reduce_sum_p.bind(convert(x, np.dtype(np.int32)) if x.dtype == np.bool_ else x, axes=axes,
                                  out_sharding=_in_order(where, kept, out))
    return x, kept


def _in_order(where, labels, out):
    """The placement ``where`` of a result with the axes ``out``, for its axes in the order ``labels``; None where types have none."""
    placement = None if where is None else splits.in_type(where, len(out))
    return placement if placement is None else splits.with_entries(placement, tuple(placement.spec.partitions[out.index(c)] for c in labels))


def _ordered(x, labels, out):
    if labels == out:
        return x
    return lax.transpose(x, tuple(labels.index(c) for c in out))


def _pair(x, y, lx, ly, out, precision, preferred, dot_general, where):
    x, lx = _diagonals(x, lx)
    y, ly = _diagonals(y, ly)
    x, lx = _without_ones(x, lx, y, ly)
    y, ly = _without_ones(y, ly, x, lx)
    x, lx = _summed(x, lx, [c for c in lx if c not in ly and c not in out])
    y, ly = _summed(y, ly, [c for c in ly if c not in lx and c not in out])
    if _changes_places(lx, ly, out, dot_general):
        x, lx, y, ly = y, ly, x, lx
    batch = [c for c in (lx if dot_general is None else out) if c in lx and c in ly and c in out]
    contract = [c for c in (lx if dot_general is None else sorted(lx)) if c in ly and c not in out]
    numbers = ((tuple(map(lx.index, contract)), tuple(map(ly.index, contract))),
               (tuple(map(lx.index, batch)), tuple(map(ly.index, batch))))
    names = _as_multiplied(batch, lx, ly)
    if not contract and dot_general is None and not preferred:
        return _ordered(_product(x, y, lx, ly, names, _in_order(where, names, out)), names, out)
    options = {}
    if (placement := _in_order(where, names, out)) is not None:
        options["out_sharding"] = placement
    product = (dot_general or lax.dot_general)(x, y, numbers, precision=precision, preferred_element_type=preferred, **options)
    return _ordered(product, names, out)


def _changes_places(lx: str, ly: str, out: str, dot_general: Callable[..., ArrayLike] | None) -> bool:
    """Whether the second operand is to be the left one.

    A user's product may treat its operands differently (it quantises weights and activations), so who is left must not depend on speed:
    the first one is where the product then needs no transpose, else the second.
    """
    if dot_general is None:
        batch = [c for c in lx if c in ly and c in out]
        return _in_place(_as_multiplied(batch, ly, lx), out) > _in_place(_as_multiplied(batch, lx, ly), out)
    return _as_multiplied([c for c in out if c in lx and c in ly], lx, ly) != out


def _as_multiplied(batch: Sequence[str], lx: str, ly: str) -> str:
    """Labels of `dot_general`'s result: batch axes, the left operand's own, the right one's."""
    return "".join([*batch, *(c for c in lx if c not in ly), *(c for c in ly if c not in lx)])


def _in_place(labels: str, out: str) -> int:
    """How many of the last axes a transpose to ``out`` leaves where they are; what it moves are the blocks of these."""
    return len(os.path.commonprefix([labels[::-1], out[::-1]]))


def _product(x, y, lx, ly, names, where):
    """Without a sum the product is elementwise."""
    lengths = {**dict(zip(ly, y.shape)), **dict(zip(lx, x.shape))}
    shape = tuple(lengths[c] for c in names)

    def spread(z: Array, labels: str):
        order = [c for c in names if c in labels]
        placement = where if where is None or get_aval(z).placement is None else splits.with_entries(
            where, tuple(e if c in order else None for c, e in zip(names, where.spec.partitions)))
        return lax.broadcast_in_dim(_ordered(z, labels, "".join(order)), shape, tuple(names.index(c) for c in order),
                                    out_sharding=placement)
    multiply = lax.bitwise_and if x.dtype == np.bool_ else lax.mul
    return multiply(spread(x, lx), spread(y, ly))


def _without_ones(x, lx, y, ly):
    """``x`` without axes of length 1 whose label is longer in ``y``: they broadcast, so the label is that of ``y``."""
    drop = [i for i, c in enumerate(lx) if x.shape[i] == 1 and c in ly and y.shape[ly.index(c)] != 1]
    if not drop:
        return x, lx
    return lax.squeeze(x, tuple(drop)), "".join(c for i, c in enumerate(lx) if i not in drop)

