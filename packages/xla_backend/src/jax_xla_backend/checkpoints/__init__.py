"""Arrays that outlive their process, in files or buckets that tensorstore writes (an optional dependency).

``stores``     where and how an array is stored: tensorstore's specs
``transfer``   arrays to a store and back
``managers``   writing goes on while the program does
``pytrees``    whole trees, with their structure
``for_libraries``  what libraries that write checkpoints themselves take from here
"""
