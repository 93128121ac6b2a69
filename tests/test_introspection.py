"""Looking at programs: printed forms, interpreters over jaxprs, what is kept for the backward pass."""
import functools
import re

import numpy as np
import pytest

import jax
import jax.ad_checkpoint as ad_checkpoint
import jax.numpy as jnp
from jax import lax
from jax.custom_derivatives import remat_opt_p
from jax.extend import core as extend_core
from jax_core.configuration import flags

# -- printing ----------------------------------------------------------------------------------------------------------


def example(x):
    with jax.named_scope("outer"):
        y = jax.jit(lambda y: jnp.sin(y) * 2)(x)
    return lax.cond(x > 0, jnp.sin, jnp.cos, y)


JAXPR = jax.make_jaxpr(example)(1.0)


def test_shared_programs_are_printed_once():
    """Each under its function's name, which no variable has; what is called once has the caller's names inside."""
    @jax.jit
    def a(x):
        return x * 3.0

    text = str(jax.make_jaxpr(lambda x: jax.jit(lambda y: (y, a(a(y))))(x))(jnp.ones(2)))
    assert text == """let a = { lambda ; b:f32[2]. let c:f32[2] = mul b 3.0:f32[] in (c,) } in
{ lambda ; d:f32[2]. let
    f:f32[2] e:f32[2] = jit[
      name=<lambda>
      jaxpr={ lambda ; d:f32[2]. let
          g:f32[2] = jit[name=a jaxpr=a] d
          e:f32[2] = jit[name=a jaxpr=a] g
        in (d, e) }
    ] d
  in (f, e) }"""


def test_large_programs_are_printed_apart():
    def long(n):
        @jax.jit
        def f(x):
            for _ in range(n):
                x = x + 1
            return x
        return str(jax.make_jaxpr(f)(1.0))
    assert long(11).startswith("let f = {") and not long(10).startswith("let")


def test_names_after_z():
    text = str(jax.make_jaxpr(lambda x: [x := x + 1 for _ in range(27)][-1])(1.0))
    assert "z:f32[] = add y" in text and "ba:f32[] = add z" in text and "bb:f32[] = add ba" in text


def test_types_can_be_left_out():
    text = JAXPR.pretty_print(print_shapes=False)
    assert text.startswith("{ lambda ; a. let") and "c = sin a" in text and "b = mul c 2.0" in text
    assert re.search(r"^    b = jit\[$", text, re.M)


def test_all_parameters_can_be_shown():
    assert "keep_unused" not in JAXPR.pretty_print()
    assert "keep_unused=False" in JAXPR.pretty_print(custom_pp_eqn_rules=False)


@pytest.mark.parametrize("f, text", [
    (lambda x: jnp.zeros(3) + x, "b:f32[3] = broadcast_in_dim 0.0:f32[]\n"),
    (lambda x: x[None], "b:f32[1,3] = broadcast_in_dim[broadcast_dimensions=(1,)] a\n"),
    (lambda x: x.astype(int), "b:i32[3] = convert_element_type[new_dtype=int32 weak_type=False] a\n"),
    (lambda x: lax.dot_general(x, x, (((0,), (0,)), ((), ()))), "b:f32[] = dot_general[dimension_numbers=(([0], [0]), ([], []))] a a\n"),
    (lambda x: lax.dot(x, x, precision="highest"), "      precision=(Precision.HIGHEST, Precision.HIGHEST)\n    ] a a\n"),
])
def test_parameters_that_say_nothing_are_left_out(f, text):
    with jax.default_matmul_precision(None):
        assert text in str(jax.make_jaxpr(f)(jnp.ones(3)))


def test_source_lines_stand_below_each_other():
    rows = [line for line in JAXPR.pretty_print(source_info=True).split("\n") if "#" in line]
    assert len(rows) == sum(1 for _ in every_equation(JAXPR.jaxpr))
    assert len({row.index("#") for row in rows}) == 1
    assert all(f"# {__file__}:" in row for row in rows)


