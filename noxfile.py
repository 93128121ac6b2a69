"""Sessions: the demo, the tests (together, per package, per platform, per Python), lint and types, stress, benchmarks, the docs.

The list of packages, and what each needs, is read from `packages/*/pyproject.toml`; it is written nowhere else.
"""
import pathlib
import re
import shutil
import sys
import tomllib

import nox

ROOT = pathlib.Path(__file__).parent
PACKAGES = ROOT / "packages"
TEST_TOOLS = ["pytest>=8", "pytest-xdist>=3.5", "pytest-timeout>=2.3", "hypothesis>=6.100", "scipy>=1.13", "mpmath",
              "flatbuffers>=23.5"]
CHECKERS = ["ruff", "mypy"]
DEMO_TOOLS = ["scikit-learn", "matplotlib", "tqdm"]
SITE_TOOLS = ["sphinx>=8", "myst-parser>=4", "furo"]
SUITE = [*TEST_TOOLS, *DEMO_TOOLS, "rich", "cloudpickle", "absl-py"]  # what all tests together need
BETWEEN = ["0.11.0", "0.11.1", "0.11.2"]  # releases of jaxlib that are neither the oldest supported nor the newest
CLIENTS = ["optax", "chex", "flax", "equinox", "dm-haiku", "distrax", "tfp-nightly", "lineax", "optimistix", "diffrax", "blackjax",
           "jaxopt", "numpyro", "orbax-checkpoint"]  # real libraries, installed without their `jax`

nox.options.sessions = ["tests"]
nox.options.default_venv_backend = "venv"


def folder_of(distribution: str) -> str:
    return distribution.removeprefix("jax-").replace("-", "_") if distribution != "jax" else "jax"


def needs(folder: str) -> list[str]:
    """Folders that ``folder`` depends on, itself last, in an order in which they can be installed."""
    project = tomllib.loads((PACKAGES / folder / "pyproject.toml").read_text())["project"]
    names = [d.split(">")[0].split("[")[0].strip() for d in project["dependencies"]]
    order: list[str] = []
    for name in names:
        if (PACKAGES / folder_of(name)).is_dir() and (name == "jax" or name.startswith("jax-")):
            order += [f for f in needs(folder_of(name)) if f not in order]
    return [*order, folder]


def tested_with(folder: str) -> list[str]:
    """Folders that the tests of ``folder`` need: what it depends on and a backend; core brings one for its tests, on NumPy."""
    found = needs(folder)
    return found if folder == "core" or "xla_backend" in found else [*found, "xla_backend"]


ALL = needs("jax")


def install(session: nox.Session, folders: list[str], *others: str) -> None:
    """Install ``folders`` from this checkout, and ``others`` from the index, in one resolution."""
    session.install(*[str(PACKAGES / f) for f in folders], *others, "--quiet")


def run_tests(session: nox.Session, *paths: str) -> None:
    """Run the tests under ``paths``, or those under the paths given on the command line: ``nox -s py312 -- packages/core``."""
    given = [a for a in session.posargs if not a.startswith("-") and (ROOT / a.split("::")[0]).exists()]
    session.run("python", "-m", "pytest", "-n", "2", "-q", *([] if given else paths), *session.posargs,
                env={"JAX_ENABLE_COMPILATION_CACHE": "0", "OMP_NUM_THREADS": "1"})


def check_source(session: nox.Session) -> None:
    """Lint everything; types of all packages, strict where core meets backends."""
    session.run("ruff", "check", "--quiet", "packages", "tests", "examples", "benchmarks", "docs", "noxfile.py", "run")
    session.run("mypy", "--no-error-summary", *[f"packages/{folder}/src" for folder in ALL])
    session.run("mypy", "--no-error-summary", "--strict", "--follow-imports=silent", "packages/core/src/jax_core/interfaces.py")


def build_site(session: nox.Session) -> None:
    """Run every program of the pages and write the site; a warning of Sphinx is an error."""
    session.run("python", "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "docs", "build/docs", *session.posargs,
                env={"TF_CPP_MIN_LOG_LEVEL": "3"})


