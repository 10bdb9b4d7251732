"""Write formulas of docstrings, such as `exp(-z^2 / 2) / (sqrt(2 pi) scale)`, as MathML, which browsers draw.

In docstrings, names side by side are multiplied, and a name of a function before a bracket is applied to it. A formula
that has words in it ("sum over j of") is no formula of this grammar:

    relation := sum (("<" | "<=" | ...) sum)*          product := power (["*"] power | "/" power)*
    sum      := ["-"] product (("+" | "-") product)*   power   := applied ["^" ["-"] power]
    applied  := atom ("(" list ")" | "[" list "]" | "!" | "'")*
"""

import re
from html import escape

NAMES = dict(
    alpha="α", beta="β", theta="θ", eta="η", rho="ρ", tau="τ", mu="μ", nu="ν", sigma="σ", pi="π", phi="φ",
    Phi="Φ", Gamma="Γ", sum="∑", prod="∏",
)  # fmt: skip
FUNCTIONS = {"exp", "log", "sqrt", "abs", "sin", "cos", "cosh", "asinh", "det", "tr", "sum", "prod", "choose"}
FUNCTIONS |= {
    "Gamma",
    "B",
    "Phi",
    "phi",
    "Ai",
    "I0",
    "I",
    "K",
    "f",
    "g",
    "h",
    "F",
    "P",
    "rho",
    "tau",
    "base",
    "logistic",
}
WORDS = re.compile(
    r"\b(over|of|for|where|Sum|Integral|dist|Normal|Wishart|InverseWishart|dx|init_dist)\b|\.\.|;|(?<![<>])=|,$"
)
TOKEN = re.compile(r"\s*(\d+(?:\.\d+)?|[A-Za-z]\w*|\*\*|<=|>=|[-+*/^()\[\]|!,'<>])")
SIGNS = {"-": "−", "*": "·", "<=": "≤", ">=": "≥", "'": "′"}
RELATIONS = {"<", ">", "<=", ">="}
OPENING, CLOSING = (
    "<mrow><mo>(</mo>",
    "<mo>)</mo></mrow>",
)  # a row of their own: they are as high as what is inside
BAR = "<mo>&#124;</mo>"  # the sign itself would end a cell of a table
MINUS = '<mo form="prefix">−</mo>'
SPACE = '<mspace width="0.2em"></mspace>'


def as_mathml(text: str) -> str | None:
    """Return the element `math`, or None where the text is no formula of this grammar."""
    if WORDS.search(text):
        return None
    tokens, end = [], 0
    while end < len(text.rstrip()):
        found = TOKEN.match(text, end)
        if found is None:
            return None
        tokens.append("^" if found[1] == "**" else found[1])
        end = found.end()
    try:
        reader = _Reader(tokens)
        written = reader.relation()
    except _NoFormulaError:
        return None
    if reader.rest or len(tokens) < 2:
        return None
    return f'<math displaystyle="true"><mrow>{written}</mrow></math>'


class _NoFormulaError(Exception):
    """The text is something else."""