def test_scopes_are_shown():
    text = JAXPR.pretty_print(name_stack=True)
    assert re.search(r"b:f32\[\] = jit\[ +# \[outer\]$", text, re.M) and re.search(r"gt a 0.0:f32\[\] +# \[\]$", text, re.M)


def test_effects_are_shown():
    loud = jax.make_jaxpr(lambda x: jax.debug.print("{}", x))(1.0)
    assert ": {" not in loud.pretty_print()
    assert re.search(r"in \(\) : \{ .*[Dd]ebug.* \} \}$", loud.pretty_print(print_effects=True))


def test_colours_change_nothing_else():
    colored = JAXPR.pretty_print(use_color=True)
    assert "\x1b[" in colored and re.sub(r"\x1b\[[0-9;]*m", "", colored) == str(JAXPR) == JAXPR.pretty_print(use_color=False)


def every_equation(jaxpr):
    for eqn in jaxpr.eqns:
        yield eqn
        for inner in programs(eqn.params):
            yield from every_equation(inner)


def programs(params):
    for value in params.values():
        for item in value if isinstance(value, (tuple, list)) else [value]:
            if hasattr(item, "eqns"):
                yield getattr(item, "jaxpr", item)


# -- interpreters ------------------------------------------------------------------------------------------------------

def evaluate(closed, args, rules):
    """An interpreter: ``rules[name](eqn, inputs)`` in place of primitives, whatever has no rule is bound."""
    env = dict(zip(closed.jaxpr.constvars, closed.consts))
    env.update(zip(closed.jaxpr.invars, args))
    read = lambda v: v.val if isinstance(v, extend_core.Literal) else env[v]
    for eqn in closed.jaxpr.eqns:
        inputs = [read(v) for v in eqn.invars]
        rule = rules.get(eqn.primitive.name)
        if rule is not None:
            outs = rule(eqn, inputs)
        else:
            outs = eqn.primitive.bind(*inputs, **eqn.primitive.get_bind_params(eqn.params))
            outs = outs if eqn.primitive.multiple_results else [outs]
        env.update(zip(eqn.outvars, outs))
    return [read(v) for v in closed.jaxpr.outvars]


def test_an_interpreter_that_counts_operations_in_nested_programs():
    seen = []

    def inside(eqn, inputs):
        seen.append(eqn.primitive.name)
        return evaluate(eqn.params["jaxpr"], inputs, rules)

    def sine(eqn, inputs):
        seen.append("sin")
        return [jnp.sin(*inputs)]
    rules = {"jit": inside, "sin": sine}
    out, = evaluate(JAXPR, [1.0], rules)
    assert np.allclose(out, example(1.0)) and seen == ["jit", "sin"]


def test_an_interpreter_is_itself_transformed():
    replaced = {"sin": lambda eqn, inputs: [jnp.cos(*inputs)]}
    closed = jax.make_jaxpr(lambda x: jnp.sin(x) * 3.0)(1.0)
    run = lambda x: evaluate(closed, [x], replaced)[0]
    for wrap in (lambda f: f, jax.jit):
        assert np.allclose(wrap(run)(0.5), np.cos(0.5) * 3)
        assert np.allclose(wrap(jax.grad(run))(0.5), -np.sin(0.5) * 3)
        assert np.allclose(wrap(jax.vmap(run))(np.float32([0.5, 1])), np.cos([0.5, 1]) * 3)


def test_an_interpreter_that_inverts():
    """Backwards through the equations, each undone."""
    undo = {"exp": jnp.log, "tanh": jnp.arctanh, "neg": jnp.negative}

    def inverse(fun):
        def inverted(y):
            closed = jax.make_jaxpr(fun)(y)
            env = {closed.jaxpr.outvars[0]: y}
            for eqn in reversed(closed.jaxpr.eqns):
                env[eqn.invars[0]] = undo[eqn.primitive.name](env[eqn.outvars[0]])
            return env[closed.jaxpr.invars[0]]
        return inverted
    fun = lambda x: jnp.exp(-jnp.tanh(x))
    assert np.allclose(jax.jit(inverse(fun))(fun(0.3)), 0.3, rtol=1e-5)