@nox.session
def demo(session: nox.Session) -> None:
    """Train on real handwritten digits; writes digits.png."""
    install(session, ALL, *DEMO_TOOLS)
    session.run("python", "examples/digits.py", *session.posargs)


@nox.session
def tests(session: nox.Session) -> None:
    """Everything on CPU: the checks that read the source alone, the tests, and the site with warnings as errors."""
    whole = not session.posargs
    install(session, ALL, *SUITE, *(CHECKERS + SITE_TOOLS if whole else []))
    if whole:
        check_source(session)
    run_tests(session, "packages", "tests")
    if whole:
        build_site(session)


@nox.session
@nox.parametrize("folder", ALL, ids=ALL)
def package(session: nox.Session, folder: str) -> None:
    """One package's tests where only it, what it depends on, and (but for core) a backend are installed."""
    install(session, tested_with(folder), *TEST_TOOLS)
    run_tests(session, f"packages/{folder}/tests")


@nox.session
def strict(session: nox.Session) -> None:
    """Our functions where ranks and dtypes are never promoted (`jax_numpy_rank_promotion`, `jax_numpy_dtype_promotion`).

    A test that mixes them itself is skipped (`tests/strict_modes.py`); a function of ours that does fails it.
    """
    install(session, ALL, *TEST_TOOLS)
    session.env.update(JAX_NUMPY_RANK_PROMOTION="raise", JAX_NUMPY_DTYPE_PROMOTION="strict")
    run_tests(session, "packages/numpy_api/tests", "packages/random/tests")


@nox.session
def stress(session: nox.Session) -> None:
    """Threads, Ctrl-C, memory, processes, first uses, for an hour. Arguments: the name of one of `tests/stress`, then that one's own."""
    install(session, ALL, *TEST_TOOLS)
    for name in session.posargs[:1] or ["threads", "interrupts", "memory", "processes", "first_uses"]:
        session.run("python", f"tests/stress/{name}.py", *session.posargs[1:],
                    env={"JAX_ENABLE_COMPILATION_CACHE": "0", "TF_CPP_MIN_LOG_LEVEL": "3"})


@nox.session
def fuzz(session: nox.Session) -> None:
    """Random programs run in ways that must agree. Arguments: --seconds N --seed S [--reference PYTHON [--types] [--lenient]], or --plants N."""
    install(session, ALL)
    session.run("python", "-m", "fuzz", *session.posargs, env={
        "PYTHONPATH": str(ROOT / "tests"), "JAX_ENABLE_COMPILATION_CACHE": "0", "JAX_THREEFRY_PARTITIONABLE": "1"})


@nox.session(python=["3.11", "3.12"])
def clients(session: nox.Session) -> None:
    """Libraries from the index that were written for JAX run on ours; docs/clients.md keeps which versions did."""
    install(session, ALL, *TEST_TOOLS, "absl-py", "toolz", "typing_extensions", "msgpack", "rich", "treescope",
            "jaxtyping", "wadler-lindig", "jmp", "tabulate", "dm-tree", "decorator", "cloudpickle", "gast", "six",
            "tensorstore", "etils[epath,epy]", "humanize", "simplejson", "protobuf", "aiofiles", "uvloop", "psutil", "pyyaml", "prometheus_client",
            "tqdm", "multipledispatch", *(["jaxlib>=0.12"] if session.python == "3.12" else []))
    session.install("--no-deps", *CLIENTS)
    run_tests(session, "tests/clients", "--table=docs/clients.md")


@nox.session(python="3.12")
def py312(session: nox.Session) -> None:
    """The newest interpreter and jaxlib."""
    install(session, ALL, *SUITE, "jaxlib>=0.12")
    run_tests(session, "packages", "tests")


@nox.session(python="3.12")
@nox.parametrize("jaxlib", BETWEEN, ids=BETWEEN)
def between(session: nox.Session, jaxlib: str) -> None:
    """The releases of jaxlib between the oldest and the newest."""
    install(session, ALL, *SUITE, f"jaxlib=={jaxlib}")
    run_tests(session, "packages", "tests")


