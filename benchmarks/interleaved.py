#!/usr/bin/env python3
"""Times the programs of a file under two interpreters, both alive at once and taking turns for a few milliseconds each.

usage: interleaved.py OURS_PYTHON THEIRS_PYTHON PROGRAMS [--only NAME,...] [--rounds 15] [--hlo FOLDER] [--mode run|compile|call] [--cpu]

PROGRAMS defines `programs = {name: (function, arguments)}`; what follows a line `out = {}` is left out, so that
runtime.py serves as well. On a shared machine a slow spell hits both sides alike, which makes ratios within a few
per cent possible where whole runs in turn (compare.py) differ by ten.

run: the compiled program. call: the function as it stands, not compiled. compile: lowering and compiling, once a round.
--cpu: the processor's time of all threads, not the wall's; with `taskset -c 0` in front both sides have one thread.
"""
import argparse, json, os, subprocess, sys, time


def worker(path, mode, clock):
    """Answers lines `name seconds` with the best time in milliseconds and the optimised program's text on request."""
    os.environ.setdefault("JAX_ENABLE_COMPILATION_CACHE", "0")
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    import jax
    now = getattr(time, clock)
    source = open(path).read().split("\nout = {}")[0]
    space = {"__name__": "programs"}
    exec(compile(source, path, "exec"), space)
    programs, compiled = space["programs"], {}
    print(*programs, file=out, flush=True)
    for line in sys.stdin:
        name, seconds = line.split()
        function, args = programs[name]
        best, n = 1e9, 0
        try:
            if mode == "compile":
                jax.clear_caches()
                fresh = lambda *a: function(*a)
                t0 = now()
                jax.jit(fresh).lower(*args).compile()
                best = now() - t0
            else:
                if name not in compiled:
                    compiled[name] = function if mode == "call" else jax.jit(function).lower(*args).compile()
                    jax.block_until_ready(compiled[name](*args))
                run = compiled[name]
                stop = now() + float(seconds)
                while n < 2 or now() < stop:
                    t0 = now()
                    jax.block_until_ready(run(*args))
                    best = min(best, now() - t0)
                    n += 1
            text = compiled[name].as_text() if mode == "run" and float(seconds) == 0 else ""
            print(json.dumps([best * 1e3, text]), file=out, flush=True)
        except Exception as error:
            print(json.dumps([None, f"{type(error).__name__}: {error}"[:300]]), file=out, flush=True)


def start(python, path, mode, clock):
    env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="2")
    process = subprocess.Popen([python, __file__, "--worker", path, mode, clock], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True, env=env)
    names = process.stdout.readline().split()
    assert names, f"{python} could not load {path}"
    return process, names


def ask(process, name, seconds):
    process.stdin.write(f"{name} {seconds}\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ours"), parser.add_argument("theirs"), parser.add_argument("programs")
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--slice", type=float, default=0.05, help="seconds of each turn")
    parser.add_argument("--hlo", help="folder for the optimised programs, to compare them")
    parser.add_argument("--mode", default="run", choices=["run", "compile", "call"])
    parser.add_argument("--cpu", dest="clock", action="store_const", const="process_time", default="perf_counter")
    args = parser.parse_args()
    sides, known = zip(*[start(python, args.programs, args.mode, args.clock) for python in (args.ours, args.theirs)])
    names = args.only.split(",") if args.only else known[0]
    print(f"{'program':32} {'ours':>10} {'theirs':>10} {'ratio':>7}")
    for name in names:
        best = [1e9, 1e9]
        for turn in range(args.rounds + 1):
            answers = [ask(side, name, args.slice if turn else 0) for side in sides]
            if answers[0][0] is None or answers[1][0] is None:
                best = None
                print(name, *(answer[1] for answer in answers if answer[0] is None))
                break
            best = [min(old, new[0]) for old, new in zip(best, answers)]
            if args.hlo and turn == 0:
                for side, answer in zip(("ours", "theirs"), answers):
                    open(os.path.join(args.hlo, f"{name}.{side}.hlo"), "w").write(answer[1])
        if best:
            print(f"{name:32} {best[0]:10.3f} {best[1]:10.3f} {best[1] / best[0]:7.2f}", flush=True)
    for side in sides:
        side.stdin.close()
        side.wait()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        worker(*sys.argv[2:])
    else:
        main()
