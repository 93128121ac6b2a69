"""Flags, their values in a process and a thread, and the thread's current trace."""
