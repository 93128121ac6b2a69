"""How a call finds its way: evaluation at once, and writing programs down."""
