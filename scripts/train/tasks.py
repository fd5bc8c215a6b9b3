"""Seeded generators of the five generation tasks, with the train / held-out split.

A sample is a (prompt, answer) pair of printable ASCII. Every answer is unique for its prompt, so the score is exact match; answers stay within
ANSWER_LIMIT characters. Prompts whose CRC-32 falls into one bucket of SPLIT are held out: they are never produced for training, whatever the seed,
so train and test are disjoint by construction and not by luck.
"""

import random
import zlib

ANSWER_LIMIT = 60  # characters; the generation span of 64 also has to hold an end token
SPLIT = 8  # one prompt in eight is held out
LONG_TOKENS = (257, 420)  # prompt length of the long-prefix variant, in tokens (= characters)
SHOT_SEPARATOR = "\n\n"  # between a solved example and the next question

NAMES = "Tom Ann Ben Mia Sam Eva Leo Zoe Max Ida Kim Dan Amy Joe Lea Ned Liz Bob Kai Uma".split()
ITEMS = "pens books cups eggs coins cards nuts keys hats bags toys shells plums stamps".split()
WORDS = (
    "cat dog sun moon tree fish bird star rain snow wind leaf rock sand lake hill road ship door lamp "
    "book desk milk cake rice corn salt gold iron blue red green pink gray east west north south spring fox owl bee ant crab "
    "wolf bear duck frog seed rose moss fern"
).split()
VARIABLES = "xyzntk"
TEXT_KEYS = {
    "name": NAMES,
    "city": "Rome Oslo Bern Kyiv Lima Riga Paris Cairo".split(),
    "color": "red blue green pink gray black white".split(),
    "pet": "cat dog fish bird frog duck fox".split(),
    "fruit": "plum fig pear apple lemon melon".split(),
}
NUMBER_KEYS = "age size count rank price level id".split()


def arith(rng):
    """Two-step word problems, answered with both steps written out."""
    name, item = rng.choice(NAMES), rng.choice(ITEMS)
    a, b, c = rng.randint(10, 40), rng.randint(2, 9), rng.randint(2, 9)
    boxes, each = rng.randint(2, 6), rng.randint(2, 9)
    kind = rng.randrange(6)
    if kind < 4:
        first = f"{a}+{b}={a + b}"
        if kind == 0:
            text = f"{name} has {a} {item}, buys {b}, gives away {c}. How many?"
        elif kind == 1:
            text = f"{name} had {a} {item}, found {b} and lost {c}. How many now?"
        elif kind == 2:
            text = f"A box has {a} {item}. {name} adds {b} and takes {c}. How many?"
        else:
            text = f"{name} has {a} {item}, gets {b} and then {c} more. How many?"
        total = a + b + c if kind == 3 else a + b - c
        second = f"{a + b}{'+' if kind == 3 else '-'}{c}={total}"
    else:
        packed = boxes * each
        first = f"{boxes}*{each}={packed}"
        if kind == 4:
            c = min(c, packed - 1)
            text = f"{name} buys {boxes} bags of {each} {item} and uses {c}. How many left?"
            total = packed - c
            second = f"{packed}-{c}={total}"
        else:
            text = f"{boxes} boxes hold {each} {item} each, and {b} are loose. Total?"
            total = packed + b
            second = f"{packed}+{b}={total}"
    return text, f"{first}; {second}. The answer is {total}."