DEVICE_FILES = {"gpu": "nvidia[0-9]*", "tpu": "accel*"}  # under /dev


def _on_platform(session: nox.Session, platform: str, extra: str, plugin: str) -> None:
    """Run the suite on ``platform``. Gigabytes are not installed where the machine clearly has no such device."""
    if sys.platform == "linux" and not any(pathlib.Path("/dev").glob(DEVICE_FILES[platform])) and (
            platform != "tpu" or not any(pathlib.Path("/dev").glob("vfio/[0-9]*"))):
        session.error(f"no {platform} device on this machine: there is no /dev/{DEVICE_FILES[platform]}")
    install(session, [f for f in ALL if f != "jax"], f"{PACKAGES / 'jax'}[{extra}]", *TEST_TOOLS, *DEMO_TOOLS)
    probe = ("import jax, sys\n"
             f"try: found = jax.devices({platform!r})\n"
             f"except RuntimeError as error: sys.exit(f'no {platform} device on this machine: {{error}}')\n"
             "print('running on', found)")
    session.run("python", "-c", probe)
    session.run("python", "-m", "pytest", "-q", "-n", "4", "packages", "tests", *session.posargs, env={
        "JAX_PLATFORMS": plugin, "XLA_PYTHON_CLIENT_PREALLOCATE": "false", "JAX_DEFAULT_MATMUL_PRECISION": "highest"})  # the four share its memory


@nox.session
def tests_gpu(session: nox.Session) -> None:
    """The same suite on an NVIDIA GPU; fails at once, with the reason, where there is none."""
    _on_platform(session, "gpu", "cuda12", "cuda,cpu")


@nox.session
def tests_tpu(session: nox.Session) -> None:
    """The same suite on a TPU; fails at once, with the reason, where there is none."""
    _on_platform(session, "tpu", "tpu", "tpu,cpu")


def _ahead_of_time(session: nox.Session, platform: str, *wheels: str) -> None:
    """Compile for devices that are only described; the vendor's compiler needs no device."""
    install(session, ALL, *wheels, "jaxlib>=0.12", "pytest>=8", "scipy>=1.13", "mpmath", "hypothesis>=6.100")
    session.run("python", "-m", "pytest", "-q", "tests/accel", env={"JAX_PLATFORMS": "cpu"})
    session.run("python", "benchmarks/accelerators.py", platform, *session.posargs)
    if not session.posargs:
        session.run("python", "tests/accel/every.py", platform, "--all")


@nox.session(python="3.12")
def aot_tpu(session: nox.Session) -> None:
    """Programs of many kinds, every primitive and every public function through the real compiler for TPU; no TPU is needed."""
    _ahead_of_time(session, "tpu", "libtpu")


@nox.session(python="3.12")
def aot_cuda(session: nox.Session) -> None:
    """Programs of many kinds, every primitive and every public function through the real compiler for NVIDIA GPUs; no GPU is needed."""
    _ahead_of_time(session, "cuda", "jax-cuda12-plugin", "jax-cuda12-pjrt", "nvidia-cuda-nvcc-cu12")


@nox.session
def docs(session: nox.Session) -> None:
    """The site, into build/docs: every program on its pages is run, every link inside is checked, warnings are errors."""
    install(session, ALL, *DEMO_TOOLS, *SITE_TOOLS, "scipy>=1.13")
    build_site(session)
    session.log("open build/docs/index.html")


@nox.session
def lint(session: nox.Session) -> None:
    """What `tests` checks before it runs anything."""
    session.install(*CHECKERS, "numpy", "ml_dtypes")
    check_source(session)


