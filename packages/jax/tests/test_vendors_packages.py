"""What the GPU vendors' packages ask of `jax` before they register their library: without it no GPU is found."""
import pytest

from jax._src import config, xla_bridge
from jax._src.lib import xla_client


@pytest.mark.parametrize("name", ["CUDA_VISIBLE_DEVICES", "_ROCM_VISIBLE_DEVICES", "_ONEAPI_VISIBLE_DEVICES"])
def test_which_devices_are_visible_is_a_text(name):
    flag = getattr(xla_bridge, name)
    assert flag.value.split(",") == ["all"]
    with flag("0,1"):
        assert flag.value.split(",") == ["0", "1"]


def test_platforms_and_options():
    assert config.jax_platforms.value is None or isinstance(config.jax_platforms.value, str)
    assert {"cuda", "rocm"} <= set(xla_bridge.expand_platform_alias("gpu"))
    assert isinstance(xla_client.generate_pjrt_gpu_plugin_options(), dict)


@pytest.mark.parametrize("name", ["call_handler", "call_target", "type", "type_handler"])
def test_registrations(name):
    assert callable(getattr(xla_client, f"register_custom_{name}"))


def test_a_library_that_is_not_there():
    with pytest.raises(Exception, match="/nowhere/plugin.so"):
        xla_bridge.register_plugin("nothing_of_this_name", priority=500, library_path="/nowhere/plugin.so",
                                   options=xla_client.generate_pjrt_gpu_plugin_options())
