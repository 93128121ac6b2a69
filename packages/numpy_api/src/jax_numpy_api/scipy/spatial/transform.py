"""jax.scipy.spatial.transform: rotations in three dimensions, as unit quaternions ``(x, y, z, w)``.

Conversions avoid the points where one formula has no derivative by series or by another formula.

Source: Shoemake, "Animating rotation with quaternion curves", SIGGRAPH 1985; Shepperd, "Quaternion from rotation matrix",
J. Guidance and Control 1 (1978); Markley et al., "Averaging quaternions", J. Guidance, Control, and Dynamics 30 (2007).
"""
from __future__ import annotations

import re
from typing import Any, NamedTuple, Sequence

import numpy as np

from jax_core.extension_points import random_functions
from jax_core.representation.arguments import joint_shape
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike, DTypeLike

from ... import lax, numpy as jnp
from ...numpy.promotion import promote_dtypes_inexact

__all__ = ["Rotation", "Slerp"]

# -- quaternions -------------------------------------------------------------------------------------------------------


def _inexact(x: Any) -> Array:
    return promote_dtypes_inexact(jnp.asarray(x))[0]


def _vectors(name: str, x: Any, length: int) -> Array:
    x = _inexact(x)
    if x.shape[-1:] != (length,):
        raise ValueError(f"Rotation.{name}: expected an array of shape ({length},) or (..., {length}), got {x.shape}")
    return x


def _normalised(q):
    size = jnp.sqrt(jnp.sum(q * q, -1, keepdims=True))
    return q / size


def _product(p, q):
    """Hamilton's product."""
    pv, pw, qv, qw = p[..., :3], p[..., 3:], q[..., :3], q[..., 3:]
    v = pw * qv + qw * pv + jnp.cross(pv, qv)
    return jnp.concatenate([v, pw * qw - jnp.sum(pv * qv, -1, keepdims=True)], -1)


def _from_rotvec(v):
    square = jnp.sum(v * v, -1, keepdims=True)
    small = jnp.abs(square) < 1e-6
    angle = jnp.sqrt(jnp.where(small, 1.0, square))
    ratio = jnp.where(small, 0.5 - square / 48 + square * square / 3840, jnp.sin(0.5 * angle) / angle)
    w = jnp.where(small, 1 - square / 8 + square * square / 384, jnp.cos(0.5 * angle))
    return jnp.concatenate([v * ratio, w], -1)


def _to_rotvec(q):
    q = jnp.where(q[..., 3:] < 0, -q, q)
    v, w = q[..., :3], q[..., 3:]
    square = jnp.sum(v * v, -1, keepdims=True)
    small = jnp.abs(square) < 1e-7
    size = jnp.sqrt(jnp.where(small, 1.0, square))
    ratio = 2 * jnp.arctan2(size, w) / size
    return v * jnp.where(small, 2 + square / 3, ratio)


def _to_matrix(q):
    x, y, z, w = (q[..., i] for i in range(4))
    rows = [[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]]
    return jnp.stack([jnp.stack(r, -1) for r in rows], -2)


def _from_matrix(m):
    """From the largest component, so that nothing cancels."""
    d = [m[..., i, i] for i in range(3)]
    trace = d[0] + d[1] + d[2]
    candidates = []
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        q = [None] * 4
        q[i] = 1 - trace + 2 * d[i]
        q[j] = m[..., j, i] + m[..., i, j]
        q[k] = m[..., k, i] + m[..., i, k]
        q[3] = m[..., k, j] - m[..., j, k]
        candidates.append(jnp.stack(q, -1))
    candidates.append(jnp.stack([m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1],
                                 1 + trace], -1))
    largest = jnp.argmax(jnp.stack([*d, trace], -1), -1)[..., None]
    out = candidates[3]
    for i in range(3):
        out = jnp.where(largest == i, candidates[i], out)
    return _normalised(out)


# -- Euler angles ------------------------------------------------------------------------------------------------------

