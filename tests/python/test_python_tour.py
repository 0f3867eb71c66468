"""The examples of docs/python.md, run in the order of the page, print what the page says.

    test_python_tour.py [all]

Blocks that are marked "packages" need pandas, polars, pyarrow and DuckDB; only "all" runs them,
with the readers of the conformance tests (exit status 77 without a network).
"""

import doctest
import os
import re
import shutil
import sys
import warnings

from table_csv import RECORDINGS, SOURCE

PAGE = SOURCE / "docs" / "python.md"
RUN_ALL = sys.argv[1:] == ["all"]

if RUN_ALL:
    sys.path.insert(0, str(SOURCE / "tests" / "conformance"))
    from readers import TABLE_READERS, install_readers

    install_readers("requirements-tables.txt", TABLE_READERS)
    sys.path.insert(0, str(TABLE_READERS))

os.chdir(os.environ["TMPDIR"])
shutil.copy(RECORDINGS[1], "run.dagtap")
warnings.simplefilter("ignore")
runner = doctest.DocTestRunner()
text, names, examples = PAGE.read_text(), {}, 0
for block in re.finditer(r"^```pycon( packages)?\n(.*?)^```$", text, re.M | re.S):
    if block[1] and not RUN_ALL:
        continue
    line = text.count("\n", 0, block.start(2))
    test = doctest.DocTestParser().get_doctest(block[2], names, "python.md", str(PAGE), line)
    runner.run(test, clear_globs=False)
    names, examples = test.globs, examples + len(test.examples)
assert examples > 20, examples
sys.exit(runner.summarize().failed != 0)
