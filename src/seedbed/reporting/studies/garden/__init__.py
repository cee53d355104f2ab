"""The garden study on its page: how close models come to a language that is known, and what they still lack.

Lecture ``objectives``, sections 5.1, 5.2 and the seed of 5.5. The module ``writing`` has section 5.3, the module
``dependence`` 4.2 and 5.4, the module ``objectives`` 6.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from seedbed.reporting.chance import chance
from seedbed.reporting.drawing.marks import ZERO, Mark
from seedbed.reporting.epochs import epochs
from seedbed.reporting.figures import Fact, Figure, Headline, Part, figure
from seedbed.reporting.numbers import ends, number
from seedbed.reporting.panels.strips import contrast, shared_limits, strip
from seedbed.reporting.results import BEST_EPOCH, DIVERGED, Measure, Results, ShownRun, trained
from seedbed.reporting.sentences import common, exact_floor, lowest_and_highest, mark, means, of_reference
from seedbed.reporting.studies.garden.dependence import dependence_part
from seedbed.reporting.studies.garden.objectives import objectives_part, of_section
from seedbed.reporting.studies.garden.writing import writing_part

ALL, WITHHELD, OTHER = ({"sentences": name} for name in ("all", "withheld", "other"))
INSIDE, OUTSIDE = ({"window": name} for name in ("inside", "outside"))

PERPLEXITY = Measure("perplexity", "perplexity", "loss", "perplexity", ALL, exponentiated=True)
FLOOR = Measure("floor", "exact floor", "language_loss", "perplexity", ALL, exponentiated=True)
DIVERGENCE = Measure("divergence", "divergence", "divergence", "nat", ALL)
EXCESS = Measure("excess", "excess", "excess", "nat", ALL)
EXCESS_WITHHELD = Measure("excess_withheld", "excess, withheld sentences", "excess", "nat", WITHHELD)
EXCESS_OTHER = Measure("excess_other", "excess, other sentences", "excess", "nat", OTHER)
GAP_SHARE = Measure("gap_share", "gap in withheld sentences", "gap_share", "share")
TOKEN_SHARE = Measure("token_share", "tokens in withheld sentences", "token_share", "share")
SPECIAL_MASS = Measure("special_mass", "structural tokens", "special_mass", "share", ALL)
KNOWN = Measure("probability", "right possessive", "pronoun_probability", "share")
CHOSEN = Measure("accuracy", "right choice", "pronoun_accuracy", "share")
COUNT = Measure("count", "possessives", "pronoun_count", "count")
KNOWN_INSIDE, KNOWN_OUTSIDE = KNOWN.at(INSIDE), KNOWN.at(OUTSIDE)
CHOSEN_INSIDE, CHOSEN_OUTSIDE = CHOSEN.at(INSIDE), CHOSEN.at(OUTSIDE)

#: The length of the window in words, as the evaluations and the references have it.
WORDS = 5
#: The language as a predictor, and the best predictor that sees only the window.
LANGUAGE, WINDOW = "exact", f"exact-window-{WORDS}"
#: Endings of the runs that differ from another run in their learning rate only, the smaller one first.
RATES = ("-lr-third", "-lr-triple")

#: The rows of the page's table of variance across seeds.
MEASURES = (
    PERPLEXITY,
    DIVERGENCE,
    EXCESS,
    EXCESS_WITHHELD,
    EXCESS_OTHER,
    GAP_SHARE,
    KNOWN_INSIDE,
    KNOWN_OUTSIDE,
    CHOSEN_OUTSIDE,
    SPECIAL_MASS,
    BEST_EPOCH,
)


def headline(results: Results) -> Headline:
    """What the first trained run reaches, what is possible, and where the difference comes from."""
    run, floor = next(iter(results.trained), None), common(results, FLOOR)
    if run is None or floor is None or not math.isfinite(results.interval(run, PERPLEXITY).mean):
        return Headline("The garden study has no finite result in this build.")
    reached, away, gap = (results.interval(run, measure) for measure in (PERPLEXITY, DIVERGENCE, GAP_SHARE))
    perplexity, best = number(reached.mean, "perplexity"), number(floor, "perplexity")
    held = number(gap.mean if gap.n else None, "share")
    seeds = f"95 % [[interval]] {ends(reached, 'perplexity')}" + (f", {reached.n} seeds" if reached.n > 1 else "")
    where = f" {held} of the gap comes from sentences with a [[withheld pair]]." if math.isfinite(gap.mean) else ""
    return Headline(
        f"{run.label} on the garden language: perplexity {perplexity}, where {best} is possible.{where}"
        f"{_far_words(results, run)}",
        (
            Fact(perplexity, f"[[perplexity]] of the run {run.name}; {seeds}"),
            Fact(best, "[[exact floor]]: the language itself on the same test set"),
            Fact(
                number(away.mean if away.n else None, "nat"),
                "[[divergence]] from the language in nats a token; 0 is perfect",
            ),
            Fact(
                held,
                f"of the [[gap]] comes from {_token_share(results)} of the tokens: sentences with a withheld pair",
            ),
        ),
        knowledge(results),
        "What each model knows",
    )


def _far_words(results: Results, run: ShownRun) -> str:
    """What the run knows of words that are decided outside the window, and what the window allows."""
    known = results.interval(run, KNOWN_OUTSIDE)
    if not math.isfinite(known.mean):
        return ""
    possible = number(of_reference(results, WINDOW, KNOWN_OUTSIDE), "share")
    return (
        f" The right possessive, with its subject outside a [[window]] of {WORDS} words, gets a probability of "
        f"{number(known.mean, 'share')}; a model that sees {WORDS} words only cannot exceed {possible}."
    )


def parts(results: Results) -> Iterator[Part]:
    """The study's figures, in the order of the page."""
    structures, floor = trained(_structures(results)), exact_floor(results, FLOOR)
    yield Part(
        figures=(
            closeness(results),
            choices(results),
            gap(results),
            epochs(results, floor, trained(_all(results))),
            chance(results, structures, PERPLEXITY, EXCESS),
            *rates(results),
        )
    )
    yield from writing_part(results, _all(results))
    yield from dependence_part(results, _window(results, KNOWN_OUTSIDE))
    yield from objectives_part(results, PERPLEXITY, floor)