def test_eval_jaxpr_and_programs_written_by_hand():
    assert np.allclose(jax.core.eval_jaxpr(JAXPR.jaxpr, JAXPR.consts, 1.0)[0], example(1.0))
    assert np.allclose(extend_core.jaxpr_as_fun(JAXPR)(1.0)[0], example(1.0))


def test_make_jaxpr_of_static_arguments_and_shapes():
    closed, shape = jax.make_jaxpr(lambda x, n: {"a": x * n}, static_argnums=1, return_shape=True)(np.ones(3), 2)
    assert [str(v.aval) for v in closed.jaxpr.invars] == ["float32[3]"]
    assert shape["a"].shape == (3,) and shape["a"].dtype == np.float32


# -- what is kept ------------------------------------------------------------------------------------------------------

def network(x, w):
    y = jnp.dot(x, w)
    y = ad_checkpoint.checkpoint_name(jnp.sin(y), "hidden")
    return jnp.sum(jnp.cos(y))


def kept(capsys, fun, *args):
    ad_checkpoint.print_saved_residuals(fun, *args)
    return capsys.readouterr().out.splitlines()


M = np.ones((3, 3), np.float32)
POLICIES = {
    "everything_saveable": ["cos", "sin"], "nothing_saveable": [],
    "dots_saveable": ["dot_general"], "checkpoint_dots": ["dot_general"],
    "dots_with_no_batch_dims_saveable": ["dot_general"], "checkpoint_dots_with_no_batch_dims": ["dot_general"],
    "save_only_these_names": ["hidden"], "save_any_names_but_these": ["hidden"],
    "save_anything_except_these_names": ["cos", "sin"],
    "save_from_both_policies": ["dot_general", "hidden"],
    "offload_dot_with_no_batch_dims": ["device_put"],
    "save_and_offload_only_these_names": ["hidden"],
}


def policy(name):
    policies = jax.checkpoint_policies
    made = getattr(policies, name)
    if name == "save_only_these_names":
        return made("hidden")
    if name in ("save_any_names_but_these", "save_anything_except_these_names"):
        return made("other")
    if name == "save_from_both_policies":
        return made(policies.dots_saveable, policies.save_only_these_names("hidden"))
    if name == "offload_dot_with_no_batch_dims":
        return made("device", "pinned_host")
    if name == "save_and_offload_only_these_names":
        return made(names_which_can_be_saved=["hidden"], names_which_can_be_offloaded=[], offload_src="device",
                    offload_dst="pinned_host")
    return made


def test_all_policies_are_tested():
    assert set(POLICIES) == {n for n in dir(jax.checkpoint_policies) if not n.startswith("_")}


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_keeps_what_it_says_and_changes_no_gradient(capsys, name):
    fun = jax.checkpoint(network, policy=policy(name))
    lines = kept(capsys, fun, M, M)
    found = [re.search(r"(?:output of|named) '?(\w+)", line) for line in lines]
    names = {m.group(1) for m in found if m}
    assert names <= {*POLICIES[name], "neg", "mul"} and (bool(names) == bool(POLICIES[name]))
    for a, b in zip(jax.jit(jax.grad(fun, (0, 1)))(M, M), jax.grad(network, (0, 1))(M, M)):
        assert np.allclose(a, b, rtol=1e-5)


def test_residuals_are_described_by_argument_name_and_line(capsys):
    lines = kept(capsys, jax.checkpoint(network, policy=jax.checkpoint_policies.save_only_these_names("hidden")), M, M)
    assert lines[:2] == ["f32[3,3] from the argument x", "f32[3,3] from the argument w"]
    assert re.fullmatch(rf"f32\[3,3\] named 'hidden' from {re.escape(__file__)}:\d+:\d+ \(network\)", lines[2])
    assert any(re.fullmatch(rf"f32\[3,3\] output of cos from {re.escape(__file__)}:\d+:\d+ \(network\)", line)
               for line in kept(capsys, network, M, M))


