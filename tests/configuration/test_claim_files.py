"""A wrong claim stops at once, names its file, its id and its key, and the nearest right name."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from seedbed.configuration.claim_files import (
    Claims,
    Seen,
    check_decidable,
    check_measured,
    check_names,
    read_claims,
    settings,
    wanted,
)
from seedbed.configuration.configuration import ROOT, Configuration
from seedbed.configuration.demonstrations import Demonstration
from seedbed.configuration.yaml import ConfigError
from seedbed.statistics.observed import ObservationTable
from seedbed.statistics.verdicts import verdicts

STUDY: dict[str, Any] = {
    "title": "Title",
    "lead": "Lead",
    "rebuilt": True,
    "data": {"text": {"language": "garden", "training": 10, "validation": 5, "test": 5}},
    "runs": {
        "flm": {"label": "L", "model": {"kind": "transformer", "layers": 2}, "objective": {"kind": "flm"}},
        "exact": {"label": "E", "kind": "exact"},
    },
    "evaluations": {"perplexity": {}},
}
LOSS = {"study": "tiny", "run": "flm", "metric": "loss"}
OTHER = {"study": "tiny", "run": "exact", "metric": "loss"}
CLAIMS: dict[str, Any] = {
    "notes:a": {"says": "A", "section": "1", "check": {"kind": "bound", "of": LOSS, "at_most": 3}},
    "notes:b": {"says": "B", "section": "2", "same_as": ["notes:a"]},
    "notes:c": {"says": "C", "section": "3", "setting": {"study": "tiny", "values": {"runs.flm.model.layers": 2}}},
    "notes:d": {
        "says": "D",
        "section": "4",
        "check": {
            "kind": "all",
            "of": [
                {"kind": "order", "of": [LOSS, OTHER], "margin": 0.1},
                {"kind": "exact", "of": LOSS | {"where": {"epoch": [1, 2]}}, "to": [1, "x"]},
            ],
        },
    },
}
EXCLUDED: dict[str, Any] = {"notes:e": {"reason": "lost", "because": "It is gone."}}


def write(root: Path, claims: dict[str, Any], excluded: dict[str, Any] = EXCLUDED, file: str = "notes") -> Path:
    """A project whose one study is `tiny`; a second one, `idle`, is not built."""
    for folder in ("studies", "languages", "claims"):
        (root / "config" / folder).mkdir(parents=True, exist_ok=True)
    (root / "config/config.yaml").write_text(yaml.safe_dump({"studies": ["tiny"], "seeds": 3}))
    for study in ("tiny", "idle"):
        (root / f"config/studies/{study}.yaml").write_text(yaml.safe_dump(STUDY))
    (root / "config/languages/garden.yaml").write_text("words: {a: 1}\n")
    (root / f"config/claims/{file}.yaml").write_text(yaml.safe_dump({"claims": claims}, sort_keys=False))
    (root / "config/claims/excluded.yaml").write_text(yaml.safe_dump({"excluded": excluded}))
    return root


def changed(path: str, value: object) -> dict[str, Any]:
    """The claims with the value at a path, its keys parted by blanks, replaced."""
    claims = yaml.safe_load(yaml.safe_dump(CLAIMS))
    target: Any = claims
    *parents, last = (int(key) if key.isdigit() else key for key in path.split())
    for parent in parents:
        target = target[parent]
    target[last] = value
    return dict(claims)


def read(root: Path) -> None:
    claims = read_claims(root)
    check_names(claims, Configuration(root=root))


def test_right_claims_are_read_in_their_order(tmp_path: Path) -> None:
    root = write(tmp_path, CLAIMS)
    read(root)
    found = read_claims(root)
    assert list(found.claims) == list(CLAIMS)
    assert found.excluded["notes:e"].reason == "lost"
    assert settings(found, Configuration(root=root)) == {"notes:c": {"runs.flm.model.layers": 2}}


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("notes:a sayz", "x", r"config/claims/notes\.yaml: claims\.notes:a\.sayz: unknown key; did you mean says"),
        ("notes:a says", "", r"notes:a\.says: expected text that is not empty, found ''"),
        ("notes:a section", 5.1, r"notes:a\.section: expected text, found 5\.1; quote it"),
        ("notes:a check kind", "bond", r"notes:a\.check\.kind: bond: did you mean bound"),
        ("notes:a check", {"of": LOSS}, r"notes:a\.check\.kind: this key is required"),
        ("notes:a check at_mots", 1, r"notes:a\.check\.at_mots: unknown key; did you mean at_most"),
        ("notes:a check of metrc", "x", r"notes:a\.check\.of\.metrc: unknown key; did you mean metric"),
        (
            "notes:a check of scale",
            "perplexty",
            r"check\.of\.scale: expected perplexity, found 'perplexty'",
        ),
        ("notes:a check at_most", float("nan"), r"notes:a\.check\.at_most: .*finite number"),
        ("notes:a check at_most", "3", r"notes:a\.check\.at_most: .*number, found '3'"),
        ("notes:d check of 0 margn", 1, r"notes:d\.check\.of\[0\]\.margn: unknown key; did you mean margin"),
        (
            "notes:d check of 0 of 1 rnu",
            1,
            r"check\.of\[0\]\.of\[1\]\.rnu: unknown key; did you mean run",
        ),
        ("notes:d check of 0 margin", 0, r"notes:d\.check\.of\[0\]: margin: 0 asks for"),
        ("notes:d check of 1 to", [1], r"notes:d\.check\.of\[1\]: to: 1 values for the 2 numbers"),
        ("notes:b same_as", ["notes:z"], r"notes:b\.same_as: notes:z is no claim .*did you mean notes:"),
        ("notes:b same_as", ["notes:b"], r"notes:b\.same_as: notes:b is no claim"),
        ("notes:b same_as", None, r"notes:b: needs exactly one of check, fact, setting and same_as, found none"),
        ("notes:a basis", "started", r"notes:a\.basis: expected stated, derived or recomputed, found 'started'"),
        ("notes:a check of study", "tny", r"notes:a\.check: study tny: did you mean tiny"),
        ("notes:a check of run", "flmm", r"notes:a\.check: run flmm: did you mean flm"),
        ("notes:a check of minus", "exakt", r"notes:a\.check: run exakt: did you mean exact"),
        ("notes:c setting study", "tny", r"notes:c\.setting: study tny: did you mean tiny"),
        (
            "notes:c setting values",
            {"runs.flm.model.layer": 2},
            r"notes:c\.setting\.values: runs\.flm\.model\.layer: 'layer': did you mean layers",
        ),
        ("notes:c setting values", {"title.x": 2}, r"notes:c\.setting\.values: title\.x: 'x': known: none"),
        ("notes a", {}, r"claims\.notes a: expected LECTURE:NAME .*, found 'notes a'"),
    ],
)
def test_a_wrong_claim_names_its_place_and_the_remedy(
    tmp_path: Path, path: str, value: object, message: str
) -> None:
    claims = changed(path, value) if ":" in path else CLAIMS | {path: value}
    with pytest.raises(ConfigError, match=message):
        read(write(tmp_path, claims))


FACT = {"says": "F", "section": "5", "fact": {"tiny-facts": {"size": 3, "place(of=b a)": 1.5}}}
#: What the demonstration `tiny-facts` of these tests yields.
SEEN = [
    Seen("demonstrations", "tiny-facts", "tiny_facts", "size", {}),
    *(Seen("demonstrations", "tiny-facts", "tiny_facts", "place", {"of": one}) for one in ("b a", "b c", 4)),
]


def with_demonstration(root: Path, claim: dict[str, Any]) -> tuple[Claims, Configuration]:
    """The claims of a project with one demonstration, and its configuration."""
    claims, configuration = read_claims(write(root, {"notes:f": claim})), Configuration(root=root)
    entry = Demonstration(kind="tiny_facts", title="T", lead="L")
    configuration.demonstrations = {"tiny-facts": entry, "other": entry}
    return claims, configuration


def test_a_fact_is_checked_as_the_check_that_it_stands_for(tmp_path: Path) -> None:
    claims, configuration = with_demonstration(tmp_path, FACT)
    check_names(claims, configuration)
    check_measured(wanted(claims), SEEN, configuration)
    assert [one.metric for one in claims.claims["notes:f"].operands] == ["size", "place"]


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"tiny-fact": {"size": 3}}, "fact: demonstration tiny-fact: did you mean tiny-facts"),
        ({"tiny-facts": {"sise": 3}}, "fact: metric sise: tiny-facts does not yield it; did you mean size"),
        ({"tiny-facts": {"place(of=b x)": 3}}, "fact: place: where: of=b x: did you mean of=b"),
        ({"tiny-facts": {"place(on=b a)": 3}}, "fact: place: where: on=b a: did you mean of=b a"),
        ({"tiny-facts": {"place(of=5)": 3}}, "fact: place: where: of=5: did you mean of=4"),
        ({"tiny-facts": {"place": 3}}, "fact: place: where: nothing: known: of=4, of=b a, of=b c"),
        ({"tiny-facts": {"size(of=a)": 3}}, "fact: size: where: of=a: known: no condition"),
        (
            {"tiny-facts": {"pl ace": 3}},
            r"fact.tiny-facts.pl ace: expected METRIC or METRIC\(KEY=VALUE;KEY=VALUE\)",
        ),
        ({"tiny-facts": {"size": True}}, "fact.tiny-facts.size: expected .*found true"),
        ({"tiny_facts": {"size": 1}}, "fact.tiny_facts: expected lower-case letters, digits and hyphens"),
    ],
)
def test_a_wrong_fact_names_its_place_and_the_remedy(tmp_path: Path, facts: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=rf"config/claims/notes\.yaml: claims\.notes:f\.{message}"):
        _measured(tmp_path, FACT | {"fact": facts})


def _measured(root: Path, claim: dict[str, Any]) -> None:
    claims, configuration = with_demonstration(root, claim)
    check_names(claims, configuration)
    check_measured(wanted(claims), SEEN, configuration)


def test_a_check_may_compare_demonstrations_in_the_long_form(tmp_path: Path) -> None:
    of = {"study": "demonstrations", "run": "tiny-facts", "metric": "place", "where": {"of": ["b a", "b c"]}}
    _measured(tmp_path, {"says": "A", "section": "1", "check": {"kind": "order", "of": [of], "margin": 1}})
    wrong = {"says": "A", "section": "1", "check": {"kind": "bound", "of": of | {"run": "othr"}, "at_least": 1}}
    with pytest.raises(ConfigError, match=r"notes:f\.check: demonstration othr: did you mean other"):
        _measured(tmp_path, wrong)


def test_what_is_not_measured_now_is_not_checked(tmp_path: Path) -> None:
    claims, configuration = with_demonstration(tmp_path, FACT | {"fact": {"other": {"whatever": 1}}})
    check_measured(wanted(claims), SEEN, configuration)
    with pytest.raises(ConfigError, match="other does not yield it"):
        check_measured(wanted(claims), [*SEEN, Seen("demonstrations", "other", "x", "size", {})], configuration)


def test_everything_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    claims = changed("notes:a sayz", "x")
    del claims["notes:b"]["section"]
    with pytest.raises(ConfigError) as error:
        read(write(tmp_path, claims))
    assert [line.split(": ")[1] for line in str(error.value).splitlines()] == [
        "claims.notes:a.sayz",
        "claims.notes:b.section",
    ]


def test_an_id_names_its_lecture(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"config/claims/other\.yaml: claims\.notes:a: an id begins with .* other:"
    ):
        read(write(tmp_path, CLAIMS, file="other"))


@pytest.mark.parametrize(
    ("excluded", "message"),
    [
        ({"notes:a": {"reason": "lost", "because": "x"}}, r"excluded\.notes:a: it is also a claim"),
        ({"nots:x": {"reason": "lost", "because": "x"}}, r"excluded\.nots:x: lecture nots: did you mean notes"),
        (
            {"notes:x": {"reason": "hard", "because": "x"}},
            r"notes:x\.reason: expected .*, machine or scale, found 'hard'",
        ),
        ({"notes:x": {"reason": "lost"}}, r"excluded\.notes:x\.because: this key is required"),
    ],
)
def test_a_wrong_exclusion_is_refused(tmp_path: Path, excluded: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read(write(tmp_path, CLAIMS, excluded))


def test_claims_of_a_study_that_is_not_built_are_left_alone(tmp_path: Path) -> None:
    claims = changed("notes:a check of", LOSS | {"study": "idle", "run": "whatever"})
    claims["notes:c"]["setting"] = {"study": "idle", "values": {"no.such.path": 1}}
    root = write(tmp_path, claims)
    read(root)
    assert settings(read_claims(root), Configuration(root=root)) == {}


def test_a_claim_that_stands_twice_is_an_error(tmp_path: Path) -> None:
    root = write(tmp_path, CLAIMS)
    with (root / "config/claims/notes.yaml").open("a", encoding="utf-8") as file:
        file.write("  notes:a: {}\n")
    with pytest.raises(ConfigError, match="occurs twice"):
        read(root)


def test_a_project_without_claims_has_none(tmp_path: Path) -> None:
    assert read_claims(tmp_path).claims == {}


def test_every_claim_of_the_project_has_a_verdict_and_none_passes_an_empty_table() -> None:
    claims = read_claims(ROOT).claims
    found = verdicts(claims, ObservationTable([]), {}, {"garden"})
    assert [one.id for one in found] == list(claims)
    assert {one.outcome for one in found} == {"not run"}


def test_no_item_of_the_project_is_both_claim_and_exclusion() -> None:
    found = read_claims(ROOT)
    assert found.excluded
    assert not found.claims.keys() & found.excluded.keys()


def test_a_setting_may_be_a_list() -> None:
    claims = read_claims()
    name = "objectives:garden.flm.gen.top_p"
    stated = claims.claims[name].setting
    assert stated is not None
    assert stated.values == {"evaluations.generation.options.decodings": ["sampling", "top-p 0.95"]}
    assert settings(claims, Configuration({"studies": ["garden"]}))[name] == stated.values


def test_a_share_that_the_seeds_of_a_reference_cannot_decide_is_refused(tmp_path: Path) -> None:
    share = LOSS | {"seeds": "share", "passes": {"at_most": 3}}
    check = {"kind": "bound", "of": share, "at_least": 0.1, "at_most": 0.9}
    root = write(tmp_path, {"notes:a": {"says": "A", "section": "1", "check": check}}, {})
    check_decidable(read_claims(root), Configuration(root=root))
    few = yaml.safe_load(yaml.safe_dump(STUDY))
    few["runs"]["flm"]["seeds"] = 5
    (root / "config/studies/tiny.yaml").write_text(yaml.safe_dump(few))
    with pytest.raises(ConfigError, match=r"^config/claims/notes\.yaml: claims\.notes:a\.check: .* of 5 seeds"):
        check_decidable(read_claims(root), Configuration(root=root))
