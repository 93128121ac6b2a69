"""shard_map: functions of the parts of arrays that the devices of a mesh hold.

``api``      the public functions, which check specs and trace the function on parts
``looking``  values of an eager call, printed while its function runs
``program``  the primitive and its rules
``high_types``  values of high-level types, by the arrays that represent them
"""
