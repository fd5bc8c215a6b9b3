"""The choices behind the gain: what each is varied to, and which choices of the configurations are not in the list,
with the reason.
"""
from points import ENERGY_PARTS

SEED = "seed of the decisions"
BRQ, DAT = "decode.compression.brq.", "decode.compression.dat."


def ends(path, *values):
    """Of a key that is the same for all configurations."""
    return [(str(v), {"set": [f"{path}={v}"]}) for v in values]


# A quarter of the elements at four times the clock, and units whose rate by the second stays as it is.
SMALL_ARRAY = [
    "npu.array=ref_16x16",
    "npu.vector.lanes=16",
    "npu.sampling.lanes=8",
    "npu.scratchpad.bytes_per_cycle=64",
]

# Anchors of blocks of 64 tokens take twice the room of those of 32.
ROOMY = {"set": ["npu.scratchpad.bytes=268435456"]}

# (name, [(value, change of design.merged())], what it varies: a path in the configurations, or where else it stands).
CHOICES = (
    ("prompt, tokens", [("64", {"prompt": 64}), ("1024", {"prompt": 1024})], "--prompt"),
    ("reply, tokens", [("32", {"reply": 32}), ("256", {"reply": 256})], "--reply"),
    ("block, tokens", [("16", {"block": 16}), ("64", {"block": 64, **ROOMY})], "bd_size of the shape"),
    (
        "tokens per forward",
        [("1", {"distribution": {"tokens_per_forward": 1}}), ("8", {"distribution": {"tokens_per_forward": 8}})],
        "tokens_per_forward of the distribution",
    ),
    (
        "drift of the network's input",
        [
            ("to 0.05", {"distribution": {"drift": {"least": 0.005, "most": 0.05}}}),
            ("to 0.7", {"distribution": {"drift": {"least": 0.35, "most": 0.7}}}),
        ],
        "drift of the distribution",
    ),
    ("order of channels and entries", [("in order", {"distribution": {"run": 1 << 20}})], "run of the distribution"),
    (SEED, [("2", {"seed": 2}), ("3", {"seed": 3})], "--seed"),
    ("setting of DAT-FFN", [("0", {"setting": 0}), ("6", {"setting": 6})], DAT + "setting"),
    ("anchor's life", [("sub-block", {"compressed": [DAT + "span=sub_block"]})], DAT + "span"),
    ("rank of the corrections", [("0", {"compressed": [DAT + "corrections=0"]})], DAT + "corrections"),
    (
        "BRQ-KV budget, mean bits",
        [("2", {"compressed": [BRQ + "shares=[0.0,0.2,0.6]"]}), ("8", {"compressed": [BRQ + "shares=[1,0,0]"]})],
        BRQ + "shares",
    ),
    ("tier map's life", [("sub-block", {"compressed": [BRQ + "span=sub_block"]})], BRQ + "span"),
    (
        "steps for the prefix's basis",
        [("1", {"compressed": [BRQ + "iterations=1"]}), ("16", {"compressed": [BRQ + "iterations=16"]})],
        BRQ + "iterations",
    ),
    ("Baseline's cache", [("bf16", {"uncompressed": ["decode.compression.kv=bf16"]})], "decode.compression.kv"),
    (
        "wide memory, times plain bandwidth",
        [("2", {"bandwidth": 2}), ("8", {"bandwidth": 8})],
        "memory.config.channels",
    ),
    (
        "core feed of the wide memory",
        [("1", {"wide": ["memory.config.tagged.core_feed=1"]}), ("2", {"wide": ["memory.config.tagged.core_feed=2"]})],
        "memory.config.tagged.core_feed",
    ),
    ("conversion, clocks", ends("memory.config.tagged.convert_cycles", 0, 16), "memory.config.tagged.convert_cycles"),
    ("refresh", ends("memory.config.controller.refresh", "none"), "memory.config.controller.refresh"),
    ("rate of the NPU", [("half", {"clock": 0.5}), ("twice", {"clock": 2})], "npu.clock_hz"),
    ("array at the same rates", [("16 x 16", {"clock": 4, "set": SMALL_ARRAY})], "npu.array"),
    ("accumulator, clocks", ends("npu.accumulator_latency_cycles", 1, 16), "npu.accumulator_latency_cycles"),
    ("lanes of the vector unit", ends("npu.vector.lanes", 32, 128), "npu.vector.lanes"),
    ("lanes of the sampling unit", ends("npu.sampling.lanes", 8, 64), "npu.sampling.lanes"),
    (
        "scratchpad, bytes per clock of a port",
        ends("npu.scratchpad.bytes_per_cycle", 128, 512),
        "npu.scratchpad.bytes_per_cycle",
    ),
    ("scratchpad, banks", ends("npu.scratchpad.banks", 16), "npu.scratchpad.banks"),
    ("longest DMA burst, bytes", ends("npu.dma.max_burst_bytes", 1024), "npu.dma.max_burst_bytes"),
    ("DMA bursts in flight", ends("npu.dma.max_outstanding", 32, 512), "npu.dma.max_outstanding"),
    ("DMA, clocks per burst", ends("npu.dma.issue_cycles", 4), "npu.dma.issue_cycles"),
    ("sequencer, clocks per descriptor", ends("npu.sequencer.dispatch_cycles", 1, 16), "npu.sequencer.dispatch_cycles"),
    ("CPU cycles of a descriptor", ends("cpu.work_cycles.descriptor", 0, 1420), "cpu.work_cycles.descriptor"),
    ("CPU cycles of a register access", ends("cpu.register_access_cycles", 1, 60), "cpu.register_access_cycles"),
    (
        "CPU cycles of arithmetic and copies",
        [
            (
                "half",
                {"set": ["cpu.work_cycles.mac=0.15625", "cpu.work_cycles.copy=0.03125", "cpu.work_cycles.rank=12"]},
            ),
            ("twice", {"set": ["cpu.work_cycles.mac=0.625", "cpu.work_cycles.copy=0.125", "cpu.work_cycles.rank=48"]}),
        ],
        "cpu.work_cycles",
    ),
    ("CPU, cache lines under way", ends("cpu.stream.outstanding", 4, 48), "cpu.stream.outstanding"),
    ("bus, ns", ends("bus.latency_ns", 1, 50), "bus.latency_ns"),
    *(
        (
            f"price of {part.replace('_', ' ')}",
            [("half", {"price": {part: 0.5}}), ("twice", {"price": {part: 2}})],
            "energy",
        )
        for part in ENERGY_PARTS
    ),
)

