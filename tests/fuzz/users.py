"""Programs as users write them: models with trees of parameters, loops, derivatives within loops, rules of their own, batches.

A program is a few functions, each made of the one before, with small parts drawn from lists. In contrast to `templates`, whose lines
stand side by side, these are nested: the derivative of a scan that maps the derivative of a loss with a rule of its own.
"""
from __future__ import annotations

import random
import re

PARTS = {
    "act": ("jnp.tanh(%)", "jax.nn.relu(%)", "jax.nn.gelu(%)", "jax.nn.softplus(%)", "jnp.sin(%)", "jax.nn.silu(%)", "jnp.where(% > 0, %, 0.1 * %)", "jnp.clip(%, -1, 1)",
            "jax.nn.log_sigmoid(%)", "jnp.maximum(%, 0.2 * %)", "jnp.abs(%)", "jnp.arctan(%)", "jax.nn.sigmoid(%)", "% / (1 + jnp.square(%))", "jnp.sqrt(1 + % ** 2)", "jnp.exp(-% ** 2)", "square(%)", "clipped(%)"),
    "red": ("jnp.mean(%)", "jnp.sum(%)", "jax.nn.logsumexp(%)", "jnp.max(%)", "jnp.linalg.norm(%)", "jnp.median(%)", "jnp.var(%)", "jnp.sum(% ** 2)", "jnp.std(%)", "jnp.min(%)", "jnp.quantile(%, 0.3)", "jnp.mean(jnp.sort(%)[:2])"),
    "mix": ("jnp.cumsum(%)", "jnp.sort(%)", "%[::-1]", "jax.nn.softmax(%)", "jnp.roll(%, 1)", "% @ p['m']", "p['m'] @ %", "%.at[0].set(0.5)", "%.at[jnp.array([0, 2, 0])].add(%)", "% - jnp.mean(%)", "jnp.take(%, jnp.array([2, 0, 1]))", "jnp.take(%, jnp.array([2, 7, -3]))", "lax.cummax(%)",
            "jnp.convolve(%, p['b'], 'same')", "jnp.where(jnp.arange(3) < 2, %, p['b'])", "lax.associative_scan(jnp.add, %)", "jax.nn.standardize(%)", "jnp.interp(%, p['b'], p['m'][0])", "jnp.diff(%, append=p['b'][:1])", "lax.dynamic_slice(jnp.tile(%, 2), (1,), (3,))",
            "jnp.linalg.solve(p['m'] @ p['m'].T + 3 * jnp.eye(3), %)", "jnp.einsum('i,ij->j', %, p['m'])", "jnp.fft.irfft(jnp.fft.rfft(%), 3)", "lax.cond(%[0] > 0, lambda s: s * 2, lambda s: s - p['b'], %)", "lax.fori_loop(0, 3, lambda i, s: s * 0.5 + p['b'] * i, %)"),
    "wrap": ("%", "%", "jax.jit(%)", "jax.checkpoint(%)", "jax.named_call(%, name='part')", "jax.checkpoint(%, policy=jax.checkpoint_policies.dots_saveable)"),
    "lit": ("2.0", "0.5", "1", "-1.0", "3", "jnp.float32(0.1)", "np.float32(0.3)", "True"), "n": ("1", "2", "3", "4"), "flag": ("True", "False"),
}
LAYERS = (  # of parameters p and a vector x
    "return {act:x @ p['m'] + p['b']}", "y = {mix:x}\n        return {act:y} * {lit}", "y = {act:x}\n        return y + {mix:y}",
    "return lax.scan(lambda c, t: ({act:c * t + p['b'][0]}, None), x, p['b'], reverse={flag})[0]",
    "return lax.scan(lambda c, row: ({act:c + row * x[0]}, c[0]), x, p['m'], unroll={n})[{flag}]",
    "return lax.while_loop(lambda s: s[0] < 2, lambda s: (s[0] + 1, {act:s[1]}), (0, x))[1] if {flag} else {act:x}",
    "return jax.vmap(lambda row, t: {red:row * t}, in_axes=({flag} * 1, 0))(p['m'], x)", "return lax.map(lambda t: {red:t * p['m'][0]}, x)",
    "return lax.switch(jnp.argmax(x), [lambda s: {act:s}, lambda s: {mix:s}, lambda s: s * {lit}], x)",
    "return lax.scan(lambda c, t: (dict(s=c['s'] + t, n=c['n'] + 1), {act:c['s']}), dict(s=x[0], n=0), x)[1]",
    "return jax.tree.map(lambda s, t: {act:s} * t, dict(u=x), dict(u=p['b']))['u']", "return jax.grad(lambda s: {red:layer0(p, s)})(x)",
    "return jax.jvp(lambda s: layer0(p, s), (x,), (p['b'],))[{flag}]", "return jax.vmap(jax.grad(lambda s, t: {act:s} * t), (0, 0))(x, p['b'])",
    "return jax.vjp(layer0, p, x)[1](x)[1]", "return jax.linearize(lambda s: layer0(p, s), x)[1](x * {lit})",
    "return lax.scan(lambda c, t: (jax.grad(lambda s: {red:layer0(p, s) * t})(c), c), x, jnp.arange(1.0, 3.0))[0]",
    "return jnp.diagonal(jax.jacfwd(lambda s: layer0(p, s))(x))", "return jax.hessian(lambda s: {red:layer0(p, s)})(x)[0]",
    "return jax.lax.custom_root(lambda s: s ** 3 + s - x, x * 0, lambda g, s: lax.fori_loop(0, 30, lambda i, s: s - (s ** 3 + s - x) / (3 * s ** 2 + 1), s), lambda g, y: y / g(jnp.ones_like(y)))",
    "return lax.custom_linear_solve(lambda v: p['m'] @ p['m'].T @ v + 3 * v, x, lambda mv, b: jnp.linalg.solve(p['m'] @ p['m'].T + 3 * jnp.eye(3), b).astype(b.dtype), symmetric=True)",
)
ENDS = (  # what is computed of f's arguments p and x
    "return loss(p, x)", "return jax.value_and_grad(loss)(p, x)", "return jax.grad(loss, argnums=(0, 1))(p, x)", "return jax.vmap(jax.grad(loss), (None, 0))(p, jnp.stack([x, x * 0.5, x + 1]))",
    "return jax.jit(jax.vmap(loss, (None, 0)))(p, jnp.stack([x, -x]))", "return jax.tree.map(lambda s, t: s - 0.1 * t, p, jax.grad(loss)(p, x))",
    "return lax.scan(lambda q, _: (jax.tree.map(lambda s, t: s - 0.1 * t, q, jax.grad(loss)(q, x)), loss(q, x)), p, None, length=3)",
    "return jax.jvp(jax.grad(loss), (p, x), (p, x))[1]", "return jax.grad(lambda q: loss(q, x) ** 2 + jax.vmap(loss, (None, 0))(q, jnp.stack([x, 2 * x])).sum())(p)",
    "return jax.vmap(lambda t: jax.grad(loss, 1)(jax.tree.map(lambda s: s * t, p), x))(jnp.arange(1.0, 3.0))", "return jax.jacrev(lambda s: layer1(p, layer0(p, s)))(x)",
    "return jax.vmap(jax.value_and_grad(loss), in_axes=({'m': 0, 'b': None}, None))(dict(p, m=jnp.stack([p['m'], p['m'].T])), x)",
    "return jax.linear_transpose(lambda s: jax.linearize(lambda t: layer1(p, t), x)[1](s), x)(x)[0]",
    "return jax.checkpoint(jax.grad(loss))(p, x), jax.eval_shape(loss, p, x).dtype.type(1)",
)
RULES = (  # functions with a rule of their own; it fits their values
    ("square", "@jax.custom_jvp\n    def square(s):\n        return s * s\n    square.defjvp(lambda q, t: (square(*q), 2 * q[0] * t[0]))"),
    ("square", "@jax.custom_vjp\n    def square(s):\n        return s * s\n    square.defvjp(lambda s: (s * s, {'s': s}), lambda r, g: (2 * r['s'] * g,))"),
    ("clipped", "@jax.custom_jvp\n    def clipped(s):\n        return jnp.clip(s, -1, 1)\n    clipped.defjvps(lambda t, out, s: jnp.where(jnp.abs(s) < 1, t, 0))"),
    ("clipped", "@jax.custom_vjp\n    def clipped(s):\n        return jnp.clip(s, -1, 1)\n    clipped.defvjp(lambda s: (jnp.clip(s, -1, 1), None), lambda r, g: (jnp.clip(g, -0.1, 0.1),))"),
    ("clipped", "@jax.custom_batching.custom_vmap\n    def clipped(s):\n        return jnp.minimum(s, 1)\n    clipped.def_vmap(lambda size, batched, s: (jnp.minimum(s, 1), batched[0]))"),
)
_PART = re.compile(r"\{(\w+)(?::((?:[^{}]|\{[^{}]*\})*))?\}")


