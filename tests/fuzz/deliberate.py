"""Where ours differs from the public implementation by intention, or because that one is wrong. A difference that a row explains is
counted, not reported. A row names the function as closely as it can, so that it hides nothing else."""
from __future__ import annotations

import re

REFUSED: tuple[tuple[str, str, str], ...] = (  # what the other one says where it refuses, pattern of the program, why ours accepts
    (r"logistic does not accept", r"sigmoid|silu|swish|expit|logistic|glu", "integers and booleans are promoted to floats, as in NumPy"),
    (r"dtype=\w+ is not supported", r"spence|ndtr|truncnorm|norm\.(log)?(cdf|sf)|norm\.i?(ppf|sf)|digamma|erf|lgamma|gammaln|\bi[01]e?\b", "half precision and integers are computed in float32"),
    (r"RFFT input must be", r"rfft|hfft|signal\.", "half precision is computed in float32"),
    (r"lu does not accept dtype float16|A\.dtype=b?float16", r"det|inv|solve|lu\b|expm", "half precision is computed in float32"),
    (r"argument has no len|len\(\) of unsized|IndexError: tuple index", r"poly", "a number is a polynomial, as in NumPy; the other one stumbles"),
    (r"meshgrid must be 1D|arr_shape=\(1,\) shape=\(\)", "", "a number counts as a vector of one element, as in NumPy"),
    (r"out of bounds for array of dimension 0", "", "a scalar is summed along its only axis, as NumPy does; the other one does so outside of vmap only"),
    (r"median reduction axis must be non-empty|Slice size at index|index is out of bounds for axis \d with size 0",
     r"median|quantile|percentile|trapezoid|take|\.at\[", "of nothing nothing is set, the median and the quantiles are NaN, the integral 0, as in NumPy"),
    (r"partition for complex dtype", r"partition", "complex numbers have NumPy's order"),
    (r"a bytes-like object is required|integer modulo by zero", r"jac(fwd|rev)|hessian|batch_size", "the other one stumbles: jacfwd of booleans, map over nothing in batches"),
    (r"(neg|sub|add|mul|div|sign|abs|floor|ceil|round|clamp|max|min|sort|logistic|log|exp|sqrt|square|integer_pow|pow|cumsum|cumprod|reduce_\w+) does not accept dtype bool",
     r"jnp\.|jax\.(nn|scipy|numpy)|lambda", "booleans count as numbers in what is made of several steps"),
    (r"^a result for NotImplementedError: $", r"key|random", "results that are keys have no tangents; the other one has no rule for that"),
    (r"Dimension must be 3 for cross", r"cross", "vectors in the plane have a cross product, as in NumPy"),
    (r"object has no attribute 'dtype'|broadcast together for power", "", "the other one stumbles inside"),
    (r"Clip received a complex", r"standardize", "standardize takes complex numbers"),
    (r"same dtypes, got complex", r"stats\.laplace", "complex numbers pass through a formula"),
    (r"not compatible with finfo", r"norm|round|polar|hyp2f1", "integers are promoted to floats first"),
    (r"no available implicit dtype", r"log1mexp|sinc|log_softmax|squareplus|silu|standardize|softmax|logsumexp|normalize", "integers are promoted to floats first, by what is meant for floats"),
    (r"no available implicit dtype", r"jax_disable_jit.*(switch|cond)\(", "without compilation only the branch that is taken runs"),
    (r"AttributeError: (module|'(float|int|bool)' object)", r"lax\.", "the other one has no such name, or stumbles over a number"),
    (r"AssertionError: $", r"broadcast_shapes\(\)", "of nothing the shape is (), as in NumPy"),
    (r"Only implemented for order='K'", r"copy\(.*order=", "the order of elements in memory is nobody's concern"),
    (r"only supports mxn matrices", r"polar\(", "wide matrices have a polar decomposition, too"),
    (r"values to unpack|only 1-dimensional input", r"histogram(2d|dd)\(", "samples of any shape are flattened"),
    (r"lgamma does not accept dtype complex", r"factorial|gamma", "complex numbers have a factorial"),
    (r"nonzero length", r"fiedler_companion\(", "a polynomial of nothing has no companion"),
    (r"Riemann zeta function not implemented", r"zeta\(", "zeta(x) is Riemann's"),
    (r"does not accept dtype (bool|u?int\d+) at position 0", r"linalg\.", "matrices of integers and booleans are promoted to floats"),
    (r"floor does not accept dtype", r"quantile|percentile", "a whole number is a quantile, too"),
    (r"conj does not accept dtype b?float16", r"lax\.conj\(", "the conjugate of a real number is that number"),
    (r"gt does not accept dtype complex", r"stats\.(gumbel|logistic|cauchy|wrapcauchy)", "complex numbers pass through a formula"),
    (r"Cannot place values from an empty array", r"place\(", "into nothing nothing is put, as in NumPy"),
    (r"rank_promotion='raise'|rank_promotion=raise", r"owens_t", "inside of a function of one formula nothing is promoted by the user"),
    (r"ConcretizationTypeError", r"fill_value=jnp\.|jnp\.(unique(_\w+)?\([\d.]+\)|delete\(\w+, jnp\.array)", "a constant is known while tracing"),
    (r"tuple indices must be integers", r"fft\(.*axis=None", "no axis is the last one"),
    (r"float0 array", r"gumbel_[lr]\.ppf", "the other one stumbles over an argument that is an integer"),
    (r"unhashable type: 'jaxlib._jax.ArrayImpl'", r"fill_value=jnp\.float32", "a fill value that is an array; the other one stumbles under derivatives and vmap"),
    (r"preferred_element_type` must not be narrower", r"(dot|inner|matmul|vecdot)\(|@", "a product with a weak number; the other one takes that for a wider type"),
    (r"log(1p)? does not accept dtype", r"xlog1?p?y", "derivatives beside an integer; the other one forgets to promote it"),
)

