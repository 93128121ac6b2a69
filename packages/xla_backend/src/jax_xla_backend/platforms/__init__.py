"""Platforms, their clients and devices; the processes of a program.

``client``             clients and devices, started at first need
``plugins``            PJRT plugins: GPU, TPU, others
``attached``           whether a device is there at all
``registry``           the platforms that plugins have entered
``distributed``        programs of many processes
``clusters``           which process this is, as launchers say it
``cluster_classes``    the same as classes, of which libraries derive their own
``liveness``           which of those processes still live
``relay``              the connection to the coordinator, whose loss is an error
``distributed_state``  what those add to the options of new clients
``cpp_state``          our configuration, as jaxlib's C++ sees it
"""
