"""jax.extend and jax.api_util: forms of call and members that libraries of transformations use."""
import pytest

import jax
from jax.api_util import flatten_axes, flatten_fun, flatten_fun_nokwargs
from jax.extend import core, linear_util, source_info_util


def plus_one(call, x):
    return call(x) + 1


def scaled(factor, x):
    y = yield (x * factor,), {}
    yield y


def with_sign(call, store, x):
    store.store(x > 0)
    return call(x)


def wrapped(f):
    info = jax.api_util.debug_info("test", f, (1,), {})
    return linear_util.wrap_init(f, debug_info=info)


def negative(x):
    return -x


def test_transformations_are_applied_or_decorate():
    """With the function at hand the result is the transformed function, else a decorator."""
    assert linear_util.transformation2(plus_one, wrapped(negative)).call_wrapped(5) == -4
    assert linear_util.transformation2(plus_one)(wrapped(negative)).call_wrapped(5) == -4
    assert linear_util.transformation(scaled, wrapped(negative), 3).call_wrapped(5) == -15
    assert linear_util.transformation(scaled)(wrapped(negative), 3).call_wrapped(5) == -15
    assert linear_util.transformation2(plus_one).__name__ == "plus_one"


def test_auxiliary_data_is_stored_once_or_equal():
    """Running twice is an error unless equal data is allowed; different data always is."""
    once, _ = linear_util.transformation_with_aux2(with_sign, wrapped(negative))
    once.call_wrapped(1)
    with pytest.raises(linear_util.StoreException, match="already"):
        once.call_wrapped(1)
    fun, sign = linear_util.transformation_with_aux2(with_sign, wrapped(negative), use_eq_store=True)
    assert [fun.call_wrapped(1), fun.call_wrapped(2)] == [-1, -2] and sign() is True
    with pytest.raises(linear_util.StoreException, match="differs: True and False"):
        fun.call_wrapped(-1)


def test_unknown_names():
    """A transformation that changes the arguments forgets their names."""
    assert wrapped(negative).debug_info.arg_names == ("x",)
    assert wrapped(negative).with_unknown_names().debug_info.arg_names is None
    fun, _ = linear_util.transformation_with_aux2(with_sign, wrapped(negative), unk_names=True)
    assert fun.debug_info.arg_names is None
    assert linear_util.wrap_init(negative).with_unknown_names().debug_info is None


@pytest.mark.parametrize("flatten, args", [(flatten_fun, ((1, 2), {})), (flatten_fun_nokwargs, (1, 2))])
def test_flatten_fun_options(flatten, args):
    """The structure of the result may be stored again where asked."""
    flat, in_tree = jax.tree.flatten(args)
    fun, out_tree = flatten(linear_util.wrap_init(lambda x, y: {"a": x, "b": y}), in_tree, use_eq_store=True)
    assert list(fun.call_wrapped(*flat)) == list(fun.call_wrapped(*flat)) == [1, 2]
    assert out_tree() == jax.tree.structure({"a": 0, "b": 0})


def test_flatten_axes_says_how_to_write_the_specification():
    """For a tuple of arguments the message has a remedy; ``kws`` is for ``(args, kwargs)``."""
    structure = jax.tree.structure(({"a": 1, "b": 2}, 3))
    assert flatten_axes("in_axes", structure, (0, 1), tupled_args=True) == [0, 0, 1]
    assert flatten_axes("in_axes", structure, (0, 1), kws=True) == [0, 0, 1]
    with pytest.raises(ValueError, match="tuple with one entry"):
        flatten_axes("in_axes", structure, [0, 1], tupled_args=True)
    with pytest.raises(ValueError, match="not the structure of \\(args, kwargs\\)"):
        flatten_axes("in_axes", jax.tree.structure((1, 2, 3)), 0, kws=True)


