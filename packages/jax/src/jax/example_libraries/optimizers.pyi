"""Types of `jax.example_libraries.optimizers`. Written by packages/jax/tools/make_stubs.py."""
from jax.typing import ArrayLike
from typing import Any, Callable, NamedTuple, Sequence, TypeAlias

Array = Any
InitFn: TypeAlias = Callable[[Any], OptimizerState]
class JoinPoint:
    """A leaf that holds a pytree: where the tree of parameters ends and the state of one parameter begins."""
    def __init__(self, subtree: Any) -> None: ...
    def __iter__(self) -> Any: ...
    subtree: Any
class Optimizer(NamedTuple):
    """``init_fn(params) -> state``, ``update_fn(step, gradients, state) -> state``, ``params_fn(state) -> params``."""
    init_fn: Any
    update_fn: Any
    params_fn: Any
class OptimizerState(NamedTuple):
    """The state of an optimizer for a pytree of parameters; itself a pytree, whose leaves are those of ``packed_state``."""
    packed_state: Sequence[Sequence[Any]]
    tree_def: Any
    subtree_defs: Sequence[Any]
Params = Any
ParamsFn: TypeAlias = Callable[[OptimizerState], Any]
Schedule: TypeAlias = Callable[[ArrayLike], ArrayLike]
State = Any
Step = int
UpdateFn: TypeAlias = Callable[[int, Any, OptimizerState], OptimizerState]
Updates = Any
def adagrad(step_size: ArrayLike, momentum: float = 0.9) -> Any:
    """Gradients over the root of the sum of their squares, averaged with weight ``momentum`` on the past."""
def adam(step_size: ArrayLike, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-08) -> Any:
    """Running means of gradients (``b1``) and of their squares (``b2``), corrected for their start at zero."""
def adamax(step_size: ArrayLike, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-08) -> Any:
    """`adam` with the running maximum of the gradients' moduli in place of their mean square."""
def clip_grads(grad_tree: Any, max_norm: float) -> Any:
    """Gradients scaled down to the norm ``max_norm`` where theirs is larger."""
def constant(step_size: float) -> Callable[[ArrayLike], ArrayLike]:
    """The same step size always."""
def exponential_decay(step_size: float, decay_steps: int, decay_rate: float) -> Callable[[ArrayLike], ArrayLike]:
    """``step_size * decay_rate ** (i / decay_steps)``."""
def inverse_time_decay(step_size: float, decay_steps: int, decay_rate: float, staircase: bool = False) -> Callable[[ArrayLike], ArrayLike]:
    """``step_size / (1 + decay_rate * i / decay_steps)``; with ``staircase`` the quotient ``i / decay_steps`` is rounded down."""
def l2_norm(tree: Any) -> Any:
    """The Euclidean norm of all leaves together."""
def make_schedule(scalar_or_schedule: Any) -> Callable[[ArrayLike], ArrayLike]:
    """A schedule as it is; a number as a constant schedule."""
def momentum(step_size: ArrayLike, mass: float) -> Any:
    """Heavy ball: ``v = mass v + g``, ``x -= step v``."""
def nesterov(step_size: ArrayLike, mass: float) -> Any:
    """Nesterov's momentum: ``v = mass v + g``, ``x -= step (mass v + g)``."""
def optimizer(opt_maker: Callable[..., tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]]) -> Callable:
    """Lift an optimizer of one array to pytrees. Used as a decorator."""
def pack_optimizer_state(marked_pytree: Any) -> OptimizerState:
    """The inverse of `unpack_optimizer_state`."""
def piecewise_constant(boundaries: Sequence[ArrayLike], values: ArrayLike) -> Callable[[ArrayLike], ArrayLike]:
    """``values[k]`` for steps after the ``k``-th boundary; a boundary itself belongs to the piece before it."""
def polynomial_decay(step_size: float, decay_steps: int, final_step_size: float, power: float = 1.0) -> Callable[[ArrayLike], ArrayLike]:
    """From ``step_size`` to ``final_step_size`` in ``decay_steps`` steps, as ``(1 - i / decay_steps) ** power``; then constant."""
def rmsprop(step_size: ArrayLike, gamma: float = 0.9, eps: float = 1e-08) -> Any:
    """Gradients over the root of the running mean (weight ``gamma`` on the past) of their squares plus ``eps``."""
def rmsprop_momentum(step_size: ArrayLike, gamma: float = 0.9, eps: float = 1e-08, momentum: float = 0.9) -> Any:
    """`rmsprop`, whose steps gather momentum."""
def sgd(step_size: ArrayLike) -> Any:
    """Gradient descent: ``x -= step g``."""
def sm3(step_size: ArrayLike, momentum: float = 0.9) -> Any:
    """`adagrad` with one accumulator for each index of each axis instead of one for each element."""
def unpack_optimizer_state(opt_state: OptimizerState) -> Any:
    """The state in the structure of the parameters, with a `JoinPoint` for each; for serialization."""
