"""Dispatch, execution, tokens, calls of the host, waiting."""
