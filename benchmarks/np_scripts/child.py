"""Run one of NumPyro's example scripts by accord or by NumPyro, and note what it found.

`child.py {accord,numpyro} OUT SCRIPT ARGUMENTS...` writes to OUT, as JSON, moments of all chains that the script ran
and the losses of its fits.
"""

import contextlib
import json
import runpy
import sys
from pathlib import Path
from typing import Any

import elsewhere
import numpy as np
import stand_ins

chains: list[Any] = []
losses: list[Any] = []


def watch(infer: Any) -> None:
    """Keep each `MCMC` and each result of `SVI.run`."""
    run, fit = infer.MCMC.run, infer.SVI.run

    def watched(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = run(self, *args, **kwargs)
        chains.append(moments(self.get_samples(group_by_chain=True)))
        return result

    def fitted(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = fit(self, *args, **kwargs)
        tail = np.asarray(result.losses, float)[-max(len(result.losses) // 5, 1) :]
        losses.append([float(tail.mean()), float(tail.std() / np.sqrt(len(tail)))])
        return result

    infer.MCMC.run, infer.SVI.run = watched, fitted


def moments(samples: Any) -> dict[str, Any]:
    """Mean, sd and effective sample size of each scalar, by site."""
    from numpyro.diagnostics import effective_sample_size

    found: dict[str, Any] = {}
    for name, value in samples.items():
        array = np.asarray(value, float)
        flat = array.reshape((*array.shape[:2], -1))[..., :200]
        with np.errstate(all="ignore"):
            ess = np.nan_to_num(np.asarray(effective_sample_size(flat)), nan=1.0)
        found[name] = [flat.mean((0, 1)).tolist(), flat.std((0, 1)).tolist(), np.maximum(ess, 1.0).tolist()]
    return found


def main() -> None:
    """Run the script."""
    library, out, script, *arguments = sys.argv[1:]
    with contextlib.ExitStack() as stack:
        if library == "accord":
            from accord.numpyro import install

            stack.enter_context(install(version="0.21.0"))
        else:
            import numpyro

            numpyro.__version__ = "0.21.0"
        stand_ins.put_in_place()
        elsewhere.put_in_place(Path(script).stem)
        import numpyro.infer

        watch(numpyro.infer)
        np.random.seed(0)
        sys.argv = [script, *arguments]
        sys.path.insert(0, str(Path(script).parent))
        try:
            runpy.run_path(script, run_name="__main__")
        finally:
            Path(out).write_text(json.dumps({"chains": chains, "losses": losses}))


if __name__ == "__main__":
    main()
