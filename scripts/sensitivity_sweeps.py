"""What scripts/sensitivity sweeps: one parameter at a time around a configuration that has both compressions."""

from typing import NamedTuple

BRQ, DAT = "decode.compression.brq.", "decode.compression.dat."
KV, FFN = "decode.compression.kv", "decode.compression.ffn"


class Sweep(NamedTuple):
    title: str
    long_only: bool  # prompts shorter than a basis have no compressed prefix
    values: tuple    # (name, settings); no settings: the configuration as it is
    does: str        # what the parameter does, a sentence for whoever has to choose


# Shares of q8, q4 and q2 by the mean bits of a residual; a choice, on the way from all at one tier to the next one down.
SHARES = {8: (1, 0, 0), 6: (0.5, 0.5, 0), 3: (0.1, 0.4, 0.3), 2: (0.05, 0.25, 0.3), 1: (0, 0.1, 0.3), 0: (0, 0, 0)}
# Of the channels touched at the middle setting's gain: shares at q8 and q4; the rest at q2.
MIXES = {"all q8": (1, 0), "half q8, half q4": (0.5, 0.5), "all q4": (0, 1), "half q4, half q2": (0, 0.5), "all q2": (0, 0)}


def _numbers(path, values, as_configured):
    return tuple((str(v), {} if v == as_configured else {path: v}) for v in values)


def sweeps(defaults):
    """{name: Sweep}. defaults: decode.compression of the configuration, with `touch` (gain, share at q8, at q4) of its setting, and `threshold`."""
    brq, dat = defaults["brq"], defaults["dat"]
    gain = defaults["touch"][0]
    return {
        "parts": Sweep("Which of the two", False, (
            ("bf16 cache alone", {KV: "bf16", FFN: "whole"}), ("q8 cache alone", {KV: "q8", FFN: "whole"}), ("BRQ-KV", {FFN: "whole"}),
            ("DAT-FFN", {KV: "q8"}), ("DAT-FFN at setting 6", {KV: "q8", DAT + "setting": 6}), ("both", {})),
            "BRQ-KV pays with long prefixes and many forwards per block, DAT-FFN with many forwards per block."),
        "threshold": Sweep("Commit threshold", False, _numbers("threshold", (0.8, 0.9, 0.95, 0.99, 0.999, 0.9999, 1.0), defaults["threshold"]),
            "More forwards per block leave more for compression to save; differences are to Baseline at the same threshold."),
        "setting": Sweep("Setting of DAT-FFN", False, (*_numbers(DAT + "setting", range(7), dat["setting"]),
            *((f"gain {g}", {DAT + "table": [g, 0.1, 0.7]}) for g in (1.0, 0.5))),
            "A higher setting touches fewer channels for the same drift; the two gains go on where the settings end."),
        "mix": Sweep("Precision of the channels touched", False, (("as the setting says", {}), *((n, {DAT + "table": [gain, *m]}) for n, m in MIXES.items())),
            "q8 recomputes a channel, q4 and q2 correct it by its narrow weights and drift away from it until the next anchor."),
        "corrections": Sweep("Rank of DAT-FFN's corrections", False, _numbers(DAT + "corrections", (0, 1, 2, 4, 8), dat["corrections"]),
            "A rank costs descriptors, vectors and bytes in each interior step and brings q4 and q2 nearer."),
        "smoothing": Sweep("Smoothing of DAT-FFN's budget (eta)", False, _numbers(DAT + "smoothing", (0, 0.5, 0.7, 0.9), dat["smoothing"]),
            "Less smoothing lets the budget follow the drift at once, so that the first interior steps touch more."),
        "dat-span": Sweep("How long an anchor lives", False, _numbers(DAT + "span", ("block", "sub_block"), dat["span"]),
            "An anchor per sub-block is nearer and costs a whole forward four times a block."),
        "bits": Sweep("Bits of a prefix entry", True, (*((str(b), {BRQ + "shares": list(SHARES[b])}) for b in (8, 6)), ("the sidecar's", {}),
            *((str(b), {BRQ + "shares": list(SHARES[b])}) for b in (3, 2, 1, 0))),
            "Fewer bits are fewer bytes in the forwards that read by a map, and in no others."),
        "rank": Sweep("Rank of the prefix's basis", True, _numbers(BRQ + "rank", (0, 1, 2, 4), brq["rank"]),
            "A rank takes 4 bytes of every entry and head and leaves less to the residual; 0 is residuals alone."),
        "basis-tokens": Sweep("Positions that make the first basis", True, _numbers(BRQ + "basis_tokens", (32, 64, 128, 256), brq["basis_tokens"]),
            "They stay plain q8, so more of them are fewer entries to narrow."),
        "refresh": Sweep("A new basis every so many positions", True, _numbers(BRQ + "refresh", (0, 32, 64, 128), brq["refresh"]),
            "A new basis costs the CPU its subspace iteration and fits the entries behind it better."),
        "iterations": Sweep("Steps of the subspace iteration", True, _numbers(BRQ + "iterations", (1, 2, 4, 8, 16), brq["iterations"]),
            "Steps are CPU time before the prefill is over."),
        "brq-span": Sweep("How long a tier map lives", True, _numbers(BRQ + "span", ("block", "sub_block"), brq["span"]),
            "A map per sub-block follows the queries and reads two forwards of each sub-block whole."),
    }
