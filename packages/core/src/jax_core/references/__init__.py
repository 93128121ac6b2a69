"""Mutable references: arrays that a program can overwrite in place.

A `Ref` made outside of any transformation holds an array and swaps it for another one. Inside a transformation a
reference is a tracer whose type is an `AbstractRef`; reading and writing are primitives with effects.

One transformation removes references (`discharge`): a program with references among its inputs becomes a pure one that
takes their values and returns the new ones. It is all that `jit` needs to run a program, and all that derivatives and
`vmap` need for a loop or a nested `jit` that works on references of theirs: that equation is discharged on the spot. So
each primitive that holds programs has one rule, ``discharge``, and none of the other rules knows of references.

``indexing``       which part is read or written
``transforms``     views that are no indices: other axes, another shape, other bits
``bits``           bits as elements of another width
``primitives``     making, reading, writing, and what each kind of trace does with it
``discharge``      a program that works on references as a pure one on their values
``api``            the class `Ref` and the functions of `jax.ref`
``high_refs``      references to values of high-level types
``ahead_of_time``  programs on references compiled ahead of time
"""
