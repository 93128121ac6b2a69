"""Programs of users, those of the docstrings and of the pages, with one flag set: what each statement does, to be laid beside another `jax`.

    python tests/fuzz/under_flags.py programs PROGRAMS.json                      with our interpreter: collects them
    python tests/fuzz/under_flags.py calls PROGRAMS.json                         others: each public function of arrays, and its transformations
    python tests/fuzz/under_flags.py table PROGRAMS.json OUT.json [FLAG=VALUE,...]   with ours, then with that of the reference; once without a flag
    python tests/fuzz/under_flags.py compare OURS REFERENCE OURS_PLAIN REFERENCE_PLAIN

A statement counts where both do the same without the flag. It differs if only one of both raises, or they raise different classes.
"""
from __future__ import annotations

import ast
import collections
import contextlib
import io
import json
import os
import pathlib
import signal
import sys
import tempfile
import warnings

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
LONGEST = 60  # seconds for one statement
LEFT_OUT = ("jax.distributed", "jax.profiler", "multihost_utils", "live_plot")  # they take ports, or show pictures


def programs(path: str) -> None:
    """Collect the programs: lists of statements."""
    import doctest
    import inspect
    sys.path[:0] = [str(ROOT / "packages/jax/tests"), str(ROOT / "docs/site")]
    import blocks
    from test_examples import functions
    from test_public_names import MODULES
    found, seen = {}, set()
    for module in MODULES:
        for name, value in functions(module):
            if ">>>" in value.__doc__ and value.__doc__ not in seen and not any(word in f"{module}.{name}" for word in LEFT_OUT):
                seen.add(value.__doc__)
                found[f"{module}.{name}"] = [e.source for e in doctest.DocTestParser().get_examples(inspect.cleandoc(value.__doc__))]
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        said = page.read_text()
        statements = []
        for block in blocks.blocks_of(said):
            with contextlib.suppress(SyntaxError):
                statements += [ast.unparse(s) for s in ast.parse(block.code).body]
        if statements and "generated" not in page.parts and not any(word in said for word in (*LEFT_OUT, "g++", "matplotlib", "subprocess")):
            found[str(page.relative_to(ROOT))] = statements
    pathlib.Path(path).write_text(json.dumps(found))
    print(len(found), "programs,", sum(map(len, found.values())), "statements")


OPERANDS = {
    "float": "x = jnp.asarray(np.resize([0.5, 0.25, 0.75, 0.375], (4, 4)) + np.eye(4), 'float32')\ny = jnp.asarray(np.resize([0.3, 0.6, 0.9], (4, 4)), 'float32')",
    "int": "x = jnp.asarray(np.resize([1, 3, 2], (4, 4)), 'int32')\ny = jnp.asarray(np.resize([2, 1], (4, 4)), 'int32')",
    "half": "x = jnp.asarray(np.resize([0.5, 0.25, 0.75], (4, 4)) + np.eye(4), 'bfloat16')\ny = x[::-1]",
    "line": "x = jnp.asarray([0.5, 0.25, 0.75, 0.375], 'float32')\ny = x[::-1]"}
TOTAL = ("total = lambda *outs: sum(jnp.sum(jnp.abs(leaf)) for leaf in jax.tree.leaves(outs) if hasattr(leaf, 'dtype') and "
         "jnp.issubdtype(leaf.dtype, jnp.inexact))")


