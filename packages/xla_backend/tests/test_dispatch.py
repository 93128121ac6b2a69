"""Calls of compiled programs: what is repeated without Python, where programs run, donation, effects."""
import sys
import threading
import types

import numpy as np
import pytest

from jax_core.configuration import context, flags
from jax_core.representation.aval import ShapedArray
from jax_core.representation.effects import Effect
from jax_xla_backend.arrays.device_put import device_put
from jax_xla_backend.jaxlib_compat import VERSION
from jax_xla_backend.placement.mesh import AxisType, make_mesh
from jax_xla_backend.placement.partition_spec import PartitionSpec as P
from jax_xla_backend.placement.sharding import NamedSharding
from jax_xla_backend.platforms import client
from jax_xla_backend.running import dispatch, tokens
from programs import F4, Module, array, doubled, executable, jitted, main


def test_second_call_does_not_reach_python():
    f = jitted(doubled())
    assert [f(array()).tolist() for _ in range(3)] == [[0, 2, 4, 6]] * 3
    assert f.misses == 1
    assert f(array(1, 2, 3, 4)).tolist() == [2, 4, 6, 8] and f.misses == 1


def test_numpy_arguments_are_dispatched_too():
    f = jitted(doubled())
    assert [f(np.arange(4, dtype=np.float32)).tolist() for _ in range(2)] == [[0, 2, 4, 6]] * 2
    assert f.misses == 1


def test_result_type_is_that_of_the_program():
    weak = ShapedArray((4,), np.dtype(np.float32), True)
    module = doubled()
    module.facts = module.facts._replace(out_avals=[weak])
    f = jitted(module)
    assert [f(array()).aval for _ in range(2)] == [weak, weak]


@pytest.mark.parametrize("state, here, there", [(flags.enable_x64, False, True), (flags.numpy_rank_promotion, "allow", "raise"),
                                                (flags.disable_jit, False, True)], ids=lambda x: getattr(x, "name", None))
def test_configuration_is_part_of_the_key(state, here, there):
    """Both values are set: what the environment or an earlier test left in force does not count."""
    f = jitted(doubled())
    with state(here):
        f(array())
        with state(there):
            f(array())
            f(array())
            assert f.misses == 2
        f(array())
        assert f.misses == 2


def test_every_call_under_a_trace_reaches_python():
    f = jitted(doubled())
    f(array())
    with context.Use(object()):
        f(array())
        assert f.misses == 2
    f(array())
    assert f.misses == 2


def test_a_trace_of_another_thread_is_none_of_ours():
    f = jitted(doubled())
    f(array())
    inside, done = threading.Event(), threading.Event()

    def other():
        with context.Use(object()):
            inside.set()
            done.wait()
    thread = threading.Thread(target=other, daemon=True)
    thread.start()
    inside.wait()
    f(array())
    done.set()
    thread.join()
    assert f.misses == 1


def test_constants_come_first_and_unused_arguments_are_dropped():
    module = Module(main("(%c: tensor<4xf32>, %a: tensor<4xf32>) -> tensor<4xf32>",
                         "%0 = stablehlo.add %a, %c : tensor<4xf32> return %0 : tensor<4xf32>"),
                    [F4], [F4], kept=(1,), consts=[np.full(4, 10, np.float32)])
    f = jitted(module)
    for _ in range(3):
        assert f(array(7, 7, 7, 7), array()).tolist() == [10, 11, 12, 13]
    assert f.misses == 1


def test_runs_where_the_arguments_are():
    d = client.devices()[3]
    f = jitted(doubled())
    assert not f(array()).committed
    for _ in range(2):
        y = f(device_put(array(), d))
        assert y.committed and y.device is d
    assert f.misses == 2


@pytest.mark.only_cpu
def test_arguments_on_different_devices():
    d = client.devices()
    module = Module(main("(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32>",
                         "%0 = stablehlo.add %a, %b : tensor<4xf32> return %0 : tensor<4xf32>"), [F4, F4], [F4])
    f = jitted(module)
    message = r"incompatible devices.*argument 0 with shape float32\[4\] on cpu devices \[1\]; argument 1 .*\[2\]"
    with pytest.raises(ValueError, match=message):
        f(device_put(array(), d[1]), device_put(array(), d[2]))
    assert f(device_put(array(), d[1]), array()).device is d[1]


def test_split_arguments_give_split_results():
    mesh = make_mesh((4, 2), ("x", "y"), (AxisType.Auto,) * 2)
    sharding = NamedSharding(mesh, P("x"))
    module = Module(main('(%a: tensor<4xf32> {mhlo.sharding = "{devices=[4,2]<=[8] last_tile_dim_replicate}"})'
                         " -> tensor<4xf32>",
                         "%0 = stablehlo.add %a, %a : tensor<4xf32> return %0 : tensor<4xf32>"), [F4], [F4])
    with flags.use_shardy_partitioner(False):
        f = jitted(module)
        for _ in range(2):
            y = f(device_put(array(), sharding))
            assert y.sharding == sharding and y.tolist() == [0, 2, 4, 6]
    assert f.misses == 1


