"""Pickles that the public jax wrote are read, and public classes are pickled under the names that it has for them."""
import base64
import pickle
import subprocess
import sys

import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax.experimental.layout import Layout

WRITTEN = {  # by the public jax 0.12.0, with protocol 4
    "array": (
        "gASVzwAAAAAAAACMDmpheC5fc3JjLmFycmF5lIwSX3JlY29uc3RydWN0X2FycmF5lJOUKIwWbnVtcHkuX2NvcmUubXVsdGlhcnJheZSMDF9yZWNvbnN0cn"
        "VjdJSTlIwFbnVtcHmUjAduZGFycmF5lJOUSwCFlEMBYpSHlChLAUsDhZRoBowFZHR5cGWUk5SMAmY0lImIh5RSlChLA4wBPJROTk5K/////0r/////SwB0"
        "lGKJQwwAAAAAAACAPwAAAECUdJR9lIwJd2Vha190eXBllIlzdJRSlC4="),
    "weak": (
        "gASVxAAAAAAAAACMDmpheC5fc3JjLmFycmF5lIwSX3JlY29uc3RydWN0X2FycmF5lJOUKIwWbnVtcHkuX2NvcmUubXVsdGlhcnJheZSMDF9yZWNvbnN0cn"
        "VjdJSTlIwFbnVtcHmUjAduZGFycmF5lJOUSwCFlEMBYpSHlChLASloBowFZHR5cGWUk5SMAmY0lImIh5RSlChLA4wBPJROTk5K/////0r/////SwB0lGKJ"
        "QwQAAABAlHSUfZSMCXdlYWtfdHlwZZSIc3SUUpQu"),
    "narrow": (
        "gASV1QAAAAAAAACMDmpheC5fc3JjLmFycmF5lIwSX3JlY29uc3RydWN0X2FycmF5lJOUKIwWbnVtcHkuX2NvcmUubXVsdGlhcnJheZSMDF9yZWNvbnN0cn"
        "VjdJSTlIwFbnVtcHmUjAduZGFycmF5lJOUSwCFlEMBYpSHlChLAUsChZRoBowFZHR5cGWUk5SMCW1sX2R0eXBlc5SMCGJmbG9hdDE2lJOUiYiHlFKUKEsD"
        "jAE8lE5OTksCSwJLQHSUYolDBIA/gD+UdJR9lIwJd2Vha190eXBllIlzdJRSlC4="),
    "spec": (
        "gASVUgAAAAAAAACMA2pheJSMAVCUk5SMAWGUTowBYpSMAWOUhpSHlH2UKIwJdW5yZWR1Y2VklCiRlIwHcmVkdWNlZJQokZSMDnVucmVkdWNlZF9raW5klE"
        "51kpQu"),
    "typed_key": (
        "gASVwwEAAAAAAACMFGpheC5fc3JjLnJhbmRvbS5wcm5nlIwMUFJOR0tleUFycmF5lJOUKYGUfZQojAVfaW1wbJRoAIwIUFJOR0ltcGyUk5QoSwKFlIwcam"
        "F4Ll9zcmMucmFuZG9tLnRocmVlZnJ5MngzMpSMDXRocmVlZnJ5X3NlZWSUk5RoCYwOdGhyZWVmcnlfc3BsaXSUk5RoCYwUdGhyZWVmcnlfcmFuZG9tX2Jp"
        "dHOUk5RoCYwQdGhyZWVmcnlfZm9sZF9pbpSTlIwMdGhyZWVmcnkyeDMylIwDZnJ5lHSUgZSMCV9jb25zdW1lZJSJjAtfYmFzZV9hcnJheZSMDmpheC5fc3"
        "JjLmFycmF5lIwSX3JlY29uc3RydWN0X2FycmF5lJOUKIwWbnVtcHkuX2NvcmUubXVsdGlhcnJheZSMDF9yZWNvbnN0cnVjdJSTlIwFbnVtcHmUjAduZGFy"
        "cmF5lJOUSwCFlEMBYpSHlChLAUsChZRoHowFZHR5cGWUk5SMAnU0lImIh5RSlChLA4wBPJROTk5K/////0r/////SwB0lGKJQwgAAAAABwAAAJR0lH2UjA"
        "l3ZWFrX3R5cGWUiXN0lFKUdWIu"),
    "fast_key": (
        "gASVpQEAAAAAAACMFGpheC5fc3JjLnJhbmRvbS5wcm5nlIwMUFJOR0tleUFycmF5lJOUKYGUfZQojAVfaW1wbJRoAIwIUFJOR0ltcGyUk5QoSwSFlIwTam"
        "F4Ll9zcmMucmFuZG9tLnJiZ5SMCV9yYmdfc2VlZJSTlGgJjApfcmJnX3NwbGl0lJOUaAmMEF9yYmdfcmFuZG9tX2JpdHOUk5RoCYwMX3JiZ19mb2xkX2lu"
        "lJOUjANyYmeUaBJ0lIGUjAlfY29uc3VtZWSUiYwLX2Jhc2VfYXJyYXmUjA5qYXguX3NyYy5hcnJheZSMEl9yZWNvbnN0cnVjdF9hcnJheZSTlCiMFm51bX"
        "B5Ll9jb3JlLm11bHRpYXJyYXmUjAxfcmVjb25zdHJ1Y3SUk5SMBW51bXB5lIwHbmRhcnJheZSTlEsAhZRDAWKUh5QoSwFLBIWUaB2MBWR0eXBllJOUjAJ1"
        "NJSJiIeUUpQoSwOMATyUTk5OSv////9K/////0sAdJRiiUMQAAAAAAcAAAAAAAAABwAAAJR0lH2UjAl3ZWFrX3R5cGWUiXN0lFKUdWIu"),
    "description": (
        "gASVxAAAAAAAAACMA2pheJSMEFNoYXBlRHR5cGVTdHJ1Y3SUk5QpgZROfZQojAVzaGFwZZRLAksDhpSMBWR0eXBllIwFbnVtcHmUjAVkdHlwZZSTlIwCaT"
        "GUiYiHlFKUKEsDjAF8lE5OTkr/////Sv////9LAHSUYowJX3NoYXJkaW5nlE6MBF9kbGyUTowJd2Vha190eXBllImMEG1hbnVhbF9heGlzX3R5cGWUTowG"
        "aXNfcmVmlImMDV9tZW1vcnlfc3BhY2WUTnWGlGIu"),
    "precision": (
        "gASVKAAAAAAAAACMEGpheC5fc3JjLmxheC5sYXiUjAlQcmVjaXNpb26Uk5RLAoWUUpQu"),
    "mode": (
        "gASVNAAAAAAAAACMFGpheC5fc3JjLmxheC5zbGljaW5nlIwRR2F0aGVyU2NhdHRlck1vZGWUk5RLAYWUUpQu"),
    "dimensions": (
        "gASVRwAAAAAAAACMGGpheC5fc3JjLmxheC5jb252b2x1dGlvbpSMFENvbnZEaW1lbnNpb25OdW1iZXJzlJOUSwBLAYaUSwFLAIaUaAOHlIGULg=="),
    "axis_type": (
        "gASVJAAAAAAAAACMDWpheC5fc3JjLm1lc2iUjAhBeGlzVHlwZZSTlEsChZRSlC4="),
    "class": (
        "gASVEQAAAAAAAACMA2pheJSMBUFycmF5lJOULg=="),
    "unconstrained": (
        "gASVgwAAAAAAAACMA2pheJSMAVCUk5SMAXiUjBdqYXguX3NyYy5wYXJ0aXRpb25fc3BlY5SMGl9nZXRfZGVmYXVsdF91bmNvbnN0cmFpbmVklJOUKVKUhpR9"
        "lCiMCXVucmVkdWNlZJQokZSMB3JlZHVjZWSUKJGUjA51bnJlZHVjZWRfa2luZJROdZKULg=="),
    "layout": (
        "gASVaQAAAAAAAACMD2pheC5fc3JjLmxheW91dJSMBkxheW91dJSTlCmBlH2UKIwObWFqb3JfdG9fbWlub3KUSwFLAIaUjAZ0aWxpbmeUTowdc3ViX2J5dGVf"
        "ZWxlbWVudF9zaXplX2luX2JpdHOUSwB1Yi4="),
    "key_dtype": (
        "gASV1gAAAAAAAACMFGpheC5fc3JjLnJhbmRvbS5wcm5nlIwFS2V5VHmUk5QpgZR9lIwFX2ltcGyUaACMCFBSTkdJbXBslJOUKEsChZSMHGpheC5fc3JjLnJh"
        "bmRvbS50aHJlZWZyeTJ4MzKUjA10aHJlZWZyeV9zZWVklJOUaAmMDnRocmVlZnJ5X3NwbGl0lJOUaAmMFHRocmVlZnJ5X3JhbmRvbV9iaXRzlJOUaAmMEHRo"
        "cmVlZnJ5X2ZvbGRfaW6Uk5SMDHRocmVlZnJ5MngzMpSMA2ZyeZR0lIGUc2Iu"),
    "policy": (
        "gASVLAAAAAAAAACMFmpheC5fc3JjLmFkX2NoZWNrcG9pbnSUjA1kb3RzX3NhdmVhYmxllJOULg=="),
    "mesh": (
        "gASVjgAAAAAAAACMDWpheC5fc3JjLm1lc2iUjAxBYnN0cmFjdE1lc2iUk5RLBEsChpSMAWGUjAFilIaUaACMCEF4aXNUeXBllJOUSwKFlFKUaAqGlIeUfZ"
        "SMD2Fic3RyYWN0X2RldmljZZRoAIwOQWJzdHJhY3REZXZpY2WUk5QpgZRdlCiMA2NwdZROjANjcHWUZWJzkpQu"),
    "placement": (
        "gASV5wAAAAAAAACMF2pheC5fc3JjLm5hbWVkX3NoYXJkaW5nlIwYX3VucGlja2xlX25hbWVkX3NoYXJkaW5nlJOUKIwNamF4Ll9zcmMubWVzaJSMDEFic3"
        "RyYWN0TWVzaJSTlEsESwKGlIwBYZSMAWKUhpRoA4wIQXhpc1R5cGWUk5RLAoWUUpRoDYaUh5R9lIwPYWJzdHJhY3RfZGV2aWNllE5zkpSMA2pheJSMAVCU"
        "k5RoB4WUfZQojAl1bnJlZHVjZWSUKJGUjAdyZWR1Y2VklCiRlIwOdW5yZWR1Y2VkX2tpbmSUTnWSlE5OdJRSlC4="),
}
VALUES = {
    "array": jnp.arange(3.0), "weak": jnp.asarray(2.0) + 0, "narrow": jnp.ones(2, jnp.bfloat16), "spec": jax.P("a", None, ("b", "c")),
    "typed_key": jax.random.key(7, impl="threefry2x32"), "fast_key": jax.random.key(7, impl="rbg"),
    "description": jax.ShapeDtypeStruct((2, 3), jnp.int8), "precision": jax.lax.Precision.HIGHEST,
    "mode": jax.lax.GatherScatterMode.CLIP, "dimensions": jax.lax.ConvDimensionNumbers((0, 1), (1, 0), (0, 1)),
    "axis_type": jax.sharding.AxisType.Explicit, "class": jax.Array,
    "unconstrained": jax.P("x", jax.P.UNCONSTRAINED), "layout": Layout((1, 0)), "key_dtype": jax.random.key(0, impl="threefry2x32").dtype,
    "policy": jax.checkpoint_policies.dots_saveable,
    "mesh": jax.sharding.AbstractMesh((4, 2), ("a", "b"), abstract_device=jax.sharding.AbstractDevice("cpu", platform="cpu")),
    "placement": jax.NamedSharding(jax.sharding.AbstractMesh((4, 2), ("a", "b")), jax.P("a"))}


