"""How a trace of a user's own gets functions with custom rules: `process_custom_jvp_call`, `process_custom_vjp_call`.

Such a trace calls the function (``fun.call_wrapped(*tracers)``), or hands the call on with its rule, to the trace below, by
``prim.bind_with_trace(below, (fun, jvp, *values), params)``, or with the functions as ``params["subfuns"]``. A function with a JVP
rule may be another by then, if the rule is one for it; one with a VJP rule may not.
"""
from __future__ import annotations

from typing import Any, Callable, Sequence

from ..configuration import context
from .linear_util import WrappedFun, wrap_init


class CustomCall:
    """Stands for the primitive of a call with a custom rule.

    Args:
      name: as it shows in programs.
      given: the wrapped functions that came with it.
      process: what a trace does with such a call: ``process(trace, values)``.
      change: ``change(*functions)`` is ``process`` for other functions, if there may be others.
    """

    multiple_results = True

    def __init__(self, name: str, given: tuple[WrappedFun, ...], process: Callable, change: Callable | None = None):
        self.name, self._given, self._process, self._change = name, given, process, change

    def bind_with_trace(self, trace: object, args: Sequence[object], *avals_and_params: Any) -> list:
        """Hand the call to ``trace``: ``(trace, args, avals, params)``, or without ``avals``.

        The functions are the first of ``args``, or ``params["subfuns"]``.

        Raises:
          NotImplementedError: other functions than those that came, where a rule belongs to its function.
        """
        n = len(self._given)
        given = avals_and_params[-1].get("subfuns")
        functions, values = (args[:n], args[n:]) if given is None else (given, args)
        process = self._process
        if tuple(map(id, functions)) != tuple(map(id, self._given)):
            if self._change is None:
                raise NotImplementedError(f"{self.name}: only the functions that came with the call can be handed on; to change the "
                                          "function, call it with fun.call_wrapped")
            process = self._change(*functions)
        with context.Use(trace):
            return process(trace, list(values))

    def __repr__(self):
        return self.name


def custom_jvp(trace: Any, call: Any, tracers: Sequence[Any]) -> list:
    """`process_custom_jvp_call` of ``trace`` on ``call``, a `custom_jvp.CustomJvpCall`."""
    def jvp(*values: Any) -> list:
        outs, tangents = call.run_jvp(values[:len(values) // 2], values[len(values) // 2:])
        return [*outs, *tangents]
    given = (wrap_init(call.fun), wrap_init(jvp))

    def process(call: object) -> Callable:
        return lambda below, values: below.process_custom_jvp(call, values)

    def change(fun: WrappedFun, jvp: WrappedFun) -> Callable:
        def rule(primals: Sequence[object], tangents: Sequence[object]) -> tuple[list, list]:
            both = list(jvp.call_wrapped(*primals, *tangents))
            return both[:len(both) // 2], both[len(both) // 2:]
        return process(type(call)(lambda *values: list(fun.call_wrapped(*values)), rule, call.symbolic_zeros, call.name))
    prim = CustomCall("custom_jvp_call", given, process(call), change)
    return list(trace.process_custom_jvp_call(prim, *given, list(tracers), symbolic_zeros=call.symbolic_zeros))


def custom_vjp(trace: Any, call: Any, tracers: Sequence[Any]) -> list:
    """`process_custom_vjp_call` of ``trace`` on ``call``, a `custom_vjp.CustomVjpCall`."""
    def only_handed_on(*_: Any) -> Any:
        raise NotImplementedError("process_custom_vjp_call: fwd and bwd can only be handed on, with prim.bind_with_trace")
    given = (wrap_init(call.fun), wrap_init(only_handed_on), wrap_init(only_handed_on))
    prim = CustomCall("custom_vjp_call", given, lambda below, values: below.process_custom_vjp(call, values))
    return list(trace.process_custom_vjp_call(prim, *given, list(tracers), out_trees=only_handed_on,
                                              symbolic_zeros=call.symbolic_zeros))
