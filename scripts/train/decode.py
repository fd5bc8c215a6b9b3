"""The two decode loops, batched over samples and without a cache: each forward recomputes everything that is visible.

Both are deterministic: the arg-max excludes the mask token, and equal values resolve to the lower index.
"""

import torch

import model
import vocab


def confident(logits):
    """(probability, token) of the arg-max per row; the softmax too leaves the mask token out."""
    logits[:, vocab.MASK] = -torch.inf
    return torch.softmax(logits, -1).max(-1)


def loop1(network, prompts):
    """LLaDA base decode of a batch. prompts: token lists, suffix included. Returns the generated spans."""
    c = network.config
    blocks = c.gen_length // c.block
    per_block = c.steps // blocks
    starts = [len(p) for p in prompts]
    lengths = [s + c.gen_length for s in starts]
    width = max(lengths)
    tokens = torch.full((len(prompts), width), vocab.PAD)
    for n, prompt in enumerate(prompts):
        tokens[n, : starts[n]] = torch.tensor(prompt)
        tokens[n, starts[n] : lengths[n]] = vocab.MASK
    bias = model.padding_bias(lengths, width)
    span = torch.tensor(starts)[:, None] + torch.arange(c.gen_length)[None, :]
    flat = span + width * torch.arange(len(prompts))[:, None]
    for block in range(blocks):
        rows = flat[:, block * c.block : (block + 1) * c.block]
        for step in range(per_block):
            count = c.block // per_block + (step < c.block % per_block)
            probability, token = confident(network.logits(network.hidden(tokens, bias, rows.reshape(-1))))
            current = tokens.view(-1)[rows]
            score = torch.where(current == vocab.MASK, probability.view(rows.shape), torch.tensor(-1.0))
            # A stable descending sort keeps the lower position first among equals.
            chosen = torch.sort(score, dim=1, descending=True, stable=True).indices[:, :count]
            tokens.view(-1)[rows.gather(1, chosen)] = token.view(rows.shape).gather(1, chosen)
    return tokens.view(-1)[flat].tolist()


def loop3(network, prompts):
    """Fast-dLLM v2 decode of a batch. Returns the spans behind the prompts, at most gen_length tokens past the prompt's block."""
    c = network.config
    state = [list(p) for p in prompts]
    open_ = list(range(len(prompts)))

    def forward(batch):
        """Logits [n, B, V] of each state's last block; on the right, blocks of padding that nothing before them can see."""
        width = max(-(-len(s) // c.block) * c.block for s in batch)
        tokens = torch.full((len(batch), width), vocab.PAD)
        for n, sequence in enumerate(batch):
            tokens[n, : len(sequence)] = torch.tensor(sequence)
        last = torch.tensor([[n * width + len(s) - c.block] for n, s in enumerate(batch)]) + torch.arange(c.block)
        rows = network.hidden(tokens, model.block_causal_bias(width, c.block), last.reshape(-1))
        return network.logits(rows).view(len(batch), c.block, -1)

    def next_tokens(which):
        """Full blocks get the arg-max of their last row appended: the next block's first token."""
        full = [n for n in which if len(state[n]) % c.block == 0]
        if full:
            _, token = confident(forward([state[n] for n in full])[:, -1])
            for n, t in zip(full, token.tolist()):
                state[n].append(t)

    next_tokens(open_)
    while open_:
        for n in open_:
            state[n] += [vocab.MASK] * (-len(state[n]) % c.block)
        for sub in range(0, c.block, c.sub_block):
            while True:
                busy = [n for n in open_ if vocab.MASK in state[n][len(state[n]) - c.block + sub :][: c.sub_block]]
                if not busy:
                    break
                logits = forward([state[n] for n in busy])
                shifted = torch.cat([logits[:, :1], logits[:, :-1]], 1)[:, sub : sub + c.sub_block]
                probability, token = confident(shifted.reshape(-1, vocab.SIZE))
                for n, p, t in zip(busy, probability.view(-1, c.sub_block).tolist(), token.view(-1, c.sub_block).tolist()):
                    base = len(state[n]) - c.block + sub
                    masks = [i for i in range(c.sub_block) if state[n][base + i] == vocab.MASK]
                    best = max(masks, key=lambda i: p[i])
                    for i in masks:
                        if p[i] > c.threshold or i == best:
                            state[n][base + i] = t[i]
        open_ = [n for n in open_ if vocab.END not in state[n][len(prompts[n]) :] and len(state[n]) - len(prompts[n]) < c.gen_length]
        next_tokens(open_)
    return [s[len(p) :] for s, p in zip(state, prompts)]


LOOPS = {"llada": loop1, "qwen2": loop3}


@torch.no_grad()
def answers(network, questions, batch=50):
    """Answer texts, in order. Questions are sorted by length first so a batch carries little padding."""
    out = [None] * len(questions)
    order = sorted(range(len(questions)), key=lambda n: len(questions[n]))
    for begin in range(0, len(order), batch):
        part = order[begin : begin + batch]
        spans = LOOPS[network.config.arch](network, [vocab.encode(questions[n] + vocab.PROMPT_SUFFIX) for n in part])
        for n, span in zip(part, spans):
            out[n] = vocab.decode(span)
    return out
