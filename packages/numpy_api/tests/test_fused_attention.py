"""Attention by cuDNN: what XLA is told, and that what the calls compute is put together to the right values and derivatives.

No test has the library: the calls are read from text that is lowered for CUDA, or stand on the CPU for the formulas of `computed`, which
reads what it is to do from the call's JSON, as XLA does.
"""
import json
import re

import ml_dtypes
import numpy as np
import pytest

from jax_core import backends
from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.representation.aval import ShapeDtypeStruct
from jax_core.transformations.autodiff import grad, hessian, jvp, vjp
from jax_core.transformations.vmap import vmap
from jax_numpy_api import nn, numpy as jnp
from jax_numpy_api.nn import fused_attention
from jax_xla_backend.arrays.device_put import device_put
from jax_xla_backend.placement.mesh import AxisType, make_mesh
from jax_xla_backend.placement.partition_spec import PartitionSpec
from jax_xla_backend.placement.sharding import NamedSharding
from jax_xla_backend.platforms.client import devices

BF16, F16, I32 = np.dtype(ml_dtypes.bfloat16), np.dtype(np.float16), np.dtype(np.int32)


def array(*shape, dtype=BF16):
    return ShapeDtypeStruct(shape, dtype)


def attention(q, k, v, *rest, implementation="cudnn", **options):
    return nn.dot_product_attention(q, k, v, *rest, implementation=implementation, **options)


def with_lengths(q, k, v, lengths, **options):
    return attention(q, k, v, query_seq_lengths=lengths, key_value_seq_lengths=lengths, **options)


def calls(f, *types):
    """Target, configuration, operands and results of each call in the text for CUDA."""
    text = jit(f).trace(*types).lower(lowering_platforms=("cuda",)).as_text()
    found = []
    for line in text.splitlines():
        if "__cudnn$" in line:
            config = json.loads(re.search(r'backend_config = "(.*?)"', line)[1].replace(r"\22", '"'))["cudnn_fmha_backend_config"]
            orders = [re.findall(r"dense<\[?([\d, ]*)\]?>", part) for part in re.search(r"operand_layouts = (.*), result_layouts = (.*)} :", line).groups()]
            operands, results = (re.findall(r"tensor<(\S+?)>", part) for part in line.rsplit(" : ", 1)[1].split(" -> "))
            assert [len(operands), len(results)] == list(map(len, orders))
            found.append((re.search(r"@__cudnn\$fmha(\w+)\(", line)[1], config, operands, results, orders))
    return found


Q, FEW = array(2, 128, 4, 64), array(2, 128, 2, 64)
LENGTHS, BIAS, MASK = array(2, dtype=I32), array(1, 4, 128, 128), array(2, 1, 128, 128, dtype=np.dtype(bool))
CASES = [  # function, types, target, what differs in the configuration from a plain call's, operands, results of the call backwards
    (attention, [Q, Q, Q], "Softmax", {}, 3, 4),
    (attention, [Q, FEW, FEW], "Softmax", {}, 3, 4),
    (lambda q: attention(q, q, q, is_causal=True, scale=0.5), [Q], "Softmax", {"mask_type": "CAUSAL", "fmha_scale": 0.5}, 3, 4),
    (with_lengths, [Q, Q, Q, LENGTHS], "Softmax", {"mask_type": "PADDING"}, 5, 4),
    (lambda q, n: attention(q, q, q, key_value_seq_lengths=n), [Q, LENGTHS], "Softmax", {"mask_type": "PADDING"}, 5, 4),
    (lambda q, n: with_lengths(q, q, q, n, is_causal=True), [Q, LENGTHS], "Softmax", {"mask_type": "PADDING_CAUSAL"}, 5, 4),
    (lambda q: attention(q, q, q, local_window_size=(32, 0)), [Q], "Softmax", {"mask_type": "CAUSAL", "sliding_window_length": 33}, 3, 4),
    (lambda q: attention(q, q, q, is_causal=True, local_window_size=8), [Q], "Softmax", {"mask_type": "CAUSAL", "sliding_window_length": 9}, 3, 4),
    (attention, [Q, Q, Q, BIAS], "ScaleBiasSoftmax", {}, 4, 5),
    (lambda q, m: attention(q, q, q, mask=m), [Q, MASK], "ScaleBiasSoftmax", {}, 4, 4),
    (lambda q, b, m, n: with_lengths(q, q, q, n, bias=b, mask=m), [Q, BIAS, MASK, LENGTHS], "ScaleBiasSoftmax", {"mask_type": "PADDING"}, 6, 5),
    (lambda q: attention(q, q, q), [array(128, 4, 64, dtype=F16)], "Softmax",
     {"intermediate_tensor_shape": {"element_type": "F16", "dimensions": ["1", "4", "128", "128"]}}, 3, 4),
    (vmap(attention), [array(3, 2, 128, 4, 64)] * 3, "Softmax",
     {"intermediate_tensor_shape": {"element_type": "BF16", "dimensions": ["6", "4", "128", "128"]}}, 3, 4),
]
PLAIN = {"fmha_scale": 0.125, "intermediate_tensor_shape": {"element_type": "BF16", "dimensions": ["2", "4", "128", "128"]}, "is_flash_attention": True,
         "mask_type": "NO_MASK", "dropout_rate": 0.0, "sliding_window_length": 0, "is_paged_attention": False}


@pytest.mark.parametrize("i", range(len(CASES)))
def test_calls(i):
    f, types, target, told, operands, results = CASES[i]
    def derivatives(*xs):
        floats = [x for x in xs if x.dtype in (BF16, F16)]
        def run(*ys):
            ys = iter(ys)
            return f(*[next(ys) if x.dtype in (BF16, F16) else x for x in xs])
        out, pull = vjp(run, *floats)
        return pull(jnp.ones_like(out))

    alone, = calls(f, *types)
    forward, backward = calls(derivatives, *types)
    assert [alone[0], forward[0], backward[0]] == [target, target, target + "Backward"]
    assert [len(alone[2]), len(forward[2]), len(backward[2])] == [operands, operands, operands + 3]
    assert [len(alone[3]), len(forward[3]), len(backward[3])] == [2, 3, results]
    for (_, config, _, types_out, (orders_in, orders_out)), by_heads in ((alone, 1), (forward, 1), (backward, 3)):
        want = {**PLAIN, **told}
        config["intermediate_tensor_shape"] = {name: config["intermediate_tensor_shape"][name] for name in ("element_type", "dimensions")}
        assert {name: config[name] for name in want} == want
        assert types_out[-1] == "0xui8"
        assert orders_out[:by_heads] == ["3, 1, 2, 0"] * by_heads
        assert all(order == ", ".join(map(str, reversed(range(order.count(",") + 1)))) for order in orders_in + orders_out[by_heads:])
    assert backward[2][3].endswith("128xf32")


REFUSED = [
    ([array(2, 4, 4, 64, dtype=np.dtype(np.float32))] * 3, {}, NotImplementedError, "bfloat16 and float16"),
    ([array(2, 4, 4, 12)] * 3, {}, NotImplementedError, "multiple of 8"),
    ([array(2, 4, 4, 264)] * 3, {}, NotImplementedError, "at most 256"),
    ([array(2, 4, 4, 64), array(2, 4, 4, 64), array(2, 4, 4, 32)], {}, ValueError, "as many components"),
    ([array(2, 4, 4, 64), array(2, 4, 4, 64), array(2, 4, 4, 64, dtype=F16)], {}, ValueError, "one dtype"),
    ([array(2, 4, 4, 64)] * 3, {"local_window_size": 1}, ValueError, "to the left"),
    ([array(2, 4, 4, 64)] * 3, {"local_window_size": (-1, 0), "is_causal": True}, ValueError, "to the left"),
    ([array(2, 4, 4, 64)] * 3 + [array(3, 4, 4, 4)], {}, ValueError, r"bias must broadcast to \[B, N, T, S\] = \(2, 4, 4, 4\)"),
    ([array(2, 4, 4, 64)] * 3, {"mask": np.ones((2, 1, 4), bool)}, ValueError, "mask must broadcast"),
    ([array(2, 4, 4, 64)] * 3, {"query_seq_lengths": np.ones(3, int)}, ValueError, r"query_seq_lengths must be integers of shape \(2,\)"),
    ([array(2, 4, 4, 64)] * 3, {"key_value_seq_lengths": np.ones(2)}, ValueError, "key_value_seq_lengths must be integers"),
]