def test_name_stacks_can_be_extended_and_replaced():
    """Leaving a context puts back what was there."""
    with source_info_util.extend_name_stack("a") as names:
        assert str(names) == "a" == str(source_info_util.current_name_stack())
        with source_info_util.set_name_stack(source_info_util.new_name_stack("q")), source_info_util.transform_name_stack("r"):
            assert str(source_info_util.current_name_stack()) == "q/r()"
            assert source_info_util.current().name_stack == ("q", "r")
        scope = source_info_util.extend_name_stack("b")
        with scope:
            assert scope.name == "b" and str(scope.prev) == "a"
    assert not source_info_util.current_name_stack().stack
    with pytest.raises(TypeError, match="extend_name_stack: name must be a string"):
        source_info_util.extend_name_stack(3)


def test_a_place_under_other_scopes():
    """Only the names change."""
    here = source_info_util.current()
    moved = here.replace(name_stack=source_info_util.new_name_stack("a"))
    assert moved.name_stack == ("a",) and str(moved) == str(here) and here.replace() is here


def test_work_on_behalf_of_an_equation_counts_as_written_where_it_was():
    """As interpreters of jaxprs ask for it; the names are those in force."""
    with jax.named_scope("inner"):
        eqn, = jax.make_jaxpr(jax.numpy.negative)(1.0).jaxpr.eqns

    def again(x, place):
        with jax.named_scope("outer"), source_info_util.user_context(place):
            return eqn.primitive.bind(x, **eqn.params)
    there, here = (jax.make_jaxpr(again, static_argnums=1)(1.0, place).jaxpr.eqns[0].source_info
                   for place in (eqn.source_info.traceback, source_info_util.new_source_info().traceback))
    assert str(there) == str(eqn.source_info) != str(here) and "again" in str(here)
    assert str(there.name_stack) == str(here.name_stack) == "outer"
    assert str(jax.make_jaxpr(again, static_argnums=1)(1.0, None).jaxpr.eqns[0].source_info) == str(here)  # left as it was found


def test_an_equation_knows_the_expression_it_comes_from():
    """As tools that annotate programs (jaxls) ask for it."""
    from jax._src import source_info_util as internal

    def f(x):
        return jax.lax.add(
            x, x)
    eqn, = jax.make_jaxpr(f)(1.0).eqns
    frame = internal.user_frame(eqn.source_info.traceback)
    line = f.__code__.co_firstlineno
    indent = 8 + len("return ")
    assert frame == internal.Frame(__file__, frame.function_name, line + 1, indent, line + 2, 8 + len("    x, x)"))
    assert frame.function_name.endswith("f") and [frame] == list(internal.user_frames(eqn.source_info))
    for unknown in (None, source_info_util.new_source_info(), source_info_util.new_source_info().traceback):
        assert internal.user_frame(unknown) is None and not list(internal.user_frames(unknown))
    with pytest.raises(TypeError, match="user_frame: traceback"):
        internal.user_frame("file.py")


def test_taken_trace_is_kept():
    """Inside, plain evaluation; the context knows what was there."""
    def f(x):
        taken = core.take_current_trace()
        with taken as trace:
            assert taken.prev is trace and jax.core.trace_state_clean()
        return x
    jax.jit(f)(1.0)


def test_primitives_on_arrays_are_not_high_level():
    assert not core.Primitive("test").is_high(jax.core.ShapedArray((), float))


@pytest.mark.parametrize("name", ["slice_index", "partition_index", "mtls_cert_file", "mtls_key_file", "mtls_ca_file",
                                  "mtls_peer_uri_prefix", "verify_secure_credentials"])
def test_distributed_refuses_what_it_cannot_do(name):
    """An argument about security is never ignored."""
    with pytest.raises(NotImplementedError, match=f"{name}=1 is not supported"):
        jax.distributed.initialize("localhost:1", 1, 0, **{name: 1})


