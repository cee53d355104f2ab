"""Many marks as one artist of Matplotlib, which otherwise makes an object of each mark.

Those objects took most of the time of a page. Each mark is still an element of the SVG with its own tooltip.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from matplotlib.artist import Artist, allow_rasterization
from matplotlib.colors import to_rgba
from matplotlib.markers import MarkerStyle
from matplotlib.path import Path
from matplotlib.transforms import Affine2D, IdentityTransform

from seedbed.reporting.drawing.canvas import Look, Spot

if TYPE_CHECKING:
    from matplotlib.backend_bases import GraphicsContextBase, RendererBase


class Spots(Artist):
    """Marks that are drawn one above the other, also beyond the axes."""

    def __init__(self, spots: Sequence[Spot], level: float, pixels: bool = False) -> None:
        """Draw ``spots`` on a ``level``, as pixels where there are very many."""
        super().__init__()
        self._spots = tuple(spots)
        self.set_zorder(level)
        self.set_rasterized(pixels)

    @allow_rasterization  # type: ignore[untyped-decorator]
    def draw(self, renderer: RendererBase) -> None:
        """Draw each mark as a group that has its tooltip as its name."""
        assert self.axes is not None
        places = self.axes.transData.transform([(spot.x, spot.y) for spot in self._spots])
        for spot, place in zip(self._spots, places, strict=True):
            look = spot.look
            shape, turned, filled = _shape(look.marker)
            size = turned.frozen().scale(float(renderer.points_to_pixels(look.size)))  # type: ignore[arg-type]
            face = to_rgba(look.color) if filled and not look.hollow else None
            renderer.open_group("mark", gid=f"tip:{spot.tip}" if spot.tip else None)
            graphics = _graphics(renderer, look)
            renderer.draw_markers(graphics, shape, size, Path([place]), IdentityTransform(), face)
            graphics.restore()
            renderer.close_group("mark")


def _graphics(renderer: RendererBase, look: Look) -> GraphicsContextBase:
    graphics = renderer.new_gc()
    graphics.set_alpha(look.alpha)
    graphics.set_foreground(look.color)
    graphics.set_linewidth(float(renderer.points_to_pixels(look.width)))  # type: ignore[arg-type]
    graphics.set_joinstyle("miter")
    return graphics


@cache
def _shape(marker: str) -> tuple[Path, Affine2D, bool]:
    """The outline of a marker of size 1, how it is turned, and whether it has a face."""
    style = MarkerStyle(marker)
    return style.get_path(), Affine2D(style.get_transform().get_matrix()), bool(style.is_filled())
