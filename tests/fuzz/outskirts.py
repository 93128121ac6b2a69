"""More lines of programs, in the slots of `templates`: what lies at the edges of the public names.

Solvers and interpolation, sparse arrays, series of Taylor, programs as values, host callbacks, meshes of one device, complex numbers, methods
of ufuncs.
"""
from __future__ import annotations

_SYMMETRIC = "({s} @ {s}.T + 4 * jnp.eye({s}.shape[0]))"
_COMPLEX = "({f} + 1j * {g})"
_MESH = "jax.make_mesh((1,), ('d',), (jax.sharding.AxisType.Auto,))"

LINES = {
    "solvers": [
        *[f"jax.scipy.sparse.linalg.{how}({_SYMMETRIC}, {{f}})[0]" for how in ("cg", "bicgstab")],
        "jax.scipy.sparse.linalg.cg(lambda c: {'a': c['a'] * 2, 'b': c['b'] * 3}, {'a': {f}, 'b': {g}})[0]", "jax.scipy.sparse.linalg.cg(lambda c: 2 * c, {f}, maxiter={n})[0]", "jax.scipy.sparse.linalg.bicgstab(lambda c: c * 3, {f}, x0={f}, tol=0.1)",
        "jax.jvp(lambda c: jax.scipy.sparse.linalg.cg(lambda s: s * 2 + s, c)[0], ({f},), ({f},))", "jax.grad(lambda c: jax.scipy.sparse.linalg.cg(lambda s: s * c, {f})[0].sum())(2.0)",
        "jax.scipy.interpolate.RegularGridInterpolator((jnp.arange(3.),), {f}, bounds_error=False, fill_value={lit})({g})", "jax.scipy.interpolate.RegularGridInterpolator((jnp.arange(3.),), {x}, method='nearest', bounds_error=False)({f})",
        "jax.grad(lambda c: jax.scipy.interpolate.RegularGridInterpolator((jnp.arange(3.),), c, bounds_error=False, fill_value=None)({f}).sum())({f})",
        "jax.scipy.ndimage.map_coordinates({x}, [{f}], order=1, mode='nearest', cval={lit})", *[f"jax.scipy.ndimage.map_coordinates({{f}}, [{{f}} * 2], order=1, mode='{mode}')" for mode in ("constant", "wrap", "mirror", "reflect")],
        "jax.grad(lambda c: jax.scipy.ndimage.map_coordinates({f}, [c], order=1).sum())({f})", "jax.scipy.cluster.vq.vq({m}, {m})", "jax.scipy.cluster.vq.vq({f}, {g})", "jax.scipy.stats.gaussian_kde({f})({g})", "jax.scipy.stats.gaussian_kde({m}, {lit}).logpdf({m})",
        "jax.scipy.spatial.transform.Rotation.from_rotvec({f}).as_quat()", "jax.scipy.spatial.transform.Rotation.from_euler('xyz', {f}, {lit} == 1).as_matrix()", "jax.scipy.spatial.transform.Rotation.from_quat(jnp.resize({f}, (2, 4))).apply({f})", "jax.scipy.spatial.transform.Rotation.from_matrix({s}).magnitude()",
        "jax.experimental.ode.odeint(lambda c, t: -c * {lit}, {f}, jnp.arange(3.0))", "jax.grad(lambda c: jax.experimental.ode.odeint(lambda s, t: jnp.sin(s) * c, {f}, jnp.array([0.0, 0.5])).sum())(0.5)", "jax.scipy.optimize.minimize(lambda c: jnp.sum((c - {f}) ** 2), jnp.zeros(3), method='BFGS').x",
        "jax.scipy.signal.correlate({x}, {y}, mode='same')", "jax.scipy.signal.correlate2d({m}, {m})", "jax.scipy.signal.convolve2d({m}, {m}, mode='same', boundary='fill', fillvalue={lit})", "jax.scipy.signal.stft({f}, nperseg=2)[2]", "jax.scipy.signal.istft(jnp.resize({f}, (2, 3)), nperseg=2)[1]", "jax.scipy.signal.csd({f}, {f}, nperseg=2)",
        "jax.scipy.integrate.trapezoid({x}, {y}, axis={axis})", "jax.scipy.stats.rankdata({x}, method='min', axis={axis})", "jax.scipy.stats.mode({x}, axis={axis}, nan_policy='propagate')", "jax.scipy.stats.mode({x}, keepdims=True)",
    ],
    "sparse": [
        "jax.experimental.sparse.BCOO.fromdense({m}, nse=4) @ {x}", "jax.experimental.sparse.BCOO.fromdense({m}, nse=4).T.todense()", "(jax.experimental.sparse.BCOO.fromdense({x}, nse=3) * {lit}).todense()", "jax.experimental.sparse.BCOO.fromdense({m}, nse=3).sum(axis={n}).todense()",
        "jax.experimental.sparse.BCSR.fromdense({m}, nse=6) @ {m}.T", "(jax.experimental.sparse.BCOO.fromdense({x}, nse=2) + jax.experimental.sparse.BCOO.fromdense({y}, nse=2)).todense()", "jax.experimental.sparse.BCOO.fromdense({m}, nse=4).sum_duplicates(nse=4).indices",
        "jax.experimental.sparse.sparsify(lambda c, t: {body c,t})(jax.experimental.sparse.BCOO.fromdense({x}, nse=3), {y})", "jax.grad(lambda c: (jax.experimental.sparse.BCOO((c, jnp.array([[0], [2], [0]])), shape=(4,)) @ jnp.arange(4.0)).sum())({f})", "jax.experimental.sparse.BCOO.fromdense({m}, nse=4)[{n}].todense()",
        "jax.experimental.sparse.BCOO((jnp.resize({x}, 3), jnp.array([[0], [7], [1]])), shape=(3,)).todense()", "jax.vmap(lambda c: jax.experimental.sparse.BCOO.fromdense(c, nse=2) @ jnp.ones(3))({m})", "jax.experimental.sparse.bcoo_multiply_dense(jax.experimental.sparse.BCOO.fromdense({m}, nse=5), {x})",
        "jax.experimental.sparse.bcoo_reshape(jax.experimental.sparse.BCOO.fromdense({m}, nse=5), new_sizes=({m}.size,)).todense()", "jax.experimental.sparse.bcoo_concatenate([jax.experimental.sparse.BCOO.fromdense({m}, nse=5)] * 2, dimension={n}).todense()", "jax.experimental.sparse.eye(3, 4, k={n}, dtype={dtype}).todense()",
    ],
    "programs": [
        "jax.make_jaxpr(lambda c: {body c})({x}).out_avals[0].dtype.type(1)", "jax.core.eval_jaxpr(jax.make_jaxpr(lambda c: {body c})({x}).jaxpr, jax.make_jaxpr(lambda c: {body c})({x}).consts, {x})", "jax.linear_transpose(lambda c: c * {lit}, {f})({f})", "jax.linear_transpose(lambda c: jnp.cumsum(c[::-1]), {f})({f})",
        "jax.linear_transpose(lambda c: lax.scan(lambda s, t: (s + t, s), 0.0, c)[1], {f})({f})", "jax.closure_convert(lambda c: c * {x}, {y})[0]({y}, *jax.closure_convert(lambda c: c * {x}, {y})[1])", "jax.custom_derivatives.linear_call(lambda r, c: c * r, lambda r, g: g * r * {lit}, {f}, {f})",
        "jax.grad(lambda c: jax.custom_derivatives.linear_call(lambda r, s: s * r, lambda r, g: g * r * 3, {f}, c).sum())({f})", "jax.fwd_and_bwd(lambda c: {body c}, (0,))[0]({f})[0]", "jax.experimental.jet.jet(lambda c: {body c}, ({f},), (({f}, {f} * 0),))", "jax.experimental.jet.jet(lambda c: jnp.sin(c) * c, ({f},), (({f}, {f}, {f}),))",
        "lax.composite(lambda c, *, k=1.0: c * k, 'n.m')({x}, k=2.0)", "jax.remat(lambda c: {body c}, prevent_cse=False)({x})", "jax.grad(lambda c: jax.remat(lambda s: jnp.sum({body s}), policy=jax.checkpoint_policies.everything_saveable)(c))({f})",
        "jax.grad(lambda c: jax.remat(lambda s: jnp.sum({body s}), policy=jax.checkpoint_policies.nothing_saveable)(c))({f})", "jax.jit(lambda c, t: {body c,t}, static_argnums=1)({x}, 2)", "jax.jit(lambda c, *, k: c * k, static_argnames='k')({x}, k={n})", "jax.jit(lambda c, t: c, donate_argnums=1, keep_unused=True)({x}, {y} * 1)",
        "jax.pure_callback(lambda c: np.asarray(c) * 2, jax.ShapeDtypeStruct({f}.shape, {f}.dtype), {f})", "jax.vmap(lambda c: jax.pure_callback(lambda s: np.sum(s, -1), jax.ShapeDtypeStruct((), c.dtype), c, vmap_method='expand_dims'))({f})", "jax.experimental.io_callback(lambda c: np.asarray(c) + 1, jax.ShapeDtypeStruct({x}.shape, {x}.dtype), {x}, ordered=True)",
        "jax.vmap(lambda c: jax.pure_callback(lambda s: np.asarray(s)[..., ::-1], jax.ShapeDtypeStruct(c.shape, c.dtype), c, vmap_method='sequential'))({m})", "jax.typeof({x}).shape", "jax.tree.leaves_with_path({'a': {x}, 'b': [{y}, None]})[1][1]", "jax.tree.unflatten(jax.tree.structure((0, [0])), ({x}, {y}))",
        "jax.tree.map_with_path(lambda p, c: c * len(p), {'a': {x}, 'b': [{y}]})", "jax.tree.broadcast({lit}, {'a': {x}, 'b': [{y}]})", "jax.tree.reduce_associative(jnp.add, [{x}, {x}, {x}])", "jax.device_put({x})", "jax.block_until_ready({x})", "jax.lax.stop_gradient({'a': {x}, 'n': {lit}})",
        "lax.rng_bit_generator(jnp.array([1, 2, 3, 4], 'uint32'), ({n}, 3), 'uint32', algorithm=lax.RandomAlgorithm.RNG_THREE_FRY)[1]", "jax.experimental.checkify.checkify(lambda c: {body c}, errors=jax.experimental.checkify.float_checks)({f})[1]", "jax.experimental.checkify.checkify(lambda c: c[{n}], errors=jax.experimental.checkify.index_checks)({x})[0].get() is None",
        "lax.ragged_dot({m}, jnp.stack([{m}.T, {m}.T]), jnp.array([1, 1], 'int32'))", "jax.nn.scaled_matmul(jnp.ones((1, 2, 32)), jnp.ones((1, 2, 32)), jnp.ones((1, 2, 1)), jnp.full((1, 2, 1), 0.5))", "lax.dot_general({m}, {m}, (((1,), (1,)), ((0,), (0,))), preferred_element_type={dtype})", "lax.dot({m}, {m}.T, precision='highest', preferred_element_type={dtype})",
    ],
    "meshes": [
        f"jax.shard_map(lambda c: {{body c}}, mesh={_MESH}, in_specs=jax.P(), out_specs=jax.P())({{x}})", f"jax.shard_map(lambda c: lax.psum(c, 'd'), mesh={_MESH}, in_specs=jax.P('d'), out_specs=jax.P())({{x}})", f"jax.shard_map(lambda c: lax.all_gather(c, 'd', tiled=True), mesh={_MESH}, in_specs=jax.P('d'), out_specs=jax.P('d'))({{x}})",
        f"jax.grad(lambda c: jax.shard_map(lambda s: lax.psum(jnp.sum({{body s}}), 'd'), mesh={_MESH}, in_specs=jax.P('d'), out_specs=jax.P())(c))({{f}})", f"jax.vmap(jax.shard_map(lambda c: {{body c}}, mesh={_MESH}, in_specs=jax.P(), out_specs=jax.P()))({{m}})",
        f"lax.with_sharding_constraint({{x}}, jax.NamedSharding({_MESH}, jax.P()))", f"jax.device_put({{x}}, jax.NamedSharding({_MESH}, jax.P('d')))", f"jax.jit(lambda c: {{body c}}, out_shardings=jax.NamedSharding({_MESH}, jax.P()))({{x}})",
        f"jax.shard_map(lambda c: c * lax.axis_index('d') + lax.axis_size('d'), mesh={_MESH}, in_specs=jax.P('d'), out_specs=jax.P('d'))({{x}})", f"jax.shard_map(lambda c: lax.scan(lambda s, t: (s + t.sum(), s), 0.0, c)[1], mesh={_MESH}, in_specs=jax.P(), out_specs=jax.P())({{f}})",
    ],
    "complex": [
        *[f"jnp.{{unary}}({_COMPLEX})"] * 6, *[f"jax.jvp(jnp.{{unary}}, ({_COMPLEX},), ({_COMPLEX},))"] * 4, *[f"{_COMPLEX} {op} {{y}}" for op in ("+", "*", "/", "-", "**", "==")], f"jax.grad(lambda c: jnp.abs(jnp.{{unary}}(c)).sum())({_COMPLEX})", f"jax.grad(lambda c: jnp.sum({{body c}}), holomorphic=True)({_COMPLEX})",
        f"jax.vjp(lambda c: c * jnp.conj(c), {_COMPLEX})[1]({_COMPLEX})", f"jnp.sort({_COMPLEX})", f"jnp.argmax({_COMPLEX})", f"jnp.cumprod({_COMPLEX})", f"jnp.prod({_COMPLEX}, axis={{axis}})", f"jnp.linalg.norm({_COMPLEX})", f"jnp.var({_COMPLEX})", f"jnp.unique({_COMPLEX}, size=2)", f"jnp.mean({_COMPLEX}, axis={{axis}})", f"jnp.dot({_COMPLEX}, {{y}})",
        f"jnp.vdot({_COMPLEX}, {_COMPLEX})", f"jnp.where({{mask}}, {_COMPLEX}, {{lit}})", f"{_COMPLEX}.at[0].multiply(1j)", f"{_COMPLEX}.at[jnp.array([0, 0])].add({{lit}})", f"lax.fori_loop(0, 3, lambda i, c: {{body c}}, {_COMPLEX})", f"jax.jacfwd(lambda c: jnp.real(c * {_COMPLEX}))({{f}})", f"{_COMPLEX}.view('float32')", f"jnp.nan_to_num({_COMPLEX})", f"jnp.round({_COMPLEX}, 1)",
        *[f"jax.scipy.signal.{how}({{m}} + 1j * {{m}} ** 2, {{s}}[:2, :2] * 1j + 1, mode='{mode}')" for how in ("convolve2d", "correlate2d", "correlate") for mode in ("full", "same", "valid")],
        f"jnp.correlate({_COMPLEX}, {_COMPLEX}[:2], mode='full')", f"jax.scipy.signal.correlate({_COMPLEX}[:2], {_COMPLEX}, mode='valid')",
        f"jax.scipy.special.logsumexp({_COMPLEX})", f"jnp.logaddexp({_COMPLEX}, {{y}})", f"jnp.fft.ifft({_COMPLEX})", f"jax.grad(lambda c: jnp.abs(jnp.fft.fft(c)).sum())({_COMPLEX})", "jnp.linalg.solve({s} + 4j * jnp.eye(3), {f})", "jnp.linalg.eigvalsh({s} + 1j * jnp.triu({s}))", "jnp.linalg.cholesky({s} @ {s}.T + 4 * jnp.eye(3) + 0j)", "jnp.linalg.inv({s} + 3j * jnp.eye(3))", "jnp.linalg.slogdet({s} + 2j * jnp.eye(3))",
        "{x} * 1j", "1j ** {x}", "{x} + np.complex64(1j)", "jnp.array([{lit}, 1j])", "{x}.real + 1j * {y}.imag", "jnp.vander({x} * 1j)", "jnp.interp({f}, jnp.arange(3.0), jnp.array([1j, 2.0, 0.5]))", "jnp.convolve({x}, {y} * 1j)", "jnp.einsum('i,j->ij', {x} * 1j, {y})",
    ],
    "ufuncs": [
        *[f"jnp.{name}.{call}" for name in ("add", "multiply", "maximum", "logical_or", "bitwise_xor") for call in (
            "reduce({x}, axis={axis}, keepdims=True)", "accumulate({m}, axis={n})", "reduceat({x}, jnp.array([0, 2, 1]))", "outer({x}, {y})")],
        *[f"jnp.{name}.at({{x}}, jnp.array([0, 0, 2]), {{lit}}, inplace=False)" for name in ("add", "multiply", "maximum", "bitwise_xor")],
        "jnp.subtract.outer({x}, {lit})", "jnp.add.reduce({x}, where={mask}, initial={lit})", "jnp.frompyfunc(lambda c, t: c * t + 1, 2, 1).accumulate({x})",
    ],
    "narrow": [  # types that few lines have
        *[f"lax.dot_general({{x}}.astype('{left}') * 9, {{y}}.astype('{right}'), (((0,), (0,)), ((), ())), preferred_element_type='{wide}')" for left, right, wide in (
            ("uint8", "int8", "int32"), ("int8", "uint16", "int32"), ("float16", "bfloat16", "float32"), ("int32", "float16", "float32"))],
        *[f"{{x}}.astype('{dtype}')" for dtype in ("int4", "uint4", "float8_e4m3fn", "float8_e5m2")], *[f"({{x}}.astype('{dtype}') + 1).astype('float32')" for dtype in ("int4", "float8_e4m3fn", "float8_e5m2")], "{x}.astype('int4') * {x}.astype('int4')", "jnp.dot({m}.astype('int8'), {m}.T.astype('int8'), preferred_element_type='int32')", "jnp.sum({x}.astype('int4'))",
        "jnp.max({x}.astype('float8_e5m2'))", "jnp.sort({x}.astype('uint4'))", "lax.bitcast_convert_type({x}.astype('int4'), 'uint4')", "lax.reduce_precision({f}, {n} + 2, {n})", "jax.jvp(lambda c: c.astype('float8_e4m3fn').astype('float32') * c, ({f},), ({f},))", "jnp.where({mask}, {x}.astype('int4'), {n})", "{x}.astype('uint4') >> 1", "jnp.concatenate([{x}.astype('int4'), {y}.astype('int4')])",
    ],
}
