"""Small synthetic tables of the garden study, drawn rather than trained."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from seedbed.observations import COLUMNS, Observation, rows
from seedbed.reporting.pages import claims as pages_claims
from seedbed.reporting.pages import index as pages_index
from seedbed.reporting.pages import study as pages_study
from seedbed.reporting.pages.site import Site
from seedbed.reporting.results import ShownRun, ShownStudy
from seedbed.reporting.verdict_tables import Judged
from seedbed.statistics.claims import Claim, Excluded
from seedbed.statistics.comparison import ComparedItem
from seedbed.statistics.observed import ObservationKey
from seedbed.statistics.verdicts import Verdict

TEMPLATES = Path(__file__).parents[2] / "report"
FLOOR = 1.2961  # nats: a perplexity of 3.655
TOKENS = {"all": 24100, "withheld": 1350, "other": 22750}

EXACT = ShownRun("exact", "The language itself", "reference")
WINDOW = ShownRun("exact-window-5", "The best that 5 words allow", "reference")
NGRAM = ShownRun("ngram", "6-grams, counted", "reference")

#: Run → excess in withheld and in other sentences, in nats, and the possessive's probability outside the window.
LEVELS = {
    "exact": (0.0, 0.0, 1.0),
    "exact-window-5": (0.02, 0.035, 0.7),
    "ngram": (2.1, 0.21, 0.63),
    "window": (0.66, 0.05, 0.69),
    "rnn": (0.7, 0.02, 0.94),
    "gru": (0.68, 0.012, 0.99),
    "lstm": (0.67, 0.014, 0.985),
    "flm-nope": (0.64, 0.014, 0.975),
    "flm-one-layer": (0.66, 0.019, 0.96),
    "flm-lr-third": (0.72, 0.03, 0.95),
    "gru-lr-triple": (0.9, 0.06, 0.9),
}


def trained(name: str = "flm", seeds: int = 5, label: str = "Causal Transformer") -> ShownRun:
    return ShownRun(name, label, "trained", tuple(range(seeds)))


def full_study() -> tuple[ShownRun, ...]:
    """Runs as many and as various as those of the garden study."""
    five = {
        "flm": "Transformer",
        "flm-one-layer": "Transformer, one layer",
        "window": "window of 5 words",
        "rnn": "RNN",
        "gru": "GRU",
        "lstm": "LSTM",
        "flm-learned": "Transformer, learned positions",
        "flm-nope": "Transformer, no positions",
    }
    three = {
        "flm-lr-third": "Transformer, a third of the learning rate",
        "flm-lr-triple": "Transformer, three times the learning rate",
        "flm-rope": "Transformer, rotary positions",
        "flm-alibi": "Transformer, ALiBi",
        "gru-lr-third": "GRU, a third of the learning rate",
        "gru-lr-triple": "GRU, three times the learning rate",
        "flm-wide": "Transformer, twice as wide",
    }
    runs = [trained(name, 5, label) for name, label in five.items()]
    return (*runs, EXACT, WINDOW, NGRAM, *(trained(name, 3, label) for name, label in three.items()))


def study(*runs: ShownRun, **changes: object) -> ShownStudy:
    plain = {
        "name": "garden",
        "title": "The garden",
        "lead": "Sentences about fruit, vegetables and flowers, drawn from a [[language]] of 90 tokens.",
        "language": "garden",
        "rebuilt": True,
        "runs": runs,
    }
    return ShownStudy(**plain | changes)  # type: ignore[arg-type]


def _training(rng: np.random.Generator) -> list[Observation]:
    curve = FLOOR + np.array([0.24, 0.12, 0.08, 0.062, 0.055, 0.053]) + rng.normal(0, 0.004, 6)
    out = [
        Observation("parameters", 106_496, unit="count"),
        Observation("best_epoch", int(curve.argmin()) + 1, unit="count"),
        Observation("diverged", 0, unit="count"),
        Observation("tokens", int(rng.integers(200_500, 201_900)), unit="count"),
    ]
    for epoch, loss in enumerate(curve, 1):
        at = {"epoch": epoch}
        out += [
            Observation("validation_loss", loss, at, "nat", 24000),
            Observation("training_loss", loss - 0.03, at, "nat"),
        ]
        out.append(Observation("learning_rate", 0.003 * 0.5 * (1 + np.cos(np.pi * epoch / 6)), at, "rate"))
    return out


def _perplexity(run: ShownRun, rng: np.random.Generator | None) -> list[Observation]:
    noise = rng.normal(0, 1, 3) if rng else np.zeros(3)
    levels = LEVELS.get(run.name, (0.65, 0.012, 0.98))
    withheld, other = levels[0] + 0.03 * noise[0], levels[1] + 0.001 * noise[1]
    share = TOKENS["withheld"] / TOKENS["all"]
    excess = {"withheld": withheld, "other": other, "all": share * withheld + (1 - share) * other}
    floors = {"withheld": FLOOR + 0.3, "other": FLOOR - 0.018, "all": FLOOR}
    out = [Observation("token_share", share, unit="share")]
    if excess["all"]:
        out.append(Observation("gap_share", share * withheld / excess["all"], unit="share"))
    for part, n in TOKENS.items():
        at = {"sentences": part}
        out += [
            Observation("loss", floors[part] + excess[part], at, "nat", n, 0.0037),
            Observation("language_loss", floors[part], at, "nat", n, 0.0036),
            Observation("excess", excess[part], at, "nat", n, 0.0019),
            Observation("divergence", excess[part] * (1.02 + 0.02 * noise[2]), at, "nat", n, 0.0004),
            Observation("special_mass", 6e-5 if rng else 0.0, at, "share", n),
        ]
    return out


def _pronouns(run: ShownRun, rng: np.random.Generator | None) -> list[Observation]:
    outside = LEVELS.get(run.name, (0.0, 0.0, 0.98))[2] - (abs(rng.normal(0, 0.01)) if rng else 0.0)
    out = []
    for name, n, right in (("inside", 640, (1 + outside) / 2), ("outside", 333, outside)):
        at = {"window": name}
        out += [
            Observation("pronoun_probability", right, at, "share", n, 0.002),
            Observation("pronoun_accuracy", min(1.0, right + 0.01), at, "share", n, 0.002),
            Observation("pronoun_count", n, at, "count"),
        ]
    return out


def table(drawn: list[dict[str, object]]) -> pd.DataFrame:
    frame = pd.DataFrame(drawn, columns=list(COLUMNS))
    return frame.astype({"seed": "Int64", "n": "Int64", "value": float, "item_error": float})


def draw_observations(*runs: ShownRun, study_name: str = "garden") -> pd.DataFrame:
    found: list[dict[str, object]] = []
    for run in runs:
        for seed in run.seeds or (None,):
            key = f"{study_name}/{run.name}/{seed}"
            rng = np.random.default_rng(int(hashlib.sha256(key.encode()).hexdigest()[:8], 16))
            noise = rng if run.kind == "trained" else None
            measured = _perplexity(run, noise) + (_training(rng) if noise else []) + _pronouns(run, noise)
            found += rows(measured, study=study_name, run=run.name, seed=seed, recipe="r", fingerprint="f")
    return table(found)


def draw_timings(*runs: ShownRun, study_name: str = "garden") -> pd.DataFrame:
    rng = np.random.default_rng(7)
    found: list[dict[str, object]] = []
    for run in runs:
        for seed in run.seeds or (None,):
            for job, cpu in (("train", 17.0), ("evaluate", 3.0)):
                if job == "train" and seed is None:
                    continue
                at, cpu = {"job": job}, cpu + float(rng.random())
                measured = [
                    Observation("cpu_seconds", cpu, at, "second"),
                    Observation("wall_seconds", cpu + 0.4, at, "second"),
                    Observation("peak_memory", 412.0, at, "MiB"),
                ]
                found += rows(measured, study=study_name, run=run.name, seed=seed)
    return table(found)


FINGERPRINT = "f" * 64
PROVENANCE = {
    "Fingerprints": {"garden": "c4f1d1b52a6f0d0c7b1a59ff6a36ab4f4a0f1e7b9f1f4cbb3d5c8d0a2b9f6e11"},
    "Versions": {"Python": "3.11.9", "torch": "2.13.0", "numpy": "2.4.6"},
    "Machine": {"CPU": "x86-64, AVX-512"},
}


def claim(name: str, **changes: object) -> Claim:
    """A claim about a run of the study; what is not given is plain."""
    plain: dict[str, object] = {
        "says": f"The lecture says {name}.",
        "section": "5.1",
        "check": {"kind": "bound", "of": {"study": "garden", "run": "flm", "metric": "parameters"}, "at_least": 1},
    }
    return Claim.model_validate(plain | changes)


def verdict(name: str, outcome: str, **changes: object) -> Verdict:
    plain: dict[str, object] = {
        "explanation": f"flm loss is 1.349 over 5 seeds, {outcome}.",
        "n": 5,
        "chance": True,
        "evidence": (LOSS,),
    }
    return Verdict(id=name, outcome=outcome, **plain | changes)  # type: ignore[arg-type]


LOSS = ObservationKey("garden", "flm", "loss", "sentences=all")
DECLARED = {"check": None, "setting": {"study": "garden", "values": {"runs.flm.model.d_model": 64}}}


def judged() -> Judged:
    """Claims with every outcome, one that repeats another, one by construction, a setting, and two excluded."""
    claims = {
        "objectives:a.reproduced": claim("a", reading="Half of the effect."),
        "objectives:b.reproduced": claim("b"),
        "objectives:contradicted": claim("c"),
        "objectives:differs": claim("d"),
        "objectives:undecided": claim("e"),
        "objectives:not_run": claim("f"),
        "objectives:non_finite": claim("g"),
        "objectives:repeats": claim("h", check=None, same_as=["objectives:contradicted"]),
        "objectives:built": claim("i", by_construction=True),
        "objectives:setting": claim("j", **DECLARED),
    }
    found = [
        verdict("objectives:a.reproduced", "reproduced", compatible=True),
        verdict("objectives:b.reproduced", "reproduced", chance=False, n=0),
        verdict("objectives:contradicted", "contradicted"),
        verdict("objectives:differs", "differs"),
        verdict("objectives:undecided", "undecided", seeds_needed=17),
        verdict("objectives:not_run", "not run", evidence=(ObservationKey("garden", "absent", "loss", ""),)),
        verdict("objectives:non_finite", "non-finite"),
        verdict("objectives:repeats", "contradicted", chance=False, same_as=("objectives:contradicted",)),
        verdict("objectives:built", "reproduced", by_construction=True),
        verdict("objectives:setting", "reproduced", by_construction=True, chance=False, n=0, evidence=()),
    ]
    excluded = {
        "objectives:time": Excluded(reason="machine", because="It is the time of another machine."),
        "objectives:metric": Excluded(reason="definition", because="It defines a score."),
    }
    return Judged(claims, [one.row() for one in found], excluded)


class Page(HTMLParser):
    """What a reader finds: every element with its attributes, and the tables by their names as rows of text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.tables: dict[str, list[list[str]]] = {}
        self.text = ""
        self.in_cell = False
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))
        if dict(attributes).get("role") == "region":
            self.rows = self.tables[dict(attributes)["aria-label"] or ""] = []
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self.in_cell = True

    def handle_endtag(self, tag: str) -> None:
        self.in_cell &= tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.in_cell:
            self.rows[-1][-1] += data

    def attribute(self, name: str, tag: str | None = None) -> list[str]:
        """Every value of an attribute."""
        return [found[name] or "" for kind, found in self.elements if name in found and tag in (None, kind)]

    def table(self, start: str) -> list[dict[str, str]]:
        """The rows of the table whose name starts so, as header → text."""
        (rows,) = [rows for name, rows in self.tables.items() if name.startswith(start)]
        heads, *body = [[cell.strip() for cell in row] for row in rows]
        return [dict(zip(heads, row, strict=True)) for row in body]


