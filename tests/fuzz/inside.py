"""More lines of programs, in the slots of `templates`: Python and the narrowest types inside of loops, branches and transformations.

Host callbacks where a loop, a branch, `vmap`, `checkpoint` or a rule of one's own surrounds them, and floats of 8 and integers of 4 bits in what usually
has 32.
"""
from __future__ import annotations

_HOST = "jax.pure_callback(lambda s: np.asarray(np.sin(s), s.dtype), jax.ShapeDtypeStruct({0}.shape, {0}.dtype), {0}, vmap_method='{1}')"
_WAYS = ("sequential", "expand_dims", "broadcast_all")
_SEEN = "jax.debug.callback(lambda s: None, {0})"
_RULE = "(lambda h: (h.defjvp(lambda p, t: (h(*p), jnp.cos(p[0]) * t[0])), {0})[1])(jax.custom_jvp(lambda c: " + _HOST.format("c", "sequential") + "))"
_BACK = "(lambda h: h.defvjp(lambda c: (h(c), c), lambda r, g: (g * " + _HOST.format("r", "expand_dims") + ",)) or {0})(jax.custom_vjp(lambda c: " + _HOST.format("c", "expand_dims") + "))"
_ORDERED = "jax.experimental.io_callback(lambda s: np.asarray(s) * 2, jax.ShapeDtypeStruct({0}.shape, {0}.dtype), {0}, ordered={1})"
_USES = ("h({f})", "jax.grad(lambda c: h(c).sum())({f})", "jax.vmap(jax.grad(lambda c: h(c * c)))({f}.ravel())", "jax.jit(jax.grad(lambda c: lax.scan(lambda s, t: (h(s) * t, None), c, jnp.arange(1., 3.))[0].sum()))({f})", "jax.grad(lambda c: jax.checkpoint(lambda s: jnp.sum(h(s) ** 2))(c))({f})", "jax.jacrev(lambda c: lax.cond(c.sum() > 0, h, lambda s: s, c))({f})")
_FLOATS = ("float8_e4m3fn", "float8_e5m2", "bfloat16")
_INTEGERS = ("int4", "uint4", "int8")

