"""What programs do to random keys: which inputs they consume, and whether their results are new keys or those that came in.

A program is walked once. Each variable that holds keys, or their words, belongs to an origin: an input, or the equation that
made new keys. An equation consumes (`Sink`) its operands' origins, makes new keys (`Source`), or passes an origin on
(`Forward`); a second consumption of the same keys raises. Programs within programs have signatures of their own, and the
body of a loop is walked twice, so that what it consumes in one step is missed in the next.

Keys made by an operation that nothing is known of count as consumed.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from jax_core.programs.tracing import make_jaxpr
from jax_core.representation import dtypes
from jax_core.representation.errors import KeyReuseError
from jax_core.representation.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, program_of
from jax_core.representation.primitive import Primitive, none
from jax_core.representation.traits import Keys
from jax_core.traces.structural import broadcast_in_dim_p, convert_element_type_p, transpose_p
from jax_core.transformations.checkpoint import remat_p
from jax_numpy_api.lax.compare import eq_p, ne_p
from jax_numpy_api.lax.control_flow.cond import cond_p
from jax_numpy_api.lax.control_flow.scan import scan_p
from jax_numpy_api.lax.control_flow.while_loop import while_p
from jax_numpy_api.lax.gather import gather_p
from jax_numpy_api.lax.scatter import scatter_p
from jax_numpy_api.lax.shape import concatenate_p, reshape_p, squeeze_p
from jax_numpy_api.lax.slicing import dynamic_slice_p, dynamic_update_slice_p, slice_p

from .primitives import random_fold_in_p, random_seed_p, random_split_p, random_unwrap_p, random_wrap_p

if TYPE_CHECKING:
    from jax_core.representation.array import Array
    from jax_core.representation.typing import PyTree


# -- signatures --------------------------------------------------------------------------------------------------------

class _OnKeys:
    """An operand or result, by position, and which of its keys are meant: all, none, or those where ``mask`` is true."""

    __slots__ = ("idx", "mask")
    idx: int
    mask: Any

    def __init__(self, idx: int, mask: Any = True):
        mask = np.array(mask, bool)
        if mask.size and mask.all() or not mask.any():
            mask = np.array(bool(mask.any() or not mask.size))
        mask.flags.writeable = False
        object.__setattr__(self, "idx", idx)
        object.__setattr__(self, "mask", mask)

    def __setattr__(self, name, value):
        raise ValueError(f"{type(self).__name__}: attribute {name} cannot be changed; make another")

    def _key(self):
        return type(self), self.idx, self.mask.shape, self.mask.tobytes()

    def __eq__(self, other):
        return isinstance(other, _OnKeys) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        return f"{type(self).__name__}({self.idx}{'' if self.mask.all() else f', {self.mask.tolist()}'})"


class Sink(_OnKeys):
    """The operand at ``idx`` is consumed."""


class Source(_OnKeys):
    """The result at ``idx`` is made of new keys."""


class Forward:
    """The result at ``out_idx`` is the operand at ``in_idx``."""

    __slots__ = ("in_idx", "out_idx")

    def __init__(self, in_idx: int, out_idx: int):
        self.in_idx, self.out_idx = in_idx, out_idx

    def __eq__(self, other):
        return isinstance(other, Forward) and (self.in_idx, self.out_idx) == (other.in_idx, other.out_idx)

    def __hash__(self):
        return hash((Forward, self.in_idx, self.out_idx))

    def __repr__(self):
        return f"Forward({self.in_idx}, {self.out_idx})"


class KeyReuseSignature:
    """A set of `Sink`, `Source` and `Forward`: what an operation does to keys."""

    def __init__(self, *args: Sink | Source | Forward):
        self.args = frozenset(args)

    def _of(self, kind):
        return sorted((a for a in self.args if type(a) is kind), key=repr)

    sinks = property(lambda self: self._of(Sink))
    sources = property(lambda self: self._of(Source))
    forwards = property(lambda self: self._of(Forward))

    def __eq__(self, other):
        return isinstance(other, KeyReuseSignature) and self.args == other.args

    def __hash__(self):
        return hash(self.args)

    def __repr__(self):
        return f"KeyReuseSignature({', '.join(map(repr, [*self.sinks, *self.sources, *self.forwards]))})"


# -- keys that were looked at --------------------------------------------------------------------------------------------

def _follower(name: str) -> Primitive:
    """A primitive that is its operand, and is there for the walk to see."""
    unused = none("it only serves to follow keys through programs, and has no derivative")
    prim: Primitive = Primitive(name, out_type=lambda key, **_: key, jvp=unused, transpose=unused, lower=lambda b, key, **_: key,
                     batch=lambda axis, args, dims, **params: (prim.bind(args[0], **params), dims[0]),
                     impl=lambda key, **_: key, cacheable=False)
    return prim


consume_p, assert_consumed_value_p = _follower("consume"), _follower("assert_consumed_value")


def consume(key: object) -> Any:
    """``key``, which counts as consumed from here on."""
    return consume_p.bind(key)


def assert_consumed(key: Array, value: object = True) -> None:
    """Have `check_key_reuse` raise AssertionError unless ``key`` is consumed here (those keys where ``value`` is true)."""
    assert_consumed_value_p.bind(key, value=np.asarray(value))


def assert_unconsumed(key: Array) -> None:
    """Have `check_key_reuse` raise AssertionError if ``key`` is consumed here."""
    assert_consumed(key, False)


# -- the walk ------------------------------------------------------------------------------------------------------------

def _is_key(aval: Any) -> bool:
    return dtypes.issubdtype(getattr(aval, "dtype", np.float32), dtypes.prng_key)


class _Origin:
    """Where keys come from, their shape, and which of them are consumed."""

    __slots__ = ("shape", "used")

    def __init__(self, shape: tuple[int, ...], used: bool = False):
        self.shape, self.used = shape, np.full(shape, used)

    def consume(self, shape: tuple[int, ...], mask: Any) -> bool:
        """Consume keys; whether one of them was consumed before. Of keys that were given another shape, all."""
        mask = np.broadcast_to(mask, self.shape) if shape == self.shape else np.full(self.shape, bool(np.any(mask)))
        again = bool(np.any(self.used & mask))
        self.used = self.used | mask
        return again


class _Words(_Origin):
    """The words of keys, as one call took them out: a sampler may draw from them as often as it likes, which consumes the keys once."""

    __slots__ = ("keys",)

    def __init__(self, keys: _Origin):
        super().__init__(keys.shape)
        self.keys = keys

    def consume(self, shape: tuple[int, ...], mask: object) -> bool:
        before = self.used
        super().consume(shape, mask)
        new = self.used & ~before
        return bool(new.any()) and self.keys.consume(self.shape, new)


def _input(aval: Any) -> _Origin:
    """The origin of an input of a program, keys or words of keys."""
    return _Origin(aval.shape) if _is_key(aval) else _Words(_Origin(aval.shape[:-1]))


class _Walk:
    """Origins of the variables of one program while its equations pass by."""

    def __init__(self) -> None:
        self.origins: dict[Any, _Origin] = {}

    def origin(self, v: Any) -> _Origin | None:
        if type(v) is Literal:
            return None
        if v not in self.origins and _is_key(v.aval):
            self.origins[v] = _Origin(v.aval.shape)
        return self.origins.get(v)

    def step(self, eqn: JaxprEqn) -> None:
        found = [self.origin(v) for v in eqn.invars]
        if eqn.primitive is assert_consumed_value_p and found[0] is not None:
            value = eqn.params["value"]
            if not np.array_equal(found[0].used, np.broadcast_to(value, found[0].shape)):
                raise AssertionError(f"the keys {eqn.invars[0].aval.str_short()} should be consumed where {value}, and are where "
                                     f"{found[0].used}")
        signature = key_reuse_signature(eqn, [x is not None for x in found])
        self.apply(str(eqn.primitive), signature, found, eqn.invars, eqn.outvars)

    def apply(self, name: str, signature: KeyReuseSignature, found: Sequence[_Origin | None], ins: Sequence[Any], outs: Sequence[Any]) -> None:
        for sink in signature.sinks:
            origin = found[sink.idx]
            if origin is not None and origin.consume(_keys_shape(ins[sink.idx], origin), sink.mask):
                raise KeyReuseError(f"In {name}, argument {sink.idx} is already consumed. Numbers that are drawn from one key twice "
                                    "are not independent: make a key for each use with jax.random.split.")
        fresh: dict[int, _Origin] = {}
        for forward in signature.forwards:
            origin = found[forward.in_idx]
            if origin is not None:
                words = _is_key(ins[forward.in_idx].aval) and not _is_key(outs[forward.out_idx].aval)
                fresh[forward.out_idx] = _Words(origin) if words else origin
        for source in signature.sources:
            if _is_key(outs[source.idx].aval):
                fresh[source.idx] = new = _Origin(outs[source.idx].aval.shape)
                new.used = ~np.broadcast_to(source.mask, new.shape)
        for i, v in enumerate(outs):
            if i in fresh:
                self.origins[v] = fresh[i]
            elif _is_key(v.aval):
                self.origins[v] = _Origin(v.aval.shape, used=True)

    def signature(self, jaxpr: Jaxpr, inputs: Sequence[_Origin | None]) -> KeyReuseSignature:
        entries: list[Any] = [Sink(i, origin.used) for i, origin in enumerate(inputs) if origin is not None and origin.used.any()]
        place = {id(origin): i for i, origin in reversed(list(enumerate(inputs))) if origin is not None}
        for i, v in enumerate(jaxpr.outvars):
            origin = self.origin(v)
            if isinstance(origin, _Words) and id(origin) not in place:
                origin = origin.keys
            if origin is not None and id(origin) in place:
                entries.append(Forward(place[id(origin)], i))
            elif origin is not None and not origin.used.all():
                same = _keys_shape(v, origin) == origin.shape
                entries.append(Source(i, ~origin.used if same else not origin.used.any()))
        return KeyReuseSignature(*entries)


def _keys_shape(v: Any, origin: _Origin) -> tuple[int, ...]:
    """The shape of the keys that ``v`` holds; words have axes of their own at the end."""
    return v.aval.shape if _is_key(v.aval) else v.aval.shape[:len(origin.shape)]


def walk(jaxpr: Jaxpr, holds: Sequence[bool]) -> KeyReuseSignature:
    """The signature of a program, of whose inputs those that ``holds`` says are keys or words of keys."""
    state = _Walk()
    inputs: list[_Origin | None] = []
    for v, h in zip(jaxpr.invars, holds):
        origin = None
        if h:
            origin = state.origins[v] = _input(v.aval)
        inputs.append(origin)
    for eqn in jaxpr.eqns:
        state.step(eqn)
    return state.signature(jaxpr, inputs)


def _of(closed: ClosedJaxpr, holds: Sequence[bool]) -> KeyReuseSignature:
    return closed.memo(("key reuse", tuple(holds)), lambda: walk(closed.jaxpr, holds))


# -- signatures of primitives --------------------------------------------------------------------------------------------

def _slice_signature(eqn: JaxprEqn, holds: Sequence[bool]) -> KeyReuseSignature:
    aval = eqn.invars[0].aval
    parts = tuple(map(slice, eqn.params["start_indices"], eqn.params["limit_indices"], eqn.params["strides"] or (1,) * len(aval.shape)))
    if not _is_key(aval) and len(range(*parts[-1].indices(aval.shape[-1]))) < aval.shape[-1]:
        return KeyReuseSignature()  # some words of a key are no key
    mask = np.zeros(aval.shape if _is_key(aval) else aval.shape[:-1], bool)
    mask[parts[:mask.ndim]] = True
    return KeyReuseSignature(Sink(0, mask), Source(0))


def _cond_signature(eqn: JaxprEqn, holds: Sequence[bool]) -> KeyReuseSignature:
    found = [_of(branch, holds[1:]) for branch in eqn.params["branches"]]
    sinks: dict[int, Any] = {}
    for sink in (s for f in found for s in f.sinks):
        sinks[sink.idx] = sinks.get(sink.idx, False) | sink.mask
    common = frozenset.intersection(*[f.args for f in found])
    return KeyReuseSignature(*[Sink(i + 1, mask) for i, mask in sinks.items()], *[s for s in common if type(s) is Source],
                             *[Forward(f.in_idx + 1, f.out_idx) for f in common if type(f) is Forward])


class _Loop:
    """Origins of what a loop carries from step to step."""

    def __init__(self, name: str, operands: Sequence[Any], holds: Sequence[bool]):
        self.name, self.walk = name, _Walk()
        self.inputs = [_input(v.aval) if h else None for v, h in zip(operands, holds)]

    def run(self, what: str, closed: ClosedJaxpr, operands: Sequence[_Origin | None]) -> list[_Origin | None]:
        signature = _of(closed, [x is not None for x in operands])
        try:
            self.walk.apply(what, signature, operands, closed.jaxpr.invars, closed.jaxpr.outvars)
        except KeyReuseError as error:
            raise KeyReuseError(f"{self.name} {what} function leads to key reuse when it is run again: {error}") from None
        return [self.walk.origin(v) if _is_key(v.aval) else None for v in closed.jaxpr.outvars]

    def signature(self, outs: Sequence[_Origin | None]) -> KeyReuseSignature:
        entries: list[Any] = [Sink(i, x.used) for i, x in enumerate(self.inputs) if x is not None and x.used.any()]
        place = {id(x): i for i, x in enumerate(self.inputs) if x is not None}
        for i, x in enumerate(outs):
            if x is not None and id(x) in place:
                entries.append(Forward(place[id(x)], i))
            elif x is not None and not x.used.any():
                entries.append(Source(i))
        return KeyReuseSignature(*entries)


def _scan_signature(eqn: JaxprEqn, holds: Sequence[bool]) -> KeyReuseSignature:
    body, n_consts, n_carry = eqn.params["jaxpr"], eqn.params["num_consts"], eqn.params["num_carry"]
    loop = _Loop("scan", eqn.invars, holds)
    consts, carry = loop.inputs[:n_consts], loop.inputs[n_consts:n_consts + n_carry]
    outs: list[_Origin | None] = []
    for _ in range(min(2, eqn.params["length"])):
        slices = [_Origin(v.aval.shape[1:] if _is_key(v.aval) else v.aval.shape[1:-1]) if h else None
                  for v, h in zip(eqn.invars[n_consts + n_carry:], holds[n_consts + n_carry:])]
        outs = loop.run("body", body, [*consts, *carry, *slices])
        carry = outs[:n_carry]
        for whole, part in zip(loop.inputs[n_consts + n_carry:], slices):
            if whole is not None and part is not None and part.used.any():
                whole.used = np.full(whole.shape, True)
    return loop.signature(outs)


def _while_signature(eqn: JaxprEqn, holds: Sequence[bool]) -> KeyReuseSignature:
    n_cond, n_body = eqn.params["cond_nconsts"], eqn.params["body_nconsts"]
    loop = _Loop("while_loop", eqn.invars, holds)
    cond_consts, body_consts, carry = loop.inputs[:n_cond], loop.inputs[n_cond:n_cond + n_body], loop.inputs[n_cond + n_body:]
    for _ in range(2):
        loop.run("cond", eqn.params["cond_jaxpr"], [*cond_consts, *carry])
        carry = loop.run("body", eqn.params["body_jaxpr"], [*body_consts, *carry])
    return loop.signature(carry)


def _concatenate_signature(eqn: JaxprEqn, holds: Sequence[bool]) -> KeyReuseSignature:
    if not _is_key(eqn.outvars[0].aval) and eqn.params["dimension"] == len(eqn.outvars[0].aval.shape) - 1:
        return KeyReuseSignature()  # of words, one key's behind another's
    return KeyReuseSignature(*map(Sink, range(len(eqn.invars))), Source(0))


def _checkpoint_signature(eqn: JaxprEqn, holds: Sequence[bool]) -> KeyReuseSignature:
    """What is computed again in a backward pass draws the same numbers, as it should."""
    return KeyReuseSignature() if eqn.params["differentiated"] else _of(eqn.params["jaxpr"], holds)


def _each_in_its_place(eqn: JaxprEqn, holds: Sequence[bool]) -> KeyReuseSignature:
    return KeyReuseSignature(*[Forward(i, i) for i in range(len(eqn.invars))])


_SAME = KeyReuseSignature(Forward(0, 0))


class _Signatures(dict):
    """By primitive: a `KeyReuseSignature`, or a function ``(equation, which operands hold keys) -> KeyReuseSignature``.

    What is not listed has one by its trait; None where nothing is known.
    """

    def __missing__(self, prim: Primitive) -> Any:
        effect = prim.traits.keys
        if effect is Keys.CONSUMED:
            return KeyReuseSignature(Sink(0))
        if effect is Keys.PASSED:
            return _each_in_its_place if prim.multiple_results else _SAME
        return None


key_reuse_signatures: dict[Primitive, KeyReuseSignature | Callable] = _Signatures({
    consume_p: KeyReuseSignature(Sink(0), Forward(0, 0)),
    **dict.fromkeys([assert_consumed_value_p, broadcast_in_dim_p, convert_element_type_p, dynamic_slice_p, gather_p, random_unwrap_p,
                     reshape_p, squeeze_p, transpose_p], _SAME),
    random_seed_p: KeyReuseSignature(Source(0)), random_wrap_p: KeyReuseSignature(Source(0)),
    random_split_p: KeyReuseSignature(Sink(0), Source(0)), random_fold_in_p: KeyReuseSignature(Source(0)),
    dynamic_update_slice_p: KeyReuseSignature(Sink(1), Forward(0, 0)), scatter_p: KeyReuseSignature(Sink(2), Forward(0, 0)),
    eq_p: KeyReuseSignature(), ne_p: KeyReuseSignature(),
    slice_p: _slice_signature, concatenate_p: _concatenate_signature,
    cond_p: _cond_signature, remat_p: _checkpoint_signature, scan_p: _scan_signature, while_p: _while_signature,
})


def _on_whole(eqn: JaxprEqn, inner: ClosedJaxpr, found: KeyReuseSignature) -> KeyReuseSignature:
    """What a program does, where its inputs and results may be parts of the equation's: of a whole, what happens to any key of a part is done to all."""
    def same(outer: Any, part: Any) -> bool:
        return outer.aval.shape == part.aval.shape
    entries = []
    for a in found.args:
        if type(a) is Sink and not same(eqn.invars[a.idx], inner.jaxpr.invars[a.idx]):
            a = Sink(a.idx, bool(a.mask.any()))
        elif type(a) is Source and not same(eqn.outvars[a.idx], inner.jaxpr.outvars[a.idx]):
            a = Source(a.idx, bool(a.mask.all()))
        entries.append(a)
    return KeyReuseSignature(*entries)


