"""Which versions of the packages go together: each says at import which it is, and is refused beside a core of another series.

A series is a version's first two numbers, as in the ranges of the `pyproject.toml` files (``>=0.1,<0.2``); a test compares the two.
"""
from __future__ import annotations

__version__ = "0.1.0"
PARTS = ("jax-core", "jax-numpy-api", "jax-random", "jax-callbacks", "jax-xla-backend", "jax")

joined: dict[str, str] = {"jax-core": __version__}
"""The versions of the packages that were imported, by distribution."""


def numbers(version: str) -> tuple[int, ...]:
    """The leading numbers of a version: ``"0.10.2.dev1"`` is ``(0, 10, 2)``."""
    found = []
    for part in version.split("."):
        digits = part[:len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        found.append(int(digits))
    return tuple(found)


def join(distribution: str, version: str, core: str) -> None:
    """Note that ``distribution`` is imported. ``core`` is the series of jax-core that it was made for.

    Raises:
      ImportError: core is of another series.
    """
    if numbers(__version__)[:2] != numbers(core):
        raise ImportError(f"{distribution} {version} was made for jax-core {core}, and this is jax-core {__version__}: the packages "
                          f"were installed at different times. Install them together: pip install --upgrade {' '.join(PARTS)}")
    joined[distribution] = version


def check_range(distribution: str, version: str, user: str, lowest: str, below: str) -> None:
    """Raise ImportError unless ``lowest <= version < below``. ``user`` is the package that needs it."""
    if not numbers(lowest) <= numbers(version) < numbers(below):
        side = "newer" if numbers(version) >= numbers(below) else "older"
        raise ImportError(f"{user} works with {distribution}>={lowest},<{below}; installed is {version}, which is {side}. "
                          f"pip install \"{distribution}>={lowest},<{below}\" mends it")


def of_all_parts() -> dict[str, str]:
    """The version of each package: of those that are imported what they say, of others what is installed."""
    from importlib import metadata  # start-up: for reports alone
    versions = dict(joined)
    for part in PARTS:
        if part not in versions:
            try:
                versions[part] = metadata.version(part)
            except metadata.PackageNotFoundError:
                versions[part] = "not installed, or not imported"
    return {part: versions[part] for part in PARTS}