@pytest.fixture(scope="session")
def drawn() -> ModuleType:
    """The helpers of this file."""
    return sys.modules[__name__]


def site_of(*studies: ShownStudy) -> Site:
    return Site({one.name: one.title for one in studies}, {}, TEMPLATES)


def build_site(
    observations: pd.DataFrame, timings: pd.DataFrame, studies: list[ShownStudy], claims: Judged
) -> dict[str, str]:
    """The file of each page of some studies → its text; a study's page has all the claims."""
    site = site_of(*studies)
    pages = {
        "index": pages_index.build(site, studies, observations, timings, claims, (), PROVENANCE, FINGERPRINT),
        "claims": pages_claims.build(site, studies, (), observations, claims, FINGERPRINT),
        **{one.name: pages_study.build(site, one, (), observations, claims, FINGERPRINT) for one in studies},
    }
    return {f"{name}.html": text for name, text in pages.items()}


def _page(
    observations: pd.DataFrame | None = None,
    runs: tuple[ShownRun, ...] = (trained(), EXACT),
    timings: pd.DataFrame | None = None,
    claims: Judged | None = None,
    compared: tuple[ComparedItem, ...] = (),
    page: str = "study",
    **changes: object,
) -> str:
    observations = draw_observations(*runs) if observations is None else observations
    timings = draw_timings(*runs) if timings is None else timings
    one, found = study(*runs, **changes), claims or judged()
    site = site_of(one)
    if page == "index":
        return pages_index.build(site, [one], observations, timings, found, compared, PROVENANCE, FINGERPRINT)
    if page == "claims":
        return pages_claims.build(site, [one], (), observations, found, FINGERPRINT)
    return pages_study.build(site, one, (), observations, found, FINGERPRINT)


@pytest.fixture(scope="session")
def build_page() -> Callable[..., str]:
    """Builds a page of one garden study; what is not given is drawn, and a page of nothing else is built once."""
    plain: dict[str, str] = {}

    def page(*tables: pd.DataFrame | None, page: str = "study", **given: object) -> str:
        if tables or given:
            return _page(*tables, page=page, **given)  # type: ignore[arg-type]
        plain[page] = plain.get(page) or _page(page=page)
        return plain[page]

    return page
