"""Operations that only this backend has.

``shard_map``            functions of the parts of arrays
``custom_partitioning``  operations that say how they are divided
``pmap``                 one copy of a function on each device
``axis_kinds``           who decides how values are split
``annotations``          notes to the compiler
``layout_constraint``    layouts inside a program
``multihost``            values from process to process
"""
