"""jax._src.ad_checkpoint: `jax.ad_checkpoint`, its primitive, which interpreters of programs (oryx) give a rule, and the policies, which pickles name."""
from typing import Any

from jax._lazy import mirror as _mirror

_fetch, __dir__ = _mirror(__name__, "jax.ad_checkpoint", remat_p="jax_core.transformations.checkpoint:remat_p")


def __getattr__(name: str) -> Any:
    policies = _fetch("checkpoint_policies")
    return getattr(policies, name) if name in dir(policies) and not name.startswith("_") else _fetch(name)
