"""Programs that outlive their process (`exported`, `exporting`, `container`, `loading`), in files of the public jax (`public_format`,
`flat_records`), also for families of shapes
(`symbols`, `length_values`, `symbolic_shapes`, `solving`; `symbolic_programs`, `decisions`, `forms`, `families`, `templates`), and as jaxprs
(`symbolic_traces`, `symbolic_jaxprs`).
"""