@pytest.mark.parametrize("i", range(len(REFUSED)))
def test_refused(i):
    types, options, error, message = REFUSED[i]
    with pytest.raises(error, match=message):
        calls(lambda *xs: attention(*xs, **options), *types)


@pytest.mark.only_cpu
def test_where_it_is_not():
    q = jnp.ones((1, 2, 1, 8), BF16)
    with pytest.raises(NotImplementedError, match="is for the platform cuda, and the program is compiled for cpu"):
        attention(q, q, q)


def test_derivatives_that_are_not_there():
    """Odd lengths have none, and no call a second one."""
    total = lambda q: attention(q, q, q).sum()
    with pytest.raises(NotImplementedError, match="even numbers of queries and keys, got 3 and 3"):
        calls(grad(total), array(1, 3, 1, 8))
    with pytest.raises(NotImplementedError, match="first derivative in reverse mode"):
        calls(hessian(total), array(1, 2, 1, 8))
    with pytest.raises(TypeError, match="forward-mode"):
        calls(lambda q: jvp(total, [q], [q]), array(1, 2, 1, 8))


@pytest.mark.parametrize("shape", [(0, 4, 2, 8), (2, 0, 2, 8), (2, 4, 0, 8)])
def test_nothing_is_no_call(shape):
    q = jnp.ones(shape, BF16)
    out, logs = attention(q, q, q, return_residual=True)
    assert (out.shape, logs.shape, logs.dtype) == (shape, shape[:3], BF16)


# -- values ------------------------------------------------------------------------------------------------------------------

def computed(name, config, *xs):
    """What the call ``name`` computes, by its formulas, in float32 until the end."""
    config = json.loads(config)["cudnn_fmha_backend_config"]
    q, k, v, *rest = xs
    backward, biased = name.endswith("Backward"), "Bias" in name
    logs, ct = rest[:2] if backward else (None, None)
    rest = rest[2:] if backward else rest
    bias = rest.pop(0) if biased else None
    out = rest.pop(0) if backward else None
    wide = lambda x: x.astype(np.float32)
    share = q.shape[2] // k.shape[2]
    keys, values = (jnp.repeat(wide(x), share, 2) for x in (k, v))
    scores = config["fmha_scale"] * jnp.einsum("btnh,bsnh->bnts", wide(q), keys)
    scores = scores if bias is None else scores + wide(bias)
    _, _, rows, columns = np.ogrid[:1, :1, :q.shape[1], :k.shape[1]]
    seen = columns <= rows if "CAUSAL" in config["mask_type"] else np.full((1, 1, q.shape[1], k.shape[1]), True)
    if config["sliding_window_length"]:
        seen = seen & (columns > rows - config["sliding_window_length"])
    live = np.full((1, 1, 1, 1), True)
    if "PADDING" in config["mask_type"]:
        queries, keys_used = (x[:, None, None, None] for x in rest)
        seen, live = seen & (columns < keys_used), rows < queries
    scores = jnp.where(seen, scores, -np.inf)
    if not backward:
        logs = nn.logsumexp(scores, -1)
        found = jnp.where(live, jnp.einsum("bnts,bsnh->bnth", jnp.exp(scores - logs[..., None]), values), 0)
        return [found.astype(q.dtype), logs]
    weights = jnp.where(live, jnp.exp(scores - logs[..., None]), 0)
    inner = jnp.einsum("btnh,btnh->bnt", wide(ct), wide(out))
    slopes = weights * (jnp.einsum("btnh,bsnh->bnts", wide(ct), values) - inner[..., None])
    by_query = config["fmha_scale"] * jnp.einsum("bnts,bsnh->bnth", slopes, keys)
    by_key = config["fmha_scale"] * jnp.einsum("bnts,btnh->bnsh", slopes, wide(q))
    by_value = jnp.einsum("bnts,btnh->bnsh", weights, wide(ct))
    by_key, by_value = (x.reshape(x.shape[0], -1, share, *x.shape[2:]).sum(2) for x in (by_key, by_value))
    found = [x.astype(q.dtype) for x in (by_query, by_key, by_value)]
    if biased:
        over = tuple(i for i in (0, 1) if bias.shape[i] == 1)
        found.append(slopes.sum(over, keepdims=True).astype(bias.dtype))
    return found


