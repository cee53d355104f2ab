"""What all pages share: their names and addresses, the templates, and how text and drawings enter them.

Text from tables is untrusted and escaped by the templates; only drawings and glossary links enter as markup.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import jinja2
import yaml
from markupsafe import Markup, escape

from seedbed.reporting.drawing.svg import draw
from seedbed.reporting.figures import Panel
from seedbed.reporting.numbers import number
from seedbed.reporting.tables import CLAIMS, SIGNS, address, anchor, file_name

INDEX = "index"


@dataclass(frozen=True)
class Site:
    """The pages of a build. All are in one folder and lead to each other by relative addresses.

    Attributes:
        studies: The name of each study → its title, in order; each has the page ``NAME.html``.
        lectures: The name of each page of demonstrations → its title.
        templates: The folder ``report/`` of the project.
        full: Whether all planned runs and seeds were built; pages of a partial build are marked as no evidence.

    Raises:
        ValueError: a study has the name of another page.
    """

    studies: Mapping[str, str]
    lectures: Mapping[str, str]
    templates: Path
    full: bool = True

    def __post_init__(self) -> None:
        """Compare the names."""
        for name in (INDEX, CLAIMS, *self.lectures):
            if name in self.studies:
                raise ValueError(
                    f"study {name}: the page {file_name(name)} is another; give the study another name"
                )

    @property
    def pages(self) -> dict[str, str]:
        """The name of each page → what the navigation calls it."""
        return {INDEX: "Overview", CLAIMS: "Claims of the lectures", **self.studies, **self.lectures}

    @property
    def groups(self) -> list[tuple[str, dict[str, str]]]:
        """The pages below the headings of the navigation, the first two pages below none."""
        first = {name: title for name, title in self.pages.items() if name in (INDEX, CLAIMS)}
        groups = [("", first), ("Studies", dict(self.studies)), ("Demonstrations", dict(self.lectures))]
        return [(heading, pages) for heading, pages in groups if pages]

    def render(self, page: str, template: str, fingerprint: str, **values: object) -> str:
        """A page as HTML that needs no other file and no network.

        Args:
            page: Its name.
            template: Its template in `templates`.
            fingerprint: What the page says of itself in its head, for the next build.
            values: What its template shows.
        """
        glossary = yaml.safe_load((self.templates / "glossary.yaml").read_text(encoding="utf-8"))
        found = _environment(self.templates, glossary).get_template(template)
        return found.render(page=page, site=self, fingerprint=fingerprint, glossary=glossary, **values)


def _environment(templates: Path, glossary: Mapping[str, str]) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["link_words"] = partial(_link_words, glossary)
    styles: dict[str, None] = {}
    environment.globals |= {
        "anchor": anchor,
        "address": address,
        "file_name": file_name,
        "drawing": partial(_drawing, styles),
        "styles": styles,
        "number": number,
        "signs": SIGNS,
    }
    return environment


def _drawing(styles: dict[str, None], panel: Panel, *names: str) -> Markup:
    """The drawing, whose styles the page writes once for all drawings."""
    start, rules, end = re.split(r"</?style>", draw(panel.drawing, anchor(*names), panel.title))
    styles |= dict.fromkeys(re.findall(r"[^}]+}", rules))
    return Markup(start + end)


def _link_words(glossary: Mapping[str, str], text: str) -> Markup:
    """The text, escaped, with each ``[[word]]`` that the glossary holds as a link to it."""

    def link(match: re.Match[str]) -> str:
        word = match[1].lower()
        return f'<a class="term" href="#{anchor("word", word)}">{match[1]}</a>' if word in glossary else match[0]

    return Markup(re.sub(r"\[\[([\w -]+)\]\]", link, str(escape(text))))
