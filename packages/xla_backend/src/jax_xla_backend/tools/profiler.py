"""Profiles of running programs: what XLA and Python did when, and who holds device memory.

A session records; its result is written in the layout of XProf and TensorBoard (``<dir>/plugins/profile/<time>/``), which hold
a trace for chrome://tracing and Perfetto too. One session can be under way per process. Recording is jaxlib's.
"""
from __future__ import annotations

import functools
import glob
import gzip
import http.server
import json
import os
import threading
from typing import Any, Callable, ParamSpec, TypeVar

from jaxlib import _profiler as profiler  # type: ignore[attr-defined, unused-ignore]
from jaxlib._profile_data import ProfileData, ProfileEvent, ProfileLine, ProfilePlane

from ..jaxlib_compat import write_profile_data
from ..platforms import client, plugins

plugins.tell_each(profiler.register_plugin_profiler)  # each records its devices itself

ProfileOptions = profiler.ProfileOptions
P = ParamSpec("P")
R = TypeVar("R")

_PERFETTO_PORT = 9001
"""The port that Perfetto's page may load local traces from."""

_lock = threading.Lock()
_running: "ProfileSession | None" = None
_last: "_Recording | None" = None
_server: Any = None


class _Recording:
    """What a session recorded, with the session, which knows how to write it."""

    def __init__(self, session: Any):
        self.session, self.raw = session, session.stop()
        self.data = ProfileData.from_serialized_xspace(self.raw)

    def write(self, log_dir: str, session_id: str | None) -> str:
        """Write the files; returns their folder."""
        before = _profile_folders(log_dir)
        self.session.export(self.raw, log_dir)
        return _new_folder(log_dir, before, session_id)


# -- sessions --------------------------------------------------------------------------------------------------------------

class ProfileSession:
    """A recording; a context manager, or `start` and `stop`.

    Args:
      log_dir: where the result is written when the session stops; None to only keep it in `profile_data`.
      create_perfetto_link: print a link that shows the trace in Perfetto, and wait until it was opened.
      create_perfetto_trace: also write ``perfetto_trace.json.gz`` next to the profile.
      profiler_options: a `ProfileOptions`: what to record.
    """

    def __init__(self, log_dir: str | os.PathLike | None = None, create_perfetto_link: bool = False,
                 create_perfetto_trace: bool = False, profiler_options: object | None = None):
        self._log_dir = log_dir
        self._link, self._trace, self._options = create_perfetto_link, create_perfetto_trace, profiler_options
        self._session: Any = None
        self._result: _Recording | None = None

    @property
    def is_running(self) -> bool:
        """Whether the session is recording."""
        return self._session is not None

    @property
    def profile_data(self) -> ProfileData | None:
        """What was recorded; None before the session has stopped."""
        return None if self._result is None else self._result.data

    def start(self) -> None:
        """Begin to record.

        Raises:
          RuntimeError: a session is under way.
        """
        global _running
        with _lock:
            if _running is not None:
                raise RuntimeError("profiler: a session is under way, and there can be one at a time; end it by stop_trace")
            client.get_client()  # devices can only be recorded once they are known
            self._session = profiler.ProfilerSession() if self._options is None else profiler.ProfilerSession(self._options)
            self._result = None
            _running = self

    def stop(self) -> ProfileData | None:
        """Stop recording, write the result if there is a ``log_dir``, and return it.

        Raises:
          RuntimeError: the session is not recording.
        """
        global _running, _last
        with _lock:
            if self._session is None:
                raise RuntimeError("profiler: no session is under way; begin one by start_trace")
            session, self._session, _running = self._session, None, None
            self._result = _last = _Recording(session)
        if self._log_dir is not None:
            self.export_profile_data(os.fspath(self._log_dir), self._link, self._trace)
        return self.profile_data

    def export_profile_data(self, log_dir: str | os.PathLike, create_perfetto_link: bool = False,
                            create_perfetto_trace: bool = False, session_id: str | None = None) -> None:
        """Write what was recorded below ``log_dir``, in a folder named after the time or ``session_id``.

        Raises:
          RuntimeError: nothing was recorded yet.
        """
        if self._result is None:
            raise RuntimeError("ProfileSession.export_profile_data: nothing was recorded yet; start and stop the session first")
        _export(self._result.write, log_dir, create_perfetto_link, create_perfetto_trace, session_id)

    def __enter__(self) -> "ProfileSession":
        self.start()
        return self

    def __exit__(self, *exc: Any) -> None:
        self.stop()


