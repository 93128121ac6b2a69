"""Which device holds which part: meshes, specs, shardings, layouts; programs on parts."""
