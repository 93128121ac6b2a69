"""Calls of the public functions with one bad argument each, drawn with a seed.

A call is text, so that it can be shown, and run under any `jax`. A function's arguments are guessed good from the names of
its parameters, then one is replaced, left out or added. Not every call drawn is an error.
"""
from __future__ import annotations

import importlib
import inspect
import random
from typing import Any, Callable, Iterator

MODULES = ("jax", "jax.numpy", "jax.numpy.linalg", "jax.numpy.fft", "jax.lax", "jax.lax.linalg", "jax.random", "jax.nn",
           "jax.nn.initializers", "jax.tree", "jax.tree_util", "jax.image", "jax.ops", "jax.flatten_util", "jax.dlpack", "jax.dtypes",
           "jax.scipy.special", "jax.scipy.linalg", "jax.scipy.signal", "jax.scipy.fft", "jax.scipy.ndimage",
           "jax.scipy.integrate", "jax.scipy.optimize", "jax.scipy.sparse.linalg", "jax.scipy.cluster.vq", "jax.scipy.stats",
           "jax.scipy.stats.norm", "jax.scipy.stats.beta", "jax.scipy.stats.multinomial",
           "jax.scipy.stats.multivariate_normal", "jax.scipy.stats.truncnorm", "jax.sharding", "jax.experimental.sparse",
           "jax.example_libraries.optimizers")
LEFT_OUT = {  # they change the process, wait, or take what is not an argument
    "jax": ("clear_backends", "clear_caches", "live_arrays", "print_environment_info", "effects_barrier", "config", "missing", "table"),
    "jax.numpy": ("save", "savez", "load", "fromfile", "printoptions", "set_printoptions", "get_printoptions", "from_dlpack"),
    "jax.tree_util": ("register_pytree_node", "register_pytree_with_keys", "register_dataclass", "register_static",
                      "register_pytree_node_class", "register_pytree_with_keys_class", "Partial"),
}
GOOD = {  # the first parameter kind whose names match
    ("key", "keys"): "jax.random.key(0)",
    ("axis", "axis1", "dimension", "axisa", "offset", "k", "batch_axis", "concat_axis", "collect_axis"): "0",
    ("axis2", "axisb", "n", "num", "order", "repeats", "num_segments", "size", "N", "M", "d", "nbins", "deg", "length", "v"): "1",
    ("axes", "dimensions", "permutation", "broadcast_dimensions"): "(0,)",
    ("shape", "new_sizes", "sizes", "newshape", "target_shape"): "(3, 3)",
    ("dtype", "new_dtype", "preferred_element_type"): "'float32'",
    ("fun", "f", "func", "function", "body_fun", "cond_fun", "body", "true_fun", "false_fun", "fn", "callback", "fun_jax", "g"): "(lambda x, *_: x)",
    ("branches",): "[lambda x: x, lambda x: x + 1]",
    ("tree", "pytree", "init", "init_val", "xs", "operands", "carry"): "{'a': jnp.ones(3), 'b': [1.0, 2.0]}",
    ("treedef",): "jax.tree_util.tree_structure([1, 2])",
    ("primals", "tangents"): "(jnp.ones(3),)",
    ("pred", "condition", "where"): "True",
    ("index", "start", "lower", "upper", "start_index", "end"): "0",
    ("indices", "start_indices", "segment_ids", "idx", "shift", "start_indices"): "jnp.array([0, 1, 1])",
    ("arrays", "tup", "operands_list", "arys", "seq"): "[jnp.ones((3, 3)), jnp.ones((3, 3))]",
    ("subscripts",): "'ij->ji'", ("method", "mode"): "'linear'", ("padding",): "'SAME'", ("name",): "'x'",
    ("window_dimensions", "window_strides", "strides", "limit_indices", "slice_sizes"): "(1, 1)",
    ("padding_config",): "[(0, 0, 0), (0, 0, 0)]",
}
GOOD_OF = {name: text for names, text in GOOD.items() for name in names}
MATRIX = "jnp.ones((3, 3))"
BAD = ("None", "'abc'", "object()", "{}", "{'a': 1}", "[]", "()", "10**30", "-1", "-9", "7", "1.5", "1j", "b'x'", "float('nan')", "True",
       "np.array(['a'])", "np.array([None, 1])", "np.array([[1, 2], [3, 4]])", "jnp.ones((2, 2, 2))", "jnp.zeros((0,))",
       "jnp.ones(5, bool)", "jnp.ones(3, 'complex64')", "jax.random.key(3)", "jax.random.split(jax.random.key(3))", "(lambda: 0)",
       "(lambda x: None)", "[1, [2, 3]]", "[None]", "(0, 0)", "(7,)", "(-9,)", "(1.5,)", "('a',)", "set()", "slice(1)", "...",
       "np.datetime64('2020')", "'float99'", "jax.ShapeDtypeStruct((2,), 'float32')", "range(3)", "iter([1])", "int", "jnp",
       "(-1, 2)", "(None, 2)", "[(0, 0)]", "-0.5", "'zz'", "np.ma.masked", "[[0, 0], [0, 0]]", "((1, 2), 3)", "-10**30", "str")
