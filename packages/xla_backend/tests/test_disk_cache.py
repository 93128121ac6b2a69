"""Compiled executables on disk."""
import os
import shutil
import stat
import subprocess
import sys
import time

import numpy as np
import pytest

from jax_core.configuration import flags
from jax_xla_backend.compiling import compile, disk_cache
from jax_xla_backend.platforms import client as platform_client
from programs import F4, Module, array, doubled, executable


@pytest.fixture
def folder(tmp_path):
    compile.clear()
    disk_cache.reset_cache()
    with (flags.compilation_cache_dir(str(tmp_path / "cache")), flags.enable_compilation_cache(True),
          flags.persistent_cache_min_compile_time_secs(0.0)):
        yield tmp_path / "cache"
    compile.clear()


def run() -> int:
    """Run a program as a new process would; how many modules were compiled for it."""
    compile.clear()
    before = compile.counts["compiled"]
    assert executable(doubled()).execute([array()]).results[0].tolist() == [0, 2, 4, 6]
    return compile.counts["compiled"] - before


def entries(folder):
    return sorted(p for p in folder.iterdir())


def test_second_process_compiles_nothing(folder):
    assert [run(), run(), run()] == [1, 0, 0]
    assert len(entries(folder)) == 1
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def change(at: int, by: int = 1):
    """One bit more or less at a place of an entry."""
    def damage(path):
        data = bytearray(path.read_bytes())
        data[at] ^= by
        path.write_bytes(data)
    return damage


def in_its_place(make):
    def damage(path):
        path.unlink()
        make(path)
    return damage


def swapped(path):
    """The entry of another program under this one's name."""
    entry = path.read_bytes()
    e = executable(Module(doubled().text().replace("add", "multiply"), [F4], [F4]))
    assert e.execute([array()]).results[0].tolist() == [0, 1, 4, 9]
    [other] = [p for p in path.parent.iterdir() if p != path]
    other.rename(path)
    assert path.read_bytes() != entry


def link(path):
    kept = path.parent.parent / "elsewhere"
    path.rename(kept)
    path.symlink_to(kept)


DAMAGE = {
    "empty": lambda path: path.write_bytes(b""), "junk": lambda path: path.write_bytes(b"junk" * 100),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-7]), "cut to its head": lambda path: path.write_bytes(path.read_bytes()[:40]),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"x"), "magic": change(0), "digest": change(10, 128),
    "first bit": change(40), "a bit inside": change(200, 16), "last bit": change(-1, 128), "swapped": swapped,
    "pipe": in_its_place(os.mkfifo), "link": link, "link to itself": in_its_place(lambda path: path.symlink_to(path)),
    "link to nothing": in_its_place(lambda path: path.symlink_to("nothing")), "unreadable": lambda path: path.chmod(0),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damaged_entry_is_replaced(folder, damage):
    run()
    [path] = entries(folder)
    damage(path)
    again = 0 if damage is DAMAGE["unreadable"] and os.geteuid() == 0 else 1  # the administrator may read it
    assert [run(), run()] == [again, 0]
    assert path.is_file() and not path.is_symlink()


def test_a_directory_in_its_place_is_no_error(folder):
    run()
    [path] = entries(folder)
    path.unlink()
    path.mkdir()
    with pytest.warns(UserWarning, match="cannot be written"):
        assert run() == 1
    assert entries(folder) == [path]


def test_entries_that_may_only_be_read_hit(folder, monkeypatch):
    run()

    def refuse(*args):
        raise PermissionError(1, "Operation not permitted")
    monkeypatch.setattr(os, "utime", refuse)
    assert [run(), run()] == [0, 0] and len(entries(folder)) == 1


def test_a_read_error_leaves_the_entry(folder, monkeypatch):
    run()

    def fail(path):
        raise OSError(24, "Too many open files")
    monkeypatch.setattr(disk_cache, "_contents", fail)
    monkeypatch.setattr(disk_cache, "write", lambda *args: None)
    assert run() == 1
    monkeypatch.undo()
    assert run() == 0


@pytest.mark.parametrize("call", ["write", "replace"])
def test_full_disk(folder, monkeypatch, call):
    """The program has its result, and nothing is left behind."""
    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")
    if call == "replace":
        monkeypatch.setattr(os, "replace", full)
    else:
        monkeypatch.setattr(os, "fdopen", full)
    with pytest.warns(UserWarning, match="No space left"):
        assert run() == 1
    assert entries(folder) == []


