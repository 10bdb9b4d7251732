"""Where a posterior or a likelihood is highest, and how sharply it falls from there."""
