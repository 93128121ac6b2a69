"""Looking at programs, keeping them, measuring them.

``inspecting``  text, HLO and costs of lowered programs
``exporting``   programs that outlive their process
``public_modules``  their modules as files of the public jax have them
``profiler``    what ran when, and who holds memory
``roofline``    costs on an ideal machine
``source_mapper``  which line of the user's program each line of a lowered one comes from
``colocated_python``  functions that run beside devices
"""