@pytest.mark.parametrize("name", VALUES)
def test_a_pickle_of_the_public_jax_is_read(name):
    got, want = pickle.loads(base64.b64decode(WRITTEN[name])), VALUES[name]
    if isinstance(want, jax.Array):
        assert got.dtype == want.dtype and got.weak_type == want.weak_type and type(got) is type(want)
        got, want = (jax.random.key_data(x) if name.endswith("key") else x for x in (got, want))
        np.testing.assert_array_equal(got, want)
    else:
        assert got == want


@pytest.mark.parametrize("name", ["array", "weak", "narrow", "spec", "class"])
def test_the_public_jax_reads_ours(name):
    """No name of our packages is in it."""
    assert b"jax_" not in pickle.dumps(VALUES[name], 4)


@pytest.mark.parametrize("value", [*VALUES.values(), jax.tree_util.Partial(np.sin, 1)], ids=lambda v: type(v).__name__)
@pytest.mark.parametrize("protocol", [2, 5])
def test_pickles_of_ours_come_back(value, protocol):
    got = pickle.loads(pickle.dumps(value, protocol))
    if isinstance(value, jax.tree_util.Partial):
        got, value = jax.tree.flatten(got), jax.tree.flatten(value)
    assert type(got) is type(value) and bool(np.all(got == value))


