"""Parts of `docs/build.py`."""
