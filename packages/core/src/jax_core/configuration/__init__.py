"""Flags, their values in a process and a thread, and the thread's current trace.

``engine``   flags, their values in a process and in a thread, and who is told of a change
``flags``    the catalogue: what each flag does, and its default
``inert``    flags that are accepted and have no effect here
``context``  the state of a thread: its current trace, the named axes in scope
"""
