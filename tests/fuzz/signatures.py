"""Calls of public functions, drawn from their signatures: what may stand for a parameter follows from its name, else from its type."""
from __future__ import annotations

import functools
import inspect
import random
from typing import Any, Iterable

import jax
import jax.numpy as jnp
import jax.scipy.stats

MODULES = {
    "jnp": jnp, "lax": jax.lax, "jax.nn": jax.nn, "jnp.linalg": jnp.linalg, "jnp.fft": jnp.fft, "jax.scipy.special": jax.scipy.special,
    "jax.scipy.linalg": jax.scipy.linalg, "jax.scipy.signal": jax.scipy.signal,
    **{f"jax.scipy.stats.{name}": getattr(jax.scipy.stats, name) for name in (
        "bernoulli beta betabinom binom cauchy chi2 dirichlet expon gamma gennorm geom gumbel_l gumbel_r laplace logistic multinomial nbinom "
        "norm pareto poisson t truncnorm uniform vonmises wrapcauchy").split()}}
NOT_DRAWN = frozenset(  # files, text, what is not filled, what needs a mesh or a function, and what is not one function of arrays
    "load save savez savez_compressed fromfile frombuffer fromstring from_dlpack empty empty_like array_repr array_str array2string bartlett info "
    "set_printoptions get_printoptions printoptions fromfunction frompyfunc apply_along_axis apply_over_axes vectorize mask_indices iterable isscalar "
    "show_config rng_uniform create_token after_all infeed outfeed optimization_barrier with_sharding_constraint conv_dimension_numbers issubdtype "
    "isdtype result_type can_cast promote_types iinfo finfo ix_ block rng_bit_generator rvs clear_cache tie_in platform_dependent shape_as_value addition_chain zeros_like_array".split())
INDEX = ("{i}", "0", "jnp.array([0, 2])", "{n}")
VALUES: dict[str, tuple[str, ...]] = {  # by the parameter's name
    "axis": ("{axis}",), "axes": ("(0,)", "(0, 1)", "(1, 0)", "None"), "keepdims": ("True",), "dtype": ("{dtype}",), "where": ("{mask}",), "dimension": ("0", "-1", "1"),
    "shape": ("(3,)", "(2, 3)", "(1, 3)", "3"), "new_shape": ("(4,)", "(2, 2)"), "new_dtype": ("{dtype}",), "index_dtype": ("'int32'", "'uint8'"), "preferred_element_type": ("{dtype}",),
    "n": ("{n}", "3"), "m": ("{x}", "{m}"), "k": ("{n}", "-1"), "N": ("{n}",), "M": ("{n}", "4"), "num": ("{n}", "4"), "decimals": ("1", "0", "-1"), "ddof": ("1", "0"), "deg": ("1", "2"),
    "size": ("2", "5", "0"), "length": ("4",), "initial": ("{lit}",), "fill_value": ("{lit}",), "reverse": ("True",), "indices": INDEX, "index": INDEX, "ind": INDEX, "obj": ("0", "jnp.array([1])"), "start_index": INDEX,
    "shift": ("1", "-2", "{i}"), "reps": ("2", "(2, 1)", "0"), "repeats": ("2", "0"), "kth": ("0", "1"), "order": ("'C'", "'F'"), "norm": ("'ortho'", "'forward'"), "ord": ("1", "jnp.inf", "2", "'fro'"),
    "weights": ("{y}",), "mode": ("'clip'", "'wrap'", "'fill'", "'same'", "'full'", "'valid'"), "lower": ("True",), "side": ("'right'",), "method": ("'linear'", "'nearest'", "'lower'"), "endpoint": ("False",),
    "include_initial": ("True",), "descending": ("True",), "stable": ("True",), "is_stable": ("True",), "assume_unique": ("True",), "equal_nan": ("True",), "return_inverse": ("True",), "return_counts": ("True",),
    "return_index": ("True",), "nan": ("{lit}",), "q": ("0.5", "25", "jnp.array([0.25, 0.5])", "{x}"), "bins": ("3", "jnp.array([0., 1., 2.])"), "num_classes": ("3",), "negative_slope": ("0.1", "{lit}"), "rowvar": ("False",),
    "bias": ("True",), "density": ("True",), "offset": ("1", "-1"), "axis1": ("0",), "axis2": ("1", "-1"), "indices_or_sections": ("3", "2", "(1,)"), "source": ("0",), "destination": ("-1",), "pad_width": ("1", "((1, 0),)", "0"),
    "dimensions": ("(0,)", "(2, 3)", "(1,)"), "operand_dtype": ("{dtype}",), "exponent_bits": ("5",), "mantissa_bits": ("3",), "approximate": ("False",), "compute_uv": ("False",), "full_matrices": ("False",), "rcond": ("1e-3",),
    "hermitian": ("True",), "UPLO": ("'U'",), "rtol": ("0.1",), "atol": ("0.1",), "tol": ("0.1",), "window_strides": ("(1,)",), "padding": ("'SAME'", "'VALID'"), "sizes": ("(2,)",), "slice_sizes": ("(2,)", "(1, 1)"), "start_indices": ("(0,)", "({i},)"),
    "limit_indices": ("(2,)",), "limit_index": ("2",), "slice_size": ("1", "2"), "broadcast_dimensions": ("(0,)", "(1,)", "()"), "rank": ("2", "3"), "window_dimensions": ("(2,)",), "permutation": ("(0,)", "(1, 0)"), "y_": ("{lit}",),
    "dx": ("0.5", "{lit}"), "period": ("2.0",), "left": ("{lit}",), "right": ("{lit}",), "trim": ("'fb'", "'b'"), "increasing": ("True",), "bitorder": ("'little'",), "count": ("{n}",), "invert": ("True",), "prepend": ("{lit}",), "append": ("{lit}",),
    "alpha": ("{lit}",), "b": ("{y}",), "loc": ("{lit}", "{y}"), "scale": ("{lit}", "{f}"), "df": ("{lit}", "{f}"), "subscripts": ("'i,i->'", "'ij,j->i'", "'i->'"), "condlist": ("[{mask}]",), "choicelist": ("[{x}]",), "default": ("{lit}",),
    "choices": ("[{x}, {y}]",), "funclist": ("[lambda c: c + 1]",), "arrays": ("[{x}, {y}]",), "tup": ("[{x}, {y}]",), "keys": ("[{x}, {y}]",), "condition": ("{mask}",), "min": ("{lit}", "{y}"), "max": ("{lit}", "{y}"), "a_min": ("{lit}",), "a_max": ("{lit}",),
    "copy": ("True",), "assume_a": ("'pos'", "'sym'"), "trans": ("1", "'T'"), "unit_diagonal": ("True",), "inplace": ("False",), "accuracy": ("None",), "p": ("{x}", "{lit}"), "d": ("{n}",), "j": ("{i}",),
    "precision": ("'highest'", "('default', 'high')"), "correction": ("{n}", "0.5"), "promote_integers": ("False",), "symmetrize_input": ("False",), "upper": ("True",), "retstep": ("True",), "to_begin": ("{lit}",), "to_end": ("{lit}", "{y}"),
    "range": ("(0.0, 2.0)",), "returned": ("True",), "sparse": ("True",), "indexing": ("'ij'",), "minlength": ("5",), "total_repeat_length": ("4",), "y": ("{y}",), "posinf": ("{lit}",), "neginf": ("{lit}",), "base": ("{lit}",), "ndmin": ("2", "0"),
    "strip_zeros": ("False",), "unroll": ("2",), "check_finite": ("False",), "overwrite_a": ("True",), "overwrite_b": ("True",), "permute_l": ("True",), "pivoting": ("True",), "discont": ("{lit}",), "algorithm": ("None",), "sorted": ("True",),
    "num_spatial_dims": ("1",), "zero_infinity": ("True",), "type": ("2", "1"), "fs": ("2.0",), "nperseg": ("2",), "s": ("(2,)", "None"), "return_sign": ("True",), "kind": ("None",), "from_": ("{dtype}",), "to": ("{dtype}",),
}
ARGUMENT = ("{x}", "{x}", "{y}", "{z}", "{f}", "{lit}", "{m}", "{s}", "{i}", "{mask}")


