"""Flags: values, overrides, environment, command line, trace keys and change callbacks."""

import os
import subprocess
import sys
import threading

import pytest

from jax_core.configuration import engine, flags
from jax_core.configuration.engine import on_change, trace_key
from jax_core.configuration.flags import config, debug_nans, enable_x64, numpy_rank_promotion


@pytest.fixture
def flag():
    """A fresh boolean flag that nobody else reads."""
    state = engine.define_bool("jax_test_flag", False, "For tests.", affects_tracing=True)
    yield state
    del engine._states["jax_test_flag"]
    engine._tracing_states.remove(state)
    engine._forget_keys()


def _run(code, *arguments, **environment):
    """Run Python in a fresh process; return what it printed."""
    import os
    clean = {k: v for k, v in os.environ.items() if not k.startswith("JAX_")}
    result = subprocess.run([sys.executable, "-c", code, *arguments], env={**clean, **environment},
                            capture_output=True, text=True)
    return (result.stdout + result.stderr.strip().rpartition("\n")[2]).strip()


def test_update_sets_the_flag_for_every_thread(flag):
    config.update("jax_test_flag", True)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(flag.value))
    thread.start()
    thread.join()
    assert flag.value is True and seen == [True] and config.jax_test_flag and config.read("jax_test_flag")
    assert config.values["jax_test_flag"] is True


def test_an_override_is_of_one_thread_and_ends(flag):
    seen = []
    with flag(True):
        thread = threading.Thread(target=lambda: seen.append((flag.value, trace_key().values[-1])))
        thread.start()
        thread.join()
        assert flag.value is True and trace_key().values[-1] is True
    assert seen == [(False, False)] and flag.value is False


def test_an_override_outlives_an_update_within(flag):
    with flag(True):
        config.update("jax_test_flag", False)
        assert flag.value is True
    assert flag.value is False


def test_overrides_nest_and_one_object_can_be_entered_again(flag):
    override = flag(True)
    with override:
        with flag(False):
            assert flag.value is False
            with override:
                assert flag.value is True
            assert flag.value is False
        assert flag.value is True
    assert flag.value is False


def test_an_override_ends_with_an_exception(flag):
    with pytest.raises(KeyError), flag(True):
        raise KeyError
    assert flag.value is False


def test_an_override_is_also_a_decorator(flag):
    @flag(True)
    def read(n):
        return [flag.value] + (read(n - 1) if n else [])
    assert read(2) == [True, True, True] and flag.value is False


def test_a_boolean_flag_needs_no_argument_and_others_do(flag):
    with flag():
        assert flag.value is True
    with pytest.raises(TypeError, match=r"config flag jax_numpy_rank_promotion needs the new value"):
        numpy_rank_promotion()


def test_equal_flags_give_the_same_trace_key():
    before = trace_key()
    with enable_x64(not enable_x64.value):
        within = trace_key()
        assert within is not before and trace_key() is within
        assert list(within.differences(before)) == ["jax_enable_x64"]
    assert trace_key() is before
    with debug_nans(debug_nans.value):
        assert trace_key() is before
    with enable_x64(not enable_x64.value):
        assert trace_key() is within


def test_flags_that_do_not_affect_tracing_leave_the_trace_key():
    before = trace_key()
    with flags.log_compiles(True):
        assert trace_key() is before


def test_threads_agree_on_trace_keys(flag):
    keys = []

    def collect():
        for value in (True, False) * 50:
            with flag(value):
                keys.append((value, trace_key()))

    threads = [threading.Thread(target=collect) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(key) for value, key in keys}) == 2
    assert all(key.values[-1] is value for value, key in keys)
    assert engine._overrides_in_force == 0


def test_change_callbacks_see_the_present_value_updates_and_overrides(flag):
    seen = []
    on_change("jax_test_flag", lambda value, thread_local: seen.append((value, thread_local)))
    config.update("jax_test_flag", True)
    with flag(False):
        with flag(True):
            pass
    assert seen == [(False, False), (True, False), (False, True), (True, True), (False, True), (None, True)]


