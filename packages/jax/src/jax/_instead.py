"""What to use in place of names that `jax` does not have, under which people look for them: those of NumPy and PyTorch, and of older releases."""

_OF_OTHERS = {
    "jax.array": "jax.numpy.array", "jax.np": "jax.numpy", "jax.numpy.tensor": "jax.numpy.array",
    "jax.numpy.random": "jax.random, whose functions take a key", "jax.random.seed": "jax.random.key(seed), which its functions take",
    "jax.random.rand": "jax.random.uniform(key, shape)", "jax.random.randn": "jax.random.normal(key, shape)",
    "jax.numpy.float": "float, or jax.numpy.float32", "jax.numpy.int": "int, or jax.numpy.int32",
    "jax.numpy.complex": "complex, or jax.numpy.complex64", "jax.numpy.cat": "jax.numpy.concatenate",
    "jax.numpy.from_numpy": "jax.numpy.asarray", "jax.numpy.bmm": "jax.numpy.matmul", "jax.numpy.mm": "jax.numpy.matmul",
    "jax.numpy.no_grad": "jax.lax.stop_gradient(x), where a gradient is to stop", "jax.numpy.manual_seed": "jax.random.key(seed)",
    "jax.no_grad": "jax.lax.stop_gradient(x), where a gradient is to stop; nothing is recorded outside of jax.grad",
    "jax.manual_seed": "jax.random.key(seed), which the functions of jax.random take", "jax.tensor": "jax.numpy.array",
    "jax.random.default_rng": "jax.random.key(seed)", "jax.random.shuffle": "jax.random.permutation(key, x)",
    "jax.nn.Module": "a function and a pytree of parameters, or a library of layers",
    "jax.nn.Linear": "x @ weights + bias, or a library of layers", "jax.nn.Dense": "x @ weights + bias, or a library of layers",
    "jax.nn.cross_entropy": "-jnp.sum(targets * jax.nn.log_softmax(logits))",
    "jax.nn.dropout": "jnp.where(jax.random.bernoulli(key, keep, x.shape), x / keep, 0)",
    "jax.optim": "a library of optimisers such as optax", "jax.numpy.matrix": "jax.numpy.array, and @ for products",
    "jax.numpy.float128": "jax.numpy.float64, the widest there is", "jax.numpy.errstate": "jax.debug_nans",
}

_OF_OLDER_RELEASES = {
    **{f"jax.tree_{name}": f"jax.tree.{name}" for name in "all flatten leaves map reduce structure transpose unflatten".split()},
    "jax.tree_multimap": "jax.tree.map", "jax.tree_util.tree_multimap": "jax.tree.map", "jax.treedef_is_leaf": "jax.tree_util.treedef_is_leaf",
    "jax.experimental.maps": "jax.sharding.Mesh and jax.shard_map", "jax.experimental.PartitionSpec": "jax.sharding.PartitionSpec",
    "jax.experimental.pjit.PartitionSpec": "jax.sharding.PartitionSpec",
    "jax.experimental.pjit.with_sharding_constraint": "jax.lax.with_sharding_constraint",
    "jax.sharding.PositionalSharding": "jax.NamedSharding", "jax.sharding.MeshPspecSharding": "jax.NamedSharding",
    "jax.device_put_replicated": "jax.device_put(x, sharding)", "jax.device_put_sharded": "jax.device_put(x, sharding)",
    "jax.xla_computation": "jax.jit(f).lower(x).as_text()", "jax.linear_util": "jax.extend.linear_util",
    "jax.experimental.host_callback": "jax.pure_callback, jax.experimental.io_callback or jax.debug.callback",
    "jax.experimental.stax": "jax.example_libraries.stax", "jax.experimental.optimizers": "jax.example_libraries.optimizers",
    "jax.experimental.loops": "jax.lax.fori_loop", "jax.experimental.export": "jax.export",
    "jax.experimental.enable_x64": "jax.enable_x64(True)", "jax.experimental.disable_x64": "jax.enable_x64(False)",
    "jax.random.KeyArray": "jax.Array", "jax.random.PRNGKeyArray": "jax.Array", "jax.numpy.DeviceArray": "jax.Array",
    "jax.interpreters.xla.DeviceArray": "jax.Array", "jax.clear_backends": "jax.clear_caches",
    "jax.lax.tie_in": "its second argument alone", "jax.nn.normalize": "jax.nn.standardize", "jax.scipy.special.sph_harm": "jax.scipy.special.sph_harm_y",
    "jax.numpy.trapz": "jax.numpy.trapezoid", "jax.numpy.in1d": "jax.numpy.isin", "jax.numpy.row_stack": "jax.numpy.vstack",
    "jax.numpy.product": "jax.numpy.prod", "jax.numpy.cumproduct": "jax.numpy.cumprod", "jax.numpy.sometrue": "jax.numpy.any",
    "jax.numpy.alltrue": "jax.numpy.all", "jax.numpy.msort": "jax.numpy.sort(x, axis=0)", "jax.numpy.round_": "jax.numpy.round",
    "jax.numpy.bool8": "jax.numpy.bool_", "jax.numpy.Inf": "jax.numpy.inf", "jax.numpy.infty": "jax.numpy.inf",
    "jax.numpy.PINF": "jax.numpy.inf", "jax.numpy.NINF": "-jax.numpy.inf", "jax.numpy.NaN": "jax.numpy.nan",
}

INSTEAD = {**_OF_OTHERS, **_OF_OLDER_RELEASES}
