"""The evaluation that CONTRIBUTING.md shows works as it stands there."""

from __future__ import annotations

import textwrap
from types import ModuleType

import numpy as np

from seedbed.configuration.configuration import ROOT
from seedbed.measuring.context import Context
from seedbed.references import exact


def test_the_example_of_the_documentation_measures(context: Context) -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    code = (
        '    """How often the most'
        + text.partition('    """How often the most')[2].partition("\nA number is an")[0]
    )
    module = ModuleType("example")
    exec(textwrap.dedent(code), module.__dict__)
    language = context.language
    (found,) = module.evaluate(exact.Reference(exact.Options(), language), context, module.Options())
    likeliest = language.probability.argmax(1)[language.states(context.test.without_last())]
    assert found.value == np.mean(likeliest == context.test.without_first().tokens)
    assert found.item_error > 0
