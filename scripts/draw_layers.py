#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws docs/images/modules.svg from src/LAYERS.txt: a row a layer, and the dependencies that no other path implies.

A module's layer is the longest path from it down to one without dependencies. The same input gives the same bytes.
    scripts/draw_layers.py              writes the picture
    scripts/draw_layers.py --check      fails when the picture is not that of src/LAYERS.txt
"""
import math
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
WIDTH, ROW, BOX_HEIGHT, GAP, LANE = 1080, 74, 34, 22, 16  # LANE: the width that an edge takes between boxes
STYLE = """
  text { font: 600 15px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; text-anchor: middle; }
  rect { fill: #eef4fb; stroke: #3b6ea5; stroke-width: 1.5; }
  text { fill: #16324f; }
  path { fill: none; stroke: #7d93a8; stroke-width: 1.6; }
  marker path { fill: #7d93a8; stroke: none; }
  @media (prefers-color-scheme: dark) {
    rect { fill: #1c2b3a; stroke: #6fa8dc; }
    text { fill: #e3eefa; }
    path { stroke: #8297ab; }
    marker path { fill: #8297ab; stroke: none; }
  }"""


def load(text):
    """{module: its dependencies} of the lines `module: dependency dependency ...`; folders of a module are left out."""
    lines = (line.split("#")[0].strip() for line in text.splitlines())
    return {name.strip(): rest.split() for name, _, rest in (line.partition(":") for line in lines if line)
            if "/" not in name}


def layers(graph):
    found = {}

    def layer(name, above=()):
        if name not in graph:
            sys.exit(f"src/LAYERS.txt: {above[-1]} depends on {name}, which has no line")
        if name in above:
            sys.exit(f"src/LAYERS.txt: {' -> '.join(above + (name,))} is a cycle")
        if name not in found:
            found[name] = max((layer(other, above + (name,)) + 1 for other in graph[name]), default=0)
        return found[name]

    for name in graph:
        layer(name)
    return found


def reduced(graph):
    """The dependencies that are not reached through another one."""
    def reach(name):
        return {name}.union(*(reach(other) for other in graph[name]))
    return {name: [one for one in deps if not any(one in reach(other) for other in deps if other != one)]
            for name, deps in graph.items()}


def rows_and_links(graph):
    """Rows from the highest layer down. A long edge has a point of its own, a tuple, in each row that it crosses."""
    level = layers(graph)
    rows = [[name for name in graph if level[name] == at] for at in range(max(level.values()), -1, -1)]
    top, links, routes = len(rows) - 1, [], []
    for name, deps in reduced(graph).items():
        for other in deps:
            route = [name] + [(name, other, at) for at in range(level[name] - 1, level[other], -1)] + [other]
            for point in route[1:-1]:
                rows[top - point[2]].append(point)
            links += list(zip(route, route[1:]))
            routes.append(route)
    return rows, links, routes


def order(rows, links):
    """Few crossings: each row by the mean place of its neighbours above, then below, again and again; the best is kept."""
    up, down = {}, {}
    for above, below in links:
        up.setdefault(below, []).append(above)
        down.setdefault(above, []).append(below)

    def crossings():
        place = {point: at for row in rows for at, point in enumerate(row)}
        row_of = {point: at for at, row in enumerate(rows) for point in row}
        ends = [(row_of[a], place[a], place[b]) for a, b in links]
        return sum(1 for i, (r, a, b) in enumerate(ends) for s, c, d in ends[i + 1:] if r == s and (a - c) * (b - d) < 0)

    best, least = [row[:] for row in rows], crossings()
    for turn in range(24):
        near, swept = (up, rows) if turn % 2 == 0 else (down, rows[::-1])
        for row in swept:
            place = {point: (at + 0.5) / len(line) for line in rows for at, point in enumerate(line)}
            row.sort(key=lambda point: math.fsum(place[one] for one in near.get(point, [point])) / len(near.get(point, [point])))
        if crossings() < least:
            best, least = [row[:] for row in rows], crossings()
    return best


def breadth(point):
    return LANE if isinstance(point, tuple) else 30 + 9 * len(point)


def apart(row, x, sign):
    """The row's places with no two boxes in touch, pushed to the right (sign 1) or to the left (-1)."""
    found, edge = {}, -1e9
    for point in row if sign > 0 else row[::-1]:
        found[point] = sign * max(sign * x[point], edge + breadth(point) / 2)
        edge = sign * found[point] + breadth(point) / 2 + GAP
    return found


def columns(rows, links):
    """Each point's x: near the mean of its neighbours, in the order of its row; then stretched to the width."""
    near = {point: [b for a, b in links if a == point] + [a for a, b in links if b == point] for row in rows for point in row}
    x = {point: WIDTH * (at + 1) / (len(row) + 1) for row in rows for at, point in enumerate(row)}
    for _ in range(200):
        for row in rows:
            for point in row:
                x[point] += 0.5 * (math.fsum(x[one] for one in near[point]) / len(near[point]) - x[point]) if near[point] else 0
            right, left = apart(row, x, 1), apart(row, x, -1)
            x.update({point: (right[point] + left[point]) / 2 for point in row})
    for row in rows:
        x.update(apart(row, x, 1))
    first, last, half = min(x.values()), max(x.values()), max(map(breadth, x)) / 2 + 1
    if last - first > WIDTH - 2 * half:
        sys.exit("scripts/draw_layers.py: a row is wider than the picture; raise WIDTH or lower GAP")
    return {point: half + (at - first) / (last - first) * (WIDTH - 2 * half) for point, at in x.items()}


def ports(links, x):
    """{(link, end): x}: the edges of a box leave it and reach it side by side."""
    found = {}
    for end in (0, 1):
        for point in {link[end]: None for link in links}:
            mine = sorted((link for link in links if link[end] == point), key=lambda link: x[link[1 - end]])
            step = min(13, (breadth(point) - 24) / max(len(mine) - 1, 1))
            for at, link in enumerate(mine):
                found[link, end] = x[point] + (at - (len(mine) - 1) / 2) * step
    return found


def draw(graph):
    rows, links, routes = rows_and_links(graph)
    rows = order(rows, links)
    x = columns(rows, links)
    port = ports(links, x)
    y = {point: 2 + ROW * at + BOX_HEIGHT / 2 for at, row in enumerate(rows) for point in row}
    height = 4 + ROW * (len(rows) - 1) + BOX_HEIGHT
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">',
           "<title>Ridgeline's modules: an arrow points to what a module uses</title>", f"<style>{STYLE}\n</style>",
           '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
           '<path d="M0 0.5 L8 4 L0 7.5 z"/></marker></defs>']
    for route in routes:
        path = ""
        for link in zip(route, route[1:]):
            from_x, to_x = port[link, 0], port[link, 1]
            from_y, to_y = y[link[0]] + BOX_HEIGHT / 2, y[link[1]] - BOX_HEIGHT / 2
            bend = (to_y - from_y) / 2
            path += f" L{from_x:.1f} {from_y:.1f}" if path else f"M{from_x:.1f} {from_y:.1f}"
            path += f" C{from_x:.1f} {from_y + bend:.1f} {to_x:.1f} {to_y - bend:.1f} {to_x:.1f} {to_y:.1f}"
        out.append(f'<path d="{path}" marker-end="url(#arrow)"/>')
    for name in (point for row in rows for point in row if not isinstance(point, tuple)):
        left, top = x[name] - breadth(name) / 2, y[name] - BOX_HEIGHT / 2
        out.append(f'<rect x="{left:.1f}" y="{top:.1f}" width="{breadth(name)}" height="{BOX_HEIGHT}" rx="6"/>'
                   f'<text x="{x[name]:.1f}" y="{y[name] + 5:.1f}">{name}</text>')
    return "\n".join(out + ["</svg>"]) + "\n"


def main():
    picture = ROOT / "docs" / "images" / "modules.svg"
    text = draw(load((ROOT / "src" / "LAYERS.txt").read_text()))
    if sys.argv[1:] == ["--check"]:
        if not picture.exists() or picture.read_text() != text:
            sys.exit("docs/images/modules.svg is not the picture of src/LAYERS.txt; run scripts/draw_layers.py and commit it")
    else:
        picture.write_text(text)


if __name__ == "__main__":
    main()
