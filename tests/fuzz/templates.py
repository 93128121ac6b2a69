"""The lines that programs are made of, by category.

Slots: ``{x} {y} {z}`` are variables that mostly broadcast, ``{f} {g}`` inexact ones, ``{i}`` integers, ``{m}`` a matrix, ``{s}`` a square one,
``{unary}`` an elementwise function, ``{k}`` keys, ``{lit}`` a literal, ``{axis}``, ``{dtype}``, ``{n}`` a small number, ``{mask}`` a comparison, ``{body c,t}`` an
expression of the lambda's parameters, ``{each 1,2,3}`` one of these numbers for each axis of the line's first variable, ``{pads}`` padding for each.
"""
from __future__ import annotations

from fuzz import compositions, further, inside, keywords, nested, outskirts


def _calls(prefix: str, names: str, arguments: str) -> list[str]:
    return [f"{prefix}.{name}({arguments})" for name in names.split()]


SETTINGS = (("jax_enable_x64", True, 0.35), ("jax_numpy_dtype_promotion", "strict", 0.06), ("jax_numpy_rank_promotion", "raise", 0.05),
            ("jax_disable_jit", True, 0.01))  # each step of the last is compiled

UNARY = ("sin cos tan exp exp2 expm1 log log1p log2 log10 sqrt cbrt square reciprocal negative positive abs sign floor ceil trunc rint "
         "fix tanh sinh cosh arctan arcsin arccos arcsinh arccosh arctanh sinc deg2rad isnan isfinite isinf signbit nan_to_num "
         "real imag conj angle i0 logical_not bitwise_not frexp modf bitwise_count isneginf isposinf iscomplex spacing").split()

BODY = (
    *["jnp.{unary}({e})"] * 4,  # as a line of its own each function comes once in some thousand programs
    "{e} + {e}", "{e} * {e}", "{e} - {lit}", "{e} * {lit}", "jnp.sin({e})", "jnp.maximum({e}, {e})", "jnp.tanh({e})", "-{e}", "jnp.abs({e})",
    "jnp.where({e} > {lit}, {e}, {e})", "{e} ** 2", "{e} / {lit}", "jnp.sort({e})", "jnp.cumsum({e}, axis=0)", "jnp.exp({e})", "lax.mul({e}, {e})",
    "lax.stop_gradient({e})", "jnp.sum({e})", "{e}.astype('float32')", "jnp.minimum({e}, {lit})", "jnp.square({e})", "jax.nn.relu({e})",
    "jnp.clip({e}, -1, 1)", "jnp.round({e})", "jax.nn.softplus({e})", "jnp.mod({e}, {lit})", "jnp.zeros_like({e})", "{e}.at[...].add({lit})",
)