def key_reuse_signature(eqn: JaxprEqn, holds: Sequence[bool]) -> KeyReuseSignature:
    """What an equation does to keys, of whose operands those that ``holds`` says are keys or words of keys."""
    if not any(holds) and not any(_is_key(v.aval) for v in eqn.outvars):
        return KeyReuseSignature()
    known = key_reuse_signatures[eqn.primitive]
    if known is None:
        inner = program_of(eqn)
        if inner is not None:
            return _on_whole(eqn, inner, _of(inner, holds))
        return KeyReuseSignature(*[Sink(i) for i, v in enumerate(eqn.invars) if holds[i] and _is_key(v.aval)])
    return known if isinstance(known, KeyReuseSignature) else known(eqn, holds)


# -- whole programs ------------------------------------------------------------------------------------------------------

def jaxpr_type_signature(jaxpr: Jaxpr | ClosedJaxpr) -> KeyReuseSignature:
    """What a program does to the keys among its inputs.

    Raises:
      KeyReuseError: it consumes keys twice.
    """
    program = jaxpr.jaxpr if isinstance(jaxpr, ClosedJaxpr) else jaxpr
    found = walk(program, [_is_key(v.aval) for v in program.invars])
    return KeyReuseSignature(*[a for a in found.args if type(a) is not Forward or _is_key(program.outvars[a.out_idx].aval)])


