"""Packages of different series, or a jaxlib out of range, are refused at import; the versions are written once each."""
from __future__ import annotations

import pathlib
import re
import subprocess
import sys
import tomllib

import pytest

import jax
import jax_callbacks
import jax_core
import jax_numpy_api
import jax_random
import jax_xla_backend
from jax_core import versions

PACKAGES = pathlib.Path(__file__).resolve().parents[1] / "packages"
MODULES = {"core": jax_core, "numpy_api": jax_numpy_api, "random": jax_random, "callbacks": jax_callbacks, "xla_backend": jax_xla_backend,
           "jax": jax}


@pytest.mark.parametrize("folder", MODULES)
def test_version_is_that_of_the_distribution_and_of_the_changelog(folder):
    project = tomllib.loads((PACKAGES / folder / "pyproject.toml").read_text())["project"]
    heading = re.search(r"^## (\S+)", (PACKAGES / folder / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert MODULES[folder].__version__ == project["version"] == heading[1]
    core = [d for d in project["dependencies"] if d.startswith("jax-core")]
    assert all(d == f"jax-core>={'.'.join(versions.__version__.split('.')[:2])},<0.2" for d in core)


def test_jaxlib_range_is_that_of_the_distribution():
    dependencies = tomllib.loads((PACKAGES / "xla_backend" / "pyproject.toml").read_text())["project"]["dependencies"]
    source = (PACKAGES / "xla_backend/src/jax_xla_backend/jaxlib_compat.py").read_text()
    lowest, below = re.search(r'check_range\("jaxlib".*?"([\d.]+)", "([\d.]+)"\)', source).groups()
    assert f"jaxlib>={lowest},<{below}" in dependencies


@pytest.mark.parametrize("version, said", [("0.10.1", "which is older"), ("0.13.0", "which is newer"), ("0.10.2", ""), ("0.12.9.dev1", "")])
def test_range(version, said):
    if said:
        with pytest.raises(ImportError, match=rf"works with jaxlib>=0.10.2,<0.13; installed is {version}, {said}"):
            versions.check_range("jaxlib", version, "jax-xla-backend", "0.10.2", "0.13")
    else:
        versions.check_range("jaxlib", version, "jax-xla-backend", "0.10.2", "0.13")


def test_a_mixture_is_refused_at_import():
    """A part of this checkout beside a core of the next series."""
    code = "import jax_core.versions as v; v.__version__ = '0.2.0'\nimport jax"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    assert done.returncode and "was made for jax-core 0.1, and this is jax-core 0.2.0" in done.stderr


def test_environment_info_names_every_part(monkeypatch):
    monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    text = jax.print_environment_info(return_string=True)
    for part in versions.PARTS:
        assert re.search(rf"^{part}: +{re.escape(versions.of_all_parts()[part])}$", text, re.MULTILINE)
    assert "jaxlib:" in text and "python:" in text and "\nXLA_PYTHON_CLIENT_PREALLOCATE=false" in text
