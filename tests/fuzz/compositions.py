"""More lines of programs, in the slots of `templates`: what users build from several functions at once.

Loops in loops and their derivatives, rules of one's own, trees with None and classes of one's own, keys as values, references in
loops, and the derivatives and batches of what decompositions, transforms, sums over segments and sorts give.
"""
from __future__ import annotations

_TREE = "{'a': {x}, 'b': None, 'c': [{y}]}"
_LOSS = "jax.grad(lambda c: jnp.sum({body c} * %s))({f})"

LINES = {
    "nested control flow": [
        "lax.scan(lambda c, t: lax.cond(t.sum() > {lit}, lambda: ({body c,t}, c), lambda: (c, {body c})), {x}, {y})",
        "lax.fori_loop(0, 2, lambda i, c: lax.switch(i, [lambda s: {body s}, lambda s: s * {lit}], c), {x})",
        "lax.scan(lambda c, t: (lax.fori_loop(0, {n}, lambda i, s: {body s,t}, c), jnp.sum(c)), {x}, {y})",
        "lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, lax.scan(lambda s, t: ({body s,t}, None), c[1], jnp.arange(2.))[0]), (0, {f}))[1]",
        "jax.grad(lambda c: lax.scan(jax.checkpoint(lambda s, t: ({body s,t}, s.sum())), c, jnp.arange(3.))[1].sum())({f})",
        "jax.vmap(lambda c: lax.switch((c.sum() > 0).astype(int), [lambda s: {body s}, lambda s: s], c))({x})",
        "jax.vmap(lambda c, t: lax.fori_loop(0, t, lambda i, s: s + {lit}, c))({x}, jnp.arange(3))",
        "jax.vmap(lambda t: lax.scan(lambda c, s: ({body c,s}, c), {x}, t)[0])({m})",
        "lax.associative_scan(lambda c, t: (c[0] * t[0], t[0] * c[1] + t[1]), ({f}, {f}), reverse=True)",
        "jax.jvp(lambda c: lax.associative_scan(jnp.maximum, c, reverse=True), ({f},), ({f},))", "lax.associative_scan(jnp.add, {m}, axis={axis})",
        "jax.grad(lambda c: jnp.sum(lax.map(lambda t: {body t}, c)))({f})", "jax.jacrev(lambda c: lax.map(lambda t: {body t}, c, batch_size=2))({f})",
        "jax.grad(lambda c: jnp.sum(lax.cond(c.sum() > 0, lambda: {body c}, lambda: {x} * c.sum())))({f})",
        "jax.hessian(lambda c: jnp.sum(lax.scan(lambda s, t: ({body s}, {body t,s}), c, jnp.arange(2.))[1]))({f})",
        "jax.linearize(lambda c: lax.switch({n}, [lambda s: {body s}, lambda s: s], c), {f})[1]({f})",
        "jax.jvp(lambda c: lax.while_loop(lambda s: s[0] < {n}, lambda s: (s[0] + 1, lax.cond(s[1].sum() > 0, lambda u: {body u}, lambda u: u, s[1])), (0, c))[1], ({f},), ({f},))",
        "lax.scan(lambda c, t: (c + 1, jax.grad(lambda s: jnp.sum({body s}))(t)), {lit}, {f})", "lax.scan(lambda c, t: (c, {'a': {body t}, 'b': None, 'c': (c,)}), {x}, {y})",
        "lax.cond({x}.sum() > 0, lambda c: {'a': c, 'b': None}, lambda c: {'a': {body c}, 'b': None}, {x})", "lax.scan(lambda c, t: (c, t), None, {x})", "lax.scan(lambda c, t: (t, None), {x}[0], {x}, reverse=True, unroll=2)",
        "lax.scan(lambda c, t: ((c[0], c[1] + t.sum()), c[1]), ({x}, {lit}), {y})", "lax.scan(lambda c, t: ({body c,t}, t), {x}, {y}, length={n})", "lax.scan(lambda c, t: ({body c,t}, t), {x}, {y}, unroll=True)",
        "jax.grad(lambda c: lax.scan(lambda s, t: (s, jax.vmap(lambda u: {body u})(t)), 0., c)[1].sum())({m})",
    ],
    "custom rules": [
        "jax.custom_gradient(lambda c: ({body c}, lambda g: (g * {lit},)))({f})", "jax.grad(lambda c: jax.custom_gradient(lambda s: (jnp.sum({body s}), lambda g: (g * s,)))(c))({f})",
        "(lambda h: (h.def_vmap(lambda n, b, c: (jnp.flip(jax.vmap(h.fun)(c), 0), b[0])), jax.vmap(h)({x}))[1])(jax.custom_batching.custom_vmap(lambda c: {body c}))",
        "(lambda h: (h.def_vmap(lambda n, b, c: (jnp.flip(jax.vmap(h.fun)(c), 0), b[0])), jax.jit(h)({x}))[1])(jax.custom_batching.custom_vmap(lambda c: {body c}))",
        "jax.vmap(jax.custom_batching.sequential_vmap(lambda c: {body c}))({x})", "(lambda h: (h.defjvps(lambda t, o, c: {lit} * t), jax.grad(lambda c: h(c).sum())({f}))[1])(jax.custom_jvp(lambda c: {body c}))",
        "(lambda h: (h.defjvps(lambda t, o, c, s: {lit} * t, None), jax.jvp(h, ({f}, {f}), ({f}, {f})))[1])(jax.custom_jvp(lambda c, s: {body c,s}))",
        "(lambda h: (h.defjvp(lambda p, t: (h(*p), jnp.cos(p[0]) * t[0])), jax.hessian(lambda c: h(c).sum())({f}))[1])(jax.custom_jvp(lambda c: jnp.sin(c)))",
        "(lambda h: (h.defjvp(lambda p, t: (h(*p), t[0] * {lit})), lax.scan(lambda s, u: (h(s), u), {f}, None, length=2))[1])(jax.custom_jvp(lambda c: {body c}))",
        "(lambda h: h.defvjp(lambda c, s: ({body c,s}, (c, s)), lambda r, g: (g * r[1], None)) or jax.grad(lambda c: jnp.sum(h(c, {lit})))({f}))(jax.custom_vjp(lambda c, s: {body c,s}))",
        "(lambda h: h.defvjp(lambda c: ({body c}, None), lambda r, g: ({lit} * g,)) or jax.vmap(jax.grad(lambda c: jnp.sum(h(c))))({f}))(jax.custom_vjp(lambda c: {body c}))",
        "(lambda h: h.defvjp(lambda c: (h(c), c), lambda r, g: (g + r,)) or jax.grad(lambda c: lax.scan(lambda s, t: (h(s), t), c, None, length=2)[0].sum())({f}))(jax.custom_vjp(lambda c: jnp.tanh(c)))",
        "lax.custom_linear_solve(lambda c: 2 * c, {f}, lambda v, b: b / 2, transpose_solve=lambda v, b: b / 2)", "jax.grad(lambda c: lax.custom_linear_solve(lambda s: c * s, {f}, lambda v, b: b / c, symmetric=True).sum())({f})",
        "jax.checkpoint(lambda c, t: {body c,t}, static_argnums=1)({x}, 2)", "jax.grad(lambda c: jax.checkpoint(lambda s: jnp.sum(jax.ad_checkpoint.checkpoint_name({body s}, 'n')), policy=jax.checkpoint_policies.save_only_these_names('n'))(c))({f})",
        "jax.vjp(jax.checkpoint(lambda c: {'a': {body c}}), {f})[1]({'a': {f}})", "jax.jit(lambda c: jax.named_call(lambda s: {body s}, name='n')(c))({x})", "jax.vmap(jax.jit(lambda c, t: {body c,t}), in_axes=(None, 0), out_axes=0)({x}, {y})",
        "jax.vjp(lambda c: ({body c}, c.shape[0]), {f}, has_aux=True)[0]", "jax.jvp(lambda c: ({body c}, {'n': c}), ({f},), ({f},), has_aux=True)", "jax.vjp(lambda c, t: {body c,t}, {f}, {f})[1]({f})", "jax.value_and_grad(lambda c, t: jnp.sum({body c,t}), argnums=(0, 1))({f}, {f})",
        "jax.grad(lambda c: jnp.sum({body c}), holomorphic=True)({x})", "jax.grad(lambda c: jnp.sum({body c}), allow_int=True)({i})", "jax.jacfwd(lambda c: {'a': {body c}, 'b': c}, has_aux=False)({f})", "jax.jacrev(lambda c, t: {body c,t}, argnums=(0, 1))({f}, {f})",
        "jax.vmap(lambda c, t: {body c,t}, in_axes=(-1, None), out_axes=(-1))({x}, {lit})", "jax.vmap(lambda c: ({body c}, {lit}), out_axes=(0, None))({x})", "jax.vmap(lambda c: lax.axis_index('i') * c, axis_name='i')({x})", "jax.vmap(lambda c: lax.ppermute(c, 'i', [(0, 1), (1, 0)]), axis_name='i')({m})",
        "jax.vmap(lambda c: lax.pmax(c, 'i') - lax.psum(1, 'i'), axis_name='i', axis_size=3)({x})", "jax.vmap(jax.vmap(lambda c: lax.psum(c, ('i', 'j')), axis_name='j'), axis_name='i')({m})", "jax.grad(lambda c: jax.vmap(lambda t: lax.psum(t * t, 'i'), axis_name='i')(c).sum())({f})",
        "jax.vmap(lambda c: lax.all_to_all(c, 'i', 0, 0), axis_name='i')({s})", "jax.vmap(lambda c: lax.psum_scatter(c, 'i'), axis_name='i')({s})",
    ],
    "trees": [
        f"jax.tree.map(lambda c: {{body c}}, {_TREE})", "jax.tree.reduce(jnp.add, ({x}, [{x}, None]))", "jax.grad(lambda c: sum(jnp.sum(t) for t in jax.tree.leaves(c)))({'a': {f}, 'b': None})", f"jax.jit(lambda c: c)({_TREE})", f"jax.jit(lambda c: (c['c'], {{'n': c['b'], 'm': {{body c}}}}) if False else c)({_TREE})",
        "jax.vmap(lambda c: {'a': c['a'], 'b': c['b']}, in_axes=({'a': 0, 'b': None},))({'a': {x}, 'b': {lit}})", "jax.flatten_util.ravel_pytree({'a': {x}, 'b': {y}})[0]", "jax.jvp(lambda c: {'a': c['a'] * {lit}, 'n': None}, ({'a': {f}},), ({'a': {f}},))",
        "jax.tree_util.Partial(lambda c, t: {body c,t}, {x})({y})", "jax.jit(lambda p: p({y}))(jax.tree_util.Partial(lambda c, t: {body c,t}, {x}))", "Pair({x}, {y})", "jax.jit(lambda p: Pair({lit}, p.first))(Pair({x}, None))", "jax.vmap(lambda p: Pair(p.second, p.first))(Pair({x}, {x}))",
        "jax.grad(lambda p: jnp.sum(p.first * p.second))(Pair({f}, {f}))", "jax.vjp(lambda p: Pair(p.first * {lit}, p.second), Pair({f}, {f}))[1](Pair({f}, {f}))", "lax.scan(lambda c, t: (Pair(c.second, c.first), t), Pair({x}, {x}), {y})", "lax.cond({mask}.any(), lambda p: p, lambda p: Pair(p.second, p.first), Pair({x}, {x}))",
        "jax.jacfwd(lambda p: p.first * 2)(Pair({f}, {f}))", "jax.tree.map(lambda c, t: c + t, Pair({x}, [{x}]), Pair({x}, [{x}]))", "jax.tree.transpose(jax.tree.structure((0, 0)), jax.tree.structure([0]), ([{x}], [{y}]))",
        "jax.linearize(lambda p: {'a': p.first, 'b': (p.second,)}, Pair({f}, {f}))[1](Pair({f}, {f}))", "jax.hessian(lambda p: jnp.sum(p.first ** 2 * p.second))(Pair({f}, {f}))", "jax.eval_shape(lambda c: {'a': {body c}}, {x})['a'].dtype.type(1)", "jax.checkpoint(lambda p: (p.first, None))(Pair({x}, {y}))",
    ],
    "keys": [
        "jax.random.split({k}, {n})", "jax.vmap(lambda c: jax.random.fold_in(c, 1))(jax.random.split({k}, 2))", "jnp.stack([{k}, {k}])", "{k}[None]", "jnp.where({lit}, {k}, {k})", "lax.cond({lit}, lambda: {k}, lambda: jax.random.fold_in({k}, 1))", "{k} == {k}", "jnp.concatenate([{k}[None], {k}[None]])",
        "lax.scan(lambda c, t: (jax.random.split(c)[0], jax.random.normal(c)), {k}, None, length=2)[1]", "jax.vmap(jax.random.split, in_axes=(0, None))(jax.random.split({k}), 2)", "jax.random.split({k})[jnp.array([1, 0])]", "jax.random.split({k}).at[0].set({k})", "jax.tree.map(lambda c: c, {'k': {k}, 'n': None})",
        "jax.lax.fori_loop(0, 2, lambda i, c: jax.random.fold_in(c, i), {k})", "jax.random.normal({k}, {f}.shape, dtype={f}.dtype) + {f}", "jax.grad(lambda c: jnp.sum(c * jax.random.normal({k}, c.shape)))({f})", "jax.random.bits(jax.random.fold_in({k}, {i}.sum()), (2,), 'uint16')", "jax.vmap(lambda c, t: jax.random.uniform(c, (), t.dtype) * t)(jax.random.split({k}, 3), {f})",
    ],
    "references": [
        "jax.jit(lambda c: (lambda r: (lax.fori_loop(0, 3, lambda i, u: r.__setitem__(..., r[...] * {lit}), None), r[...])[1])(jax.new_ref(c)))({f})", "jax.jit(lambda c: (lambda r: (lax.scan(lambda u, t: (u, r.__setitem__(0, t.sum())), None, {y}), r[...])[1])(jax.new_ref(c)))({f})",
        "(lambda r: (jax.ref.addupdate(r, ..., {x}), r[...])[1])(jax.new_ref(jnp.zeros_like({x})))", "(lambda r: (jax.ref.swap(r, 0, {x}[1]), r[...]))(jax.new_ref({x}))", "(lambda r: (r.__setitem__(jnp.array([0, 1]), {x}[1:3]), r[1:])[1])(jax.new_ref({x}))", "(lambda r: (r.__setitem__(slice(0, 2), {x}[-2:]), r[...])[1])(jax.new_ref({x}))",
        "jax.vmap(lambda c: (lambda r: (r.__setitem__(..., r[...] + {lit}), r[...])[1])(jax.new_ref(c)))({x})", "jax.jvp(lambda c: (lambda r: (r.__setitem__(..., {body c}), r[...])[1])(jax.new_ref(c)), ({f},), ({f},))", "jax.grad(lambda c: (lambda r: (lax.cond(c.sum() > 0, lambda: r.__setitem__(..., r[...] * 2), lambda: None), r[...].sum())[1])(jax.new_ref(c)))({f})",
        "jax.grad(lambda c: (lambda r: (lax.fori_loop(0, 2, lambda i, u: r.__setitem__(..., jnp.sin(r[...])), None), r[...].sum())[1])(jax.new_ref(c)))({f})", "jax.freeze(jax.new_ref({x}))", "(lambda r: (r.__setitem__({i}, {x}[{i}] * 2), r[{i}])[1])(jax.new_ref({x}))",
    ],
    "decompositions": [
        "jax.jvp(lambda c: jnp.linalg.inv(c + 4 * jnp.eye(3)), ({s},), ({s},))", "jax.grad(lambda c: jnp.linalg.slogdet(c + 4 * jnp.eye(3))[1])({s})", "jax.grad(lambda c: jnp.linalg.eigvalsh(c + c.T).sum())({s})", "jax.vmap(lambda c: jnp.linalg.solve({s} + 5 * jnp.eye(3), c))({m})", "jnp.linalg.pinv({m})", "jnp.linalg.lstsq({m}, {f})[0]", "jnp.linalg.multi_dot([{m}, {m}.T, {m}])",
        "jax.scipy.linalg.cho_solve((jnp.eye(3) * 2, True), {f})", "jax.scipy.linalg.lu_solve(jax.scipy.linalg.lu_factor({s} + 4 * jnp.eye(3)), {f})", "jax.scipy.linalg.lu({s})[2]", "jnp.linalg.cond({s})", "jnp.linalg.matrix_rank({m})", "jnp.linalg.qr({m}, mode='r')", "jnp.linalg.tensorinv(jnp.eye(4).reshape(2, 2, 2, 2))", "jnp.linalg.svdvals({m})", "jax.scipy.linalg.block_diag({m}, {x})",
        "jax.grad(lambda c: jnp.linalg.cholesky(c @ c.T + 4 * jnp.eye(3)).sum())({s})", "jax.jvp(lambda c: jnp.linalg.qr(c + 4 * jnp.eye(3))[1], ({s},), ({s},))", "jax.vmap(jnp.linalg.det)(jnp.stack([{s}, {s}]))", "jax.grad(lambda c: jax.scipy.linalg.expm(c).sum())({s})", "jax.grad(lambda c: jnp.linalg.norm(c, 'nuc'))({s})", "jax.grad(lambda c: jnp.linalg.norm(c, axis={axis}).sum())({f})", "jax.grad(lambda c: jnp.linalg.norm({x} * c, ord={n}))({lit})",
        "jax.scipy.linalg.solve_triangular({s}, {f}, trans={n}, unit_diagonal=True)", "lax.linalg.triangular_solve({s} + 4 * jnp.eye(3), {s}, left_side=False, transpose_a=True)", "jax.scipy.linalg.toeplitz({x})", "jnp.linalg.eigh({s} @ {s}.T)[0]", "jax.scipy.linalg.sqrtm(jnp.eye(2) * {lit})", "lax.linalg.householder_product({s}, {f})",
        *[f"jnp.einsum({text})" for text in ("'ij,jk->ik', {m}, {m}.T", "'ij,ij->i', {m}, {m}", "'ii->i', {s}", "'ii', {s}", "'...i,...i', {x}, {y}", "{x}, [0], {y}, [0], []", "'ij,j,k->ik', {m}, {f}, {x}", "'i,j->ij', {x}, {y}, preferred_element_type='float32'", "'ij->ji', {m}", "'i,i,i->i', {x}, {y}, {x}", "'ab,cb,cd->ad', {m}, {m}, {m}, optimize=True", "',i->i', {lit}, {x}")],
        "jax.grad(lambda c: jnp.einsum('ij,ij->', c, c))({f})", "jax.vmap(lambda c: jnp.einsum('i,i', c, c))({m})", "jnp.tensordot({m}, {m}, axes=((0,), (0,)))", "jax.jvp(lambda c: jnp.kron(c, {y}), ({f},), ({f},))", "jnp.matvec({m}, {y})", "jnp.vecmat({y}, {m}.T)", "lax.batch_matmul(jnp.stack([{m}]), jnp.stack([{m}.T]))", "jax.vmap(jnp.outer)({m}, {m})",
    ],
    "transforms": [
        "jnp.fft.fft2({m})", "jnp.fft.irfft({x}, n=4)", "jnp.fft.hfft({x})", "jnp.fft.ihfft({f})", "jnp.fft.fft({x}, n={n}, norm='ortho')", "jnp.fft.fftn({x})", "jnp.fft.rfftn({f})", "jnp.fft.irfft2({m})", "jax.grad(lambda c: jnp.abs(jnp.fft.fft(c)).sum())({f})", "jax.jvp(jnp.fft.rfft, ({f},), ({f},))", "jax.vmap(jnp.fft.ifft)({m})", "jax.scipy.fft.dct({f})", "jax.scipy.fft.idct({f}, norm='ortho')", "jax.scipy.fft.dctn({f})",
        "lax.fft({x}, 'fft', (3,))", "jnp.fft.rfftfreq({n} + 1, {lit})", "jax.grad(lambda c: jnp.real(jnp.fft.ifft(jnp.fft.fft(c) * {x})).sum())({f})", "jnp.convolve({x}, {y}, mode='same')", "jax.grad(lambda c: jnp.convolve(c, {y}).sum())({f})", "jax.scipy.signal.convolve({x}, {y}, mode='valid')", "jax.scipy.signal.fftconvolve({f}, {f})", "jax.scipy.signal.detrend({f})",
        "lax.conv_general_dilated({f}[None, None], {f}[None, None], (2,), [(1, 1)], rhs_dilation=(1,))", "lax.conv({f}[None, None], {f}[None, None], (1,), 'VALID')", "jax.grad(lambda c: lax.conv_general_dilated(c[None, None], {f}[None, None], (1,), 'SAME').sum())({f})", "lax.reduce_window({f}, 0., lax.add, (2,), (1,), 'VALID')", "jax.grad(lambda c: lax.reduce_window(c, -jnp.inf, lax.max, (2,), (1,), 'SAME').sum())({f})", "lax.reduce_window({m}, 1, lax.mul, (2, 2), (1, 1), 'VALID')", "jax.image.resize({f}, (5,), 'linear')", "jax.image.resize({m}, (4, 2), {lit} and 'nearest')", "jax.scipy.ndimage.map_coordinates({f}, [jnp.array([0.5, 1.5])], order=1)",
    ],
    "segments": [
        *[f"jax.ops.segment_{how}({{x}}, jnp.array([0, 1, 0]), num_segments=3)" for how in ("sum", "max", "min", "prod")], "jax.ops.segment_sum({x}, {i}, num_segments=2)", "jax.ops.segment_sum({x}, jnp.array([0, 0, 2]), indices_are_sorted=True, num_segments=2)", "jax.ops.segment_max({x}, jnp.array([0, 5, -1]), num_segments=2, mode='drop')", "jax.ops.segment_sum({x}, jnp.array([0, 1, 1]), num_segments=2, unique_indices=False, bucket_size=2)",
        *[f"jax.grad(lambda c: jnp.sum(jax.ops.segment_{how}(c, jnp.array([0, 1, 0]), num_segments=2) ** 2))({{f}})" for how in ("sum", "max", "min", "prod")], "jax.vmap(lambda c: jax.ops.segment_sum(c, jnp.array([0, 1, 0]), num_segments=2))({m})", "jnp.bincount({i}, weights={f}, length=3)", "jnp.histogram({f}, bins=3, weights={f})", "jnp.histogram2d({f}, {f}, bins=2)", "jnp.digitize({x}, {f}, right=True)",
        "jax.grad(lambda c: jnp.sum(lax.top_k(c, 2)[0] * {lit}))({f})", "jax.vmap(jnp.argsort)({x})", "jax.jvp(lambda c: jnp.sort(c, descending=True), ({f},), ({f},))", "lax.sort(({x}, {y}), num_keys=2)", "jnp.sort({x}, stable=False)", "jnp.argsort({x}, axis={axis}, stable=True, descending=True)", "jnp.lexsort(({y}, {x}))", "jax.grad(lambda c: jnp.median(c).sum())({f})", "jax.grad(lambda c: jnp.quantile(c, 0.3, method='higher'))({f})", "jax.jvp(lambda c: jnp.cumprod(c), ({f},), ({f},))", "jax.vmap(lambda c: jnp.searchsorted(jnp.sort(c), c))({x})", "jax.vmap(lambda c: jnp.unique(c, size=2, fill_value={lit}))({x})",
        "jnp.unique({x}, size=4, return_counts=True, return_index=True)", "jnp.intersect1d({x}, {y}, size=2)", "jnp.setxor1d({x}, {y}, size=3)", "jnp.isin({x}, {y}, invert=True)", "jnp.argwhere({x}, size=2)", "jnp.flatnonzero({mask}, size=2, fill_value=7)", "jnp.nanargmax({x}, axis={axis})", "jax.grad(lambda c: jnp.max(c, axis={axis}).sum())({f})", "jax.grad(lambda c: jnp.ptp(c))({f})", "jax.grad(lambda c: jnp.std(c))({f})", "jax.jvp(lambda c: jnp.var(c, axis={axis}, ddof={n}), ({f},), ({f},))", "jax.grad(lambda c: jnp.prod(c))({f})",
    ],
    "networks": [
        "jax.nn.dot_product_attention(jnp.resize({f}, (1, 2, 1, 3)), jnp.resize({f}, (1, 2, 1, 3)), jnp.resize({f}, (1, 2, 1, 3)))", "jax.nn.dot_product_attention(jnp.resize({f}, (2, 2, 3)), jnp.resize({f}, (2, 1, 3)), jnp.resize({f}, (2, 1, 3)), is_causal=True)", "jax.nn.one_hot({i}, 3, axis=0, dtype={dtype})", "jax.nn.gelu({x}, approximate=False)", "jax.nn.softmax({x}, axis=(0,))", "jax.nn.standardize({x}, axis={axis}, epsilon={lit})", "jax.nn.logsumexp({x}, axis={axis}, keepdims=True, return_sign=True)",
        *[f"jax.grad(lambda c: jnp.sum(jax.nn.{name}(c) * {{x}}))({{f}})" for name in "relu relu6 sigmoid softplus silu gelu elu celu selu leaky_relu log_sigmoid hard_tanh hard_swish mish softmax log_softmax logsumexp squareplus soft_sign sparse_plus sparse_sigmoid standardize tanh".split()],
        *[f"jax.nn.initializers.{name}()({{k}}, (2, 3), {{dtype}})" for name in "zeros ones normal uniform truncated_normal glorot_uniform glorot_normal he_normal he_uniform lecun_normal orthogonal".split() if name not in ("zeros", "ones")], "jax.nn.initializers.zeros({k}, (2,), {dtype})", "jax.nn.initializers.constant({lit})({k}, (2,), {dtype})",
        "jax.jit(lambda c: jax.nn.softmax(c @ c.T) @ c)({m})", "jax.grad(lambda c: -jnp.mean(jax.nn.log_softmax(c)[..., 0]))({f})", "jax.vmap(jax.nn.softmax)({x})", "jax.hessian(lambda c: jax.nn.logsumexp(c))({f})", "jax.jvp(lambda c: jax.nn.softplus(c) * {lit}, ({f},), ({f},))",
        *[_LOSS % f"jax.scipy.special.{call}" for call in ("gammaln(c)", "digamma(c)", "expit(c)", "logit(c)", "xlogy(c, {lit})", "erf(c)", "i0e(c)", "betainc({lit}, 1.5, c)", "gammainc({lit}, c)", "ndtri(c)", "log_ndtr(c)", "entr(c)", "polygamma(1, c)", "zeta(c, 1.5)", "expi(c)", "spence(c)")],
    ],
    "rare": [
        *[f"lax.linalg.{call}" for call in ("cholesky({s} @ {s}.T + 4 * jnp.eye(3))", "eigh({s} + {s}.T)[1]", "lu({s} + 4 * jnp.eye(3))[0]", "qr({s} + 4 * jnp.eye(3))[1]", "svd({s}, compute_uv=False)", "schur({s})[0].shape",
          "symmetric_product({s}, {s})", "tridiagonal_solve({f}, {f}, {f}, {f}[:, None])", "hessenberg({s})[0]", "householder_product({s}, jnp.ones(3))", "lu_pivots_to_permutation(jnp.array([1, 2, 2], 'int32'), 3)", "cholesky_update(jnp.eye(3) * 2, {f})")],
        "lax.gather({x}, jnp.array([[0], [9]]), lax.GatherDimensionNumbers((), (0,), (0,)), (1,))", "lax.gather({m}, jnp.array([[1], [0]]), lax.GatherDimensionNumbers((1,), (0,), (0,)), (1, {m}.shape[1]), mode='fill', fill_value={lit})",
        *[f"lax.scatter{how}({{x}}, jnp.array([[0], [0], [7]]), {{y}}, lax.ScatterDimensionNumbers((), (0,), (0,)))" for how in ("", "_add", "_mul", "_min", "_max", "_sub")],
        "jax.grad(lambda c: lax.scatter_mul(c, jnp.array([[0], [1]]), c[:2], lax.ScatterDimensionNumbers((), (0,), (0,))).sum())({f})", "lax.scatter_apply({x}, jnp.array([[0], [0]]), lambda c: c * 2, lax.ScatterDimensionNumbers((), (0,), (0,)), update_shape=(2,))",
        "lax.reshape({x}, (3, 1))", "lax.reshape({m}, (6,), dimensions=(1, 0))", "lax.conv_transpose({f}[None, :, None], {f}[:, None, None], (2,), 'SAME')", "lax.conv_general_dilated_patches({f}[None, None], (2,), (1,), 'VALID')",
        "lax.conv_with_general_padding({f}[None, None], {f}[None, None], (1,), [(1, 0)], None, None)", "lax.platform_dependent({x}, cpu=lambda c: {body c}, default=lambda c: c)", "jax.grad(lambda c: lax.platform_dependent(c, default=lambda s: {body s}).sum())({f})",
        "lax.optimization_barrier(({x}, {y}))", "jax.grad(lambda c: jnp.sum(lax.optimization_barrier(c) * {x}))({f})", "jax.grad(lambda c: lax.custom_root(lambda s: s * s - c, 1.0, lambda g, s: jnp.sqrt(c), lambda g, s: s / g(1.0)))(2.0)",
        *[f"jax.vmap(lambda c: {call}, axis_name='i')({{x}})" for call in ("lax.pmin(c, 'i')", "lax.pshuffle(c, 'i', [1, 0, 2])", "c * lax.axis_size('i')", "lax.all_gather(c, 'i', tiled=False, axis=-1)")], "jax.vmap(lambda c: lax.pswapaxes(c, 'i', 0), axis_name='i')({s})",
        "jax.image.scale_and_translate({m}, (4, 4), (0, 1), jnp.array([2., {lit}]), jnp.array([0., 0.5]), 'linear')", "jax.image.resize({m}, (4, 2), 'cubic')", "jax.scipy.fft.idctn({x})", "jax.scipy.integrate.trapezoid({x}, dx={lit})", "jax.scipy.stats.sem({x}, axis={axis})",
        "jax.scipy.stats.multivariate_normal.logpdf({f}, jnp.zeros(3), jnp.eye(3) * 2)", "jax.grad(lambda c: jax.scipy.stats.multivariate_normal.pdf(c, c * {lit}, 2.0).sum())({f})", "jax.scipy.special.lpmn_values(2, 2, {f}, True)", "jax.nn.scaled_dot_general({m}, {m}.T, (((1,), (0,)), ((), ())))",
        "jnp.apply_along_axis(lambda c: {body c}, {axis}, {m})", "jnp.apply_over_axes(jnp.sum, {m}, (0, 1))", "jnp.block([[{x}, {y}]])", "jnp.fromfunction(lambda i, j: i * {lit} + j, (2, 3), dtype={dtype})", "jnp.frompyfunc(lambda c, t: {body c,t}, 2, 1)({x}, {y})",
        "jnp.frompyfunc(lambda c, t: c + t, 2, 1, identity=0).reduce({x})", "jnp.ix_({i}, {i})", "jnp.isrealobj({x})", "jnp.iscomplexobj({x})", "jnp.ravel_multi_index(({i}, {i}), (4, 4), mode='clip')", "jnp.can_cast({x}.dtype, {dtype})", "jnp.iinfo({i}.dtype).max", "jnp.finfo({f}.dtype).eps",
    ],
}
