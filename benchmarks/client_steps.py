"""Training steps and solvers on libraries written for JAX, as functions of arrays; for `accelerators.py`, which compiles them for described devices.

Each function of `STEPS` returns a function and the types of its arguments (a tuple of pytrees). Nothing is computed to make them.
"""
import functools

import jax
import jax.numpy as jnp

from client_programs import nnx_block

F32 = lambda *shape: jax.ShapeDtypeStruct(shape, jnp.float32)
I32 = lambda *shape: jax.ShapeDtypeStruct(shape, jnp.int32)
KEY = jax.ShapeDtypeStruct((2,), jnp.uint32)


def entropy(logits, labels):
    import optax
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


def nnx_gpt():
    """Two blocks of a transformer, AdamW with a schedule and clipped gradients."""
    import optax
    from flax import nnx

    Block = nnx_block()

    class Gpt(nnx.Module):
        def __init__(self, rngs):
            self.letters, self.blocks = nnx.Embed(128, 128, rngs=rngs), nnx.List([Block(128, rngs) for _ in range(2)])

        def __call__(self, x):
            return self.letters.attend(functools.reduce(lambda h, block: block(h), self.blocks, self.letters(x)))
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(optax.cosine_decay_schedule(1e-3, 100)))
    graph, params = nnx.split(nnx.eval_shape(lambda: Gpt(nnx.Rngs(0))), nnx.Param)

    def step(params, state, x):
        loss, gradient = jax.value_and_grad(lambda p: entropy(nnx.merge(graph, p)(x[:, :-1]), x[:, 1:]))(params)
        updates, state = optimizer.update(gradient, state, params)
        return optax.apply_updates(params, updates), state, loss
    return step, (params, jax.eval_shape(optimizer.init, params), I32(4, 65))


def linen_step(module, x, labels, optimizer, **options):
    import optax
    made = jax.eval_shape(lambda key, x: module.init({"params": key, "dropout": key}, x), KEY, x)
    params, rest = made["params"], {k: v for k, v in made.items() if k != "params"}

    def step(params, rest, state, key, x, labels):
        def loss(params):
            logits, changed = module.apply({"params": params, **rest}, x, mutable=list(rest), rngs={"dropout": key})
            return entropy(logits, labels), changed
        (value, rest), gradient = jax.value_and_grad(loss, has_aux=True)(params)
        updates, state = optimizer.update(gradient, state, params)
        return optax.apply_updates(params, updates), rest, state, value
    return step, (params, rest, jax.eval_shape(optimizer.init, params), KEY, x, labels)


def linen_cnn():
    """Convolutions, batch norm, pooling, dropout; SGD with momentum."""
    import optax
    from flax import linen

    class Net(linen.Module):
        @linen.compact
        def __call__(self, x):
            for width in (32, 64):
                x = linen.Conv(width, (3, 3), use_bias=False)(x)
                x = linen.max_pool(linen.relu(linen.BatchNorm(use_running_average=False)(x)), (2, 2), (2, 2))
            return linen.Dense(10)(linen.Dropout(0.5, deterministic=False)(x.reshape(len(x), -1)))
    return linen_step(Net(), F32(16, 32, 32, 3), I32(16), optax.sgd(0.1, momentum=0.9, nesterov=True))


def linen_lstm():
    """A bidirectional LSTM; Adafactor."""
    import optax
    from flax import linen

    class Net(linen.Module):
        @linen.compact
        def __call__(self, x):
            both = linen.Bidirectional(linen.RNN(linen.OptimizedLSTMCell(64)), linen.RNN(linen.OptimizedLSTMCell(64)))
            return linen.Dense(10)(both(x)[:, -1])
    return linen_step(Net(), F32(8, 20, 32), I32(8), optax.adafactor(1e-3))


def equinox_mlp():
    """A multilayer perceptron, Lion."""
    import equinox as eqx
    import optax
    optimizer = optax.lion(1e-4)
    model = eqx.filter_eval_shape(lambda key: eqx.nn.MLP(64, 10, 256, 3, key=key), KEY)
    params, rest = eqx.partition(model, lambda x: isinstance(x, jax.ShapeDtypeStruct))

    def step(params, state, x, labels):
        loss, gradient = jax.value_and_grad(lambda p: entropy(jax.vmap(eqx.combine(p, rest))(x), labels))(params)
        updates, state = optimizer.update(gradient, state, params)
        return eqx.apply_updates(params, updates), state, loss
    return step, (params, jax.eval_shape(optimizer.init, params), F32(32, 64), I32(32))


def equinox_ode():
    """diffrax: gradients through an adaptive solver of a neural differential equation."""
    import diffrax
    import equinox as eqx
    model = eqx.filter_eval_shape(lambda key: eqx.nn.MLP(2, 2, 32, 2, activation=jnp.tanh, key=key), KEY)
    params, rest = eqx.partition(model, lambda x: isinstance(x, jax.ShapeDtypeStruct))

    def loss(params, start, target):
        field = eqx.combine(params, rest)
        found = diffrax.diffeqsolve(diffrax.ODETerm(lambda t, y, _: field(y)), diffrax.Tsit5(), 0.0, 1.0, 0.1, start,
                                    stepsize_controller=diffrax.PIDController(1e-3, 1e-5), saveat=diffrax.SaveAt(ts=jnp.linspace(0, 1, 8)), max_steps=32)
        return jnp.mean((found.ys - target) ** 2)
    return jax.value_and_grad(loss), (params, F32(2), F32(8, 2))


def haiku_net():
    """haiku: a residual block with batch norm and its state; RMSProp."""
    import haiku as hk
    import optax
    optimizer = optax.rmsprop(1e-3)

    def forward(x):
        y = hk.Conv2D(16, 3)(x)
        y = jax.nn.relu(hk.BatchNorm(True, True, 0.9)(y, is_training=True))
        y = hk.AvgPool((2, 2, 1), (2, 2, 1), "SAME")(y + hk.Conv2D(16, 3)(y))
        return hk.Linear(10)(hk.Flatten()(y))
    net = hk.transform_with_state(forward)
    x, labels = F32(8, 16, 16, 3), I32(8)
    params, kept = jax.eval_shape(net.init, KEY, x)

    def step(params, kept, state, key, x, labels):
        def loss(params):
            logits, changed = net.apply(params, kept, key, x)
            return entropy(logits, labels), changed
        (value, changed), gradient = jax.value_and_grad(loss, has_aux=True)(params)
        updates, state = optimizer.update(gradient, state, params)
        return optax.apply_updates(params, updates), changed, state, value
    return step, (params, kept, jax.eval_shape(optimizer.init, params), KEY, x, labels)


def optax_step(optimizer):
    """One step on a matrix, a vector and a scalar."""
    import optax
    params = {"w": F32(64, 32), "b": F32(32), "scale": F32()}
    optimizer = optax.with_extra_args_support(optimizer)

    def step(params, state, x, y):
        loss = lambda p: jnp.mean((p["scale"] * (jnp.tanh(x @ p["w"]) + p["b"]) - y) ** 2)
        value, gradient = jax.value_and_grad(loss)(params)
        updates, state = optimizer.update(gradient, state, params, value=value, grad=gradient, value_fn=loss)
        return optax.apply_updates(params, updates), state
    return step, (params, jax.eval_shape(optimizer.init, params), F32(16, 64), F32(16, 32))


def lamb():
    import optax
    return optax_step(optax.lamb(1e-3))


def lbfgs():
    import optax
    return optax_step(optax.lbfgs())


def gmres():
    """lineax: a linear system by GMRES."""
    import lineax
    return lambda a, b: lineax.linear_solve(lineax.MatrixLinearOperator(a), b, lineax.GMRES(1e-5, 1e-5)).value, (F32(32, 32), F32(32))


def least_squares():
    """optimistix: the parameters of a curve by Levenberg and Marquardt."""
    import optimistix
    solver = optimistix.LevenbergMarquardt(1e-4, 1e-4)

    def fit(start, x, y):
        residual = lambda p, data: p[0] * jnp.exp(-p[1] * data[0]) + p[2] - data[1]
        return optimistix.least_squares(residual, solver, start, (x, y), max_steps=32, throw=False).value
    return fit, (F32(3), F32(64), F32(64))


def logistic_regression():
    """numpyro: the gradient of a posterior density."""
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer.util import log_density

    def model(x, y):
        w = numpyro.sample("w", dist.Normal(0, 1).expand([8]).to_event(1))
        b = numpyro.sample("b", dist.StudentT(3.0))
        numpyro.sample("y", dist.Bernoulli(logits=x @ w + b), obs=y)
    density = lambda values, x, y: log_density(model, (x, y), {}, values)[0]
    return jax.value_and_grad(density), ({"w": F32(8), "b": F32()}, F32(128, 8), F32(128))


STEPS = {"nnx transformer": nnx_gpt, "linen convolutions": linen_cnn, "linen LSTM": linen_lstm, "equinox perceptron": equinox_mlp,
         "diffrax ODE": equinox_ode, "haiku residual block": haiku_net, "optax LAMB": lamb, "optax L-BFGS": lbfgs, "lineax GMRES": gmres,
         "optimistix fit": least_squares, "numpyro density": logistic_regression}
