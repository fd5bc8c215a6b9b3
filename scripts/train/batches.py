"""Training batches: the mask patterns that each model's decode loop shows it.

A step draws its samples from a generator seeded by (seed, step) alone, so a run resumed from a checkpoint sees the same data. Samples are grouped
by length, each group is one forward and backward, and the gradient is that of the whole step.
"""

import dataclasses
import random

import numpy as np
import torch

import model
import tasks
import vocab

NEAR = 8  # masks this close to the first are scored in full when everything before them is known
LATER_WEIGHT = 0.2  # loss of masks beyond the part being decoded: seen as drafts only, and often not yet predictable
LONG_PROMPT = 200  # characters; a few-shot prompt has more, and keeps the short span
SHORT_SAMPLES = {"llada": 20, "qwen2": 36}  # per step; a block-causal sample is shorter and scores fewer rows
FEW_SHOT_SAMPLES = 5  # per step; half have one to three examples, half the full long-prefix length
LONG_SPAN = 0.4  # share of short llada samples with twice the span: the model is to decode 64 and 128 tokens alike
EDITED = 0.3  # share of llada samples in which filled positions are scored too, some of them replaced by a wrong token
WRONG = 0.08  # share of their filled positions replaced
KEPT_ROWS = 0.25  # share of their other filled positions scored, with little weight: they are to be left alone
KEPT_WEIGHT = 0.2
FILL_WEIGHT = 0.2  # loss of end tokens after the first: trivial, they must not drown the answer


@dataclasses.dataclass
class Sample:
    tokens: list  # the model's input, masks included
    rows: list  # rows whose logits are scored
    targets: list
    weights: list


@dataclasses.dataclass
class Group:
    tokens: torch.Tensor  # [B, L]
    bias: torch.Tensor
    rows: torch.Tensor  # flat indices into B*L
    targets: torch.Tensor
    weights: torch.Tensor


def masked_subset(positions, rng):
    """A uniformly random number of the positions, at least one."""
    return set(rng.sample(positions, rng.randint(1, len(positions)))) if positions else set()


def wrong_token(body, right, rng):
    """Another token: of the same answer, as a slip of the decoder would be, or any."""
    token = rng.choice(body) if rng.random() < 0.5 else rng.randrange(vocab.END, vocab.SIZE)
    return token if token != right else rng.randrange(vocab.NEWLINE + 1, vocab.SIZE)


def llada_sample(config, prompt, answer, rng):
    """Blocks before the current one are clean, later ones all masked, as Loop 1 meets them; one in five is masked over the whole span.

    In some samples a few filled tokens are wrong, and what stood there is asked for: what revision and editing need.
    """
    span_length = config.gen_length * (2 if len(prompt) < LONG_PROMPT and rng.random() < LONG_SPAN else 1)
    head = vocab.encode(prompt + vocab.PROMPT_SUFFIX)
    body = vocab.encode(answer)
    content = len(body) + 1  # the first end token is part of the answer
    body += [vocab.END] * (span_length - len(body))
    last_content_block = (content - 1) // config.block
    blocks = span_length // config.block
    whole = rng.random() < 0.2
    # A block that is all end tokens teaches nothing new, so it is rarely the current one.
    current = rng.randint(0, last_content_block) if rng.random() < 0.95 else rng.randrange(blocks)
    begin, stop = (0, span_length) if whole else (current * config.block, (current + 1) * config.block)
    span = range(begin, stop)
    characters, fill = [i for i in span if i < content], [i for i in span if i >= content]
    near = stop
    pattern = rng.random()
    if pattern < 0.1:
        masked = set(span)
    elif pattern < 0.6 and characters:
        # Decoding mostly runs left to right: the answer up to some character, masks from there on.
        first = rng.choice(characters)
        near = first + NEAR
        masked = {i for i in characters if i >= first} | masked_subset(fill, rng)
    else:
        # Content and fill get their own ratios: decoding commits the easy fill long before the hard characters.
        masked = masked_subset(characters, rng) | masked_subset(fill, rng)
    masked |= set(range(stop, span_length))
    tokens = [vocab.MASK if i in masked else t for i, t in enumerate(body)]
    order = sorted(masked)
    weights = [(LATER_WEIGHT if i >= near else 1.0) * (FILL_WEIGHT if i >= content else 1.0) for i in order]
    if rng.random() < EDITED:
        for i in range(stop):
            if i in masked:
                continue
            wrong = rng.random() < WRONG
            if wrong:
                tokens[i] = wrong_token(body[:content], body[i], rng)
            elif rng.random() >= KEPT_ROWS:
                continue
            order.append(i)
            weights.append((1.0 if wrong else KEPT_WEIGHT) * (FILL_WEIGHT if i >= content else 1.0))
    return Sample(head + tokens, [len(head) + i for i in order], [body[i] for i in order], weights)


