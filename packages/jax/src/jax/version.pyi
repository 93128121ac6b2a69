"""Types of `jax.version`. Written by packages/jax/tools/make_stubs.py."""


__version__: str
__version_info__: tuple[int, int, int]
