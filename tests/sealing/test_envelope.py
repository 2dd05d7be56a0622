"""A sealed file opens with its key, under its name, as it was, and in no other way."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from hypothesis import given
from hypothesis import strategies as st

from calib_pipeline.errors import InputError
from calib_pipeline.sealing import (
    KEY_FILE_VARIABLE,
    KEY_VARIABLE,
    CannotOpen,
    SealingKey,
    key_id_of,
    key_of_environment,
    opened,
    sealed,
)

KEY, OTHER = SealingKey.of(bytes(32)), SealingKey.of(bytes([1]) * 32)


@given(st.binary(max_size=2000), st.text(max_size=50))
def test_what_was_sealed_opens_as_it_was(content: bytes, name: str) -> None:
    envelope = sealed(KEY, name, content)
    assert opened(KEY, name, envelope) == content
    assert key_id_of(envelope) == KEY.key_id
    assert len(content) < 8 or content not in envelope.split(b"\n", 2)[2]


def test_the_cipher_is_aes_gcm_of_the_derived_key_over_head_and_name() -> None:
    envelope = sealed(KEY, "tables/a", b"label")
    magic, head, text = envelope.split(b"\n", 2)
    said = json.loads(head)
    plain = AESGCM(KEY.encryption).decrypt(
        bytes.fromhex(said["nonce"]), text, magic + b"\n" + head + b"\n" + b"tables/a"
    )
    assert plain == b"label"
    assert set(said) == {"key_id", "nonce", "commitment"}


def test_keys_are_those_of_rfc_5869() -> None:
    import hashlib
    import hmac

    secret = os.urandom(32)
    extracted = hmac.digest(bytes(32), secret, "sha256")
    expanded = hmac.new(extracted, b"calib-pipeline sealing 1: encryption\x01", hashlib.sha256).digest()
    assert SealingKey.of(secret).encryption == expanded


def test_sealing_twice_gives_other_bytes() -> None:
    assert sealed(KEY, "a", b"label") != sealed(KEY, "a", b"label")


@pytest.mark.parametrize("at", [0, 20, 60, -1])
def test_an_altered_file_does_not_open(at: int) -> None:
    envelope = bytearray(sealed(KEY, "a", b"some labels"))
    envelope[at] ^= 1
    with pytest.raises(CannotOpen):
        opened(KEY, "a", bytes(envelope))


@pytest.mark.parametrize("cut", [0, 5, 40, 190])
def test_a_cut_file_does_not_open(cut: int) -> None:
    with pytest.raises(CannotOpen):
        opened(KEY, "a", sealed(KEY, "a", b"some labels")[:cut])


def test_it_opens_under_its_own_name_alone() -> None:
    with pytest.raises(CannotOpen, match="put in another's place"):
        opened(KEY, "b", sealed(KEY, "a", b"some labels"))


def test_another_key_is_named_with_the_one_that_is_needed() -> None:
    with pytest.raises(CannotOpen, match=f"{KEY.key_id}.*{OTHER.key_id}"):
        opened(OTHER, "a", sealed(KEY, "a", b"some labels"))


class TestTheKey:
    TEXT = base64.b64encode(bytes(32)).decode()

    @pytest.fixture(autouse=True)
    def _no_key(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in (KEY_VARIABLE, KEY_FILE_VARIABLE):
            monkeypatch.delenv(name, raising=False)

    def test_there_may_be_none(self, tmp_path: Path) -> None:
        assert key_of_environment(tmp_path) is None

    @pytest.mark.parametrize("text", [TEXT, f"{TEXT}\n", base64.urlsafe_b64encode(bytes(32)).decode()])
    def test_from_the_environment(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
        monkeypatch.setenv(KEY_VARIABLE, text)
        assert key_of_environment(tmp_path) == KEY

    def test_from_a_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        file, project = tmp_path / "key", tmp_path / "project"
        file.write_text(self.TEXT + "\n")
        project.mkdir()
        monkeypatch.setenv(KEY_FILE_VARIABLE, str(file))
        assert key_of_environment(project) == KEY

    @pytest.mark.parametrize("through_a_link", [False, True])
    def test_not_from_a_file_in_the_project(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, through_a_link: bool
    ) -> None:
        project = tmp_path / "project"
        project.mkdir()
        (project / "key").write_text(self.TEXT)
        (tmp_path / "link").symlink_to(project / "key")
        monkeypatch.setenv(KEY_FILE_VARIABLE, str(tmp_path / "link" if through_a_link else project / "key"))
        with pytest.raises(InputError, match="lies in the project folder"):
            key_of_environment(project)

    def test_not_from_both(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(KEY_VARIABLE, self.TEXT)
        monkeypatch.setenv(KEY_FILE_VARIABLE, "somewhere")
        with pytest.raises(InputError, match="both set"):
            key_of_environment(tmp_path)

    @pytest.mark.parametrize("text", ["short", base64.b64encode(bytes(31)).decode(), "é" * 44, "=" * 44])
    def test_what_is_no_key_is_refused_and_not_shown(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
    ) -> None:
        monkeypatch.setenv(KEY_VARIABLE, text)
        with pytest.raises(InputError, match="32 bytes in base64") as caught:
            key_of_environment(tmp_path)
        assert text not in str(caught.value)

    def test_a_file_that_is_not_there(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(KEY_FILE_VARIABLE, str(tmp_path / "gone"))
        with pytest.raises(InputError, match="cannot be read"):
            key_of_environment(tmp_path / "project")

    def test_its_secrets_are_in_no_repr(self) -> None:
        assert KEY.encryption.hex() not in repr(KEY)
        assert "encryption" not in repr(KEY)
