"""What is decided about a program before it is written: fusion, loops, repeats."""
