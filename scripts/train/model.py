"""The two transformer shapes, written for fast training on a CPU that has BF16 matrix instructions.

Matrix products run in BF16; the residual stream, norms, softmax, loss and master weights stay FP32. Rotary pairs are interleaved (2i, 2i+1) in
both models while training; the exporter reorders rows for the architecture whose file format pairs (i, i + 16).

Shapes: B samples, L positions, D embedding, H heads, K key/value heads, R = H / K, E = D / H.
"""

import dataclasses
import math

import torch
import torch.nn.functional as F

import kernels
import vocab

HIDDEN_FROM = -1e9  # attention bias of an invisible position; finite, so a row without any visible key stays a number


@dataclasses.dataclass(frozen=True)
class Config:
    name: str
    arch: str  # GGUF architecture
    kv_heads: int
    eps: float
    qkv_bias: bool
    tied: bool
    gen_length: int = 64
    steps: int = 0  # Loop 1 only
    embed: int = 128
    layers: int = 6
    heads: int = 4
    ffn: int = 384
    context: int = 1024
    rope_base: float = 10000.0
    block: int = 32
    sub_block: int = 8
    threshold: float = 0.9

    @property
    def head(self):
        return self.embed // self.heads

    @property
    def block_causal(self):
        return self.arch == "qwen2"


CONFIGS = {
    "llada": Config("tiny-llada", "llada", kv_heads=4, eps=1e-5, qkv_bias=False, tied=False, steps=64),
    "fdllm2": Config("tiny-fdllm2", "qwen2", kv_heads=2, eps=1e-6, qkv_bias=True, tied=True),
}


class Model(torch.nn.Module):
    def __init__(self, config, seed=0):
        super().__init__()
        self.config = config
        generator = torch.Generator().manual_seed(seed)
        c = config
        qkv = c.embed + 2 * c.kv_heads * c.head

        def matrix(rows, columns, std):
            return torch.nn.Parameter(torch.randn(rows, columns, generator=generator) * std)

        def per_layer(make):
            return torch.nn.ParameterList(make() for _ in range(c.layers))

        std = 1 / math.sqrt(c.embed)
        residual_std = std / math.sqrt(2 * c.layers)
        self.embedding = matrix(vocab.SIZE, c.embed, std if c.tied else 0.5)
        self.qkv = per_layer(lambda: matrix(qkv, c.embed, std))
        self.qkv_bias = per_layer(lambda: torch.nn.Parameter(torch.zeros(qkv))) if c.qkv_bias else None
        self.out = per_layer(lambda: matrix(c.embed, c.embed, residual_std))
        self.gate_up = per_layer(lambda: matrix(2 * c.ffn, c.embed, std))
        self.down = per_layer(lambda: matrix(c.embed, c.ffn, residual_std))
        self.attn_norm = per_layer(lambda: torch.nn.Parameter(torch.ones(c.embed)))
        self.ffn_norm = per_layer(lambda: torch.nn.Parameter(torch.ones(c.embed)))
        self.output_norm = torch.nn.Parameter(torch.ones(c.embed))
        self.head = None if c.tied else matrix(vocab.SIZE, c.embed, std)

        angles = torch.outer(torch.arange(c.context).double(), c.rope_base ** (-torch.arange(0, c.head, 2).double() / c.head))
        self.turns = torch.stack([angles.cos(), angles.sin()], -1).flatten(1).float()

    def attend(self, layer, h, bias):
        """Mixed values [B*L, D] of normed rows h [B*L, D]."""
        c = self.config
        length = bias.shape[-1]
        shift = self.qkv_bias[layer].bfloat16() if c.qkv_bias else None
        qkv = F.linear(h, self.qkv[layer].bfloat16(), shift).view(-1, length, c.heads + 2 * c.kv_heads, c.head)
        return kernels.Attention.apply(qkv, bias, self.turns, c.heads).view(-1, c.embed)

    def hidden(self, tokens, bias, rows):
        """Final normed rows in BF16, [len(rows), D]; rows are flat indices into B*L.

        tokens [B, L]; bias [B or 1, 1 or L, L] is added to the scores.
        """
        x = self.embedding[tokens.reshape(-1)]
        for layer in range(self.config.layers):
            h = kernels.RmsNorm.apply(x, self.attn_norm[layer], self.config.eps)
            mixed = self.attend(layer, h, bias)
            if layer == self.config.layers - 1:  # behind the last attention no row looks at another: only the wanted ones go on
                x, mixed = x.index_select(0, rows), mixed.index_select(0, rows)
            x = x + mixed @ self.out[layer].bfloat16().t()
            h = kernels.RmsNorm.apply(x, self.ffn_norm[layer], self.config.eps)
            h = kernels.SwiGlu.apply(h @ self.gate_up[layer].bfloat16().t())
            x = x + h @ self.down[layer].bfloat16().t()
        return kernels.RmsNorm.apply(x, self.output_norm, self.config.eps)

    def logits(self, rows):
        head = self.embedding if self.head is None else self.head
        return (rows @ head.bfloat16().t()).float()


def padding_bias(lengths, width):
    """Full attention over each sample's own positions: [B, 1, width]."""
    return torch.where(torch.arange(width)[None, :] < torch.as_tensor(lengths)[:, None], 0.0, HIDDEN_FROM)[:, None, :]


def block_causal_bias(width, block):
    """Everything in the own block and in earlier blocks is visible: [1, width, width]."""
    index = torch.arange(width) // block
    return torch.where(index[None, :] <= index[:, None], 0.0, HIDDEN_FROM)[None]