def _filled(rng: random.Random, text: str) -> str:
    """``text`` with its slots filled; what stands in a slot replaces each % of the part."""
    while (match := _PART.search(text)) and match[1] in PARTS:
        part = rng.choice(PARTS[match[1]])
        inner = match[2] or ""
        text = text[:match.start()] + part.replace("%", inner if re.fullmatch(r"[\w\[\]']*", inner) else f"({inner})") + text[match.end():]
    return text


def _function(rng: random.Random, name: str, body: str) -> str:
    made = f"    def {name}(p, x):\n        {_filled(rng, body)}\n"
    wrap = rng.choice(PARTS["wrap"]).replace("%", name)
    return made if wrap == name else f"{made}    {name} = {wrap}\n"


def body(rng: random.Random) -> str:
    """The text of a function ``f(p, x)`` of a dictionary of a matrix ``m`` and a vector ``b`` of length 3, and of such a vector."""
    plain = [layer for layer in LAYERS if "layer0" not in layer]
    layers = _function(rng, "layer0", rng.choice(plain)) + _function(rng, "layer1", rng.choice(LAYERS))
    loss = _function(rng, "loss", rng.choice(("return {red:layer1(p, layer0(p, x))}", "return {red:layer1(p, x) - x}", "y = layer1(p, {act:x})\n        return {red:y} + 0.1 * jnp.sum(p['m'] ** 2)")))
    end = rng.choice(ENDS)
    rules = "".join(f"    {rng.choice([rule for known, rule in RULES if known == name])}\n" for name in ("square", "clipped") if f"{name}(" in layers + loss + end)
    return f"def f(p, x):\n{rules}{layers}{loss}    {end}"
