"""Where nodes are placed, how edges run, and how both are drawn: layout, SVG, matplotlib."""

from cyclearn.drawing.layout import lay_out as lay_out