def start_trace(log_dir: os.PathLike | str, create_perfetto_link: bool = False, create_perfetto_trace: bool = False,
                profiler_options: object | None = None) -> None:
    """Begin to record; `stop_trace` writes the result below ``log_dir``. See `ProfileSession` for the arguments.

    Raises:
      RuntimeError: a session is under way.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     jax.profiler.start_trace(folder)
    ...     x = jnp.ones(3) + 1
    ...     found = jax.profiler.stop_trace()
    """
    ProfileSession(log_dir, create_perfetto_link, create_perfetto_trace, profiler_options).start()


def stop_trace() -> ProfileData | None:
    """Stop the session under way, write its result and return it.

    Raises:
      RuntimeError: there is none.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     jax.profiler.start_trace(folder)
    ...     x = jnp.ones(3) + 1
    ...     found = jax.profiler.stop_trace()
    """
    if _running is None:
        raise RuntimeError("profiler: no session is under way; begin one by start_trace")
    return _running.stop()


def trace(log_dir: os.PathLike | str | None = None, create_perfetto_link: bool = False, create_perfetto_trace: bool = False,
          profiler_options: object | None = None) -> ProfileSession:
    """``with trace(log_dir): ...`` records the block. See `ProfileSession`.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with jax.profiler.trace(folder):
    ...         x = jnp.ones(3) + 1
    ...     print(os.listdir(folder))
    ['plugins']
    """
    return ProfileSession(log_dir, create_perfetto_link, create_perfetto_trace, profiler_options)


def export_profile_data(profile_data: ProfileData, log_dir: os.PathLike | str, create_perfetto_link: bool = False,
                        create_perfetto_trace: bool = False, session_id: str | None = None) -> None:
    """Write recorded data below ``log_dir``, in a folder named after the time or ``session_id``.

    Raises:
      NotImplementedError: jaxlib before 0.12 can only write what the last session recorded.

    >>> data = jax.profiler.stop_trace()  # doctest: +SKIP
    >>> jax.profiler.export_profile_data(data, "/tmp/profile")  # doctest: +SKIP
    """
    if _last is not None and _last.data is profile_data:
        write = _last.write
    else:
        def write(log_dir: str, session_id: str | None) -> str:
            before = _profile_folders(log_dir)
            write_profile_data(profile_data, log_dir)
            return _new_folder(log_dir, before, session_id)
    _export(write, log_dir, create_perfetto_link, create_perfetto_trace, session_id)


def _export(write: Callable[[str, str | None], str], log_dir: Any, link: bool, perfetto: bool,
            session_id: str | None) -> None:
    folder = write(os.path.abspath(os.path.expanduser(os.fspath(log_dir))), session_id)
    if link or perfetto:
        path = _write_perfetto_trace(folder)
        if link:
            _serve_once(path)


def _profile_folders(log_dir: str) -> list[str]:
    return glob.glob(os.path.join(glob.escape(log_dir), "plugins", "profile", "*"))


def _new_folder(log_dir: str, before: list[str], session_id: str | None) -> str:
    """The folder that was just written, renamed if it shall have a name of its own."""
    folders = _profile_folders(log_dir)
    folder = max([f for f in folders if f not in before] or folders, key=os.path.getmtime)
    if session_id is None:
        return folder
    named = os.path.join(os.path.dirname(folder), session_id)
    os.makedirs(named, exist_ok=True)
    for name in os.listdir(folder):
        os.replace(os.path.join(folder, name), os.path.join(named, name))
    os.rmdir(folder)
    return named


def _write_perfetto_trace(folder: str) -> str:
    """The traces of all hosts as one file that Perfetto takes: it stumbles over the metadata and the empty last event."""
    events: list = []
    for name in sorted(glob.glob(os.path.join(glob.escape(folder), "*.trace.json.gz"))):
        with gzip.open(name, "rb") as file:
            events += [e for e in json.load(file)["traceEvents"] if e]
    path = os.path.join(folder, "perfetto_trace.json.gz")
    with gzip.open(path, "wt", encoding="utf-8") as file:
        json.dump({"displayTimeUnit": "ns", "traceEvents": events}, file)
    return path


class _OneFile(http.server.SimpleHTTPRequestHandler):
    """Serves the folder it is given, to Perfetto's page only."""

    def end_headers(self) -> None:
        self.send_header("Access-Control-Allow-Origin", "https://ui.perfetto.dev")
        super().end_headers()

    def do_GET(self) -> None:
        self.server.fetched = True  # type: ignore[attr-defined]
        super().do_GET()

    def log_message(self, *args: Any) -> None:
        pass


def _serve_once(path: str) -> None:
    """Print a link to Perfetto, which fetches the file from this process; return when it was fetched."""
    folder, name = os.path.split(path)
    handler = functools.partial(_OneFile, directory=folder)
    with http.server.HTTPServer(("127.0.0.1", _PERFETTO_PORT), handler) as server:
        print(f"Open URL in browser: https://ui.perfetto.dev/#!/?url=http://127.0.0.1:{server.server_port}/{name}")
        server.fetched = False  # type: ignore[attr-defined]
        while not server.fetched:  # type: ignore[attr-defined]
            server.handle_request()


