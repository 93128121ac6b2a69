"""Train a small network on scikit-learn's 1,797 handwritten digits: `jit`, `grad`, `vmap` and random numbers at work.

Prints the accuracy on a held-out test set and a confusion summary, and writes the loss curve with sample predictions
to digits.png (or the path given as the first argument).
"""
import sys
import time

import matplotlib

matplotlib.use("Agg")
import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from tqdm import trange

import jax
import jax.numpy as jnp
from jax import grad, jit, random, vmap

SIZES = (64, 256, 128, 10)
EPOCHS, BATCH = 60, 64


def init(key):
    """He initialisation of every layer."""
    keys = random.split(key, len(SIZES) - 1)
    return [(random.normal(k, (n_in, n_out)) * jnp.sqrt(2.0 / n_in), jnp.zeros(n_out))
            for k, n_in, n_out in zip(keys, SIZES, SIZES[1:])]


def logits(params, image):
    """Scores of the ten digits for one image of 64 pixels; `vmap` makes it a function of many."""
    for w, b in params[:-1]:
        image = jnp.maximum(image @ w + b, 0.0)
    w, b = params[-1]
    return image @ w + b


def loss(params, images, labels):
    scores = vmap(logits, in_axes=(None, 0))(params, images)
    chosen = jnp.take_along_axis(jax.nn.log_softmax(scores), labels[:, None], axis=1)
    decay = sum(jnp.sum(w * w) for w, _ in params)
    return -chosen.mean() + 1e-4 * decay


def augment(key, images):
    """Shift some images by up to one pixel, differently for each: a `vmap` over keys and images."""
    def one(k, image):
        which, where = random.split(k)
        dy, dx = random.randint(where, (2,), -1, 2) * random.bernoulli(which, 0.3)
        padded = jnp.pad(image.reshape(8, 8), 1)
        return jax.lax.dynamic_slice(padded, (1 + dy, 1 + dx), (8, 8)).ravel()
    return vmap(one)(random.split(key, images.shape[0]), images)


@jit
def epoch(carry, key, images, labels):
    """One pass over the data in random order, as one compiled loop; Adam by hand."""
    shuffle_key, augment_key = random.split(key)
    order = random.permutation(shuffle_key, images.shape[0])
    batches = order[: len(order) // BATCH * BATCH].reshape(-1, BATCH)

    def step(carry, inputs):
        rows, k = inputs
        params, m, v, t = carry
        value, g = jax.value_and_grad(loss)(params, augment(k, images[rows]), labels[rows])
        t = t + 1
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
        rate = 2e-3 * jnp.sqrt(1 - 0.999 ** t) / (1 - 0.9 ** t)
        params = jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-8), params, m, v)
        return (params, m, v, t), value
    carry, losses = jax.lax.scan(step, carry, (batches, random.split(augment_key, len(batches))))
    return carry, losses


@jit
def predict(params, images):
    return jnp.argmax(vmap(logits, in_axes=(None, 0))(params, images), axis=1)


def draw(path, losses, images, labels, predicted):
    """The loss curve and twelve test images with their predictions, as a picture."""
    figure = plt.figure(figsize=(10, 4))
    left, right = figure.subfigures(1, 2)
    axes = left.subplots()
    axes.semilogy(losses)
    axes.set(xlabel="step", ylabel="training loss", title="Loss")
    for axes, image, label, guess in zip(right.subplots(3, 4).flat, images, labels, predicted):
        axes.imshow(image.reshape(8, 8), cmap="gray_r")
        axes.set_title(str(guess), color="green" if guess == label else "red")
        axes.axis("off")
    figure.savefig(path, dpi=110)


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else "digits.png"
    start = time.perf_counter()
    pixels, digits = load_digits(return_X_y=True)
    train_x, test_x, train_y, test_y = train_test_split(
        (pixels / 16).astype(np.float32), digits.astype(np.int32), test_size=0.2, random_state=0, stratify=digits)
    images, labels = jnp.asarray(train_x), jnp.asarray(train_y)

    key, init_key = random.split(random.PRNGKey(0))
    params = init(init_key)
    zeros = jax.tree.map(jnp.zeros_like, params)
    carry = (params, zeros, zeros, 0)
    history = []
    bar = trange(EPOCHS, desc="training", unit="epoch")
    for _ in bar:
        key, subkey = random.split(key)
        carry, losses = epoch(carry, subkey, images, labels)
        history.append(np.asarray(losses))
        bar.set_postfix(loss=f"{history[-1].mean():.4f}")
    params = carry[0]

    predicted = np.asarray(predict(params, jnp.asarray(test_x)))
    accuracy = (predicted == test_y).mean()
    confusion = np.zeros((10, 10), int)
    np.add.at(confusion, (test_y, predicted), 1)
    steepness = vmap(lambda x: jnp.abs(grad(lambda x: logits(params, x).max())(x)).sum())(jnp.asarray(test_x))
    print("\nconfusion (rows: true digit, columns: predicted)")
    print("    " + " ".join(f"{d:3d}" for d in range(10)))
    for digit, row in enumerate(confusion):
        print(f"{digit:3d} " + " ".join(f"{n:3d}" if n else "  ." for n in row))
    worst = [(n, t, p) for t in range(10) for p in range(10) if t != p and (n := confusion[t, p])]
    for n, true, guess in sorted(worst, reverse=True)[:3]:
        print(f"mistaken: {true} for {guess}, {n} times")
    print(f"least certain image by input gradient: number {int(jnp.argmax(steepness))}")
    draw(path, np.concatenate(history), test_x, test_y, predicted)
    print(f"test accuracy {accuracy:.2%} on {len(test_y)} digits, {time.perf_counter() - start:.1f} s on "
          f"{jax.devices()[0].platform}; picture in {path}")
    return 0 if accuracy >= 0.97 else 1


if __name__ == "__main__":
    sys.exit(main())