@pytest.mark.parametrize("name, bad, message", [
    ("jax_enable_x64", "banana", "value='banana': config flag jax_enable_x64 must be of type bool."),
    ("jax_numpy_rank_promotion", "maybe",
     "config flag jax_numpy_rank_promotion must be one of ['allow', 'warn', 'raise'], got 'maybe'."),
    ("jax_num_cpu_devices", 1.5, "config flag jax_num_cpu_devices must be of type int, got 1.5."),
    ("jax_compilation_cache_dir", 3, "config flag jax_compilation_cache_dir must be None or of type str, got 3."),
])
def test_a_value_of_the_wrong_kind_is_refused(name, bad, message):
    before = config.read(name)
    with pytest.raises(ValueError) as error:
        config.update(name, bad)
    assert str(error.value) == message and config.read(name) == before


def test_an_unknown_flag_is_refused_with_the_nearest_name():
    with pytest.raises(AttributeError) as error:
        config.update("jax_enable_x46", True)
    assert str(error.value) == "Unrecognized config option: jax_enable_x46; did you mean jax_enable_x64?"
    assert not hasattr(config, "jax_nonsense")


def test_assignment_says_to_use_update():
    with pytest.raises(AttributeError, match=r"set config flags with config.update\('jax_enable_x64', True\)"):
        config.jax_enable_x64 = True


def test_a_flag_object_is_not_a_truth_value():
    with pytest.raises(TypeError, match="read `.value` of it"):
        bool(enable_x64)


def test_enumerations_accept_strings_and_compare_with_them():
    with flags.numpy_dtype_promotion("strict"):
        assert config.jax_numpy_dtype_promotion == "strict"
        assert config.jax_numpy_dtype_promotion is flags.NumpyDtypePromotion.STRICT


def test_transfer_guard_sets_all_directions():
    names = ["jax_transfer_guard"] + [f"jax_transfer_guard_{d}" for d in
                                      ("host_to_device", "device_to_device", "device_to_host")]
    with flags.transfer_guard("log"):
        assert [config.read(name) for name in names] == ["log"] * 4
    assert [config.read(name) for name in names] == [None] * 4
    try:
        config.update("jax_transfer_guard", "disallow")
        assert [config.read(name) for name in names] == ["disallow"] * 4
    finally:
        for name in names:
            config.update(name, None)


READ = "from jax_core.configuration.flags import config; print({})"


def test_environment_variables_give_first_values():
    code = READ.format("config.jax_enable_x64, config.jax_num_cpu_devices, config.jax_numpy_rank_promotion,"
                       " config.jax_transfer_guard_device_to_host")
    assert _run(code, JAX_ENABLE_X64="yes", JAX_NUM_CPU_DEVICES="4", JAX_NUMPY_RANK_PROMOTION="warn",
                JAX_TRANSFER_GUARD="log") == "True 4 warn log"


@pytest.mark.parametrize("name, text, message", [
    ("JAX_ENABLE_X64", "banana", "config flag jax_enable_x64 must be of type bool."),
    ("JAX_NUM_CPU_DEVICES", "two", "config flag jax_num_cpu_devices must be of type int."),
    ("JAX_NUMPY_RANK_PROMOTION", "x",
     "config flag jax_numpy_rank_promotion must be one of ['allow', 'warn', 'raise']."),
])
def test_a_bad_environment_variable_is_named(name, text, message):
    assert _run("import jax_core.configuration.flags", **{name: text}) == (
        f"ValueError: environment variable {name}={text!r}: {message}")


PARSE = """
from jax_core.configuration.flags import config
config.parse_flags_with_absl()
print(config.jax_debug_nans, config.jax_enable_checks, config.jax_pprint_use_color, config.jax_logging_level)
"""


def test_flags_are_taken_from_the_command_line():
    assert _run(PARSE, "--jax_debug_nans=True", "--jax_enable_checks", "--nojax_pprint_use_color",
                "--jax_logging_level", "DEBUG", "--other=1", "file") == "True True False DEBUG"


def test_the_command_line_is_read_up_to_two_dashes():
    assert _run(PARSE, "--jax_debug_nans=1", "--", "--jax_enable_checks") == "True False True NOTSET"


def test_a_bad_value_on_the_command_line_is_named():
    assert _run(PARSE, "--jax_debug_nans=maybe") == (
        "ValueError: --jax_debug_nans='maybe': config flag jax_debug_nans must be of type bool.")