METHODS = ("sum", "mean", "argmax", "reshape", "astype", "transpose", "swapaxes", "take", "repeat", "clip", "cumsum", "sort",
           "squeeze", "dot", "item", "round", "std", "diagonal", "trace", "compress", "choose", "view", "searchsorted", "at[%s].set", "at[0].add",
           "at[0].get", "__getitem__", "__add__", "__matmul__", "__pow__", "__divmod__", "__lshift__", "__and__", "__contains__",
           "__round__", "__format__", "to_device", "addressable_data", "min", "ptp", "argsort", "nonzero")


def functions() -> list[tuple[str, Callable]]:
    """The public functions that calls are made of, and what they are called."""
    found, seen = [], set()
    for name in MODULES:
        module = importlib.import_module(name)
        for attribute in sorted(dir(module)):
            if attribute.startswith("_") or attribute.endswith("_p") or attribute in LEFT_OUT.get(name, ()):
                continue
            value = getattr(module, attribute)
            if inspect.ismodule(value) or inspect.isclass(value) or not callable(value) or id(value) in seen:
                continue
            seen.add(id(value))
            found.append((f"{name}.{attribute}", value))
    return found


def parameters(function: Callable) -> list[Any]:
    """Those of its signature that can be given."""
    try:
        given = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p for p in given if p.kind is not p.VAR_KEYWORD]


def good(name: str) -> str:
    """What probably is a right argument."""
    return GOOD_OF.get(name, MATRIX)


def calls(rounds: int, seed: int) -> Iterator[str]:
    """``rounds`` calls of each function, as text."""
    for name, function in functions():
        draw = random.Random(f"{seed} {name}")  # for each its own: another function changes nothing for the rest
        given = parameters(function)
        required = [p for p in given if p.default is p.empty and p.kind is not p.VAR_POSITIONAL]
        for _ in range(rounds):
            arguments = {p.name: good(p.name) for p in required}
            what = draw.random()
            if what < 0.08 and required:
                del arguments[draw.choice(required).name]
            elif what < 0.12:
                arguments["no_such_argument"] = "1"
            elif given:
                arguments[draw.choice(given).name] = draw.choice(BAD)
            yield f"{name}({', '.join(_spelled(given, arguments))})"
    for method in METHODS:
        draw = random.Random(f"{seed} {method}")
        for _ in range(rounds):
            place = draw.choice(BAD) if "%s" in method else None
            argument = "1" if place is not None else draw.choice(BAD)
            yield f"{draw.choice((MATRIX, 'jnp.arange(3)'))}.{method.replace('%s', place or '')}({argument})"


def _spelled(given: list, arguments: dict[str, str]) -> Iterator[str]:
    by_position = True
    for p in given:
        if p.name not in arguments:
            by_position = False
        elif p.kind is p.VAR_POSITIONAL or p.kind is p.POSITIONAL_ONLY or by_position and p.kind is not p.KEYWORD_ONLY:
            yield arguments[p.name]
        else:
            yield f"{p.name}={arguments[p.name]}"
    if "no_such_argument" in arguments:
        yield "no_such_argument=1"