@pytest.fixture
def by_formulas(monkeypatch):
    def call(b, name, xs, results, config):
        return b.fun(lambda *xs: computed(name, config, *xs)[:len(results)], *xs)
    monkeypatch.setattr(fused_attention, "_call", call)
    monkeypatch.setattr(fused_attention, "_check_device", lambda b: None)


def draw(i, *shape, dtype=F16):
    return jnp.asarray(np.random.default_rng(i).normal(size=shape).astype(dtype))


T, S = 6, 8
MASKED = np.random.default_rng(5).random((2, 1, 1, S)) < 0.6
MASKED[..., 0] = True
VALUES = [  # types of query, key, value, bias; whether in lanes, some of which share operands; options
    ([(2, T, 4, 8), (2, S, 2, 8), (2, S, 2, 8), (1, 4, T, S)], True, {"scale": 0.3, "is_causal": True}),
    ([(T, 2, 8), (S, 1, 8), (S, 1, 8), (2, 1, S)], False, {"local_window_size": (2, 0)}),
    ([(2, T, 2, 8), (2, S, 2, 8), (2, S, 2, 8)], False, {"mask": MASKED, "is_causal": True}),
    ([(2, T, 2, 8), (2, S, 2, 8), (2, S, 2, 8), (T, S)], True,
     {"query_seq_lengths": np.array([T, 2]), "key_value_seq_lengths": np.array([3, S]), "mask": MASKED[:, :, :, ::-1] | (np.arange(S) == 0)}),
]


def close(found, wanted, tolerance=2e-2):
    for x, y in zip(found, wanted, strict=True):
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        np.testing.assert_allclose(np.asarray(x, np.float32), np.asarray(y, np.float32), rtol=tolerance, atol=tolerance)


def values_and_derivatives(implementation, shapes, lanes, options, dtype=F16):
    """Result, logs, and the cotangents of both."""
    xs = [draw(j, *shape, dtype=dtype) for j, shape in enumerate(shapes)]
    live = np.full(shapes[0][:-1], True)
    if "query_seq_lengths" in options:
        live = (np.arange(live.shape[1]) < options["query_seq_lengths"][:, None])[..., None]  # logs of others are not defined

    def f(*xs):
        out, logs = attention(*xs, implementation=implementation, return_residual=True, **options)
        logs = jnp.where(live, logs, 0).astype(np.float32)
        return jnp.sum(jnp.sin(out.astype(np.float32))) + jnp.sum(jnp.cos(logs)), out, logs

    def all_of(*xs):
        _, pull, found = vjp(lambda *xs: (f(*xs)[0], f(*xs)[1:]), *xs, has_aux=True)
        return [*found, *pull(np.float32(1))]
    if not lanes:
        return jit(all_of)(*xs)
    scaled = [jnp.stack([x, x * dtype.type(0.5)]) for x in xs[:1] + xs[2:3]]
    return jit(vmap(lambda q, v: all_of(q, xs[1], v, *xs[3:])))(*scaled)