def donating() -> Module:
    return Module(main("(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32>",
                       "%0 = stablehlo.add %a, %a : tensor<4xf32> return %0 : tensor<4xf32>"), [F4], [F4], donated=(0,))


def test_donated_array_names_the_function(capfd):
    f, g = jitted(donating(), "train", donate_argnums=(0,)), jitted(doubled())
    message = r"^Array has been deleted with shape=float32\[4\]\. It was donated to `(train|main)`"
    for _ in range(3):  # the first call goes through Python, the others do not
        x = array()
        assert f(x).tolist() == [0, 2, 4, 6] and x.is_deleted()
        for use in (f, np.asarray, repr):
            with pytest.raises(RuntimeError, match=message):
                use(x)
    assert f.misses == 1 and capfd.readouterr().err == ""
    g(array())
    with pytest.raises((RuntimeError, ValueError), match="deleted or donated" if VERSION < (0, 11, 2) else message):
        g(x)


def test_threads_that_donate_the_same_arrays():
    """One of them gets each array, the others an error; none uses a handle that another takes away (the process would end)."""
    arrays, wins, losses = [array() for _ in range(50)], [], []
    f = jitted(donating(), "train", donate_argnums=(0,))

    def use():
        for x in arrays:
            try:
                wins.append(f(x).tolist())
            except RuntimeError as error:
                losses.append(str(error))
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    threads = [threading.Thread(target=use) for _ in range(8)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert wins == [[0, 2, 4, 6]] * 50 and len(losses) == 350
    assert all(text.startswith("Array has been deleted") for text in losses)


@pytest.mark.parametrize("words", ["Array has been deleted or donated", "INVALID_ARGUMENT: Donation requested for invalid buffer"])
def test_an_array_that_another_thread_donates_is_named(words, monkeypatch):
    """Plugins say so in other words, and as a ValueError."""
    def taken(*args):
        raise ValueError(words)
    monkeypatch.setattr(dispatch._jax, "pjit", lambda *args: types.SimpleNamespace(_cache_size=None, _clear_cache=None))
    f = dispatch.dispatcher(taken, taken, (), (), "train", donate_argnums=(0,))
    monkeypatch.setattr(f, "_call", taken)
    with pytest.raises(RuntimeError, match="Array has been deleted, by a call in another thread"):
        f(array())


def test_a_view_outlives_donation():
    f, x = jitted(donating(), "train", donate_argnums=(0,)), array()
    f(array())
    view = np.asarray(x)
    f(x)
    assert view.tolist() == [0, 1, 2, 3]


def test_same_text_compiles_once():
    from jax_xla_backend.compiling import compile

    jitted(doubled())(array())
    before = dict(compile.counts)
    jitted(doubled())(array())
    assert compile.counts == before


class Unordered(Effect):
    pass


CALLBACK = ("%0 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%a) {api_version = 4 : i32, has_side_effect = true, "
            "backend_config = {index = 0 : ui64}} : (tensor<4xf32>) -> tensor<4xf32> return %0 : tensor<4xf32>")


@pytest.mark.only_cpu
def test_programs_that_call_the_host_follow_each_other_without_tokens():
    seen = []

    def note(x):
        seen.append(float(x[0]))
        return (x,)
    module = Module(main("(%a: tensor<4xf32>) -> tensor<4xf32>", CALLBACK), [F4], [F4], callbacks=[note])
    f = jitted(module)
    for i in range(20):
        f(array(*[i] * 4))
    tokens.effects_barrier()
    assert seen == list(range(20))


@pytest.mark.only_cpu
def test_barrier_waits_for_unordered_effects():
    import time

    seen = []

    def slow(x):
        time.sleep(0.05)
        seen.append(1)
        return (x,)
    module = Module(main("(%a: tensor<4xf32>) -> tensor<4xf32>", CALLBACK), [F4], [F4],
                    unordered=[Unordered()], callbacks=[slow])
    f = jitted(module)
    for _ in range(3):
        f(array())
    tokens.effects_barrier()
    assert len(seen) == 3


def test_executable_shows_what_was_compiled():
    e = executable(doubled())
    e.execute([array()])
    assert "HloModule" in e.as_text()
    assert e.cost_analysis()["flops"] == 4.0
    assert e.memory_analysis().argument_size_in_bytes == 16
    assert len(e.serialize()) > 100 and e.in_shardings == e.out_shardings
    assert e.in_formats[0].layout.major_to_minor == (0,) and e.out_formats == e.in_formats


def test_many_threads_call_at_once():
    f, errors = jitted(doubled()), []

    def work():
        try:
            for _ in range(50):
                assert f(array()).tolist() == [0, 2, 4, 6]
        except BaseException as error:
            errors.append(error)
    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors
