"""Every public function of arrays on every dtype: a table of results, to be laid beside that of another `jax`.

    python tests/fuzz/sweep.py table OURS.pickle [PART ...]     with our interpreter, then with that of the reference
    python tests/fuzz/sweep.py compare OURS.pickle REFERENCE.pickle

Arguments are made from the names of a function's parameters; a parameter that the table does not know ends the attempt. A difference
is a value (beyond a few units of the coarser dtype), a dtype, a shape, a weak type, or another class of error.
"""
from __future__ import annotations

import collections
import inspect
import itertools
import pickle
import sys
import warnings
from typing import Any

import numpy as np

MODULES = """jax.numpy jax.numpy.linalg jax.numpy.fft jax.lax jax.lax.linalg jax.nn jax.scipy.special jax.scipy.linalg jax.scipy.signal
jax.scipy.fft jax.scipy.integrate jax.scipy.stats jax.scipy.stats.norm jax.scipy.stats.beta jax.scipy.stats.poisson jax.scipy.stats.gamma
jax.scipy.stats.t jax.scipy.stats.uniform jax.scipy.stats.laplace jax.random jax.ops jax.image""".split()
WHOLE = (3, 4)
SINGLE = [(d, WHOLE) for d in "bool int8 uint32 bfloat16 float16 complex64".split()] + [("float32", ()), ("int32", (0, 3))] + [
    ("weak", x) for x in (2, -1.5, True)]
PAIRS = [(("int32", WHOLE), ("float16", WHOLE)), (("int8", WHOLE), ("uint32", WHOLE)), (("bool", WHOLE), ("int8", WHOLE)),
         (("float16", WHOLE), ("bfloat16", WHOLE)), (("int8", WHOLE), ("weak", -1.5)), (("float16", WHOLE), ("weak", 2)),
         (("bool", WHOLE), ("weak", 2)), *((x, x) for x in (("weak", 2), ("weak", True), ("int32", (0, 3)), ("uint32", WHOLE)))]
ARRAYS = """a x y z b c m v arr ar ary array x1 x2 lhs rhs operand left right p q u t values xs tensor element_like condition obj w
matrix xi logits labels targets predictions prototype in1 in2 data loc scale df mean elements test_elements ar1 ar2 s h start stop
endpoint_value min max fill_value""".split()
KNOWN: dict[str, list] = {
    "axis": [0, -1], "axes": [(0,)], "shape": [(4, 3), (12,), (1,)], "new_shape": [(2, 6)], "newshape": [(2, 6)], "new_sizes": [(4, 3)],
    "n": [3, 2], "k": [1], "N": [3], "M": [3], "repeats": [2], "reps": [2, (2, 1)], "shift": [1], "axis1": [0], "axis2": [1],
    "source": [0], "destination": [-1], "indices": [np.array([0, 2])], "ind": [np.array([0, 1])], "dtype": [np.dtype("float32"), np.dtype("int16")],
    "new_dtype": [np.dtype("float32"), np.dtype("int16"), np.dtype("bool")], "pad_width": [1], "bins": [3], "num": [5], "sections": [2],
    "indices_or_sections": [[1]], "deg": [1], "dimensions": [(0,)], "dimension": [0], "permutation": [(1, 0)], "sizes": [(2,)],
    "start_indices": [(0, 1)], "limit_indices": [(2, 3)], "slice_sizes": [(1, 2)], "padding_value": [0], "padding_config": [((1, 0, 0), (0, 1, 0))],
    "decimals": [1], "num_classes": [4], "kind": ["first"], "order": [2], "size": [3], "index": [1], "rcond": [None], "segment_ids": [np.array([0, 0, 1])],
    "window_strides": [(1, 1)], "padding": ["VALID"], "window_dimensions": [(2, 2)], "prefactor": [1.0], "exponent": [3], "bits": [4],
    "broadcast_dimensions": [(0, 1)], "exponent_bits": [5], "mantissa_bits": [7], "minval": [0], "maxval": [5], "method": ["linear"], "lower": [True],
    "num_segments": [3], "accuracy": [None],
}
SKIP = """save savez load frombuffer fromfile fromfunction from_dlpack printoptions set_printoptions get_printoptions array_repr array_str
asarray_chkfinite empty empty_like save_npz memmap einsum_path jit vmap fromstring fromiter loadtxt genfromtxt show_config vectorize frompyfunc
create_token after_all infeed outfeed rng_uniform rng_bit_generator multinomial""".split()
LINES = np.array([0.5, 2, 1, 3, 0.25, 1.5, 4, 0.75, 1.25, 2.5, 0.125, 3.5])


def array(dtype: str, shape: tuple, turn: int) -> Any:
    """The ``turn``-th operand of that type: small positive numbers and some negative ones."""
    import jax.numpy as jnp
    values = np.resize(np.roll(LINES, 5 * turn), shape) * np.resize([1, 1, -1] if turn else [1], shape)
    if dtype.startswith(("u", "bool")):
        values = np.abs(values)
    if "int" in dtype:
        values = np.round(values * 2)
    if dtype == "bool":
        values = values > 1
    return jnp.asarray(values * (1 + 0.5j) if dtype == "complex64" else values, dtype)


