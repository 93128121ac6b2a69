"""The array API: `lax` (primitives with all their rules), `numpy`, `scipy`, `nn` and what belongs to them.

``lax``                                  primitives, control flow, collectives
``numpy``, ``scipy``, ``nn``, ``image``, ``ops``  functions written in terms of them
``sparse``                               sparse arrays
``pallas``                               kernels: programs on blocks of arrays
``kernels``                              those that are ready to use
``jet``                                  Taylor series
``ffi``                                  calls of compiled functions
``checkify``                             errors as values
``custom_batching``, ``flatten_util``, ``test_util``, ``test_case``, ``typing``  helpers for users' functions
``ode``, ``rnn``, ``thunky``, ``example_libraries``  small libraries
``named``, ``_lazy``                     primitives whose rules are those of a function; packages that load names when asked
"""
from jax_core.representation.source import exclude_package
from jax_core.versions import join

exclude_package(__file__)

__version__ = "0.1.0"
join("jax-numpy-api", __version__, core="0.1")
