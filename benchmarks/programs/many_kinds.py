"""Programs of many kinds as users write them, from filters to training steps: written at once, without a look at how they run."""
import jax, jax.numpy as jnp, numpy as np
from jax import lax, random
rng = np.random.default_rng(7)
arr = lambda *s: jnp.asarray(rng.normal(size=s).astype(np.float32))
pos = lambda *s: jnp.asarray(rng.uniform(0.1, 1, size=s).astype(np.float32))
ints = lambda n, *s: jnp.asarray(rng.integers(0, n, s).astype(np.int32))
programs = {}
def program(*args):
    def deco(f):
        programs[f.__name__] = (f, args)
        return f
    return deco

A4 = jnp.eye(4, dtype=jnp.float32) + jnp.diag(jnp.full(2, 0.1, jnp.float32), 2)
@program(arr(200, 2))
def kalman(zs):
    F, H, Q, R = A4, jnp.eye(2, 4), 0.01 * jnp.eye(4), 0.1 * jnp.eye(2)
    def step(c, z):
        x, P = c
        x, P = F @ x, F @ P @ F.T + Q
        S = H @ P @ H.T + R
        K = jnp.linalg.solve(S, H @ P).T
        x = x + K @ (z - H @ x)
        P = (jnp.eye(4) - K @ H) @ P
        return (x, P), x
    return lax.scan(step, (jnp.zeros(4), jnp.eye(4)), zs)

@program(arr(256, 3), arr(256, 3), pos(256))
def nbody_leapfrog(x, v, m):
    def acc(x):
        d = x[None] - x[:, None]
        r2 = (d ** 2).sum(-1) + 0.01
        return (m[None, :, None] * d / (r2 ** 1.5)[..., None]).sum(1)
    def step(i, c):
        x, v = c
        v = v + 0.005 * acc(x)
        x = x + 0.01 * v
        return x, v + 0.005 * acc(x)
    return lax.fori_loop(0, 5, step, (x, v))

@program(arr(200, 2), arr(150, 2))
def sinkhorn(a, b):
    C = ((a[:, None] - b[None]) ** 2).sum(-1)
    eps = 0.1
    def step(_, fg):
        f, g = fg
        f = -eps * jax.nn.logsumexp((g[None] - C) / eps - jnp.log(150.), axis=1)
        g = -eps * jax.nn.logsumexp((f[:, None] - C) / eps - jnp.log(200.), axis=0)
        return f, g
    f, g = lax.fori_loop(0, 50, step, (jnp.zeros(200), jnp.zeros(150)))
    return jnp.sum(jnp.exp((f[:, None] + g[None] - C) / eps) * C)

@program(arr(2000, 8), arr(12, 8))
def kmeans(x, c):
    def step(_, c):
        d = ((x[:, None] - c[None]) ** 2).sum(-1)
        k = jnp.argmin(d, 1)
        n = jax.ops.segment_sum(jnp.ones(2000), k, 12)
        return jax.ops.segment_sum(x, k, 12) / jnp.maximum(n, 1)[:, None]
    return lax.fori_loop(0, 10, step, c)

@program(arr(128, 128))
def total_variation(img):
    def loss(u):
        dx, dy = jnp.diff(u, axis=0), jnp.diff(u, axis=1)
        return 0.5 * ((u - img) ** 2).sum() + 0.1 * jnp.sqrt(dx[:, :-1] ** 2 + dy[:-1] ** 2 + 1e-6).sum()
    return lax.fori_loop(0, 20, lambda i, u: u - 0.1 * jax.grad(loss)(u), img)

@program(arr(5000, 20), arr(5000))
def robust_regression(x, y):
    def loss(w):
        r = x @ w - y
        a = jnp.abs(r)
        return jnp.where(a < 1, 0.5 * r ** 2, a - 0.5).mean()
    return lax.scan(lambda w, _: (w - 0.1 * jax.grad(loss)(w), loss(w)), jnp.zeros(20), None, length=50)

@program(arr(4, 128, 4, 16), arr(4, 128, 4, 16), arr(4, 128, 4, 16))
def causal_attention(q, k, v):
    s = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 4
    s = jnp.where(jnp.tril(jnp.ones((128, 128), bool)), s, -1e9)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(s, -1), v)

def block_params(d):
    return dict(qkv=arr(d, 3 * d) * .05, o=arr(d, d) * .05, up=arr(d, 4 * d) * .05, down=arr(4 * d, d) * .05, g1=jnp.ones(d), g2=jnp.ones(d))
def ln(x, g):
    m = x.mean(-1, keepdims=True); v = x.var(-1, keepdims=True)
    return (x - m) * lax.rsqrt(v + 1e-5) * g
