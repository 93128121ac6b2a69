"""Control flow: loops and conditionals that are part of a traced program. Each module is imported when it is used."""
