"""Whatever is wrong in a file of the configuration is said with its file, key, value, and what was expected."""

from __future__ import annotations

from pathlib import Path

import pytest
from miniature import STUDY, Project, configure

from seedbed.configuration.configuration import Configuration, overrides
from seedbed.configuration.yaml import ConfigError
from seedbed.pipeline.plan import Plan, check

CONFIG, STUDY_FILE = "config/config.yaml", "config/studies/garden.yaml"
CLAIMS_FILE, EXCLUDED_FILE = "config/claims/objectives.yaml", "config/claims/excluded.yaml"
LANGUAGE_FILE = "config/languages/garden.yaml"
BOUND = "{study: garden, run: flm, metric: divergence, where: {sentences: all}}"
EVALUATIONS = STUDY.partition("evaluations:\n")[2]
GRID = "grid: [{d_model: 8}, {d_model: 16}]"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return configure(tmp_path)


def said_of(project: Project, *config: str) -> str:
    """What is said of the configuration, with every grammar, claim and plug-in's options."""
    with pytest.raises(ConfigError) as error:
        _read(project, *config)
    return str(error.value)


def _read(project: Project, *config: str) -> None:
    plan = Plan(Configuration(overrides(config), project.root))
    assert plan.claims
    check(plan.configuration)


def test_the_miniature_is_right(project: Project) -> None:
    _read(project)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", ": expected a mapping of words to values, found nothing"),
        (b"# a comment\n", ": expected a mapping of words to values, found nothing"),
        (b"- a\n- b\n", ": expected a mapping of words to values, found ['a', 'b']"),
        (b"word\n", ": expected a mapping of words to values, found 'word'"),
        (b"3: 4\n", ": expected a word as a key, found 3"),
        (
            b"a:\n\tb: 1\n",
            ", line 2, column 1: while scanning for the next token in line 2, found character that cannot start",
        ),
        (
            b"a: [1, 2\n",
            ", line 2, column 1: while parsing a flow sequence in line 1, did not find expected ',' or ']'",
        ),
        (
            b"a: {b: 1\n",
            ", line 2, column 1: while parsing a flow mapping in line 1, did not find expected ',' or '}'",
        ),
        (
            b"a: 'b\n",
            ", line 2, column 1: while scanning a quoted scalar in line 1, found unexpected end of stream",
        ),
        (b"a: b: c\n", ", line 1, column 5: mapping values are not allowed in this context"),
        (
            b"a: @b\n",
            ", line 1, column 4: while scanning for the next token in line 1, found character that cannot",
        ),
        (b"a: 1\nb: {c: 1, c: 2}\n", ", line 2, column 11: the key 'c' occurs twice in one mapping"),
        (b"? [a]\n: b\n", ", line 1, column 3: expected a word as a key, found ['a']"),
        (b"a: *b\n", ", line 1, column 4: found undefined alias"),
        (b"a: &b {c: *b}\n", ", line 1, column 4: found unconstructable recursive node"),
        (b"&b {c: *b}\n", ", line 1, column 1: found unconstructable recursive node"),
        (b"a: &b {c: 1}\nd: {<<: *b}\n", ", line 2, column 5: YAML 1.2 merges no mappings with <<"),
        (b"a: !!python/name:os.system x\n", ", line 1, column 4: could not determine a constructor for the tag"),
        (b"a: !!bool maybe\n", ": a value that cannot be read: 'maybe'"),
        (
            b"---\na: 1\n---\nb: 2\n",
            ", line 3, column 1: expected a single document in the stream in line 2, but found another document",
        ),
        (b"a: 1\nb: \x00\n", ", line 2: a character that YAML does not allow"),
        (b"a: 1\nb: \xe9\n", ", line 2: expected text in UTF-8"),
        ("a: 1\n".encode("utf-16"), ", line 1: expected text in UTF-8"),
        (b"[" * 5000, ", line 1, column "),
        (b"a: " + b"9" * 5000, ": a value that cannot be read: Exceeds the limit"),
    ],
)
def test_what_is_no_mapping_in_yaml_is_said_with_file_line_and_column(
    project: Project, content: bytes, said: str
) -> None:
    (project.root / CONFIG).write_bytes(content)
    assert said_of(project).startswith(f"{CONFIG}{said}")


