"""The pullback that `vjp` returns: a function from the cotangent of the result to those of the arguments, and a pytree.

It holds the tape of the linearized function. Whoever asks for its residuals (a pytree operation, ``args_res``) gets them
from the tape written as a program; from then on that program is transposed in place of the tape.
"""
from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from .. import backends
from ..configuration import context
from ..references.indexing import WHOLE
from ..references.primitives import addupdate_p, is_ref
from ..representation import dtypes, splits, tree, tree_nodes
from ..representation.aval import AbstractRef, ShapedArray, get_aval
from ..representation.primitive import Linear, Zero
from ..representation.source import transformed
from ..traces.structural import convert_element_type_p, instantiate
from .logs import Logs
from .reverse import backward_pass

if TYPE_CHECKING:
    from ..representation.aval import AbstractValue
    from ..representation.tree import PyTreeDef


class _Sentinel:
    """A value without contents; all instances of a class are equal."""

    __slots__ = ()

    def __eq__(self, other):
        return type(other) is type(self)

    def __hash__(self):
        return hash(type(self))

    def __repr__(self):
        return f"{type(self).__name__}()"


class GradValue(_Sentinel):
    """For `VJP.with_refs`: return this gradient as a value, as it is by default."""

    __slots__ = ()


class DontWant(_Sentinel):
    """For `VJP.with_refs`: do not compute this gradient."""

    __slots__ = ()


class GradRef(_Sentinel):
    """In the result of a pullback: the gradient was added to the reference given to `VJP.with_refs`."""

    __slots__ = ()


class DidntWant(_Sentinel):
    """In the result of a pullback: this gradient was not asked for."""

    __slots__ = ()


class NotNeeded(_Sentinel):
    """In ``VJP.args_res``: the backward pass does not read this argument."""

    __slots__ = ()


class NotSaveable(_Sentinel):
    """In ``VJP.args_res``: the backward pass reads this argument, which was not to be kept; put it back here."""

    __slots__ = ()


def _nothing_in(x: Any) -> tuple:
    return (), type(x)


for _cls in (GradRef, DidntWant, NotNeeded, NotSaveable):
    tree_nodes.register_pytree_node(_cls, _nothing_in, lambda cls, _: cls())


def _weakly(x: Any) -> Callable[[], Any]:
    """Gives ``x`` as long as somebody holds it; numbers and what else cannot be told to be gone are held."""
    try:
        return weakref.ref(x)
    except TypeError:
        return lambda: x


class Tape:
    """What a linearized function left: flat primals, and the trace with the tangents of inputs and outputs.

    Args:
      primals: flat arguments. What no derivative reads is not kept alive: of a chain of layers each would hold the input of the next.
      nonzero: which of them have a tangent on the tape.
      inputs: their tangents, in order.
      trace: the `reverse.LinearizeTrace`.
      tangents: tangents of the results.
    """

    __slots__ = ("primals", "nonzero", "inputs", "trace", "tangents")

    def __init__(self, primals, nonzero, inputs, trace, tangents):
        self.primals, self.nonzero, self.inputs = list(map(_weakly, primals)), nonzero, inputs
        self.trace, self.tangents = trace, tangents

    def transpose(self, cts: Sequence[object], wanted: Sequence[bool] | None) -> list:
        return self.trace.transpose(self.inputs, self.tangents, cts, wanted)

    def written(self, saveable: Sequence[bool]) -> "Residuals":
        """The tape as a program. Arguments among its residuals are kept only where ``saveable`` says so."""
        live = [t for t in self.tangents if not isinstance(t, Zero)]
        jaxpr, residuals = self.trace.to_jaxpr(self.inputs, live)
        position = {id(known()): i for i, known in reversed(list(enumerate(self.primals)))}
        kept: list = [NotNeeded()] * len(self.primals)
        sources: list = []
        opaque: list = []
        for r in residuals:
            i = position.get(id(r))
            if i is None:
                sources.append(~len(opaque))
                opaque.append(r)
            else:
                sources.append(i)
                kept[i] = r if saveable[i] else NotSaveable()
        flags = tuple(not isinstance(t, Zero) for t in self.tangents)
        return Residuals(jaxpr, tuple(sources), tuple(x.aval for x in self.inputs), flags, kept, opaque)


