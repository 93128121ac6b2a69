"""Which internal names of the public jax are public names too? Writes ``src/jax/_internal.json``, by which `jax._internal` serves them.

    python packages/jax/tools/internal_names.py --reference PYTHON

Programs import names from where they are defined, as editors complete them (``from jax._src.nn.functions import softplus``). PYTHON is an
interpreter with the public jax: there the modules under ``jax._src`` are imported, and each of their names that is the same object as a
public one is noted beside that one. Names that ours does not have are left out, as are modules of kernels and of tests.
"""
from __future__ import annotations

import argparse
import collections
import json
import pathlib
import pkgutil
import subprocess
import warnings

TABLE = pathlib.Path(__file__).parents[1] / "src" / "jax" / "_internal.json"
LEFT_OUT = ("pallas", "test_", "cudnn", "mosaic", "triton", "thunky", "._src.lib", "tools", "jax2tf", "example_libraries")

ASK = f"""
import enum, importlib, json, pkgutil, types, warnings
warnings.simplefilter("ignore")
LEFT_OUT = {LEFT_OUT!r}
def modules(root):
    names = [root, *(m.name for m in pkgutil.walk_packages(importlib.import_module(root).__path__, root + ".", onerror=lambda name: None))]
    for name in names:
        if not any(part in name for part in LEFT_OUT):
            try:
                yield name, importlib.import_module(name)
            except Exception:
                pass
def members(module):
    for name in dir(module):
        if not name.startswith("__"):
            try:
                yield name, getattr(module, name)
            except Exception:
                pass
usual = {{id(v) for m in ("typing", "collections", "collections.abc", "contextlib", "concurrent.futures", "dataclasses", "functools", "types",
                        "numpy", "builtins", "__future__") for v in vars(importlib.import_module(m)).values()}}
plain = (int, str, bytes, float, complex, tuple, list, dict, set, frozenset, types.ModuleType, type(None))
public = {{}}
for where, module in modules("jax"):
    if "._" not in where:
        for name, value in members(module):
            if not name.startswith("_") and id(value) not in usual and (isinstance(value, enum.Enum) or not isinstance(value, plain)):
                public.setdefault(id(value), (value, []))[1].append((where, name))
found = []
for where, module in modules("jax._src"):
    for name, value in members(module):
        if id(value) in public:
            homes = public[id(value)][1]
            named = [h for h in homes if h[1] == name] or ([] if name.startswith("_") else homes)
            if named:
                found.append((where, name, *min(named, key=lambda h: (h[0].count("."), len(h[0]), h))))
print(json.dumps(found))
"""


def has(name: str) -> bool:
    """Whether ours has ``name``, and it is no gap."""
    try:
        value = pkgutil.resolve_name(name)
    except (AttributeError, ImportError):
        return False
    return type(value).__name__ != "_Gap"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reference", required=True, help="an interpreter with the public jax")
    args = parser.parse_args()
    answer = subprocess.run([args.reference, "-c", ASK], check=True, capture_output=True, text=True).stdout
    table: dict[str, dict[str, list[str]]] = collections.defaultdict(lambda: collections.defaultdict(list))
    left_out = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for where, name, home, public in json.loads(answer.splitlines()[-1]):
            if has(f"{home}:{public}"):
                table[where][home].append(name if name == public else f"{name}={public}")
            else:
                left_out.add(f"{home}.{public}")
    compact = {where: {home: " ".join(sorted(names)) for home, names in sorted(homes.items())} for where, homes in sorted(table.items())}
    TABLE.write_text("{\n" + ",\n".join(f"{json.dumps(where)}: {json.dumps(homes)}" for where, homes in compact.items()) + "\n}\n")
    print(f"{sum(len(n) for homes in table.values() for n in homes.values())} names of {len(table)} modules; not here:", *sorted(left_out))


if __name__ == "__main__":
    main()
