import struct
import tempfile
import zlib
from pathlib import Path

from kiln_engine import engine, progress


@engine
def moire(size: int = 400) -> Path:
    picture, rows = Path(tempfile.mkdtemp(), "moire.png"), []
    for y in range(size):
        rows.append(b"\0" + bytes(x * y // 9 % 256 for x in range(size)))
        progress(y + 1, size)
    header = struct.pack(">IIBBBBB", size, size, 8, 0, 0, 0, 0)
    parts = [b"IHDR" + header, b"IDAT" + zlib.compress(b"".join(rows)), b"IEND"]
    chunks = [struct.pack(">I", len(p) - 4) + p + struct.pack(">I", zlib.crc32(p)) for p in parts]
    picture.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(chunks))
    return picture
