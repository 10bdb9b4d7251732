"""Define the commands of the command line: their options, steps and output.

Options are checked before anything is traced. Every error ends with status 2: one of accord is printed as one message,
and one of the user's code with its lines.
"""

import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from .. import __version__, infer
from ..core.defaults import DEFAULT_CHAINS, DEFAULT_DRAWS
from ..core.precision import Precision
from ..executors.gangs.host_agent import keep
from ..mcmc.draws import Draws
from ..report.sketch import terminal_ramp
from ..runs.interrupts import Interrupts
from . import examples
from .arrays import check_new, write_arrays
from .bugs import bug_command
from .completing import example_names
from .creating import new_command
from .failing import INTERRUPTED, REFUSED, clipped, tell
from .fitting import fit_command
from .formulas import glm_command
from .numpyro_scripts import run_numpyro_command
from .options import (
    ChainCount,
    Cluster,
    Data,
    DrawCount,
    ExecutorName,
    ModelFile,
    Out,
    Quiet,
    RunFolder,
    Seed,
    WarmupCount,
    WorkerCount,
    executor_named,
    rule_written,
    sampler_named,
    sharing,
)
from .reporting import report_command
from .running import FAILED, bind, conclude, draws_in, refuse_unusable, sample_into
from .source import import_model
from .tables import summary_as_json, summary_of
from .watching import stop_command, watch_command

# The base of what Typer raises for a wrong option: of Click in some of its versions, of its own in others.
_UsageError: Any = typer.BadParameter.__base__


def _example(*lines: str) -> str:
    """Format the example calls at the end of a command's help."""
    return "\b\nExample:\n" + "\n".join(f"  {line}" for line in lines)


