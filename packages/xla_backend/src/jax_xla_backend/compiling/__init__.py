"""StableHLO to executables.

``compile``             options, and the caches in memory and on disk
``compiler_options``    options chosen by what is in a program
``parsing``             programs as text, read in contexts that stay
``complaints``          what compilers complain of, in our words
``tiered_compilation``  quick code first, full code for programs that run often
``mappings``            room for one more program
``disk_cache``          compiled programs, kept for the next process
"""