class Residuals:
    """A linear program, and the values that it reads: leaves of the function's arguments in ``kept``, others in ``opaque``.

    ``sources`` says for each residual of the program the index of the leaf, or ``~j`` for the j-th other one. `args_res` shows the leaves
    as arguments; from then on these are looked at, as the user may put others in their places.
    """

    __slots__ = ("jaxpr", "sources", "in_avals", "nonzero_out", "kept", "opaque", "shown")
    shown: list | None

    def __init__(self, jaxpr, sources, in_avals, nonzero_out, kept, opaque, shown=None):
        self.jaxpr, self.sources, self.in_avals, self.nonzero_out = jaxpr, sources, in_avals, nonzero_out
        self.kept, self.opaque, self.shown = kept, opaque, shown

    def static(self) -> tuple:
        return self.jaxpr, self.sources, self.in_avals, self.nonzero_out

    def args_res(self, in_tree: PyTreeDef) -> list:
        """The arguments that are kept, one by one; `NotNeeded` and `NotSaveable` in the places of others."""
        if self.shown is None:
            self.shown = list(in_tree.unflatten(self.kept))
        return self.shown

    def look_again(self, in_tree: PyTreeDef) -> None:
        """Take over what the user made of the arguments; None stands for one of which nothing is there.

        Raises:
          ValueError: an argument has another structure than it had.
        """
        if self.shown is None:
            return
        kept: list = []
        trees = in_tree.children()
        if len(trees) != len(self.shown):
            raise ValueError(f"vjp: args_res has {len(self.shown)} entries, but the function has {len(trees)} arguments")
        for i, (structure, arg) in enumerate(zip(trees, self.shown)):
            if arg is None:
                kept += [NotSaveable()] * structure.num_leaves
                continue
            try:
                kept += structure.flatten_up_to(arg)
            except (ValueError, TypeError) as error:
                raise ValueError(f"vjp: args_res[{i}] must have the structure of that argument, {structure}, or be None. {error}") from None
        self.kept = kept

    def values(self) -> list:
        """What the program reads."""
        return [self.kept[i] if i >= 0 else self.opaque[~i] for i in self.sources]

    def transpose(self, cts: Sequence[object], wanted: Sequence[bool] | None, refs: Sequence[object] = ()) -> list:
        """Cotangents of the inputs; those of parts of an input that has one in ``refs`` (None elsewhere) are added to that instead."""
        values = self.values()
        absent = [i for i, x in zip(self.sources, values) if isinstance(x, NotSaveable)]
        if absent:
            raise ValueError(f"vjp: the pullback reads arguments that it does not hold (flat positions {absent}), as saveable_args said not to "
                             "keep them or they were taken out; put their values back, in its attribute args_res, before calling it.")
        live = [ct for ct, nz in zip(cts, self.nonzero_out) if nz]
        with transformed("transpose"):
            found = backward_pass(self.jaxpr, (), [*values, *map(Linear, self.in_avals)], live,
                                  None if wanted is None else [*[False] * len(values), *wanted],
                                  {v: ref for v, ref in zip(self.jaxpr.invars[len(values):], refs) if ref is not None})
        return found[len(values):]


