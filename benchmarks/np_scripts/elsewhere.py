"""Take the place of what NumPyro's example scripts need beside NumPyro: downloads, and packages that may be missing."""

import importlib.util
import sys
from types import ModuleType
from typing import Any

import numpy as np


def put_in_place(script: str) -> None:
    """Let a script read made-up tables and texts, and do without pictures of words and TensorFlow."""
    if script in ("hsgp", "zero_inflated_poisson"):
        _tables()
    if script == "prodlda":
        _texts()
    if script == "hsgp" and importlib.util.find_spec("tensorflow_probability") is None:
        _bessel()


def _tables() -> None:
    import pandas as pd

    rng = np.random.default_rng(5)

    def births(*_: Any, **__: Any) -> Any:
        number = np.arange(1, 1097)
        days = pd.Timestamp("1968-12-31") + pd.to_timedelta(number, unit="D")
        weekday, day = days.dayofweek.to_numpy() + 1, days.dayofyear.to_numpy()
        mean = 5000 + 300 * np.sin(2 * np.pi * day / 365) - 400 * (weekday > 5)
        count = rng.normal(mean, 100)
        return pd.DataFrame({"id": number, "births": count, "day_of_week": weekday, "day_of_year": day})

    def fish(*_: Any, **__: Any) -> Any:
        table = {name: rng.integers(0, 2, 250) for name in ("livebait", "camper")}
        table |= {"persons": rng.integers(1, 5, 250), "child": rng.integers(0, 4, 250)}
        mean = np.exp(-1.5 + 0.9 * table["persons"] - 1.2 * table["child"] + 0.6 * table["livebait"])
        is_fishing = rng.random(250) < 0.6
        return pd.DataFrame({**table, "count": rng.poisson(mean) * is_fishing})

    pd.read_csv, pd.read_stata = births, fish


def _texts() -> None:
    import sklearn.datasets

    rng = np.random.default_rng(5)
    words = np.array([f"word{letter}{other}" for letter in "abcdef" for other in "abcdefghij"])

    def fetch(**_: Any) -> Any:
        topics = rng.dirichlet(np.full(60, 0.1), size=4)
        texts = [" ".join(rng.choice(words, 60, p=topics[rng.integers(4)])) for _ in range(400)]
        return {"data": texts}

    sklearn.datasets.fetch_20newsgroups = fetch
    if importlib.util.find_spec("wordcloud") is None:
        module: Any = ModuleType("wordcloud")

        class WordCloud:
            def __init__(self, **_: Any) -> None: ...

            def generate_from_frequencies(self, frequencies: Any) -> Any:
                return np.zeros((5, 8, 3)) + len(frequencies) / 100

        module.WordCloud = WordCloud
        sys.modules["wordcloud"] = module


def _bessel() -> None:
    """Offer `bessel_ive` of whole orders, by its integral over a period: Abramowitz & Stegun 9.6.19."""
    import jax.numpy as jnp

    def bessel_ive(v: Any, z: Any) -> Any:
        angle = (jnp.arange(256) + 0.5) * jnp.pi / 256
        v, z = jnp.asarray(v)[..., None], jnp.asarray(z)[..., None]
        return jnp.mean(jnp.exp(z * jnp.cos(angle) - jnp.abs(z)) * jnp.cos(v * angle), axis=-1)

    parts = ("tensorflow_probability", "substrates", "jax", "math")
    modules: list[Any] = [ModuleType(".".join(parts[: i + 1])) for i in range(len(parts))]
    modules[-1].bessel_ive = bessel_ive
    for outer, inner, name in zip(modules, modules[1:], parts[1:], strict=False):
        outer.__path__ = []
        setattr(outer, name, inner)
    sys.modules |= {module.__name__: module for module in modules}
