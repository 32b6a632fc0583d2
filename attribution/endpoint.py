"""The address of a language model and the key that belongs there, as one value."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from pydantic import SecretStr

from attribution.errors import BadSetting

OPENAI = "https://api.openai.com/v1"
LISTED = "ATTRIBUTION_LLM_ADDRESSES"  # the variable with the addresses that visitors may choose beside public ones
ADDRESS, KEY = "openai_base_url", "openai_api_key"  # the names of both parts on the command line and in errors


@dataclass(frozen=True)
class Endpoint:
    """An OpenAI-compatible endpoint. Both parts come from the same place: the environment, `secrets.toml`, the command
    line or a form. An address that is given without a key has no key, so that none reaches a place it is not meant for.

    BadSetting for parts that do not fit; it repeats neither.
    """

    address: str = OPENAI
    key: SecretStr = SecretStr("")
    of_visitor: bool = False  # only public addresses are reached, and errors never quote what they reply

    def __post_init__(self) -> None:
        object.__setattr__(self, "address", _plain_address(self.address))
        object.__setattr__(self, "key", _key_of_one_line(self.key))

    def __bool__(self) -> bool:
        """True where prompts can be sent there. A server of your own may need no key."""
        return bool(self.key.get_secret_value()) or self.address != OPENAI


def _plain_address(text: str) -> str:
    """The address is shown, so it must not contain anything secret."""
    address = text.strip().rstrip("/") or OPENAI
    try:
        parts = urlsplit(address)
        fits = parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc
    except ValueError:
        fits = False
    if not fits or parts.query or parts.fragment:
        raise BadSetting(
            ADDRESS, "expected http(s)://host/path without user, password or query; a key has a setting of its own"
        )
    return address


def _key_of_one_line(key: SecretStr) -> SecretStr:
    secret = key.get_secret_value().strip()
    if not (secret.isascii() and secret.isprintable()) or " " in secret:
        raise BadSetting(KEY, "expected a key of printable ASCII characters without spaces")
    return SecretStr(secret)
