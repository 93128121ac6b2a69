"""What only the habits of other libraries ask for. Classes of core inherit it as mixins, and core calls none of it.

``traces``        how libraries write traces and tracers of their own, and ask ours
``primitives``    how interpreters of jaxprs bind primitives
``custom_calls``  how traces of libraries get functions with custom rules
``avals``         what libraries with types of their own ask types for
``linear_util``   `jax.extend.linear_util`: functions with transformations stacked on them
``flat_trees``    operands and results of loops in groups, as interpreters of loops read them
``extended_dtypes``  dtypes that libraries define by a class of rules
``stages``        how tools take compiled programs apart
``origins``       what computed a value, as libraries follow it back
``fields``        `dataclasses.replace` of classes that are written by hand
"""
