"""Flags do what they say: checks of references, constants folded while tracing, what checkpoint keeps, options of clients."""
import logging

import pytest

import jax
import jax.numpy as jnp
from jax_xla_backend.compiling.compile import compile_options
from jax_xla_backend.platforms.plugins import options_of_flags


@pytest.fixture
def setting():
    """Sets flags until the end of the test."""
    before = {}

    def set_flag(name, value):
        before.setdefault(name, getattr(jax.config, name))
        jax.config.update(name, value)
    yield set_flag
    for name, value in before.items():
        jax.config.update(name, value)


def test_references_that_come_twice_are_not_refused(setting):
    ref = jax.new_ref(1.0)

    @jax.jit
    def f(a, b):
        a[...] = b[...] + 1
    with pytest.raises(ValueError, match="twice"):
        f(ref, ref)
    setting("jax_mutable_array_checks", False)
    f(ref, ref)
    assert ref[...] == 2


def test_constants_are_folded_while_tracing(setting):
    f = lambda x: x + jnp.sin(jnp.arange(3.0))
    primitives = lambda: [e.primitive.name for e in jax.make_jaxpr(f)(1.0).eqns]
    assert "sin" in primitives()
    setting("eager_constant_folding", True)
    assert primitives() == ["add"] and jnp.allclose(jax.jit(f)(1.0), f(1.0))
    assert jax.vmap(lambda x: x + jax.lax.axis_index("i"), axis_name="i")(jnp.zeros(2)).tolist() == [0, 1]


def test_checkpoint_says_what_it_keeps(setting, caplog):
    f = jax.checkpoint(lambda x, y: jnp.sin(jnp.dot(x, y)), policy=jax.checkpoint_policies.dots_saveable)
    setting("jax_log_checkpoint_residuals", True)
    with caplog.at_level(logging.WARNING, "jax.checkpoint"):
        jax.grad(lambda x: f(x, x).sum())(jnp.ones((2, 2)))
    kept = [r.getMessage() for r in caplog.records]
    assert any("keeps its input 0, float32[2,2]" in text for text in kept)
    assert any("saves float32[2,2], output of dot_general" in text and __file__ in text for text in kept)


def test_warnings_of_large_constants_name_the_callers(setting):
    setting("jax_captured_constants_warn_bytes", 400)
    y = jnp.ones(100)

    def caller():
        return jax.jit(lambda x: x + y)(1.0)
    for frames, named in ((0, False), (1, True)):
        setting("jax_captured_constants_report_frames", frames)
        with pytest.warns(UserWarning, match="closes over 400 bytes") as found:
            caller()
        text = str(found[0].message)
        assert ("Traced at" in text) is named and ("(test_warnings_of_large_constants_name_the_callers.<locals>.caller)" in text) is named


def test_rematerialisation_by_the_compiler_can_be_switched_off(setting):
    passes = lambda: dict(compile_options(jax.devices()[:1]).env_option_overrides).get("xla_disable_hlo_passes", "")
    assert "rematerialization" not in passes()
    setting("jax_compiler_enable_remat_pass", False)
    assert "rematerialization" in passes()


def test_options_of_clients(setting):
    assert options_of_flags("cuda") == {}
    setting("jax_cuda_visible_devices", "0, 2")
    setting("jax_pjrt_client_create_options", "a:1;b:x;c:true")
    assert options_of_flags("cuda") == {"a": 1, "b": "x", "c": True, "visible_devices": [0, 2]}
    assert options_of_flags("tpu") == {"a": 1, "b": "x", "c": True}
    setting("jax_cuda_visible_devices", "first")
    with pytest.raises(ValueError, match="must be 'all' or numbers"):
        options_of_flags("cuda")
    setting("jax_pjrt_client_create_options", "a")
    with pytest.raises(ValueError, match="write name:value"):
        options_of_flags("cuda")