def block(p, x, h=4):
    b, t, d = x.shape
    q, k, v = jnp.split(ln(x, p["g1"]) @ p["qkv"], 3, -1)
    q, k, v = (z.reshape(b, t, h, d // h).transpose(0, 2, 1, 3) for z in (q, k, v))
    s = jnp.where(jnp.tril(jnp.ones((t, t), bool)), q @ k.swapaxes(-1, -2) / np.sqrt(d // h), -jnp.inf)
    x = x + (jax.nn.softmax(s) @ v).transpose(0, 2, 1, 3).reshape(b, t, d) @ p["o"]
    return x + jax.nn.gelu(ln(x, p["g2"]) @ p["up"]) @ p["down"]
tp = dict(emb=arr(64, 64) * .1, pos=arr(32, 64) * .1, blocks=[block_params(64) for _ in range(2)])
@program(tp, jax.tree.map(jnp.zeros_like, tp), ints(64, 8, 33))
def transformer_step(p, m, tok):
    def loss(p):
        x = p["emb"][tok[:, :-1]] + p["pos"]
        for b in p["blocks"]:
            x = block(b, x)
        lp = jax.nn.log_softmax(x @ p["emb"].T)
        return -jnp.take_along_axis(lp, tok[:, 1:, None], -1).mean()
    l, g = jax.value_and_grad(loss)(p)
    m = jax.tree.map(lambda m, g: 0.9 * m + g, m, g)
    return l, jax.tree.map(lambda p, m: p - 0.01 * m, p, m), m

def conv(x, w, s=1):
    return lax.conv_general_dilated(x, w, (s, s), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
@program(arr(8, 16, 16, 32), arr(3, 3, 32, 32) * .05, arr(3, 3, 32, 32) * .05, jnp.ones(32), jnp.ones(32))
def resnet_block_grad(x, w1, w2, g1, g2):
    def bn(x, g):
        m = x.mean((0, 1, 2)); v = x.var((0, 1, 2))
        return (x - m) * lax.rsqrt(v + 1e-5) * g
    def loss(w1, w2, g1, g2):
        return (jax.nn.relu(x + bn(conv(jax.nn.relu(bn(conv(x, w1), g1)), w2), g2)) ** 2).mean()
    return jax.value_and_grad(loss, (0, 1, 2, 3))(w1, w2, g1, g2)

@program(dict(wx=arr(16, 256) * .1, wh=arr(64, 256) * .1, b=jnp.zeros(256)), arr(50, 8, 16))
def lstm_grad(p, xs):
    def loss(p):
        def step(c, x):
            h, s = c
            i, f, g, o = jnp.split(x @ p["wx"] + h @ p["wh"] + p["b"], 4, -1)
            s = jax.nn.sigmoid(f) * s + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(s)
            return (h, s), h
        _, hs = lax.scan(step, (jnp.zeros((8, 64)), jnp.zeros((8, 64))), xs)
        return (hs ** 2).mean()
    return jax.value_and_grad(loss)(p)

@program(arr(100, 3), arr(100), jnp.ones(3))
def gp_grad(x, y, p):
    def nll(p):
        d2 = ((x[:, None] - x[None]) ** 2).sum(-1)
        k = p[0] * jnp.exp(-0.5 * d2 / p[1] ** 2) + p[2] * jnp.eye(100)
        L = jnp.linalg.cholesky(k)
        a = jax.scipy.linalg.cho_solve((L, True), y)
        return 0.5 * y @ a + jnp.log(jnp.diag(L)).sum()
    return jax.value_and_grad(nll)(p)

@program(jnp.array([1., 1., 1.]))
def lorenz_rk4(s):
    def f(s):
        return jnp.array([10 * (s[1] - s[0]), s[0] * (28 - s[2]) - s[1], s[0] * s[1] - 8 / 3 * s[2]])
    def step(s, _):
        k1 = f(s); k2 = f(s + .005 * k1); k3 = f(s + .005 * k2); k4 = f(s + .01 * k3)
        s = s + .01 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return s, s
    return lax.scan(step, s, None, length=1000)

@program(random.PRNGKey(0), arr(20), arr(500, 20), ints(2, 500))
def hmc_step(key, w, x, y):
    def logp(w):
        z = x @ w
        return (y * z - jax.nn.softplus(z)).sum() - 0.5 * (w ** 2).sum()
    g = jax.grad(logp)
    def step(w, key):
        k1, k2 = random.split(key)
        m0 = random.normal(k1, w.shape)
        def leap(_, c):
            q, m = c
            m = m + 0.005 * g(q); q = q + 0.01 * m
            return q, m + 0.005 * g(q)
        q, m = lax.fori_loop(0, 10, leap, (w, m0))
        la = logp(q) - logp(w) + 0.5 * (m0 @ m0 - m @ m)
        return jnp.where(jnp.log(random.uniform(k2)) < la, q, w), la
    return lax.scan(step, w, random.split(key, 20))

@program(arr(16, 4096))
def fft_pipeline(x):
    f = jnp.fft.rfft(x * jnp.hanning(4096))
    p = jnp.abs(f) ** 2
    mask = jnp.arange(2049) < 400
    return jnp.fft.irfft(f * mask), jnp.log(p + 1e-6)

@program(ints(2000, 20000), ints(2000, 20000), arr(20000), arr(2000))
def sparse_matvec_power(r, c, v, x):
    def step(_, x):
        y = jnp.zeros(2000).at[r].add(v * x[c])
        return y / jnp.linalg.norm(y)
    return lax.fori_loop(0, 10, step, x)

@program(arr(100000))
def histogram_entropy(x):
    h, e = jnp.histogram(x, 64, (-4, 4))
    p = h / h.sum()
    return -(p * jnp.log(p + 1e-9)).sum(), e

@program(arr(64, 1000), arr(64, 1000))
def topk_sort_pipeline(s, t):
    v, i = lax.top_k(s, 50)
    g = jnp.take_along_axis(t, i, 1)
    o = jnp.argsort(g, axis=1)
    return jnp.take_along_axis(v, o, 1).cumsum(1), jnp.sort(g, axis=1)[:, ::2]

@program(pos(256, 256))
def image_filters(img):
    k = jnp.exp(-jnp.arange(-3, 4.) ** 2 / 4); k = k / k.sum()
    b = jnp.apply_along_axis(lambda r: jnp.convolve(r, k, "same"), 1, img)
    b = jnp.apply_along_axis(lambda r: jnp.convolve(r, k, "same"), 0, b)
    p = jnp.pad(b, 1, mode="edge")
    gx = p[1:-1, 2:] - p[1:-1, :-2]; gy = p[2:, 1:-1] - p[:-2, 1:-1]
    m = jnp.hypot(gx, gy)
    return jnp.where(m > m.mean() + m.std(), 1.0, 0.0), jnp.arctan2(gy, gx)

@program(arr(32, 32) * .3, arr(32))
def beam_search(w, h0):
    B, V = 5, 32
    def step(c, _):
        h, score = c
        lp = jax.nn.log_softmax(jnp.tanh(h @ w))
        s, i = lax.top_k((score[:, None] + lp).reshape(-1), B)
        b, t = i // V, i % V
        h = jnp.tanh(h[b] + w[t])
        return (h, s), t
    return lax.scan(step, (jnp.tile(h0, (B, 1)), jnp.zeros(B).at[1:].set(-1e9)), None, length=40)

@program(dict(a=arr(17, 64) * .1, b=arr(64, 6) * .1, c=arr(64, 1) * .1), arr(2048, 17), ints(6, 2048), arr(2048), arr(2048), arr(2048))
def ppo_loss_grad(p, obs, act, old, adv, ret):
    def loss(p):
        h = jnp.tanh(obs @ p["a"])
        lp = jax.nn.log_softmax(h @ p["b"])
        la = jnp.take_along_axis(lp, act[:, None], 1)[:, 0]
        r = jnp.exp(la - old)
        a = (adv - adv.mean()) / (adv.std() + 1e-8)
        pg = -jnp.minimum(r * a, jnp.clip(r, .8, 1.2) * a).mean()
        v = (h @ p["c"])[:, 0]
        ent = -(jnp.exp(lp) * lp).sum(1).mean()
        return pg + 0.5 * ((v - ret) ** 2).mean() - 0.01 * ent
    return jax.value_and_grad(loss)(p)

@program(pos(128), arr(128), arr(128))
def gae(gamma, r, v):
    d = r[:-1] + 0.99 * v[1:] - v[:-1]
    return lax.scan(lambda c, x: ((y := x + 0.95 * 0.99 * c), y), 0.0, d, reverse=True)

@program(arr(64, 64))
def game_of_life(x):
    g = (x > 0).astype(jnp.int32)
    def step(_, g):
        n = sum(jnp.roll(g, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
        return ((n == 3) | ((n == 2) & (g == 1))).astype(jnp.int32)
    return lax.fori_loop(0, 30, step, g)

@program(arr(1000, 10), arr(10, 10))
def mahalanobis_gmm(x, a):
    S = a @ a.T + 10 * jnp.eye(10)
    mu = jnp.stack([x[:200].mean(0), x[200:500].mean(0), x[500:].mean(0)])
    L = jnp.linalg.cholesky(S)
    z = jax.vmap(lambda m: jax.scipy.linalg.solve_triangular(L, (x - m).T, lower=True))(mu)
    lp = -0.5 * (z ** 2).sum(1) - jnp.log(jnp.diag(L)).sum()
    r = jax.nn.softmax(lp, axis=0)
    return r, (r @ x) / r.sum(1, keepdims=True)

@program(ints(50, 64, 40), arr(50, 32), arr(32, 50))
def ngram_embed_loss(tok, e, w):
    def loss(e, w):
        x = e[tok].cumsum(1) / jnp.arange(1, 41.)[:, None]
        l = x[:, :-1] @ w
        return (jax.nn.logsumexp(l, -1) - jnp.take_along_axis(l, tok[:, 1:, None], -1)[..., 0]).mean()
    return jax.value_and_grad(loss, (0, 1))(e, w)

@program(arr(30), arr(2000, 30))
def newton_logistic(w, x):
    y = (x @ jnp.ones(30) > 0).astype(jnp.float32)
    def loss(w):
        return jax.nn.softplus(-(2 * y - 1) * (x @ w)).mean() + 1e-3 * (w ** 2).sum()
    def step(_, w):
        return w - jnp.linalg.solve(jax.hessian(loss)(w), jax.grad(loss)(w))
    return lax.fori_loop(0, 4, step, w)

@program(arr(500, 20), arr(20, 5))
def pca_power(x, q):
    x = x - x.mean(0)
    def step(_, q):
        q, _ = jnp.linalg.qr(x.T @ (x @ q))
        return q
    return lax.fori_loop(0, 15, step, q)

@program(arr(64, 64), arr(64))
def cg_solver(a, b):
    A = a @ a.T + 64 * jnp.eye(64)
    return jax.scipy.sparse.linalg.cg(lambda v: A @ v, b, maxiter=40)[0]

@program(random.PRNGKey(1))
def monte_carlo_option(key):
    z = random.normal(key, (20000, 12))
    s = 100 * jnp.exp(jnp.cumsum(-0.5 * 0.04 / 12 + 0.2 * jnp.sqrt(1 / 12) * z, axis=1))
    pay = jnp.maximum(s.mean(1) - 100, 0)
    return pay.mean(), pay.std()

@program(arr(100, 100))
def heat_implicit(u):
    d = jnp.full(100, 1.4); o = jnp.full(100, -0.2)
    def step(u, _):
        u = lax.linalg.tridiagonal_solve(o.at[0].set(0), d, o.at[-1].set(0), u)
        return u, u.max()
    return lax.scan(step, u, None, length=10)

@program(arr(64, 28, 28, 1), arr(3, 3, 1, 16) * .2, arr(14 * 14 * 16, 10) * .05, ints(10, 64))
def cnn_step(x, w, d, y):
    def loss(w, d):
        h = jax.nn.relu(conv(x, w))
        h = lax.reduce_window(h, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID").reshape(64, -1)
        l = jax.nn.log_softmax(h @ d)
        return -(jax.nn.one_hot(y, 10) * l).sum(-1).mean()
    return jax.value_and_grad(loss, (0, 1))(w, d)

@program(arr(100, 3), arr(100, 3))
def icp_align(a, b):
    def step(_, a):
        j = ((a[:, None] - b[None]) ** 2).sum(-1).argmin(1)
        m = b[j]; ca, cm = a.mean(0), m.mean(0)
        u, _, vt = jnp.linalg.svd((a - ca).T @ (m - cm))
        return (a - ca) @ (u @ vt) + cm
    return lax.fori_loop(0, 5, step, a)

@program(arr(16, 16, 8))
def viterbi(e):
    T = jnp.log(jnp.ones((8, 8)) / 8)
    def one(e):
        def step(s, x):
            m = s[:, None] + T
            return m.max(0) + x, m.argmax(0)
        s, back = lax.scan(step, e[0], e[1:])
        last = s.argmax()
        _, path = lax.scan(lambda k, b: (b[k], k), last, back, reverse=True)
        return path, s.max()
    return jax.vmap(one)(e)

@program(arr(40, 40))
def expm_markov(a):
    q = jnp.abs(a); q = q - jnp.diag(q.sum(1))
    return jax.scipy.linalg.expm(q * 0.05)

@program(pos(50, 50), ints(50, 100), ints(50, 100))
def bellman_ford(w, s, t):
    d = jnp.full((100, 50), jnp.inf).at[jnp.arange(100), s].set(0)
    d = lax.fori_loop(0, 10, lambda i, d: jnp.minimum(d, (d[:, :, None] + w[None]).min(1)), d)
    return d[jnp.arange(100), t]

@program(arr(256, 4), arr(256, 3))
def quaternion_rotate(q, v):
    q = q / jnp.linalg.norm(q, axis=1, keepdims=True)
    w, u = q[:, :1], q[:, 1:]
    t = 2 * jnp.cross(u, v)
    return v + w * t + jnp.cross(u, t)
