"""Where a gain becomes 1: from simulated points, or solved from prices."""

import math
from typing import NamedTuple


class Verdict(NamedTuple):
    kind: str  # crosses, always, never
    value: object  # where it crosses, None else; the first such place where there are several
    bracket: object  # the simulated values around it; None where a formula gave it
    places: int  # how often it crosses


def between(low, high):
    """Where the gain is 1 between two points (value, gain): straight in the logarithm of the gain, and of the value
    where both are above 0.
    """
    (x0, g0), (x1, g1) = low, high
    share = math.log(g0) / (math.log(g0) - math.log(g1))
    return x0 * (x1 / x0) ** share if x0 > 0 else x0 + share * (x1 - x0)


def verdict(points):
    """Of simulated points (value, gain), values rising. A gain of 1 exactly does not pay."""
    found = [(a, b) for a, b in zip(points, points[1:]) if (a[1] > 1) != (b[1] > 1)]
    if not found:
        return Verdict("always" if points[0][1] > 1 else "never", None, None, 0)
    return Verdict("crosses", between(*found[0]), (found[0][0][0], found[0][1][0]), len(found))


MOST = 100  # times a price: further is not asked


def priced(base, own, base_part, own_part):
    """(verdict, gain at 0, gain at MOST) of the factor on a price at which two energies are equal. base, own: all other
    energy; parts: at factor 1.
    """
    at_none, at_most = base / own, (base + MOST * base_part) / (own + MOST * own_part)
    if (at_none > 1) == (at_most > 1):
        return Verdict("always" if at_none > 1 else "never", None, None, 0), at_none, at_most
    return Verdict("crosses", (own - base) / (base_part - own_part), None, 1), at_none, at_most


def middle(low, high, step):
    """Halfway by the ratio (by the sum from 0 on), in whole steps; None where there is none between."""
    value = math.sqrt(low * high) if low > 0 else high / 2
    value = round(value / step) * step
    return value if low < value < high else None


def said(v, points, unit):
    ends = f"gain {points[0][1]:.2f} to {points[-1][1]:.2f}"
    where = f"{points[0][0]:g} to {points[-1][0]:g}{' ' + unit if unit else ''}"
    if v.kind != "crosses":
        return ("pays over the whole of " if v.kind == "always" else "pays nowhere in ") + f"{where}, {ends}"
    low, high = ("pays below", "not above") if points[0][1] > 1 else ("pays above", "not below")
    more = f"; crosses {v.places} times" if v.places > 1 else ""
    return f"{low} {v.value:.3g}, {high} (simulated: {v.bracket[0]:g} and {v.bracket[1]:g}{more}); {ends} over {where}"


def price_said(v, at_none, at_most, now):
    ends = f"gain {at_none:.2f} for nothing, {now:.2f} as configured, {at_most:.2f} at {MOST} times"
    if v.kind != "crosses":
        return f"pays at {'any' if v.kind == 'always' else 'no'} price up to {MOST} times the configured one, {ends}"
    return f"pays {'below' if at_none > 1 else 'above'} {v.value:.3g} times the configured price, {ends}"
