"""Running programs: the stages of one, dispatch, execution, tokens, calls of the host."""
