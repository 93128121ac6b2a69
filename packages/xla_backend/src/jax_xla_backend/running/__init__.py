"""Programs that run.

``stages``                from a jaxpr to an executable
``executable``            a compiled program, and how it is called from Python
``places``                where it runs
``loaded_program``        the same for certain devices
``described``             the same for devices that are only described
``dispatch``              calls that do not enter Python
``eager``                 one primitive at a time
``tokens``                the order of effects
``host_calls``            programs that call Python functions
``ffi``                   compiled functions that programs call
``serialize_executable``  compiled programs as bytes
"""
