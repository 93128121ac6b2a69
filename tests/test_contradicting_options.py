"""Options that contradict each other are refused before anything is done."""
import pytest

import jax
import jax.numpy as jnp

CONTRADICTIONS = {
    "saved and offloaded": lambda: jax.checkpoint_policies.save_and_offload_only_these_names(
        names_which_can_be_saved=["a", "b"], names_which_can_be_offloaded=["b"], offload_src="device", offload_dst="pinned_host"),
    "shared and given away": lambda: jax.device_put(jnp.ones(3), may_alias=True, donate=True),
    "static and donated, by position": lambda: jax.jit(lambda x, y: x, static_argnums=1, donate_argnums=(0, 1)),
    "static and donated, by name": lambda: jax.jit(lambda x, *, y: x, static_argnames="y", donate_argnames="y"),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_contradicting_options_are_refused(name):
    with pytest.raises(ValueError):
        CONTRADICTIONS[name]()