LINES = {
    **compositions.LINES, **outskirts.LINES, **further.LINES, **keywords.LINES, **nested.LINES, **inside.LINES,
    "elementwise": [
        *_calls("jnp", " ".join(UNARY), "{x}"), *["jnp.{unary}({x}) * jnp.{unary}({x})", "jnp.{unary}(jnp.{unary}({x}))"] * 8,
        *_calls("jnp", "add subtract multiply divide floor_divide mod remainder fmod power float_power maximum minimum fmax fmin arctan2 hypot "
                "logaddexp logaddexp2 copysign nextafter heaviside equal less greater_equal logical_and logical_xor bitwise_and bitwise_xor "
                "left_shift right_shift gcd lcm divmod ldexp isclose true_divide", "{x}, {y}"),
        *_calls("lax", "neg sin exp log rsqrt cbrt abs sign floor round is_finite erf erfc lgamma digamma logistic population_count clz not square "
                "bessel_i0e erf_inv", "{x}"),
        *_calls("lax", "add sub mul div rem max min pow atan2 eq lt and or xor shift_left shift_right_arithmetic shift_right_logical nextafter "
                "complex", "{x}, {y}"),
        "{x} + {y}", "{x} * {y}", "{x} - {y}", "{x} / {y}", "{x} // {y}", "{x} % {y}", "{x} ** {y}", "{x} ** {lit}", "{x} + {lit}", "{lit} - {x}",
        "{x} / {lit}", "{lit} // {x}", "{lit} ** {x}", "{x} % {lit}", "-{x}", "abs({x})", "~{x}", "{x} & {y}", "{x} << {lit}", "{x} == {y}", "{x} < {lit}",
        "jnp.clip({x}, {lit}, {y})", "lax.clamp({lit}, {x}, {lit})", "jnp.where({mask}, {x}, {y})", "jnp.where({mask}, {x}, {lit})", "round({x}, 1)",
        "jnp.select([{mask}, {mask}], [{x}, {y}], {lit})", "lax.select({mask}, {x}, {y})", "lax.integer_pow({x}, {n})", "divmod({x}, {lit})",
    ],
    "special": [
        *_calls("jax.nn", "relu relu6 sigmoid softplus silu swish gelu elu selu celu leaky_relu log_sigmoid hard_tanh hard_sigmoid hard_silu mish softmax "
                "log_softmax standardize soft_sign squareplus glu normalize log1mexp", "{x}"),
        *_calls("jax.scipy.special", "gammaln digamma erf erfc erfinv expit logit log_ndtr ndtr ndtri i0 i0e i1 i1e entr factorial gamma "
                "exp1 expi spence log_softmax softmax sinc", "{x}"),
        *_calls("jax.scipy.special", "betaln xlogy xlog1py rel_entr kl_div gammainc gammaincc zeta logsumexp", "{x}, {lit}"),
        "jax.scipy.special.logsumexp({x}, axis={axis})", "jax.scipy.stats.norm.logpdf({x})", "jax.scipy.stats.norm.cdf({x}, {lit})", "jax.nn.one_hot({i}, 3)",
        "jax.scipy.stats.gamma.logpdf({x}, {lit})", "jax.scipy.stats.laplace.cdf({x})", "jax.nn.softmax({x}, axis={axis}, where={mask})",
        "jax.nn.logsumexp({x}, axis={axis}, b={y})", "jax.scipy.special.polygamma({n}, {f})", "jax.scipy.special.multigammaln({f}, 2)",
    ],
    "reduction": [
        *_calls("jnp", "sum prod max min mean var std any all argmax argmin cumsum cumprod nansum nanmax nanargmin ptp median count_nonzero "
                "nanmean nanvar nanprod average nancumsum sort argsort flip", "{x}, axis={axis}"),
        "jnp.sum({x}, axis={axis}, dtype={dtype})", "jnp.mean({x}, dtype={dtype})", "jnp.max({x}, axis={axis}, initial={lit})", "{x}.sum()", "{x}.mean({axis})",
        "jnp.sum({x}, where={mask})", "jnp.mean({x}, axis={axis}, where={mask})", "jnp.var({x}, ddof=1)", "jnp.min({x}, where={mask}, initial={lit})",
        "jnp.linalg.norm({x})", "jnp.linalg.norm({x}, ord=1)", "jnp.linalg.norm({x}, ord=jnp.inf, axis={axis})", "jnp.quantile({f}, 0.5)",
        "jnp.percentile({f}, 25, axis={axis})", "lax.cumsum({x}, {n})", "lax.cummax({x}, {n}, reverse=True)", "lax.cumlogsumexp({f})", "lax.argmax({x}, 0, 'int32')",
        "lax.reduce({x}, jnp.zeros((), {x}.dtype), lax.add, (0,))", "jnp.trapezoid({x})", "jnp.diff({x})", "jnp.ediff1d({x})", "jnp.gradient({f})",
        "jnp.cumulative_sum({x}, axis={axis}, include_initial=True)", "lax.reduce_window({f}, -jnp.inf, lax.max, (2,), (1,), 'SAME')",
        "lax.associative_scan(lambda c, t: {body c,t}, {x})", "jax.ops.segment_sum({x}, jnp.array([0, 1, 0]), num_segments=2)",
    ],
    "windows": [
        *[f"lax.reduce_window({{f}}, {start}, lax.{op}, {{each 1,2,3}}, {{each 1,1,2}}, {{pads}}, {{each 1,1,2}}, {{each 1,1,2}})"
          for op, start in (("max", "-jnp.inf"), ("min", "jnp.inf"), ("add", "0.0"))],
        *["lax.conv_general_dilated({f}[None, None], jnp.full((1, 1) + {each 1,2,3}, 0.5, {f}.dtype), {each 1,1,2}, {pads}, {each 1,1,2}, {each 1,1,2})"] * 2,
        *[f"jax.image.resize({{f}}, {{each 1,2,4}}, '{how}')" for how in ("nearest", "linear", "cubic", "lanczos3")],
        *[f"jnp.pad({{x}}, {{each 1,2,4}}[:1], mode='{how}')" for how in ("wrap", "symmetric", "linear_ramp", "mean")],
    ],
    "shape": [
        "{x}.T", "{x}[None]", "{x}.ravel()", "jnp.reshape({x}, (-1,))", "jnp.reshape({x}, (3, -1))", "jnp.stack([{x}, {y}])", "jnp.concatenate([{x}, {y}], axis={axis})",
        "jnp.broadcast_to({x}, (2, 3))", "jnp.expand_dims({x}, {axis})", "jnp.squeeze({x})", "jnp.tile({x}, 2)", "jnp.repeat({x}, 2, axis={axis})", "jnp.roll({x}, 1, axis={axis})",
        "jnp.pad({x}, 1)", "jnp.pad({x}, 1, mode='reflect')", "jnp.pad({x}, (0, 1), mode='edge')", "lax.pad({x}, jnp.zeros((), {x}.dtype), [(1, -1, 1)])", "lax.rev({x}, (0,))",
        "jnp.flip({x}, {axis})", "jnp.swapaxes({x}, 0, -1)", "jnp.moveaxis({x}, 0, -1)", "jnp.atleast_2d({x})", "jnp.vstack([{x}, {y}])", "jnp.hstack([{x}, {lit}])", "jnp.append({x}, {y})",
        "jnp.split({x}, 3)", "jnp.array_split({x}, 2)", "jnp.meshgrid({x}, {y})", "jnp.broadcast_arrays({x}, {y})", "jnp.zeros_like({x})", "jnp.full_like({x}, {lit})",
        "jnp.ones_like({x}, dtype={dtype})", "jnp.arange({n}, dtype={dtype})", "jnp.linspace({lit}, {lit}, 3)", "jnp.eye({n}, dtype={dtype})", "jnp.tri(3, k={n})", "jnp.tril({m})", "jnp.triu({m}, {n})",
        "lax.broadcasted_iota({dtype}, (2, 3), {n})", "jnp.diag({x})", "jnp.diagonal({m})", "jnp.trace({m})", "jnp.array([{x}, {y}])", "jnp.rot90({m})", "lax.concatenate([{x}, {y}], 0)", "jnp.vander({x})",
        "lax.dynamic_slice({x}, ({lit},), (1,))", "lax.dynamic_update_slice({x}, {y}, (1,))", "lax.slice({x}, (0,), (2,))", "lax.slice_in_dim({x}, 0, 3, 2)", "lax.expand_dims({x}, (0,))", "jnp.resize({x}, (4,))",
    ],
    "indexing": [
        "{x}[0]", "{x}[-1]", "{x}[1:]", "{x}[::-1]", "{x}[::2]", "{x}[..., 0]", "{x}[..., None]", "{x}[{i}]", "{x}[jnp.array([0, -1, 2])]", "{x}[jnp.array([0, 7])]", "{x}[{n}]", "{x}[:, 1]", "{x}[0, ...]",
        "{x}[{lit}]", "{x}[np.array([True, False, True])]", "jnp.take({x}, {i}, axis={axis})", *["jnp.take({x}, jnp.array([0, 7, -9]), axis={axis})"] * 3, "jnp.take({x}, {i}, mode='wrap')", "jnp.take({x}, {i}, mode='clip')", "jnp.take_along_axis({x}, jnp.argsort({x}, axis={axis}), axis={axis})",
        "{x}.at[{i}].get(mode='fill', fill_value={lit})", "{x}.at[jnp.array([5])].get()", "{x}.at[{i}].get(mode='clip')", "jnp.choose({i}, [{x}, {y}], mode='clip')", "jnp.nonzero({x}, size=2)", "jnp.where({mask}, size=2, fill_value=-1)",
        "jnp.searchsorted(jnp.sort({x}), {y})", "jnp.digitize({x}, jnp.array([0., 1.]))", "jnp.unique({x}, size=3)", "jnp.unique({x}, size=3, return_inverse=True)", "jnp.bincount({i}, length=4)", "jnp.compress(np.array([True, False, True]), {x}, size=2)",
        "jnp.extract({mask}, {x}, size=2)", "jnp.histogram({x}, bins=3)", "jnp.interp({x}, jnp.array([0., 1., 2.]), jnp.array([1., 3., 2.]))", "lax.dynamic_index_in_dim({x}, {i}.sum(), 0)", "jnp.isin({x}, {y})", "jnp.piecewise({x}, [{mask}], [lambda c: {body c}, {lit}])",
        "{m}[:, jnp.array([0, -1])]", "{m}[jnp.array([0, 1])[:, None], jnp.array([1, 0])]", "{x}[..., {i}]", "{x}[None, {i}]", "{x}.at[{i}].get(mode='drop')", "jax.grad(lambda c: c[jnp.array([0, 0, 7])].sum())({f})",
        "jax.grad(lambda c: c.at[jnp.array([0, -9])].get(mode='fill', fill_value=2.0).sum())({f})", "jax.vmap(lambda c, t: c[t])({m}, {i})", "jax.vmap(lambda t: {x}[t])({i})", "jax.jvp(lambda c: jnp.take(c, jnp.array([0, 9]), mode='clip'), ({f},), ({f},))", "{m}[{n}, ::-1]", "{x}[np.int8(-1)]",
    ],
    "update": [
        *[f"{{x}}.at[{index}].{how}({{{value}}})" for index in ("0", "-1", "1:", "{i}", "jnp.array([0, 0, 1])", "...", "{mask}", "::2")
          for how, value in (("set", "lit"), ("add", "y"), ("add", "lit"), ("mul", "lit"), ("min", "y"), ("max", "lit"), ("set", "y"), ("divide", "lit"), ("power", "lit"))],
        "{x}.at[{i}].apply(lambda c: {body c})", "{x}.at[jnp.array([4, 0])].set({lit}, mode='drop')", "{x}.at[jnp.array([4, 0])].add({lit}, mode='clip')", "jnp.put({x}, jnp.array([0]), {lit}, inplace=False)", "{x}.at[0].subtract({lit})",
        "jnp.insert({x}, 1, {lit})", "jnp.delete({x}, 0)", "jnp.fill_diagonal({m}, {lit}, inplace=False)", "jnp.put_along_axis({x}, jnp.array([0]), {lit}, 0, inplace=False)", "{x}.at[0].set({lit}).at[-1].add({lit})",
        *[f"{{x}}.at[{index}].{how}({{lit}}, mode='{mode}')" for index in ("{i}", "jnp.array([4, 0, -5])") for how in ("set", "add", "max", "mul") for mode in ("drop", "clip", "fill")],
        *[f"jax.grad(lambda c: jnp.sum(c.at[{index}].{how}({{lit}}) ** 2))({{f}})" for index in ("jnp.array([0, 0, 1])", "1:", "jnp.array([7, 0])") for how in ("set", "add", "mul", "min", "max", "divide", "power")],
        "jax.grad(lambda c: jnp.sum({x}.at[jnp.array([0, 0])].multiply(c)))({lit})", "jax.jvp(lambda c: {f}.at[jnp.array([0, 0, 1])].max(c), ({lit},), (1.0,))", "{m}.at[jnp.array([0, 5]), jnp.array([1, 0])].add({lit}, mode='drop')", "jax.vmap(lambda c, t: c.at[t].add({lit}))({m}, {i})",
        "{x}.at[jnp.array([0, 1])].set({lit}, unique_indices=True, indices_are_sorted=True)", "{x}.at[1:].set({x}[:-1])",
    ],
    "control flow": [
        "lax.scan(lambda c, t: ({body c,t}, {body t,c}), {x}, {y})", "lax.scan(lambda c, t: ({body c}, {body c,t}), {x}, {y})", "lax.scan(lambda c, t: ({body c}, c), {x}, None, length={n})", "lax.scan(lambda c, t: ({body c}, {body t}), {lit}, {x}, reverse=True)",
        "lax.scan(lambda c, t: ({body c}, {body t,c}), {x}, {y}, unroll=2)", "lax.cond({mask}.any(), lambda c: {body c}, lambda c: {body c}, {x})", "lax.cond({lit}, lambda c, t: {body c,t}, lambda c, t: {body c,t}, {x}, {y})", "lax.cond({x}.sum() > 0, lambda: {x}, lambda: {y})",
        "lax.switch({n}, [lambda c: {body c}, lambda c: c, lambda c: {body c}], {x})", "lax.switch({i}.sum(), [lambda c: {body c}, lambda c: c], {x})", "lax.while_loop(lambda c: c[0] < {n}, lambda c: (c[0] + 1, {body c})[:1] + (c[1] * {lit},), (0, {x}))",
        "lax.while_loop(lambda c: (c.sum() < 4) & (c.size > 0), lambda c: c + 1, {x} * 0)", "lax.fori_loop(0, {n}, lambda i, c: {body c,i}, {x})", "lax.fori_loop(0, {n}, lambda i, c: {body c}, {x})", "lax.fori_loop({lit}, {lit}, lambda i, c: c + i, {x})", "lax.map(lambda c: {body c}, {x})",
        "lax.map(lambda c: {body c}, {x}, batch_size=2)", "lax.scan(lambda c, t: (c, lax.cond(t.sum() > 0, lambda s: {body s}, lambda s: s, t)), {lit}, {x})", "lax.fori_loop(0, 2, lambda i, c: lax.scan(lambda s, t: (s, {body t,s}), {lit}, c)[1], {x})", "lax.select_n({mask}, {x}, {y})",
    ],
    "transformation": [
        "jax.jit(lambda c: {body c})({x})", "jax.jit(lambda c, t: {body c,t})({x}, {y})", "jax.vmap(lambda c: {body c})({x})", "jax.vmap(lambda c, t: {body c,t}, in_axes=(0, None))({x}, {y})", "jax.vmap(lambda c: {body c}, out_axes=-1)({x})", "jax.grad(lambda c: jnp.sum({body c}))({f})",
        "jax.value_and_grad(lambda c: jnp.sum({body c}))({f})", "jax.grad(lambda c, t: jnp.sum({body c,t}), argnums=1)({x}, {f})", "jax.jvp(lambda c: {body c}, ({f},), ({f},))", "jax.vjp(lambda c: {body c}, {f})[1]({f})", "jax.vjp(lambda c, t: c * t, {x}, {y})[0]", "jax.linearize(lambda c: {body c}, {f})[1]({f})",
        "jax.jacfwd(lambda c: {body c})({f})", "jax.jacrev(lambda c: {body c})({f})", "jax.hessian(lambda c: jnp.sum({body c}))({f})", "jax.checkpoint(lambda c: {body c})({x})", "jax.grad(lambda c: jax.checkpoint(lambda s: jnp.sum({body s}))(c))({f})", "jax.vmap(jax.grad(lambda c: jnp.sum({body c})))({f})",
        "jax.grad(lambda c: jnp.sum(jax.vmap(lambda s: {body s})(c)))({f})", "jax.grad(lambda c: lax.scan(lambda s, t: ({body s,t}, t), c, jnp.arange(3.))[0].sum())({f})", "jax.grad(lambda c: lax.fori_loop(0, 2, lambda i, s: {body s}, c).sum())({f})", "jax.grad(lambda c: lax.cond(c.sum() > 0, lambda s: {body s}, lambda s: s, c).sum())({f})",
        "(lambda h: (h.defjvp(lambda p, t: (h(*p), {lit} * t[0])), jax.grad(lambda c: h(c).sum())({f}))[1])(jax.custom_jvp(lambda c: {body c}))", "(lambda h: h.defvjp(lambda c: ({body c}, c), lambda r, g: (g * r,)) or jax.grad(lambda c: h(c).sum())({f}))(jax.custom_vjp(lambda c: {body c}))",
        "jax.jvp(jax.grad(lambda c: jnp.sum({body c})), ({f},), (jnp.ones_like({f}),))[1]", "jax.jit(jax.grad(lambda c: jnp.sum({body c})))({f})", "jax.vmap(lambda c: lax.scan(lambda s, t: ({body s,t}, s), c, jnp.arange(2.))[0])({x})", "jax.vmap(lambda c: lax.cond(c.sum() > 0, lambda s: {body s}, lambda s: s, c))({x})",
        "jax.vmap(lambda c: lax.psum(c, 'i'), axis_name='i')({x})", "jax.vmap(lambda c: lax.all_gather(c, 'i'), axis_name='i')({x})", "jax.vmap(lambda c: c - lax.pmean(c, 'i'), axis_name='i')({x})", "jax.vmap(lambda c: lax.while_loop(lambda s: (s.sum() < 3) & (s.size > 0), lambda s: s + 1, c))({x} * 0)",
        "jax.linear_transpose(lambda c: {lit} * c, {f})({f})", "jax.jacfwd(jax.grad(lambda c: jnp.sum({body c})))({f})", "jax.jvp(lambda c: jax.vmap(lambda t: {body t})(c), ({f},), (jnp.ones_like({f}),))", "jax.eval_shape(lambda c: {body c}, {x}).dtype.type(1)",
        "jax.jvp(jax.grad(lambda c: lax.scan(lambda s, t: ({body s,t}, s), c, jnp.arange(2.))[0].sum()), ({f},), (jnp.ones_like({f}),))[1]", "jax.hessian(lambda c: lax.fori_loop(0, 2, lambda i, s: {body s}, c).sum())({f})",
        "jax.vmap(lambda c: lax.while_loop(lambda s: (s[0] < 3) & (s[1].sum() < 9), lambda s: (s[0] + 1, (lambda u: {body u})(s[1])), (0, c))[1])({x})", "jax.jvp(lambda c: lax.while_loop(lambda s: s[0] < 2, lambda s: (s[0] + 1, (lambda u: {body u})(s[1])), (0, c))[1], ({f},), (jnp.ones_like({f}),))",
        *[f"jax.grad(lambda c: jax.checkpoint(lambda s: jnp.sum({{body s}}), {how})(c))({{f}})" for how in ("policy=jax.checkpoint_policies.dots_saveable", "policy=jax.checkpoint_policies.everything_saveable", "policy=jax.checkpoint_policies.nothing_saveable", "prevent_cse=False")],
        "jax.vmap((lambda h: (h.defjvp(lambda p, t: (h(*p), {lit} * t[0])), h)[1])(jax.custom_jvp(lambda c: {body c})))({f})", "(lambda h: (h.defjvp(lambda n, p, t: (h(n, *p), n * t[0])), jax.jvp(lambda c: h({n}, c), ({f},), (jnp.ones_like({f}),)))[1])(jax.custom_jvp(lambda n, c: {body c}, nondiff_argnums=(0,)))",
        "(lambda h: h.defvjp(lambda n, c: ({body c}, c), lambda n, r, g: (n * g,)) or jax.jit(jax.grad(lambda c: h({n}, c).sum()))({f}))(jax.custom_vjp(lambda n, c: {body c}, nondiff_argnums=(0,)))", "(lambda h: h.defvjp(lambda c: ({body c}, c), lambda r, g: (g * jnp.cos(r),)) or jax.jacrev(jax.grad(lambda c: h(c).sum()))({f}))(jax.custom_vjp(lambda c: {body c}))",
        "jax.linear_transpose(lambda c: jnp.cumsum(c, 0) * {lit}, {f})({f})", "jax.linear_transpose(lambda c: lax.scan(lambda s, t: (s + t, s), jnp.zeros_like(c[0]), c)[1], {f})({f})", "jax.linear_transpose(lambda c: jnp.where({mask}, c, 0), {f})({f})",
        "(lambda r: (r.__setitem__(..., r[...] * 2), r[...])[1])(jax.new_ref({x}))", "jax.grad(lambda c: (lambda r: (r.__setitem__(..., r[...] * c), r[...].sum())[1])(jax.new_ref(c)))({f})", "jax.jit(lambda c: (lambda r: (r.__setitem__(0, {lit}), r[...])[1])(jax.new_ref(c)))({x})",
        "jnp.vectorize(lambda c, t: {body c,t})({x}, {y})", "jax.value_and_grad(lambda c: (jnp.sum({body c}), c), has_aux=True)({f})", "jax.jit(lambda c, t: {body c,t}, donate_argnums=0)(jnp.copy({x}), {y})", "jax.jit(jax.vmap(jax.jvp, (None, 0, 0)), static_argnums=0)(lambda c: {body c}, ({f},), ({f},))",
        *[f"{context}(lambda: {what})()" for context in ("jax.enable_x64(True)", "jax.numpy_dtype_promotion('strict')", "jax.numpy_rank_promotion('raise')", "jax.disable_jit()")
          for what in ("jnp.sum({x} * {lit})", "{x} + {y}", "lax.scan(lambda c, t: ({body c}, t), {x}, {y})", "jax.grad(lambda c: jnp.sum({body c}))({f})")],
    ],
    "linear algebra": [
        "{x} @ {y}", "{x} @ {y}.T", "jnp.dot({x}, {y})", "jnp.vdot({x}, {y})", "jnp.inner({x}, {y})", "jnp.outer({x}, {y})", "jnp.tensordot({x}, {y}, axes=1)", "jnp.einsum('i,i->', {x}, {y})", "jnp.einsum('ij,kj->ik', {m}, {m})", "jnp.einsum('...i->...', {x})", "jnp.kron({x}, {y})",
        "jnp.matmul({x}, {y}, preferred_element_type='float32')", "jnp.linalg.det({s})", "jnp.linalg.inv({s} + 4 * jnp.eye(3))", "jnp.linalg.solve({s} + 5 * jnp.eye(3), {f})", "jnp.linalg.cholesky({s} @ {s}.T + 4 * jnp.eye(3))", "jnp.linalg.slogdet({s} + 4 * jnp.eye(3))", "jnp.cross({x}, {y})",
        "jnp.linalg.eigvalsh({s} + {s}.T)", "jnp.linalg.svd({s}, compute_uv=False)", "jnp.linalg.qr({s} + 4 * jnp.eye(3))[1]", "jnp.linalg.matrix_power({s}, 2)", "jax.scipy.linalg.solve_triangular({s} + 4 * jnp.eye(3), {f}, lower=True)", "jax.scipy.linalg.expm({s})", "jnp.convolve({x}, {y})", "jnp.correlate({x}, {y}, 'same')",
        "lax.dot({x}, {y})", "lax.dot_general({x}, {y}, (((0,), (0,)), ((), ())))", "jnp.fft.fft({x})", "jnp.fft.rfft({x})", "jnp.fft.ifft({x}, axis=0)", "jnp.fft.fftshift({x})", "jnp.polyval({x}, {y})", "jnp.polymul({x}, {y})", "jnp.cov({x})", "jnp.corrcoef({m})", "jnp.linalg.vector_norm({x}, axis={axis})", "jnp.vecdot({x}, {y})",
        "lax.conv_general_dilated({x}[None, None], {y}[None, None], (1,), 'SAME')",
    ],
    "sorting": [
        "jnp.sort({x}, axis={axis})", "jnp.argsort({x}, axis={axis}, descending=True)", "jnp.sort({x}, descending=True)", "lax.sort({x}, is_stable=True)", "lax.sort(({x}, {x}), num_keys=1)", "lax.sort([{x}, {y}], dimension=0)", "lax.top_k({x}, 2)", "jnp.partition({x}, 1)[..., 1]", "jnp.lexsort(({x}, {x}))",
        "jnp.median({x}, axis={axis})", "jax.scipy.stats.rankdata({x})", "jnp.sort_complex({x})", "jnp.take_along_axis({x}, jnp.argpartition({x}, 1), -1)[..., 1]", "jax.scipy.stats.mode({x})", "jnp.nanquantile({f}, 0.5, axis={axis})", "jnp.setdiff1d({x}, {y}, size=2)", "jnp.union1d({x}, {y}, size=4)",
    ],
    "dtype": [
        "{x}.astype({dtype})", "jnp.asarray({x}, {dtype})", "lax.convert_element_type({x}, {dtype})", "lax.bitcast_convert_type({x}, {dtype})", "{x}.view({dtype})", "jnp.array({lit}, {dtype})", "jnp.result_type({x}, {y}).type(1)", "lax.reduce_precision({f}, 5, 3)", "jnp.promote_types({x}.dtype, {dtype}).type(1)",
        "jnp.full((2,), {lit}, {dtype})", "jnp.add({x}, {lit})", "jnp.asarray({lit}) * {x}", "jnp.where({mask}, {lit}, {x})", "jnp.packbits({mask})", "jnp.concatenate([{x}, jnp.ones({x}.shape, {dtype})])", "jnp.float32({x})", "lax.complex(jnp.real({f}), jnp.real({f}))",
    ],
    "random": [
        "jax.random.uniform({k}, (2,))", "jax.random.normal({k}, (3,), {dtype})", "jax.random.bernoulli({k}, 0.3, (3,))", "jax.random.split({k})", "jax.random.fold_in({k}, {n})", "jax.random.randint({k}, (3,), 0, 7, {dtype})", "jax.random.permutation({k}, {x})", "jax.random.categorical({k}, {f})", "jax.random.choice({k}, {x})",
        "jax.random.normal(jax.random.key({n}), {f}.shape, {f}.dtype) * {f}", "jax.random.gamma(jax.random.key({n}), 2.0, (2,))", "jax.random.bits({k}, (2,), 'uint8')", "jax.random.key_data({k})", "jax.random.exponential({k}, (2,))", "jax.random.truncated_normal({k}, -1, {lit}, (2,))", "jax.random.wrap_key_data(jnp.array([1, 2], 'uint32'))",
        "jax.random.shuffle({k}, {x})", "jax.random.laplace({k}, {x}.shape)", "jax.random.uniform({k}, {x}.shape, minval={lit}, maxval={lit})", "jax.random.dirichlet({k}, jnp.array([1., 2.]))", "jax.random.poisson({k}, {f})", "jax.vmap(jax.random.fold_in, (None, 0))({k}, {i})",
        *[f"jax.random.{call}" for call in ("beta({k}, 2.0, {lit}, (2,), {dtype})", "cauchy({k}, (2,), {dtype})", "chisquare({k}, 3.0, (2,), {dtype})", "double_sided_maxwell({k}, 0.0, {lit}, (2,), {dtype})", "f({k}, 2.0, 3.0, (2,), {dtype})", "gumbel({k}, (2,), {dtype})",
          "loggamma({k}, {f}, None, {dtype})", "logistic({k}, (2,), {dtype})", "lognormal({k}, {lit}, (2,), {dtype})", "maxwell({k}, (2,), {dtype})", "multivariate_normal({k}, jnp.zeros(2), jnp.eye(2), (), {dtype})", "orthogonal({k}, 2, (), {dtype})", "pareto({k}, 2.0, (2,), {dtype})", "rademacher({k}, (3,), {dtype})",
          "rayleigh({k}, {lit}, (2,), {dtype})", "t({k}, 3.0, (2,), {dtype})", "triangular({k}, -1.0, 0.5, 2.0, (2,), {dtype})", "wald({k}, 1.5, (2,), {dtype})", "weibull_min({k}, {lit}, 1.5, (2,), {dtype})", "ball({k}, 2, 2, (), {dtype})", "binomial({k}, 5, 0.5, (2,), {dtype})", "geometric({k}, 0.5, (2,), {dtype})",
          "generalized_normal({k}, 1.5, (2,), {dtype})", "uniform({k}, (2,), {dtype})", "exponential({k}, (2,), {dtype})", "laplace({k}, (2,), {dtype})", "gamma({k}, {f}, None, {dtype})", "poisson({k}, 2.5, (3,), {dtype})", "bits({k}, (2,), {dtype})", "truncated_normal({k}, -1.0, 1.0, (2,), {dtype})", "dirichlet({k}, jnp.ones(2), (), {dtype})",
          "clone({k})", "choice({k}, 5, (2,), replace=False)", "choice({k}, {x}, (2,), p=jnp.array([0.5, 0.2, 0.3]))", "permutation({k}, {n}, independent=True)", "permutation({k}, {x}, axis=0, independent=True)", "categorical({k}, {f}, shape=(2,))", "categorical({k}, {m}, axis=0)", "multinomial({k}, 5, jnp.array([0.5, 0.5]))")],
        "jax.grad(lambda c: jax.random.gamma(jax.random.key(0), c).sum())({f})", "jax.vmap(lambda c: jax.random.normal(c, (2,)))(jax.random.split({k}))", "jax.random.split({k}, (2, 1))",
    ],
}