@functools.cache
def functions() -> tuple[tuple[str, tuple[inspect.Parameter, ...]], ...]:
    """Every public function whose required parameters are known here, with what may be passed to it."""
    found = []
    for module, names in MODULES.items():
        for name in sorted(vars(names).keys() | set(dir(names))):
            function: Any = getattr(names, name)
            if name.startswith("_") or name in NOT_DRAWN or not callable(function) or isinstance(function, type):
                continue
            try:
                parameters = tuple(inspect.signature(function).parameters.values())
            except ValueError:
                continue
            if all(_choices(p) for p in _required(parameters)):
                found.append((f"{module}.{name}", parameters))
    return tuple(found)


def _required(parameters: Iterable[inspect.Parameter]) -> list[inspect.Parameter]:
    return [p for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


def _choices(parameter: inspect.Parameter) -> tuple[str, ...]:
    """What may stand for the parameter: slots and literals of `templates`; nothing where it is not known."""
    annotation = str(parameter.annotation)
    if parameter.name in VALUES and not (parameter.name in "pmnbk" and parameter.default is parameter.empty and "Array" in annotation):
        return VALUES[parameter.name]
    return ARGUMENT if "Array" in annotation or annotation == "PyTree" else ("{n}", "1") if annotation == "int" else ()


def template(rng: random.Random) -> str:
    """A call of one function, with the slots of `templates` in it."""
    name, parameters = rng.choice(functions())
    needed = _required(parameters)
    given = [rng.choice(_choices(p)) if p.kind is not p.KEYWORD_ONLY else f"{p.name}={rng.choice(_choices(p))}" for p in needed]
    for p in parameters:
        if p not in needed and p.name in VALUES and rng.random() < 0.2:
            given.append(f"{p.name}={rng.choice(VALUES[p.name])}")
    return f"{name}({', '.join(given)})"
