"""Character vocabulary: four control tokens, then the printable ASCII characters."""

PAD, MASK, END, NEWLINE = 0, 1, 2, 3
FIRST_PRINTABLE = 4
TOKENS = ["<|pad|>", "<|mask|>", "<|end|>", "\n"] + [chr(c) for c in range(32, 127)]
SIZE = len(TOKENS)
PROMPT_SUFFIX = "\n"  # appended to a user's prompt; the answer starts behind it


def encode(text):
    return [NEWLINE if c == "\n" else FIRST_PRINTABLE + ord(c) - 32 for c in text]


def decode(ids):
    """Text up to the first end token; masks and pads, which a finished answer never holds, show as control names."""
    out = []
    for i in ids:
        if i == END:
            break
        out.append(TOKENS[i])
    return "".join(out)
