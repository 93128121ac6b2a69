"""The class of arrays, and how arrays are made and moved.

``array``             jaxlib's class, and reading its contents
``array_methods``     what arrays can do besides
``rows``              the elements that iteration gives
``put``               placing one value
``device_put``        trees of values to devices and back
``from_parts``        arrays from parts
``agreement``         whether processes give the same for one array
``own_layouts``       arrays that are not stored in the usual order
``dlpack``            arrays of other libraries
``transfer_guards``   transfers that nobody asked for
``transfer_server``   arrays from process to process
``notebook``          arrays as HTML
``interruptible``     waiting so that Ctrl-C works
``callback_buffers``  memory lent to callbacks
"""
