"""Merges what a coverage run leaves behind into one text report and one page of HTML."""
import collections
import html
import pathlib
import re


def read_points(files):
    """Functional cover points: name -> count, over all files."""
    counts = collections.Counter()
    for path in files:
        for line in pathlib.Path(path).read_text().splitlines():
            count, name = line.split(" ", 1)
            counts[name] += int(count)
    return counts


def read_verilator(files):
    """Verilator's counters: (kind, file, line, what) -> count. One source line counts once, whatever its instances."""
    counts = collections.Counter()
    for path in files:
        with open(path, errors="replace", encoding="utf-8") as data:
            for line in data:
                if not line.startswith("C '"):
                    continue
                fields, count = line[3:].rsplit("' ", 1)
                field = dict(part.split("\x02", 1) for part in fields.split("\x01") if part)
                kind = "toggle" if field["page"].startswith("v_toggle") else "line"
                counts[kind, field["f"], int(field["l"]), field["o"]] += int(count)
    return counts


class Waiver:
    def __init__(self, text, where):
        self.kind, self.file, self.what = text.split(" ", 2)
        self.where, self.reason, self.used = where, "", False
        if self.kind == "toggle":
            pattern = re.escape(self.what).replace(re.escape("[..]"), r"\[\d+\]")
            # The last bracket may be a range of bits.
            span = re.search(r"\\\[(\d+)\\-(\d+)\\\]$", pattern)
            self.bits = range(int(span.group(1)), int(span.group(2)) + 1) if span else None
            self.pattern = re.compile(pattern[:span.start()] + r"\[(\d+)\]$" if span else pattern + "$")

    def covers(self, kind, file, line_text, what):
        if kind != self.kind or pathlib.Path(file).name != self.file:
            return False
        if kind == "line":
            matches = self.what in line_text
        else:
            match = self.pattern.match(what)
            matches = match is not None and (self.bits is None or int(match.group(1)) in self.bits)
        self.used |= matches
        return matches


def read_waivers(path):
    waivers = []
    for number, line in enumerate(pathlib.Path(path).read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith(" "):
            waivers[-1].reason = (waivers[-1].reason + " " + line.strip()).strip()
        else:
            waivers.append(Waiver(line, f"{path}:{number}"))
    return waivers


class Coverage:
    def __init__(self, points, counters, waivers):
        self.points, self.counters = points, counters
        self.open_points = sorted(name for name, count in points.items() if count == 0)
        self.totals, self.holes = {}, []
        texts = {}
        for kind in ("line", "toggle"):
            keys = [key for key in counters if key[0] == kind]
            missed = [key for key in keys if counters[key] == 0]
            self.totals[kind] = (len(keys) - len(missed), len(keys))
            for _, file, line, what in sorted(missed):
                if file not in texts:
                    texts[file] = pathlib.Path(file).read_text().splitlines()
                text = texts[file][line - 1].strip()
                reason = next((w.reason for w in waivers if w.covers(kind, file, text, what)), "")
                self.holes.append((kind, pathlib.Path(file).name, line, what, reason))
        self.unexplained = [hole for hole in self.holes if not hole[4]]
        self.stale = [w.where for w in waivers if not w.used] if counters else []

    def ok(self):
        return not self.open_points and not self.unexplained and not self.stale and self.share("line") >= 98

    def share(self, kind):
        hit, all_of = self.totals[kind]
        return 100 * hit / all_of if all_of else 100.0

    def summary(self):
        text = f"cover points {len(self.points) - len(self.open_points)}/{len(self.points)}"
        if self.counters:
            text += f"   lines {self.share('line'):.1f} %   toggles {self.share('toggle'):.1f} %"
        return text

    def grouped_holes(self):
        """Holes of one signal, or line, together."""
        groups = {}
        for kind, file, line, what, reason in self.holes:
            name = re.sub(r"\[\d+\]", "", what) if kind == "toggle" else what
            groups.setdefault((kind, file, line, name, reason), []).append(what)
        return groups

    def write(self, folder, title):
        folder.mkdir(parents=True, exist_ok=True)
        groups = collections.defaultdict(lambda: [0, 0])
        for name, count in self.points.items():
            group = groups[name.rsplit("/", 1)[0]]
            group[0] += count > 0
            group[1] += 1
        lines = [title, self.summary(), ""]
        lines += [f"{hit:5}/{all_of:<5} {name}" for name, (hit, all_of) in sorted(groups.items())]
        lines += ["", "cover points never reached:" if self.open_points else "every cover point reached"]
        lines += ["  " + name for name in self.open_points]
        lines += ["", "lines and signals never exercised:" if self.holes else "no holes in lines and toggles"]
        for (kind, file, line, name, reason), whats in self.grouped_holes().items():
            lines.append(f"  {kind} {file}:{line} {name} ({len(whats)}): {reason or 'NOT EXPLAINED'}")
        lines += [f"  waiver without a hole: {where}" for where in self.stale]
        (folder / "report.txt").write_text("\n".join(lines) + "\n")
        (folder / "index.html").write_text(self.page(title, groups))

    def page(self, title, groups):
        def row(cells, tag="td", mark=""):
            return f"<tr{mark}>" + "".join(f"<{tag}>{html.escape(str(c))}</{tag}>" for c in cells) + "</tr>"

        def mark(good):
            return "" if good else ' class="bad"'

        by_file = collections.defaultdict(lambda: [0, 0, 0, 0])
        for (kind, file, _, _), count in self.counters.items():
            place = 0 if kind == "line" else 2
            by_file[pathlib.Path(file).name][place] += count > 0
            by_file[pathlib.Path(file).name][place + 1] += 1
        parts = [
            "<!doctype html><meta charset='utf-8'><title>RTL coverage</title>",
            "<style>body{font:15px sans-serif;margin:2em;max-width:70em}td,th{text-align:left;padding:2px 12px 2px 0}"
            ".bad{background:#fdd}</style>",
            f"<h1>{html.escape(title)}</h1><p>{html.escape(self.summary())}</p><h2>Files</h2><table>",
            row(["file", "lines", "of", "toggles", "of"], "th"),
            *[row([name, *numbers]) for name, numbers in sorted(by_file.items())],
            "</table><h2>Holes</h2><table>",
            row(["kind", "place", "what", "number", "reason"], "th"),
            *[row([kind, f"{file}:{line}", name, len(whats), reason or "NOT EXPLAINED"], mark=mark(reason))
              for (kind, file, line, name, reason), whats in self.grouped_holes().items()],
            "</table><h2>Cover points</h2><table>",
            row(["group", "reached", "of"], "th"),
            *[row([name, hit, all_of], mark=mark(hit == all_of)) for name, (hit, all_of) in sorted(groups.items())],
            "</table><h2>Every point</h2><table>",
            *[row([name, count], mark=mark(count)) for name, count in sorted(self.points.items())],
            "</table>",
        ]
        return "\n".join(parts) + "\n"
