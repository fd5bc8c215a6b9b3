"""Compiles kernels.c for this machine on first use and wraps it in autograd functions."""

import ctypes
import hashlib
import os
import subprocess
import tempfile

import torch

# No NaN or infinity occurs in these passes; saying so lets the compiler vectorise their comparisons and exponentials.
VECTORISE = "-fopenmp-simd -mprefer-vector-width=512 -fno-math-errno -fno-trapping-math -ffinite-math-only -fno-signed-zeros"
FLAGS = ["-O3", "-march=native", *VECTORISE.split(), "-shared", "-fPIC"]


def load():
    here = os.path.dirname(os.path.abspath(__file__))
    source = os.path.join(here, "kernels.c")
    with open(source, "rb") as file:
        tag = hashlib.sha256(file.read() + " ".join(FLAGS).encode()).hexdigest()[:16]
    path = os.path.join(tempfile.gettempdir(), f"train-kernels-{tag}.so")
    if not os.path.exists(path):
        fresh = f"{path}.{os.getpid()}"
        subprocess.run(["cc", *FLAGS, source, "-o", fresh, "-lm"], check=True)
        os.replace(fresh, path)
    return ctypes.CDLL(path)


LIBRARY = load()


def call(name, *arguments):
    """Tensors pass as pointers (contiguous, checked), floats as FP32, the rest as long."""

    def convert(a):
        if isinstance(a, torch.Tensor):
            assert a.is_contiguous()
            return ctypes.c_void_p(a.data_ptr())
        return ctypes.c_float(a) if isinstance(a, float) else ctypes.c_long(a)

    getattr(LIBRARY, name)(*map(convert, arguments))


class RmsNorm(torch.autograd.Function):
    """x [N, D] FP32 and gain [D] to BF16."""

    @staticmethod
    def forward(ctx, x, gain, eps):
        y, scale = torch.empty_like(x, dtype=torch.bfloat16), x.new_empty(len(x))
        call("rms_norm", x, gain, eps, y, scale, *x.shape)
        ctx.save_for_backward(x, gain, scale)
        return y

    @staticmethod
    def backward(ctx, grad):
        x, gain, scale = ctx.saved_tensors
        x_grad, gain_grad = torch.empty_like(x), torch.zeros_like(gain)
        call("rms_norm_grad", grad.contiguous(), x, gain, scale, x_grad, gain_grad, *x.shape)
        return x_grad, gain_grad, None


class SwiGlu(torch.autograd.Function):
    """gate_up [N, 2F] BF16 to silu(gate) * up [N, F]."""

    @staticmethod
    def forward(ctx, gate_up):
        ctx.save_for_backward(gate_up)
        y = gate_up.new_empty(len(gate_up), gate_up.shape[1] // 2)
        call("swiglu", gate_up, y, *y.shape)
        return y

    @staticmethod
    def backward(ctx, grad):
        (gate_up,) = ctx.saved_tensors
        out = torch.empty_like(gate_up)
        call("swiglu_grad", gate_up, grad.contiguous(), out, *grad.shape)
        return out


class Attention(torch.autograd.Function):
    """Rotary attention over qkv [B, L, H + 2K, E] BF16, with a score bias [B or 1, L or 1, L]; returns [B, L, H*E]."""

    @staticmethod
    def forward(ctx, qkv, bias, turns, heads):
        batch, length, total, width = qkv.shape
        kv = (total - heads) // 2
        sizes = (batch, length, heads, kv, width)
        # Heads that share keys become extra rows of one product, so grouped-query attention needs no copied keys.
        q = qkv.new_empty(batch * kv, heads // kv * length, width)
        k, v = (qkv.new_empty(batch * kv, length, width) for _ in range(2))
        call("split_heads", qkv, turns, width**-0.5, q, k, v, *sizes)
        weights = torch.bmm(q, k.transpose(1, 2))
        call("softmax", weights, bias, batch * kv, q.shape[1], length, batch * kv // len(bias), bias.shape[1])
        ctx.save_for_backward(q, k, v, weights, turns)
        ctx.sizes = sizes
        return torch.bmm(weights, v).view(batch, heads, length, width).transpose(1, 2).reshape(batch, length, -1)

    @staticmethod
    def backward(ctx, grad):
        q, k, v, weights, turns = ctx.saved_tensors
        batch, length, heads, kv, width = ctx.sizes
        grad = grad.view(batch, length, heads, width).transpose(1, 2).reshape(q.shape)
        v_grad = torch.bmm(weights.transpose(1, 2), grad)
        scores = torch.bmm(grad, v.transpose(1, 2))
        call("softmax_grad", scores, weights, weights.shape[0] * weights.shape[1], length)
        q_grad, k_grad = torch.bmm(scores, k), torch.bmm(scores.transpose(1, 2), q)
        out = grad.new_empty(batch, length, heads + 2 * kv, width)
        call("split_heads_grad", q_grad, k_grad, v_grad, turns, width**-0.5, out, *ctx.sizes)
        return out, None, None, None
