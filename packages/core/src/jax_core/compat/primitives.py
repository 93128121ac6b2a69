"""Members of primitives that interpreters of jaxprs written for the public API ask for."""
from __future__ import annotations

from typing import Any, Sequence


class PrimitiveHabits:
    """For interpreters of jaxprs that are written after the public tutorial, in oryx, equinox and others."""

    call_primitive = False  # kinds of primitives that are bound in a way of their own elsewhere; here there is one way
    map_primitive = False
    skip_canonicalization = False  # what they are bound to is brought into the dtypes of the configuration
    ref_primitive = False  # whether it works on references
    ref_allocating = False  # whether its result is a new reference
    is_effectful = None  # a function of the parameters where these decide it; here the effects of an equation are asked for

    def bind_with_trace(self, trace: Any, args: Sequence[Any], *avals_and_params: Any) -> Any:
        """Apply the primitive to ``args`` under ``trace``: ``(trace, args, avals, params)``, or without ``avals``.

        Traces of libraries (quax) hand calls on to the trace below with it, and so do the tests of distrax and haiku.
        """
        return trace.process_primitive(self, args, self.as_ours(args, avals_and_params[-1]))

    def as_theirs(self, params: dict) -> dict:
        """Parameters as a trace of a library gets them; some primitives have them in two forms."""
        return params

    def as_ours(self, args: Sequence[Any], params: dict) -> dict:
        """The way back."""
        return params

    impl: Any

    def def_impl(self, impl: Any) -> Any:
        """Set how eager calls are evaluated, in place of the backend's way (None: as the backend does); returns ``impl``."""
        self.impl = impl
        return impl

    def get_bind_params(self, params: dict) -> dict:
        """Parameters with which interpreters call ``bind(*operands, **parameters)``, made from those of an equation."""
        return dict(params)
