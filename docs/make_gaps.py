"""Write docs/gaps.md from the table of names that are not implemented."""
import json
import pathlib

HERE = pathlib.Path(__file__).parent
TABLE = HERE.parent / "packages" / "jax" / "src" / "jax" / "_gaps.json"


def main() -> None:
    gaps = json.loads(TABLE.read_text())
    lines = ["# Gaps", "",
             "Documented names of the public interface that are not implemented. Each is there and raises NotImplementedError",
             "when it is used. This page is made by `python docs/make_gaps.py` from `packages/jax/src/jax/_gaps.json`.", ""]
    for module, names in sorted(gaps.items()):
        lines += [f"## {module}", "", ", ".join(f"`{n}`" for n in names), ""]
    (HERE / "gaps.md").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