DIFFERENT: tuple[tuple[str, str, str], ...] = (  # kind, pattern of the shrunk program, why
    ("weak", r"(?=.*(jvp|grad|linearize|vjp|jacfwd|jacrev|hessian)).*(sort|@|dot|inner|take|\b[a-eu-z]\[|dynamic_|clip|minimum|maximum|lax\.complex|scan|cond|\bjit\(lambda [ct]|interp|conv_|convolve|power|\*\*|erfc?\(|log_ndtr|exp[1i]\()",
     "a derivative is as weak as what it belongs to; the other one computes some with arrays of zeros"),
    ("weak", r"argpartition", "positions are strong"),
    ("dtype", r"argpartition", "positions are strong"),
    ("dtype", r"owens_t\(", "half precision stays, as everywhere"),
    ("kind", r"jax.checkpoint", "what a checkpointed function passes on untouched is an array"),
    ("kind", r"jax_disable_jit", "what is passed on untouched stays what it was"),
    ("dtype", r"angle\(", "of a scalar as of an array"),
    ("no NaN", r"norm\b|hypot", "the shortest subgradient of a norm at 0 is 0"),
    ("no NaN", r"i1e?\(|spence|expi\(|polygamma|hard_silu|log_ndtr", "the derivative at infinity and at poles is its limit"),
    ("NaN|no NaN", r"entr\(|logit\(", "outside of where they are defined they have no slope"),
    ("NaN|no NaN", r"gammaincc?\(|gamma\.(log)?[cs][df]f", "of the order 0, the limit"),
    ("no NaN|infinity", r"digamma\(", "-inf at 0, inf at -0, as in SciPy"),
    ("NaN", r"stats\.mode\(", "NaN propagates, as it is asked to"),
    ("NaN|infinity", r"gamma\.(log)?pdf", "no distribution has a shape that is not positive: NaN, as in SciPy"),
    ("no NaN", r"vander|(power|pow)\(|\*\* ?0|polyval", "the power 0 is constant"),
    ("NaN|no NaN|infinity|value", r"(?s)(?=.*(inf|nan|e\+38|e38)).*(linalg|expm|det\()", "LAPACK promises nothing of what is not finite"),
    ("NaN", r"jit\(.*jac(fwd|rev)\(f\)", "infinity by 0 is NaN off the diagonal; XLA makes a selection of a product with the unit matrix"),
    ("NaN|no NaN", r"(?=.*'?uint).*(softmax|log1mexp)", "unsigned integers are promoted before they are subtracted"),
    ("value", r"(?s)(?=.*\dj).*\.(all|any|logical_\w+|count_nonzero|nonzero|astype)\(", "an imaginary number is true"),
    ("value", r"(?s)(?=.*zeros\(.*0).*(where|nonzero)\(.*size=", "of nothing, too, the rest is the fill value"),
    ("value", r"(?s)(?=.*(zeros|nan|inf)).*(bitcast|view\(|signbit|copysign)", "the sign of a NaN that was computed"),
    ("value|NaN|no NaN|infinity", r"1e-40", "what a subnormal number counts as depends on where the program runs"),
    ("value", r"(?s)^(?!.*\d\.\d)(?=.*(power|pow|\*\*)).*-\d", "a negative power of an integer is no integer"),
    ("shape", r"jnp\.take\(", "an axis that is indexed by nothing is gone, as in NumPy; the other one forgets the index's other axes"),
    ("value", r"sort_complex", "the last axis is sorted, as in NumPy; the other one sorts the first"),
    ("raises ValueError", r"(?s)\.at\[.*zeros|segment_sum|zeros.*\.at\[", "a value of no elements must broadcast, too; segments need an axis"),
    ("raises ValueError", r"while_loop", "no loop of unknown length is differentiated, though it may run over nothing"),
    ("class IndexError", r"lax\.scan|lax\.map|vecdot|standardize|array_split|lax\.reduce|split|mean|var\(|std\(|average", "ours is a ValueError that names the argument; the other one runs out of a tuple"),
    ("raises TypeError", r"fori_loop\(.*\.", "bounds that are not whole are refused"),
    ("class (NotImplementedError|IndexError|TypeError)", r"grad|polyval|xlog|\.apply\(", "what is wrong twice is refused for the other reason"),
    ("class ValueError", r"jac(fwd|rev)|bitcast_convert_type|conv_general", "what is wrong twice is refused for the other reason; a dtype is a type"),
    ("no NaN", r"(?s)(?=.*inf).*(quantile|percentile|median)", "between two equal infinities there is that infinity"),
    ("class TypeError", r"(?s)random\.(key|split).*[<>=+*-]|betaln\(", "ours is a ValueError that says what does not combine"),
    ("class TypeError", r"(minimum|maximum|max|min|clip)\(", "ours is NotImplementedError: complex numbers have no smooth order"),
    ("value|NaN|no NaN", r"histogram", "edges where the range overflows or is subnormal are computed in another order"),
    ("no NaN", r"bessel_jn\(", "the other one's recurrence overflows near 0"),
    ("value", r"log_sigmoid\(", "unsigned integers are promoted before they are negated"),
    ("NaN", r"stats\.\w+\.\w+\(", "outside of what its parameters may be a distribution is NaN, as in SciPy"),
    ("shape", r"(median|quantile|percentile)\(.*keepdims", "a scalar has no axis to keep, as in NumPy"),
    ("class AttributeError", r"lax\.\w+\(\[", "a list is no array: a TypeError"),
    ("no NaN", r"(?s)(?=.*zeros\(.*0).*logsumexp\(", "an empty sum does not move"),
    ("shape", r"(?s)(?=.*zeros\(.*0).*signal\.(csd|welch)", "of no samples there are no frequencies, as in SciPy"),
    ("no NaN", r"loggamma\(", "infinite at 0, as in SciPy"),
    ("weak", r"fiedler_companion\(\d|jnp\.unique\(", "what has no elements to compute with, or is found on the host, is strong"),
    ("no NaN", r"boxcox1p\(", "of order 0 it is log1p, in its derivative too"),
    ("value", r"(?s)(?=.*(inf|nan|e\+?38|1000|-\d|127|255)).*(astype|convert_element_type|asarray|dtype=)\S*( 'u?int|'?u?int)", "what a float beyond an integer type's range becomes depends on the processor in NumPy"),
)


def refused(words: str, text: str = "") -> str | None:
    """Why ours accepts ``text``, which the other one refuses with ``words``; None if no row says."""
    return next((why for pattern, program, why in REFUSED if re.search(pattern, words) and re.search(program, text)), None)


def reason(kind: str, text: str) -> str | None:
    """Why the shrunk program ``text`` may differ in this way; None if no row says."""
    return next((why for row_kind, pattern, why in DIFFERENT if re.fullmatch(row_kind, kind) and re.search(pattern, text)), None)
