"""`jax._src.mesh.thread_resources`: what libraries (haliax, maxtext and their kin) ask for the mesh of a ``with mesh:`` block."""
from __future__ import annotations

import collections
from typing import NamedTuple

from .mesh import EMPTY_MESH, Mesh, block_mesh, set_block_mesh


class ResourceEnv(NamedTuple):
    """What a ``with mesh:`` makes known: its mesh, an empty one outside."""

    physical_mesh: Mesh

    @property
    def shape(self) -> collections.OrderedDict:
        """Lengths of its axes by name."""
        return collections.OrderedDict(self.physical_mesh.shape)

    @property
    def resource_axes(self) -> set:
        """Names of its axes."""
        return set(self.physical_mesh.axis_names)

    @property
    def physical_resource_axes(self) -> set:
        """The same: all axes are those of devices."""
        return self.resource_axes

    def __repr__(self) -> str:
        return f"ResourceEnv({self.physical_mesh!r})"


class ThreadResources:
    """``env`` is the environment in force in the thread that asks; setting it is as if a ``with mesh:`` of its mesh began or ended."""

    @property
    def env(self) -> ResourceEnv:
        """The innermost ``with mesh:`` of this thread; meshes of `jax.set_mesh` do not show.

        >>> from jax._src.mesh import thread_resources
        >>> thread_resources.env.physical_mesh.empty
        True
        """
        return ResourceEnv(block_mesh() or EMPTY_MESH)

    @env.setter
    def env(self, env: ResourceEnv) -> None:
        set_block_mesh(None if env.physical_mesh.empty else env.physical_mesh)


thread_resources = ThreadResources()

__all__ = ["ResourceEnv", "ThreadResources", "thread_resources"]
