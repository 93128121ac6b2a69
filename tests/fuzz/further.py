"""More lines of programs, in the slots of `templates`: functions that `compositions` and `outskirts` do not call.

Sparse arrays by their functions, rarer decompositions, initializers, kernels of Pallas, exported programs, types within meshes, pytrees.
"""
from __future__ import annotations

_SPARSE = "jax.experimental.sparse"
_BCOO = f"{_SPARSE}.BCOO.fromdense({{m}}, nse=5)"
_BCSR = f"{_SPARSE}.BCSR.fromdense({{m}}, nse=5)"
_MATRIX = "({s} + 4 * jnp.eye({s}.shape[0]))"
_MESH = "jax.make_mesh((1,), ('d',), (jax.sharding.AxisType.{}, ))"
_ANYWHERE = "mesh=" + _MESH.format("Auto")
_PALLAS = "jax.experimental.pallas"

LINES = {
    "sparse functions": [
        *[f"{_SPARSE}.{call}.todense()" for call in (
            f"bcoo_broadcast_in_dim({_BCOO}, shape=(2,) + {{m}}.shape, broadcast_dimensions=(1, 2))", f"bcoo_dynamic_slice({_BCOO}, (0, {{n}}), (1, 2))", f"bcoo_slice({_BCOO}, start_indices=(0, 1), limit_indices={{m}}.shape)",
            f"bcoo_slice({_BCOO}, start_indices=(0, 0), limit_indices={{m}}.shape, strides=(2, 1))", f"bcoo_rev({_BCOO}, dimensions=(0,))", f"bcoo_reduce_sum({_BCOO}, axes=({{n}},))", f"bcoo_transpose({_BCOO}, permutation=(1, 0))", f"bcoo_sum_duplicates({_BCOO}, nse=3)",
            f"bcoo_update_layout({_BCOO}, n_batch=1, on_inefficient=None)", f"bcoo_update_layout({_BCOO}, n_dense=1, on_inefficient=None)", f"bcoo_multiply_sparse({_BCOO}, {_BCOO})", f"bcoo_sort_indices({_BCOO})",
            f"bcoo_squeeze({_SPARSE}.BCOO.fromdense({{m}}[None], nse=4), dimensions=(0,))", f"bcoo_dot_general({_BCOO}, {_BCOO}, dimension_numbers=(((1,), (1,)), ((), ())))", f"bcsr_broadcast_in_dim({_BCSR}, shape=(2,) + {{m}}.shape, broadcast_dimensions=(1, 2))",
            f"bcsr_concatenate([{_BCSR}, {_BCSR}], dimension={{n}})", f"bcsr_sum_duplicates({_BCSR}, nse=4)", "bcoo_fromdense({m}, nse=2, n_dense=1)", "bcoo_fromdense({m}, nse=3, n_batch=1)", f"bcoo_eliminate_zeros({_BCOO}, nse=4)",
            f"bcoo_gather({_BCOO}, jnp.array([[0], [9]]), jax.lax.GatherDimensionNumbers((1,), (0,), (0,)), (1, {{m}}.shape[1]))", "empty((2, 3), {dtype})", "random_bcoo({k}, (3, 4), nse=0.5, dtype={dtype})", "BCOO.from_scipy_sparse(__import__('scipy.sparse').sparse.eye(3))",
            "csr_fromdense({m}, nse=6)", "coo_fromdense({m}, nse=6)", f"BCSR.from_bcoo({_BCOO})", "BCSR.fromdense({m}, nse=5).to_bcoo()")],
        f"{_SPARSE}.bcoo_dot_general({_BCOO}, {{y}}, dimension_numbers=(((1,), (0,)), ((), ())))", f"{_SPARSE}.bcoo_dot_general({{m}}, {_BCOO}, dimension_numbers=(((1,), (1,)), ((), ())))", f"{_SPARSE}.bcoo_extract({_BCOO}, {{m}}).data", f"{_SPARSE}.bcsr_extract({_BCSR}.indices, {_BCSR}.indptr, {{m}})",
        f"{_SPARSE}.bcsr_dot_general({_BCSR}, {{y}}, dimension_numbers=(((1,), (0,)), ((), ())))", f"{_SPARSE}.bcoo_dot_general_sampled({{m}}, {{m}}, {_SPARSE}.bcoo_fromdense({{m}} @ {{m}}.T, nse=3).indices, dimension_numbers=(((1,), (1,)), ((), ())))", f"{_SPARSE}.coo_matvec({_SPARSE}.coo_fromdense({{m}}, nse=6), {{x}})",
        f"{_SPARSE}.csr_matvec({_SPARSE}.csr_fromdense({{m}}, nse=6), {{x}}, transpose=True)", f"{_SPARSE}.csr_matmat({_SPARSE}.csr_fromdense({{m}}, nse=6), {{m}}.T)", f"{_SPARSE}.coo_matmat({_SPARSE}.coo_fromdense({{m}}, nse=6), {{m}}, transpose=True)", f"{_SPARSE}.grad(lambda c: (c @ jnp.ones(c.shape[1])).sum())({_BCOO}).data",
        f"{_SPARSE}.value_and_grad(lambda c: (c @ jnp.ones(c.shape[1])).sum() ** 2)({_BCOO})[0]", f"{_SPARSE}.jacfwd(lambda c: c @ jnp.ones(c.shape[1]))({_BCOO}).todense()", f"{_SPARSE}.jacrev(lambda c: c @ jnp.ones(c.shape[1]))({_BCOO}).todense()", f"jax.grad(lambda c: jnp.sum({_BCOO} @ c))({{m}}.T)", f"jax.jvp(lambda c: ({_BCOO} @ c), ({{f}},), ({{f}},))",
        f"{_SPARSE}.sparsify(lambda c: lax.scan(lambda s, t: (s, t @ c), 0, {{m}})[1])({_SPARSE}.BCOO.fromdense({{f}}, nse=2))", *[f"{_SPARSE}.sparsify(jnp.{name})({_BCOO}).todense()" for name in ("sin", "abs", "sqrt", "negative", "ravel", "transpose", "square", "sign", "tanh", "expm1", "real", "conj")],
        f"{_SPARSE}.sparsify(lambda c, t: jnp.concatenate([c, t]))({_BCOO}, {_BCOO}).todense()", f"({_BCOO} / {{lit}}).todense()", f"({_BCOO} * {{x}}).todense()", f"(-{_BCOO}).todense()", f"({{m}} @ {_BCOO}.T)", f"{_BCOO}.astype({{dtype}}).todense()", f"({_BCOO} - {_BCOO}).todense()", f"{_BCOO}.reshape(-1).todense()",
        f"jax.vmap(lambda c: {_SPARSE}.bcoo_fromdense(c, nse=2)@ jnp.ones(c.shape))({{m}})", f"jax.jit(lambda c: c @ {{x}})({_BCOO})", f"{_SPARSE}.linalg.spsolve(jnp.array([2.0, 3.0, 4.0]), jnp.array([0, 1, 2]), jnp.array([0, 1, 2, 3]), {{f}})",
    ],
    "rarer decompositions": [
        f"jnp.abs(jnp.sort(lax.linalg.eig({_MATRIX}, compute_left_eigenvectors=False)[0]))", f"lax.linalg.geqrf({_MATRIX})", f"lax.linalg.geqp3({_MATRIX}, jnp.zeros(3, 'int32'))[1]", f"lax.linalg.ormqr(*lax.linalg.geqrf({_MATRIX}), {{s}}, left=True)", f"lax.linalg.qdwh({_MATRIX})[0]", "lax.linalg.tridiagonal({s} + {s}.T)[1]",
        f"jax.scipy.sparse.linalg.gmres({_MATRIX}, {{f}}, restart=3)[0]", "jax.scipy.sparse.linalg.gmres(lambda c: c * 2, {f}, solve_method='incremental')[0]", "jax.grad(lambda c: jax.scipy.sparse.linalg.gmres(lambda s: s * 2, c)[0].sum())({f})", f"jax.scipy.linalg.polar({_MATRIX})[0]", "jax.scipy.linalg.sqrtm({s} @ {s}.T + jnp.eye(3))",
        f"jax.scipy.linalg.funm({_MATRIX}, lambda c: c * c)", f"jax.scipy.linalg.schur({_MATRIX})[0]", f"jax.scipy.linalg.hessenberg({_MATRIX})", "jax.scipy.linalg.eigh_tridiagonal({f}, {f}[1:], eigvals_only=True)", f"jax.scipy.linalg.solve_sylvester({_MATRIX}, {_MATRIX}, {{s}})", "jax.scipy.linalg.expm_frechet({s}, {s})",
        f"jax.scipy.linalg.qr_multiply({_MATRIX}, {{f}}, mode='right')[0]", "jax.jvp(lambda c: jax.scipy.linalg.expm(c), ({s},), ({s},))", f"jax.grad(lambda c: jnp.linalg.pinv(c).sum())({_MATRIX})", f"jax.grad(lambda c: jnp.linalg.svd(c, compute_uv=False).sum())({_MATRIX})", f"jax.vmap(lambda c: jnp.linalg.lstsq(c, {{f}})[0])(jnp.stack([{_MATRIX}] * 2))",
        f"jax.jvp(jnp.linalg.eigh, ({_MATRIX} + {_MATRIX}.T + jnp.diag(jnp.array([0.0, 9.0, 20.0])),), ({{s}},))[1][0]", "jax.jvp(lambda c: jnp.linalg.matrix_power(c, {n}), ({s},), ({s},))", "jax.vmap(lambda c: jnp.linalg.matrix_rank(c))(jnp.stack([{s}, {s} * 0]))", "jnp.linalg.multi_dot([{m}, {m}.T, {f}])", "jax.grad(lambda c: jnp.linalg.multi_dot([c, c.T, c]).sum())({m})",
    ],
    "initializers": [
        *[f"jax.nn.initializers.{call}({{k}}, (2, 3), {{dtype}})" for call in ("lecun_uniform()", "kaiming_normal()", "kaiming_uniform(in_axis=0, out_axis=1)", "xavier_normal()", "xavier_uniform()", "variance_scaling({lit}, 'fan_avg', 'uniform')", "variance_scaling(2.0, 'fan_geo_avg', 'truncated_normal')", "orthogonal({lit})", "constant({lit})",
                                                                               "uniform({lit})", "normal({lit})", "truncated_normal(0.5, -1.0, {lit})")],
        "jax.nn.initializers.delta_orthogonal()({k}, (3, 2, 2), {dtype})", "jax.nn.initializers.he_normal(batch_axis=0)({k}, (2, 3, 3))", "jax.random.key_data(jax.random.clone({k}))",
    ],
    "kernels": [
        *[f"{_PALLAS}.pallas_call(lambda c, o: o.__setitem__(..., (lambda c: {{body c}})(c[...]).astype(o.dtype)), out_shape=jax.ShapeDtypeStruct({{x}}.shape, {{x}}.dtype), interpret=True)({{x}})"] * 3, f"{_PALLAS}.pallas_call(lambda c, t, o: o.__setitem__(..., c[...] * t[...]), out_shape={{f}}, interpret=True)({{f}}, {{f}})",
        f"{_PALLAS}.pallas_call(lambda c, o: o.__setitem__({_PALLAS}.ds({_PALLAS}.program_id(0), 1), c[{_PALLAS}.ds({_PALLAS}.program_id(0), 1)] * {_PALLAS}.program_id(0).astype(o.dtype)), grid=(3,), out_shape=jax.ShapeDtypeStruct((3,), {{f}}.dtype), interpret=True)(jnp.resize({{f}}, 3))",
        f"{_PALLAS}.pallas_call(lambda c, o: o.__setitem__(..., c[...] + 1), grid=(2,), in_specs=[{_PALLAS}.BlockSpec((1, 3), lambda i: (i, 0))], out_specs={_PALLAS}.BlockSpec((1, 3), lambda i: (1 - i, 0)), out_shape=jax.ShapeDtypeStruct((2, 3), {{f}}.dtype), interpret=True)(jnp.resize({{f}}, (2, 3)))",
        f"jax.vmap({_PALLAS}.pallas_call(lambda c, o: o.__setitem__(..., jnp.cumsum(c[...]).astype(o.dtype)), out_shape=jax.ShapeDtypeStruct((3,), {{m}}.dtype), interpret=True))(jnp.resize({{m}}, (2, 3)))", f"jax.jvp(lambda c: {_PALLAS}.pallas_call(lambda c, o: o.__setitem__(..., jnp.sin(c[...])), out_shape=c, interpret=True)(c), ({{f}},), ({{f}},))",
        f"{_PALLAS}.pallas_call(lambda c, o: jax.lax.fori_loop(0, 2, lambda i, u: o.__setitem__(..., o[...] * 0 + c[...] * i.astype(o.dtype)), None), out_shape={{f}}, interpret=True)({{f}})",
    ],
    "exported": [
        "jax.export.deserialize(jax.export.export(jax.jit(lambda c: {body c}))({x}).serialize()).call({x})", "jax.export.export(jax.jit(lambda c, t: {body c,t}))({x}, {y}).call({x}, {y})", "jax.export.export(jax.jit(lambda c: {body c}))({x}).out_avals[0].dtype.type(1)", "jax.grad(lambda c: jax.export.export(jax.jit(lambda s: {body s}))({f}).call(c).sum())({f})",
        "jax.export.export(jax.jit(lambda c: {body c}))(jax.ShapeDtypeStruct(jax.export.symbolic_shape('a'), {x}.dtype)).call(jnp.ravel({x}))",
        "jax.tree.map(lambda c: c.dtype.type(1), jax.jit(lambda c: {body c}).lower({x}).out_info)",
    ],
    "types of meshes": [
        *[f"jax.shard_map(lambda c: {what}, {_ANYWHERE}, in_specs=jax.P('d'), out_specs=jax.P())({{x}})" for what in ("lax.pmean(c, 'd')", "lax.pmax(c, 'd')", "lax.psum({body c}, 'd')",
            "lax.psum(lax.psum_scatter(c, 'd', tiled=True), 'd')", "lax.psum(lax.ppermute(c, 'd', [(0, 0)]), 'd')", "lax.psum(lax.all_to_all(c, 'd', 0, 0, tiled=True), 'd')", "lax.psum(lax.fori_loop(0, 2, lambda i, s: s * {lit}, c), 'd')", "lax.psum(lax.cond(c.sum() > 0, lambda: c, lambda: c * 2), 'd')")],
        "jax.vmap(lambda c: lax.pvary(c, 'i') + 1, axis_name='i')({x})", f"jax.jit(lambda c: jax.reshard(c, jax.NamedSharding({_MESH.format('Explicit')}, jax.P('d'))) * 2)({{x}})", f"jax.jit(lambda c: {{body c}})(jax.device_put({{x}}, jax.NamedSharding({_MESH.format('Explicit')}, jax.P('d'))))",
        f"jax.grad(lambda c: jnp.sum({{body c}}))(jax.device_put({{f}}, jax.NamedSharding({_MESH.format('Explicit')}, jax.P('d'))))", "jax.vmap(lambda c: {body c}, spmd_axis_name='d')({x})", f"jax.shard_map(lambda c: {{body c}}, {_ANYWHERE}, in_specs=jax.P('d'), out_specs=jax.P('d'), check_vma=False)({{x}})",
        f"jax.jvp(jax.shard_map(lambda c: lax.psum({{body c}}, 'd'), {_ANYWHERE}, in_specs=jax.P('d'), out_specs=jax.P()), ({{f}},), ({{f}},))", f"jax.jacrev(jax.shard_map(lambda c: jnp.sin(c) * lax.psum(c, 'd'), {_ANYWHERE}, in_specs=jax.P('d'), out_specs=jax.P('d')))({{f}})",
    ],
    "pytrees": [
        "jax.tree.map(lambda c, t: c if t is None else c + t, {'a': {x}, 'b': {y}}, {'a': None, 'b': {lit}}, is_leaf=lambda c: c is None)", "jax.tree_util.tree_flatten_with_path({'a': [{x}], 'b': None})[0][0][1]", "jax.tree.transpose(jax.tree.structure([0, 0]), None, [({x}, {y}), ({y}, {x})])", "jax.tree_util.tree_reduce(lambda c, t: c + t.sum(), [{x}, {y}], {lit})",
        "jax.tree.flatten(({x}, {'b': {y}, 'a': {lit}}))[0]", "jax.tree_util.tree_leaves(jax.tree.map(jnp.shape, [{x}, {y}]))", "jax.tree.unflatten(jax.tree.structure({'z': 0, 'a': (0,)}), [{x}, {y}])", "jax.tree_util.tree_map_with_path(lambda p, c: c * len(jax.tree_util.keystr(p)), {'a': {x}, 'bb': {y}})",
        "jax.lax.scan(lambda c, t: (dict(c, a=c['a'] * {lit}), None), {'b': {x}, 'a': {f}}, None, length=2)[0]", "jax.vmap(lambda c: c, in_axes=({'a': 0, 'b': None},), out_axes={'a': 0, 'b': None})({'a': {x}, 'b': {y}})", "jax.jit(lambda c: c)(({x}, None, {'k': ({y}, [])}))", "jax.eval_shape(lambda c: {'a': {body c}}, {x})['a'].dtype.type(1)", "jax.tree_util.Partial(jnp.add, {x}, **{})( {y})",
        "jax.custom_derivatives.closure_convert(lambda c: c + {x}, {y})[1]", "jax.custom_derivatives.zero_from_primal({f}, symbolic_zeros=False)", "jax.experimental.checkify.checkify(lambda c: (jax.experimental.checkify.check(c.sum() > {lit}, 'no {t}', t=c.sum()), {body c})[1])({x})[1]", "jax.experimental.checkify.checkify(lambda c: c / {y}, errors=jax.experimental.checkify.all_checks)({x})[1]",
        "jax.jit(lambda c: (lambda r: (jax.ref.addupdate(r, 0, {lit}), jax.freeze(r))[1])(jax.new_ref(c)))({f})", "lax.ragged_dot_general({m}, {m}.T, jnp.array([1, 1], 'int32'), lax.RaggedDotDimensionNumbers((((1,), (0,)), ((), ())), [1], []))", "lax.conv_general_dilated_local({f}[None, None], jnp.ones((1, 2, 2)), (1,), 'VALID', (2,))",
    ],
}