def test_policies_answer_by_name(capsys):
    saving = lambda prim, *_, **__: ad_checkpoint.Saveable if prim.name == "sin" else ad_checkpoint.Recompute
    fun = jax.checkpoint(lambda x: jnp.sin(jnp.sin(jnp.sin(x))), policy=saving)
    lines = [line for line in kept(capsys, fun, 1.0)]
    assert [line.split(" from ")[0] for line in lines] == ["f32[]", "f32[] output of sin", "f32[] output of sin"]
    assert np.allclose(jax.grad(fun)(1.0), jax.grad(lambda x: jnp.sin(jnp.sin(jnp.sin(x))))(1.0))


@pytest.mark.parametrize("name, tangents", [("checkpoint_name", 1), ("checkpoint_name_fwd", 0)])
def test_names_of_values_and_tangents(name, tangents):
    fun = lambda x: getattr(ad_checkpoint, name)(jnp.sin(x), "y")
    both = jax.make_jaxpr(lambda x, t: jax.jvp(fun, (x,), (t,)))(1.0, 1.0)
    assert sum(e.primitive.name == "name" for e in both.eqns) == 1 + tangents
    assert np.allclose(jax.grad(fun)(1.0), np.cos(1))


def optimized(**options):
    @jax.custom_vjp
    def fun(x):
        return jnp.sin(x) * 2
    fun.defvjp(lambda x: (jnp.tanh(x), jnp.cos(x)), lambda cos, ct: (cos * ct * 2,), **options)
    return fun


def names_in(closed):
    return [e.primitive.name for e in every_equation(closed.jaxpr)]


def test_optimize_remat_runs_the_function_where_residuals_are_dropped():
    """The forward function computes another value (tanh), so that it shows which of the two ran."""
    plain, better = (jax.checkpoint(optimized(optimize_remat=flag)) for flag in (False, True))
    assert "tanh" in names_in(jax.make_jaxpr(jax.value_and_grad(plain))(1.0))
    program = jax.make_jaxpr(jax.value_and_grad(better))(1.0)
    assert "tanh" not in names_in(program) and "sin" in names_in(program)
    assert remat_opt_p.name in names_in(program)
    assert np.allclose(jax.jit(jax.value_and_grad(better))(1.0), [2 * np.sin(1), 2 * np.cos(1)])


def test_optimize_remat_runs_the_forward_function_where_residuals_are_kept():
    value, gradient = jax.jit(jax.value_and_grad(optimized(optimize_remat=True)))(1.0)
    assert np.allclose([value, gradient], [np.tanh(1), 2 * np.cos(1)])


@pytest.mark.parametrize("wrap", [
    lambda f: jax.vmap(f), lambda f: jax.jit(jax.vmap(f)), lambda f: jax.vmap(jax.jit(f)),
    lambda f: lambda x: jax.lax.map(f, x)], ids=["vmap", "jit of vmap", "vmap of jit", "map"])
def test_optimize_remat_under_transformations(wrap):
    x = np.float32([0.3, 1])
    assert np.allclose(wrap(jax.grad(jax.checkpoint(optimized(optimize_remat=True))))(x), 2 * np.cos(x))
    assert np.allclose(wrap(jax.grad(jax.grad(jax.checkpoint(optimized(optimize_remat=True)))))(x), -2 * np.sin(x))


def test_optimize_remat_of_functions_that_close_over_arrays():
    scale = jnp.float32(3) * np.float32([1, 2])

    @jax.custom_vjp
    def fun(x):
        return jnp.sum(x * scale)
    fun.defvjp(lambda x: (jnp.sum(x * scale * 1.0), scale), lambda s, ct: (s * ct,), optimize_remat=True)
    assert np.allclose(jax.jit(jax.grad(jax.checkpoint(fun)))(np.float32([1, 1])), scale)