def test_stale_temporary_files_leave(folder):
    folder.mkdir()
    for name, age in [(".old.tmp", 7200), (".young.tmp", 60), (".future.tmp", -7200), ("other", 7200)]:
        (folder / name).write_bytes(b"half")
        os.utime(folder / name, (time.time() - age,) * 2)
    run()
    assert {p.name for p in entries(folder) if p.suffix != ".jaxexe"} == {".young.tmp", "other"}


def test_a_folder_that_is_removed_is_made_again(folder):
    run()
    shutil.rmtree(folder)
    assert [run(), run()] == [1, 0]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_bucket_is_no_folder(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    with flags.compilation_cache_dir("gs://bucket/folder"), pytest.warns(UserWarning, match="gs://bucket/folder .* another kind of storage"):
        assert run() == 1
    assert not list(folder.parent.iterdir())


def test_two_that_sweep_at_once_do_not_empty_it(folder, monkeypatch):
    folder.mkdir()
    for i in range(10):
        disk_cache.write(f"{i:064}", os.urandom(1000), 1.0)
        os.utime(folder / f"{i:064}.jaxexe", (i + 1, i + 1))

    def gone(path):
        raise FileNotFoundError(2, "the other one was first")
    monkeypatch.setattr(os, "unlink", gone)
    with flags.compilation_cache_max_size(8000):
        assert disk_cache.sweep(str(folder)) < 8000


def test_private_directory_behind_a_link_keeps_its_mode(tmp_path, monkeypatch):
    """Also one that others have planted; a directory that is there is made private."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with flags.enable_compilation_cache(True), flags.compilation_cache_dir(None):
        where = os.path.join(tmp_path, "jax-xla-backend")
        assert disk_cache.directory() == where
        (tmp_path / "other").mkdir(mode=0o755)
        os.symlink(tmp_path / "other", where)
        disk_cache.reset_cache()
        disk_cache._make_private(where)
        assert stat.S_IMODE((tmp_path / "other").stat().st_mode) == 0o755
        os.unlink(where)
        os.mkdir(where, 0o755)
        disk_cache.reset_cache()
        disk_cache._make_private(where)
        assert stat.S_IMODE(os.stat(where).st_mode) == 0o700


WRITER = """
import os, sys, signal
from programs import *
from jax_xla_backend.compiling import compile, disk_cache
killed = sys.argv[1] == "killed"
if killed:
    os.replace = lambda *args: os.kill(os.getpid(), signal.SIGKILL)
for n in [4] if killed else range(4):  # one that nobody else writes: it is killed whoever comes first
    text = doubled().text() + "\\n" * n
    print(executable(Module(text, [F4], [F4])).execute([array()]).results[0].tolist(), flush=True)
print(compile.counts["compiled"])
"""


def test_processes_that_write_at_once_one_of_them_killed(folder, tmp_path):
    (tmp_path / "writer.py").write_text(WRITER)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path]), "JAX_ENABLE_COMPILATION_CACHE": "1",
           "JAX_COMPILATION_CACHE_DIR": str(folder), "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}

    def begin(how):
        return subprocess.Popen([sys.executable, str(tmp_path / "writer.py"), how], env=env, stdout=subprocess.PIPE, text=True)
    several = [begin(how) for how in ("killed", "whole", "whole")]
    outs = [p.communicate(timeout=300)[0].splitlines() for p in several]
    assert [p.returncode for p in several] == [-9, 0, 0] and all(out[:4] == ["[0.0, 2.0, 4.0, 6.0]"] * 4 for out in outs[1:])
    after = begin("whole").communicate(timeout=300)[0].splitlines()
    assert after == ["[0.0, 2.0, 4.0, 6.0]"] * 4 + ["0"]
    assert sorted(p.suffix for p in entries(folder)) == [".jaxexe"] * 4 + [".tmp"]


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
            "from jax_xla_backend.compiling import compile; print(compile.counts['compiled'])")
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
    with flags.enable_compilation_cache(False):
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
    with flags.compilation_cache_max_size(3600):
        disk_cache.sweep(str(folder))
    assert [int(p.stem) for p in entries(folder)] == [2, 3, 4]


def test_no_write_exceeds_the_bound(folder):
    with flags.compilation_cache_max_size(20_000):
        for i in range(40):
            disk_cache.write(f"{i:064}", os.urandom(1000), 1.0)
            assert sum(p.stat().st_size for p in entries(folder)) <= 20_000
        assert len(entries(folder)) >= 15
        disk_cache.write("large", os.urandom(30_000), 1.0)
        assert len(entries(folder)) >= 15 and not (folder / "large.jaxexe").exists()


@pytest.mark.only_cpu
def test_key_depends_on_all_that_the_code_does(monkeypatch):
    client = platform_client.get_client()
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
    assert np.array_equal(e.execute([array()]).results[0], [0, 2, 4, 6])
