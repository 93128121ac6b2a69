"""Compiled executables on disk, so that a second process starts warm.

On by default. The directory is private (mode 0700) and in the user's cache directory; ``JAX_COMPILATION_CACHE_DIR``
(the flag ``jax_compilation_cache_dir``) names another, and ``JAX_ENABLE_COMPILATION_CACHE=0`` turns it off.

An entry is one file, named by the SHA-256 of all that the machine code depends on. Files are written under a
temporary name and renamed, so a reader never sees half of one. Each begins with a magic number and the digest of the
rest; an entry that does not match, or that jaxlib refuses, is ignored, compiled anew and replaced. Loading an entry
runs what is in it, so entries that belong to another user are not loaded.

When the directory outgrows its bound (``jax_compilation_cache_max_size``; 2 GiB unless set), the entries unused for
longest leave.
"""
from __future__ import annotations

import contextlib
import hashlib
import os
from typing import Any

from jax_core import config, source

from .jaxlib_compat import VERSION_TEXT

_MAGIC = b"jaxexe1\n"
_DEFAULT_BOUND = 2 << 30
_SUFFIX = ".jaxexe"
_WRITES_BETWEEN_SWEEPS = 64

_writes = 0
_host: bytes | None = None
_made: set[str] = set()
counts = {"hits": 0, "misses": 0, "writes": 0}
"""How often an entry was found, was not, and was written; for tests and for curious users."""


def _host_identity() -> bytes:
    """What compiled CPU code depends on: the processor's features."""
    global _host
    if _host is None:
        features = ""
        try:
            with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
                features = next((line for line in file if line.startswith(("flags", "Features"))), "")
        except OSError:
            pass
        machine = os.uname().machine if hasattr(os, "uname") else os.environ.get("PROCESSOR_ARCHITECTURE", "")
        words = " ".join(sorted(features.partition(":")[2].split()))
        _host = f"{machine}|{words}".encode()
    return _host


def key_of(text: str, options: str, client: Any) -> str:
    """The name of the entry for a module's text, compiled with these options for this client's platform."""
    digest = hashlib.sha256()
    for part in (VERSION_TEXT, client.platform_version, os.environ.get("XLA_FLAGS", ""), options):
        digest.update(str(part).encode())
        digest.update(b"\0")
    if client.platform == "cpu":
        digest.update(_host_identity())
    digest.update(text.encode())
    return digest.hexdigest()


def _own_user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0


def directory() -> str | None:
    """The directory in use, or None if the cache is off."""
    if not config.enable_compilation_cache.value:
        return None
    chosen = config.compilation_cache_dir.value
    if chosen:
        return str(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "jax-xla-backend") if os.path.isabs(base) else None


def read(key: str) -> bytes | None:
    """The contents of an entry, or None if there is none that can be trusted."""
    folder = directory()
    if folder is None:
        return None
    import zlib

    path = os.path.join(folder, key + _SUFFIX)
    try:
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_uid not in (_own_user(), 0):
                return None
            data = file.read()
        body = data[len(_MAGIC) + 32:]
        if not data.startswith(_MAGIC) or hashlib.sha256(body).digest() != data[len(_MAGIC):len(_MAGIC) + 32]:
            raise ValueError("damaged")
        contents = zlib.decompress(body)
        os.utime(path)  # the order in which entries leave
        counts["hits"] += 1
        return contents
    except FileNotFoundError:
        pass
    except (OSError, ValueError, zlib.error):
        forget(key)
    counts["misses"] += 1
    return None


def write(key: str, contents: bytes, compile_seconds: float) -> None:
    """Keep an entry. Failures (a full disk, a read-only home) are not errors of the program: it has its result."""
    global _writes
    folder = directory()
    if (folder is None or len(contents) < config.persistent_cache_min_entry_size_bytes.value
            or compile_seconds < config.persistent_cache_min_compile_time_secs.value):
        return
    try:
        import tempfile
        import zlib

        _make_private(folder)
        body = zlib.compress(contents, 1)
        handle, temporary = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_MAGIC + hashlib.sha256(body).digest() + body)
            os.replace(temporary, os.path.join(folder, key + _SUFFIX))
        except BaseException:
            os.unlink(temporary)
            raise
        counts["writes"] += 1
        _writes += 1
        if _writes % _WRITES_BETWEEN_SWEEPS == 1:
            sweep(folder)
    except OSError as error:
        if config.raise_persistent_cache_errors.value:
            raise
        if config.compilation_cache_dir.value:  # the user chose the place, so that it fails is news
            source.warn(f"the compilation cache in {folder} cannot be written: {error}")


def forget(key: str) -> None:
    """Remove an entry."""
    folder = directory()
    if folder is not None:
        try:
            os.unlink(os.path.join(folder, key + _SUFFIX))
        except OSError:
            pass


def _make_private(folder: str) -> None:
    if folder not in _made:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if not config.compilation_cache_dir.value:
            os.chmod(folder, 0o700)
        _made.add(folder)


def sweep(folder: str) -> None:
    """Remove the entries that were unused for longest until the rest fits the bound."""
    bound = config.compilation_cache_max_size.value
    if bound < 0:
        bound = _DEFAULT_BOUND
    entries = []
    with os.scandir(folder) as found:
        for entry in found:
            if entry.name.endswith(_SUFFIX):
                try:
                    status = entry.stat()
                except OSError:
                    continue
                entries.append((status.st_mtime, status.st_size, entry.path))
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if total <= bound:
            break
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        total -= size


def set_cache_dir(path: Any) -> None:
    """Keep compiled programs in this directory from now on; None for the default one (flag ``jax_compilation_cache_dir``)."""
    config.config.update("jax_compilation_cache_dir", None if path is None else os.fspath(path))


def reset_cache() -> None:
    """Forget what is known of the directory: the next program looks for it, and makes it, anew. Entries stay."""
    _made.clear()
    counts.update(hits=0, misses=0, writes=0)
