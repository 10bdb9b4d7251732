"""Build the same small network in three libraries, with what is particular to each."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from flax import linen, nnx

X = np.linspace(-1.0, 1.0, 10).reshape(5, 2)
Y = np.array([0.5, -1.0, 2.0, 0.0, 0.3])


class Linen(linen.Module):
    """Two dense layers."""

    @linen.compact
    def __call__(self, x):
        return linen.Dense(1)(jnp.tanh(linen.Dense(3)(x)))[..., 0]


class LinenNorm(linen.Module):
    """A layer after a normalisation, which keeps running means."""

    @linen.compact
    def __call__(self, x, train=False):
        return linen.Dense(1)(linen.BatchNorm(use_running_average=not train)(x))[..., 0]


class Nnx(nnx.Module):
    """Two layers with a normalisation, which writes running means, and a dropout."""

    def __init__(self):
        rngs = nnx.Rngs(0)
        self.layers = nnx.List([nnx.Linear(2, 3, rngs=rngs), nnx.Linear(3, 1, rngs=rngs)])
        self.norm = nnx.BatchNorm(3, rngs=rngs)
        self.drop = nnx.Dropout(0.3, rngs=rngs)

    def __call__(self, x):
        return self.layers[1](self.drop(self.norm(self.layers[0](x))))[..., 0]


def equinox_net():
    return eqx.nn.MLP(2, "scalar", 3, 1, key=jax.random.key(0))


def nnx_net(is_training=False):
    net = Nnx()
    net.eval()
    net.norm.use_running_average = not is_training
    return net
