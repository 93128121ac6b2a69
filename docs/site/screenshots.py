"""Photograph what notebooks and terminals show: `python docs/site/screenshots.py` writes docs/static/notebook.png and progress-bar.png.

Needs chromium and tqdm. The cells and the loop below are run, and what they give is laid out as a notebook or a terminal would.
"""
import ast
import html
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

STATIC = pathlib.Path(__file__).resolve().parents[1] / "static"
CELLS = ["""\
import jax, jax.numpy as jnp

mesh = jax.make_mesh((2, 2), ("data", "model"))
x = jax.device_put(jnp.arange(16.0).reshape(4, 4), jax.NamedSharding(mesh, jax.P("data", "model")))
x""", """\
def step(x):
    return jax.lax.cond(x.sum() > 0, lambda x: jnp.sin(x) * 2, lambda x: x, x)

jax.make_jaxpr(step)(jnp.ones(3))""", """\
def steps(x):
    for _ in range(2):
        x = jnp.tanh(x) * x.mean()
    return x

jax.debug.visualize_jaxpr(jax.make_jaxpr(steps)(jnp.zeros(100_000)))"""]
LOOP = """\
import jax, jax.numpy as jnp
from jax_callbacks import progress_bar

def body(x, _):
    return jnp.tanh(x @ x) + x, x.sum()

jax.lax.scan(progress_bar(body, desc="train"), jnp.eye(200), None, length=20_000)
"""
STYLE = """
body { margin: 24px; font: 14px sans-serif; color: #111; background: white }
pre { margin: 0; font: 13px/1.45 monospace }
.in, .terminal { background: #f4f4f6; border: 1px solid #ddd; border-radius: 4px; padding: 8px 12px; margin: 14px 0 8px }
.out { padding: 0 12px; overflow: hidden }
.terminal { background: #1c1e24; color: #e4e4e8 }
"""


def cells() -> str:
    """The notebook's cells with what they show."""
    from jax_xla_backend.arrays.notebook import as_html  # arrays offer it where IPython runs, which is not needed here
    pieces, names = [], {"__name__": "__main__"}
    for number, code in enumerate(CELLS):
        *statements, last = ast.parse(code).body
        exec(compile(ast.Module(statements, []), f"cell {number + 1}", "exec"), names)
        value = eval(compile(ast.Expression(last.value), f"cell {number + 1}", "eval"), names)
        drawn = next((getattr(value, form) for form in ("_repr_svg_", "_repr_html_") if hasattr(value, form)), None)
        shown = as_html(value) if drawn is None else drawn()
        pieces.append(f"<pre class=in>{html.escape(code)}</pre><div class=out>{shown}</div>")
    return "".join(pieces)


def terminal() -> str:
    """The loop's program, and its bar half-way and at the end, as tqdm draws it."""
    done = subprocess.run([sys.executable, "-c", LOOP], stderr=subprocess.PIPE, text=True, check=True, env={**os.environ, "COLUMNS": "90"})
    bars = [line for line in done.stderr.replace("\n", "\r").split("\r") if "|" in line]
    return "".join(f"<pre class={kind}>{html.escape(text)}</pre>" for kind, text in (
        ("in", LOOP.rstrip()), ("terminal", bars[len(bars) // 2]), ("terminal", bars[-1])))


def photograph(body: str, target: pathlib.Path, width: int, height: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder, "page.html")
        page.write_text(f"<!doctype html><meta charset=utf-8><style>{STYLE}</style>{body}")
        subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder}/profile",
                        f"--window-size={width},{height}", f"--screenshot={folder}/shot.png", page.as_uri()],
                       check=True, capture_output=True, timeout=300)
        shutil.copy(pathlib.Path(folder, "shot.png"), target)


def main() -> None:
    os.environ["JAX_NUM_CPU_DEVICES"] = "4"
    photograph(cells(), STATIC / "notebook.png", 1000, 1330)
    photograph(terminal(), STATIC / "progress-bar.png", 860, 310)


if __name__ == "__main__":
    main()
