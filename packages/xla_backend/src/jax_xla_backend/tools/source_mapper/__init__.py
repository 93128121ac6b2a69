"""Source maps of compiled programs: which line of the user's program each line of a jaxpr or of HLO comes from.

``source_map``  the format (revision 3), read and written
``passes``      the stages whose programs can be shown, by name; users add their own
``jaxpr``       the pass for traced programs
``mlir``        locations in StableHLO text
``hlo``         the passes for StableHLO, HLO and optimised HLO
``generating``  all asked passes of one call of a function
"""
from .generating import SourceMapGeneratorFn, generate_sourcemaps
from .hlo import HLO_PASSES
from .jaxpr import JAXPR_PASS, canonicalize_filename
from .mlir import create_mlir_sourcemap
from .passes import Pass, SourceMapDump, all_passes, compile_with_env, filter_passes, register_pass
from .source_map import MappingsGenerator, SourceMap

for _pass in (JAXPR_PASS, *HLO_PASSES):
    register_pass(_pass)

__all__ = ["MappingsGenerator", "Pass", "SourceMap", "SourceMapDump", "SourceMapGeneratorFn", "all_passes",
           "canonicalize_filename", "compile_with_env", "create_mlir_sourcemap", "filter_passes", "generate_sourcemaps",
           "register_pass"]
