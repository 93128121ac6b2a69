"""Programs that outlive their process (`exported`, `exporting`, `container`, `loading`), also for families of shapes
(`symbols`, `symbolic_shapes`, `solving`; `symbolic_programs`, `decisions`, `forms`, `families`, `templates`).
"""