def _axes(seq: str, most: int = 3) -> tuple[list[int], bool]:
    """Axes of a sequence, and whether they turn with the body (capital letters)."""
    if not re.fullmatch(f"[xyz]{{1,{most}}}|[XYZ]{{1,{most}}}", seq):
        raise ValueError(f"Rotation: seq={seq!r} must be 1 to {most} letters, all of 'xyz' (fixed axes) or all of 'XYZ' (axes that turn)")
    if any(a == b for a, b in zip(seq, seq[1:])):
        raise ValueError(f"Rotation: seq={seq!r} turns about one axis twice in a row; add the two angles")
    return ["xyz".index(c) for c in seq.lower()], seq.isupper()


def _elementary(axis, angle):
    half = 0.5 * angle
    parts = [jnp.zeros_like(half)] * 3
    parts[axis] = jnp.sin(half)
    return jnp.stack([*parts, jnp.cos(half)], -1)


def _to_euler(q, axes, intrinsic):
    """Bernardes, Viollet, "Quaternion to Euler angles conversion", PLoS ONE 17 (2022)."""
    order = axes[::-1] if intrinsic else axes
    i, j, k = order
    symmetric = i == k
    if symmetric:
        k = 3 - i - j
    sign = (i - j) * (j - k) * (k - i) // 2
    x = [q[..., n] for n in range(4)]
    if symmetric:
        a, b, c, d = x[3], x[i], x[j], x[k] * sign
    else:
        a, b, c, d = x[3] - x[j], x[i] + x[k] * sign, x[j] + x[3], x[k] * sign - x[i]
    middle = 2 * jnp.arctan2(jnp.hypot(c, d), jnp.hypot(a, b))
    eps = 1e-7
    low, high = jnp.abs(middle) <= eps, jnp.abs(middle - np.pi) <= eps
    half_sum, half_difference = jnp.arctan2(b, a), jnp.arctan2(d, c)
    first, third = half_sum - half_difference, half_sum + half_difference
    # where the middle angle locks the others, the last one to be applied (of the body: the first) is set to 0
    locked = jnp.where(low, 2 * half_sum, 2 * half_difference * (1 if intrinsic else -1))
    stuck = low | high
    outer = jnp.where(stuck, locked, third if intrinsic else first)
    inner = jnp.where(stuck, 0.0, first if intrinsic else third)
    if not symmetric:
        if intrinsic:
            outer = outer * sign
        else:
            inner = inner * sign
        middle = middle - 0.5 * np.pi
    angles = [outer, middle, inner]

    def wrapped(v: Array):
        return v - 2 * np.pi * jnp.round(v / (2 * np.pi))
    return jnp.stack([wrapped(angles[0]), angles[1], wrapped(angles[2])], -1)


# -- Rotation ----------------------------------------------------------------------------------------------------------

