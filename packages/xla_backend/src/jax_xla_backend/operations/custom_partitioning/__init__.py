"""custom_partitioning: operations that say themselves how they are divided among devices.

``rules``  which dimensions of operands and results belong together, in Shardy's terms
``api``    the decorator, the primitive, and what XLA's partitioner asks
``calls``  the same for our own primitives
"""