def knowledge(results: Results) -> Figure:
    """The page's first figure: the right possessive inside and outside the window, by run."""
    return figure(
        results,
        "knowledge",
        "What does each model know, inside and outside the window?",
        f"{_comparison(results, KNOWN_OUTSIDE)} In “The children grow the fresh pumpkin from … own garden” the "
        "subject decides that the word is “their”. The figure shows the probability of the right word if the "
        f"subject is among the last {WORDS} words, inside the [[window]], and if it is further back.",
        contrast(
            results,
            (KNOWN_INSIDE, KNOWN_OUTSIDE),
            "Probability of the right possessive, inside · outside",
            ("one seed, subject inside the window", "one seed, subject outside"),
            _structures(results),
            _window(results, KNOWN_OUTSIDE),
        ),
        also=(COUNT.at(INSIDE), COUNT.at(OUTSIDE)),
    )


def closeness(results: Results) -> Figure:
    """Perplexity against the exact floor, and divergence, by run."""
    floor, runs = exact_floor(results, FLOOR), _all(results)
    models = trained(runs)
    perplexities, divergences = (
        shared_limits(results, models, [measure], mark)
        for measure, mark in ((PERPLEXITY, floor), (DIVERGENCE, ZERO))
    )
    return figure(
        results,
        "closeness",
        "How close does training come to the language?",
        f"Mean [[divergence]] of the trained runs, in nats a token: {means(results, DIVERGENCE, models)}. It "
        "compares the whole distribution of the next token with the true one and is 0 only for the language "
        "itself. [[Perplexity]] scores the words of one test set, so compare it with the [[exact floor]], "
        "which the language itself scores on the same words.",
        strip(results, PERPLEXITY, "Perplexity on the test set", runs, floor, limits=perplexities),
        strip(results, DIVERGENCE, "Divergence from the language, nats a token", runs, ZERO, limits=divergences),
        also=(FLOOR, EXCESS, SPECIAL_MASS, DIVERGED),
    )


