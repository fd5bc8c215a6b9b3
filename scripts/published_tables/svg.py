"""Charts as SVG, by hand: no library is needed to read or make them."""
from xml.sax.saxutils import escape

BLUE, RED, GREY = "#4477aa", "#ee6677", "#888888"


def text(x, y, words, **attributes):
    more = "".join(f' {k.replace("_", "-")}="{v}"' for k, v in attributes.items())
    return f'<text x="{x:.1f}" y="{y:.1f}"{more}>{escape(words)}</text>'


def box(x, y, width, height, fill):
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{fill}"/>'


def picture(width, height, title, shapes):
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
            box(0, 0, width, height, "white"),
            text(10, 20, title, font_weight="bold"),
            *shapes,
            "</svg>\n",
        ]
    )


def width_of(names):
    """Room for names in front of a chart, their distance from its edge included."""
    return 30 + 6.6 * max(map(len, names))


def tornado(title, bars, centre):
    """One bar per choice from its lowest to its highest gain, in the order given. bars: [(name, [(label, gain)])]"""
    values = [g for _, ends in bars for _, g in ends] + [centre]
    low, high = min(values), max(values)

    left = width_of([name for name, _ in bars]) + 90

    def at(gain):
        return left + 410 * (gain - low) / max(high - low, 1e-9)

    height = 60 + 24 * len(bars)
    shapes = [
        f'<line x1="{at(centre):.1f}" x2="{at(centre):.1f}" y1="36" y2="{height - 8}" stroke="{GREY}"/>',
        text(at(centre), 34, f"{centre:.2f}", text_anchor="middle"),
    ]
    for i, (name, ends) in enumerate(bars):
        y = 40 + 24 * i
        ordered = sorted([*ends, ("", centre)], key=lambda e: e[1])
        (first, least), (last, most) = ordered[0], ordered[-1]
        shapes += [text(10, y + 13, name), box(at(least), y + 2, max(1, at(most) - at(least)), 15, BLUE)]
        shapes += [
            text(at(g) + d, y + 14, f"{label}: {g:.2f}", text_anchor=side)
            for label, g, d, side in ((first, least, -4, "end"), (last, most, 4, "start"))
            if label
        ]
    return picture(round(left) + 520, height, title, shapes)


def waterfall(title, start, steps):
    """From a gain to another: start (name, gain), steps [(name, gain after it)]."""
    values = [start[1], *(g for _, g in steps)]
    most = max(values)

    left = width_of([start[0], *(name for name, _ in steps)])

    def at(gain):
        return left + 430 * gain / most

    shapes, before = [], None
    for i, (name, gain) in enumerate([start, *steps]):
        y = 40 + 24 * i
        low, high = (0, gain) if before is None or i == len(steps) else sorted((before, gain))
        shapes += [
            text(10, y + 13, name),
            box(at(low), y + 2, max(1, at(high) - at(low)), 15, GREY if low == 0 else BLUE if gain >= before else RED),
            text(at(max(high, gain)) + 4, y + 14, f"{gain:.2f}"),
        ]
        before = gain
    return picture(round(left) + 500, 60 + 24 * len(values), title, shapes)


def heat_map(title, names, cells):
    """A square of values around 1 by rows and columns of names; cells: {(row, column): (value, printed)}; blue above
    1, red below.
    """
    side, left = 62, width_of(names) + 20
    width, height = round(left) + side * len(names) + 20, 70 + 30 * len(names)
    strongest = max((abs(v - 1) for v, _ in cells.values()), default=0) or 1
    shapes = [text(left + side * i + side / 2, 44, str(i + 1), text_anchor="middle") for i in range(len(names))]
    for i, name in enumerate(names):
        y = 54 + 30 * i
        shapes.append(text(10, y + 18, f"{i + 1}  {name}"))
        for j in range(len(names)):
            if (i, j) in cells:
                value, printed = cells[i, j]
                pale = 1 - min(1, abs(value - 1) / strongest) * 0.75
                shade = "#%02x%02x%02x" % tuple(
                    round(255 * pale + c * (1 - pale))
                    for c in ((0x44, 0x77, 0xAA) if value >= 1 else (0xEE, 0x66, 0x77))
                )
                shapes += [
                    box(left + side * j, y, side - 2, 28, shade),
                    text(left + side * j + side / 2, y + 18, printed, text_anchor="middle"),
                ]
    return picture(width, height, title, shapes)
