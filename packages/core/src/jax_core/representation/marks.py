"""Rules that are given by name where a primitive is declared (see `primitive`)."""


class Mark:
    """A rule given by name; the transformation that uses it knows what to do."""

    __slots__ = ("name",)

    def __init__(self, name: str):
        self.name = name

    def __repr__(self) -> str:
        return self.name


LINEAR = Mark("LINEAR")
ZERO = Mark("ZERO")
ELEMENTWISE = Mark("ELEMENTWISE")