def math(rng):
    """Evaluate, simplify, expand and solve with small integers."""
    v = rng.choice(VARIABLES)
    a, b, c = rng.randint(2, 9), rng.randint(2, 9), rng.randint(2, 9)
    verb = rng.choice(["Evaluate", "Compute", "What is"])
    end = "?" if verb == "What is" else ""
    kind = rng.randrange(8)
    if kind == 0:
        return f"{verb} {a}*{b}+{c}{end}", f"{a}*{b}={a * b}; {a * b}+{c}={a * b + c}"
    if kind == 1:
        c = rng.randint(2, 5)
        return f"{verb} ({a}+{b})*{c}{end}", f"{a}+{b}={a + b}; {a + b}*{c}={(a + b) * c}"
    if kind == 2:
        high = rng.randint(10, 60)
        return f"{verb} {high}-{a}+{b}{end}", f"{high}-{a}={high - a}; {high - a}+{b}={high - a + b}"
    if kind == 3:
        c = min(c, a + b - 1)
        left = a + b - c
        return f"Simplify {a}{v}+{b}{v}-{c}{v}", f"{a}+{b}={a + b}; {a + b}-{c}={left}; {left}{v}"
    if kind == 4:
        d = rng.randint(1, 9)
        return f"Simplify {a}{v}+{b}+{c}{v}+{d}", f"{a + c}{v}+{b + d}"
    if kind == 5:
        return f"If {v}={a}, what is {b}{v}+{c}?", f"{b}*{a}={a * b}; {a * b}+{c}={a * b + c}"
    if kind == 6:
        d = rng.choice([w for w in VARIABLES if w != v])
        return f"Expand {a}({b}{v}+{c}{d})", f"{a * b}{v}+{a * c}{d}"
    return f"Solve {a}{v}+{b}={a * c + b}", f"{a}{v}={a * c + b}-{b}={a * c}; {v}={c}"


def code(rng):
    """What a short list or string program returns."""
    kind = rng.randrange(9)
    values = [rng.randint(0, 9) for _ in range(rng.randint(3, 4))]
    text = "".join(rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(rng.randint(3, 4)))
    if kind == 0:
        return rng.choice([f"Sort the list {values}.", f"sorted({values})"]), str(sorted(values))
    if kind == 1:
        ask = rng.choice([f"Sort {values}, largest first.", f"sorted({values}, reverse=True)"])
        return ask, str(sorted(values, reverse=True))
    if kind == 2:
        return rng.choice([f"Reverse the list {values}.", f"{values}[::-1]"]), str(values[::-1])
    if kind == 3:
        return rng.choice([f"Reverse the string '{text}'.", f"'{text}'[::-1]"]), f"'{text[::-1]}'"
    if kind == 4:
        values = values[:3]
        return rng.choice([f"Keep the even numbers of {values}.", f"[x for x in {values} if x % 2 == 0]"]), str(
            [x for x in values if x % 2 == 0]
        )
    if kind == 5:
        values, limit = values[:3], rng.randint(2, 7)
        ask = rng.choice([f"Keep the numbers above {limit} in {values}.", f"[x for x in {values} if x > {limit}]"])
        return ask, str([x for x in values if x > limit])
    if kind == 6:
        return rng.choice([f"Largest number in {values}?", f"max({values})"]), str(max(values))
    if kind == 7:
        return rng.choice([f"Convert '{text}' to upper case.", f"'{text}'.upper()"]), f"'{text.upper()}'"
    return rng.choice([f"Repeat the string '{text}'.", f"'{text}' * 2"]), f"'{text * 2}'"


def struct(rng):
    """Bracketed structures and small JSON from a description."""
    kind = rng.randrange(8)
    key, number_key = rng.choice(list(TEXT_KEYS)), rng.choice(NUMBER_KEYS)
    value, number = rng.choice(TEXT_KEYS[key]), rng.randint(1, 99)
    p, q, r = rng.sample("abcdefghkmnpqrsuvw", 3)
    words = rng.sample(WORDS, 2)
    if kind == 0:
        ask = rng.choice([f"JSON with {key} {value} and {number_key} {number}", f"Write JSON: {key} is {value}, {number_key} is {number}"])
        return ask, f'{{"{key}":"{value}","{number_key}":{number}}}'
    if kind == 1:
        other = rng.choice([k for k in TEXT_KEYS if k != key])
        ask = f"JSON: {key} {value}, {number_key} {number}, {other} {rng.choice(TEXT_KEYS[other])}"
        return ask, f'{{"{key}":"{value}","{number_key}":{number},"{other}":"{ask.split()[-1]}"}}'
    if kind == 2:
        return f"JSON list of {words[0]}, {words[1]} and {number}", f'["{words[0]}","{words[1]}",{number}]'
    if kind == 3:
        depth, pair = rng.randint(2, 5), rng.choice(["()", "[]", "{}", "<>"])
        return f"Put {words[0]} inside {depth} pairs of {pair}", pair[0] * depth + words[0] + pair[1] * depth
    if kind == 4:
        return f"Tree with root {p} and children {q} and {words[0]}", f"{p}({q},{words[0]})"
    if kind == 5:
        return f"Tree: root {p}, left {q}, right {r} over {words[0]}", f"{p}({q},{r}({words[0]}))"
    if kind == 6:
        return f"Nest {words[0]} in {words[1]} in {p}, in brackets", f"[{p}[{words[1]}[{words[0]}]]]"
    tag = rng.choice(["b", "i", "h1", "p", "li", "em"])
    return f"Wrap {words[0]} {words[1]} in the tag {tag}", f"<{tag}>{words[0]} {words[1]}</{tag}>"


