"""How what an example in a docstring prints is compared. Imports nothing of ours: `tests/stress/first_uses.py` forks before it does."""
import doctest
import re

import numpy as np

NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|\.\d+)(?![\w])")


class Numerically(doctest.OutputChecker):
    """Text must be equal up to white space, numbers up to rounding."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        wanted, found = NUMBER.findall(want), NUMBER.findall(got)
        bare = [re.sub(r"\s", "", NUMBER.sub("#", text)) for text in (want, got)]
        return bare[0] == bare[1] and len(wanted) == len(found) and np.allclose(
            list(map(float, wanted)), list(map(float, found)), rtol=2e-5, atol=1e-6)
