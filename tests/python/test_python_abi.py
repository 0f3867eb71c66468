"""What the Python packages know of the C libraries is what the headers declare and the libraries
export.

    test_python_abi.py CC PACKAGE [NAME...]

_abi.py is what its generator makes of the headers now; the compiler, which knows nothing of the
generator, finds every size, offset, value and prototype in it right; the package uses every
function and, of dagpatch, every field.
"""

import ast
import importlib
import os
import pathlib
import re
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
COMPILER, NAME = sys.argv.pop(1), sys.argv.pop(1)
PACKAGE = SOURCE / "python" / NAME / "src" / NAME
GENERATOR = [sys.executable, SOURCE / "scripts" / "gen-python-abi.py", NAME]

_abi = importlib.import_module(f"{NAME}._abi")

# Differences that the compiler must find: of a number in the asserts, and an argument left out.
PLANTED = {
    "dagpatch": (
        [
            r"(sizeof\(struct dagpatch_kernel\)), (\d+)",
            r"(offsetof\(struct dagpatch_stats, captures\)), (\d+)",
            r"(DAGPATCH_SHADOW), (\d+)",
        ],
        "(void)dagpatch_bind((void *)0, 0, 0, 0);",
    ),
    "dagtap": (
        [
            r"(sizeof\(struct dagtap_error\)), (\d+)",
            r"(offsetof\(struct dagtap_attribute, value\)), (\d+)",
            r"(DAGTAP_TRACE_CALL), (\d+)",
        ],
        "(void)dagtap_scope_attach((void *)0, 0);",
    ),
}
# Functions that a library exports and the package leaves out: dagtap reads rows as columns.
LEFT_OUT = re.compile(
    r"dagtap_attach|dagtap_export_to_sized|dagtap_trace_get_\w+" if NAME == "dagtap" else r"(?!)"
)


def compile_asserts(text, folder):
    path = pathlib.Path(folder) / "asserts.c"
    path.write_text(text)
    return subprocess.run(
        [
            COMPILER,
            "-std=c11",
            "-Werror=int-conversion",
            "-Wno-nonnull",
            f"-I{SOURCE / 'include'}",
            "-fsyntax-only",
            str(path),
        ],
        capture_output=True,
        text=True,
    )


class Mirror(unittest.TestCase):
    def asserts(self):
        return subprocess.run(
            [*GENERATOR, "asserts"], check=True, capture_output=True, text=True
        ).stdout

    def test_is_what_the_headers_declare(self):
        done = subprocess.run([*GENERATOR, "check"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_is_what_the_compiler_says(self):
        done = compile_asserts(self.asserts(), os.environ["TMPDIR"])
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_compiler_would_find_a_difference(self):
        text = self.asserts()
        numbers, call = PLANTED[NAME]
        for what in numbers:
            wrong = re.sub(what, lambda found: f"{found[1]}, {int(found[2]) + 8}", text)
            self.assertTrue(wrong != text)
            self.assertNotEqual(compile_asserts(wrong, os.environ["TMPDIR"]).returncode, 0, what)
        missing = text.replace(call, call.replace(", 0);", ");"))
        self.assertTrue(missing != text)
        self.assertNotEqual(compile_asserts(missing, os.environ["TMPDIR"]).returncode, 0)

    def test_the_libraries_export_no_more(self):
        exported = set()
        for library in os.environ["LIBRARIES"].split(":"):
            symbols = subprocess.run(
                ["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True
            ).stdout
            found = re.findall(rf" T ({NAME}_\S+)", symbols)
            exported |= {name.partition("@")[0] for name in found}
        exported = {name for name in exported if not LEFT_OUT.fullmatch(name)}
        self.assertEqual(exported, set(_abi.FUNCTIONS))


class Package(unittest.TestCase):
    """Written by hand, so that what is new in the header and not in the package is found."""

    def setUp(self):
        self.text = "\n".join(
            path.read_text() for path in PACKAGE.glob("*.py") if path.name != "_abi.py"
        )

    def test_calls_every_function(self):
        # model.py puts the names of the model's functions that make and destroy together.
        made = re.findall(r'super\(\).__init__\("(\w+)"', self.text)
        whole = self.text + " ".join(f"dagpatch_model_{name}" for name in made)
        destroyed = {
            f"dagpatch_model_{what}_destroy"
            for what in ("kernel", "event", "stream", "graph", "exec")
        }
        missing = [name for name in _abi.FUNCTIONS if not re.search(rf"\b{name}\b", whole)]
        self.assertEqual(set(missing) - destroyed, set())

    @unittest.skipIf(NAME == "dagtap", "the library fills the structs, but for one")
    def test_fills_every_field(self):
        """Those that the library fills are handed out as structs."""
        filled = {
            "Struct",
            "Error",
            "Change",
            "Stats",
            "Relocation",
            "CacheStats",
            "Vote",
            "ModelLive",
        }
        # Closures take the place of what C hands to its callbacks; make() sets sizes.
        untouched = {"user", "observe_user", "vote_user"}
        set_fields = self.fields_set()
        for name, struct in vars(_abi).items():
            if name in filled or not hasattr(struct, "_fields_"):
                continue
            fields = {field for field, *_ in struct._fields_} - untouched
            if struct._fields_[0][0] == "size":
                fields.discard("size")
            self.assertEqual(fields - set_fields.get(name, set()), set(), f"of {name}")

    def fields_set(self):
        """By struct: fields that a call names, or gives by place; assigned ones count for all."""
        found, assigned = {}, set()
        trees = [
            ast.parse(path.read_text()) for path in PACKAGE.glob("*.py") if path.name != "_abi.py"
        ]
        for node in (node for tree in trees for node in ast.walk(tree)):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    target = target.value if isinstance(target, ast.Subscript) else target
                    if isinstance(target, ast.Attribute):
                        assigned.add(target.attr)
            elif isinstance(node, ast.Call):
                # _abi.Struct(...), or make(_abi.Struct, ...) with names alone.
                built = self.mirrored(node.func)
                name = built or (self.mirrored(node.args[0]) if node.args else None)
                if name is None:
                    continue
                places = [field for field, *_ in getattr(_abi, name)._fields_] if built else []
                if not any(isinstance(one, ast.Starred) for one in node.args):
                    places = places[: len(node.args)]
                names = [keyword.arg for keyword in node.keywords]
                found.setdefault(name, set()).update(places, names)
        return {name: fields | assigned for name, fields in found.items()}

    @staticmethod
    def mirrored(node):
        """The name of the struct that _abi.NAME is."""
        name = getattr(node, "attr", "")
        is_ours = isinstance(node, ast.Attribute) and ast.unparse(node.value) == "_abi"
        return name if is_ours and hasattr(getattr(_abi, name, None), "_fields_") else None

    @unittest.skipIf(NAME == "dagtap", "numbers inside the package only")
    def test_hands_out_every_value(self):
        names = [
            name for name, value in vars(_abi).items() if name.isupper() and isinstance(value, int)
        ]
        missing = [name for name in names if not re.search(rf"\b{name}\b", self.text)]
        self.assertEqual(missing, [])


if __name__ == "__main__":
    unittest.main()
