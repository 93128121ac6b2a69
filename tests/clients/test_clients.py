"""Real client libraries, unchanged from PyPI, train and evaluate on ours. `./run clients` installs them."""
import numpy as np
import pytest

import jax
import jax.numpy as jnp

KEY = jax.random.PRNGKey(0)
X = np.linspace(-2, 2, 64, dtype=np.float32)[:, None]
Y = np.sin(2 * X)


def library(name):
    return pytest.importorskip(name, reason=f"{name} is not installed here; the nox session `clients` has it")


def losses(step, state, n=300):
    history = []
    for _ in range(n):
        state, loss = step(state)
        history.append(float(loss))
    return history


def mlp_init():
    k1, k2 = jax.random.split(KEY)
    return {"w1": jax.random.normal(k1, (1, 32)), "b1": jnp.zeros(32), "w2": jax.random.normal(k2, (32, 1)) / 6}


def mlp(p, x):
    return jnp.tanh(x @ p["w1"] + p["b1"]) @ p["w2"]


@pytest.mark.parametrize("name", ["adam", "sgd", "adamw", "rmsprop", "lion", "adafactor"])
def test_optax_optimisers_learn(name):
    optax = library("optax")
    rate = {"sgd": 0.05, "lion": 3e-3}.get(name, 1e-2)
    optimiser = optax.chain(optax.clip_by_global_norm(1.0), getattr(optax, name)(rate))
    loss = lambda p: jnp.mean((mlp(p, X) - Y) ** 2)

    @jax.jit
    def step(state):
        params, opt = state
        value, g = jax.value_and_grad(loss)(params)
        updates, opt = optimiser.update(g, opt, params)
        return (optax.apply_updates(params, updates), opt), value
    params = mlp_init()
    history = losses(step, (params, optimiser.init(params)))
    assert history[-1] < 0.5 * history[0]


def test_flax_linen_learns():
    nn = library("flax.linen")
    optax = library("optax")

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x, train):
            x = nn.LayerNorm()(nn.relu(nn.Dense(32)(x)))
            x = nn.Dropout(0.1, deterministic=not train)(x)
            return nn.Dense(1)(x)
    net = Net()
    params = net.init(KEY, X, False)
    optimiser = optax.adam(1e-2)

    @jax.jit
    def step(state):
        params, opt, key = state
        key, sub = jax.random.split(key)
        loss = lambda p: jnp.mean((net.apply(p, X, True, rngs={"dropout": sub}) - Y) ** 2)
        value, g = jax.value_and_grad(loss)(params)
        updates, opt = optimiser.update(g, opt)
        return (optax.apply_updates(params, updates), opt, key), value
    history = losses(step, (params, optimiser.init(params), KEY))
    assert history[-1] < 0.3 * history[0]


def test_flax_convolution_and_batch_norm():
    nn = library("flax.linen")

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x, train):
            x = nn.BatchNorm(use_running_average=not train)(nn.Conv(8, (3, 3))(x))
            return nn.Dense(3)(nn.max_pool(x, (2, 2), (2, 2)).reshape(x.shape[0], -1))
    images = jax.random.normal(KEY, (4, 8, 8, 1))
    variables = Net().init(KEY, images, True)
    out, updated = jax.jit(lambda v: Net().apply(v, images, True, mutable=["batch_stats"]))(variables)
    assert out.shape == (4, 3) and bool(jnp.isfinite(out).all()) and "batch_stats" in updated


def test_flax_nnx_learns():
    nnx = library("flax.nnx")
    optax = library("optax")

    class Net(nnx.Module):
        def __init__(self, rngs):
            self.first, self.second = nnx.Linear(1, 32, rngs=rngs), nnx.Linear(32, 1, rngs=rngs)

        def __call__(self, x):
            return self.second(nnx.tanh(self.first(x)))
    net = Net(nnx.Rngs(0))
    optimiser = nnx.Optimizer(net, optax.adam(1e-2), wrt=nnx.Param)

    @nnx.jit
    def step(net, optimiser):
        value, g = nnx.value_and_grad(lambda m: jnp.mean((m(X) - Y) ** 2))(net)
        optimiser.update(net, g)
        return value
    history = [float(step(net, optimiser)) for _ in range(200)]
    assert history[-1] < 0.1 * history[0]


def test_equinox_learns():
    eqx = library("equinox")
    optax = library("optax")
    model = eqx.nn.MLP(1, 1, 32, 2, activation=jax.nn.tanh, key=KEY)
    optimiser = optax.adam(1e-2)

    @eqx.filter_jit
    def step(state):
        model, opt = state
        value, g = eqx.filter_value_and_grad(lambda m: jnp.mean((jax.vmap(m)(X) - Y) ** 2))(model)
        updates, opt = optimiser.update(g, opt)
        return (eqx.apply_updates(model, updates), opt), value
    history = losses(step, (model, optimiser.init(eqx.filter(model, eqx.is_array))))
    assert history[-1] < 0.1 * history[0]


def test_haiku_learns():
    hk = library("haiku")
    net = hk.without_apply_rng(hk.transform(lambda x: hk.nets.MLP([32, 1], activation=jnp.tanh)(x)))

    @jax.jit
    def step(params):
        value, g = jax.value_and_grad(lambda p: jnp.mean((net.apply(p, X) - Y) ** 2))(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, g), value
    history = losses(step, net.init(KEY, X))
    assert history[-1] < 0.8 * history[0]


