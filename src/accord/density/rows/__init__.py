"""Cut the rows of the data into blocks and chunks, and sum over them."""
