"""Take models that are written in other languages than accord's own."""