def fdllm2_sample(config, prompt, answer, rng):
    """Clean blocks up to a random answer block, which is partly masked: what Loop 3 shows when it decodes that block."""
    head = vocab.encode(prompt + vocab.PROMPT_SUFFIX)
    content = len(head) + len(answer) + 1
    width = -(-content // config.block) * config.block
    clean = head + vocab.encode(answer)
    clean += [vocab.END] * (width - len(clean))
    first_block = len(head) // config.block
    current = rng.randrange(first_block, width // config.block)
    begin, stop = current * config.block, (current + 1) * config.block
    # Offset 0 of a decoded block is always a real token: the last prompt token or the previous block's next-token prediction.
    maskable = [i for i in range(max(begin + 1, len(head)), stop)]
    near = stop
    if rng.random() < 0.7 and maskable:
        # Sub-blocks in order: earlier ones filled, the current one partly, later ones all masked.
        sub_begin = begin + (rng.choice(maskable) - begin) // config.sub_block * config.sub_block
        near = sub_begin + config.sub_block
        masked = masked_subset([i for i in maskable if sub_begin <= i < near], rng) | {i for i in maskable if i >= near}
    else:
        masked = masked_subset(maskable, rng)
    order = sorted(masked)
    rows, targets = [i - 1 for i in order], [clean[i] for i in order]
    weights = [(LATER_WEIGHT if i >= near else 1.0) * (FILL_WEIGHT if i >= content else 1.0) for i in order]
    # The last row of a finished block predicts the next block's first token, from the block before the answer on.
    for border in range(max(first_block, 1) * config.block, begin + 1, config.block):
        if border >= len(head):
            rows.append(border - 1)
            targets.append(clean[border])
            weights.append(1.0)
    tokens = [vocab.MASK if i in masked else t for i, t in enumerate(clean[:stop])]
    return Sample(tokens, rows, targets, weights)


SAMPLERS = {"llada": llada_sample, "qwen2": fdllm2_sample}


def collate(config, samples):
    width = max(len(s.tokens) for s in samples)
    tokens = np.full((len(samples), width), vocab.PAD, dtype=np.int64)
    rows, targets, weights = [], [], []
    for n, sample in enumerate(samples):
        tokens[n, : len(sample.tokens)] = sample.tokens
        rows += [n * width + row for row in sample.rows]
        targets += sample.targets
        weights += sample.weights
    if config.block_causal:
        bias = model.block_causal_bias(width, config.block)
    else:
        bias = model.padding_bias([len(s.tokens) for s in samples], width)
    return Group(torch.from_numpy(tokens), bias, torch.tensor(rows), torch.tensor(targets), torch.tensor(weights))


def step_groups(config, seed, step, mixture, group_tokens=2600):
    """The groups of one optimiser step. mixture: {task: weight}."""
    rng = random.Random(f"{seed}/{step}")
    names, weights = list(mixture), list(mixture.values())
    make = SAMPLERS[config.arch]

    def one(draw):
        return make(config, *draw(rng.choices(names, weights)[0]), rng)

    samples = [one(lambda task: tasks.draw(task, rng)) for _ in range(SHORT_SAMPLES[config.arch])]
    for _ in range(FEW_SHOT_SAMPLES):
        full = rng.random() < 0.5
        samples.append(one(lambda task: tasks.long_sample(task, rng) if full else tasks.with_shots(task, rng, rng.randint(1, 3))))
    samples.sort(key=lambda s: len(s.tokens))
    groups, pending = [], []
    for sample in samples:
        # A new group starts when this one is full or when the next sample is so much longer that padding would cost more than a group.
        if pending and ((len(pending) + 1) * len(sample.tokens) > group_tokens or len(sample.tokens) > 1.5 * len(pending[0].tokens)):
            groups.append(collate(config, pending))
            pending = []
        pending.append(sample)
    groups.append(collate(config, pending))
    return groups
