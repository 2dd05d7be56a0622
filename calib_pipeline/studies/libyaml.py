"""YAML scanned by libyaml, which takes a tenth of the time; import it only where ``yaml.__with_libyaml__`` holds."""

from __future__ import annotations

from typing import Any

import yaml
from yaml._yaml import CParser
from yaml.composer import Composer
from yaml.resolver import Resolver


class _Scanned(Composer, CParser, Resolver):
    """libyaml's events, composed in Python, where a nesting without end is an error and no crash."""

    def __init__(self, text: str) -> None:
        CParser.__init__(self, text)
        Composer.__init__(self)
        Resolver.__init__(self)


def compose(text: str, resolvers: dict[str, Any]) -> yaml.Node | None:
    """The one node of a text, plain scalars resolved as given; ``yaml.YAMLError`` where it is no YAML."""
    scanned = _Scanned(text)
    scanned.yaml_implicit_resolvers = resolvers
    node: yaml.Node | None = scanned.get_single_node()
    return node
