"""The arithmetic of scripts/calibrate: GPTQ, narrow views of codes, corrections, and what the network sees while it decodes."""

import json
import pathlib
from typing import NamedTuple

import numpy as np

SPEC = pathlib.Path(__file__).resolve().parents[2] / "gen/spec"


def _spec(path):
    return json.loads((SPEC / path).read_text())


def constant(path, name):
    """A constant of a format in gen/spec."""
    return next(c["value"] for c in _spec(path)["constants"] if c["name"] == name)


def _view_register():
    """(first bit of every field, values of the modes) of the converter's view descriptor."""
    block = _spec("blocks/converter.json")
    fields = block["register_arrays"][0]["registers"][0]["fields"]
    modes = next(e["values"] for e in block["enums"] if e["name"] == "view_mode")
    return {f["name"]: int(f["bits"].split(":")[1]) for f in fields}, {m["name"]: m["value"] for m in modes}


VIEW_FIELDS, VIEW_MODES = _view_register()


def gptq(weight, moments, scale_of, damping=0.01):
    """Codes of weight [rows, columns], columns ascending, each column's rounding error spread over the columns behind it.

    moments: [columns, columns], sum of the inputs' outer products. scale_of(column, values): scales [rows] or a number. (Frantar et al.,
    "GPTQ", arXiv 2210.17323, algorithm 1 with blocks of one column.) Returns (codes int8, scales FP32 [rows, columns]).
    """
    columns = weight.shape[1]
    damped = moments + np.eye(columns) * (damping * np.trace(moments) / columns + 1e-12)
    # Upper Cholesky factor of the inverse: row j holds what column j passes on.
    passes = np.linalg.cholesky(np.linalg.inv(damped)).T
    rest = weight.astype(np.float64).copy()
    codes = np.zeros(weight.shape, np.int8)
    scales = np.zeros(weight.shape, np.float32)
    for j in range(columns):
        scale = np.broadcast_to(scale_of(j, rest[:, j]), rest[:, j].shape).astype(np.float32)
        steps = np.divide(rest[:, j], scale, out=np.zeros_like(rest[:, j]), where=scale > 0)
        codes[:, j] = np.clip(np.rint(steps), -127, 127)
        scales[:, j] = scale
        error = (rest[:, j] - codes[:, j] * scale) / passes[j, j]
        rest[:, j:] -= np.outer(error, passes[j, j:])
    return codes, scales


def rne_shift(q, shift):
    return np.rint(q / 2.0**shift)


def convert(view, q):
    """Delivered codes of int8 codes; the formulas of tlm/numerics/converter.h."""
    q = q.astype(np.int32)
    p = view["precision"]
    if view["mode"] == "midpoint":
        return q >> (8 - p)
    if p == 4:
        clipped = np.clip(q, -view["clip"], view["clip"])
        return np.clip(rne_shift(clipped, view["shift"]), -8, 7).astype(np.int32)
    return (q > view["threshold"]).astype(np.int32) - (q < -view["threshold"])


def delivered_value(view, q):
    """What the array multiplies: the middle of a midpoint code's range, else the bare code."""
    t = convert(view, q)
    if view["mode"] == "midpoint":
        return (t << (8 - view["precision"])) + (1 << (7 - view["precision"]))
    return t


def candidates(precision):
    yield {"precision": precision, "mode": "midpoint", "clip": 127, "shift": 4, "threshold": 32}
    if precision == 4:
        for clip in (127, 112, 96, 80, 64):
            yield {"precision": 4, "mode": "fitted", "clip": clip, "shift": 4, "threshold": 32}
        yield {"precision": 4, "mode": "fitted", "clip": 60, "shift": 3, "threshold": 32}
    else:
        for threshold in range(12, 64, 4):
            yield {"precision": 2, "mode": "fitted", "clip": 127, "shift": 4, "threshold": threshold}


def register_value(view):
    fields = {**view, "mode": VIEW_MODES[view["mode"]]}
    return sum(fields[name] << first for name, first in VIEW_FIELDS.items())


