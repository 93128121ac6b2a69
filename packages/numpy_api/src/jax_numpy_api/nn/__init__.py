"""jax.nn: activations, softmax, attention. Initializers need random numbers and are in `jax_random.initializers`."""
from __future__ import annotations

import importlib
from typing import Any

_MODULES = {
    "activations": """celu elu gelu glu hard_sigmoid hard_silu hard_swish hard_tanh identity leaky_relu log1mexp
        log_sigmoid mish relu relu6 selu sigmoid silu soft_sign softplus sparse_plus sparse_sigmoid squareplus swish
        tanh""",
    "normalize": "log_softmax logmeanexp one_hot softmax standardize",
    "attention": "dot_product_attention",
    "scaled": "get_scaled_dot_general_config scaled_dot_general scaled_matmul",
    "..scipy.special": "logsumexp",
}
_HOME = {name: module for module, names in _MODULES.items() for name in names.split()}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = _HOME[name]
    value = getattr(importlib.import_module(module if module.startswith(".") else f".{module}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
