"""Hold promise P10 for signatures: no public function swallows what it does not know."""

import inspect

import pytest

import accord as ac
import accord.distributions as dist
from accord import handlers, infer

# Binding a model's arguments to its signature is the one exception, and it refuses what the signature lacks.
BINDS_TO_A_SIGNATURE = {"Model", "ModelFunction"}


def public_callables():
    """Every public function, and every public method of every public class, by name."""
    for module in (ac, infer, handlers, dist, dist.constraints):
        names = getattr(module, "__all__", [name for name in vars(module) if not name.startswith("_")])
        for name in names:
            item = getattr(module, name)
            if inspect.isclass(item):
                yield f"{module.__name__}.{name}", item
                for method, function in inspect.getmembers(item, inspect.isfunction):
                    if not method.startswith("_"):
                        yield f"{module.__name__}.{name}.{method}", function
            elif inspect.isfunction(item):
                yield f"{module.__name__}.{name}", item


CALLABLES = dict(public_callables())


@pytest.mark.parametrize("name", CALLABLES)
def test_no_public_function_takes_keywords_of_any_name(name):
    kinds = {parameter.kind for parameter in inspect.signature(CALLABLES[name]).parameters.values()}
    assert inspect.Parameter.VAR_KEYWORD not in kinds


def test_the_table_of_public_names_is_not_empty():
    assert len(CALLABLES) > 100


# A call with a misspelling, and the name that the error must suggest.
TYPOS = {
    "infer.sample": (lambda: infer.sample(coin(p=0.5), drows=10), "draws"),
    "infer.NUTS": (lambda: infer.NUTS(target_acept=0.9), "target_accept"),
    "infer.HMC": (lambda: infer.HMC(trajectory_lenght=1.0), "trajectory_length"),
    "a model's argument": (lambda: coin(q=0.5), "p"),
    "condition": (lambda: coin(p=0.5).condition({"head": 1.0}).log_density(), "heads"),
    "do": (lambda: coin(p=0.5).do({"haeds": 1.0}).log_density(), "heads"),
    "precision": (lambda: infer.sample(coin(p=0.5), precision="float46"), "float64"),
}


@ac.model
def coin(p):
    ac.sample("heads", dist.Normal(p, 1))


@pytest.mark.parametrize("name", TYPOS)
def test_a_misspelling_is_an_error_that_names_what_was_meant(name):
    call, meant = TYPOS[name]
    with pytest.raises(Exception, match=f"'{meant}'") as error:
        call()
    assert type(error.value).__module__.startswith("accord")
