"""From a panel to an element of the page: the drawing as SVG, without what it does not need.

Matplotlib is imported on the first drawing, since that is slow; it draws without a display, and the same panel
gives the same bytes.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from seedbed.reporting.drawing.canvas import COLORS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from seedbed.reporting.drawing.marks import Drawing

_SETTINGS = {
    "svg.fonttype": "none",
    "svg.hashsalt": "seedbed",
    "font.family": "DejaVu Sans",  # Matplotlib brings it, so it is never missing; the page sets its own
    "text.parse_math": False,  # labels are untrusted text: a $ in them is a $
    "axes.unicode_minus": True,
    "savefig.dpi": 216,
}


def draw(panel: Drawing, prefix: str, title: str) -> str:
    """The panel as an ``<svg>`` element for the page.

    Args:
        panel: What to draw.
        prefix: Starts every id inside, so that the panels of a page do not share any.
        title: Opens the alternative text.
    """
    import matplotlib.style

    with matplotlib.style.context(["default", _SETTINGS]):
        return _element(_legal(_svg(panel.figure())), _short(prefix), _legal(f"{title}. {panel.words()}."))


def _short(prefix: str) -> str:
    """A few letters for a prefix that every mark repeats; like names, they begin with a letter."""
    return "p" + blake2b(prefix.encode(), digest_size=3).hexdigest()


def _svg(figure: Figure) -> str:
    import warnings

    text = io.StringIO()
    with warnings.catch_warnings():
        # Labels may hold letters that Matplotlib's font lacks; the reader's browser has them.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    return text.getvalue()


def _element(svg: str, prefix: str, alt: str) -> str:
    """Matplotlib's file as an element: no name spaces, no addresses, ids of its own, colours as CSS variables."""
    root = ElementTree.fromstring(svg)
    names = {
        name: f"{prefix}-{at}"
        for at, name in enumerate(dict.fromkeys(re.findall(r'id="([mp][0-9a-f]{10})"', svg)))
    }
    for element in list(root.iter()):
        element.tag = _local(element.tag)
        element.attrib = {_local(key): _own(value, names) for key, value in element.attrib.items()}
        _identify(element, names)
        element.tail = None
        element.text = element.text if element.tag in ("text", "title") else None
    _prune(root)
    _share_styles(root)
    box = {"viewBox": root.attrib["viewBox"], "class": "panel", "role": "img", "aria-label": alt}
    root.attrib = box
    text = ElementTree.tostring(root, encoding="unicode")
    for role, color in COLORS.items():
        text = text.replace(color, f"var(--{role})")
    return text


def _share_styles(root: ElementTree.Element) -> None:
    """Write each style once: a class whose name follows from what it says means the same in every drawing."""
    styles: dict[str, str] = {}
    for element in root.iter():
        style = element.attrib.pop("style", "")
        if style:
            name = styles.setdefault(style, "s" + blake2b(style.encode(), digest_size=3).hexdigest())
            element.set("class", f"{element.get('class', '')} {name}".strip())
    rules = ElementTree.Element("style")
    rules.text = "".join(f".{name}{{{style}}}" for style, name in styles.items())
    root.insert(0, rules)


def _prune(parent: ElementTree.Element) -> None:
    """Take out what shows nothing, and groups that only hold others: some thousand marks make up a page."""
    kept: list[ElementTree.Element] = []
    for child in list(parent):
        _prune(child)
        if child.tag == "g" and not child.attrib:
            kept += _unwrapped(child)
        elif not _shows_nothing(child):
            kept.append(child)
    parent[:] = kept


def _unwrapped(group: ElementTree.Element) -> list[ElementTree.Element]:
    """The parts of a group that has no attributes: its tooltip goes to its only mark, or keeps it a group."""
    parts = list(group)
    if not parts or parts[0].tag != "title":
        return parts
    marks = [one for one in parts[1:] if one.tag != "defs"]
    if len(marks) != 1:
        return [group]
    marks[0].insert(0, parts[0])
    return parts[1:]


def _shows_nothing(element: ElementTree.Element) -> bool:
    invisible = element.tag == "path" and element.get("style") == "fill: none"
    return element.tag in ("metadata", "style") or invisible or (element.tag == "defs" and not len(element))


def _legal(text: str) -> str:
    """The text without the control characters that XML cannot hold."""
    return re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", "\N{REPLACEMENT CHARACTER}", text)


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _own(value: str, names: Mapping[str, str]) -> str:
    """An attribute with the names of what it refers to, its line breaks gone and its font left to the page."""
    value = re.sub(r"font-family: [^;]*;?\s*", "", value.replace("\n", ""))
    return re.sub(r"(?<=#)[mp][0-9a-f]{10}\b", lambda match: names.get(match[0], match[0]), value)


def _identify(element: ElementTree.Element, names: Mapping[str, str]) -> None:
    """A mark's words become its tooltip; what something refers to has a name of the panel's own."""
    name = element.attrib.pop("id", "")
    if name.startswith("tip:"):
        title = ElementTree.Element("title")
        title.text = name.removeprefix("tip:")
        element.insert(0, title)
    elif name == "inside":
        element.set("class", "inside")
    elif name in names:
        element.set("id", names[name])
    if element.get("transform", "").startswith("rotate(-0 "):
        del element.attrib["transform"]
    for key in {"d", "x", "y"} & element.attrib.keys():
        element.set(key, _rounded(element.attrib[key]))


def _rounded(numbers: str) -> str:
    """Numbers to a hundredth of a pixel, and a polygon's points without the letters between them."""
    numbers = re.sub(r"-?\d+\.\d{3,}", lambda match: f"{float(match[0]):.2f}", numbers)
    numbers = re.sub(r" +", " ", numbers).strip()
    return numbers if "C" in numbers else numbers.replace(" L ", " ")