def calls(path: str) -> None:
    """Calls of operands of one dtype and rank, as they are and transformed."""
    import importlib
    import inspect
    sys.path.insert(0, str(ROOT / "tests"))
    import jax.scipy.stats
    from fuzz.sweep import ARRAYS, KNOWN, MODULES, SKIP
    kinds = [f"jax.scipy.stats.{n}" for n in dir(jax.scipy.stats) if inspect.ismodule(getattr(jax.scipy.stats, n))]
    found, seen = {}, set()
    for module in dict.fromkeys([*MODULES, *kinds, "jax.scipy.ndimage", "jax.scipy.cluster.vq", "jax.nn.initializers", "jax.scipy.interpolate"]):
        try:
            space = importlib.import_module(module)
        except ImportError:
            continue
        for name in dir(space):
            fun = getattr(space, name, None)
            if name.startswith("_") or name in SKIP or isinstance(fun, type) or not callable(fun) or name.endswith("_p") or id(fun) in seen:
                continue
            seen.add(id(fun))
            try:
                wanted = [p for p in inspect.signature(fun).parameters.values() if p.default is p.empty and p.kind in (
                    p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
            except (TypeError, ValueError):
                continue
            arrays, given = [], []
            for p in wanted:
                if p.name == "key":
                    given.append("jax.random.key(7)")
                elif p.name in KNOWN and not isinstance(KNOWN[p.name][0], np.ndarray):
                    given.append(repr(KNOWN[p.name][0]) if p.name not in ("dtype", "new_dtype") else "'float32'")
                elif p.name in KNOWN:
                    given.append(f"jnp.asarray({KNOWN[p.name][0].tolist()}, 'int32')")
                elif p.name in ARRAYS or p.name in ("arrays", "tup", "arys"):
                    given.append(f"[a{len(arrays)}, a{len(arrays)}]" if p.name not in ARRAYS else f"a{len(arrays)}")
                    arrays.append(f"a{len(arrays)}")
                else:
                    break
            else:
                args = ", ".join(arrays)
                values = ", ".join(["x", "y"][i % 2] for i in range(len(arrays)))
                call = f"{'import ' + module + '; '}f = lambda {args}: {module}.{name}({', '.join(given)})"
                for kind, operands in OPERANDS.items() if arrays else [("", "")]:
                    found[f"{module}.{name} {kind}"] = [
                        *operands.splitlines(), TOTAL, call, f"_ = jax.eval_shape(f, {values})" if kind in ("int", "half") else f"_ = f({values})",
                        *([f"_ = jax.eval_shape(jax.vmap(f), {', '.join(v + '[None]' for v in values.split(', '))})",
                           f"_ = jax.eval_shape(jax.grad(lambda {args}: total(f({args}))), {values})",
                           f"_ = jax.eval_shape(lambda *xs: jax.jvp(lambda {args}: total(f({args})), xs, xs), {values})"] if arrays else [])]
    pathlib.Path(path).write_text(json.dumps(found))
    print(len(found), "programs,", sum(map(len, found.values())), "statements")


def outcome(source: str, space: dict) -> list[str]:
    """What a statement did: ``["ok", what it printed]`` or the class and text of its error."""
    def ring(*_):
        raise TimeoutError
    signal.signal(signal.SIGALRM, ring)
    signal.alarm(LONGEST)
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed), warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            exec(compile(source, "<program>", "single"), space)
        return ["ok", printed.getvalue()[:500]]
    except BaseException as error:
        return [type(error).__name__, str(error)[:300]]
    finally:
        signal.alarm(0)


def table(programs_path: str, path: str, flag: str = "") -> None:
    import jax
    import jax.numpy as jnp
    import jax.scipy
    flags = dict(f.split("=") for f in flag.split(",") if f)
    results, path = {}, os.path.abspath(path)
    wanted = json.loads(pathlib.Path(programs_path).read_text())
    start = {n: v for n, v in jax.config.values.items()}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for program, statements in wanted.items():
            for n, v in start.items():  # what the program before has set
                if jax.config.values.get(n) != v and n not in flags:
                    with contextlib.suppress(Exception):
                        jax.config.update(n, v)
            for name, text in flags.items():
                jax.config.update(name, {"true": True, "false": False}.get(text, text))
            space = {"jax": jax, "jnp": jnp, "jsp": jax.scipy, "np": np, "lax": jax.lax, "__name__": "program"}
            results[program] = [outcome(s, space) for s in statements]
    pathlib.Path(path).write_text(json.dumps(results))


def compare(*paths: str) -> None:
    ours, theirs, our_plain, their_plain = [json.loads(pathlib.Path(p).read_text()) for p in paths]
    count, kinds = 0, collections.Counter()
    for program, results in ours.items():
        rows = zip(results, theirs[program], our_plain[program], their_plain[program], strict=True)
        for n, (mine, other, plain, other_plain) in enumerate(rows):
            if plain[0] != other_plain[0] or "NameError" in (mine[0], other[0]):  # a statement before failed on one side
                continue
            count += 1
            if mine[0] != other[0]:
                kind = "refused" if other[0] == "ok" else "accepted" if mine[0] == "ok" else "class"
                kinds[kind] += 1
                print(f"{kind} {program} [{n}]\n    ours   {': '.join(mine)[:250]!r}\n    theirs {': '.join(other)[:250]!r}")
    print(count, "statements;", dict(kinds))


if __name__ == "__main__":
    {"programs": programs, "calls": calls, "table": table, "compare": compare}[sys.argv[1]](*sys.argv[2:])
