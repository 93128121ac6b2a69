"""Draw the two pictures of the README anew: `python docs/site/readme_pictures.py` (matplotlib and scikit-learn are needed)."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

import blocks

ROOT = pathlib.Path(__file__).resolve().parents[2]
STATIC = ROOT / "docs" / "static"


def main() -> None:
    subprocess.run([sys.executable, ROOT / "examples" / "digits.py", STATIC / "digits.png"], check=True)
    with tempfile.TemporaryDirectory() as folder:
        shown = blocks.run_page(ROOT / "docs" / "performance.md", pathlib.Path(folder))
        first = next(name for block in shown for name in block.pictures)
        shutil.copy(pathlib.Path(folder) / first, STATIC / "speed.svg")


if __name__ == "__main__":
    main()
