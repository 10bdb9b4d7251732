"""Watch a run from another process: read its folder as it grows, judge what is there, and show it."""