def operands(count: int) -> list:
    """Lists of descriptions of ``count`` array operands."""
    return [[x] for x in SINGLE] if count == 1 else [[first] + [rest] * (count - 1) for first, rest in PAIRS]


def calls(fun: Any) -> list:
    """Descriptions of calls of ``fun``: a list of arguments, each a pair for an array or a one-tuple for a known value."""
    try:
        parameters = list(inspect.signature(fun).parameters.values())
    except (TypeError, ValueError):
        return []
    wanted = [p for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    places = [i for i, p in enumerate(wanted) if p.name in ARRAYS and p.name not in KNOWN]
    if any(p.name not in ARRAYS and p.name not in KNOWN and p.name != "key" for p in wanted) or not wanted:
        return []
    known = [[(x,) for x in KNOWN[p.name]] if p.name in KNOWN else [("key",)] for i, p in enumerate(wanted) if i not in places]
    found = []
    for given in operands(len(places)) if places else [[]]:
        for rest in itertools.product(*known):
            rest, arrays = list(rest), list(given)
            found.append([arrays.pop(0) if i in places else rest.pop(0) for i in range(len(wanted))])
    return found


def made(description: tuple, turn: int) -> Any:
    if description == ("key",):
        import jax
        return jax.random.key(7)
    if len(description) == 1:
        return description[0]
    return description[1] if description[0] == "weak" else array(*description, turn)


def outcome(fun: Any, call: list) -> Any:
    """What became of a call: types and values of its results, or the class of its error."""
    import jax
    try:
        result = fun(*[made(d, i) for i, d in enumerate(call)])
        found = []
        for leaf in jax.tree_util.tree_leaves(result):
            if isinstance(leaf, jax.Array):
                if jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
                    leaf = jax.random.key_data(leaf)
                value = np.asarray(leaf)
                kind = str(value.dtype)
                wide = value.astype(np.complex128 if value.dtype.kind == "c" else np.float64)
                found.append((kind, bool(leaf.weak_type), value.shape, wide))
            else:
                found.append((type(leaf).__name__, None, (), repr(leaf)[:60]))
        return found
    except Exception as e:
        return type(e).__name__, str(e)[:160]


def table(path: str, parts: list[str]) -> None:
    import importlib
    warnings.simplefilter("ignore")
    results: dict = {}
    for name in parts or MODULES:
        module = importlib.import_module(name)
        for attribute in sorted(dir(module)):
            fun = getattr(module, attribute, None)
            if attribute.startswith("_") or attribute in SKIP or isinstance(fun, type) or not callable(fun) or attribute.endswith("_p"):
                continue
            for call in calls(fun):
                results[f"{name}.{attribute}", repr(call)] = outcome(fun, call)
        print(name, len(results), flush=True)
        with open(path, "wb") as file:
            pickle.dump(results, file)


def difference(ours: Any, theirs: Any) -> str | None:
    """In what two outcomes of a call differ."""
    if isinstance(ours, tuple) or isinstance(theirs, tuple):
        if isinstance(ours, tuple) and isinstance(theirs, tuple):
            return None if ours[0] == theirs[0] else f"class {ours[0]} for {theirs[0]}"
        return f"refused {ours[0]}" if isinstance(ours, tuple) else f"accepted, theirs {theirs[0]}"
    if len(ours) != len(theirs):
        return "structure"
    for a, b in zip(ours, theirs):
        if a[0] != b[0]:
            return f"dtype {a[0]} for {b[0]}"
        if a[2] != b[2]:
            return "shape"
        if isinstance(a[3], str) or isinstance(b[3], str):
            if a[3] != b[3]:
                return "repr"
            continue
        tolerance = {"bfloat16": 3e-2, "float16": 4e-3}.get(a[0], 2e-4)
        with np.errstate(all="ignore"):
            if not np.allclose(a[3], b[3], rtol=tolerance, atol=tolerance, equal_nan=True):
                return "value"
        if a[1] != b[1]:
            return f"weak {a[1]} for {b[1]}"
    return None


def compare(ours_path: str, theirs_path: str) -> None:
    with open(ours_path, "rb") as f, open(theirs_path, "rb") as g:
        ours, theirs = pickle.load(f), pickle.load(g)
    groups: dict = collections.defaultdict(list)
    common = [k for k in theirs if k in ours]
    for key in common:
        what = difference(ours[key], theirs[key])
        if what is not None:
            groups[what.split()[0], key[0], what].append(key[1])
    total = sum(map(len, groups.values()))
    print(f"{len(common)} calls, {total} differ;", dict(collections.Counter(k[0] for k, v in groups.items() for _ in v)))
    for (_, name, what), found in sorted(groups.items()):
        print(f"{name}: {what}: {len(found)}: {'; '.join(found[:3])}")
        example = name, found[0]
        print("    ", str(ours[example])[:300].replace("\n", " "), "|", str(theirs[example])[:300].replace("\n", " "))


if __name__ == "__main__":
    table(sys.argv[2], sys.argv[3:]) if sys.argv[1] == "table" else compare(*sys.argv[2:4])
