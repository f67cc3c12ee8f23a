"""Functions of the tests. A hold is an address that responds when a test lets go."""

from collections.abc import Generator
from pathlib import Path
from tempfile import mkdtemp
from typing import Annotated, Literal
from urllib.request import urlopen

from kiln_engine import Cancelled, Final, Range, engine, progress


@engine
def echo(
    image: Path,
    strength: Annotated[float, Range(0, 1)] = 0.5,
    mode: Literal["soft", "hard"] = "soft",
    seed: int | None = None,
    more: list[Path] | None = None,
    hold: str = "",
    error: str = "",
) -> list[Path]:
    """Gives files back.

    image: The picture.
    mode: How it is given back.
    """
    print(f"{image.name} {strength} {mode} {seed}")
    try:
        if hold:
            progress(1, 2)
            urlopen(hold).close()
    except Cancelled:
        print(f"cancelled in {mkdtemp()}")
        raise
    if error:
        raise (Final if error.startswith("never ") else ValueError)(error)
    return [image, *(more or [])]


@engine
def count(steps: int) -> Generator[tuple[int, int], None, str]:
    for step in range(steps):
        yield step, steps
    return "counted"


@engine
def wrong(image: bytes) -> str:
    return str(image)


@engine
def high(strength: Annotated[float, Range(0, 1)] = 5) -> str:
    return str(strength)


@engine
def silent(strength: float = 1, size: int = 1):  # type: ignore[no-untyped-def]
    """Says nothing.

    strenght: How much.
    sizes: Small ones are fast.
    size: How large.
    Note: It is loud.
    """
    return strength * size
