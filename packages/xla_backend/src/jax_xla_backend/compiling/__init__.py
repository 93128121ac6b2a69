"""Options, compilation, the caches of compiled programs."""