def test_name_stacks_print_transformations_around_the_scope_that_follows():
    empty = source_info_util.NameStack()
    assert str(empty) == ""
    assert str(empty.extend("a").transform("vmap")) == "a/vmap()"
    assert str(empty.transform("jit").transform("vmap").extend("b").extend("c")) == "jit(vmap(b))/c"
    assert str(empty.extend("a").transform("jit").extend("x").transform("vmap").extend("b")) == "a/jit(x)/vmap(b)"
    assert str(empty.transform("jit") + empty.extend("z").transform("g")) == "jit(z)/g()"
    assert len(empty.extend("a").transform("jit")) == 2


def test_a_token_waits_for_its_array():
    class Buffer:
        waited = False

        def block_until_ready(self):
            self.waited = True
    buffer = Buffer()
    assert core.Token(buffer).block_until_ready() is None and buffer.waited


@pytest.mark.parametrize("transform", [jax.jit, jax.grad, lambda f: lambda x: jax.vmap(f)(jax.numpy.ones(3)),
                                       lambda f: lambda x: jax.jit(jax.vmap(jax.grad(f)))(jax.numpy.ones(3))],
                         ids=["jit", "grad", "vmap", "jit of vmap of grad"])
def test_traces_say_whether_they_are_at_work(transform):
    kept = []

    def f(x):
        trace = x._trace
        kept.append(trace)
        assert trace.is_valid() and trace.full_raise(x) is x and trace.stage_value(2.0) == 2.0
        inside = []
        jax.jit(lambda y: [inside.append(trace.is_valid()), y][1])(1.0)
        assert inside == [True]  # one below is at work too
        with pytest.raises(jax.errors.ConcretizationTypeError, match="traceback is a property of concrete arrays"):
            x.traceback
        return x * 2
    transform(f)(1.0)
    assert kept and not any(trace.is_valid() for trace in kept)


class Twice(core.Primitive):
    """Rules as methods, as kfac-jax writes its tags."""
    multiple_results = True

    def __init__(self):
        super().__init__("twice")
        self.bound = []
        jax.interpreters.mlir.register_lowering(self, jax.interpreters.mlir.lower_fun(lambda x, *, of: [x * 2], True))

    def impl(self, x, *, of):
        return [x * 2 + 100]  # told from what is compiled

    def abstract_eval(self, x, *, of):
        return [x], core.no_effects


class Heard(Twice):
    def bind_with_trace(self, trace, args, avals, params):
        self.bound.append(avals)
        return super().bind_with_trace(trace, args, avals, params)


@pytest.mark.parametrize("kind", [Twice, Heard])
def test_rules_of_primitives_may_be_methods(kind):
    """The types, the eager result, the compiled one; `bind_with_trace` hears of each."""
    twice = kind()
    assert twice.bind(3, of="x") == [106] and jax.eval_shape(lambda x: twice.bind(x, of=1), 1.0)[0].shape == ()
    assert jax.jit(lambda x: twice.bind(x, of=2))(jax.numpy.arange(2))[0].tolist() == [0, 2]
    assert [aval[0].str_short() for aval in twice.bound] == (["int32[]", "float32[]", "int32[2]"] if kind is Heard else [])


def test_every_primitive_is_an_instance_of_the_public_class():
    """Type checkers ask, as jaxtyping's in quax' tests; classes derived from it hold their own alone."""
    twice = Twice()
    for primitive in core.primitives.add_p, core.primitives.scan_p, core.primitives.jit_p, core.Primitive("mine"), twice:
        assert isinstance(primitive, core.Primitive) and issubclass(type(primitive), core.Primitive)
        assert isinstance(primitive, Twice) == (primitive is twice) == issubclass(type(primitive), Twice)
    assert not isinstance("add", core.Primitive) and not issubclass(str, core.Primitive)


@pytest.mark.parametrize("bound, found", [(lambda trace, args, params: params, {"n": 1}),
                                          (lambda trace, args, avals, params: (avals[0].shape, params), ((), {"n": 1})),
                                          (lambda trace, args, *rest: len(rest), 2)])
def test_who_binds_gets_types_if_there_is_place_for_them(bound, found):
    primitive = core.Primitive("bound")
    primitive.def_bind_with_trace(bound)
    assert primitive.bind(1.0, n=1) == found
