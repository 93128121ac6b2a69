"""Random programs, run in several ways that must agree; see `__main__` for how to start it.

    values    types and contents of arguments, as text
    templates, compositions, signatures   lines: written down by category, and any public function by its signature
    large, devices   lines of programs of large arrays, and of programs on eight devices
    grammar   programs: a seed in, text out
    outcome   runs a text and records all that a user can see of its result (the reference runs it too)
    interpret values of a lowered program without a compiler
    checks    the ways that must agree, and how near
    judge     whether rounding explains a difference, or a hole of the other side
    watched   the checks in a process of its own
    reference another interpreter, with another implementation, that runs the same texts
    plants    mistakes put into ours on purpose, and how soon each is caught
    sweep     every public function of arrays on every dtype, beside another implementation; started by itself
    expressions   compositions of elementwise functions at special points, compiled against one by one; started by itself
    under_flags   users' programs, and all functions of arrays, with a flag set, beside another implementation; started by itself
    shrink    the shortest text that still differs in the same way
"""