@pytest.mark.parametrize("file", [STUDY_FILE, LANGUAGE_FILE, CLAIMS_FILE, EXCLUDED_FILE])
def test_every_file_is_read_alike(project: Project, file: str) -> None:
    (project.root / file).write_bytes(b"a: 1\na: 2\n")
    assert said_of(project) == f"{file}, line 2, column 1: the key 'a' occurs twice in one mapping"


def test_a_byte_order_mark_means_nothing(project: Project) -> None:
    path = project.root / CONFIG
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    _read(project)


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (CONFIG, "config/config.yaml: cannot be read: No such file or directory"),
        (STUDY_FILE, "config/config.yaml: studies: garden: no config/studies/garden.yaml; known: none"),
        (LANGUAGE_FILE, f"{STUDY_FILE}: data.text.language: garden: no config/languages/garden.yaml; known: farm"),
    ],
)
def test_a_missing_file_is_said_by_who_asks_for_it(project: Project, file: str, said: str) -> None:
    (project.root / file).unlink()
    assert said_of(project) == said


@pytest.mark.parametrize("file", [CONFIG, STUDY_FILE, LANGUAGE_FILE, CLAIMS_FILE, EXCLUDED_FILE])
def test_a_folder_in_the_place_of_a_file_cannot_be_read(project: Project, file: str) -> None:
    (project.root / file).unlink()
    (project.root / file).mkdir()
    assert said_of(project) == f"{file}: cannot be read: Is a directory"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("0", "expected at least 1, found 0"),
        ("-1", "expected at least 1, found -1"),
        ("1000", "expected a number below 1000, found 1000"),
        ("1.5", "expected a whole number, found 1.5"),
        ("1e3", "expected a whole number, found 1000.0"),
        (".inf", "expected a whole number, found inf"),
        (".nan", "expected a whole number, found nan"),
        ("true", "expected a whole number, found true"),
        ("two", "expected a whole number, found 'two'"),
        ("'3'", "expected a whole number, found '3'"),
        ("1_0", "expected a whole number, found '1_0'"),
        ("2026-01-01", "expected a whole number, found '2026-01-01'"),
        ("[0, 1]", "expected a whole number, found [0, 1]"),
        ("{a: 1}", "expected a whole number, found {'a': 1}"),
        ("~", "expected a whole number, found nothing"),
    ],
)
def test_a_number_of_seeds_that_is_none_is_refused_wherever_it_stands(
    project: Project, value: str, said: str
) -> None:
    assert said_of(project, f"seeds={value}") == f"--config: seeds: {said}"
    project.edit(CONFIG, "seeds: 2", f"seeds: {value}")
    project.edit(STUDY_FILE, "label: Transformer", f"label: Transformer\n    seeds: {value}")
    assert said_of(project) == f"{CONFIG}: seeds: {said}"
    project.edit(CONFIG, f"seeds: {value}", "seeds: 2")
    own = "value" if value == "~" else "whole number"
    assert said_of(project) == f"{STUDY_FILE}: runs.flm.seeds: {said.replace('whole number', own)}"


def test_ten_seeds_may_be_written_with_a_zero_before(project: Project) -> None:
    assert Configuration(overrides(["seeds=010"]), project.root).settings.seeds == 10


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "--config : expected KEY=VALUE, such as seeds=3"),
        ("seeds", "--config seeds: expected KEY=VALUE, such as seeds=3"),
        ("seeds=", "--config seeds=: expected KEY=VALUE, such as seeds=3"),
        ("=3", "--config =3: expected KEY=VALUE, such as seeds=3"),
        ("s=3", "--config: s: unknown key; known: reference_seeds, scope, seeds, studies"),
        ("seed=3", "--config: seed: unknown key; did you mean seeds?"),
        ("SEEDS=3", "--config: SEEDS: unknown key; did you mean seeds?"),
        ("seeds.flm=3", "--config: seeds.flm: unknown key; did you mean seeds?"),
        ("studies=garden", "--config: studies: expected a list, found 'garden'"),
        ("studies=[]", "--config: studies: expected a list of at least 1, found []"),
        ("studies=[gardn]", "--config: studies: gardn: no config/studies/gardn.yaml; did you mean garden?"),
        (
            "studies=[garden, x y]",
            "--config: studies[1]: expected lower-case letters, digits and hyphens, a letter first, found 'x y'",
        ),
        ("scope=quik", "--config: scope: expected report, reference, quick or sentinels, found 'quik'"),
        ("seeds=a: b", "--config: seeds: expected a whole number, found {'a': 'b'}"),
        (
            "seeds=\t3",
            "--config seeds=\t3, line 1, column 1: while scanning for the next token in line 1, found "
            "character that cannot start any token",
        ),
    ],
)
def test_an_override_is_checked_like_the_file(project: Project, text: str, said: str) -> None:
    assert said_of(project, text) == said