class _Reader:
    """A reader of tokens, from left to right. Each method reads the part of the grammar above that has its name."""

    def __init__(self, tokens: list[str]) -> None:
        self.rest = tokens
        self.num_bars = 0  # that are open

    def relation(self) -> str:
        written = self._sum()
        while self._next() in RELATIONS:
            written += _sign(self._take()) + self._sum()
        return written

    def _sum(self) -> str:
        written = MINUS * self._skip("-") + self._product()
        while self._next() in {"+", "-"}:
            written += _sign(self._take()) + self._product()
        return written

    def _product(self) -> str:
        written, num_factors = self._power(), 1
        while (token := self._next()) is not None:
            if token == "/":
                self._take()
                below = _bare(self._power())
                written, num_factors = f"<mfrac>{_row(_bare(written, num_factors))}{_row(below)}</mfrac>", 1
            elif token == "*" or token[0].isalnum() or (token in {"(", "|"} and not self._closes()):
                self._skip("*")
                written, num_factors = written + SPACE + self._power(), num_factors + 1
            else:
                break
        return written

    def _power(self) -> str:
        written = self._applied()
        if self._next() == "^":
            self._take()
            above = MINUS * self._skip("-") + _bare(self._power())
            written = f"<msup>{_row(written)}{_row(above)}</msup>"
        return written

    def _applied(self) -> str:
        name = self._take()
        if name == "(":
            written = f"{OPENING}{self._until(')')}{CLOSING}"
        elif name == "|":
            self.num_bars += 1
            inside = self.relation()
            self.num_bars -= 1
            self._expect("|")
            written = _row(f"{BAR}{inside}{BAR}")
        elif name[0].isdigit():
            written = f"<mn>{name}</mn>"
        elif name[0].isalpha():
            written = self._named(name)
        else:
            raise _NoFormulaError
        while (token := self._next()) in {"!", "'", "["}:
            self._take()
            if token == "[":
                written = f"<msub>{_row(written)}{_row(self._until(']'))}</msub>"
            elif token == "'":
                written = f"<msup>{_row(written)}{_sign(token)}</msup>"
            else:
                written += _sign(token)
        return written

    def _named(self, name: str) -> str:
        base, _, below = name.partition("_")
        if not below and name.endswith("_"):
            below = self._after_underscore()
        elif len(base) > 1 and base not in NAMES:
            base, below = name, ""
        else:
            below = _word(below) if below else ""
        if self._next() != "(" or base not in FUNCTIONS:
            return f"<msub>{_word(base)}{_row(below)}</msub>" if below else _word(base)
        self._take()
        if base == "choose":
            above, under = self._until(",", keep=True), self._until(")")
            pair = f'<mfrac linethickness="0">{_row(above)}{_row(under)}</mfrac>'
            return _row(OPENING + pair + CLOSING)
        inside = self._until(")")
        if base == "sqrt":
            return f"<msqrt>{inside}</msqrt>"
        if base == "abs":
            return _row(f"{BAR}{inside}{BAR}")
        applied = f"<msub>{_word(base)}{_row(below)}</msub>" if below else _word(base)
        return applied + OPENING + inside + CLOSING

    def _after_underscore(self) -> str:
        self._expect("(")
        return self._until(")")

    def _until(self, end: str, keep: bool = False) -> str:
        """Read a list up to a bracket, or its first member up to a comma."""
        written = self.relation()
        while not keep and self._next() == ",":
            written += _sign(self._take()) + self.relation()
        self._expect(end)
        return written

    def _closes(self) -> bool:
        return self._next() == "|" and self.num_bars > 0

    def _skip(self, token: str) -> bool:
        """Take a token if it is the next one; return whether it was."""
        if is_next := self._next() == token:
            self._take()
        return is_next

    def _next(self) -> str | None:
        return self.rest[0] if self.rest else None

    def _take(self) -> str:
        if not self.rest:
            raise _NoFormulaError
        token, *self.rest = self.rest
        return token

    def _expect(self, token: str) -> None:
        if self._take() != token:
            raise _NoFormulaError


def _sign(token: str) -> str:
    return f"<mo>{escape(SIGNS.get(token, token))}</mo>"


def _word(name: str) -> str:
    if name.isdigit():
        return f"<mn>{name}</mn>"
    return f"<mi>{NAMES.get(name, name)}</mi>"


def _row(written: str) -> str:
    return f"<mrow>{written}</mrow>"


def _bare(written: str, num_factors: int = 1) -> str:
    """Without the brackets that a fraction or a power shows by itself."""
    if num_factors > 1 or not (written.startswith(OPENING) and written.endswith(CLOSING)):
        return written
    inside, depth = written[len(OPENING) : -len(CLOSING)], 0
    for bracket in re.findall(f"{OPENING}|{CLOSING}", inside):
        depth += 1 if bracket == OPENING else -1
        if depth < 0:
            return written
    return inside
