"""Trains one model: warm-up, constant rate, then a long linear decay to zero; evaluates and saves checkpoints on the way."""

import argparse
import os
import random
import time

import torch
import torch.nn.functional as F

import batches
import decode
import tasks
from model import CONFIGS, Model
from muon import Muon

WARMUP = 300
PEAK_RATE = {"muon": 0.01, "adam": 2e-3}
INNER = ("qkv", "out", "gate_up", "down")  # the parameters Muon takes
DECAY_PART = 0.9  # of all steps, at the end
SAMPLES_PER_PROBE = 12  # of each length
SAVE_EVERY = 100  # steps
# The first mixture; each probe then moves weight to the tasks that still fail.
START_MIXTURE = {"arith": 0.3, "math": 0.2, "code": 0.2, "struct": 0.15, "follow": 0.15}


def rate(step, steps):
    """Share of the peak rate."""
    decay = int(steps * DECAY_PART)
    return min((step + 1) / WARMUP, 1.0, max(steps - step, 0) / decay)


def probe(network, seed, step):
    """Exact match per task on a few fresh training-side samples, half of them long-prefix ones; held-out samples are not used."""
    rng = random.Random(f"probe/{seed}/{step}")
    scores = {}
    for task in tasks.TASKS:
        pairs = [draw(task, rng) for draw in (tasks.draw, tasks.long_sample) for _ in range(SAMPLES_PER_PROBE)]
        got = decode.answers(network, [p for p, _ in pairs])
        scores[task] = sum(g == a for g, (_, a) in zip(got, pairs)) / len(pairs)
    return scores


def mixture_from(scores):
    weights = {task: 0.15 + (1 - score) for task, score in scores.items()}
    total = sum(weights.values())
    return {task: weight / total for task, weight in weights.items()}


def train_step(network, groups):
    """Accumulates the gradient of the step's weighted mean loss; returns the loss."""
    total = sum(float(g.weights.sum()) for g in groups)
    loss_sum = 0.0
    for group in groups:
        logits = network.logits(network.hidden(group.tokens, group.bias, group.rows))
        losses = F.cross_entropy(logits, group.targets, reduction="none")
        loss = (losses * group.weights).sum() / total
        loss.backward()
        loss_sum += float(loss)
    return loss_sum


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", choices=CONFIGS)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--out", required=True, help="folder of the checkpoint; an existing one is resumed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--probe-every", type=int, default=500)
    parser.add_argument("--init", help="checkpoint whose weights to begin with, its optimiser state left aside")
    parser.add_argument("--peak", type=float, default=1.0, help="share of the peak rate that is reached")
    args = parser.parse_args()

    torch.set_num_threads(1)
    network = Model(CONFIGS[args.model], args.seed)
    inner = [p for name, p in network.named_parameters() if name.split(".")[0] in INNER]
    rest = [p for name, p in network.named_parameters() if name.split(".")[0] not in INNER]
    optimizers = {"muon": Muon(inner), "adam": torch.optim.AdamW(rest, betas=(0.9, 0.98), weight_decay=0.0, foreach=True)}
    path = os.path.join(args.out, "checkpoint.pt")
    step, seconds, mixture = 0, 0.0, START_MIXTURE
    if args.init:
        network.load_state_dict(torch.load(args.init)["network"])
    if os.path.exists(path):
        saved = torch.load(path)
        network.load_state_dict(saved["network"])
        for name, optimizer in optimizers.items():
            optimizer.load_state_dict(saved[name])
        step, seconds, mixture = saved["step"], saved["seconds"], saved["mixture"]
    os.makedirs(args.out, exist_ok=True)

    began, tokens, smooth = time.time() - seconds, 0, None
    print(f"{args.model}: {sum(p.numel() for p in network.parameters())} parameters, from step {step} of {args.steps}", flush=True)
    while step < args.steps:
        for name, optimizer in optimizers.items():
            for group in optimizer.param_groups:
                group["lr"] = PEAK_RATE[name] * args.peak * rate(step, args.steps)
        groups = batches.step_groups(network.config, args.seed, step, mixture)
        network.zero_grad(set_to_none=True)
        loss = train_step(network, groups)
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        for optimizer in optimizers.values():
            optimizer.step()
        step += 1
        tokens += sum(g.tokens.numel() for g in groups)
        smooth = loss if smooth is None else 0.98 * smooth + 0.02 * loss
        seconds = time.time() - began
        if step % 100 == 0:
            print(f"step {step} loss {smooth:.4f} rate {rate(step, args.steps):.2f} {seconds:.0f} s {tokens / 1e6:.1f} M tokens", flush=True)
        if step % args.probe_every == 0 or step == args.steps:
            scores = probe(network, args.seed, step)
            mixture = mixture_from(scores)
            print(f"probe {step} " + " ".join(f"{t} {s:.3f}" for t, s in scores.items()) + f" ({time.time() - began - seconds:.0f} s)", flush=True)
        if step % SAVE_EVERY == 0 or step == args.steps:
            seconds = time.time() - began
            state = {"network": network.state_dict(), "step": step, "seconds": seconds, "mixture": mixture}
            torch.save({**state, **{name: optimizer.state_dict() for name, optimizer in optimizers.items()}}, path + ".new")
            os.replace(path + ".new", path)  # a reader never sees half a file


if __name__ == "__main__":
    main()
