"""The loss curve of a training run that is one compiled loop, drawn while it runs and saved as a picture.

``python examples/live_plot.py [curve.png | curve.gif]`` needs matplotlib (and Pillow for a GIF).

The whole run is one `lax.scan` under `jit`. Every `EVERY` steps an ordered `io_callback` hands the loss to the host; the
bar shows how far the run is. The callback only draws: it returns nothing, so the program never waits for a result.
"""
import sys

import matplotlib
import numpy as np

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import io_callback
from jax_callbacks import progress_bar

matplotlib.use("Agg")
import matplotlib.pyplot as plt

STEPS, EVERY = 2000, 100


class Curve:
    """The picture, updated from inside the program."""

    def __init__(self):
        self.figure, self.axes = plt.subplots(figsize=(5, 3), layout="constrained")
        (self.line,) = self.axes.plot([], [])
        self.axes.set(xlabel="step", ylabel="loss", yscale="log")
        self.steps, self.losses, self.frames = [], [], []

    def add(self, step, loss):
        self.steps.append(int(step))
        self.losses.append(float(loss))
        self.line.set_data(self.steps, self.losses)
        self.axes.relim()
        self.axes.autoscale_view()
        self.figure.canvas.draw()
        self.frames.append(np.asarray(self.figure.canvas.buffer_rgba())[..., :3].copy())

    def save(self, path):
        if path.endswith(".gif"):
            from PIL import Image

            first, *rest = map(Image.fromarray, self.frames)
            first.save(path, save_all=True, append_images=rest, duration=80, loop=0)
        else:
            self.figure.savefig(path)


def loss(w, x, y):
    hidden = jnp.tanh(x @ w["in"] + w["bias"])
    return jnp.mean((hidden @ w["out"] - y) ** 2)


def train(curve):
    """The trained weights; the curve grows on the way."""
    rng = np.random.default_rng(0)
    x = jnp.asarray(rng.uniform(-3, 3, (256, 1)), jnp.float32)
    y = jnp.sin(2 * x)
    w = {"in": rng.normal(size=(1, 32)), "bias": rng.normal(size=32), "out": rng.normal(size=(32, 1)) / 6}
    w = jax.tree.map(lambda a: jnp.asarray(a, jnp.float32), w)

    def step(w, i):
        value, slope = jax.value_and_grad(loss)(w, x, y)
        lax.cond(i % EVERY == 0, lambda: io_callback(curve.add, None, i, value, ordered=True), lambda: None)
        return jax.tree.map(lambda a, g: a - 0.05 * g, w, slope), value

    run = jax.jit(lambda w: lax.scan(progress_bar(step, desc="training"), w, jnp.arange(STEPS)))
    w, losses = run(w)
    jax.effects_barrier()
    return w, losses


if __name__ == "__main__":
    path = sys.argv[1] if len(sys.argv) > 1 else "curve.png"
    picture = Curve()
    _, history = train(picture)
    picture.save(path)
    print(f"loss {history[0]:.3f} -> {history[-1]:.5f}; {len(picture.frames)} drawings; saved {path}")
