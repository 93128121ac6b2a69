"""What `jax_core.export` needs of the backend: modules as text that stands for itself, and portable artifacts.

A portable artifact is StableHLO in a versioned form that compilers of later versions read.
"""
from __future__ import annotations

from typing import Any, Sequence

from jax_core.interfaces import LowerSpec
from jax_core.representation.aval import ShapedArray
from jax_core.representation.jaxpr import ClosedJaxpr

from ..compiling import parsing
from ..jaxlib_compat import VERSION_TEXT, RuntimeError_, _jax, bindings
from ..running import stages
from . import inspecting


def _nested_modules() -> Any:
    from ..lowering import nested_modules  # start-up: loaded at the first program

    return nested_modules


def _public_modules() -> Any:
    from . import public_modules  # start-up: only programs in the public format need it

    return public_modules


def compiler_version() -> str:
    """Equal for compilers that read each other's text."""
    return f"jaxlib {VERSION_TEXT}"


def exported_module(closed: ClosedJaxpr, spec: LowerSpec) -> tuple[str, tuple[int, ...]]:
    """The program as a module that takes nothing but the inputs it reads; and which these are."""
    module = inspecting.module_as_told(stages.lower(closed, spec, platform=spec.platform), closed, spec)
    text = _nested_modules().without_locations(module.text())
    return _nested_modules().with_constants(text, module.facts.consts) if module.facts.consts else text, module.facts.kept


def placements_asked_for(closed: ClosedJaxpr, spec: LowerSpec) -> list[Any]:
    """The placements on several devices that the program itself asks for its values."""
    facts = stages.lower(closed, spec, platform=spec.platform).facts
    return [s for s in (*facts.constraints, *facts.typed) if s.num_devices > 1]


def custom_call_targets(text: str) -> list[str]:
    """The targets of custom calls in a module."""
    return _nested_modules().custom_call_targets(text)


def portable_artifact(text: str) -> bytes:
    """The module in the versioned form, for versions of the last twelve weeks and later; placements, which StableHLO has none of, stay Shardy's."""
    stablehlo = bindings("dialects.stablehlo")
    target = stablehlo.get_version_from_compatibility_requirement(stablehlo.StablehloCompatibilityRequirement.WEEK_12)
    return _jax.mlir.serialize_portable_artifact(text, target, use_mixed_serialization=True)


def module_of_artifact(artifact: bytes) -> str:
    """The text of a module in the versioned form.

    Raises:
      ValueError: it is damaged, or of a later version.
    """
    context = parsing.parse("module {}").context
    try:
        return str(_jax.mlir.deserialize_portable_artifact(artifact, context))
    except RuntimeError_:  # which says no more; why is written to stderr
        raise ValueError(f"deserialize: {compiler_version()} cannot read the program's StableHLO module, which is damaged or written by a later version; "
                         "export it for an earlier one, or take a later jaxlib") from None


def public_module(texts: Sequence[str]) -> bytes:
    """The modules for several platforms as one portable artifact, whose first input is the number of the platform."""
    return portable_artifact(_public_modules().for_all_platforms(texts))


def refined_module(artifact: bytes, avals: Sequence[ShapedArray], platform: int | None) -> str:
    """The text of an artifact, which may have unknown dimensions, for inputs of these types and the platform of this number."""
    return _public_modules().refined(module_of_artifact(artifact), avals, platform)


__all__ = ["compiler_version", "custom_call_targets", "exported_module", "module_of_artifact", "placements_asked_for",
           "portable_artifact", "public_module", "refined_module"]
