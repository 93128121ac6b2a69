"""One round of what the stress session (`nox -s stress`) repeats: sixteen threads at once."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent / "stress"))
import threads


@pytest.mark.parametrize("law", threads.LAWS, ids=lambda law: law.__name__)
def test_threads(law):
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    try:
        law(1)
    finally:
        sys.setswitchinterval(before)
