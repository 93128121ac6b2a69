"""`jax._src.mesh.thread_resources`: what libraries (haliax, maxtext and their kin) ask for the mesh of a ``with mesh:`` block."""
from __future__ import annotations

import collections

from .mesh import EMPTY_MESH, Mesh, block_mesh


class BlockEnvironment:
    """The innermost ``with mesh:`` of this thread; meshes of `jax.set_mesh` do not show."""

    @property
    def physical_mesh(self) -> Mesh:
        """Its mesh; an empty one outside.

        >>> from jax._src.mesh import thread_resources
        >>> thread_resources.env.physical_mesh.empty
        True
        """
        return block_mesh() or EMPTY_MESH

    @property
    def shape(self) -> collections.OrderedDict:
        """Lengths of its axes by name."""
        return collections.OrderedDict(self.physical_mesh.shape)

    @property
    def resource_axes(self) -> set:
        """Names of its axes."""
        return set(self.physical_mesh.axis_names)

    physical_resource_axes = resource_axes

    def __repr__(self) -> str:
        return f"BlockEnvironment({self.physical_mesh!r})"


class ThreadResources:
    """``env`` is the environment in force in the thread that asks."""

    env = BlockEnvironment()


thread_resources = ThreadResources()

__all__ = ["BlockEnvironment", "ThreadResources", "thread_resources"]
