"""``pytest tests/clients --table PAGE`` keeps in a table of PAGE what ran with which versions: a row for each library and jaxlib."""
import collections
import importlib.metadata
import inspect
import pathlib
import platform
import re

HEAD = "| library | ours | jaxlib | Python | passed |\n| --- | --- | --- | --- | --- |\n"
counts = collections.defaultdict(collections.Counter)


def pytest_addoption(parser):
    parser.addoption("--table", type=pathlib.Path, help="a page with the table of clients, whose rows of these versions are written anew")


def pytest_runtest_setup(item):
    """A test says which libraries it uses where it asks for them. Asked of the tests of this folder only: it takes milliseconds each."""
    for name in sorted(set(re.findall(r'library\("(\w+)', inspect.getsource(item.function)))):
        item.user_properties.append(("library", name))


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome == "failed":
        for key, name in report.user_properties:
            if key == "library":
                counts[name][report.outcome] += 1


def pytest_sessionfinish(session):
    page = session.config.getoption("--table", None)
    if page is not None and counts and not hasattr(session.config, "workerinput"):
        page.write_text(with_rows(page.read_text(), rows()))


def rows():
    """What has run, by the cells that say with what."""
    version, distributions = importlib.metadata.version, importlib.metadata.packages_distributions()
    found = {}
    for name, count in counts.items():
        distribution = distributions[name][0]
        key = f"| {distribution} {version(distribution)} | {version('jax')} | {version('jaxlib')} | {platform.python_version()} |"
        passed = count["passed"]
        found[key] = f"{key} {passed} of {passed + count['failed'] + count['skipped']} |"
    return found


def with_rows(text, new):
    """``text``, in whose table the rows of ``new`` stand, sorted, instead of those with the same versions."""
    before, _, after = text.partition(HEAD)
    table, end = re.match(r"((?:\|.*\n)*)(.*)", after, re.S).groups()
    kept = {row[:row.rindex("|", 0, -1) + 1]: row for row in table.splitlines()}
    return before + HEAD + "".join(f"{row}\n" for _, row in sorted({**kept, **new}.items())) + end
