"""The programs that the fusion planner is judged by, in the public API, one module a family.

`PROGRAMS` maps each name to a function that returns (function, arguments). Sizes are those of small real uses: 1 to
50 ms a run on two cores, so that the loops and not the dispatch are measured.
"""
from . import chains, convolutional, images, science, sequences, statistics, training, transformers
from .common import PROGRAMS

__all__ = ["PROGRAMS", "chains", "convolutional", "images", "science", "sequences", "statistics", "training",
           "transformers"]
