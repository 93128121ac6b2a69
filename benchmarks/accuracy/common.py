"""What the scripts of this folder share: their arguments, evaluation in two installations, and a function of mpmath."""
import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np


def arguments(doc: str, worker: int) -> argparse.Namespace:
    """The command line of a script with the docstring ``doc``; ``--worker`` takes so many values."""
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument("--reference", help="the Python of another installation")
    parser.add_argument("--only", nargs="*", help="names of functions")
    parser.add_argument("--out", help="file for the table")
    parser.add_argument("--worker", nargs=worker, help=argparse.SUPPRESS)
    return parser.parse_args()


def installations(options: argparse.Namespace) -> dict[str, str]:
    """``{who: python}``, ours and, if one is named, the reference."""
    return {"ours": sys.executable} | ({"reference": options.reference} if options.reference else {})


def evaluated(script: str, points: dict[str, Any], pythons: dict[str, str], *more: str) -> list[dict[str, Any]]:
    """What ``script --worker in.npz out.npz *more`` writes in each installation, given ``points``."""
    with tempfile.TemporaryDirectory() as name:
        folder, results = Path(name), []
        np.savez(folder / "in.npz", **points)
        for who, python in pythons.items():
            out = folder / f"{who}.npz"
            subprocess.run([python, script, "--worker", str(folder / "in.npz"), str(out), *more], check=True)
            results.append(dict(np.load(out)))
    return results


def report(text: str, out: str | None) -> None:
    """Print ``text`` and write it to the file ``out``."""
    print(text)
    if out:
        Path(out).write_text(text + "\n")


def normal_quantile(p: Any) -> Any:
    """The ``x`` with ``ncdf(x) = p``, an mpmath number, to its present precision.

    In the lower half by Halley's iteration, from the first term of the expansion for small ``p`` or of the series at 1/2.
    """
    import mpmath as mp
    half = mp.mpf("0.5")
    if p >= half:
        return mp.erfinv(2 * p - 1) * mp.sqrt(2)
    x = -mp.sqrt(-2 * mp.log(p)) if p < 0.1 else (p - half) * mp.sqrt(2 * mp.pi)
    for _ in range(60):
        error = (mp.ncdf(x) - p) / mp.npdf(x)
        step = error / (1 + x * error / 2)
        x -= step
        if abs(step) < mp.mpf(10) ** (2 - mp.mp.dps):
            break
    return x
