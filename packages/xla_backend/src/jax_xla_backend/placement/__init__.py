"""Which device holds which part of an array.

``mesh``                 devices in a grid with named axes
``device_grid``          arranging devices for one
``topologies``           devices that need not be there
``partition_spec``       which mesh axes an array's axes are split over
``sharding``             the classes of shardings
``hlo_shardings``        XLA's form of them
``sharding_protos``      that form as bytes
``described_shardings``  placements as plain data
``layout``               the order of elements in memory
``no_collectives``       axes along which nothing may move
``block_environment``    the mesh of a ``with`` block, for libraries
``sharding_impls``       what jaxlib and libraries look up by that name
"""
