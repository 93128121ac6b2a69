"""The class of arrays, and how arrays are made and moved."""