def test_an_override_may_stand_once(project: Project) -> None:
    assert said_of(project, "seeds=2", "seeds=3") == "--config seeds=3: seeds occurs twice"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("title: Miniature", "title: 5", "title: expected text, found 5; quote it"),
        ("title: Miniature", "title:", "title: expected text, found nothing"),
        ("title: Miniature", "title: ''", "title: expected text that is not empty, found ''"),
        ("title: Miniature", "title: [a]", "title: expected text, found ['a']"),
        ("title:", "titel:", "titel: unknown key; did you mean title?"),
        ("rebuilt: true", "rebuilt: yes", "rebuilt: expected true or false, found 'yes'"),
        (
            "  text: {language",
            "  Text: {language",
            "data.Text: expected lower-case letters, digits and hyphens, a letter first, found 'Text'",
        ),
        ("  text: {language", "  1: {language", "data[1]: expected a word as a key, found 1"),
        (
            "language: garden,",
            "language: gardn,",
            "data.text.language: gardn: no config/languages/gardn.yaml; did",
        ),
        ("training: 96", "training: 9.0", "data.text.training: expected a whole number, found 9.0"),
        ("training: 96", "training: '96'", "data.text.training: expected a whole number, found '96'"),
        ("test: 24}", "tests: 24}", "data.text.tests: unknown key; did you mean test?"),
        ("language: garden,", "task: recal,", "data.text.task: no tasks/recal.py; did you mean recall?"),
        ("test: 24}", "tests: 24}", "data.text.test: this key is required"),
        ("epochs: 2", "epoch: 2", "training.epoch: unknown key; did you mean epochs?"),
        ("epochs: 2", "epochs: true", "training.epochs: expected a whole number, found true"),
        ("epochs: 2", "epochs: 0", "training: epochs 0: expected a finite number, at least 1"),
        ("epochs: 2", "epochs: [2]", "training.epochs: expected a whole number, found [2]"),
        (
            "epochs: 2",
            "epochs: ~",
            "training.epochs: expected true or false, a number, text or a list, found nothing",
        ),
        ("rate: 0.003", "rate: fast", "training.learning_rate: expected a number, found 'fast'"),
        ("rate: 0.003", "rate: .nan", "training.learning_rate: expected a finite number, found nan"),
        ("rate: 0.003", "rate: 1e999", "training.learning_rate: expected a finite number, found inf"),
        (
            "  flm:\n",
            "  flm_a:\n",
            "runs.flm_a: expected lower-case letters, digits and hyphens, a letter first, found 'flm_a'",
        ),
        ("label: Transf", "lable: Transf", "runs.flm.lable: unknown key; did you mean label?"),
        ("label: Transformer", "label: 3", "runs.flm.label: expected text, found 3; quote it"),
        ("kind: transformer", "kind: Transformr", "runs.flm.model.kind: no models/Transformr.py; did you mean t"),
        (
            "kind: transformer",
            "kind: sizes",
            "runs.flm.model.kind: models/sizes.py defines no class Options; known",
        ),
        ("kind: transformer", "kind: 3", "runs.flm.model.kind: expected the name of a plug-in, found 3; known: "),
        ("d_model: 16", "d_modle: 16", "runs.flm.model.d_modle: unknown key; did you mean d_model?"),
        ("d_model: 16", "d_model: 16.0", "runs.flm.model.d_model: expected a whole number, found 16.0"),
        ("d_model: 16", "d_model: 15", "runs.flm.model: heads: 2 do not divide d_model, 15"),
        ("heads: 2", "tied: 1", "runs.flm.model.tied: expected true or false, found 1"),
        ("heads: 2", "norm: true", "runs.flm.model.norm: expected pre or post, found true"),
        (
            "heads: 2",
            "positions: sinus",
            "runs.flm.model.positions: expected sinusoidal, learned, none, rope or alibi, found 'sinus'",
        ),
        ("{kind: flm}", "flm", "runs.flm.objective: expected a mapping, found 'flm'"),
        ("{kind: flm}", "{kind: flmm}", "runs.flm.objective.kind: no objectives/flmm.py; did you mean flm?"),
        (
            "label: Transformer\n",
            "label: Transformer\n    seeds:\n",
            "runs.flm.seeds: expected a value, found nothing",
        ),
        (
            "{kind: flm}",
            "{kind: flm}\n    streams: {dta: 0}",
            "runs.flm.streams.dta: unknown key; did you mean data",
        ),
        ("{kind: flm}", "{kind: flm}\n    data: txt", "runs.flm.data: txt: did you mean text?"),
        ("{kind: flm}", "{kind: flm}\n    l: 3", "runs.flm.l: unknown key; known: data, kind, label, "),
        ("kind: exact}", "kind: exakt}", "runs.exact.kind: no references/exakt.py; did you mean exact?"),
        ("kind: exact}", "kind: exact, seeds: 3}", "runs.exact.seeds: a reference run (kind: exact) has only"),
        ("order: 3", "oder: 3", "runs.ngram.options.oder: unknown key; did you mean order?"),
        ("order: 3", "order: 0", "runs.ngram.options: order 0: expected 1 to 100"),
        ("order: 3", "corpus_seed: 1000", "runs.ngram.options.corpus_seed: expected a number below 1000"),
        (
            "perplexity: {}",
            "perplexty: {}",
            "evaluations.perplexty: no evaluations/perplexty.py; did you mean perp",
        ),
        ("perplexity: {}", "perplexity:", "evaluations.perplexity: expected a mapping, found nothing"),
        (
            "perplexity: {}",
            "perplexity: {run: all}",
            "evaluations.perplexity.run: unknown key; did you mean runs?",
        ),
        (
            "{runs: trained}",
            "{runs: al}",
            "evaluations.training.runs: expected all, trained or a list, found 'al'",
        ),
        ("{runs: trained}", "{runs: [flmm]}", "evaluations.training.runs: flmm: did you mean flm?"),
        ("{runs: trained}", "{runs: [flm, 1]}", "evaluations.training.runs[1]: expected text, found 1; quote it"),
        (
            "{runs: trained}",
            "{runs: []}",
            "evaluations.training.runs: expected all, trained or a list of at least 1, found []",
        ),
        (
            "perplexity: {}",
            "perplexity: {options: {x: 1}}",
            "evaluations.perplexity.options.x: unknown key; known: none",
        ),
        (
            "perplexity: {}",
            "pronouns: {options: {slot: verb, antecedent: subject, window: 0}}",
            "evaluations.pronouns.options: window 0: expected",
        ),
        (
            "perplexity: {}",
            "prompts: {options: {prompts: [she], slot: verb, least: 2}}",
            "evaluations.prompts.options: least 2.0: expected",
        ),
        (EVALUATIONS, "", "evaluations: expected a mapping, found nothing"),
        ("evaluations:", "tune:\nevaluations:", "tune: expected a value, found nothing"),
        (
            "evaluations:",
            f"tune: {{run: flmm, seeds: 1, {GRID}}}\nevaluations:",
            "tune.run: flmm: did you mean flm?",
        ),
        (
            "evaluations:",
            "tune: {run: flm, seeds: 1, grid: [{kind: window}, {}]}\nevaluations:",
            "tune.grid[0].kind: a grid is of options of the run's own model",
        ),
    ],
)
def test_a_wrong_study_is_said_with_its_key(project: Project, old: str, new: str, said: str) -> None:
    project.edit(STUDY_FILE, old, new)
    assert f"{STUDY_FILE}: {said}" in said_of(project)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("  objectives:exact:", "  Exact:", "claims.Exact: expected LECTURE:NAME in lower-case letters"),
        (
            "  objectives:exact:",
            "  objectiv:exact:",
            "claims.objectiv:exact: an id begins with the lecture's name",
        ),
        ('"5.1"\n    by_construction', "5.1\n    by_construction", "section: expected text, found 5.1; quote it"),
        ("by_construction: true", "basis: statd", "basis: expected stated, derived or recomputed, found 'statd'"),
        ("kind: exact\n", "kind: exakt\n", "check.kind: exakt: did you mean exact?"),
        ("kind: exact\n", "at_most: 3\n", "check.kind: this key is required"),
        ("to: 0\n", "to: .nan\n", "check.to: expected a finite number, text or a list, found nan"),
        ("to: 0\n", "to: []\n", "check.to: expected a number, text or a list of at least 1, found []"),
        ("study: garden, run: exact", "study: gardn, run: exact", "check: study gardn: did you mean garden?"),
        ("run: exact", "run: exact, minus: exact", "check.of: minus: exact is the run itself"),
        ("run: exact", "run: exact, seeds: 3", "check.of.seeds: expected mean, sd or share, found 3"),
        ("run: exact", "run: exact, scale: log", "check.of.scale: expected perplexity, found 'log'"),
        ("{sentences: all}", "{sentences: ~}", "sentences: expected a number, text or a list, found nothing"),
        ("{sentences: all}", "{sentences: [all, all]}", "sentences: all occurs twice"),
        ("at_most: 0.001", "at_most: .inf", "check.at_most: expected a finite number, found inf"),
        (f"of: {BOUND}", f"of: [{BOUND}]", "check.of: expected a mapping, found [{...}]"),
        (
            f"kind: bound\n      of: {BOUND}\n      at_most: 0.001",
            f"kind: order\n      of: [{BOUND}, {BOUND}]\n      margin: 1",
            "check: of: a comparison of a number with itself",
        ),
        (
            "{runs.flm.training.epochs: 2}",
            "{runs.flm.training.epoch: 2}",
            "setting.values: runs.flm.training.epoch: 'epoch': did you mean epochs?",
        ),
        (
            "{runs.flm.training.epochs: 2}",
            "{runs.flm.training: 2}",
            "setting.values: runs.flm.training: expected the path of one value",
        ),
        (
            "setting: {study: garden",
            "check:\n    setting: {study: garden",
            "check: expected a value, found nothing",
        ),
    ],
)
def test_a_wrong_claim_is_said_with_its_key(project: Project, old: str, new: str, said: str) -> None:
    project.edit(CLAIMS_FILE, old, new)
    found = said_of(project)
    assert found.startswith(f"{CLAIMS_FILE}: claims.")
    assert said in found


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "{article: 0.66,",
            "{article: 1e-320,",
            "draws.determiner: expected weights that give",
        ),
        ("{article: 0.66, possessive: 0.34}", "{article: 1e308, possessive: 1e308}", "draws.determiner: "),
        (
            "verb: {}",
            "verb: {rank: {exponent: 1e6, among: lexicon}}",
            "draws.verb: expected weights that give every value a probability above 1e-12, found {'rank': {...}}",
        ),
        ("mean_sentences: 3", "mean_sentences: 1e300", "mean_sentences: expected at least 1, "),
        ("mean_sentences: 3", "mean_sentences:", "mean_sentences: expected a number, found nothing"),
        ("[article, possessive]", "[article, true]", "lexicon.determiner[1]: expected text, found true; quote it"),
        (
            "withheld:",
            "withheld:\n  - {verb: pick, noun: plum}",
            "withheld[1]: expected every combination once, found {'noun': 'plum', 'verb': 'pick'}",
        ),
        ("lexicon:", "lexikon:", "lexikon: unknown key; did you mean lexicon?"),
    ],
)
def test_a_wrong_grammar_is_said_with_its_key(project: Project, old: str, new: str, said: str) -> None:
    project.edit(LANGUAGE_FILE, old, new)
    assert f"{LANGUAGE_FILE}: {said}" in said_of(project)


def test_all_that_is_wrong_in_a_study_is_said_at_once(project: Project) -> None:
    for old, new in (("d_model", "d_modle"), ("heads", "heds"), ("order", "oder"), ("perplexity", "perplexty")):
        project.edit(STUDY_FILE, old, new)
    assert [line.split(": ")[1] for line in said_of(project).splitlines()] == [
        "runs.flm.model.d_modle",
        "runs.flm.model.heds",
        "runs.ngram.options.oder",
        "evaluations.perplexty",
    ]
