"""Compiled executables on disk."""
import os
import stat
import subprocess
import sys

import numpy as np
import pytest
from jax_core import config
from jax_xla_backend import compile, disk_cache
from programs import array, doubled, executable


@pytest.fixture
def folder(tmp_path):
    compile.clear()
    with (config.compilation_cache_dir(str(tmp_path / "cache")), config.enable_compilation_cache(True),
          config.persistent_cache_min_compile_time_secs(0.0)):
        yield tmp_path / "cache"
    compile.clear()


def run() -> int:
    """Run a program as a new process would; how many modules were compiled for it."""
    compile.clear()
    before = compile.counts["compiled"]
    assert executable(doubled()).execute([array()])[0].tolist() == [0, 2, 4, 6]
    return compile.counts["compiled"] - before


def entries(folder):
    return sorted(p for p in folder.iterdir())


def test_second_process_compiles_nothing(folder):
    assert [run(), run(), run()] == [1, 0, 0]
    assert len(entries(folder)) == 1
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("damage", [b"", b"junk" * 100, None], ids=["empty", "junk", "cut"])
def test_damaged_entry_is_replaced(folder, damage):
    run()
    [path] = entries(folder)
    path.write_bytes(path.read_bytes()[:-7] if damage is None else damage)
    assert [run(), run()] == [1, 0]


def test_entry_that_jaxlib_refuses_is_replaced(folder):
    run()
    [path] = entries(folder)
    path.unlink()
    disk_cache.write(path.stem, b"not an executable", 1.0)
    assert [run(), run()] == [1, 0]


def test_entry_of_another_user_is_ignored_and_replaced(folder, monkeypatch):
    run()
    monkeypatch.setattr(disk_cache, "_own_user", lambda: 54321)
    [path] = entries(folder)
    if path.stat().st_uid == 0:  # what belongs to the administrator is trusted
        os.chown(path, 12345, -1)
    assert run() == 1
    monkeypatch.undo()
    [path] = entries(folder)
    assert path.stat().st_uid == os.getuid() and run() == 0


def test_on_by_default_in_the_cache_directory_of_the_user(tmp_path):
    """Also with another umask; the second process compiles nothing."""
    code = ("import os; os.umask(0); from programs import *; e = executable(doubled()); e.execute([array()]); "
            "from jax_xla_backend import compile; print(compile.counts['compiled'])")
    env = {k: v for k, v in os.environ.items() if k not in ("JAX_COMPILATION_CACHE_DIR", "JAX_ENABLE_COMPILATION_CACHE")}
    env.update(XDG_CACHE_HOME=str(tmp_path), PYTHONPATH=os.pathsep.join([os.path.dirname(__file__), *sys.path]),
               JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS="0")
    counts = [subprocess.run([sys.executable, "-c", code], env=env, check=True, capture_output=True, text=True).stdout
              for _ in range(2)]
    assert counts == ["1\n", "0\n"]
    [made] = tmp_path.iterdir()
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    assert all(stat.S_IMODE(p.stat().st_mode) == 0o600 for p in made.iterdir())


def test_off_switch(folder):
    with config.enable_compilation_cache(False):
        assert [run(), run()] == [1, 1]
    assert not folder.exists()


def test_unwritable_directory_is_no_error(folder):
    folder.write_text("a file where the directory should be")
    with pytest.warns(UserWarning, match="cannot be written"):
        run()


def test_size_is_bounded(folder):
    folder.mkdir()
    for i in range(5):
        disk_cache.write(f"{i:064}", os.urandom(1000), 1.0)
        os.utime(folder / f"{i:064}.jaxexe", (i + 1, i + 1))
    with config.compilation_cache_max_size(3500):
        disk_cache.sweep(str(folder))
    assert [int(p.stem) for p in entries(folder)] == [2, 3, 4]


def test_key_depends_on_all_that_the_code_does(monkeypatch):
    client = __import__("jax_xla_backend").client.get_client()
    keys = {disk_cache.key_of("text", "", client), disk_cache.key_of("text ", "", client), disk_cache.key_of("text", "x", client)}
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_enable_fast_math=true")
    keys.add(disk_cache.key_of("text", "", client))
    monkeypatch.setattr(disk_cache, "_host", b"another processor")
    keys.add(disk_cache.key_of("text", "", client))
    assert len(keys) == 5


def test_compiler_options():
    e = executable(doubled())
    assert compile.option_items({"b": 1, "a": True}) == (("a", True), ("b", 1))
    with pytest.raises(TypeError, match="compiler_options"):
        compile.option_items({"a": [1]})
    e._items = (("xla_no_such_option", True),)
    with pytest.raises(RuntimeError, match="xla_no_such_option"):
        e.execute([array()])
    e._items = (("xla_cpu_enable_fast_math", True),)
    assert np.array_equal(e.execute([array()])[0], [0, 2, 4, 6])
