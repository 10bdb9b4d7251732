"""Tell of devices that had nothing to do, because chains are in too few groups."""

from ..core.notice import Notice
from ..executors import AbstractExecutor
from .plan import Plan


def idle_devices(executor: AbstractExecutor, plan: Plan, num_chains: int) -> tuple[Notice, ...]:
    """Return a notice if other lanes would share out the chains over more devices.

    The run does not choose them: they change the last bits of the draws, which must not depend on the devices.
    """
    num_groups, num_devices = -(-num_chains // plan.lanes), len(executor.device_groups())
    if plan.is_ensemble or plan.lanes == 1 or num_groups >= num_devices:
        return ()
    each = -(-num_chains // num_devices)
    lanes = 1 << (each - 1).bit_length()
    if -(-num_chains // lanes) <= num_groups:
        return ()
    return (
        Notice(
            "info",
            "idle_devices",
            f"{num_devices - num_groups} of {num_devices} devices had no chains: {num_chains} chains in {plan.lanes} "
            f"lanes are {num_groups} group{'s' if num_groups > 1 else ''}, and a device takes a whole group.",
            f"If a gradient takes long, give `lanes={lanes}`, which shares them out; it changes the last bits of the "
            "draws.",
        ),
    )