LINES = {
    "callbacks": [
        *[line for way in _WAYS for host in (_HOST.format("c", way),) for line in (
            f"lax.scan(lambda c, t: ({host}, c), {{f}}, None, length=2)", f"lax.fori_loop(0, 2, lambda i, c: {host}, {{f}})", f"lax.cond({{mask}}.any(), lambda c: {host}, lambda c: c, {{f}})", f"jax.vmap(lambda c: {host})({{f}})", f"jax.vmap(lambda c: lax.scan(lambda c, t: ({host}, t), c, jnp.arange(2))[0])({{m}})", f"jax.vmap(jax.vmap(lambda c: {host}))({{m}})",
            f"jax.vmap(lambda c: lax.cond(c.sum() > 0, lambda c: {host}, lambda c: c, c))({{f}})", f"lax.while_loop(lambda s: s[0] < 2, lambda s: (s[0] + 1, (lambda c: {host})(s[1])), (0, {{f}}))[1]", f"jax.checkpoint(lambda c: {host})({{f}})", f"lax.map(lambda c: {host}, {{f}})", f"jax.jit(jax.vmap(lambda c: {host}, in_axes=None, axis_size=2))({{f}})", f"jax.linearize(lambda c: c * {_HOST.format('lax.stop_gradient(c)', way)}, {{f}})[1]({{f}})")],
        *[_RULE.replace("{0}", use) for use in _USES], *[_BACK.replace("{0}", use) for use in _USES],
        *[line for order in (True, False) for host in (_ORDERED.format("c", order),) for line in (f"lax.scan(lambda c, t: ({host}, c.sum()), {{x}}, None, length=2)", f"lax.fori_loop(0, 2, lambda i, c: {host}, {{x}})", f"lax.cond({{mask}}.any(), lambda c: {host}, lambda c: c, {{x}})", f"jax.jit(lambda c: {host})({{x}})", f"lax.switch({{n}}, [lambda c: c, lambda c: {host}], {{x}})")],
        *[line for seen in (_SEEN.format("c"), "jax.debug.print('{}', c)") for line in (f"jax.vmap(lambda c: ({seen}, {{body c}})[1])({{x}})", f"jax.grad(lambda c: ({seen}, jnp.sum({{body c}}))[1])({{f}})", f"lax.scan(lambda c, t: (({seen}, {{body c}})[1], t), {{x}}, None, length=2)[0]", f"jax.checkpoint(lambda c: ({seen}, {{body c}})[1])({{x}})", f"jax.jvp(lambda c: ({seen}, {{body c}})[1], ({{f}},), ({{f}},))", f"jax.linearize(lambda c: ({seen}, {{body c}})[1], {{f}})[1]({{f}})")],
    ],
    "narrow loops": [
        *[line for d in _FLOATS for line in (f"lax.scan(lambda c, t: ((c.astype('float32') * t).astype('{d}'), c), {{f}}.astype('{d}'), jnp.arange(1., 4.))", f"lax.fori_loop(0, 3, lambda i, c: (c.astype('float32') * 1.5).astype('{d}'), {{f}}.astype('{d}'))", f"jax.grad(lambda c: jnp.sum(c.astype('{d}').astype('float32') ** 2))({{f}})", f"jnp.dot({{m}}.astype('{d}'), {{m}}.T.astype('{d}'), preferred_element_type='float32')", f"jax.vmap(lambda c: jnp.max(c.astype('{d}')))({{m}})",
                                             f"jnp.concatenate([{{x}}.astype('{d}'), {{y}}.astype('{d}')]).astype('float32')", f"{{x}}.astype('{d}').at[0].set(2)", f"jnp.where({{mask}}, {{x}}.astype('{d}'), jnp.array(1, '{d}'))", f"lax.cond({{mask}}.any(), lambda c: c, lambda c: -c, {{x}}.astype('{d}'))", f"jnp.argmax({{x}}.astype('{d}'))", f"lax.bitcast_convert_type({{x}}.astype('{d}'), 'uint{16 if d == 'bfloat16' else 8}')", f"jax.jvp(lambda c: (c.astype('{d}') * 2).astype('float32'), ({{f}},), ({{f}},))",
                                             f"jnp.sort({{x}}.astype('{d}'))", f"jnp.isnan({{x}}.astype('{d}'))", f"jnp.full((2,), {{lit}}, '{d}')", f"{{x}}.astype('{d}') == {{y}}.astype('{d}')", f"jax.lax.associative_scan(jnp.maximum, {{x}}.astype('{d}'))", f"jnp.take({{x}}.astype('{d}'), {{i}}, mode='clip')", f"jnp.finfo('{d}').max", f"-jnp.abs({{x}}.astype('{d}'))")],
        *[line for d in _INTEGERS for line in (f"lax.scan(lambda c, t: (c + t, c * t), {{i}}.astype('{d}')[..., 0], jnp.arange(4, dtype='{d}'))", f"lax.fori_loop(0, 5, lambda i, c: c * 3, {{x}}.astype('{d}'))", f"jnp.cumsum({{x}}.astype('{d}'))", f"{{x}}.astype('{d}').at[jnp.array([0, 0])].add(5)", f"jax.ops.segment_sum({{x}}.astype('{d}'), jnp.array([0, 1, 0]), num_segments=2)", f"{{x}}.astype('{d}') // jnp.array(3, '{d}')", f"{{x}}.astype('{d}') % jnp.array(3, '{d}')", f"jnp.sum({{x}}.astype('{d}'), dtype='int32')",
                                               f"jnp.dot({{m}}.astype('{d}'), {{m}}.T.astype('{d}'), preferred_element_type='int32')", f"jax.vmap(lambda c: c.astype('{d}') << 1)({{x}})", f"jnp.argsort({{x}}.astype('{d}'))", f"lax.clamp(jnp.array(0, '{d}'), {{x}}.astype('{d}'), jnp.array(5, '{d}'))", f"jnp.iinfo('{d}').min", f"{{x}}.astype('{d}').astype('float32')", f"lax.population_count({{i}}.astype('{d}'))", f"jnp.max({{x}}.astype('{d}'), axis={{axis}})", f"{{x}}.astype('{d}')[{{n}}]", f"~{{i}}.astype('{d}')", f"jax.nn.one_hot({{i}}, 3, dtype='{d}')", f"lax.rem({{i}}.astype('{d}'), jnp.array(3, '{d}'))")],
    ],
}