app = typer.Typer(
    help="Draw from the posteriors of models written as Python functions.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; `arguments` default to those of the process. Ends in `SystemExit`."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # names of sites may have letters that a terminal lacks
            stream.reconfigure(errors="backslashreplace")
    sys.exit(_status(arguments))


def _status(arguments: Sequence[str] | None) -> int:
    """Run a command, print what it raises, and return the exit status."""
    try:
        return app(arguments, standalone_mode=False) or 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except typer.Abort as error:  # which some versions of Typer make of Ctrl-C
        return INTERRUPTED if isinstance(error.__cause__, KeyboardInterrupt) else REFUSED
    except _UsageError as error:
        error.message = clipped(error.message)
        error.show()
        return REFUSED
    except SystemExit:  # of Typer, for a reader of the output that is gone
        raise
    except BaseException as error:
        tell(error)
        return REFUSED


@app.callback(invoke_without_command=True)
def _accord(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if version:
        typer.echo(f"accord {__version__}")
        raise typer.Exit


@app.command(
    "sample",
    no_args_is_help=True,
    epilog=_example("accord sample model.py --data data.json --out run --draws 500"),
)
def sample_command(
    model: ModelFile,
    data: Data = None,
    out: Out = None,
    draws: DrawCount = DEFAULT_DRAWS,
    warmup: WarmupCount = None,
    chains: ChainCount = DEFAULT_CHAINS,
    seed: Seed = 0,
    thinning: Annotated[int, typer.Option(help="Keep every n-th draw.")] = 1,
    precision: Annotated[str, typer.Option(help="float64 or float32.")] = "float64",
    sampler: Annotated[str, typer.Option(help="nuts or hmc.")] = "nuts",
    target_accept: Annotated[
        float | None, typer.Option(help="Target acceptance rate of the step size.")
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(help="Form of the metric: auto, diagonal, low_rank, dense or marginal."),
    ] = None,
    max_tree_depth: Annotated[
        int | None, typer.Option(help="NUTS: maximal number of doublings of a trajectory.")
    ] = None,
    trajectory_length: Annotated[
        float | None, typer.Option(help="HMC: mean integration time, in whitened units.")
    ] = None,
    max_steps: Annotated[int | None, typer.Option(help="HMC: maximal number of gradients per draw.")] = None,
    until: Annotated[
        str | None,
        typer.Option(help='Stop early once this rule holds: "ess=1000 and rhat=1.01 or seconds=60".'),
    ] = None,
    executor: ExecutorName = "threads",
    workers: WorkerCount = None,
    cluster: Cluster = None,
    quiet: Quiet = False,
) -> None:
    """Draw from the posterior of a model, store the run, and print a summary."""
    kernel = sampler_named(
        sampler,
        {
            "target_accept": target_accept,
            "metric": metric,
            "max_tree_depth": max_tree_depth,
            "trajectory_length": trajectory_length,
            "max_steps": max_steps,
        },
    )
    where, rule = executor_named(executor, workers, cluster), rule_written(until)
    with import_model(model) as function:
        target = bind(function, data)
        sample_into(target, kernel, out, draws, warmup, chains, seed, thinning, precision, where, quiet, rule)


app.command(
    "fit",
    no_args_is_help=True,
    epilog=_example("accord fit model.py --data data.json --guide full_rank --out fit"),
)(fit_command)


app.command(
    "glm",
    no_args_is_help=True,
    epilog=_example(
        "accord glm 'y ~ x + (x | school)' table.csv --out schools",
        "accord glm 'count ~ treatment + offset(log(days))' table.csv --family poisson --code",
    ),
)(glm_command)


@app.command("resume", no_args_is_help=True, epilog=_example("accord resume run model.py --data data.json"))
def resume_command(
    run: RunFolder,
    model: ModelFile,
    data: Data = None,
    executor: ExecutorName = "threads",
    workers: WorkerCount = None,
    cluster: Cluster = None,
    quiet: Quiet = False,
) -> None:
    """Continue a stored run that ended early, with the same model and data, and print its summary."""
    where = executor_named(executor, workers, cluster)
    with import_model(model) as function:
        conclude(infer.resume(run, bind(function, data), executor=where, quiet=quiet), run)


app.command(
    "run-numpyro",
    no_args_is_help=True,
    context_settings={
        "allow_extra_args": True,
        "ignore_unknown_options": True,
        "allow_interspersed_args": False,
    },
    epilog=_example("accord run-numpyro funnel.py --num-samples 500"),
)(run_numpyro_command)


@app.command("check", no_args_is_help=True, epilog=_example("accord check model.py --data data.json"))
def check_command(
    model: ModelFile,
    data: Data = None,
    shard: Annotated[
        str | None,
        typer.Option(help="Data to split over devices: arguments with axes, as X=0,y=0, or a plate."),
    ] = None,
    devices: Annotated[
        int | None, typer.Option(help="Number of devices; on CPU this many are created.")
    ] = None,
    precision: Annotated[str, typer.Option(help="float64 or float32.")] = "float64",
) -> None:
    """Check a model before it is run; status 1 if it finds an error."""
    executor = sharing(shard, devices)
    with import_model(model) as function:
        report = infer.check(bind(function, data), executor=executor, precision=cast(Precision, precision))
    typer.echo(str(report))
    if not report.ok:
        raise typer.Exit(FAILED)


@app.command(
    "summary",
    no_args_is_help=True,
    epilog=_example("accord summary run", "accord summary run --site p --rows 20 --json"),
)
def summary_command(
    run: RunFolder,
    sites: Annotated[
        list[str] | None,
        typer.Option(
            "--site", help="Only this site, or a pattern such as 'theta*'; may be given several times."
        ),
    ] = None,
    rows: Annotated[
        int | None, typer.Option(min=0, help="Number of rows to print; default 60 as text, all as JSON.")
    ] = None,
    prob: Annotated[float, typer.Option(help="Mass of the interval, between 0 and 1.")] = 0.9,
    kind: Annotated[str, typer.Option(help="Columns: all, stats or diagnostics.")] = "all",
    interval: Annotated[str, typer.Option(help="quantiles, or hdi for the shortest interval.")] = "quantiles",
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print rows and notices as JSON, with null for values that are not finite."
        ),
    ] = False,
) -> None:
    """Print summary and notices of a stored run, without its model; status 1 if it must not be used."""
    from ..vi.pathfinder.result import Paths

    found = infer.load(run)
    if not isinstance(found, Draws | Paths):
        if sites or as_json:
            draws_in(run, "summary --json" if as_json else "summary --site")
        typer.echo(str(found))
        refuse_unusable(found)
        return
    table = summary_of(found, sites or None, prob, kind, interval)
    if as_json:
        typer.echo(summary_as_json(found, table, rows))
    else:
        typer.echo(repr(found))
        typer.echo(str(table) if rows is None else table.text(rows, terminal_ramp()))
        for notice in found.notices:
            typer.echo(str(notice))
    for problem in found.problems:
        typer.echo(f"damage: {problem}", err=True)
    refuse_unusable(found)


