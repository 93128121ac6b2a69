"""What a process must do: start quietly, survive fork with a clear error, and be interruptible. Each in a fresh one."""
import subprocess
import sys
import textwrap

import pytest

from jax_xla_backend.platforms.plugins import HOW_TO_INSTALL

pytestmark = pytest.mark.only_cpu


def python(code: str, **environment) -> subprocess.CompletedProcess:
    import os

    env = {**os.environ, **environment}
    for name, value in environment.items():
        if value is None:
            del env[name]
    return subprocess.run([sys.executable, "-W", "ignore::DeprecationWarning", "-c", textwrap.dedent(code)], env=env,
                          capture_output=True, text=True, timeout=600)


def test_nothing_on_stderr():
    done = python("""
        from jax_core import backends
        b = backends.get()
        print(b.put(2.0), len(b.devices()))
        """, TF_CPP_MIN_LOG_LEVEL=None)
    assert (done.stdout, done.stderr) == ("2.0 8\n", "")


@pytest.mark.parametrize("environment, count", [
    ({"JAX_NUM_CPU_DEVICES": "3"}, 3),
    ({"JAX_NUM_CPU_DEVICES": None, "XLA_FLAGS": "--xla_force_host_platform_device_count=5"}, 5),
    ({"JAX_NUM_CPU_DEVICES": None}, 1)], ids=["flag", "XLA_FLAGS", "default"])
def test_number_of_devices(environment, count):
    done = python("""
        from jax_xla_backend import load; from jax_xla_backend.platforms import client
        load()
        print(client.device_count(), client.local_device_count(), client.process_index(), client.process_count(),
              client.default_backend())
        """, **environment)
    assert done.stdout == f"{count} {count} 0 1 cpu\n", done.stderr


def test_unknown_platform():
    done = python("""
        from jax_xla_backend import load; from jax_xla_backend.platforms import client
        load()
        for name in ("foo", "gpu"):
            try:
                client.devices(name)
            except RuntimeError as error:
                print(error)
        """)
    assert done.stdout.splitlines() == [
        "Unknown backend foo. Available backends are ['cpu']",
        "Unknown backend: 'gpu' requested, but no platforms that are instances of gpu are present. Platforms present are: cpu"
        f". Install one: {HOW_TO_INSTALL['cuda']}; {HOW_TO_INSTALL['rocm']}"]


FORK = """
    import os, sys
    import numpy as np
    sys.path.insert(0, {tests!r})
    {before}
    pid = os.fork()
    if pid == 0:
        try:
            print({call})
        except RuntimeError as error:
            print("fork()" in str(error) and "spawn" in str(error))
        sys.stdout.flush()
        os._exit(0)
    os.waitpid(pid, 0)
    print("parent", {call})
"""
USED = "import programs; f = programs.jitted(programs.doubled()); x = programs.array(); f(x); f(x)"


@pytest.mark.parametrize("call", ["f(x)", "programs.backend.put(1.0)", "programs.backend.devices()[0]",
                                  "programs.backend.from_host(np.zeros(1, np.float32))"])
def test_forked_child_says_so(call):
    import pathlib

    done = python(FORK.format(tests=str(pathlib.Path(__file__).parent), before=USED, call=call))
    first, *rest = done.stdout.splitlines()
    assert first == "True" and rest[0].startswith("parent"), done.stderr


def test_first_use_after_fork_works():
    import pathlib

    done = python(FORK.format(tests=str(pathlib.Path(__file__).parent), before="import programs",
                              call="programs.jitted(programs.doubled())(programs.array()).tolist()"))
    assert done.stdout == "[0.0, 2.0, 4.0, 6.0]\nparent [0.0, 2.0, 4.0, 6.0]\n", done.stderr