# Choices of the configurations that stay as they are: (paths, why they cannot matter to the gain here).
LEFT_OUT = (
    (
        ("npu.window",),
        "bytes is 0 on these classes: the NPU reaches all memory; on the phone class it decides (break-even --model 8b)",
    ),
    (("npu.vector.functions",), "depths and passes of the vector unit: more passes are what fewer lanes are"),
    (("npu.sampling.latency_cycles",), "once per descriptor; the rate is what lanes vary"),
    (("npu.scratchpad.bytes",), "nothing is evicted from it: the firmware's plan fits or is refused"),
    (("memory.mode",), "stream mode is compared with every command by check"),
    (("cpu.seat", "cpu.rv64"), "the RV64 seat is not used"),
    (("cpu.harts",), "one hart works; what the others take asleep is in the price of the CPU"),
    (
        ("cpu.work_cycles.token", "cpu.work_cycles.commit", "cpu.work_cycles.tensor", "cpu.work_cycles.element"),
        "paid per token, or for arithmetic that the NPU does here: millionths of the time",
    ),
    (("uart",), "nothing is printed"),
    (
        ("energy.mac_pj", "energy.vector_pj", "energy.sampling_pj"),
        "are the price of compute; scratchpad_pj_per_byte is that of sram, npu_static_mw and the memory's standby "
        "that of static, cpu_busy_mw and cpu_idle_mw that of the CPU",
    ),
    (
        ("decode.watchdog_us", "decode.retries", "decode.factor", "decode.edit", "decode.mbsd", "decode.dppr"),
        "off, or without effect as long as nothing fails",
    ),
    (("decode.compression.ffn",), "DAT-FFN on and off is what the configurations differ by"),
)


def listed():
    """Every path that is varied or has a reason not to be."""
    return [path for *_, path in CHOICES if path] + [path for paths, _ in LEFT_OUT for path in paths]
