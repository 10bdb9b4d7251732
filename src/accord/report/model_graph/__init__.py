"""Draw the sites of a model and what they depend on."""

from .graph import ModelGraph as ModelGraph
from .node import Node as Node