class Rotation(NamedTuple):
    """One rotation, or several: ``quat`` is ``(4,)`` or ``(n, 4)``."""

    quat: Array

    @classmethod
    def from_quat(cls, quat: ArrayLike) -> "Rotation":
        """From quaternions ``(x, y, z, w)`` of any length but 0.

        Raises:
          ValueError: another shape than ``(4,)`` or ``(n, 4)``.
        """
        return cls(_normalised(_vectors("from_quat", quat, 4)))

    @classmethod
    def from_matrix(cls, matrix: ArrayLike) -> "Rotation":
        """From orthogonal matrices ``(..., 3, 3)``."""
        m = _inexact(matrix)
        if m.shape[-2:] != (3, 3):
            raise ValueError(f"Rotation.from_matrix: matrix must have shape (..., 3, 3), got {m.shape}")
        return cls(_from_matrix(m))

    @classmethod
    def from_rotvec(cls, rotvec: ArrayLike, degrees: bool = False) -> "Rotation":
        """From rotation vectors: axis times angle.

        Raises:
          ValueError: another shape than ``(3,)`` or ``(n, 3)``.
        """
        v = _vectors("from_rotvec", rotvec, 3)
        return cls(_from_rotvec(jnp.deg2rad(v) if degrees else v))

    @classmethod
    def from_mrp(cls, mrp: ArrayLike) -> "Rotation":
        """From modified Rodrigues parameters: axis times the tangent of a quarter of the angle.

        Raises:
          ValueError: another shape than ``(3,)`` or ``(n, 3)``.
        """
        v = _vectors("from_mrp", mrp, 3)
        square = jnp.sum(v * v, -1, keepdims=True)
        return cls(jnp.concatenate([2 * v, 1 - square], -1) / (1 + square))

    @classmethod
    def from_euler(cls, seq: str, angles: ArrayLike, degrees: bool = False) -> "Rotation":
        """From angles about up to three axes: capital letters turn with the body, small ones stay.

        Args:
          seq: such as "zyx". angles: ``(k,)`` or ``(n, k)``, for one axis also a number or ``(n,)``.

        Raises:
          ValueError: another ``seq``, or angles that are not as many.
        """
        axes, intrinsic = _axes(seq)
        angles = _inexact(angles)
        angles = lax.convert_element_type(jnp.deg2rad(angles) if degrees else angles, angles.dtype)  # a number's weak type ends here
        if len(axes) == 1 and (angles.ndim == 0 or angles.shape[-1] != 1):
            angles = angles[..., None]
        if angles.shape[-1:] != (len(axes),):
            raise ValueError(f"Rotation.from_euler: {len(axes)} axes need angles of shape (..., {len(axes)}), got {angles.shape}")
        q = _elementary(axes[0], angles[..., 0])
        for n in range(1, len(axes)):
            e = _elementary(axes[n], angles[..., n])
            q = _product(q, e) if intrinsic else _product(e, q)
        return cls(q)

    @classmethod
    def identity(cls, num: int | None = None, dtype: DTypeLike = float) -> "Rotation":
        """No rotation, or ``num`` of them."""
        one = jnp.array([0, 0, 0, 1], dtype)
        return cls(one if num is None else jnp.tile(one, (num, 1)))

    @classmethod
    def random(cls, random_key: ArrayLike, num: int | None = None) -> "Rotation":
        """Uniformly distributed rotations."""
        return cls.from_quat(random_functions.get().normal(random_key, (4,) if num is None else (num, 4)))

    @classmethod
    def concatenate(cls, rotations: Sequence) -> "Rotation":
        """Several rotations in one."""
        return cls(jnp.concatenate([jnp.atleast_2d(r.quat) for r in rotations]))

    @property
    def single(self) -> bool:
        """Whether this is one rotation."""
        return self.quat.ndim == 1

    def as_quat(self, canonical: bool = False, scalar_first: bool = False) -> Array:
        """Quaternions ``(x, y, z, w)``.

        Args:
          canonical: of a quaternion and its negative, the one whose first nonzero of w, x, y, z is positive.
          scalar_first: ``(w, x, y, z)``.
        """
        q = self.quat
        if canonical:
            x, y, z, w = (q[..., i] for i in range(4))
            negative = (w < 0) | (w == 0) & ((x < 0) | (x == 0) & ((y < 0) | (y == 0) & (z < 0)))
            q = jnp.where(negative[..., None], -q, q)
        return jnp.roll(q, 1, -1) if scalar_first else q

    def as_matrix(self) -> Array:
        """Matrices ``(..., 3, 3)``."""
        return _to_matrix(self.quat)

    def as_rotvec(self, degrees: bool = False) -> Array:
        """Rotation vectors, of an angle between 0 and pi."""
        v = _to_rotvec(self.quat)
        return jnp.rad2deg(v) if degrees else v

    def as_mrp(self) -> Array:
        """Modified Rodrigues parameters, of length at most 1."""
        q = jnp.where(self.quat[..., 3:] < 0, -self.quat, self.quat)
        return q[..., :3] / (1 + q[..., 3:])

    def as_euler(self, seq: str, degrees: bool = False) -> Array:
        """Angles about three axes, as for `from_euler`."""
        if len(seq) != 3:
            raise ValueError(f"Expected 3 axes, got {seq}.")
        axes, intrinsic = _axes(seq)
        angles = _to_euler(self.quat, axes, intrinsic)
        return jnp.rad2deg(angles) if degrees else angles

    def apply(self, vectors: ArrayLike, inverse: bool = False) -> Array:
        """Turn vectors ``(3,)`` or ``(n, 3)``."""
        q = self.inv().quat if inverse else self.quat
        v = _inexact(vectors)
        if v.shape[-1:] != (3,):
            raise ValueError(f"Rotation.apply: vectors must have shape (3,) or (n, 3), got {v.shape}")
        axis, w = q[..., :3], q[..., 3:]
        shape = joint_shape(axis.shape, v.shape)
        v, axis, w = (jnp.broadcast_to(x, shape) for x in (v, axis, w))
        t = 2 * jnp.cross(axis, v)
        return v + w * t + jnp.cross(axis, t)

    def inv(self) -> "Rotation":
        """The inverse rotation."""
        return Rotation(jnp.concatenate([-self.quat[..., :3], self.quat[..., 3:]], -1))

    def magnitude(self) -> Array:
        """The angle, between 0 and pi."""
        v = self.quat[..., :3]
        return 2 * jnp.arctan2(jnp.sqrt(jnp.sum(v * v, -1)), jnp.abs(self.quat[..., 3]))

    def mean(self, weights: ArrayLike | None = None) -> "Rotation":
        """The mean rotation: the quaternion with the largest weighted sum of squared products with all."""
        q = jnp.atleast_2d(self.quat)
        w = jnp.ones(q.shape[0], q.dtype) if weights is None else jnp.asarray(weights, q.dtype)
        if w.shape != q.shape[:1]:
            raise ValueError(f"Rotation.mean: weights must have shape {q.shape[:1]}, got {w.shape}")
        _, vectors = jnp.linalg.eigh(jnp.matmul(q.T * w[None, :], q, precision="highest"))
        return Rotation.from_quat(vectors[:, -1])

    def __mul__(self, other: "Rotation") -> "Rotation":  # type: ignore[override]  # rotations are no sequences of arrays
        """First ``other``, then this one."""
        p, q = jnp.broadcast_arrays(self.quat, other.quat)
        return Rotation(_normalised(_product(p, q)))

    def __getitem__(self, index: Any) -> "Rotation":  # type: ignore[override]
        if self.single:
            raise TypeError("Single rotation is not subscriptable.")
        return Rotation(self.quat[index])

    def __len__(self) -> int:
        if self.single:
            raise TypeError("Single rotation has no len().")
        return self.quat.shape[0]

    def __iter__(self):
        return iter([self.quat])  # as a tuple of its fields, which is how pytrees see it