class Described:
    def __init__(self, shape, dtype):
        self.shape, self.dtype = shape, np.dtype(dtype)


TYPES_ONLY = {
    "make_jaxpr": lambda x: jax.make_jaxpr(lambda x: x + 1)(x).in_avals[0],
    "eval_shape": lambda x: jax.eval_shape(lambda x: x + 1, x),
    "linear_transpose": lambda x: jax.linear_transpose(lambda x: x * 2, x)(jnp.ones(3))[0],
}


@pytest.mark.parametrize("name", TYPES_ONLY)
def test_arguments_that_are_looked_at_may_be_descriptions(name):
    found = TYPES_ONLY[name](Described((3,), "float32"))
    assert (found.shape, found.dtype) == ((3,), np.float32)


def test_a_description_has_lengths():
    with pytest.raises(ValueError, match="shape"):
        jax.ShapeDtypeStruct((None, 2), "int32")


@pytest.mark.parametrize("make", [lambda f, x: jax.linearize(f, x)[1], lambda f, x: jax.linear_transpose(f, x)])
def test_linear_functions_pass_through_jit(make):
    linear = jax.jit(lambda x: make(lambda y: 3.0 * y, x))(2.0)
    assert float(jax.tree.leaves(jax.jit(lambda f, t: f(t))(linear, 2.0))[0]) == 6.0


def _scoped_sin(x):
    with jax.named_scope("foo"):
        return jnp.sin(x)


NAMES = [  # (function, argument, names of equations, names of operations in HLO)
    (_scoped_sin, 1.0, ["foo"], ["jit(fun)/foo/sin"]),
    (jax.vmap(_scoped_sin), [1.0], ["vmap(foo)"], ["jit(fun)/vmap(foo)/sin"]),
    (jax.named_scope("a")(jax.grad(jax.named_scope("foo")(lambda x: jnp.sin(x) * x))), 1.0, ["a/jvp(foo)", "a/transpose(jvp(foo))"],
     ["jit(fun)/a/jvp(foo)/cos", "jit(fun)/a/transpose(jvp(foo))/mul"]),
    (jax.vmap(jax.jit(_scoped_sin)), [1.0], ["vmap()"], ["jit(fun)/vmap(jit(_scoped_sin))", "foo/sin"]),
    (jax.named_scope("a")(lambda x: jax.lax.while_loop(lambda x: x < 3, lambda x: x + _scoped_sin(x), x)), 1.0, ["a"],
     ["jit(fun)/a/while/body/foo/sin", "jit(fun)/a/while/cond/lt"]),
    (lambda x: jax.lax.cond(x > 0, _scoped_sin, jnp.cos, x), 1.0, [""], ["jit(fun)/cond/branch_0_fun/cos", "jit(fun)/cond/branch_1_fun/foo/sin"]),
    (jax.grad(jax.checkpoint(lambda x: jnp.sin(_scoped_sin(x)))), 1.0, ["transpose(jvp())"],
     ["jit(fun)/transpose(jvp())/checkpoint/rematted_computation/foo/sin", "jit(fun)/transpose(jvp())/checkpoint/mul"]),
    *[(jax.grad(jax.checkpoint(lambda x: jnp.sin(jax.jit(_scoped_sin)(x)), policy=policy)), 1.0, ["transpose(jvp())"],
       [f"jit(fun)/transpose(jvp())/checkpoint/{name}" for name in ("rematted_computation/cos", "mul")])
      for policy in (None, jax.checkpoint_policies.nothing_saveable)],
]


@pytest.mark.parametrize("fun, x, equations, operations", NAMES, ids=[str(i) for i in range(len(NAMES))])
def test_names_say_scopes_and_transformations(fun, x, equations, operations):
    x = jnp.array(x)
    fun = functools.update_wrapper(lambda x, fun=fun: fun(x), fun)
    fun.__name__ = "fun"
    found = {str(eqn.source_info.name_stack) for eqn in jax.make_jaxpr(fun)(x).eqns}
    assert found.issuperset(equations)
    hlo = jax.jit(fun).lower(x).as_text("hlo", debug_info=True)
    assert set(re.findall(r'op_name="([^"]*)"', hlo)).issuperset(operations)


