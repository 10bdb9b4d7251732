"""Give the tests the example models with their data, and the reference figures of their posteriors."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from accord.cli import examples
from accord.cli.data import read_data
from accord.cli.source import import_model
from accord.language import Model

REFERENCES = json.loads(Path(__file__).with_name("references.json").read_text())


def data_of(name: str) -> dict[str, Any]:
    """The data of an example, by argument."""
    return read_data(examples.find(name).data)


def model_of(name: str) -> Model:
    """An example's model with its data bound."""
    with import_model(str(examples.find(name).model)) as function:
        return function(**data_of(name))


def scalar(sites: dict[str, np.ndarray], parameter: str) -> np.ndarray:
    """The draws of a parameter called as in the references, `theta[2]` counted from 1; shape `(chain, draw)`."""
    name, _, index = re.fullmatch(r"(\w+)(\[(\d+)\])?", parameter).groups()
    return sites[name] if index is None else sites[name][..., int(index) - 1]


def reference_mean(name: str) -> dict[str, np.ndarray | float]:
    """The posterior means of an example's sites, as arrays."""
    sites: dict[str, Any] = {}
    for parameter, row in REFERENCES[name]["parameters"].items():
        site, bracket, _ = parameter.partition("[")
        if bracket:
            sites.setdefault(site, []).append(row["mean"])
        else:
            sites[site] = row["mean"]
    return {site: np.asarray(value) for site, value in sites.items()}
