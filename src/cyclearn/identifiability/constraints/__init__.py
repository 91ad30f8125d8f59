"""What every distribution of a graph satisfies: vanishing minors, normal directions, statements."""
