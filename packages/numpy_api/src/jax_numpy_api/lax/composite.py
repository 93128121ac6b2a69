"""Operations that mean something to the compiler beyond their value: composites, sinks, tokens, lifting into a trace.

Source: StableHLO specification, `composite`, `create_token`, `after_all`.
"""
from __future__ import annotations

import operator
import re
from typing import TYPE_CHECKING, Any, Callable, Mapping

import numpy as np

from jax_core.references.discharge import call_rule
from jax_core.representation import tree
from jax_core.representation.array import Array
from jax_core.representation.aval import Token, abstract_token, get_aval
from jax_core.representation.effects import UsualEffect
from jax_core.representation.errors import UnexpectedTracerError
from jax_core.representation.jaxpr import ClosedJaxpr, eval_jaxpr
from jax_core.representation.marks import ZERO
from jax_core.representation.primitive import Primitive, ProgramPrimitive, none
from jax_core.representation.traits import Kind, Traits
from jax_core.representation.typing import ArrayLike
from jax_core.traces.staging import trace_to_jaxpr
from jax_core.traces.structural import copy_p
from jax_core.traces.trace import Tracer
from jax_core.transformations import batching
from jax_core.transformations.forward import jvp_flat

if TYPE_CHECKING:
    from jax_core.representation.typing import PyTree

# -- composite -----------------------------------------------------------------------------------------------------------

def _run(call_jaxpr, *args):
    return eval_jaxpr(call_jaxpr.jaxpr, call_jaxpr.consts, *args)


def _composite_jvp(primals, tangents, *, call_jaxpr, **params):
    """The decomposition's: the name is the value's, not the derivative's."""
    outs = composite_p.bind(*primals, call_jaxpr=call_jaxpr, **params)
    return outs, jvp_flat(lambda *args: _run(call_jaxpr, *args), primals, tangents)[1]


def _composite_batch(axis, args, dims, *, call_jaxpr, **params):
    """A batch of the decomposition, without the name, as a composite promises its operands' ranks to the compiler."""
    fun, out_dims = batching.batch_fun(lambda *xs: _run(call_jaxpr, *xs), axis, dims)
    outs = fun(*args)
    return outs, out_dims()


_op_name = re.compile(r"[a-zA-Z]\w*(\.[\w$]+)+", re.ASCII)


def _composite_lower(b, *operands, name, version, attributes, call_jaxpr):
    if not _op_name.fullmatch(name):
        raise ValueError(f"lax.composite: {name!r} is no name of an operation for the compiler: it takes a namespace and a name, as 'my.name', "
                         "of ASCII letters, digits and _.")
    symbol = b.function(name, call_jaxpr, operands)
    fields = ", ".join(f"{key} = {_attribute(b, value)}" for key, value in attributes)
    text = f"composite_attributes = {{{fields}}}, " if fields else ""
    revision = f", version = {version} : i32" if version else ""
    return b.emit(f'stablehlo.composite "{name}" {", ".join(map(str, operands))}', *operands, out=list(b.out_avals),
                  attrs=f"{{{text}decomposition = @{symbol}{revision}}}")


def _attribute(b, value) -> str:
    if isinstance(value, _Contents):
        value = value.value
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value)).lower()
    if isinstance(value, (int, np.integer)):
        return f"{int(value)} : {_KINDS[type(value)] if isinstance(value, np.integer) else 'i64'}"
    if isinstance(value, (float, np.float16, np.float32)):
        width = 8 * getattr(value, "itemsize", 8) if isinstance(value, np.floating) else 64
        bits = np.asarray(value, f"f{width // 8}").view(f"u{width // 8}")
        return f"{float(value):e} : f{width}" if np.isfinite(value) else f"0x{int(bits):0{width // 4}X} : f{width}"
    if isinstance(value, (str, bytes)):
        text = value.decode() if isinstance(value, bytes) else value
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, np.ndarray):
        return b.array_attribute(value)
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(_attribute(b, v) for v in value)}]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {_attribute(b, v)}" for key, v in value.items()) + "}"
    raise TypeError(f"lax.composite: attribute {value!r} of type {type(value).__name__} must be a number, a string, an array, or a "
                    "sequence or mapping of these.")


