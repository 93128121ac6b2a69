"""jvp, linearize and transpose, vmap, custom rules, recomputation: each a trace and its rules."""
