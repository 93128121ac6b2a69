"""Dtypes: the promotion lattice against the reference's recorded tables, and its laws."""

import json
import pathlib

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jax_core import config, dtypes
from jax_core.errors import TypePromotionError

FACTS = json.loads((pathlib.Path(__file__).parent / "data" / "promotion.json").read_text())


class Value:
    """A stand-in for an array: a dtype and whether it is weak."""

    def __init__(self, dtype, weak_type):
        self.dtype = dtype
        self.weak_type = weak_type


def _dtype(name):
    return np.dtype(getattr(ml_dtypes, name, name))


def _value(name):
    """What a name in the recorded table stands for."""
    if name.startswith("py:"):
        return {"bool": True, "int": 1, "float": 1.0, "complex": 1j}[name[3:]]
    if name.startswith("~"):
        return Value(dtypes.canonicalize_dtype(_dtype(name[1:])), True)
    return _dtype(name)


def _result(*values):
    """The result type as the recorded table writes it."""
    try:
        dtype, weak = dtypes.result_type(*values, return_weak_type_flag=True)
    except TypePromotionError:
        return "!"
    return ("~" if weak else "") + dtype.name


@pytest.mark.parametrize("settings", FACTS["tables"])
def test_result_type_is_that_of_the_reference_for_every_pair(settings):
    x64, mode = settings.split()
    with config.enable_x64(x64 == "x64=1"), config.numpy_dtype_promotion(mode):
        names = FACTS["names"]
        wrong = []
        for a, row in zip(names, FACTS["tables"][settings]):
            for b, want in zip(names, row.split()):
                got = _result(_value(a), _value(b))
                if got != want:
                    wrong.append((a, b, got, want))
    assert wrong == []
