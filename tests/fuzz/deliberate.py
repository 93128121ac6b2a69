"""Where ours differs from the public implementation by intention, or because that one is wrong. A difference that a row explains is
counted, not reported."""
from __future__ import annotations

import re

REFUSED: tuple[tuple[str, str], ...] = (  # what the other one says where it refuses, and why ours accepts
    (r"logistic does not accept|dtype=\w+ is not supported|RFFT input must be", "half precision, integers and booleans are computed in float32"),
    (r"argument has no len|len\(\) of unsized", "a number is a polynomial, as in NumPy; the other one stumbles"),
    (r"meshgrid must be 1D|arr_shape=\(1,\) shape=\(\)", "a number counts as a vector of one element, as in NumPy"),
    (r"out of bounds for array of dimension 0", "a scalar is summed along its only axis, as NumPy does; the other one does so outside of vmap only"),
    (r"median reduction axis must be non-empty|Slice size at index|index is out of bounds for axis \d with size 0",
     "of nothing the median and the quantiles are NaN, the integral 0, as in NumPy"),
    (r"partition for complex dtype", "complex numbers have NumPy's order"),
    (r"a bytes-like object is required|integer modulo by zero", "the other one stumbles: jacfwd of booleans, map over nothing in batches"),
    (r"\w+ does not accept dtype bool", "booleans count as numbers"),
    (r"^a result for NotImplementedError: $", "results that are keys have no tangents; the other one has no rule for that"),
    (r"Dimension must be 3 for cross", "vectors in the plane have a cross product, as in NumPy"),
    (r"object has no attribute 'dtype'|broadcast together for power", "the other one stumbles inside"),
    (r"lu does not accept dtype float16", "half precision is computed in float32"),
    (r"Clip received a complex", "standardize takes complex numbers"),
    (r"not compatible with finfo", "integers are promoted to floats first"),
)

DIFFERENT: tuple[tuple[str, str, str], ...] = (  # kind, pattern of the shrunk program, why
    ("weak", r"jvp|grad|linearize|vjp|jacfwd|jacrev|hessian", "tangents are as weak as what they belong to, unless computed with arrays"),
    ("weak", r"is(pos|neg)?inf|isnan|isin\(|signbit", "booleans are weak in either where the other has no reason to"),
    ("weak", r"top_k", "positions are strong"),
    ("kind", r"jax.checkpoint", "what a checkpointed function passes on untouched is an array"),
    ("nan", r"norm\b", "the shortest subgradient of a norm at 0 is 0"),
    ("nan", r"i1e?\(", "the derivative at infinity is its limit"),
    ("shape", r"jnp\.take\(", "an axis that is indexed by nothing is gone, as in NumPy; the other one forgets the index's other axes"),
    ("value", r"sort_complex", "the last axis is sorted, as in NumPy; the other one sorts the first"),
    ("raises ValueError", r"\.at\[.*zeros|segment_sum|zeros.*\.at\[", "a value of no elements must broadcast, too; segments need an axis"),
    ("class IndexError", r"lax\.scan|standardize|array_split|lax\.reduce|split", "ours is a ValueError that names the argument; the other one runs out of a tuple"),
    ("raises TypeError", r"fori_loop\(.*\.", "bounds that are not whole are refused"),
    ("class (NotImplementedError|IndexError|TypeError)", r"grad|polyval|xlog", "what is wrong twice is refused for the other reason"),
    ("class TypeError", r"(minimum|maximum|max|min|clip)\(", "ours is NotImplementedError: complex numbers have no smooth order"),
    ("value|nan", r"histogram", "edges where the range overflows or is subnormal are computed in another order"),
    ("value", r"astype|convert_element_type|jnp\.asarray", "what a float beyond an integer type's range becomes depends on the processor in NumPy"),
)


def refused(words: str) -> str | None:
    """Why ours accepts what the other one refuses with ``words``; None if no row says."""
    return next((why for pattern, why in REFUSED if re.search(pattern, words)), None)


def reason(kind: str, text: str) -> str | None:
    """Why the shrunk program ``text`` may differ in this way; None if no row says."""
    return next((why for row_kind, pattern, why in DIFFERENT if re.fullmatch(row_kind, kind) and re.search(pattern, text)), None)