class VJP:
    """The pullback that `vjp` returns: a function of the cotangent, and a pytree (of its residuals).

    Attributes:
      in_tree, out_tree: structures of the arguments and of the result.
      out_nzs: which results depend on the arguments, in the structure of the result.
      args_res: list of the arguments, with the arrays of them that the backward pass reads; `NotNeeded` in the places of the others.
        An argument can be taken out (None), to be put back before a call.
      opaque_residuals: the other values that it reads.
      structured_residuals: for each equation of ``jaxpr`` what its rule keeps in a tree of its own (the fourth value of
        `hijax.HiPrim.vjp_fwd`), or an empty list.
      jaxpr: the linear program that is transposed.
      want_logs: whether a call returns logs too (`with_logs`).
    """

    def __init__(self, backing: Tape | Residuals, nonzero: Sequence[bool], in_avals: Sequence[Any], in_tree: Any, out_tree: Any,
                 out_avals: Sequence[Any], name: Callable[[], str] | str = "", wants: Sequence[Any] | None = None,
                 want_logs: bool = False):
        self._backing: Any = backing
        self._nonzero, self._in_avals, self._name = tuple(nonzero), tuple(in_avals), name
        self.in_tree, self.out_tree, self.out_avals = in_tree, out_tree, out_avals
        self._wants, self.want_logs = wants, want_logs

    def __call__(self, *cotangents):
        if self.want_logs:
            with Logs() as logs:
                found = self._pull(cotangents)
            return found, logs.entries
        return self._pull(cotangents)

    def _pull(self, cotangents):
        if len(cotangents) != 1:
            name = self._shown_name()
            raise TypeError(f"The function returned by `jax.vjp`{f' of {name}' if name else ''} takes one argument, the cotangent of "
                            f"the output, got {len(cotangents)}; for an output of several parts give them as one pytree, of structure "
                            f"{self.out_tree}")
        flat, ct_tree = tree.flatten(cotangents[0], is_leaf=lambda x: isinstance(x, Zero))
        if ct_tree != self.out_tree:
            raise ValueError(f"vjp: tree structure of cotangent input {ct_tree}, does not match structure of primal "
                             f"output {self.out_tree}")
        cts = [_checked_cotangent(ct, aval) for ct, aval in zip(flat, self.out_avals)]
        if self._wants is None and not any(type(a) is AbstractRef for a in self._in_avals):
            found = self.fun(*cts)
            weak = [(is_weak(get_aval(ct)), is_weak(a)) for ct, a in zip(cts, self.out_avals) if not isinstance(ct, Zero)]
            # a cotangent that is stronger than the result makes strong what it is multiplied into; a weaker one makes nothing strong
            stronger, weaker = (False, True) in weak, (True, False) in weak
            return tree.unflatten(self.in_tree, [shown(x) if stronger or weaker and not is_weak(a) else shown_of(a, x)
                                                 for a, x in zip(self._in_avals, found)])
        self._check_wants()
        return tree.unflatten(self.in_tree, [_delivered(ct, want) for ct, want in zip(self.fun(*cts), self._all_wants())])

    def fun(self, *cts: Any) -> list:
        """Flat cotangents (or `Zero`) of all arguments for those of the results."""
        aux = len(self._tangent_flags()) - len(cts)
        wanted = None if self._wants is None else [not isinstance(want, DontWant) for want, nz in zip(self._wants, self._nonzero) if nz]
        refs = [] if self._wants is None else [want if is_ref(want) else None for want, nz in zip(self._wants, self._nonzero) if nz]
        if isinstance(self._backing, Residuals):
            self._backing.look_again(self.in_tree)
        if all(ref is None for ref in refs):
            found = iter(self._backing.transpose([*cts, *[None] * aux], wanted))
        else:
            found = iter(self._residuals().transpose([*cts, *[None] * aux], wanted, refs))
        return [next(found) if nz else Zero(_cotangent_aval(a)) for nz, a in zip(self._nonzero, self._in_avals)]

    def _tangent_flags(self) -> tuple[bool, ...]:
        if isinstance(self._backing, Residuals):
            return self._backing.nonzero_out
        return tuple(not isinstance(t, Zero) for t in self._backing.tangents)

    # -- where gradients go --------------------------------------------------------------------------------------------

    def with_refs(self, *wants: Any) -> "VJP":
        """The same pullback, which delivers gradients as told.

        Args:
          wants: in the structure of the arguments, for each array a mutable reference (its gradient is added to that, and
            `GradRef` is returned in its place), `GradValue` (it is returned) or `DontWant` (`DidntWant` is returned).

        Raises:
          ValueError: another structure. TypeError: another entry than these.
        """
        flat, structure = tree.flatten(wants)
        if structure != self.in_tree:
            raise ValueError(f"with_refs: entries of structure {structure} given for arguments of structure {self.in_tree}"
                             f"{f' of {self._shown_name()}' if self._shown_name() else ''}; give one entry for each array: a reference, "
                             "jax.ad.GradValue() or jax.ad.DontWant()")
        for want, nonzero in zip(flat, self._nonzero):  # an argument without tangent has no gradient that would go anywhere
            if nonzero and not (isinstance(want, (GradValue, DontWant)) or is_ref(want)):
                raise TypeError(f"with_refs: {want!r} of type {type(want).__name__} says not where the gradient goes; give a "
                                "mutable reference, jax.ad.GradValue() or jax.ad.DontWant()")
        return self._with(flat, self.want_logs)

    @property
    def with_logs(self) -> "VJP":
        """The same pullback, which returns a pair: the cotangents, and a dict of what the backward functions on the way logged
        (`custom_vjp.defvjp_with_logs`); a loop stacks the logs of its steps."""
        return self._with(self._wants, True)

    def _with(self, wants: Sequence[Any] | None, want_logs: bool) -> "VJP":
        return VJP(self._backing, self._nonzero, self._in_avals, self.in_tree, self.out_tree, self.out_avals, self._name, wants, want_logs)

    def _all_wants(self) -> Sequence[Any]:
        return [GradValue()] * len(self._in_avals) if self._wants is None else self._wants

    def _check_wants(self) -> None:
        for i, (aval, want) in enumerate(zip(self._in_avals, self._all_wants())):
            if type(aval) is AbstractRef and isinstance(want, GradValue):
                raise ValueError(
                    f"vjp: the argument at flat position {i}{f' of {self._shown_name()}' if self._shown_name() else ''} is a mutable reference, "
                    "so its gradient must be added to one: give that, or jax.ad.DontWant(), to the pullback's method with_refs.")

    # -- residuals ----------------------------------------------------------------------------------------------------

    def keep(self, saveable: Sequence[bool]) -> None:
        """Keep only those arguments among the residuals for which ``saveable`` is true."""
        self._backing = self._backing.written(saveable)

    def _residuals(self) -> Residuals:
        if isinstance(self._backing, Tape):
            self.keep([True] * len(self._in_avals))
        return self._backing

    @property
    def args_res(self) -> list:
        return self._residuals().args_res(self.in_tree)

    @args_res.setter
    def args_res(self, values: Sequence[object]) -> None:
        self._residuals().shown = list(values)

    opaque_residuals = property(lambda self: self._residuals().opaque)

    @property
    def structured_residuals(self) -> list:
        from .structured_residuals import structured_residuals  # start-up: few look at them
        return structured_residuals(self.jaxpr, self._residuals().values())

    jaxpr = property(lambda self: self._residuals().jaxpr)

    @property
    def out_nzs(self) -> Any:
        return tree.skeleton(self.out_tree, self._tangent_flags()[:len(self.out_avals)])

    def __repr__(self):
        return f"VJP({self._shown_name() or 'function'}: {self.out_tree} -> {self.in_tree})"

    def _shown_name(self) -> str:
        return self._name() if callable(self._name) else self._name


