"""jax.config as a module, for `from jax.config import config`; the attribute `jax.config` stays the object."""
import sys

from jax_core.configuration.flags import config

sys.modules[__name__] = config  # type: ignore[assignment]