@pytest.mark.parametrize("called", [lambda f: f, jax.jit], ids=["plain", "nested"])
def test_sums_of_cotangents_are_under_the_scope_of_an_addend(called):
    """Not where the backward pass was asked for: in a nested program that would be a scope around it."""
    @jax.named_scope("foo")
    def inner(x):
        return x * jnp.sin(x)
    program = jax.make_jaxpr(jax.grad(lambda x: called(inner)(x)))(1.0)
    for eqn in program.eqns[-1:]:
        program = eqn.params.get("jaxpr", program)
    (name,) = [str(e.source_info.name_stack) for e in program.eqns if e.primitive.name == "add_any"]
    assert name == ("foo" if called is jax.jit else "transpose(jvp(foo))")


def test_calls_are_computed_again_whole():
    """Without a policy to ask about what is in it, a nested jitted function stays one equation, marked as computed again."""
    program = jax.make_jaxpr(jax.grad(jax.checkpoint(lambda x: jnp.sin(jax.jit(_scoped_sin)(x)))))(1.0)
    inner = program.jaxpr.eqns[-1].params["jaxpr"].eqns
    names = [(e.primitive.name, str(e.source_info.name_stack)) for e in inner]
    assert [n for n in names if "rematted" in n[1]] == [("jit", "rematted_computation"), ("cos", "rematted_computation")]


def test_kept_values_are_those_that_the_forward_pass_used():
    """Rounded to their dtype, though the compiler may compute in more bits."""
    @jax.custom_vjp
    def widened(x):
        return x.astype(jnp.float32)
    widened.defvjp(lambda x: (widened(x), x), lambda x, g: (x.astype(jnp.float32),))
    dot = jax.custom_vjp(lambda x: jnp.dot(x, x))
    dot.defvjp(lambda x: (dot(x), None), lambda _, g: (g,))
    x = (jnp.bfloat16(1) + jnp.finfo("bfloat16").eps) * jnp.eye(2, dtype="bfloat16")
    out, pullback = jax.vjp(jax.jit(jax.checkpoint(lambda x: widened(dot(x)), policy=jax.checkpoint_policies.everything_saveable)), x)
    np.testing.assert_array_equal(out, pullback(jnp.ones_like(out))[0])


def _three_dots(x):
    for _ in range(3):
        x = jnp.sin(x @ x)
    return x


NESTED = {
    "scan": lambda x: lax.scan(lambda c, _: (_three_dots(c), None), x, None, length=2)[0],
    "cond": lambda x: lax.cond(x[0, 0] > 0, _three_dots, lambda x: x, x),
    "scan of cond of jit": lambda x: lax.scan(
        lambda c, i: (lax.cond(i > 0, jax.jit(_three_dots), lambda x: x + 1.0, c), i), x, jnp.arange(3))[0],
}


@pytest.mark.parametrize("name", NESTED)
def test_a_policy_sees_what_is_in_loops_and_branches(name):
    fun, x = NESTED[name], jnp.full((3, 3), 0.1)
    dots = jax.checkpoint(fun, policy=jax.checkpoint_policies.dots_saveable)
    out, pullback = jax.vjp(dots, x)
    text = str(jax.make_jaxpr(pullback)(out))
    assert text.count(" dot_general") == 6 and text.count(" cos ") == 3  # two products in the backward pass of each; none again
    assert str(jax.make_jaxpr(jax.vjp(jax.checkpoint(fun), x)[1])(out)).count(" dot_general") > 6
    for mode in (lambda f: f, jax.jit, lambda f: lambda x: jax.vmap(f)(x[None])[0]):
        np.testing.assert_allclose(mode(jax.grad(lambda x: dots(x).sum()))(x), jax.grad(lambda x: fun(x).sum())(x), rtol=1e-5)
    second = lambda f: jax.grad(lambda x: jax.grad(lambda x: f(x).sum())(x).sum())(x)
    np.testing.assert_allclose(second(dots), second(fun), rtol=1e-4)


