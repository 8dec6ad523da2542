"""What media weighs, by each provider's own rule, read from the header bytes without any package.

A number nobody documents is named `_ASSUMED_…`; it is meant to be too high rather than too low.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
import struct
import zlib

__all__ = [
    "anthropic_image_tokens",
    "anthropic_pdf_tokens",
    "audio_tokens",
    "gemini_image_tokens",
    "gemini_media_tokens",
    "image_size",
    "label",
    "openai_file_tokens",
    "openai_image_tokens",
    "pdf_pages",
    "split_data_url",
]

Size = tuple[int, int]

_HEAD = 4 * 4_096  # base64 characters to look for white space and for the magic bytes in
_JPEG_HEAD = 65_536  # bytes; the frame header comes after EXIF, which fits one 64 KB segment
_SOF = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}  # JPEG start-of-frame markers (ITU T.81, table B.1)

# developers.openai.com/api/docs/guides/images-vision, "Calculating costs", GPT-4o family
_OPENAI_LOW = 85
_OPENAI_TILE = 170
_OPENAI_FIT = 2048
_OPENAI_SHORT = 768
_OPENAI_TILE_SIDE = 512
_OPENAI_MAX = _OPENAI_LOW + _OPENAI_TILE * 8  # 2048x768: 4 x 2 tiles, the most the rule can give
# developers.openai.com/api/docs/guides/pdf-files: the text and an image of every page go in. A letter page is
# 2 x 2 tiles = 765; its text is assumed at 835 (about 3,300 characters, a dense page).
_OPENAI_PAGE = 765 + 835
# platform.openai.com realtime cost guide: user audio is 1 token per 100 ms
_OPENAI_AUDIO_PER_SECOND = 10

# platform.claude.com/docs/en/build-with-claude/vision: w*h/750; scaled down above 1,568 px or about 1,600 tokens.
# (The high-resolution models allow 2,576 px and 4,784 tokens: the provider's usage corrects it there.)
_ANTHROPIC_EDGE = 1568
_ANTHROPIC_PIXELS_PER_TOKEN = 750
_ANTHROPIC_MAX = 1600
# platform.claude.com/docs/en/build-with-claude/pdf-support: 1,500 to 3,000 tokens a page; the upper one is taken.
# (Measured with its image: 1,600 a scanned page, about 2,350 a text page.)
_ANTHROPIC_PAGE = 3000

# ai.google.dev/gemini-api/docs/tokens: 258 up to 384x384, else 258 a tile; video 263/s, audio 32/s;
# ai.google.dev/gemini-api/docs/document-processing: 258 a page. (The Gemini 3 models take about 1,120 an image and
# 560 a page at their default media resolution: the provider's usage corrects it there.)
_GEMINI_TILE = 258
_GEMINI_SMALL = 384
# docs.cloud.google.com, Vertex AI image understanding: tile side = shorter side / 1.5, within 256 to 768
_GEMINI_TILE_SIDES = (256, 768)
_GEMINI_EDGE = 3072  # ai.google.dev/gemini-api/docs/image-understanding: larger ones are scaled down to 3072x3072
_GEMINI_MAX = _GEMINI_TILE * 16  # 3072x3072
_GEMINI_AUDIO_PER_SECOND = 32
_GEMINI_VIDEO_PER_SECOND = 263

_ASSUMED_PAGES = 10  # of a file that is only referred to by an id or URL
_ASSUMED_SECONDS = 60  # of media that is only referred to
_ASSUMED_AUDIO_BYTES = 4_000  # bytes a second of compressed audio: 32 kbit/s, the low end for speech
_ASSUMED_VIDEO_BYTES = 31_250  # bytes a second of video without a readable header: 250 kbit/s
_ASSUMED_BYTES_PER_TOKEN = 3  # of a text file

_PAGE = re.compile(rb"/Type\s*/Page(?![A-Za-z])")
_OBJECT_STREAM = re.compile(rb"/ObjStm\b")
_STREAM = re.compile(rb"stream\r?\n")
_INFLATED = 1 << 22  # bytes taken of one object stream, so that a bomb costs nothing
_DATA_URL = re.compile(r"data:([^;,]*)((?:;[^;,]*)*),")


def _decode(b64: str, length: int | None = None) -> bytes:
    """The first `length` bytes (all when None); what is not base64 gives what could be read, or nothing."""
    text = b64 if length is None else b64[: -(-length // 3) * 4 + length // 16]
    if b64.startswith("data:"):
        split = split_data_url(b64[:_HEAD]) or ("", "")
        text = b64[b64.find(",") + 1 :] if length is None else split[1]
    if "-" in text or "_" in text:
        text = text.translate(str.maketrans("-_", "+/"))
    if not text.isascii():
        return b""
    if any(char in text[:_HEAD] for char in "\r\n \t"):
        text = "".join(text.split())
    text = text.rstrip("=")
    text = text[: len(text) - (len(text) % 4 == 1)]
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        return b""
    return data if length is None else data[:length]


def split_data_url(url: str) -> tuple[str, str] | None:
    """(mime, base64 payload) of a `data:` URL, None for any other."""
    match = _DATA_URL.match(url)
    if match is None or "base64" not in match[2].lower():
        return None
    return match[1].lower() or "text/plain", url[match.end() :]


def image_size(b64: str) -> Size | None:
    """(width, height) in pixels of a PNG, JPEG, GIF or WebP; None when the header does not say."""
    head = _decode(b64, 64)
    size: Size | None = None
    if head.startswith(b"\x89PNG\r\n\x1a\n") and len(head) >= 24:
        size = struct.unpack(">II", head[16:24])
    elif head[:6] in (b"GIF87a", b"GIF89a") and len(head) >= 10:
        size = struct.unpack("<HH", head[6:10])
    elif head.startswith(b"RIFF") and head[8:12] == b"WEBP" and len(head) >= 30:
        size = _webp_size(head)
    elif head.startswith(b"\xff\xd8"):
        size = _jpeg_size(_decode(b64, _JPEG_HEAD))
    return size if size and min(size) > 0 else None


def _webp_size(head: bytes) -> Size | None:
    kind = head[12:16]
    if kind == b"VP8X":
        return 1 + int.from_bytes(head[24:27], "little"), 1 + int.from_bytes(head[27:30], "little")
    if kind == b"VP8L":
        bits = int.from_bytes(head[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 ":
        width, height = struct.unpack("<HH", head[26:30])
        return width & 0x3FFF, height & 0x3FFF
    return None


def _jpeg_size(data: bytes) -> Size | None:
    at = 2
    while at + 9 <= len(data):
        if data[at] != 0xFF:
            return None
        marker = data[at + 1]
        if marker == 0xFF:  # fill byte
            at += 1
        elif marker in _SOF:
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        elif marker == 0x01 or 0xD0 <= marker <= 0xD8:  # no length follows
            at += 2
        else:
            at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return None


def pdf_pages(b64: str) -> int:
    """Pages of a PDF: its page objects, in plain and in deflated object streams; at least 1."""
    data = _decode(b64)
    count = len(_PAGE.findall(data))
    for match in _OBJECT_STREAM.finditer(data):
        start = _STREAM.search(data, match.end(), match.end() + 512)
        if start is None:
            continue
        try:
            inflated = zlib.decompressobj().decompress(data[start.end() : start.end() + _INFLATED], _INFLATED)
        except zlib.error:
            continue
        count += len(_PAGE.findall(inflated))
    return max(1, count)


def openai_image_tokens(size: Size | None, detail: str | None) -> int:
    """Tokens of an image: 85 at low detail, else 85 and 170 for each 512-pixel tile after scaling."""
    if detail == "low":
        return _OPENAI_LOW
    if size is None:
        return _OPENAI_MAX
    width, height = _scaled(size, max(size), _OPENAI_FIT)
    width, height = _scaled((width, height), min(width, height), _OPENAI_SHORT)
    return _OPENAI_LOW + _OPENAI_TILE * math.ceil(width / _OPENAI_TILE_SIDE) * math.ceil(height / _OPENAI_TILE_SIDE)


def _scaled(size: Size, side: int, limit: int) -> Size:
    """The size scaled down so that `side` is at most `limit`."""
    if side <= limit:
        return size
    return max(1, round(size[0] * limit / side)), max(1, round(size[1] * limit / side))


def openai_file_tokens(b64: str | None, mime: str) -> int:
    """Tokens of a file: by the page for PDF and what is only referred to, by size for text."""
    if b64 is None:
        return _OPENAI_PAGE * _ASSUMED_PAGES
    if "pdf" in mime or b64.startswith("JVBERi"):  # "%PDF"
        return _OPENAI_PAGE * pdf_pages(b64)
    return max(1, math.ceil(_bytes_of(b64) / _ASSUMED_BYTES_PER_TOKEN))


def audio_tokens(b64: str | None, mime: str) -> int:
    """Tokens of audio on the OpenAI wires: 10 a second."""
    return max(1, math.ceil(_audio_seconds(b64, mime) * _OPENAI_AUDIO_PER_SECOND))


def anthropic_image_tokens(size: Size | None) -> int:
    """Tokens of an image: width * height / 750 after scaling down, at most 1,600; that when unknown."""
    if size is None:
        return _ANTHROPIC_MAX
    width, height = _scaled(size, max(size), _ANTHROPIC_EDGE)
    return min(_ANTHROPIC_MAX, math.ceil(width * height / _ANTHROPIC_PIXELS_PER_TOKEN))


def anthropic_pdf_tokens(b64: str | None) -> int:
    """Tokens of a PDF: 3,000 a page, the upper end of the documented 1,500 to 3,000."""
    return _ANTHROPIC_PAGE * (_ASSUMED_PAGES if b64 is None else pdf_pages(b64))


def gemini_image_tokens(size: Size | None) -> int:
    """Tokens of an image: 258 when both sides are at most 384 pixels, else 258 a tile."""
    if size is None:
        return _GEMINI_MAX
    if max(size) <= _GEMINI_SMALL:
        return _GEMINI_TILE
    width, height = _scaled(size, max(size), _GEMINI_EDGE)
    low, high = _GEMINI_TILE_SIDES
    side = min(high, max(low, int(min(width, height) / 1.5)))
    return _GEMINI_TILE * math.ceil(width / side) * math.ceil(height / side)


def gemini_media_tokens(mime: str, b64: str | None) -> int:
    """Tokens of any media: an image by its size, 258 a PDF page, 32 a second of audio, 263 of video."""
    mime = mime.lower()
    if mime.startswith("image/"):
        return gemini_image_tokens(image_size(b64) if b64 else None)
    if mime.startswith("audio/"):
        return max(1, math.ceil(_audio_seconds(b64, mime) * _GEMINI_AUDIO_PER_SECOND))
    if mime.startswith("video/"):
        return max(1, math.ceil(_video_seconds(b64) * _GEMINI_VIDEO_PER_SECOND))
    if b64 is None:
        return _GEMINI_TILE * _ASSUMED_PAGES
    if "pdf" in mime:
        return _GEMINI_TILE * pdf_pages(b64)
    return max(1, math.ceil(_bytes_of(b64) / _ASSUMED_BYTES_PER_TOKEN))


def _bytes_of(b64: str) -> int:
    return len(b64) * 3 // 4


def _audio_seconds(b64: str | None, mime: str) -> float:
    if b64 is None:
        return _ASSUMED_SECONDS
    head = _decode(b64, 64)
    rate = _ASSUMED_AUDIO_BYTES
    if head.startswith(b"RIFF") and head[8:12] == b"WAVE" and head[12:16] == b"fmt ":
        rate = int.from_bytes(head[28:32], "little") or rate
    elif "pcm" in mime or "l16" in mime.lower():
        rate = 48_000  # 16 bit, 24 kHz, mono: the format both providers document for raw audio
    return _bytes_of(b64) / rate


def _video_seconds(b64: str | None) -> float:
    """Seconds from the movie header of an MP4 or QuickTime file, else from the size."""
    if b64 is None:
        return _ASSUMED_SECONDS
    data = _decode(b64)
    at = data.find(b"mvhd")
    if at >= 0 and len(data) >= at + 36:
        wide = data[at + 4] == 1
        scale, duration = struct.unpack(
            ">IQ" if wide else ">II", data[at + (24 if wide else 16) :][: 12 if wide else 8]
        )
        if scale and 0 < duration / scale < 86_400:
            return float(duration / scale)
    return _bytes_of(b64) / _ASSUMED_VIDEO_BYTES


def label(kind_or_mime: str, size: Size | None = None, name: str | None = None) -> str:
    """What a placeholder calls it: the file name if it has one, else `image/png 640x480`."""
    if name:
        return name
    return f"{kind_or_mime} {size[0]}x{size[1]}" if size else kind_or_mime
