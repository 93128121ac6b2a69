"""What programs are made of: dtypes, types of values, effects, trees, primitives, jaxprs and how they print."""
