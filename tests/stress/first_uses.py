"""The example of every docstring as the first that a process does with `jax`: what another use loads, a first one must load itself.

    python tests/stress/first_uses.py [FROM TO]      the examples of these numbers; by default all
"""
import doctest
import inspect
import json
import os
import pathlib
import sys
import time

from children import child, end, figure

TESTS = pathlib.Path(__file__).parents[2] / "packages" / "jax" / "tests"
sys.path.insert(0, str(TESTS))
from example_output import Numerically  # noqa: E402

COLLECT = """
    import json, sys
    sys.path.insert(0, sys.argv[1])
    from test_examples import MODULES, classes, functions
    found = {}
    for module in MODULES:
        for name, value in functions(module):
            found.setdefault(value.__doc__, f"{module}.{name}")
    for name, value in classes():
        found.setdefault(value.__doc__, name)
    print(json.dumps([(name, doc) for doc, name in found.items() if doc and ">>>" in doc]))
"""


def said_by(name: str, doc: str) -> str:
    """What went wrong, in this process."""
    import numpy as np

    import jax
    import jax.numpy as jnp
    names = {"jax": jax, "jnp": jnp, "np": np}
    for short, long in (("jsp", "jax.scipy"), ("lax", "jax.lax")):
        if f"{short}." in doc:
            names[short] = __import__(long, fromlist=["_"])
    said: list[str] = []
    examples = doctest.DocTestParser().get_doctest(inspect.cleandoc(doc), names, name, None, None)
    doctest.DocTestRunner(checker=Numerically(), verbose=False).run(examples, out=said.append, clear_globs=False)
    return "".join(said)


def alone(name: str, doc: str) -> str:
    """What went wrong in a process of its own."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            said = said_by(name, doc)
        except BaseException as error:
            said = repr(error)
        os.write(writing, said.encode()[:60000])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    status = os.waitpid(pid, 0)[1]
    return said or (f"ended with status {status}" if status else "")


def main() -> None:
    start = time.time()
    os.environ |= {"JAX_PLATFORMS": "cpu", "JAX_NUM_CPU_DEVICES": "8"}
    found = json.loads(child(COLLECT, TESTS).stdout.splitlines()[-1])
    low, high = map(int, sys.argv[1:3]) if len(sys.argv) > 2 else (0, len(found))
    bad = 0
    for name, doc in found[low:high]:
        said = alone(name, doc)
        if said:
            bad += 1
            figure(f"{name} first", "wrong", False, said)
    figure("examples as the first use", f"{len(found[low:high])}, {bad} wrong", not bad)
    end(start)


if __name__ == "__main__":
    main()
