"""Control flow: loops and conditionals that are part of a traced program."""
from .associative_scan import associative_scan
from .cond import cond, cond_p, platform_dependent, platform_index_p, switch
from .map import map
from .scan import scan, scan_p
from .solves import custom_linear_solve, custom_root, linear_solve_p
from .while_loop import fori_loop, while_loop, while_p