# -- annotations -----------------------------------------------------------------------------------------------------------

class TraceAnnotation(profiler.TraceMe):
    """``with TraceAnnotation("name", key=value): ...`` shows the block under a name of its own in the trace.

    >>> with jax.profiler.TraceAnnotation("loading", batch=3):
    ...     _ = jnp.ones(3) + 1
    """


class StepTraceAnnotation(TraceAnnotation):
    """``with StepTraceAnnotation("train", step_num=i): ...`` marks one step of a training loop; tools group by steps.

    >>> with jax.profiler.StepTraceAnnotation("train", step_num=1):
    ...     _ = jnp.ones(3) + 1
    """

    def __init__(self, name: str, **kwargs: Any):
        super().__init__(name, _r=1, **kwargs)  # _r: a root event, which tools take for a step


def annotate_function(func: Callable[P, R], name: str | None = None, **decorator_kwargs: Any) -> Callable[P, R]:
    """``func``, each of whose calls shows in the trace under ``name`` (default: its own).

    Args:
      decorator_kwargs: metadata for the annotation.

    >>> @jax.profiler.annotate_function
    ... def prepare(x):
    ...     return x * 2
    >>> prepare(3)
    6
    """
    name = getattr(func, "__qualname__", None) or getattr(func, "__name__", repr(func)) if name is None else name

    @functools.wraps(func)
    def annotated(*args: P.args, **kwargs: P.kwargs) -> R:
        with TraceAnnotation(name, **decorator_kwargs):
            return func(*args, **kwargs)
    return annotated


# -- servers ---------------------------------------------------------------------------------------------------------------

def start_server(port: int, requires_backend: bool = True) -> Any:
    """Let tools (TensorBoard, XProf) record this process over the network.

    Args:
      port: where the server listens.
      requires_backend: find the devices first, so that they are recorded too.

    Raises:
      ValueError: a server runs already.

    >>> server = jax.profiler.start_server(9012)  # then TensorBoard records from localhost:9012  # doctest: +SKIP
    """
    global _server
    if requires_backend:
        client.get_client()
    with _lock:
        if _server is not None:
            raise ValueError("profiler: a server is running already; end it by stop_server")
        _server = profiler.start_server(port)
        return _server


def stop_server() -> None:
    """Stop the server.

    Raises:
      ValueError: there is none.

    >>> jax.profiler.stop_server()  # doctest: +SKIP
    """
    global _server
    with _lock:
        if _server is None:
            raise ValueError("profiler: no server is running; begin one by start_server")
        _server = None  # the server stops when nobody holds it


def register_subprocess(pid: int, port: int) -> Callable[[], None]:
    """Record the process ``pid``, whose profiler server listens on ``port``, along with this one; returns how to undo it.

    >>> undo = jax.profiler.register_subprocess(worker.pid, port=9013)  # doctest: +SKIP
    """
    return profiler.register_subprocess(pid, port)


# -- memory ----------------------------------------------------------------------------------------------------------------

def device_memory_profile(backend: str | None = None) -> bytes:
    """Who holds device memory, as a gzipped pprof profile (for ``go tool pprof``).

    Args:
      backend: name of a platform; default the default one.

    >>> jax.profiler.device_memory_profile()[:2]  # gzip
    b'\\x1f\\x8b'
    """
    return gzip.compress(client.get_client(backend).heap_profile())


def save_device_memory_profile(filename: str | os.PathLike, backend: str | None = None) -> None:
    """Write `device_memory_profile` to a file.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     jax.profiler.save_device_memory_profile(os.path.join(folder, "memory.prof"))
    ...     print(os.listdir(folder))
    ['memory.prof']
    """
    profile = device_memory_profile(backend)
    with open(filename, "wb") as file:
        file.write(profile)


def get_profiled_instructions_proto(tensorboard_dir: str) -> bytes:
    """Measured costs of instructions, from the profiles below ``tensorboard_dir``, as a serialized protocol buffer.

    >>> from jax.experimental import profiler
    >>> profiler.get_profiled_instructions_proto("/tmp/profile")  # doctest: +SKIP
    """
    return profiler.get_profiled_instructions_proto(tensorboard_dir)


__all__ = ["ProfileData", "ProfileEvent", "ProfileLine", "ProfileOptions", "ProfilePlane", "ProfileSession",
           "StepTraceAnnotation", "TraceAnnotation", "annotate_function", "device_memory_profile", "export_profile_data",
           "register_subprocess", "save_device_memory_profile", "start_server", "start_trace", "stop_server", "stop_trace",
           "trace"]
