"""The site: `./run docs` builds it into build/docs."""
import pathlib
import sys
import tomllib

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE / "site"))

project = "jax, modular"
author = "The maintainers of modular jax"
project_copyright = author
release = tomllib.loads((HERE.parent / "packages/jax/pyproject.toml").read_text())["project"]["version"]

extensions = ["myst_parser", "extension"]
myst_enable_extensions = ["attrs_block", "colon_fence", "deflist"]
myst_heading_anchors = 4
nitpicky = True
exclude_patterns = ["site"]
nitpick_ignore_regex = [("py:.*", ".*")]  # names in annotations; links of our own writing are checked by MyST
highlight_language = "python"

html_theme = "furo"
html_title = f"jax, modular {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
