"""A kernel run operation by operation on the host, each core of each device in a thread of its own, by `InterpretParams`.

* `races`: accesses that nothing orders, found by vector clocks.
* `world`: what the cores share: memory, semaphores, copies under way.
* `core`: one core: its steps, blocks and operations.
* `host`: the call from a compiled program, where the devices of a mesh meet.

`interpreter` runs a kernel as a compiled loop, one core after the other, and is much faster; it cannot look for races, and no core waits for another.
"""
