"""Turns a checkpoint into a GGUF file with llama.cpp's tensor and key names."""

import argparse
import os

import numpy as np
import torch

import gguf
import vocab
from model import CONFIGS

NORMAL, CONTROL = 1, 3  # token types


def byte_level(token):
    """GPT-2's printable spelling of a token: the space and the newline byte have stand-ins, the rest spell themselves."""
    return {" ": "\u0120", "\n": "\u010a"}.get(token, token)


def half_split_rows(matrix, head):
    """Reorders interleaved rotary rows (2i, 2i+1) of each head to the pairing (i, i + head/2)."""
    shape = matrix.shape
    return matrix.reshape(-1, head // 2, 2, *shape[1:]).swapaxes(1, 2).reshape(shape)


def tensors(config, state):
    """(name, FP32 array) in file order."""
    arrays = {k: v.float().numpy() for k, v in state.items()}
    c = config
    bounds = np.cumsum([c.embed, c.kv_heads * c.head])
    # Architecture qwen2 pairs rotary elements half a head apart, llada pairs neighbours.
    rotary = (lambda m: half_split_rows(m, c.head)) if c.arch == "qwen2" else (lambda m: m)
    out = [("token_embd.weight", arrays["embedding"])]
    for layer in range(c.layers):
        prefix = f"blk.{layer}."
        q, k, v = np.split(arrays[f"qkv.{layer}"], bounds)
        gate, up = np.split(arrays[f"gate_up.{layer}"], 2)
        out += [(prefix + "attn_norm.weight", arrays[f"attn_norm.{layer}"])]
        out += [(prefix + "attn_q.weight", rotary(q)), (prefix + "attn_k.weight", rotary(k)), (prefix + "attn_v.weight", v)]
        if c.qkv_bias:
            q, k, v = np.split(arrays[f"qkv_bias.{layer}"], bounds)
            out += [(prefix + "attn_q.bias", rotary(q)), (prefix + "attn_k.bias", rotary(k)), (prefix + "attn_v.bias", v)]
        out += [
            (prefix + "attn_output.weight", arrays[f"out.{layer}"]),
            (prefix + "ffn_norm.weight", arrays[f"ffn_norm.{layer}"]),
            (prefix + "ffn_gate.weight", gate),
            (prefix + "ffn_up.weight", up),
            (prefix + "ffn_down.weight", arrays[f"down.{layer}"]),
        ]
    out.append(("output_norm.weight", arrays["output_norm"]))
    if not c.tied:
        out.append(("output.weight", arrays["head"]))
    return out


def metadata(config, quantised):
    c, a = config, config.arch
    S, U, F, B = gguf.STRING, gguf.U32, gguf.FLOAT, gguf.BOOL
    kinds = [CONTROL] * vocab.NEWLINE + [NORMAL] * (vocab.SIZE - vocab.NEWLINE)
    out = [
        ("general.architecture", S, a),
        ("general.name", S, c.name),
        ("general.alignment", U, gguf.ALIGNMENT),
        ("general.file_type", U, 7 if quantised else 0),  # llama.cpp's "mostly Q8_0" and "all F32"
        ("general.quantization_version", U, 2),
        (f"{a}.vocab_size", U, vocab.SIZE),
        (f"{a}.context_length", U, c.context),
        (f"{a}.embedding_length", U, c.embed),
        (f"{a}.block_count", U, c.layers),
        (f"{a}.feed_forward_length", U, c.ffn),
        (f"{a}.attention.head_count", U, c.heads),
        (f"{a}.attention.head_count_kv", U, c.kv_heads),
        (f"{a}.attention.layer_norm_rms_epsilon", F, c.eps),
        (f"{a}.rope.freq_base", F, c.rope_base),
        (f"{a}.rope.dimension_count", U, c.head),
    ]
    if not c.block_causal:
        out.append((f"{a}.attention.causal", B, False))
    out += [
        ("diffusion.shift_logits", B, c.block_causal),
        ("tokenizer.ggml.model", S, "gpt2"),
        ("tokenizer.ggml.pre", S, "default"),
        ("tokenizer.ggml.tokens", (gguf.ARRAY, S), [byte_level(t) for t in vocab.TOKENS]),
        ("tokenizer.ggml.token_type", (gguf.ARRAY, gguf.I32), kinds),
        ("tokenizer.ggml.merges", (gguf.ARRAY, S), []),  # every token is one character: nothing merges
        ("tokenizer.ggml.mask_token_id", U, vocab.MASK),
        ("tokenizer.ggml.eos_token_id", U, vocab.END),
        ("tokenizer.ggml.padding_token_id", U, vocab.PAD),
        ("tokenizer.ggml.add_bos_token", B, False),
        ("dllm.block_length", U, c.block),
        ("dllm.gen_length", U, c.gen_length),
        ("dllm.threshold", F, c.threshold),
        ("dllm.prompt_suffix", S, vocab.PROMPT_SUFFIX),
    ]
    out += [("dllm.sub_block_length", U, c.sub_block)] if c.block_causal else [("dllm.steps", U, c.steps)]
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", choices=CONFIGS)
    parser.add_argument("--checkpoint", required=True)
    parser.add_argument("--out", required=True, help="folder; the file is named after the model")
    parser.add_argument("--f32", action="store_true", help="keep matrices in FP32, for comparisons without quantisation")
    args = parser.parse_args()
    config = CONFIGS[args.model]
    state = torch.load(args.checkpoint, map_location="cpu")["network"]
    data = gguf.build(metadata(config, not args.f32), tensors(config, state), not args.f32)
    path = os.path.join(args.out, config.name + ("-f32" if args.f32 else "") + ".gguf")
    with open(path, "wb") as file:
        file.write(data)
    print(f"{path}: {len(data)} bytes")


if __name__ == "__main__":
    main()