def test_waiting_can_be_interrupted():
    import pathlib

    done = python(f"""
        import os, signal, sys, threading
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
        sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})
        import numpy as np
        import programs as p
        from jax_core.representation.aval import ShapedArray
        # Larger than what XLA makes one function of: such a function would run within the call itself.
        s = ShapedArray((8192,), np.dtype(np.int32))
        body = '''
            %0 = stablehlo.while(%i = %a) : tensor<8192xi32>
              cond {{{{ %n = stablehlo.constant dense<0> : tensor<i32>
                     %p = stablehlo.slice %i [0:1] : (tensor<8192xi32>) -> tensor<1xi32>
                     %q = stablehlo.reshape %p : (tensor<1xi32>) -> tensor<i32>
                     %c = stablehlo.compare NE, %q, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
                     stablehlo.return %c : tensor<i1> }}}}
              do {{{{ %five = stablehlo.constant dense<5> : tensor<8192xi32>
                   %j = stablehlo.multiply %i, %five : tensor<8192xi32>
                   stablehlo.return %j : tensor<8192xi32> }}}}
            return %0 : tensor<8192xi32>'''.replace("{{{{", "{{").replace("}}}}", "}}")
        f = p.jitted(p.Module(p.main("(%a: tensor<8192xi32>) -> tensor<8192xi32>", body), [s], [s]))
        f(np.zeros(8192, np.int32)).block_until_ready()  # with odd numbers it never ends
        x = p.backend.put(np.ones(8192, np.int32))
        try:
            threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            y = f(x)
            y.block_until_ready()
            print("done")
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        os._exit(0)
        """)
    assert done.stdout == "interrupted\n", done.stderr + done.stdout


def test_placeholders_leave_room_for_the_meta_package():
    done = python("""
        import sys
        from jax_core import backends
        backends.get().put(1.0)
        print([n for n in ("jax", "jax.core", "jax._src", "jax._src.named_sharding") if n in sys.modules])
        """)
    assert done.stdout == "[]\n", done.stderr


def test_an_interrupt_inside_the_collector_is_not_lost():
    """It arrives while the collector calls its callbacks, ours last."""
    done = python("""
        import ctypes, functools, gc, operator, signal
        from jax_core import backends
        backends.get()
        signal.signal(signal.SIGINT, signal.default_int_handler)  # who started the tests may have it ignored

        class Interrupting:
            send = staticmethod(functools.partial(getattr(ctypes.CDLL(None), "raise"), 2))
            stop = property(operator.methodcaller("send"))

        gc.collect()
        gc.callbacks.insert(0, functools.partial(getattr, Interrupting()))
        try:
            gc.collect()
        except KeyboardInterrupt:
            gc.callbacks.pop(0)
            print("interrupted")
        """)
    assert (done.stdout, done.stderr) == ("interrupted\n", "")


@pytest.mark.parametrize("through, seen", [("call", "flags.enable_x64.value"), ("wait", "True")])  # the compiler's thread has the caller's flags
def test_ctrl_c_is_heard_at_once_and_the_interpreter_waits(through, seen):
    """Its end would take LLVM's data from a compilation that goes on, and a wait within jaxlib that comes back to an interpreter that has
    ended aborts the process."""
    done = python(f"""
        import os, signal, time
        signal.signal(signal.SIGINT, signal.default_int_handler)
        from jax_core.configuration import flags
        from jax_xla_backend.arrays import interruptible

        def work():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)
            print("done", {seen}, flush=True)

        try:
            with flags.enable_x64(True):
                interruptible.{through}(work)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        """)
    assert (done.stdout, done.stderr, done.returncode) == ("interrupted\ndone True\n", "", 0)


def test_a_start_that_was_interrupted_is_made_again():
    done = python("""
        from jax_core import backends
        from jax_xla_backend import startup
        from jax_xla_backend.platforms import client
        startup.start()
        told = []

        def interrupt(started):
            told.append(started)
            if len(told) == 1:
                raise KeyboardInterrupt
        client.client_made._functions.insert(0, interrupt)
        for _ in range(3):
            try:
                print(backends.get().put(2.0), len(told))
            except KeyboardInterrupt:
                print("interrupted")
        """)
    assert (done.stdout, done.stderr) == ("interrupted\n2.0 2\n2.0 2\n", "")


def test_calls_nested_deeper_than_the_compiler_walks():
    """An error, where the compiler would overflow its stack and end the process."""
    done = python("""
        import sys, jax
        sys.setrecursionlimit(100_000)
        f = lambda v: v
        for _ in range(320):
            f = jax.jit(lambda v, f=f: f(v) + 1)
        try:
            f(1.0)
        except RecursionError as error:
            print("refused" if "nested" in str(error) else error)
        f = lambda v: v
        for _ in range(140):
            f = jax.jit(lambda v, f=f: f(v) + 1)
        print(f(1.0))
        """)
    assert done.stdout == "refused\n141.0\n", done.stderr
