"""Run the named cases on two devices, and print the missing messages as JSON."""

import json
import sys

import jax


def main() -> None:
    """Print a mapping from name to what is missing."""
    jax.config.update("jax_num_cpu_devices", 2)
    # Some of the models' data are arrays of JAX, which must not be made before.
    from failure_outcome import SHORT, outcome, shortfall
    from gallery import CASES

    from accord import infer

    found = {name: outcome(CASES[name], executor=infer.Serial(), **SHORT) for name in sys.argv[1:]}
    print(json.dumps({name: shortfall(CASES[name], each) for name, each in found.items()}))


if __name__ == "__main__":
    main()