class Slerp(NamedTuple):
    """Interpolation of rotations at constant angular speed. Make one with `Slerp.init`."""

    times: Array
    timedelta: Array
    rotations: Rotation
    rotvecs: Array

    @classmethod
    def init(cls, times: ArrayLike, rotations: Rotation) -> "Slerp":
        """From rising times ``(n,)`` and as many rotations, at least two."""
        if not isinstance(rotations, Rotation):
            raise TypeError("`rotations` must be a `Rotation` instance.")
        if rotations.single or len(rotations) < 2:
            raise ValueError("`rotations` must be a sequence of at least 2 rotations.")
        times = jnp.asarray(times, rotations.quat.dtype)
        if times.ndim != 1 or times.shape[0] != len(rotations):
            raise ValueError(f"Slerp.init: times must have shape {(len(rotations),)}, got {times.shape}")
        start = Rotation(rotations.quat[:-1])
        step = start.inv() * Rotation(rotations.quat[1:])
        return cls(times, jnp.diff(times), start, step.as_rotvec())

    def __call__(self, times: ArrayLike) -> Rotation:
        """The rotations at ``times``, between the first and the last."""
        t = jnp.asarray(times, self.times.dtype)
        single = t.ndim == 0
        t = jnp.atleast_1d(t)
        if t.ndim != 1:
            raise ValueError("`times` must be at most 1-dimensional.")
        i = jnp.clip(jnp.searchsorted(self.times, t, side="right") - 1, 0, self.times.shape[0] - 2)
        part = (t - self.times[i]) / self.timedelta[i]
        out = Rotation(self.rotations.quat[i]) * Rotation.from_rotvec(self.rotvecs[i] * part[:, None])
        return Rotation(out.quat[0]) if single else out
