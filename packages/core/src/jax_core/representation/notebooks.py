"""Whether the program runs in IPython, which shows values in its own way."""
from __future__ import annotations

import sys
from typing import Any


def shell() -> Any:
    """The IPython shell that this process is, or None; never imports IPython."""
    return getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
