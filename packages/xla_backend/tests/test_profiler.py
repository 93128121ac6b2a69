"""Profiles: what a session records and writes, annotations, the server, and memory."""
import gzip
import json
import os
import queue
import subprocess
import sys
import threading
import urllib.request

import numpy as np
import pytest

from jax_core import backends
from jax_xla_backend.jaxlib_compat import VERSION
from jax_xla_backend.tools import profiler
from ports import free_port


def names(data):
    return [event.name for plane in data.planes for line in plane.lines for event in line.events]


def folders(path):
    root = path / "plugins" / "profile"
    return sorted(os.listdir(root))


def quiet():
    options = profiler.ProfileOptions()
    options.python_tracer_level = 0
    return options


def record(log_dir=None, **kwargs):
    with profiler.trace(log_dir, profiler_options=quiet(), **kwargs) as session:
        with profiler.TraceAnnotation("my block", size=3):
            pass
    return session


def test_a_session_records_annotations():
    session = record()
    events = [e for plane in session.profile_data.planes for line in plane.lines for e in line.events if e.name == "my block"]
    assert len(events) == 1 and list(events[0].stats) == [("size", 3)]
    assert events[0].end_ns - events[0].start_ns == pytest.approx(events[0].duration_ns)


def test_start_and_stop_write_the_layout_of_tensorboard(tmp_path):
    profiler.start_trace(tmp_path, profiler_options=quiet())
    data = profiler.stop_trace()
    assert isinstance(data, profiler.ProfileData)
    (folder,) = folders(tmp_path)
    written = os.listdir(tmp_path / "plugins" / "profile" / folder)
    assert sorted(name.split(".", 1)[1] for name in written) == ["trace.json.gz", "xplane.pb"]


def test_python_calls_are_recorded_by_default():
    """In a process of its own: CPython 3.11 was seen to spin for ever in a test worker while its calls were recorded."""
    code = """if True:
        import json
        from jax_core import backends
        from jax_xla_backend.tools import profiler
        backends.get()
        with profiler.ProfileSession() as session:
            json.dumps({"a": 1})
        events = [event.name for plane in session.profile_data.planes for line in plane.lines for event in line.events]
        print(any("dumps" in name for name in events))
        """
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=600)
    assert done.stdout == "True\n", done.stderr


def test_perfetto_trace(tmp_path):
    session = record()
    session.export_profile_data(tmp_path, create_perfetto_trace=True, session_id="abc")
    assert folders(tmp_path) == ["abc"]
    with gzip.open(tmp_path / "plugins" / "profile" / "abc" / "perfetto_trace.json.gz") as file:
        events = json.load(file)["traceEvents"]
    assert any(e.get("name") == "my block" for e in events) and all(events)


def test_perfetto_link_serves_the_file_once(tmp_path, monkeypatch):
    monkeypatch.setattr(profiler, "_PERFETTO_PORT", free_port())
    printed, fetched = queue.Queue(), []
    monkeypatch.setattr(profiler, "print", printed.put, raising=False)  # a captured output loses what is written while it is read

    def fetch():
        with urllib.request.urlopen(printed.get().split("url=")[1]) as response:
            fetched.append((response.headers["Access-Control-Allow-Origin"], response.read()))
    thread = threading.Thread(target=fetch, daemon=True)
    thread.start()
    record(tmp_path, create_perfetto_link=True)
    thread.join()
    assert fetched[0][0] == "https://ui.perfetto.dev"
    assert json.loads(gzip.decompress(fetched[0][1]))["traceEvents"]


def test_exported_data_of_a_session(tmp_path):
    session = record()
    profiler.export_profile_data(session.profile_data, tmp_path, session_id="a")
    assert folders(tmp_path) == ["a"]
    (name,) = [n for n in os.listdir(tmp_path / "plugins" / "profile" / "a") if n.endswith(".pb")]
    again = profiler.ProfileData.from_file(str(tmp_path / "plugins" / "profile" / "a" / name))
    assert "my block" in names(again)
    if VERSION >= (0, 12):
        profiler.export_profile_data(again, tmp_path, session_id="b")
        assert folders(tmp_path) == ["a", "b"]
    else:
        with pytest.raises(NotImplementedError, match="cannot write a ProfileData"):
            profiler.export_profile_data(again, tmp_path)


def test_one_session_at_a_time():
    session = profiler.ProfileSession(profiler_options=quiet())
    assert not session.is_running and session.profile_data is None
    with pytest.raises(RuntimeError, match="no session is under way"):
        session.stop()
    with pytest.raises(RuntimeError, match="no session is under way"):
        profiler.stop_trace()
    with pytest.raises(RuntimeError, match="nothing was recorded yet"):
        session.export_profile_data("unused")
    with session:
        assert session.is_running
        with pytest.raises(RuntimeError, match="a session is under way"):
            profiler.start_trace("unused")
    assert not session.is_running


def test_annotated_functions_keep_their_name_and_result():
    @profiler.annotate_function
    def double(x, *, y=0):
        """Twice."""
        return 2 * x + y
    named = profiler.annotate_function(lambda: 1, name="one", level=2)
    with profiler.trace(profiler_options=quiet()) as session:
        assert double(3, y=1) == 7 and named() == 1
        with profiler.StepTraceAnnotation("step", step_num=5):
            pass
    assert double.__name__ == "double" and double.__doc__ == "Twice."
    found = {e.name: dict(e.stats) for plane in session.profile_data.planes for line in plane.lines for e in line.events}
    assert any(name.endswith("double") for name in found)
    assert found["one"] == {"level": 2} and found["step"]["step_num"] == 5 and "_r" in found["step"]


def test_server():
    port = free_port()
    code = f"""
import socket
from jax_xla_backend.tools import profiler
profiler.start_server({port})
socket.create_connection(("127.0.0.1", {port}), timeout=600).close()
for call, words in ((lambda: profiler.start_server({port}), "a server is running already"), (profiler.stop_server, None),
                    (profiler.stop_server, "no server is running")):
    try:
        call()
        assert words is None
    except ValueError as error:
        assert words in str(error)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=600)


def test_memory_profile(tmp_path):
    held = backends.get().put(np.ones((1000, 1000), np.float32))
    profile = gzip.decompress(profiler.device_memory_profile("cpu"))
    assert b"buffer" in profile and b"space" in profile
    profiler.save_device_memory_profile(tmp_path / "memory.prof")
    assert gzip.decompress((tmp_path / "memory.prof").read_bytes())
    assert held.nbytes == 4_000_000