def test_public_classes_say_where_they_are_public():
    shown = [jax.Array, jax.ShapeDtypeStruct, jax.P, jax.NamedSharding, jax.tree_util.Partial, jax.dtypes.prng_key]
    assert " ".join(map(repr, shown)) == ("<class 'jax.Array'> <class 'jax.ShapeDtypeStruct'> <class 'jax.P'> <class 'jax.sharding.NamedSharding'> "
                                          "<class 'jax.tree_util.Partial'> <class 'jax.dtypes.prng_key'>")


@pytest.mark.parametrize("first_use", [
    f"pickle.loads(base64.b64decode({WRITTEN['array']!r}))",
    "importlib.import_module('jax.dlpack').from_dlpack(np.arange(3, dtype=np.float32))"], ids=["pickle", "dlpack"])
def test_an_array_that_comes_first_has_all_methods(first_use):
    """In a new process, as a worker of `multiprocessing` that is sent one: it had none, not even a shape."""
    code = f"import base64, importlib, pickle; import numpy as np; x = {first_use}; print(repr(x + 1), x.sum(), x[1], -x, 2 * x, x.at[0].set(7))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "Array([1., 2., 3.], dtype=float32) 3.0 1.0 [-0. -1. -2.] [0. 2. 4.] [7. 1. 2.]\n"


def test_tracers_that_come_first_have_all_methods():
    code = "from jax.ad_checkpoint import print_saved_residuals; print_saved_residuals(lambda x: 2 * x.sum(), 1.0); print('none')"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "none\n"


def test_loading_the_operators_needs_no_backend():
    """Else two threads, one of which loads the one and the other the other, could wait for each other."""
    code = "import jax_numpy_api.numpy, sys; print('jax_xla_backend.startup' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