@pytest.mark.parametrize("i", range(len(VALUES)))
def test_values_and_derivatives(i, by_formulas):
    """They are those of the other implementation, and nothing of ours promotes ranks."""
    with flags.numpy_rank_promotion("raise"):
        close(values_and_derivatives("cudnn", *VALUES[i]), values_and_derivatives("xla", *VALUES[i]))


@pytest.mark.parametrize("dtype", [BF16, F16], ids=str)
@pytest.mark.parametrize("i", range(len(VALUES)))
def test_on_a_device(i, dtype):
    """The library itself, where there is one; with more of everything."""
    if getattr(backends.get().devices()[0], "platform", "") not in ("cuda", "gpu"):
        pytest.skip("needs a device with cuDNN")
    shapes, lanes, options = VALUES[i]
    shapes = [tuple(64 if j == len(shape) - 1 and k < 3 else 16 * n if n in (T, S) else n for j, n in enumerate(shape)) for k, shape in enumerate(shapes)]
    options = {**options, **{name: np.repeat(x, 16, -1) if name == "mask" else 16 * x for name, x in options.items() if isinstance(x, np.ndarray)}}
    close(values_and_derivatives("cudnn", shapes, lanes, options, dtype), values_and_derivatives("xla", shapes, lanes, options, dtype), 5e-2)


def test_lanes_outside_of_the_derivative(by_formulas):
    """What all lanes share gets one cotangent, the sum of theirs; so does a bias of one member for a batch."""
    q, k, b = draw(1, 3, 2, T, 2, 16), draw(2, 2, T, 2, 16), draw(3, 1, 2, T, T)

    def run(implementation):
        def loss(q, k, b):
            out = vmap(lambda q: attention(q, k, k, b, implementation=implementation))(q)
            return jnp.sum(jnp.sin(out.astype(np.float32)))
        return jit(grad(loss, (0, 1, 2)))(q, k, b)
    close(run("cudnn"), run("xla"))


@pytest.mark.skipif(len(devices()) < 4, reason="needs four devices")
@pytest.mark.parametrize("kind, few, bias", [(AxisType.Auto, 4, (1, 4)), (AxisType.Explicit, 2, (1, 1))], ids=str)
def test_parts_on_devices(kind, few, bias, by_formulas, monkeypatch):
    """Each device attends for its part of the batch and the heads; a bias that several share gets the sum of their cotangents."""
    shapes, told = set(), fused_attention._call
    monkeypatch.setattr(fused_attention, "_call", lambda b, name, xs, *rest: [shapes.add((b.devices, xs[0].aval.shape)), told(b, name, xs, *rest)][1])
    mesh = make_mesh((2, 2), ("x", "y"), axis_types=(kind, kind), devices=devices()[:4])
    place = lambda x, *spec: device_put(x, NamedSharding(mesh, PartitionSpec(*spec)))
    q, k, v = draw(1, 4, T, 4, 8), draw(2, 4, T, few, 8), draw(3, 4, T, few, 8)
    b, lengths = draw(4, *bias, T, T), jnp.array([T, 1, 2, T])

    def slopes(implementation, *xs):
        def loss(q, k, v, b, lengths):
            return jnp.sum(jnp.sin(with_lengths(q, k, v, lengths, bias=b, implementation=implementation).astype(np.float32)))
        return jit(grad(loss, (0, 1, 2, 3)))(*xs)
    wanted = slopes("xla", q, k, v, b, lengths)
    found = slopes("cudnn", place(q, "x", None, "y"), place(k, "x", None, "y"), place(v, "x"), place(b), place(lengths, "x"))
    close(found, wanted)
    assert (1, (2, T, 2, 8)) in shapes and not [shape for count, shape in shapes if count > 1]
    assert found[0].sharding.spec[0] == "x"
