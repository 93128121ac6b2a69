"""What notebooks show: programs, arrays and shardings as HTML, programs as pictures."""
import re
import subprocess
import sys
import types
from xml.etree import ElementTree

import pytest

import jax
import jax.numpy as jnp
from jax.debug import visualize_jaxpr
from jax_core.representation import sharding_pictures
from jax_xla_backend.arrays.notebook import as_html


def tags_close(text):
    ElementTree.fromstring(f"<div>{text}</div>")
    return text


def branches(x):
    return jax.lax.cond(x.sum() > 0, lambda x: jnp.sin(x) * 2, lambda x: x, x)


def test_program_as_html():
    closed = jax.make_jaxpr(branches)(jnp.ones(3))
    text = tags_close(closed._repr_html_())
    assert text == closed.jaxpr._repr_html_()
    assert text.count("<details") == 1 and "(branches)" in text and "\x1b" not in text
    bare = re.sub(" *# .*", "", re.sub("<[^>]*>", "", text)).replace("&gt;", ">")
    assert bare == str(closed)


def test_array_as_html():
    text = tags_close(as_html(jnp.arange(3.0)))
    assert "Array([0., 1., 2.]" in text and "float32[3] · 12 bytes" in text and "<table" not in text


def test_arrays_and_shardings_offer_html_only_in_ipython():
    """Libraries that show trees ask every value for its HTML."""
    show = "print(hasattr(jax.numpy.ones(2), '_repr_html_') and hasattr(jax.NamedSharding, '_repr_html_'))"
    fake = "import sys, types; sys.modules['IPython'] = types.SimpleNamespace(get_ipython=lambda: object()); "
    for before, offered in (("", "False"), (fake, "True")):
        assert subprocess.run([sys.executable, "-c", f"{before}import jax; {show}"], capture_output=True, text=True).stdout.strip() == offered


def test_deleted_array_as_html():
    x = jnp.arange(3.0) + 1
    x.delete()
    assert "deleted" in tags_close(as_html(x))


@pytest.mark.skipif(len(jax.devices()) < 4, reason="needs four devices, as the tests of packages/xla_backend have")
def test_spread_array_as_html():
    mesh = jax.make_mesh((2, 2), ("x", "y"))
    x = jax.device_put(jnp.zeros((4, 4)), jax.NamedSharding(mesh, jax.P("x", "y")))
    text = tags_close(as_html(x))
    assert text.count("<td") == 4 and len(set(re.findall(r"background:(#\w+)", text))) == 4


@pytest.mark.skipif(len(jax.devices()) < 4, reason="needs four devices, as the tests of packages/xla_backend have")
@pytest.mark.parametrize("spec, cells, colours", [(("x", "y"), 4, 4), (("x",), 2, 2), ((("x", "y"),), 4, 4), ((None, "y"), 2, 2), ((), 0, 0),
                                                  ((None, None, "x"), 0, 0), ((jax.P.UNCONSTRAINED, "x"), 2, 2)], ids=str)
def test_sharding_as_html(spec, cells, colours):
    """A cell for each part; no table where there are no axes, or more than two."""
    place = jax.NamedSharding(jax.make_mesh((2, 2), ("x", "y"), axis_types=(jax.sharding.AxisType.Auto,) * 2), jax.P(*spec))
    text = tags_close(sharding_pictures.placement_as_html(place))
    assert "NamedSharding(mesh=Mesh(" in text and text.count("<td") == cells and len(set(re.findall(r"background:(#\w+)", text))) == colours


def test_a_sharding_on_an_abstract_mesh_has_no_table():
    mesh = jax.sharding.AbstractMesh((2,), ("x",))
    assert "<table" not in sharding_pictures.placement_as_html(jax.NamedSharding(mesh, jax.P("x")))


def test_sharding_in_a_notebook(monkeypatch, capsys):
    shown = []
    shell = types.SimpleNamespace(kernel=object())
    fake = types.SimpleNamespace(get_ipython=lambda: shell, display=types.SimpleNamespace(display=lambda data, raw: shown.append(data)))
    monkeypatch.setitem(__import__("sys").modules, "IPython", fake)
    jax.debug.visualize_sharding((4, 4), jnp.zeros(()).sharding)
    assert capsys.readouterr().out == "" and tags_close(shown[0]["text/html"]).count("<td") == 1
    shell.kernel = None
    jax.debug.visualize_sharding((4, 4), jnp.zeros(()).sharding)
    assert "┌" in capsys.readouterr().out


def arrows(svg):
    return svg.count("<path")


def test_picture_of_a_program():
    closed = jax.make_jaxpr(lambda x, y: (jnp.sin(x) * x, 2.0 * y))(1.0, 2.0)
    svg = visualize_jaxpr(closed).svg
    ElementTree.fromstring(svg)
    assert svg.count("<rect") == 2 + 3 + 2 and arrows(svg) == 1 + 2 + 1 + 2
    assert ">sin<" in svg and "f32[]" in svg
    places = re.findall(r'<rect x="([-\d.]+)" y="([-\d.]+)" width="([\d.]+)"', svg)
    rows = {}
    for x, y, width in places:
        rows.setdefault(y, []).append((float(x), float(x) + float(width)))
    for row in rows.values():  # no box lies on another
        assert all(a[1] < b[0] for a, b in zip(sorted(row), sorted(row)[1:]))


def test_picture_shows_what_is_written_to_memory():
    def steps(x):
        for _ in range(4):
            x = jnp.tanh(x) + x.mean()
        return x
    svg = visualize_jaxpr(jax.make_jaxpr(steps)(jnp.zeros(100_000))).svg
    assert "written to memory" in svg
    assert "written to memory" not in visualize_jaxpr(jax.make_jaxpr(steps)(jnp.zeros(10))).svg


def test_picture_is_saved(tmp_path):
    picture = visualize_jaxpr(jax.make_jaxpr(branches)(jnp.ones(3)))
    picture.save(tmp_path / "program.svg")
    assert (tmp_path / "program.svg").read_text() == picture._repr_svg_()


@pytest.mark.parametrize("what, error, words", [
    (jnp.sin, TypeError, "jax.make_jaxpr"), (None, TypeError, "got NoneType")])
def test_no_program(what, error, words):
    with pytest.raises(error, match=words):
        visualize_jaxpr(what)


def test_a_program_too_large_to_be_seen():
    def long(x):
        for _ in range(401):
            x = x + 1
        return x
    with pytest.raises(ValueError, match="401 equations"):
        visualize_jaxpr(jax.make_jaxpr(long)(1.0))