def test_offloaded_values_go_to_the_host_and_back():
    policy = jax.checkpoint_policies.offload_dot_with_no_batch_dims("device", "pinned_host")
    text = str(jax.make_jaxpr(jax.grad(lambda x: jax.checkpoint(NESTED["scan"], policy=policy)(x).sum()))(M))
    assert text.count("MemorySpace.Host") == 3 == text.count("MemorySpace.Device")


def test_compiled_programs_are_written_to_files(tmp_path):
    def named(x):
        return x * 2
    with flags.dump_ir_to(str(tmp_path)):
        jax.jit(lambda x: x + 1)(1.0)
        with flags.dump_ir_modes("jaxpr,stablehlo"):
            jax.jit(named).lower(1.0).compile()
    first, second = sorted(tmp_path.glob("jax_ir*.mlir"))
    assert first.name.endswith("_jit__lambda_compile.mlir")
    assert second.name.endswith("_jit_named_compile.mlir")
    assert "stablehlo.add" in first.read_text() and "test_introspection.py" in first.read_text()  # with places
    program, = tmp_path.glob("*.jaxpr.txt")
    assert program.name.endswith("_named.jaxpr.txt") and "mul a 2.0" in program.read_text()


def test_compiled_programs_know_the_users_names_and_lines():
    """What profiles show; the caches go by the program without them."""
    def layer(weights, x):
        with jax.named_scope("hidden"):
            x = jnp.sin(x @ weights)
        return jnp.sum(jnp.cos(x))

    x = jnp.full((3, 3), 0.123)
    text = jax.jit(jax.grad(layer)).lower(x, x).compile().as_text()
    found = set(re.findall('op_name="([^"]*)"', text))
    assert {"weights", "x", "jit(layer)/transpose(jvp(hidden))/dot_general", "jit(layer)/jvp(hidden)/cos"} <= found, found
    assert "test_introspection.py" in text
    from jax_xla_backend.compiling import compile
    before = compile.counts["compiled"]
    other = functools.partial(layer)
    other.__name__ = "layer"
    jax.jit(jax.grad(other)).lower(x, x).compile()  # the same program, written elsewhere
    assert compile.counts["compiled"] == before


@pytest.mark.parametrize("fun, args, kwargs, names", [
    (lambda x, *rest, y=2., **kw: x["a"] * y + rest[0] + kw["z"][1], ({"a": 1.}, 3.), {"y": 3., "z": (1., 2.)}, ["x['a']", "rest[0]", "y", "kw['z'][1]"]),
    (functools.partial(lambda w, b: w * b[0] + b[1], 1.), ((2., 3.),), {}, ["b[0]", "b[1]"]),
    (jax.value_and_grad(lambda w, b: w * b), (1., 2.), {}, ["w", "b"]),
    (jnp.sin, (1.,), {}, ["x"]),
    (abs, (1.,), {}, ["x"]),
], ids=["all kinds", "partial", "wrapped", "of a table", "builtin"])
def test_arguments_keep_their_names(fun, args, kwargs, names):
    """In what the compiler gets, also when the function itself is gone."""
    lowered = jax.jit(fun).lower(*args, **kwargs)
    del fun
    assert re.findall(r'%arg\d+: tensor<f32> loc\("([^"]*)"\)', lowered.as_text(debug_info=True)) == names


def test_checkpoint_has_the_name_that_programs_look_for():
    """`remat2` is the primitive, and `checkpoint` the scope of what it computes."""
    traced = jax.jit(jax.checkpoint(jnp.sin)).trace(1.0)
    assert [eqn.primitive.name for eqn in traced.jaxpr.eqns] == ["remat2"]
    assert "jit(sin)/checkpoint/sin" in traced.lower().as_text(debug_info=True)