def shown(tangent: object) -> Any:
    """A tangent or cotangent as users get it: an array, or a value of the program that is being traced, also where it is a scalar of NumPy,
    as of a zero that nothing computed."""
    if not isinstance(tangent, (Zero, np.generic)):
        return tangent
    x = instantiate(tangent)
    if not isinstance(x, (np.generic, float, complex)):
        return x
    made = context.state.trace.array_made(x, x)
    return backends.get().put(x, tangent.aval if isinstance(tangent, Zero) else None) if made is x else made


def is_weak(aval: AbstractValue) -> bool:
    return getattr(aval, "weak_type", False)


def shown_of(aval: AbstractValue, tangent: object) -> Any:
    """`shown`, and as weakly typed as the value of type ``aval`` that it belongs to, whatever it was computed with."""
    x = shown(tangent)
    own = get_aval(x)
    if type(aval) is not ShapedArray or type(own) is not ShapedArray or own.weak_type == aval.weak_type or own.dtype != aval.dtype:
        return x
    return convert_element_type_p.bind(x, new_dtype=own.dtype, weak_type=aval.weak_type, sharding=None)


def _cotangent_aval(aval):
    return (aval.inner_aval if type(aval) is AbstractRef else aval).to_ct_aval()


def _checked_cotangent(ct, aval):
    want = aval.to_ct_aval()
    if isinstance(ct, Zero):
        return Zero(want)
    got = get_aval(ct)
    if want.is_high or got.is_high:
        if got != want:
            raise ValueError(f"vjp: cotangent of type {got} given for a primal output of type {aval}; {want} is expected")
        return ct
    ignored = want.dtype == dtypes.float0
    if got.shape != want.shape or got.dtype != want.dtype and not ignored:
        raise ValueError(f"vjp: cotangent of type {got.str_short()} given for a primal output of type {aval.str_short()}; shape "
                         f"and dtype must be equal (expected {want.str_short()})")
    if want.placement is not None and got.placement is not None and splits.entries(want) != splits.entries(got):
        raise ValueError(f"vjp: cotangent of type {got.str_short()} given for a primal output of type {aval.str_short()}; it must be split over the same "
                         "Explicit mesh axes (jax.sharding.reshard)")
    return Zero(want) if ignored else ct


