"""No call with bad arguments ends in an internal error or a crash: a user sees the classes that say what was wrong.

The calls are drawn by `bad_calls`; a failure prints the call, which is a reproducer.
"""
import warnings

import bad_calls
import jax
import jax.numpy as jnp
import numpy as np
import pytest

ROUNDS, SEED, PARTS = 3, 1, 16
SAID = (TypeError, ValueError, OverflowError, NotImplementedError)
KNOWN = {
    "NameError": "Found an unbound axis name",  # the class that users know for it
    "RuntimeError": ("Unknown backend", "weights must be a vector", "weights must have an entry", "is not one of 'VALID'"),
}
BY_ACCIDENT = ("tuple index out of range", "list index out of range", "string index out of range", "pop from empty list")
CALLS = list(bad_calls.calls(ROUNDS, SEED))


def is_internal(error):
    """Whether ``error`` is not one that a check of arguments raises."""
    if isinstance(error, SAID):
        return False
    texts = KNOWN.get(type(error).__name__, ())
    if any(text in str(error) for text in ((texts,) if isinstance(texts, str) else texts)):
        return False
    return not isinstance(error, IndexError) or str(error) in BY_ACCIDENT


def test_there_are_enough():
    assert len(CALLS) >= 2500


@pytest.mark.parametrize("part", range(PARTS))
def test_bad_calls_say_what_is_wrong(part):
    wrong = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for call in CALLS[part::PARTS]:
            try:
                eval(call, {"jax": jax, "jnp": jnp, "np": np})
            except Exception as error:
                if is_internal(error):
                    wrong.append(f"{call}: {type(error).__name__}: {error}"[:300])
    assert wrong == []
