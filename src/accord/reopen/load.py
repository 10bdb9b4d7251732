"""Read a stored run without its model."""

from pathlib import Path
from typing import Any

from ..core.options import checks_options
from ..mcmc.draws import Draws
from ..storage import AbstractStore, RunFolder
from .methods import reopening_of


@checks_options
def load(path: str | Path | AbstractStore) -> Draws | Any:
    """Return the draws of the run in folder `path`, or in a store of your own, as `infer.sample` returned them.

    A run that was killed before its end gets its notices now. A damaged run is read up to the damage, which
    `draws.problems` names, with a notice of severity error. Nothing is written, so that the run may go on meanwhile.

    The folder of a calibration gives a `Calibration`, as `infer.calibrate` returned it, of the simulations that are
    there; that of a fit gives a `Fit`, without its model, so that it cannot be drawn from; that of a pathfinder gives
    `Paths`, that of populations `SMCDraws`, and that of nested sampling `NestedDraws`, with their draws.

    **Raises** `StorageError` if the folder holds no run, or if no accord has written what it holds.

    **Example**

    >>> folder = infer.RunFolder("run")
    >>> kept = infer.sample(eight_schools(sigma, y), draws=200, chains=2, store=folder, quiet=True)
    >>> infer.load("run")
    <Draws of eight_schools: 2 chains x 200 draws; mu, tau, z[8], theta[8]>
    """
    run = (path if isinstance(path, AbstractStore) else RunFolder(path)).load()
    return reopening_of(run).read(run)
