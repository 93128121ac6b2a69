"""Compiled executables on disk, so that a second process starts warm.

On by default. The directory is private (mode 0700) and in the user's cache directory; ``JAX_COMPILATION_CACHE_DIR``
(the flag ``jax_compilation_cache_dir``) names another, and ``JAX_ENABLE_COMPILATION_CACHE=0`` turns it off.

An entry is one file, named by the SHA-256 of all that the machine code depends on. Files are written under a
temporary name and renamed, so a reader never sees half of one. Each begins with a magic number and the digest of its
name and the rest; an entry that does not match (damaged, or another's under this name), that is no plain file, or that
jaxlib refuses, is ignored, compiled anew and replaced. Loading an entry runs what is in it, so entries that belong to
another user are not loaded.

Before the directory would outgrow its bound (``jax_compilation_cache_max_size``; 2 GiB unless set), the entries unused
for longest leave, and so do temporary files whose writer must be dead.
"""
from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
import time
import zlib
from typing import TYPE_CHECKING

from jax_core.configuration import flags
from jax_core.representation import source

from ..jaxlib_compat import VERSION_TEXT

if TYPE_CHECKING:
    from ..jaxlib_compat import Client

_MAGIC = b"jaxexe2\n"
_DEFAULT_BOUND = 2 << 30
_SUFFIX, _TEMPORARY = ".jaxexe", ".tmp"
_WRITES_BETWEEN_SWEEPS = 64  # other processes write too
_STALE = 3600  # seconds from now, of whichever clock, for which nobody writes a temporary file
# Not through a link, and without waiting for whoever has the other end of a pipe.
_OPEN = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

_sizes: dict[str, tuple[int, int]] = {}  # of directories: bytes in them as far as is known, writes until somebody looks again
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


def key_of(text: str, options: str, client: Client) -> str:
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
    if not flags.enable_compilation_cache.value:
        return None
    chosen = flags.compilation_cache_dir.value
    if chosen:
        return str(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "jax-xla-backend") if os.path.isabs(base) else None


def read(key: str) -> bytes | None:
    """The contents of an entry, or None if there is none that can be trusted."""
    folder = directory()
    if folder is None:
        return None
    path = os.path.join(folder, key + _SUFFIX)
    try:
        if (data := _contents(path)) is None:
            return None
        body = data[len(_MAGIC) + 32:]
        if not data.startswith(_MAGIC) or _digest(key, body) != data[len(_MAGIC):len(_MAGIC) + 32]:
            raise ValueError("damaged")
        contents = zlib.decompress(body)
        with contextlib.suppress(OSError):  # who may only read cannot change the order in which entries leave
            os.utime(path)
        counts["hits"] += 1
        return contents
    except OSError as error:
        if error.errno == errno.ELOOP:
            forget(key)
    except (ValueError, zlib.error):
        forget(key)
    counts["misses"] += 1
    return None


def _contents(path: str) -> bytes | None:
    """What is in a file, or None if it belongs to another user. ValueError if it is none."""
    handle = os.open(path, _OPEN)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("not a file")
        if status.st_uid not in (_own_user(), 0):
            return None
        with open(handle, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(handle)


def _digest(key: str, body: bytes) -> bytes:
    digest = hashlib.sha256(key.encode())
    digest.update(body)
    return digest.digest()


def write(key: str, contents: bytes, compile_seconds: float) -> None:
    """Keep an entry. Failures (a full disk, a read-only home) are not errors of the program: it has its result."""
    folder = directory()
    if (folder is None or len(contents) < flags.persistent_cache_min_entry_size_bytes.value
            or compile_seconds < flags.persistent_cache_min_compile_time_secs.value):
        return
    try:
        import tempfile  # start-up: of those who only read

        _make_private(folder)
        body = zlib.compress(contents, 1)
        data = _MAGIC + _digest(key, body) + body
        if not _make_room(folder, len(data)):
            return
        handle, temporary = tempfile.mkstemp(prefix=".", suffix=_TEMPORARY, dir=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.replace(temporary, os.path.join(folder, key + _SUFFIX))
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
        counts["writes"] += 1
    except OSError as error:
        if flags.raise_persistent_cache_errors.value:
            raise
        if flags.compilation_cache_dir.value:  # the user chose the place, so that it fails is news
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
    if folder in _made and os.path.isdir(folder):
        return
    if "://" in folder:
        raise OSError("it is kept in a folder of the file system, and this names another kind of storage")
    _sizes.pop(folder, None)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    if not flags.compilation_cache_dir.value and hasattr(os, "fchmod"):
        with contextlib.suppress(OSError):  # a link, which leads to a directory of the user's choice
            handle = os.open(folder, _OPEN)
            try:
                os.fchmod(handle, 0o700)
            finally:
                os.close(handle)
    _made.add(folder)


def _bound() -> int:
    bound = flags.compilation_cache_max_size.value
    return _DEFAULT_BOUND if bound < 0 else bound


def _make_room(folder: str, size: int) -> bool:
    """Whether ``size`` more bytes fit into the bound, once entries have left for them."""
    bound = _bound()
    if size > bound:
        return False
    used, writes = _sizes.get(folder, (0, 0))
    if writes <= 0 or used + size > bound:
        used, writes = sweep(folder, size), _WRITES_BETWEEN_SWEEPS
    _sizes[folder] = used + size, writes - 1
    return used + size <= bound


def sweep(folder: str, more: int = 0) -> int:
    """Remove stale temporary files, and where the entries and ``more`` bytes exceed the bound, those unused for longest.

    Then a tenth of the bound is free afterwards, so that not every write has to look through the directory.

    Returns:
      the bytes that are left.
    """
    entries = []
    with os.scandir(folder) as found:
        for entry in found:
            with contextlib.suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                if entry.name.endswith(_SUFFIX):
                    entries.append((status.st_mtime, status.st_size, entry.path))
                elif entry.name.startswith(".") and entry.name.endswith(_TEMPORARY) and abs(time.time() - status.st_mtime) > _STALE:
                    os.unlink(entry.path)
    total, bound = sum(size for _, size, _ in entries), _bound()
    if total + more <= bound:
        return total
    for _, size, path in sorted(entries):
        if total + more <= bound - bound // 10:
            break
        try:
            os.unlink(path)
        except FileNotFoundError:
            pass  # another process sweeps too
        except OSError:
            continue
        total -= size
    return total


def set_cache_dir(path: str) -> None:
    """Keep compiled programs in this directory from now on; None for the default one (flag ``jax_compilation_cache_dir``).

    >>> from jax.experimental.compilation_cache import compilation_cache
    >>> compilation_cache.set_cache_dir("/tmp/compiled")  # doctest: +SKIP
    """
    flags.config.update("jax_compilation_cache_dir", None if path is None else os.fspath(path))


def reset_cache() -> None:
    """Forget what is known of the directory: the next program looks for it, and makes it, anew. Entries stay.

    >>> from jax.experimental.compilation_cache import compilation_cache
    >>> compilation_cache.reset_cache()
    """
    _made.clear()
    _sizes.clear()
    counts.update(hits=0, misses=0, writes=0)
