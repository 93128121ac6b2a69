"""Options of `jit`: its arguments, resolved against the signature of the function."""
from __future__ import annotations

import enum
import inspect
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

import numpy as np

from .. import backends
from ..representation import partial_sums, tree
from ..representation.arguments import argument_name, is_position, signature_of
from ..representation.placements import is_open, is_placement
from ..representation.source import describe_function
from ..representation.typing import PyTree

if TYPE_CHECKING:
    from ..representation.aval import AbstractValue
    from ..representation.typing import ShardingLike


class Inline(enum.Enum):
    """Where the program of a nested jitted function is written out; value of the argument ``inline`` of `jit`.

    ``JAX_EARLY`` (True) writes its equations into the caller's program. With the others it stays one `jit` equation: ``JAX_LATE``
    writes it out when it is lowered, ``XLA_LATE`` has XLA keep the call until late, and with ``XLA_EARLY`` and ``AUTO`` (False) XLA
    does what it does by default, which is to write it out early.
    """

    AUTO = "auto"
    JAX_EARLY, JAX_LATE = "jax_early", "jax_late"
    XLA_EARLY, XLA_LATE = "xla_early", "xla_late"


class Unspecified:
    """In place of placements: nothing was said."""

    def __repr__(self) -> str:
        return "UNSPECIFIED"


UNSPECIFIED = Unspecified()


def _inline(inline: Any) -> Inline:
    if isinstance(inline, Inline):
        return inline
    if not isinstance(inline, (bool, np.bool_)):
        raise ValueError(f"jit: inline must be a bool or a member of jax.Inline, got {inline!r}")
    return Inline.JAX_EARLY if inline else Inline.AUTO


class JitOptions:
    """The arguments of `jit`, resolved against the function's signature."""

    __slots__ = ("static_argnums", "static_argnames", "donate_argnums", "donate_argnames", "in_shardings",
                 "out_shardings", "keep_unused", "device", "backend", "inline", "compiler_options", "in_block", "whole")

    def __init__(self, fun, static_argnums, static_argnames, donate_argnums, donate_argnames, in_shardings,
                 out_shardings, keep_unused, device, backend, inline, compiler_options, in_block=False):
        signature = signature_of(fun)
        self.static_argnums, self.static_argnames = resolve_argnums(
            fun, signature, static_argnums, static_argnames, "static")
        self.donate_argnums, self.donate_argnames = resolve_argnums(
            fun, signature, donate_argnums, donate_argnames, "donate")
        both = sorted(set(self.static_argnums) & set(self.donate_argnums)) or sorted(set(self.static_argnames) & set(self.donate_argnames))
        if both:
            raise ValueError(f"jit: arguments {both} of {describe_function(fun)} are both static and donated; "
                             "a static argument has no buffer to donate")
        self.in_block = in_block  # whether the mesh of a ``with mesh:`` block says where it runs
        self.whole = in_block and out_shardings is not UNSPECIFIED  # whether None then asks for whole results
        in_shardings, out_shardings = (_without_unspecified(s) for s in (in_shardings, out_shardings))
        self.in_shardings, self.out_shardings = in_shardings, out_shardings
        for name, asked in (("in_shardings", in_shardings), ("out_shardings", out_shardings)):
            for leaf in tree.leaves(asked) if asked is not None else ():
                _check_placement(fun, name, leaf)
        self.keep_unused, self.device, self.backend = keep_unused, device, backend
        self.inline = _inline(inline)
        if compiler_options and not isinstance(compiler_options, Mapping):
            raise TypeError(f"jit: compiler_options must be a dict of options of XLA, got {compiler_options!r} of type {type(compiler_options).__name__}")
        self.compiler_options = tuple(sorted(compiler_options.items())) if compiler_options else ()

    def key(self) -> tuple | None:
        """Two wrappers of one function with equal keys do the same; None where placements make that hard to tell."""
        if self.in_shardings is not None or self.out_shardings is not None or self.device is not None:
            return None
        return (self.in_block, self.whole, self.static_argnums, self.static_argnames, self.donate_argnums, self.donate_argnames, self.keep_unused,
                self.backend, self.inline, self.compiler_options)


