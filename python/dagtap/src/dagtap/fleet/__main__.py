"""python -m dagtap.fleet: writes recordings into the store of a fleet."""

from __future__ import annotations

import argparse
import sys
from typing import Optional

from .._errors import Error
from . import write


def _read_ranks(text: str) -> list[int]:
    """"0-3,8" is [0, 1, 2, 3, 8]."""
    ranks: list[int] = []
    for piece in text.split(","):
        first, _, last = piece.partition("-")
        ranks += range(int(first), int(last or first) + 1)
    return ranks


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m dagtap.fleet",
        description="write recordings, one of each rank, into a folder of Parquet files "
        "(docs/fleet.md); what is written again for a job, day, rank and part is replaced",
    )
    parser.add_argument("-o", "--root", required=True, metavar="ROOT", help="the folder")
    parser.add_argument("--job", required=True, help="the job's name")
    parser.add_argument(
        "--ranks", type=_read_ranks, help="ranks of the files, as in 0-7,16 (default: 0, 1, ...)"
    )
    parser.add_argument("--day", help="YYYY-MM-DD (default: when each recording began, UTC)")
    parser.add_argument("--build", help="what the program was built from, as in a commit")
    parser.add_argument(
        "--part", default="0", help="distinguishes several recordings of a rank on one day"
    )
    parser.add_argument("recordings", nargs="+", metavar="FILE", help="what dagtap.open reads")
    return parser


def main(arguments: Optional[list[str]] = None) -> None:
    """Exits with 1 and a line of text if something failed, with 2 if it was called wrongly."""
    parser = _make_parser()
    given = vars(parser.parse_args(arguments))
    try:
        write(given.pop("recordings"), given.pop("root"), **given)
    except ValueError as error:
        parser.error(str(error))
    except Error as error:
        sys.exit(f"dagtap.fleet: {error}")


if __name__ == "__main__":
    main()
