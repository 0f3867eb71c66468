"""What a part of the measurement found, as values for JSON and as Markdown."""
import statistics


def goal(what, wanted, measured, is_reached):
    """IS_REACHED None: there is nothing to reach, the figure is for information."""
    return {"what": what, "goal": wanted, "measured": measured, "reached": is_reached}


def part(title, heads=(), rows=(), goals=(), notes=(), runs=None):
    return {"title": title, "heads": list(heads), "rows": list(rows), "goals": list(goals), "notes": list(notes),
            "runs": runs or {}}


def line(cells):
    return "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def table(heads, rows):
    return [line(heads), "|" + "---|" * len(heads), *map(line, rows)]


def goal_rows(goals):
    words = {True: "yes", False: "NO", None: "-"}
    return [[g["what"], g["goal"], g["measured"], words[g["reached"]]] for g in goals]


def part_lines(found):
    """A part as Markdown."""
    lines = [f"### {found['title']}", ""]
    if "error" in found:
        return [*lines, "Failed:", "", "```", found["error"], "```", ""]
    if found["rows"]:
        lines += [*table(found["heads"], found["rows"]), ""]
    if found["goals"]:
        lines += [*table(["what", "goal", "measured", "reached"], goal_rows(found["goals"])), ""]
    return lines + [text + "\n" for text in found["notes"]]


def median(runs, key):
    values = [r[key] for r in runs if r.get(key) is not None]
    return statistics.median(values) if values else None


def cell(value, form="{:.3f}"):
    return "-" if value is None else form.format(value)


def ratios(results, way, base):
    """Of neighbouring runs, so that what changes slowly cancels out."""
    return [a["seconds"] / b["seconds"] for a, b in zip(results[way], results[base])]


def ratio_text(values):
    return f"{statistics.median(values):.3f} ({min(values):.3f} to {max(values):.3f})"