app.command(
    "report",
    no_args_is_help=True,
    epilog=_example("accord report run", "accord report run --format md"),
)(report_command)
app.command(
    "watch", no_args_is_help=True, epilog=_example("accord watch run", "accord watch run --terminal")
)(watch_command)
app.command("stop", no_args_is_help=True, epilog=_example("accord stop run"))(stop_command)
app.command("bug", no_args_is_help=True, epilog=_example("accord bug run"))(bug_command)
app.command("new", no_args_is_help=True, epilog=_example("accord new growth"))(new_command)


@app.command(
    "predict",
    no_args_is_help=True,
    epilog=_example("accord predict run model.py --data new.json --site y --out ahead.npz"),
)
def predict_command(
    run: RunFolder,
    model: ModelFile,
    data: Data = None,
    out: Annotated[Path | None, typer.Option(help="NPZ file for the draws, by site.")] = None,
    sites: Annotated[
        list[str] | None, typer.Option("--site", help="Only this site; may be given several times.")
    ] = None,
    redraw: Annotated[
        list[str] | None,
        typer.Option(
            help="Draw entries with new labels of this unknown from its prior; NAME=all: all entries. Repeatable."
        ),
    ] = None,
    seed: Seed = 0,
    executor: ExecutorName = "threads",
    workers: WorkerCount = None,
    cluster: Cluster = None,
    quiet: Quiet = False,
) -> None:
    """Draw predictions of a model from a stored run, and print a summary."""
    if out is not None:
        check_new(out)
    where = executor_named(executor, workers, cluster)
    draws = draws_in(run, "predict")
    with import_model(model) as function:
        target = bind(function, data)
        with Interrupts() as interrupts, interrupts.raising():  # so that workers are ended
            found = infer.predict(
                draws,
                target,
                sites=sites or None,
                redraw={
                    name: which or "new" for name, _, which in (each.partition("=") for each in redraw or [])
                },
                seed=seed,
                executor=where,
                quiet=quiet,
            )
    typer.echo(f"{found!r}".splitlines()[0])
    typer.echo(str(found.summary()))
    if out is not None:
        write_arrays(out, found)
        typer.echo(
            f"\nStored in {out}, by site, with axes chain and draw in front: numpy.load({str(out)!r})."
        )


@app.command(
    "example",
    epilog=_example("accord example --list", "accord example eight_schools --out eight --draws 500"),
)
def example_command(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Name of the example; see --list.", autocompletion=example_names),
    ] = None,
    list_them: Annotated[bool, typer.Option("--list", help="List the examples.")] = False,
    out: Out = None,
    draws: DrawCount = DEFAULT_DRAWS,
    warmup: WarmupCount = None,
    chains: ChainCount = DEFAULT_CHAINS,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Run a model that comes with accord, on real data."""
    if name is None or list_them:
        for each in examples.find_all():
            typer.echo(f"{each.name:24}{each.title}")
        return
    example = examples.find(name)
    typer.echo(f"{example.title}\n{example.model}\n")
    with import_model(str(example.model)) as function:
        target = bind(function, example.data)
        sample_into(
            target, infer.NUTS(), out, draws, warmup, chains, seed, 1, "float64", infer.Threads(), quiet
        )


@app.command("member", no_args_is_help=True, epilog=_example("accord member head.cluster:7000"))
def member_command(
    address: Annotated[
        str, typer.Argument(metavar="HOST:PORT", help="Where infer.MultiHost(address=...) is.")
    ],
    wait: Annotated[float, typer.Option(help="Seconds to wait for the run to begin.")] = 600.0,
) -> None:
    """Compute a part of a run of infer.MultiHost on this machine; start one on each machine of the run.

    Set the secret in ACCORD_GANG_KEY, here and on the machine of the run. Under srun and mpirun members keep their
    ranks.
    """
    with Interrupts() as interrupts, interrupts.raising():  # so that the member is ended
        keep(address, wait)
