"""jax.lax: implemented in `jax_numpy_api.lax`."""
from jax._gaps import missing as _missing
from jax._lazy import mirror as _mirror

_served, _names = _mirror(__name__, "jax_numpy_api.lax", linalg="jax.lax.linalg",
                             deprecated={"precv": "jax.lax.ppermute", "psend": "jax.lax.ppermute",
                                         "pvary": "jax.lax.pcast(x, axis_name, to='varying')"},
                             device_put_p="jax_xla_backend.arrays.device_put:device_put_p")


def _with_internal(name: str):
    """The public name ``name``; the internal module of the same names is there with the first."""
    if not name.startswith("__"):
        import jax._src.lax.lax  # start-up: loaded with the first name; tokamax asks sys.modules for it
    return _served(name)


__getattr__, __dir__ = _missing(__name__, _with_internal, _names)
