#!/usr/bin/env python3
"""Times the programs of this folder under two interpreters, or two settings, in turn; prints tables of ratios.

usage: compare.py LEFT RIGHT [--only NAME,...] [--rounds 2] [--slices 8] [--slice 0.06] [--again 1] [--json FILE] [--resume]
       compare.py OURS_PYTHON THEIRS_PYTHON                  ours against the reference
       compare.py PYTHON 'JAX_FUSION_PLANNER=off PYTHON'     the planner on against off

A side is an interpreter, with settings of the environment before it. A ratio is right/left: above 1, the left is
faster. Both sides live at once and take turns, compiling a program in turn and then running it in turn for a few
hundredths of a second, so that a slow spell of a shared machine hits both; each figure is its minimum. Losses stand
first, and the last column counts the barriers in the program of the left: between two settings of ours, a program
without any is the same on both sides, and its ratio shows the noise. A program that misses the goal is measured once more (--again), each figure still the minimum of all turns of its
side. With --json every finished program is written at once, and --resume keeps those that the file has.
"""
import argparse
import json
import math
import os
import pathlib
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
LIMITS = {"run": 0.97, "total_compile": 0.95}  # no program may be slower than this


class Side:
    """A process that serves run.py's commands."""

    def __init__(self, words: str):
        *settings, python = shlex.split(words)
        env = dict(os.environ, **dict(word.split("=", 1) for word in settings))
        self.process = subprocess.Popen([python, str(HERE / "run.py"), "--serve"], env=env, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def ask(self, *command) -> dict:
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self.process.args[0]} ended with {self.process.wait()} at {command}")
        answer = json.loads(answer)
        if "error" in answer:
            raise RuntimeError(f"{self.process.args[0]}: {answer['error']}")
        return answer

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def least(old: dict, new: dict) -> None:
    """Put into ``old`` what is smaller, or not there yet, of ``new``."""
    old.update({key: min(value, old.get(key, value)) for key, value in new.items()})


def compare(sides: list[Side], name: str, rounds: int, slices: int, seconds: float) -> list[dict]:
    """The figures of one program on both sides."""
    out: list[dict] = [{}, {}]
    turns = list(zip(sides, out))
    for side in sides:
        side.ask("open", name)
    for _ in range(rounds):
        for side, figures in turns:
            least(figures, side.ask("compile"))
        turns.reverse()
    for _ in range(slices):
        for side, figures in turns:
            least(figures, side.ask("run", seconds))
        turns.reverse()
    for side, figures in turns:
        figures.update(side.ask("facts"))
    return out


def misses(left: dict, right: dict) -> bool:
    return any(right[figure] < limit * left[figure] for figure, limit in LIMITS.items())


def mean(ratios: list[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def table(results: dict[str, list[dict]], figure: str) -> str:
    """One figure of all programs, the worst ratio first, and what it comes to."""
    ratios = {name: right[figure] / left[figure] for name, (left, right) in results.items()}
    lines = [f"{figure + ' (ms)':28} {'left':>11} {'right':>11} {'ratio':>7} {'barriers':>9}"]
    for name in sorted(ratios, key=ratios.get):
        left, right = results[name]
        lines.append(f"{name:28} {left[figure]:11.3f} {right[figure]:11.3f} {ratios[name]:7.2f} {left.get('barriers', 0):9d}")
    losses = sum(ratio < LIMITS.get(figure, 0) for ratio in ratios.values())
    verdict = f", {losses} below {LIMITS[figure]}" if figure in LIMITS else ""
    lines.append(f"geometric mean {mean(list(ratios.values())):.3f} over {len(ratios)}{verdict}")
    return "\n".join(lines)


def stages(results: dict[str, list[dict]]) -> str:
    """Geometric means of the ratios of the single stages, and of the memory for temporaries where both use some."""
    parts = []
    for figure in ("trace", "lower", "compile", "temporaries_mb"):
        pairs = [(left[figure], right[figure]) for left, right in results.values()]
        ratios = [right / left for left, right in pairs if left > 0 and right > 0]
        parts.append(f"{figure} {mean(ratios):.3f}" if ratios else f"{figure} -")
    return "geometric means of the stages: " + ", ".join(parts)


def stacks(results: dict[str, list[dict]]) -> str:
    """Compile time for each layer of the programs that come in several depths."""
    lines = []
    for family in sorted({name.rpartition("_")[0] for name in results if name.rpartition("_")[2].isdigit()}):
        depths = sorted(int(n.rpartition("_")[2]) for n in results if n.rpartition("_")[0] == family and n[-1].isdigit())
        if len(depths) > 1:
            for label, side in (("left", 0), ("right", 1)):
                each = [f"{depth}: {results[f'{family}_{depth}'][side]['total_compile'] / depth:.1f}" for depth in depths]
                lines.append(f"{family}, compile ms a layer by depth, {label}: " + "  ".join(each))
    return "\n".join(lines)


def differences(results: dict[str, list[dict]]) -> str:
    """Programs whose results differ by more than rounding, by their checksums."""
    bad = []
    for name, (left, right) in results.items():
        a, b = left["check"], right["check"]
        if not abs(a - b) <= 1e-3 * abs(b) + 1e-12:
            bad.append(f"{name}: {a} and {b}")
    return "RESULTS DIFFER: " + "; ".join(bad) if bad else "results agree to 1e-3"


def report(results: dict[str, list[dict]]) -> str:
    parts = [table(results, "run"), table(results, "total_compile"), stages(results), stacks(results),
             differences(results)]
    return "\n\n".join(part for part in parts if part)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("left"), parser.add_argument("right")
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=2, help="compilations on each side")
    parser.add_argument("--slices", type=int, default=8, help="turns of running on each side")
    parser.add_argument("--slice", type=float, default=0.06, help="seconds of a turn")
    parser.add_argument("--again", type=int, default=1, help="how often a program that misses the goal is measured more")
    parser.add_argument("--json", type=pathlib.Path, help="where results are kept")
    parser.add_argument("--resume", action="store_true", help="measure only what the file lacks")
    args = parser.parse_args()
    listing = [shlex.split(args.left)[-1], str(HERE / "run.py"), "--list", "--only", args.only]
    names = subprocess.run(listing, check=True, capture_output=True, text=True).stdout.split()
    results = json.loads(args.json.read_text()) if args.resume and args.json and args.json.exists() else {}
    sides, failures = [Side(args.left), Side(args.right)], []
    for name in names:
        if name in results:
            continue
        try:
            results[name] = compare(sides, name, args.rounds, args.slices, args.slice)
            for _ in range(args.again):
                if misses(*results[name]):
                    more = compare(sides, name, args.rounds, args.slices, args.slice)
                    for old, new in zip(results[name], more):
                        least(old, new)
        except RuntimeError as error:
            failures.append(f"{name} FAILED: {error}")
            continue
        left, right = results[name]
        print(f"{name:28} compile x {right['total_compile'] / left['total_compile']:.2f}"
              f"  run x {right['run'] / left['run']:.2f}", file=sys.stderr, flush=True)
        if args.json:
            args.json.write_text(json.dumps(results, indent=1))
    for side in sides:
        side.close()
    print("\n".join(failures + [report(results) if results else "nothing was measured"]))


if __name__ == "__main__":
    main()
