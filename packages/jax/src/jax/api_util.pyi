"""Types of `jax.api_util`. Written by packages/jax/tools/make_stubs.py."""
from jax.extend.core import DebugInfo
from jax.extend.linear_util import WrappedFun
from jax.tree_util import PyTreeDef
from typing import Any, Callable, Collection, Sequence

def argnums_partial(f: WrappedFun, dyn_argnums: int | Sequence[int], args: Sequence[object], require_static_args_hashable: bool = True) -> tuple[WrappedFun, tuple]:
    """``f`` with all arguments but the dynamic ones fixed, and the dynamic ones."""
def debug_info(traced_for: str, fun: Callable[..., Any], args: Collection[object] = ..., kwargs: dict | None = None, *, static_argnums: Sequence[int] = ..., static_argnames: Sequence[str] = ..., result_paths_thunk: Callable[..., Any] | None = None, sourceinfo: str | None = None, signature: Any = None) -> DebugInfo:
    """Names for messages about ``fun``."""
def donation_vector(donate_argnums: Sequence[int], donate_argnames: Sequence[str], in_tree: PyTreeDef, kws: bool = True) -> tuple[bool, ...]:
    """For each leaf of ``(args, kwargs)`` whether it is donated."""
def flatten_axes(name: str, treedef: PyTreeDef, axis_tree: Any, *, kws: bool = False, tupled_args: bool = False) -> list[Any]:
    """One axis specification for each leaf, from a specification that is a prefix of the tree; see `tree.flatten_axes`."""
def flatten_fun(fun: WrappedFun, *gen_static_args: Any, use_eq_store: bool = False, unk_names: bool = False) -> tuple[WrappedFun, Callable[..., Any]]:
    """A function of ``(*args, **kwargs)`` as one of flat leaves; the auxiliary data is the structure of the result."""
def flatten_fun_nokwargs(fun: WrappedFun, *gen_static_args: Any, use_eq_store: bool = False, unk_names: bool = False) -> tuple[WrappedFun, Callable[..., Any]]:
    """Like `flatten_fun` for functions of positional arguments."""
def rebase_donate_argnums(donate_argnums: Sequence[int], static_argnums: Sequence[int]) -> tuple[int, ...]:
    """Positions of donated arguments once the static ones are taken out, each once and in order."""
def safe_map(f: Callable[..., Any], *sequences: Sequence[Any]) -> list:
    """`map` that raises ValueError for sequences of different lengths."""
def shaped_abstractify(x: object) -> Any:
    """The type of an array-like; a type is its own, as brainstate and loops of libraries ask for types of trees that hold either."""
