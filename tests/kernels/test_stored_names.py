"""Hold what is said of kernels by their names alone: stored runs have no more, and nothing is loaded for it."""

from dataclasses import fields

from accord import kernels
from accord.kernels.base import AbstractKernel
from accord.kernels.minibatches import AbstractMinibatches
from accord.kernels.stored import BY_BLOCKS, BY_ESTIMATES, KERNELS, WITHOUT_REFUSALS


def test_each_name_is_that_of_its_kernel():
    for name in KERNELS:
        assert getattr(kernels, name).__name__ == name
        assert issubclass(getattr(kernels, name), AbstractKernel)


def test_kernels_that_refuse_no_step_are_those_of_minibatches():
    assert set(WITHOUT_REFUSALS) == {
        name for name in KERNELS if issubclass(getattr(kernels, name), AbstractMinibatches)
    }


def test_the_kernels_of_blocks_and_of_estimates_have_what_is_read_of_them():
    assert getattr(kernels, BY_BLOCKS) is kernels.Gibbs
    assert {"particles", "estimate_sd"} <= {each.name for each in fields(getattr(kernels, BY_ESTIMATES))}
