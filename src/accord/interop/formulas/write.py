"""Write the code of the model that a formula means."""

import itertools
import re
from collections.abc import Collection, Sequence
from typing import Any

from .design import RESERVED, Design, free_name
from .families import INVERSES, PARAMETERS, Family
from .groups import Block
from .priors import Priors, mean_of, width
from .terms import Term
from .text import as_column, plain, plate, quoted, wrapped

_TAB = "    "
_WIDEST = 118


def source_of(
    design: Design, family: Family, link: str, priors: Priors, average: Collection[str] = ()
) -> str:
    """Return the code of a function `glm` of the arguments of a design.

    `average`: factors of which the code behind the last group stands for groups whose effects are zero.
    """
    return _Writer(design, family, link, priors, frozenset(average)).written()


class _Writer:
    """Write one model; `lines` grows."""

    def __init__(self, design: Design, family: Family, link: str, priors: Priors, average: frozenset[str]):
        self.design, self.family, self.link, self.priors, self.average = design, family, link, priors, average
        self.arguments = [name for name in design.arguments() if name != design.names["outcome"]]
        self.taken = {*RESERVED, *design.names.values(), *family.parameters, "threshold", "logits"}
        self.lines: list[str] = []
        self.coefficients: dict[str, str] = {}
        self.means: dict[str, str] = {}
        self.is_categorical = family.support == "categories"
        self.has_level = design.has_intercept or family.support == "ordered"

    def written(self) -> str:
        design = self.design
        outcome = design.names["outcome"]
        for term in design.common:
            self._slope(term)
        self._level()
        for block in design.blocks:
            self._block(block)
        for term in design.offsets:
            self._say(f"eta = eta + {design.argument(term)}")
        self._outcome(outcome)
        body = "\n".join(self.lines)
        uses_jax = "import jax\n" if "jax." in body.replace("jnp.", "") else ""
        head = (
            f"{uses_jax}import jax.numpy as jnp\n\nimport accord as ac\nimport accord.distributions as dist\n\n\n"
            f"@ac.model\ndef glm({', '.join([*self.arguments, f'{outcome}=None'])}):\n"
        )
        says = f"{design.formula.text}, {design.family} with the link {self.link}."
        return f'{head}{_TAB}"""{plain(says)}"""\n{body}\n'

    def _say(self, line: str, depth: int = 1) -> None:
        self.lines += [_TAB * depth + part for part in wrapped(line, _WIDEST - 4 * depth)]

    def _slope(self, term: Term) -> None:
        """Sample the coefficients of a common term, and name the means of its columns."""
        local = self.coefficients[term.name] = free_name(f"b_{self.design.argument(term)}", self.taken)
        if self.has_level:
            mean = self.means[term.name] = free_name(f"mean_{self.design.argument(term)}", self.taken)
            self._say(f"{mean} = {mean_of(term.values)}")
        prior, plates = self.priors.of_slope(term, self._levels()), self._level_plates()
        if term.labels is not None:
            at = ", dim=-2" if plates else ""
            plates.append(plate(f"{term.name}_level", term.labels, at))
            if self.is_categorical:  # one row for each column of the term
                prior = as_column(prior)
        if plates:
            self._say(f"with {', '.join(plates)}:")
        self._say(f"{local} = ac.sample({quoted(term.name)}, {prior})", 2 if plates else 1)

    def _levels(self) -> Sequence[Any] | None:
        """Return the categories but the first, of an outcome that has such."""
        levels = self.design.outcome.levels
        return levels[1:] if self.is_categorical and levels is not None else None

    def _level_plates(self) -> list[str]:
        """Return the plate over these categories, if there are any."""
        levels = self._levels()
        return [] if levels is None else [plate(f"{self.design.outcome.text.name}_level", levels, ", dim=-1")]

    def _level(self) -> None:
        """Sample intercept or thresholds where predictors have their means, and write the sum of the common terms."""
        if self.family.support == "ordered":
            self._thresholds()
            self._sum([])
        elif not self.design.has_intercept:
            self._sum([])
        else:
            self._sum([self._intercept()])

    def _intercept(self) -> str:
        """Sample the intercept; return it as it is added to the linear predictor."""
        plates, prior = self._level_plates(), self.priors.of_intercept(self._levels())
        local, depth = free_name("intercept", self.taken), 2 if plates else 1
        if plates:
            self._say(f"with {plates[0]}:")
        if not self.means:
            self._say(f'{local} = ac.sample("Intercept", {prior})', depth)
        else:
            centred = free_name("centred", self.taken)
            shift = " - ".join(self._at_mean(term) for term in self.design.common)
            self._say("# Where all predictors have their means; `Intercept` is where they are zero.", depth)
            self._say(f'{centred} = ac.sample("Intercept_centred", {prior})', depth)
            self._say(f'{local} = ac.deterministic("Intercept", {centred} - {shift})', depth)
        return f"{local}[None, :]" if self.is_categorical else local

    def _thresholds(self) -> None:
        levels = self.design.outcome.levels or ()
        labels = [quoted(f"{low}|{high}") for low, high in itertools.pairwise(levels)]
        dim = quoted(f"{self.design.outcome.text.name}_threshold")
        prior = self.priors.of("threshold", "dist.Normal(0, 2.5)", words="whose entries have one prior")
        prior = f"dist.ordered({prior}.expand(({len(labels)},)).to_event(1))"
        dims = f"dims={{{dim}: [{', '.join(labels)}]}}"
        if not self.means:
            self._say(f'threshold = ac.sample("threshold", {prior}, {dims})')
            return
        centred = free_name("centred", self.taken)
        shift = " + ".join(self._at_mean(term) for term in self.design.common)
        self._say("# Where all predictors have their means; `threshold` is where they are zero.")
        self._say(f'{centred} = ac.sample("threshold_centred", {prior}, {dims})')
        self._say(f'threshold = ac.deterministic("threshold", {centred} + {shift}, dims={dim})')

    def _at_mean(self, term: Term) -> str:
        mean, local = self.means[term.name], self.coefficients[term.name]
        if term.labels is None:
            return f"{mean} * {local}"
        return (
            f"jnp.sum({mean}[:, None] * {local}, 0)" if self.is_categorical else f"jnp.sum({mean} * {local})"
        )

    def _sum(self, parts: list[str]) -> None:
        """Write the linear predictor of the common terms; axes are written out, so that none is added silently."""
        for term in self.design.common:
            column, local = self.design.argument(term), self.coefficients[term.name]
            match self.is_categorical, term.labels is None:
                case False, True:
                    parts.append(f"{column} * {local}")
                case False, False:
                    parts.append(f"jnp.sum({column} * {local}[None, :], -1)")
                case True, True:
                    parts.append(f"{column}[:, None] * {local}[None, :]")
                case _:
                    parts.append(f"jnp.sum({column}[:, :, None] * {local}[None, :, :], 1)")
        self._say(f"eta = {' + '.join(parts[:3]) or '0.0'}")
        for part in parts[3:]:
            self._say(f"eta = eta + {part}")

    def _block(self, block: Block) -> None:
        """Sample the effects of groups, and add them to the linear predictor; of categories, for each but the first."""
        name, labels = block.name, block.labels
        sd, effects = free_name(f"sd_{name}", self.taken), free_name(f"u_{name}", self.taken)
        several, levels = len(labels) > 1, self._level_plates()
        prior, dim = self.priors.of_block(block, self._levels()), f"{name}_effect"
        of_effects = [plate(dim, labels, ", dim=-2" if levels else "")] if several else []
        if several and levels:
            prior = as_column(prior)
        self._in_plates([*of_effects, *levels], f"{sd} = ac.sample({quoted(f'{name}_sd')}, {prior})")
        scale = f"{sd}.T" if several and levels else sd  # one row for each category
        factor = ""
        if block.is_correlated:
            corr = free_name(f"corr_{name}", self.taken)
            of_corr = self.priors.of_factor(f"{name}_corr", len(labels))
            self._in_plates(levels, f"{corr} = ac.sample({quoted(f'{name}_corr')}, {of_corr})")
            factor = free_name(f"factor_{name}", self.taken)
            self._say(f"{factor} = {scale}[{':, ' * len(levels)}:, None] * {corr}")
        self._effects(block, effects, scale, factor, f", dims={quoted(dim)}" if several else "")
        place = 0
        for term in block.terms:
            end = place + term.num_columns
            self._add_effects(term, effects, f"{place}" if term.labels is None else f"{place}:{end}", several)
            place = end

    def _in_plates(self, plates: list[str], line: str) -> None:
        """Write a line within plates, if there are any."""
        if plates:
            self._say(f"with {', '.join(plates)}:")
        self._say(line, 2 if plates else 1)

    def _effects(self, block: Block, effects: str, scale: str, factor: str, dims: str) -> None:
        """Sample the effects of each group, and take those of each row: shape `(row, *category, *effect)`."""
        group, size, levels = (
            self.design.names["group", block.group.factor],
            len(block.labels),
            self._level_plates(),
        )
        rows = self.design.num_rows / block.group.levels.num_levels
        form = "Centred" if block.is_centred else "Non-centred"
        self._say(f"# {form}: there are {rows:.3g} rows for each group on average.")
        at = ", dim=-2" if levels else ""
        of_groups = f"ac.plate({quoted(block.group.name)}, {group}.num_levels{at}, coords={group}.levels)"
        self._say(f"with {', '.join([of_groups, *levels])}:")
        site, base = quoted(block.name), quoted(f"{block.name}_base")
        if block.is_centred:
            to_event = ".to_event(1)" if size > 1 else ""
            normal = f"dist.MultivariateNormal(0.0, scale_tril={factor})"
            distribution = normal if factor else f"dist.Normal(0, {scale}){to_event}"
            self._say(f"{effects} = ac.sample({site}, {distribution}{dims})", 2)
        else:
            standard = free_name(f"z_{block.name}", self.taken)
            expanded = f".expand(({size},)).to_event(1)" if size > 1 else ""
            self._say(f"{standard} = ac.sample({base}, dist.Normal(0, 1){expanded}{dims})", 2)
            num_axes = len(levels) + (size > 1)
            if factor and levels:
                scaled = f'jnp.einsum("lij,glj->gli", {factor}, {standard}, precision="highest")'
            elif factor:
                scaled = f'jnp.matmul({standard}, {factor}.T, precision="highest")'
            else:
                axes = f"[None{', :' * num_axes}]" if num_axes else ""
                scaled = f"{scale}{axes} * {standard}"
            self._say(f"{effects} = ac.deterministic({site}, {scaled}{dims})", 2)
        if block.group.factor in self.average:
            self._say("# The last row stands for groups that were not in the data: their effects are zero.")
            self._say(f"{effects} = jnp.concatenate([{effects}, jnp.zeros_like({effects}[:1])])")
        self._say(f"{effects} = {effects}[{group}.codes]")

    def _add_effects(self, term: Term, effects: str, columns: str, several: bool) -> None:
        """Add what a term of a block comes to; `columns` of its effects, of which there may be `several`."""
        axes = ":, :" if self.is_categorical else ":"
        found = f"{effects}[{axes}, {columns}]" if several else effects
        if term.labels is not None and not several:
            found = f"{effects}[{axes}, None]"
        if term.name == "1":
            self._say(f"eta = eta + {found}")
        elif term.labels is None:
            column = self.design.argument(term) + ("[:, None]" if self.is_categorical else "")
            self._say(f"eta = eta + {column} * {found}")
        else:
            matrix = self.design.argument(term) + ("[:, None, :]" if self.is_categorical else "")
            self._say(f"eta = eta + jnp.sum({matrix} * {found}, -1)")

    def _outcome(self, outcome: str) -> None:
        """Sample the further parameters, and observe the outcome."""
        for name in self.family.parameters:
            default = PARAMETERS[name].format(sd=width(self.priors.outcome_sd))
            self._say(f'{name} = ac.sample("{name}", {self.priors.of(name, default)})')
        code = self.family.by_link.get(self.link, self.family.distribution)
        code = code.format(trials=self.design.names.get("trials"))
        if self.is_categorical:
            self._say("logits = jnp.concatenate([jnp.zeros_like(eta[..., :1]), eta], -1)")
        elif self.link == "identity":
            code = re.sub(r"\bmu\b", "eta", code)
        elif re.search(r"\bmu\b", code):
            self._say(f"mu = {INVERSES[self.link]}")
        if self.design.outcome.levels is not None:
            listed = ", ".join(
                f"{place} is {label!r}" for place, label in enumerate(self.design.outcome.levels)
            )
            self.lines += [f"{_TAB}# Codes of the outcome: {plain(listed)}."]
        self._say(f'with ac.plate("obs", {self._size()}):')
        self._say(f"ac.sample({quoted(self.design.outcome.text.name)}, {code}, obs={outcome})", 2)

    def _size(self) -> str:
        first = self.arguments[0]
        if first == "num_obs":
            return first
        return f"len({first}.codes)" if first in self.design.groups else f"len({first})"
