"""Arrays from process to process: jaxlib's transfer servers. One process offers arrays under a number, another pulls them.

jaxlib's classes know lists of arrays; the methods here take and return pytrees.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jax_core.representation import tree
from jax_core.representation.typing import PyTree

from ..jaxlib_compat import _jax

if TYPE_CHECKING:
    from jax_core.representation.aval import AbstractValue

TransferServer = _jax.TransferServer
TransferConnection = _jax.TransferConnection
start_transfer_server = _jax.start_transfer_server


def await_pull(self: Any, uuid: int, arrays: PyTree, timeout: float | None = None) -> None:
    """Offer a pytree of arrays under the number ``uuid``; it is kept until somebody has pulled it.

    Args:
      timeout: a `datetime.timedelta` after which the offer ends, or None.
    """
    self._await_pull_flat(uuid, tree.leaves(arrays), timeout)


def pull(self: Any, uuid: int, xs: PyTree, timeout: float | None = None) -> Any:
    """Fetch the arrays that the other side offers under ``uuid``.

    Args:
      xs: a pytree of `ShapeDtypeStruct` with shardings, of the same types as what is offered; the arrays are put there.
      timeout: a `datetime.timedelta` after which to give up, or None.

    Returns:
      the same pytree with arrays.
    """
    leaves, structure = tree.flatten(xs)
    if not leaves:
        return xs
    backend = next(iter(leaves[0].sharding.device_set)).client
    return tree.unflatten(structure, self._pull_flat(uuid, backend, leaves, timeout))


TransferServer.await_pull = await_pull
TransferConnection.pull = pull


def make_error_array(aval: AbstractValue, message: str) -> Any:
    """An array of the shape, dtype and sharding of ``aval`` (a `jax.ShapeDtypeStruct`) that raises ``message`` when somebody looks at it.

    >>> from jax.experimental import transfer
    >>> here = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    >>> x = transfer.make_error_array(jax.ShapeDtypeStruct((3,), jnp.float32, sharding=here), "the sender is gone")
    >>> x.shape
    (3,)
    """
    return _jax._make_error_array(next(iter(aval.sharding.device_set)).client, aval, message)


__all__ = ["TransferConnection", "TransferServer", "make_error_array", "start_transfer_server"]
