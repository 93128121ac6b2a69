"""custom_partitioning: operations that say themselves how they are divided among devices.

``api``    the decorator, the primitive, and what XLA's partitioner asks (rules: `lowering.sharding_rules`)
``calls``  the same for our own primitives
"""
