"""How a call finds its way: evaluation at once, and writing programs down.

``trace``        how one call of a primitive reaches the transformations in force; evaluation
``staging``      writing down the program of what a function does
``structural``   the primitives that transformations themselves need
``short_reductions``  along few elements, as loops of their own on the CPU
``windowed_sums``     of less than the compiler's library takes, in one kernel
``reductions_in_pieces``  extrema along many elements, where NaN must be kept
``windows_by_axes``   sums and extrema over windows, along one axis after another
``traced_once``  what tracing a function gave, kept as long as the function
``lengths``      what a function decides by the lengths of its arrays, for programs with symbolic shapes
``nans``         `jax_debug_nans` and `jax_debug_infs`
``collector``    Python's cycle collector while a program is written
"""
