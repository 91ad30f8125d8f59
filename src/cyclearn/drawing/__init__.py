"""Layout of nodes, routes of edges, and drawing with SVG and matplotlib."""

from cyclearn.drawing.layout import lay_out as lay_out