@nox.session
def release(session: nox.Session) -> None:
    """Check and build one package as it would be published: `./run release random` (folder's name). Wheels are in dist/.

    Its version and changelog agree, the wheel holds what it must, and its tests pass in a fresh environment where the wheels of it and of what it
    depends on are installed, with the oldest and with the newest jaxlib that this Python has.
    """
    if len(session.posargs) != 1 or session.posargs[0] not in ALL:
        session.error(f"name one package: {', '.join(ALL)}")
    folder, dist = session.posargs[0], ROOT / "dist"
    project = tomllib.loads((PACKAGES / folder / "pyproject.toml").read_text())["project"]
    heading = re.search(r"^## (\S+)", (PACKAGES / folder / "CHANGELOG.md").read_text(), re.MULTILINE)
    if heading is None or heading[1] != project["version"]:
        session.error(f"{folder}: pyproject.toml says {project['version']}, CHANGELOG.md begins with {heading and heading[1]}")
    session.install("build", "--quiet")
    shutil.rmtree(dist, ignore_errors=True)
    for name in tested_with(folder):
        session.run("python", "-m", "build", "--outdir", str(dist), str(PACKAGES / name), silent=True)
    wheels = [str(w) for w in dist.glob("*.whl")]
    session.install(*wheels, *TEST_TOOLS)
    module = "jax" if folder == "jax" else f"jax_{folder}"
    tested = set()
    for jaxlib in ("jaxlib==0.10.2", "jaxlib"):
        session.install("--upgrade", jaxlib, "jaxlib<0.13")
        there = session.run("python", "-c", "import importlib.metadata as m; print(m.version('jaxlib'))", silent=True)
        if there in tested:
            session.log(f"the newest jaxlib for this Python is the oldest, {str(there).strip()}; a newer Python tests with a newer one")
            continue
        tested.add(there)
        session.run("python", "-c", f"import {module} as m; assert m.__version__ == {project['version']!r}, m.__version__; "
                    f"assert 'site-packages' in m.__file__, m.__file__; print(m.__name__, m.__version__, 'from its wheel')")
        run_tests_of_wheel(session, folder)
    session.log(f"{project['name']} {project['version']} is ready: {', '.join(pathlib.Path(w).name for w in wheels)}")


def run_tests_of_wheel(session: nox.Session, folder: str) -> None:
    """A package's contract tests where it has some, and else all of its tests."""
    tests = PACKAGES / folder / "tests"
    contract = sorted(str(p) for p in tests.glob("test_contract*.py"))
    session.run("python", "-m", "pytest", "-q", *(contract or [str(tests)]), env={"JAX_ENABLE_COMPILATION_CACHE": "0", "OMP_NUM_THREADS": "1"})


@nox.session
def types(session: nox.Session) -> None:
    """What mypy, pyright and jedi make of the stubs; `python packages/jax/tools/make_stubs.py` writes them anew."""
    install(session, ALL, *TEST_TOOLS, "mypy", "pyright[nodejs]", "jedi")
    session.run("python", "-m", "pytest", "-q", "packages/jax/tests/test_stubs.py", "packages/jax/tests/test_stubs_say_what_runs.py", *session.posargs)


@nox.session
def bench(session: nox.Session) -> None:
    """Ours against the public jax (in an environment of its own), as ratios. Arguments: a script of benchmarks/, or `planner`, and its own."""
    install(session, ALL)
    theirs = pathlib.Path(session.create_tmp()) / "reference"
    if not theirs.exists():
        session.run(sys.executable, "-m", "venv", str(theirs), external=True)
        session.run(str(theirs / "bin" / "python"), "-m", "pip", "install", "--quiet", "jax", external=True)
    pythons = str(shutil.which("python", path=session.bin)), str(theirs / "bin" / "python")
    if session.posargs[:1] == ["planner"]:
        session.run("python", "benchmarks/planner/compare.py", *pythons, *session.posargs[1:])
        return
    for script in session.posargs[:1] or ["startup.py", "stages.py", "dispatch.py", "runtime.py"]:
        session.run("python", "benchmarks/compare.py", *pythons, f"benchmarks/{script}", *session.posargs[1:])


@nox.session
def statistics(session: nox.Session) -> None:
    """The generator's raw stream through a published battery (dieharder or PractRand must be installed)."""
    install(session, ALL)
    session.run("python", "packages/random/tools/battery.py", *session.posargs)
