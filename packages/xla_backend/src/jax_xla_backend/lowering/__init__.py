"""Jaxprs to StableHLO text. `module.lower_module` is what the runtime calls, at the first program."""