def resolve_argnums(fun: Callable, signature, argnums, argnames, kind: str) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Positions and names that mean the same arguments, each worked out from the other where the signature tells.

    Raises:
      ValueError: a position or name that the function does not have.
      TypeError: not integers, not strings.
    """
    given_nums, given_names = argnums is not None, argnames is not None
    if not given_nums and not given_names:
        return (), ()
    nums = _as_tuple(argnums, int, f"jit: {kind}_argnums")
    names = _as_tuple(argnames, str, f"jit: {kind}_argnames")
    if signature is None:
        return nums, names
    kinds = inspect.Parameter
    parameters = list(signature.parameters.values())
    positional = [p for p in parameters if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)]
    variadic = any(p.kind == kinds.VAR_POSITIONAL for p in parameters)
    keywords = any(p.kind == kinds.VAR_KEYWORD for p in parameters)
    if not variadic:
        bad = [i for i in nums if not -len(positional) <= i < len(positional)]
        if bad:
            raise ValueError(f"jit: {kind}_argnums={nums} has {bad}, but {describe_function(fun)} takes "
                             f"{len(positional)} positional arguments")
        nums = tuple(sorted({i % len(positional) for i in nums})) if positional else nums
    known = {p.name for p in parameters if p.kind in (kinds.POSITIONAL_OR_KEYWORD, kinds.KEYWORD_ONLY)}
    unknown = [a for a in names if a not in known]
    if unknown and not keywords:
        raise ValueError(f"jit: {kind}_argnames has {unknown}, which are not parameters of {describe_function(fun)}")
    if given_nums and not given_names:
        names = tuple(positional[i].name for i in nums
                      if 0 <= i < len(positional) and positional[i].kind == kinds.POSITIONAL_OR_KEYWORD)
    elif given_names and not given_nums:
        nums = tuple(i for i, p in enumerate(positional) if p.name in names)
    return nums, names


def _as_tuple(value, kind, what):
    if value is None:
        return ()
    if kind is str and isinstance(value, str):
        return (value,)
    if kind is int and is_position(value):
        return (value.__index__(),)
    try:
        items = tuple(v.__index__() if kind is int else v for v in value)
    except (TypeError, AttributeError):
        items = None
    if items is None or not all(isinstance(v, kind) for v in items):
        raise TypeError(f"{what} must be {'an int or ints' if kind is int else 'a str or strs'}, got {value!r}")
    return items


def _without_unspecified(shardings: PyTree) -> PyTree:
    """``shardings`` with None where they say UNSPECIFIED, which brainstate passes as the default of its own jit."""
    if shardings is None or not any([leaf is UNSPECIFIED for leaf in tree.leaves(shardings)]):
        return shardings
    return tree.map(lambda leaf: None if leaf is UNSPECIFIED else leaf, shardings)


def _check_placement(fun, name, placement) -> None:
    """Raise TypeError where it is none, ValueError where it is a layout alone, or leaves an axis to the compiler, which is for
    placements inside of programs."""
    if not is_placement(placement):
        try:
            backends.get().placements.asked_for(placement, ())
        except (TypeError, ValueError) as error:
            error.args = (f"jit of {describe_function(fun)}: {name}: {error}",)
            raise
    spec = getattr(placement, "spec", placement)
    open_axis = getattr(type(spec), "UNCONSTRAINED", None)
    if open_axis is not None and open_axis in spec:
        raise ValueError(f"jit of {describe_function(fun)}: Unconstrained dims are not allowed in {name}, got {placement}; name mesh axes, or "
                         "None for an axis that is whole")


def asked_placements(shardings: PyTree, structure: tree.PyTreeDef, avals: Sequence[AbstractValue], name: str, fun: Callable) -> tuple | None:
    """The placements that the argument ``name`` of `jit` asks for, one for each leaf; None where nothing is specified.

    Raises:
      TypeError: something is not a placement. RuntimeError: a `PartitionSpec` where no mesh is in context.
      ValueError: ``shardings`` is no prefix of the values, or a placement does not fit its value.
      NotImplementedError: an argument that is no sum shall be unreduced.
    """
    flat = _flat_placements(shardings, structure, len(avals), name, fun)
    if flat is None:
        return None
    asked_for = backends.get().placements.asked_for

    def one(i, placement: ShardingLike | None):
        if avals[i].is_high:
            raise NotImplementedError(f"jit of {describe_function(fun)}: {name} asks for {placement} of a value of the high-level type {avals[i]}, "
                                      "which cannot be placed; leave it None, and place the arrays that it is made of")
        try:
            found = asked_for(placement, avals[i].shape)
            sums = getattr(getattr(found, "spec", None), "unreduced", None)
            if sums and name == "in_shardings" and partial_sums.of(avals[i]).unreduced != sums:
                raise NotImplementedError(f"{found.spec} says that the devices hold addends of a sum, and the argument is no such sum; make it one "
                                          "by jax.sharding.reshard, and leave in_shardings out")
            return found
        except (TypeError, ValueError, RuntimeError) as error:  # NotImplementedError is one of the last kind
            leaf = tree.flatten_with_path(tree.skeleton(structure))[0][i][0]
            where = argument_name(fun, leaf, ((), ())) if name == "in_shardings" else tree.keystr(leaf)
            error.args = (f"jit of {describe_function(fun)}: {name} for {where or 'the result'} of type {avals[i]}: {error}",)
            raise
    return tuple(None if p is None else one(i, p) for i, p in enumerate(flat))


def placements_of_results(options: JitOptions, structure: tree.PyTreeDef, avals: Sequence[AbstractValue], fun: Callable, block: object) -> tuple | None:
    """The placements that ``out_shardings`` asks for; ``block`` is that of whole arrays in a ``with mesh:`` block, or None outside."""
    asked = asked_placements(options.out_shardings, structure, avals, "out_shardings", fun)
    if block is None or not options.whole:
        return asked
    return tuple(block if p is None else p for p in asked or (None,) * len(avals))


def _flat_placements(shardings, structure, count, name, fun) -> tuple | None:
    """``shardings`` (None, one for all, or a pytree prefix) for each leaf."""
    if shardings is None:
        return None
    whole = tree.skeleton(structure)
    if name == "in_shardings" and whole[1]:
        raise ValueError(f"jit of {describe_function(fun)}: in_shardings are for positional arguments, and the call has the keyword "
                         f"arguments {sorted(whole[1])}; pass them by position.")
    try:
        if name != "in_shardings":
            flat = tree.broadcast_prefix(shardings, whole, is_leaf=lambda x: x is None, names=(name, "result"))
        elif type(shardings) in (tuple, list):  # of positional arguments; those by name have none
            flat = tree.broadcast_prefix(tuple(shardings), whole[0], is_leaf=lambda x: x is None, names=(name, "args"))
        elif isinstance(shardings, (dict, tuple, list)):
            what = type(shardings).__name__
            raise ValueError(f"in_shardings is a {what}, but it is for the tuple of positional arguments; give a tuple with one entry for each of "
                             f"them: in_shardings=({'{...}' if what == 'dict' else f'{what}(...)'},)")
        else:
            flat = [shardings] * count
    except ValueError as error:
        raise ValueError(f"jit of {describe_function(fun)}: {error}") from None
    return tuple(None if is_open(p) else p for p in flat)
