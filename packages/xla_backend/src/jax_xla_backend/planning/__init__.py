"""What is decided about a program before it is written.

``planner``         which values are written to memory once
``compared``        which values are compared with one chosen among them, and so computed once
``paths``           where LLVM would walk too many paths
``loops``           which loops become one function
``one_function``    which programs become one
``repeated_work``   where fusion would compute values many times
``sums``            which functions the compiler's library for sums computes with them
``flat_results``    which results are written as vectors
``odd``             which equations need another form than most of their kind
``joins``           which arrays are put together of many that are computed
``known_nans``      whether a program computes with NaN for certain
``windows``         which sums of some hundred numbers are costly without vectors
``small_programs``  where compiling the quick way pays
``unrolling``       where unrolled loops are no faster
``wide_vectors``    where vectors of 512 bits are faster
"""