_KINDS = {np.dtype(name).type: name.replace("uint", "ui").replace("int", "i")
          for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")}


class _Contents:
    """An attribute that has no hash: equal to those with the same contents."""

    __slots__ = ("value", "key")

    def __init__(self, value):
        self.value, self.key = value, _key(value)

    def __eq__(self, other):
        return isinstance(other, _Contents) and self.key == other.key

    def __hash__(self):
        return hash(self.key)

    def __repr__(self):
        return repr(self.value)


def _key(value):
    if isinstance(value, np.ndarray):
        return "array", value.shape, str(value.dtype), value.tobytes()
    if isinstance(value, Mapping):
        return "mapping", tuple((k, _key(v)) for k, v in value.items())
    if isinstance(value, (list, tuple)):
        return "sequence", tuple(map(_key, value))
    return type(value), value


def _known(name, key, value):
    """The attribute as a parameter of the equation: by its contents, with arrays as NumPy's."""
    if isinstance(value, Tracer):
        raise UnexpectedTracerError(
            f"lax.composite: attribute {key!r} of the composite {name!r} is {value}, a value of a program that is being written, and "
            "attributes are part of the program's text; pass it as an argument.")
    if isinstance(value, Array):
        value = np.asarray(value)
    if isinstance(value, (np.ndarray, Mapping, list)):
        return _Contents(value)
    return value


composite_p = ProgramPrimitive(
    "composite", jvp=_composite_jvp, batch=_composite_batch, lower=_composite_lower,
    out_type=lambda *avals, call_jaxpr, **params: call_jaxpr.out_avals,
    transpose=none("lax.composite is differentiated as its decomposition, so it is never transposed"),
    reference=lambda *args, call_jaxpr, **params: _run(call_jaxpr, *args),
    linearize=none("it is differentiated as its decomposition"), split=none("it is one operation to the compiler"),
    dce=none("the compiler's form gives all results"), discharge=call_rule("call_jaxpr"),
    program="call_jaxpr", traits=Traits(Kind.CALL),
    impl=lambda *args, call_jaxpr, **_: _run(call_jaxpr, *args))  # where no compiler sees the name, it may be any


def composite(decomposition: Callable[..., PyTree], name: str, version: int = 0) -> Callable:
    """A function that the compiler may recognise by name; else it is what ``decomposition`` computes.

    Args:
      decomposition: function of arrays; keyword arguments are attributes of the operation: numbers, strings, arrays, and
        sequences and mappings of these. Values of a surrounding program must be arguments.
      name: by which the compiler knows it.
      version: of its meaning.

    Returns:
      a function of the same arguments. Attributes given as None are left out.

    Raises:
      UnexpectedTracerError: a traced value is an attribute, or is read by the decomposition without being an argument.

    Source: StableHLO `composite`.

    >>> twice = jax.lax.composite(lambda x: x + x, name='my.twice')
    >>> twice(3.0)
    Array(6., dtype=float32, weak_type=True)
    >>> 'stablehlo.composite "my.twice"' in jax.jit(twice).lower(3.0).as_text()
    True
    """
    if not callable(decomposition):
        raise TypeError(f"lax.composite: decomposition must be a function, got {decomposition!r}")
    if not isinstance(name, str):
        raise TypeError(f"lax.composite: name must be a string as 'my.name', got {name!r}")
    version = operator.index(version)

    def composed(*args, **attributes):
        known = tuple((k, _known(name, k, v)) for k, v in attributes.items() if v is not None)
        flat, structure = tree.tree_flatten(args)
        out_structure: list = []

        def run(*leaves):
            outs, found = tree.tree_flatten(decomposition(*tree.tree_unflatten(structure, leaves), **attributes))
            out_structure[:] = [found]
            return outs
        jaxpr, consts, _ = trace_to_jaxpr(run, [get_aval(x) for x in flat])
        if consts:  # captured values become operands, so that the decomposition is closed
            jaxpr = jaxpr.replace(constvars=[], invars=[*jaxpr.constvars, *jaxpr.invars])
        for x in consts:
            if isinstance(x, Tracer):
                raise UnexpectedTracerError(
                    f"lax.composite: the decomposition of {name!r} reads {x} from outside, which would be an operand that the "
                    "compiler's form of the composite does not have; pass it as an argument.")
        outs = composite_p.bind(
            *consts, *flat, name=name, version=version, call_jaxpr=ClosedJaxpr(jaxpr, ()),
            attributes=known)
        return tree.tree_unflatten(out_structure[0], outs)
    return composed


# -- dce_sink and stage --------------------------------------------------------------------------------------------------

class SinkEffect(UsualEffect):
    """Keeps an equation from being removed as dead code."""

    __slots__ = ()

    def __eq__(self, other):
        return type(other) is SinkEffect

    def __hash__(self):
        return hash(SinkEffect)

    def __repr__(self):
        return "NoDCE"


_SINK = frozenset([SinkEffect()])


def _sink_lower(b, x, *, prevent_mlir_dce):
    if prevent_mlir_dce:
        b.custom_call("Sharding", x, out=x.aval, has_side_effect=True, api_version=1)
    return []


dce_sink_p: Primitive = Primitive(
    "dce_sink", multiple_results=True, out_type=lambda x, *, prevent_mlir_dce: [], jvp=ZERO, lower=_sink_lower,
    batch=lambda axis, args, dims, **params: (dce_sink_p.bind(*args, **params), []),
    effects=lambda x, *, prevent_mlir_dce: _SINK, impl=lambda x, *, prevent_mlir_dce: [])


def dce_sink(val: ArrayLike, *, prevent_mlir_dce: bool = False) -> None:
    """Use every leaf of ``val``, so that a program keeps what computes it. ``prevent_mlir_dce``: the compiler keeps it too.

    >>> jax.lax.dce_sink(jnp.ones(3))
    """
    for leaf in tree.tree_leaves(val):
        dce_sink_p.bind(leaf, prevent_mlir_dce=prevent_mlir_dce)


stage_p = copy_p.with_rule(name="stage", traits=Traits(Kind.IDENTITY))


def stage(x: ArrayLike, /) -> Array:
    """``x`` as a value of the current trace; outside of transformations, an array.

    >>> jax.lax.stage(3)
    Array(3, dtype=int32, weak_type=True)
    """
    return stage_p.bind(x)


# -- tokens --------------------------------------------------------------------------------------------------------------

create_token_p = Primitive(
    "create_token", out_type=lambda: abstract_token, jvp=ZERO, batch=none("create_token has no operand that could be mapped"),
    lower=lambda b: b.emit("stablehlo.create_token", out=abstract_token), impl=Token)
after_all_p = Primitive(
    "after_all", out_type=lambda *tokens: abstract_token, jvp=ZERO, batch=none("tokens cannot be mapped"),
    lower=lambda b, *tokens: b.emit(f"stablehlo.after_all {', '.join(map(str, tokens))}", *tokens, out=abstract_token)
    if tokens else b.emit("stablehlo.create_token", out=abstract_token),
    impl=lambda *tokens: Token())


def create_token(_: None = None) -> Any:
    """A token that orders operations of a program. Source: StableHLO `create_token`.

    >>> token = jax.lax.create_token()
    """
    return create_token_p.bind()


def after_all(*operands: Any) -> Any:
    """A token that comes after all the given ones. Raises TypeError for what is no token. Source: StableHLO `after_all`.

    >>> token = jax.lax.after_all(jax.lax.create_token())
    """
    for x in operands:
        if not (isinstance(x, Token) or getattr(x, "aval", None) is abstract_token):
            raise TypeError(f"lax.after_all: every operand must be a token, got {type(x).__name__}; lax.create_token makes one")
    return after_all_p.bind(*operands)
