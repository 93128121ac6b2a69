"""For the whole suite: eight virtual CPU devices, set before anything starts the client, and no programs on disk."""
import os

os.environ.setdefault("JAX_NUM_CPU_DEVICES", "8")
os.environ.setdefault("JAX_ENABLE_COMPILATION_CACHE", "0")
