"""Every module of each client is imported, so that a name of ours that is gone is seen, whoever asks for it."""
import importlib
import pkgutil
import warnings

import pytest

CLIENTS = ["optax", "chex", "flax", "equinox", "haiku", "distrax", "lineax", "optimistix", "diffrax", "blackjax", "jaxopt", "numpyro",
           "orbax.checkpoint", "jaxtyping", "treescope", "jmp"]
ASIDE = ("test", "example", "benchmark")
"""Parts of modules' names: what needs more than the library itself."""


def asked_in_vain(error):
    """The name of `jax` that ``error`` says is missing, or None where something else is wrong."""
    while error is not None:
        about = error.name or ""
        if isinstance(error, AttributeError):
            about = f"{getattr(error.obj, '__name__', '')}.{about}"
        if about.split(".")[0] == "jax" or about.startswith("jax_"):
            return f"{about}: {error}"
        error = error.__cause__ if isinstance(error.__cause__, (ImportError, AttributeError)) else None
    return None


def modules_of(package):
    yield package.__name__
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + ".", onerror=lambda name: None):
        if not any(part in found.name for part in ASIDE):
            yield found.name


def failures(names):
    """Those of the modules ``names`` that cannot be imported for a name of `jax`; what else they lack is not our affair."""
    found = {}
    for name in names:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                importlib.import_module(name)
        except (ImportError, AttributeError) as error:
            if missing := asked_in_vain(error):
                found[name] = missing
        except Exception:  # an absent optional dependency shows in many ways
            continue
    return found


@pytest.mark.parametrize("client", CLIENTS)
def test_every_module_is_imported(client):
    package = pytest.importorskip(client, reason=f"{client} is not installed here; the nox session `clients` has it")
    assert failures(modules_of(package)) == {}


@pytest.mark.parametrize("line", ["from jax._src.dtypes import NoSuchType", "import jax.no_such_module", "import jax; jax.numpy.no_such_function",
                                  "from jax.lax import no_such_function"])
def test_a_name_that_is_gone_is_seen(tmp_path, monkeypatch, line):
    (tmp_path / "needy_client.py").write_text(line)
    (tmp_path / "client_without_its_dependency.py").write_text("import no_such_dependency")
    monkeypatch.syspath_prepend(tmp_path)
    assert list(failures(["needy_client", "client_without_its_dependency"])) == ["needy_client"]
