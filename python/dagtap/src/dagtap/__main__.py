"""The command dagtap, as a package's script: becomes the program that the package brings."""

from __future__ import annotations

import os
import sys

from ._errors import Error
from ._installation import find_command


def main() -> None:
    """Does not return."""
    try:
        command = find_command()
    except Error as error:
        sys.exit(f"dagtap: {error}")
    # With this Python, the program writes what only Python can write (Parquet).
    os.environ.setdefault("DAGTAP_PYTHON", sys.executable)
    os.execv(command, ["dagtap", *sys.argv[1:]])


if __name__ == "__main__":
    main()