def _delivered(ct, want):
    if isinstance(want, GradValue):
        return shown(ct)
    if isinstance(want, DontWant) or not is_ref(want):
        return DidntWant()
    if not isinstance(ct, Zero):
        addupdate_p.bind(want, ct, index=WHOLE)
    return GradRef()


def _flatten_vjp(vjp: VJP):
    held = vjp._residuals()
    wants = None if vjp._wants is None else tuple(vjp._wants)
    static = (held.shown is not None, held.static(), vjp._nonzero, vjp._in_avals, vjp.in_tree, vjp.out_tree, tuple(vjp.out_avals), vjp._name,
              vjp.want_logs)
    return (held.kept if held.shown is None else held.shown, held.opaque, wants), static


def _unflatten_vjp(aux, children):
    is_shown, static, nonzero, in_avals, in_tree, out_tree, out_avals, name, want_logs = aux
    args, opaque, wants = children
    held = Residuals(*static, None, list(opaque), list(args)) if is_shown else Residuals(*static, list(args), list(opaque))
    return VJP(held, nonzero, in_avals, in_tree, out_tree, out_avals, name, wants, want_logs)


tree_nodes.register_pytree_node(VJP, _flatten_vjp, _unflatten_vjp)


def flags(name: str, given: object, structure: PyTreeDef) -> list[bool]:
    """``given``, a bool or nested sequences of bools that is a prefix of ``structure``, for each leaf.

    Containers are matched by their number of children only, so a tuple may stand for a dict.

    Raises:
      ValueError: not a prefix, or something else than bools.
    """
    if isinstance(given, bool):
        return [given] * structure.num_leaves
    if not isinstance(given, (tuple, list, dict)):
        raise ValueError(f"vjp: {name} holds bools, got {given!r} of type {type(given).__name__}")
    items = list(given.values()) if isinstance(given, dict) else list(given)
    children = structure.children()
    if len(items) != len(children):
        raise ValueError(f"vjp: {name} has {len(items)} entries where the arguments have {len(children)}: {structure}")
    return [f for item, child in zip(items, children) for f in flags(name, item, child)]