def test_lineax_solves():
    lineax = library("lineax")
    a = jax.random.normal(KEY, (4, 4)) + 4 * jnp.eye(4)
    b = jnp.arange(4.0)
    solve = jax.jit(lambda a, b: lineax.linear_solve(lineax.MatrixLinearOperator(a), b).value)
    np.testing.assert_allclose(a @ solve(a, b), b, atol=1e-4)
    g = jax.grad(lambda b: solve(a, b).sum())(b)
    np.testing.assert_allclose(g, np.linalg.solve(np.asarray(a).T, np.ones(4)), rtol=1e-4)


def test_diffrax_integrates():
    diffrax = library("diffrax")
    end = lambda k: diffrax.diffeqsolve(diffrax.ODETerm(lambda t, y, k: -k * y), diffrax.Tsit5(), 0.0, 1.0, 0.1,
                                        jnp.array([1.0]), k).ys[-1, 0]
    np.testing.assert_allclose(end(jnp.float32(2.0)), np.exp(-2), rtol=1e-4)
    np.testing.assert_allclose(jax.grad(end)(jnp.float32(2.0)), -np.exp(-2), rtol=1e-3)


def test_chex_assertions():
    chex = library("chex")
    chex.assert_shape(jnp.ones((2, 3)), (2, 3))
    chex.assert_trees_all_close({"a": jnp.ones(2)}, {"a": np.ones(2, np.float32)})
    with pytest.raises(AssertionError):
        chex.assert_rank(jnp.ones(2), 2)


def test_chexified_assertions_show_arrays():
    chex = library("chex")

    @jax.jit
    def checked(x):
        chex.assert_tree_all_finite({"a": x})
        return x
    checked = chex.chexify(checked, async_check=False)
    checked(jnp.float32(1))
    with pytest.raises(AssertionError, match=r"'a': Array\(nan"):
        checked(jnp.float32(np.nan))


def test_chex_knows_where_arrays_are():
    chex = library("chex")
    chex.assert_tree_is_on_device({"a": jnp.ones(2)}, platform="cpu")


def test_haiku_draws_a_program():
    """By a trace of its own."""
    hk = library("haiku")
    pytest.importorskip("tree", reason="dm-tree is not installed here; the nox session `clients` has it")
    net = hk.transform(lambda x: hk.nets.MLP([3, 1])(x))
    text = hk.experimental.abstract_to_dot(net.apply)(net.init(KEY, X), None, X)
    assert "digraph" in text and "dot_general" in text


def test_distrax_has_gradients():
    """On top of TensorFlow Probability, which registers array classes of its own."""
    library("tensorflow_probability")
    distrax = library("distrax")

    def loss(loc, scale):
        mixture = distrax.MixtureSameFamily(distrax.Categorical(logits=jnp.zeros(2)), distrax.Normal(loc, scale))
        return -mixture.log_prob(jnp.linspace(-1, 1, 5)).mean()
    loc, scale = jnp.array([-1.0, 1.0]), jnp.array([0.5, 0.7])
    value, slopes = jax.jit(jax.value_and_grad(loss, (0, 1)))(loc, scale)
    nudged = [loss(loc + np.array([h, 0]), scale) for h in (0.01, -0.01)]
    np.testing.assert_allclose(slopes[0][0], (nudged[0] - nudged[1]) / 0.02, rtol=1e-2)
    assert np.isfinite(value) and distrax.MultivariateNormalDiag(loc, scale).sample(seed=KEY, sample_shape=(7,)).shape == (7, 2)


def test_numpyro_samples_four_chains():
    """Eight schools: a hierarchical model by NUTS, the chains side by side."""
    numpyro = library("numpyro")
    dist, infer = numpyro.distributions, numpyro.infer
    effects, errors = jnp.array([28.0, 8, -3, 7, -1, 1, 18, 12]), jnp.array([15.0, 10, 16, 11, 9, 11, 10, 18])

    def model():
        mean, spread = numpyro.sample("mean", dist.Normal(0, 5)), numpyro.sample("spread", dist.HalfCauchy(5))
        with numpyro.plate("schools", 8):
            offset = numpyro.sample("offset", dist.Normal(0, 1))
            numpyro.sample("effects", dist.Normal(mean + spread * offset, errors), obs=effects)
    sampler = infer.MCMC(infer.NUTS(model), num_warmup=300, num_samples=300, num_chains=4, chain_method="vectorized", progress_bar=False)
    sampler.run(KEY)
    draws = sampler.get_samples(group_by_chain=True)
    assert draws["mean"].shape == (4, 300) and 3.5 < draws["mean"].mean() < 5.5 and 2.5 < draws["spread"].mean() < 5.5


def test_treescope_shows_arrays_and_shardings():
    treescope = library("treescope")
    x = jnp.arange(6.0).reshape(2, 3)
    text = treescope.render_to_text({"x": x, "place": x.sharding, "key": jax.random.key(0), "later": jax.ShapeDtypeStruct((2,), x.dtype)})
    assert "jax.Array float32(2, 3)" in text and "SingleDeviceSharding" in text
    assert "<treescope" in treescope.render_to_html(x) and "<" in treescope.render_array(x)._repr_html_()