def fit_scales(weight, values, importance, group):
    """Least squares per row and group of columns: FP16 scales [rows, groups] for values, errors weighted by importance [columns]."""
    rows, columns = weight.shape
    w = weight.reshape(rows, columns // group, group)
    v = values.reshape(w.shape).astype(np.float64)
    h = importance.reshape(1, columns // group, group)
    power = (h * v * v).sum(-1)
    return np.divide((h * w * v).sum(-1), power, out=np.zeros_like(power), where=power > 0).astype(np.float16)


def expand(scales, values):
    rows, columns = values.shape
    return (scales.astype(np.float32)[..., None] * values.reshape(rows, scales.shape[1], -1)).reshape(rows, columns)


def low_rank(difference, moments, rank):
    """left [rows, rank], right [rank, columns]: nearest to difference in the metric of the inputs' moments."""
    columns = difference.shape[1]
    root = np.linalg.cholesky(moments + np.eye(columns) * (1e-4 * np.trace(moments) / columns + 1e-12))
    u, s, v = np.linalg.svd(difference @ root, full_matrices=False)
    return u[:, :rank] * s[:rank], np.linalg.solve(root.T, v[:rank].T).T


def output_error(difference, moments):
    """Mean square of what a difference of weights makes of inputs with such moments."""
    return float(np.einsum("ij,jk,ik->", difference, moments, difference))


def bf16(array):
    bits = np.ascontiguousarray(array, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


class Seen(NamedTuple):
    """What one layer sees of a sequence."""

    inputs: np.ndarray       # of gate and up [rows, width]
    activations: np.ndarray  # of down [rows, ffn]
    attention: np.ndarray    # [heads, rows, rows]
    keys: np.ndarray         # before rotation [rows, kv_heads, head]
    values: np.ndarray       # likewise


class Network:
    """Forwards of a block-causal model in FP32, for what its layers see."""

    def __init__(self, reader):
        meta = reader.metadata
        self.layers = meta["qwen2.block_count"]
        self.heads = meta["qwen2.attention.head_count"]
        self.kv_heads = meta["qwen2.attention.head_count_kv"]
        self.epsilon = meta["qwen2.attention.layer_norm_rms_epsilon"]
        self.rope_base = meta["qwen2.rope.freq_base"]
        self.block = meta["dllm.block_length"]
        self.embedding = reader.matrix("token_embd.weight")
        self.width = self.embedding.shape[1]
        self.weights = []
        for n in range(self.layers):
            layer = {}
            for name in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"):
                layer[name] = reader.matrix(f"blk.{n}.{name}.weight")
            for name in ("attn_norm", "ffn_norm"):
                layer[name] = reader.vector(f"blk.{n}.{name}.weight")
            for name in ("attn_q", "attn_k", "attn_v"):
                layer[name + "_bias"] = reader.vector(f"blk.{n}.{name}.bias")
            self.weights.append(layer)

    def _norm(self, x, weight):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + self.epsilon) * weight

    def _rotate(self, x):
        half = x.shape[-1] // 2
        angle = np.arange(x.shape[0])[:, None] * self.rope_base ** (-np.arange(half) / half)
        c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
        a, b = x[..., :half], x[..., half:]
        return np.concatenate([a * c - b * s, a * s + b * c], -1)

    def inputs(self, tokens):
        """[Seen] by layer."""
        x = self.embedding[tokens]
        n = len(tokens)
        number = np.arange(n) // self.block
        hidden = number[None, :] > number[:, None]
        seen = []
        for w in self.weights:
            normed = self._norm(x, w["attn_norm"])
            head = w["attn_q"].shape[0] // self.heads
            q = self._rotate((normed @ w["attn_q"].T + w["attn_q_bias"]).reshape(n, self.heads, head))
            keys = (normed @ w["attn_k"].T + w["attn_k_bias"]).reshape(n, self.kv_heads, head)
            k = self._rotate(keys)
            v = (normed @ w["attn_v"].T + w["attn_v_bias"]).reshape(n, self.kv_heads, head)
            shared = np.arange(self.heads) // (self.heads // self.kv_heads)
            logits = np.einsum("ihd,jhd->hij", q, k[:, shared]) / np.sqrt(head)
            logits[:, hidden] = -np.inf
            p = np.exp(logits - logits.max(-1, keepdims=True))
            p /= p.sum(-1, keepdims=True)
            mixed = np.einsum("hij,jhd->ihd", p, v[:, shared]).reshape(n, -1)
            x = x + mixed @ w["attn_output"].T
            normed = self._norm(x, w["ffn_norm"])
            gate = normed @ w["ffn_gate"].T
            activation = gate / (1 + np.exp(-gate)) * (normed @ w["ffn_up"].T)
            x = x + activation @ w["ffn_down"].T
            seen.append(Seen(normed, activation, p, keys, v))
        return seen