def function_type_signature(fun: Callable[..., PyTree], *args: Any) -> KeyReuseSignature:
    """`jaxpr_type_signature` of the program of ``fun(*args)``."""
    return jaxpr_type_signature(make_jaxpr(fun)(*args))


def check_key_reuse(fun: Callable[..., PyTree], /, *args: Any) -> None:
    """Follow the keys through ``fun(*args)``, without running it.

    Raises:
      KeyReuseError: keys are consumed twice.
    """
    function_type_signature(fun, *args)


def consumed_inputs(program: ClosedJaxpr) -> tuple[bool, ...]:
    """Which inputs of a program are keys that it consumes."""
    sinks = {sink.idx for sink in _of(program, [_is_key(v.aval) for v in program.jaxpr.invars]).sinks}
    return tuple(i in sinks for i in range(len(program.jaxpr.invars)))


def consumed_results(program: ClosedJaxpr) -> tuple[bool, ...]:
    """Which results of a program are keys all of which it consumed."""
    signature, consumed = _of(program, [_is_key(v.aval) for v in program.jaxpr.invars]), consumed_inputs(program)
    good = {s.idx for s in signature.sources} | {f.out_idx for f in signature.forwards if not consumed[f.in_idx]}
    return tuple(_is_key(v.aval) and i not in good for i, v in enumerate(program.jaxpr.outvars))
