"""What a compiler complains of, in our words: the line that matters, for a program that is too large what takes how much, and the way out."""
from __future__ import annotations

import collections
import re
from typing import TYPE_CHECKING, Sequence

from ..jaxlib_compat import RuntimeError_

if TYPE_CHECKING:
    from ..jaxlib_compat import Device
    from ..lowering.module import Module

_STATUS = re.compile(r"^([A-Z_]{6,}): ")
_NOISE = re.compile(r"during context \[[^\]]*\]: ?|\bE\d{4}: (?:\w+: )?|,? metadata=\{[^}]*\}|\[xla::PythonStackTrace='[^']*'\]")
_ENDS = ("Suspected Python Code Location", "See https://", "HLO module:", "For each of the unsupported", "*******")
_LONGEST = 800  # characters
_TENSOR = re.compile(r"tensor<((?:\d+x)*)(\w+(?:<\w+>)?)>")
_RESULT = re.compile(r"%\S+ = \"?(?:stablehlo\.)?([\w.]+).*?(tensor<(?:\d+x)*\w+(?:<\w+>)?>)\)?(?: loc\(.*\))?$", re.M)
_MOST = 5  # values shown
_HINTS = (
    (r"X\{64\|128\}|[sucf](?:64|128)\[", "It computes with 64-bit numbers, of which this compiler knows only some operations: convert to 32 bits."),
    (r"Mosaic failed to compile.*Not implemented",
     "A kernel uses an operation that this compiler does not have for these shapes or dtypes: choose others (float32 "
     "and int32, sides that are multiples of 8 and 128), or pass interpret=True."),
    (r"integer convolutions", "Convert the operands to float32, or give int8 ones and preferred_element_type=float32."),
    (r"GEMM is not supported|GemmAlgorithm|[Uu]nsupported.*(?:f8|f4|dot)",
     "The device has no product of matrices in this dtype: convert the operands, to bfloat16 say."),
    ("Custom emitter for CustomSPMDPartitioning", "This compiler asks no rules of custom_partitioning: run the function on the parts by jax.shard_map."),
)


class UnsupportedByCompiler(RuntimeError_, NotImplementedError):
    """The platform's compiler has no such operation, or not for this dtype."""


def explained(error: Exception, module: Module, devices: Sequence[Device]) -> Exception:
    """The compiler's ``error`` about ``module`` (its text, or parsed) in our words."""
    said = str(error)
    if "No such compile option" in said:
        return RuntimeError_(said)
    if "invalid dimension" in said and (long := next((n for n in re.findall(r"\d{19,}", str(module)) if int(n) >= 2**63), None)):
        return ValueError(f"an axis of length {long} is longer than those of any array, which have at most 2**63 - 1")
    start = f"XLA could not compile the program for {devices[0].device_kind or devices[0].platform}"
    if "RESOURCE_EXHAUSTED" in said or "Ran out of memory" in said or "Out of memory" in said:
        return RuntimeError_(f"{start}: {_important(said)}\n{_what_takes_how_much(str(module), len(devices))}")
    hint = next((hint for pattern, hint in _HINTS if re.search(pattern, said)), None)
    kind = UnsupportedByCompiler if hint is not None or "UNIMPLEMENTED" in said else RuntimeError_
    return kind(f"{start}: {_important(said)}{' ' + hint if hint else ''}")


def _important(said: str) -> str:
    """The status and the sentences about the program, without codes, links and places in generated text."""
    said = _NOISE.sub("", said)
    for end in _ENDS:
        said = said.partition(end)[0]
    status = _STATUS.match(said)
    body = " ".join(said[status.end() if status else 0:].split())
    body = (body if len(body) <= _LONGEST else body[:_LONGEST] + " ...").rstrip(" .,[")
    return f"{body or 'no reason given'}{f' ({status[1]})' if status else ''}."


def _what_takes_how_much(text: str, devices: int) -> str:
    """A table of the program's inputs, results and largest values, by the types in its text."""
    signature = next((line for line in text.splitlines() if "func" in line and "@main" in line), "")
    inputs, _, results = signature.partition("->")
    found: collections.Counter = collections.Counter()
    for operation, tensor in _RESULT.findall(text):
        if operation not in ("constant", "func.func"):
            found[operation, tensor] += 1
    largest = sorted(found, key=lambda key: -_bytes(key[1]))[:_MOST]
    rows = [("inputs", _bytes(inputs), ""), ("results", _bytes(results), ""),
            *((operation, _bytes(tensor), f"{_named(tensor)}{f', {found[operation, tensor]} of them' if found[operation, tensor] > 1 else ''}")
              for operation, tensor in largest)]
    whole = f", before they are split over {devices} devices" if devices > 1 else ""
    lines = "\n".join(f"  {size / 1e9:9.3f} GB  {name}{'  ' + what if what else ''}" for name, size, what in rows)
    return (f"What takes how much (the inputs, the results, and the largest values inside{whole}):\n{lines}\n"
            "Ways out: smaller parts or batches (lax.map with batch_size, lax.scan), jax.checkpoint around what gradients keep, donated inputs "
            "(donate_argnums), narrower dtypes, or a sharding over more devices.")


def _bytes(text: str) -> float:
    """The size of all tensors that a piece of a program's text mentions."""
    total = 0.0
    for shape, dtype in _TENSOR.findall(text):
        bits = int((re.findall(r"\d+", dtype) or ["32"])[0]) * (2 if dtype.startswith("complex") else 1)
        size = max(bits, 8 if dtype == "i1" else bits) / 8
        for n in shape.split("x")[:-1]:
            size *= int(n)
        total += size
    return total


def _named(tensor: str) -> str:
    shape, dtype = _TENSOR.findall(tensor)[0]
    return f"{dtype}[{','.join(shape.split('x')[:-1])}]"