def test_absl_programs_accept_the_flags():
    pytest.importorskip("absl")
    code = """
from absl import app, flags
from jax_core.configuration.flags import config
flags.DEFINE_integer("own", 1, "")
config.config_with_absl()
app.run(lambda argv: print(flags.FLAGS.own, config.jax_debug_nans, config.jax_numpy_rank_promotion))
"""
    assert _run(code, "--own=2", "--jax_debug_nans=true", "--jax_numpy_rank_promotion=raise") == "2 True raise"


def test_flags_of_others_can_be_read_once_ours_are_parsed():
    """As tests of libraries do under pytest (jax-md), where no `absl.app.run` comes."""
    pytest.importorskip("absl")
    code = """
from absl import app, flags
from jax_core.configuration.flags import config
flags.DEFINE_integer("own", 1, "")
config.parse_flags_with_absl()
print(flags.FLAGS.own, flags.FLAGS.jax_debug_nans, end=" ")
app.run(lambda argv: print(flags.FLAGS.own))
"""
    assert _run(code, "--own=2", "--jax_debug_nans=true") == "1 True 2"


def test_every_documented_flag_exists_with_the_references_default():
    """Where ours differs, the reason stands beside the definition."""
    got = _run(READ.format("{k: getattr(config, k) for k in ("
                           "'jax_enable_x64', 'jax_default_matmul_precision', 'jax_default_prng_impl',"
                           "'jax_threefry_partitionable', 'jax_persistent_cache_min_compile_time_secs',"
                           "'jax_traceback_filtering', 'check_vma', 'jax_default_device')}"))
    assert got == str({
        "jax_enable_x64": False, "jax_default_matmul_precision": None, "jax_default_prng_impl": "threefry2x32",
        "jax_threefry_partitionable": False, "jax_persistent_cache_min_compile_time_secs": 0.0,
        "jax_traceback_filtering": "auto", "check_vma": False, "jax_default_device": None})


def test_the_process_wide_value_is_read_under_an_override(flag):
    with flag(True):
        assert flag.value is True and flag.get_global() is False
    context = engine.make_user_context(1)
    assert not [name for name in engine.Config().values if "user_context" in name]
    with context(2):
        context.set_global(3)
        assert (context.value, context.get_global()) == (2, 3)
    context.set_global(1)
    for make in (engine.make_user_context, context, context.set_global):
        with pytest.raises(TypeError, match="jax_user_context.*hashable"):
            make({"a": 1})


LOGS = """
import logging
from jax_core.configuration.flags import config
log = logging.getLogger("jax.compile")
config.update("jax_logging_level", "{level}")
log.debug("debug %s", 1); log.warning("warning %s", 2)
"""


@pytest.mark.parametrize("level, variables, wanted", [
    ("DEBUG", {}, [":jax.compile:6: debug 1", ":jax.compile:6: warning 2"]), ("WARNING", {}, [":jax.compile:6: warning 2"]),
    ("NOTSET", {"JAX_DEBUG_LOG_MODULES": "jax.compile"}, [":jax.compile:6: debug 1", ":jax.compile:6: warning 2"]),
    ("WARNING", {"JAX_DEBUG_LOG_MODULES": "jax,jax.compile"}, [":jax.compile:6: debug 1", ":jax.compile:6: warning 2"])])
def test_logging_flags_show_the_library_s_records_once(level, variables, wanted):
    done = subprocess.run([sys.executable, "-c", LOGS.format(level=level)], capture_output=True, text=True, env=os.environ | variables)
    lines = done.stderr.splitlines()
    assert len(lines) == len(wanted) and all(line.endswith(end) for line, end in zip(lines, wanted)), done.stderr


def test_a_block_that_was_entered_before_looks_at_no_flag(monkeypatch):
    """Its trace key is found again; a change for the whole process makes it anew."""
    made = []
    monkeypatch.setattr(engine, "_interned_key", lambda values, make=engine._interned_key: made.append(0) or make(values))

    def key():
        with flags.numpy_rank_promotion("raise"), flags.enable_x64(True):
            return engine.trace_key()
    first, count = key(), len(made)
    assert key() is first and len(made) == count
    before = flags.numpy_dtype_promotion.value
    try:
        config.update("jax_numpy_dtype_promotion", "strict")
        assert key() is not first
    finally:
        config.update("jax_numpy_dtype_promotion", before)
    assert key() is first
