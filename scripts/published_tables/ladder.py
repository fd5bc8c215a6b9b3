"""LLaDA-8B on the phone class, 128 tokens: every rung beside the published seconds."""
import json

from points import add, scaled

from .design import line
from .document import Column, Section, Table, resolved
from .runs import SHAPES

MODEL = "8b"
SUBJECT, SOURCE = "LLaDA-8B on the phone class", "arXiv 2606.13740, by way of a secondary source"
QUOTED = {"1-cpu": 2996.2, "2-prefix": 607.0, "3-npu": 341.2, "4-somr": 87.0, "5-mbsd": 71.6, "6-dppr": 16.1}
REFERENCE, PLANNED = "2-prefix", "4-somr"
CONFIGURATIONS = tuple(f"phone/{rung}" for rung in QUOTED)
COUNTED = ("1-cpu", "2-prefix", "3-npu", PLANNED)  # a token in every forward, so that their number is known
DECIDED = ("5-mbsd", "6-dppr")  # how many forwards there are follows from what they decide
TRAJECTORY = "llada-drafts"
TOKENS, BLOCK = 128, 32
BLOCKS = TOKENS // BLOCK
CODE_BYTES = 34 / 32  # of a weight: 8 bits, and a scale of two bytes for 32


def weights_of_row():
    """(of a layer, of the vocabulary): also the MACs of a row."""
    shape = json.loads((SHAPES / "llada-8b.json").read_text())
    width, kv = shape["d_model"], shape["n_kv_heads"] * (shape["d_model"] // shape["n_heads"])
    return (
        width * (2 * width + 2 * kv + 3 * shape["mlp_hidden_size"]),
        width * shape["embedding_size"],
        shape["n_layers"],
    )


def window_share():
    """The configured window to the whole model's weights."""
    layer, vocabulary, whole = weights_of_row()
    return resolved("phone/3-npu")["npu"]["window"]["bytes"] / (CODE_BYTES * (layer * whole + vocabulary))


def window_of(layers, share):
    """Bytes of the address window for so many layers: `share` of their weights, in whole pages. A slice that met the
    whole model's window would have nothing to stage.
    """
    layer, vocabulary, _ = weights_of_row()
    page = resolved("phone/3-npu")["npu"]["window"]["page_bytes"]
    return int(share * CODE_BYTES * (layer * layers + vocabulary)) // page * page


def arguments(options, rung, blocks, steps, layers, assignments, share):
    """A decode of so many blocks, each in so many forwards; prompt and reply are as long as those of the whole decode.

    share: window to weights; None: as configured, for the whole model.
    """
    positions = (options.prompt + TOKENS + BLOCK - 1) // BLOCK * BLOCK
    words = [
        "--config",
        f"phone/{rung}",
        "--model",
        "llada-8b",
        "--trajectory",
        TRAJECTORY,
        "--prompt-tokens",
        str(options.prompt + TOKENS - blocks * BLOCK),
        "--generate",
        str(blocks * BLOCK),
        "--steps",
        str(blocks * steps),
        "--context",
        str(positions),
        "--layers",
        str(layers),
    ]
    sets = [*([] if share is None else [f"npu.window.bytes={window_of(layers, share)}"]), *assignments]
    return [*words, *(word for a in sets for word in ("--set", a))]


# A decode of 128 tokens out of three short ones: (blocks, forwards of a block). Setting up happens once in each.
SHORT = ((1, 2), (1, 4), (2, 2))
SLICES = (1, 2)  # layers


def decoded(short):
    """Figures of four blocks of 32 forwards out of those of SHORT: setting up, 4 first forwards, 124 others."""
    one_two, one_four, two_two = short
    later = scaled(add(one_four, scaled(one_two, -1)), 1 / 2)
    block_of_two = add(two_two, scaled(one_two, -1))
    return add(one_two, add(scaled(block_of_two, BLOCKS - 1), scaled(later, BLOCKS * (BLOCK - 2))))


def layers_of(options, rung):
    """Slices, since no decision depends on how many layers there are, or the whole model where the plan of few layers would be another: a few of its buffers are staged, and
    which depends on all.
    """
    return (weights_of_row()[2],) if rung == PLANNED else options.slices or SLICES


def whole_decodes(options, runs, wanted):
    """{name: figures of 128 tokens} of {name: (rung, assignments, share of the window)}."""
    whole = weights_of_row()[2]
    plan = {
        (name, at, layers): arguments(options, rung, *at, layers, assignments, share)
        for name, (rung, assignments, share) in wanted.items()
        for at in SHORT
        for layers in layers_of(options, rung)
    }
    results = runs.all(plan)
    figures = {}
    for name, (rung, *_) in wanted.items():
        by_layers = [
            (layers, decoded([results[name, at, layers] for at in SHORT])) for layers in layers_of(options, rung)
        ]
        figures[name] = by_layers[0][1] if len(by_layers) == 1 else line(*by_layers, whole)
    return figures


def ladder(options, runs):
    measured = whole_decodes(options, runs, {rung: (rung, (), window_share()) for rung in COUNTED})
    whole = weights_of_row()[2]
    measured |= runs.all({rung: arguments(options, rung, BLOCKS, BLOCK, whole, (), None) for rung in DECIDED})
    how = {
        **dict.fromkeys(COUNTED, "measured on slices"),
        PLANNED: "measured on the whole model",
        **dict.fromkeys(DECIDED, "measured, the whole decode"),
    }
    seconds = {rung: figures["latency_us"] * 1e-6 for rung, figures in measured.items()}
    rungs, cells = [], []
    for rung, quoted in QUOTED.items():
        value = seconds[rung]
        rungs.append({"name": rung, "value": value, "kind": "measured", "how": how[rung], "quoted": quoted})
        cells.append(
            [rung, value, how[rung], quoted, value / quoted, seconds[REFERENCE] / value, QUOTED[REFERENCE] / quoted]
        )
    columns = [
        Column("rung"),
        Column("time", "measured", "s", 1),
        Column("how"),
        Column("time", "quoted", "s", 1),
        Column("ours to theirs", "computed", "x"),
        Column(f"gain over {REFERENCE}", "computed", "x", 1),
        Column("theirs", "quoted", "x", 1),
    ]
    notes = (
        f"Planned swaps: {seconds['3-npu'] / seconds[PLANNED]:.2f}x over naive mapping; quoted {QUOTED['3-npu'] / QUOTED[PLANNED]:.2f}x. "
        f"Staged per decode: {measured[PLANNED]['staged'] * 1e-9:.1f} GB.",
        "Rungs on the CPU take what the class's CPU takes (cpu.work_cycles, cpu.stream) for 8-bit codes.",
        f"Decisions are drawn ({TRAJECTORY}: the rates of tiny-llada). Forwards for {TOKENS} tokens: "
        + ", ".join(f"{rung} {measured[rung]['forwards']:.0f}" for rung in QUOTED)
        + ".",
    )
    chart = {
        "type": "ladder",
        "title": "Seconds for 128 tokens",
        "subject": SUBJECT,
        "kind": "measured",
        "unit": "s",
        "reference": REFERENCE,
        "source": SOURCE,
        "rungs": rungs,
    }
    return [Section(SUBJECT, [Table("128 tokens, beside the publication", columns, cells, notes)], [chart])]