def choices(results: Results) -> Figure:
    """Accuracy of the possessive inside and outside the window."""
    runs = _all(results)
    return figure(
        results,
        "choices",
        "Is the right possessive also the first choice?",
        f"{_comparison(results, CHOSEN_OUTSIDE)} The figure at the top of the page shows the probability of the "
        "right word; this one shows how often the right word is the most probable token. If k tokens are equally "
        "probable, each counts 1/k. A model can choose well and be unsure. Inside the [[window]] the subject is "
        f"among the last {WORDS} words.",
        strip(results, CHOSEN_INSIDE, "Subject inside the window", runs),
        strip(results, CHOSEN_OUTSIDE, "Subject outside the window", runs, _window(results, CHOSEN_OUTSIDE)),
        also=(KNOWN_INSIDE, KNOWN_OUTSIDE),
    )


def gap(results: Results) -> Figure:
    """Excess in sentences with and without a withheld pair, and the former's share of the whole."""
    runs, split = [run for run in _all(results) if run.name != LANGUAGE], (EXCESS_OTHER, EXCESS_WITHHELD)
    models = trained(runs)
    limits = shared_limits(results, models, split, ZERO)
    tokens = mark(common(results, TOKEN_SHARE), "share", "share of tokens")
    seeds = ("one seed, other sentences", "one seed, withheld sentences")
    return figure(
        results,
        "gap",
        "Where does the rest of the gap come from?",
        f"Sentences with a [[withheld pair]] have {means(results, GAP_SHARE, models)} of the [[excess]], means of "
        "the trained runs. Such a pair is a verb and a noun that are together in the test set, but never in a "
        "training corpus. If errors were spread evenly, these sentences would have the same share of the excess "
        f"as of the tokens, {_token_share(results)}. Anything beyond that is due to pairs never seen in training.",
        contrast(results, split, "Excess, nats a token, in other · withheld sentences", seeds, runs, ZERO, limits),
        strip(results, GAP_SHARE, "Share of the total excess in sentences with a withheld pair", runs, tokens),
        also=(EXCESS, TOKEN_SHARE),
    )


def rates(results: Results) -> Iterator[Figure]:
    """What a third and three times the learning rate change, if runs have these variants."""
    groups = _rated(results)
    if not groups:
        return
    perplexities = "; ".join(f"{group[1].label}, {means(results, PERPLEXITY, group)}" for group in groups)
    runs = [run for group in groups for run in group]
    outside = "Probability of the right possessive, outside the window"
    yield figure(
        results,
        "rates",
        "How much does the learning rate matter?",
        "Mean perplexities with a third of the learning rate, with the rate itself and with three times the rate: "
        f"{perplexities}. The rate is the same for all runs, which may suit one model better than another. If the "
        "three rates of one model differ more than two models at one rate, the order of the models says little.",
        strip(results, PERPLEXITY, "Perplexity on the test set", runs, exact_floor(results, FLOOR)),
        strip(results, KNOWN_OUTSIDE, outside, runs, _window(results, KNOWN_OUTSIDE)),
        also=(DIVERGENCE, DIVERGED),
    )


def _all(results: Results) -> tuple[ShownRun, ...]:
    """The runs that predict the next word and nothing else, those without training last."""
    return tuple(run for run in results.trained + results.references if not of_section(run))


def _structures(results: Results) -> tuple[ShownRun, ...]:
    """The same without those that differ from another in the learning rate only."""
    return tuple(run for run in _all(results) if not run.name.endswith(RATES))


def _rated(results: Results) -> list[tuple[ShownRun, ShownRun, ShownRun]]:
    """The runs that have such variants, each between its variants."""
    by_name = {run.name: run for run in results.trained}
    found = ((by_name.get(run.name + RATES[0]), run, by_name.get(run.name + RATES[1])) for run in results.trained)
    return [(lower, run, higher) for lower, run, higher in found if lower and higher]


def _window(results: Results, measure: Measure) -> Mark | None:
    possible = of_reference(results, WINDOW, measure)
    return mark(
        possible, "share", f"best outside with {WORDS} words", f"the best outside that {WORDS} words allow"
    )


def _token_share(results: Results) -> str:
    return number(common(results, TOKEN_SHARE), "share")


def _comparison(results: Results, measure: Measure) -> str:
    """The lowest and the highest mean of the structures, and what the window allows."""
    found = lowest_and_highest(results, measure, trained(_structures(results)))
    if not found:
        return "No run has a finite result in this build."
    possible = number(of_reference(results, WINDOW, measure), "share")
    return (
        f"Outside the window, means of the trained runs, from the lowest to the highest: {found}; the best "
        f"predictor with the window alone reaches {possible}."
    )
