"""For tests: a backend that computes with NumPy, and the contract that every backend must keep."""
