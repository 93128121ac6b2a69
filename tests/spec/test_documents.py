"""The documents of the specification, run cell by cell with their printed output compared, where they are present.

They are not part of this repository (a plain clone skips this module); what they show is also tested in our own words
in the packages' tests.
"""
import ast
import contextlib
import io
import pathlib
import re

import pytest

SPEC = pathlib.Path(__file__).resolve().parents[3] / "shared" / "spec"
INTRODUCTION, CALLBACKS = SPEC / "introduction_zh.md", SPEC / "external_callbacks.md"
pytestmark = pytest.mark.skipif(not SPEC.is_dir(), reason=f"the specification's documents are not at {SPEC}")


# -- the introduction: "In [n]:" cells, code followed by what it prints ------------------------------------------------

def is_output(paragraph):
    """Whether a paragraph that parses as Python is printed output all the same: bare values."""
    try:
        statements = ast.parse(paragraph).body
    except SyntaxError:
        return True
    def bare(node):
        if isinstance(node, ast.Expr):
            call = node.value
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") in ("DeviceArray", "Array", "dtype"):
                return True
            try:
                ast.literal_eval(call)
                return True
            except (ValueError, SyntaxError):
                return False
        return False
    return all(map(bare, statements))


def split_cell(text):
    """Code, and the lines after it (output, then prose)."""
    parts = re.split(r"\n[ \t]*\n", text.strip("\n"))
    code, rest = "", parts
    for i in range(1, len(parts) + 1):
        candidate = "\n\n".join(parts[:i])
        if i > 1 and is_output(parts[i - 1]) and not parts[i - 1].startswith((" ", "\t", "#")):
            break
        try:
            ast.parse(candidate)
        except SyntaxError:
            continue
        code, rest = candidate, parts[i:]
    return code, [line for part in rest for line in part.splitlines() if line.strip()]


def introduction_cells():
    text = INTRODUCTION.read_text()
    pieces = re.split(r"^In \[(\d+)\]:\n", text, flags=re.M)[1:]
    return [(int(n), *split_cell(body)) for n, body in zip(pieces[::2], pieces[1::2])]


def run(code, namespace, name):
    """Execute; return what it printed, and the repr of a last expression."""
    module = ast.parse(code)
    last = None
    if module.body and isinstance(module.body[-1], ast.Expr):
        last = ast.Expression(module.body.pop().value)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(module, name, "exec"), namespace)
        value = eval(compile(last, name, "eval"), namespace) if last is not None else None
    return printed.getvalue(), value


def normal(line):
    """A line of output without what may differ: file names, today's name of the array class, spaces."""
    line = line.replace("DeviceArray(", "Array(")
    line = line.replace(", weak_type=True)", ")") if line.startswith("Array(") else line
    line = re.sub(r"<class 'jaxlib[^']*Array[^']*'>", "<class Array>", line)
    line = re.sub(r"<ipython-input-[^>]*>|<cell \d+>", "<cell>", line)
    return re.sub(r"\s+", " ", line).strip()


UNSEEDED = {14}  # NumPy draws without a seed


def test_introduction_prints_what_it_prints():
    namespace, compared = {"__name__": "introduction"}, 0
    for number, code, after in introduction_cells():
        printed, value = run(code, namespace, f"<cell {number}>")
        lines = [normal(line) for line in printed.splitlines() if line.strip()]
        if value is not None:
            lines += [normal(line) for line in repr(value).splitlines()]
        if number in UNSEEDED:
            continue
        expected = [normal(line) for line in after[:len(lines)]]
        if number == 24 and not after:
            continue
        assert lines == expected, f"cell {number}"
        compared += len(lines)
    assert compared > 60


# -- the guide to callbacks: fenced code cells without outputs ---------------------------------------------------------

def callback_cells():
    for tags, body in re.findall(r"```\{code-cell\}\n((?::[^\n]*\n)*)\n*(.*?)```", CALLBACKS.read_text(), flags=re.S):
        yield "raises-exception" in tags, body


WANTED = {
    "jax.grad(f)(x)": (ValueError, "pure_callback: a Python function has no derivative that could be found from its values; "
                                   "give the function that calls it a rule by jax.custom_jvp or jax.custom_vjp"),
    "jax.vmap(numpy_random_like_ordered)(x)": (ValueError, "Cannot `vmap` ordered IO callback."),
    "jax.grad(numpy_random_like)(x)": (ValueError, "IO callbacks do not support JVP."),
    "jax.grad(j1)(z)": ((ValueError, TypeError), ""),
}


def test_callbacks_guide_runs():
    namespace, outputs = {"__name__": "callbacks"}, []
    for i, (raises, body) in enumerate(callback_cells()):
        code = "\n".join(line for line in body.splitlines() if not line.startswith("%"))
        if not raises:
            outputs.append(run(code, namespace, f"<cell {i}>"))
            continue
        last = code.strip().splitlines()[-1]
        kind, message = WANTED[last]
        with pytest.raises(kind, match=re.escape(message)):
            run(code, namespace, f"<cell {i}>")
    import jax
    jax.effects_barrier()
    printed = "".join(text for text, _ in outputs)
    assert "intermediate value: 3" in printed and printed.count("printing something") == 1
    assert "-0.06447162" in printed
    assert abs(float(outputs[-1][1]) + 0.4003078) < 1e-6
