"""The energy of a read at a precision in closed form: how far compression can get by E(p) alone.

E(p) = 8 e_core + p e_down + E_xcode(p) for p in 8, 4, 2 (E_xcode(8) = 0), E(0) = 0 (arXiv 2609.01084): the cell array reads all
8 bits, p cross the interface, a carried element is not read.
"""
from typing import NamedTuple


class Prices(NamedTuple):
    core: float  # pJ/bit
    down: float  # pJ/bit
    convert: float  # pJ per element at q4 and q2

    def read(self, bits):
        """pJ of an element."""
        return 0.0 if bits == 0 else 8 * self.core + bits * self.down + (self.convert if bits < 8 else 0.0)


def mixed(prices, shares):
    """pJ of an element on average; shares: {bits: share}, summing to 1."""
    return sum(share * prices.read(bits) for bits, share in shares.items())


def gain(prices, shares, compressible):
    """Of reads of which the share `compressible` is read as `shares` say and the rest at 8 bits, over all at 8 bits."""
    return 1 / (1 - compressible * (1 - mixed(prices, shares) / prices.read(8)))


def share_left(target, compressible):
    """What the compressible part may cost, of its cost at 8 bits, for a gain of `target`; None where even nothing is
    too much.
    """
    left = 1 - (1 - 1 / target) / compressible
    return left if left >= 0 else None


def scale_for(target, base, fixed, scalable):
    """Factor on `scalable` for which base / (fixed + factor * scalable) is `target`; None where `fixed` alone is too
    much.
    """
    left = base / target - fixed
    return left / scalable if left >= 0 else None
