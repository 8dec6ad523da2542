"""Sizes, pages and tokens of media."""

from __future__ import annotations

import base64
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jettison.wire import media


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height) + bytes(50)


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + bytes(50)


def jpeg(width: int, height: int, before: int = 0) -> bytes:
    segment = b"\xff\xe1" + struct.pack(">H", before + 2) + bytes(before)
    return b"\xff\xd8" + segment + b"\xff\xff\xc2" + struct.pack(">HBHH", 17, 8, height, width) + bytes(50)


def webp(kind: bytes, body: bytes) -> bytes:
    return b"RIFF" + bytes(4) + b"WEBP" + kind + bytes(4) + body + bytes(50)


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (png(640, 480), (640, 480)),
        (gif(640, 480), (640, 480)),
        (jpeg(640, 480), (640, 480)),
        (jpeg(640, 480, before=65_000), (640, 480)),
        (webp(b"VP8X", bytes(4) + b"\x7f\x02\x00\xdf\x01\x00"), (640, 480)),
        (webp(b"VP8L", b"\x2f" + struct.pack("<I", 639 | 479 << 14)), (640, 480)),
        (webp(b"VP8 ", b"\x00\x00\x00\x9d\x01\x2a" + struct.pack("<HH", 640, 480)), (640, 480)),
        (png(0, 5), None),
        (png(640, 480)[:20], None),
        (b"\xff\xd8\xff", None),
        (b"BM" + bytes(60), None),
        (b"", None),
    ],
)
def test_image_size(data: bytes, size: tuple[int, int] | None) -> None:
    assert media.image_size(b64(data)) == size


def test_other_spellings_of_base64() -> None:
    text = b64(jpeg(640, 480, before=3_000))
    lines = "\r\n".join(text[at : at + 76] for at in range(0, len(text), 76))
    assert media.image_size(lines) == (640, 480)
    assert media.image_size(text.rstrip("=")) == (640, 480)
    assert media.image_size(text.replace("+", "-").replace("/", "_")) == (640, 480)
    assert media.image_size(f"data:image/jpeg;base64,{text}") == (640, 480)
    assert media.image_size("ÿØÿ") is None


def test_only_the_head_is_decoded() -> None:
    assert media.image_size(b64(png(9, 9)) + "!" * 10) == (9, 9)


@given(st.text(max_size=200) | st.binary(max_size=200).map(b64))
def test_nothing_raises(text: str) -> None:
    media.image_size(text)
    assert media.pdf_pages(text) >= 1
    assert media.gemini_media_tokens("video/mp4", text) >= 1
    assert media.audio_tokens(text, "audio/wav") >= 1
    assert media.openai_file_tokens(text, "text/plain") >= 1
    media.split_data_url(text)


def test_pdf_pages() -> None:
    assert media.pdf_pages(b64(b"%PDF-1.4 /Type /Pages /Kids [] << /Type /Page >> <</Type/Page/X 1>>")) == 2
    packed = zlib.compress(b"<</Type/Page>> " * 7 + b"<</Type/Pages>>")
    stream = b"1 0 obj <</Type/ObjStm/N 8/Filter/FlateDecode>>\nstream\r\n" + packed + b"\nendstream"
    assert media.pdf_pages(b64(b"%PDF-1.5 " + stream)) == 7
    assert media.pdf_pages(b64(b"%PDF-1.5 /ObjStm stream\nnot deflated")) == 1
    assert media.pdf_pages("") == 1


def test_split_data_url() -> None:
    assert media.split_data_url("data:image/PNG;charset=x;base64,AAAA") == ("image/png", "AAAA")
    assert media.split_data_url("data:;base64,AAAA") == ("text/plain", "AAAA")
    assert media.split_data_url("data:text/plain,hello") is None
    assert media.split_data_url("https://x.test/a.png") is None


@pytest.mark.parametrize(
    ("size", "detail", "tokens"),
    [
        ((1024, 1024), "high", 765),  # the documented examples
        ((2048, 4096), "high", 1105),
        ((4096, 8192), "low", 85),
        ((640, 480), None, 425),
        ((640, 480), "auto", 425),
        ((1, 1), "high", 255),
        ((90_000, 10), "high", 765),
        (None, "auto", 1445),
        (None, "low", 85),
    ],
)
def test_openai_images(size: tuple[int, int] | None, detail: str | None, tokens: int) -> None:
    assert media.openai_image_tokens(size, detail) == tokens


@given(st.tuples(st.integers(1, 20_000), st.integers(1, 20_000)))
def test_unknown_sizes_cost_the_most(size: tuple[int, int]) -> None:
    assert media.openai_image_tokens(size, "high") <= media.openai_image_tokens(None, "high")
    assert 1 <= media.anthropic_image_tokens(size) <= media.anthropic_image_tokens(None) == 1600


def test_anthropic() -> None:
    assert media.anthropic_image_tokens((200, 200)) == 54  # the documented examples
    assert media.anthropic_image_tokens((1000, 1000)) == 1334
    assert media.anthropic_image_tokens((1092, 1092)) == 1590
    assert media.anthropic_image_tokens((8000, 8000)) == 1600
    assert media.anthropic_pdf_tokens(b64(b"/Type /Page /Type /Page ")) == 6000
    assert media.anthropic_pdf_tokens(None) == 30_000


def test_gemini() -> None:
    assert media.gemini_image_tokens((384, 384)) == 258
    assert media.gemini_image_tokens((960, 540)) == 6 * 258  # the documented example
    assert media.gemini_image_tokens((768, 768)) == 4 * 258
    assert media.gemini_image_tokens((9000, 9000)) == media.gemini_image_tokens(None) == 16 * 258
    assert media.gemini_media_tokens("image/png", b64(png(10, 10))) == 258
    assert media.gemini_media_tokens("application/pdf", b64(b"/Type /Page /Type /Page ")) == 516
    assert media.gemini_media_tokens("audio/mp3", None) == 60 * 32
    assert media.gemini_media_tokens("text/plain", b64(b"x" * 30)) == 10
    header = b"\x00\x00\x00\x6cmvhd" + bytes(12) + struct.pack(">II", 1000, 10_000) + bytes(80)
    assert media.gemini_media_tokens("video/mp4", b64(b"\x00\x00\x00\x10ftypmp42" + header)) == 2630
    assert media.gemini_media_tokens("video/mp4", b64(bytes(31_250))) == 264


def test_files_and_audio() -> None:
    assert media.openai_file_tokens(b64(b"%PDF-1.4 /Type /Page "), "application/pdf") == 1600
    assert media.openai_file_tokens(None, "application/pdf") == 16_000
    wave = (
        b"RIFF" + bytes(4) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 16_000, 32_000, 2, 16) + bytes(64_000 - 36)
    )
    assert media.audio_tokens(b64(wave), "audio/wav") == 21
    assert media.audio_tokens(None, "audio/mp3") == 600


def test_label() -> None:
    assert media.label("image/png", (640, 480)) == "image/png 640x480"
    assert media.label("application/pdf", name="rulebook.pdf") == "rulebook.pdf"
    assert media.label("audio/wav") == "audio/wav"
