"""For tests: a backend that computes with NumPy, and the contract that every backend must keep.

``numpy_backend``  a backend that interprets programs with NumPy
``contract``       what every backend must keep, as tests
"""
