"""Approximate posteriors by normals along climbs, as a run like any other."""