def follow(rng):
    """Instructions whose constraints leave exactly one correct answer."""
    kind = rng.randrange(7)
    one, two, three = rng.sample(WORDS, 3)
    if kind == 0:
        separator, spelled = rng.choice([(", ", "commas"), ("-", "dashes"), (" ", "spaces")])
        times = rng.randint(2, 4)
        ask, answer = f"Write {one} {times} times with {spelled}.", separator.join([one] * times)
    elif kind == 1:
        ask, answer = f"List {one}, {two}, {three} in reverse order.", f"{three}, {two}, {one}"
    elif kind == 2:
        ask, answer = f"Start with {one} and end with {two}.", f"{one} {two}"
    elif kind == 3:
        which, answer = rng.choice([("first", one), ("second", two), ("last", three)])
        ask = f"Give only the {which} word of {one} {two} {three}."
    elif kind == 4:
        ask, answer = f"Put {three} between {one} and {two}.", f"{one} {three} {two}"
    elif kind == 5:
        ask, answer = f"Say {one} and {two}, each in quotes.", f'"{one}" "{two}"'
    else:
        ask, answer = f"Say yes to {one} and no to {two}.", f"yes {one}, no {two}"
    extra = rng.randrange(4)
    if extra == 1:
        ask, answer = f"{ask} Use capitals.", answer.upper()
    elif extra == 2:
        mark = rng.choice("!?.")
        ask, answer = f"{ask} Add {mark}", answer + mark
    elif extra == 3:
        ask, answer = f"{ask} Use brackets.", f"[{answer}]"
    return ask, answer


TASKS = {"arith": arith, "math": math, "code": code, "struct": struct, "follow": follow}


def held_out(prompt):
    return zlib.crc32(prompt.encode()) % SPLIT == 0


def draw(task, rng, test=False):
    """One sample from the training side, or from the held-out side."""
    while True:
        prompt, answer = TASKS[task](rng)
        if held_out(prompt) == test and len(answer) <= ANSWER_LIMIT:
            return prompt, answer


def with_shots(task, rng, count, test=False):
    """A sample behind `count` solved examples of the same task; the examples come from the training side."""
    shots = [f"{p}\n{a}{SHOT_SEPARATOR}" for p, a in (draw(task, rng) for _ in range(count))]
    prompt, answer = draw(task, rng, test)
    return "".join(shots) + prompt, answer


def long_sample(task, rng, test=False):
    """A few-shot sample whose prompt, newline included, has a length within LONG_TOKENS."""
    low, high = LONG_TOKENS
    target = rng.randint(low + 10, high - 10)
    prompt, answer = draw(task, rng, test)
    while len(prompt) + 1 < target:
        shot = "{}\n{}".format(*draw(task, rng))
        longer = shot + SHOT_SEPARATOR + prompt
        if len(longer) + 1 > high:
            break
        prompt = longer
    if len(prompt) + 1 < low:
        return long_sample(task, rng, test)
    return prompt, answer


def held_out_set(task, count, seed, long=False):
    """`count` held-out samples with different prompts (the long variant repeats no question either)."""
    rng = random.Random(f"{task}/{seed}/{'long' if long else 'short'}")
    seen, samples = set(), []
    while len(samples) < count:
        prompt, answer = long_sample(task, rng, test=True) if long else draw(task, rng, test=True)
        question = prompt.rsplit(SHOT_SEPARATOR, 1)[-1]
        if question not in seen:
            seen.add(question)
            samples.append((prompt, answer))
    return samples
