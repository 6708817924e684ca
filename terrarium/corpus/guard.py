"""Where the fetcher never goes: what is not http(s), and addresses that are not of the open internet, in whatever spelling, behind
redirects, or behind a name.

A page names the next address, so whoever writes pages would choose what is asked inside the network of whoever crawls: a router, a
database, a cloud's metadata service (server-side request forgery). Names are checked where they are resolved, and the connection goes to
the very address that was checked, so that a name which resolves differently the second time gains nothing (DNS rebinding).
The proxy that a profile names is exempt, or where it names none that of the environment, and nothing else is. Behind a proxy names are
resolved by the proxy: then what stands in the address is judged here, and what a name leads to is the proxy's to judge.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request
from scrapy.resolver import CachingThreadedResolver

if TYPE_CHECKING:
    from twisted.internet.defer import Deferred

# As inet_aton reads them, and so many resolvers: 127.1, 0x7f000001, 017700000001, 2130706433.
_NUMBERS = re.compile(r"^(?:0[xX][0-9a-fA-F]+|[0-9]+)(?:\.(?:0[xX][0-9a-fA-F]+|[0-9]+)){0,3}$")
# IPv6 addresses that carry an IPv4 one: NAT64 (RFC 6052), and addresses of tunnels that nothing of the open web uses.
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
# Metadata services outside of the ranges that `ipaddress` knows as private: Oracle's, and the one of Azure, which has a public address.
_METADATA = tuple(map(ipaddress.ip_network, ("192.0.0.0/24", "168.63.129.16/32")))
# An escaped host is read in one way here and perhaps in another by a proxy.
_NO_NAME = re.compile(r"[%\x00-\x20\x7f]")
# Names that stand for this machine or the one beside it, whatever a resolver says.
_LOCAL_NAMES = ("localhost", "local", "internal", "intranet", "lan", "corp", "home", "home.arpa", "localdomain")


class PrivateAddress(IgnoreRequest):
    """An address that the fetcher refuses; says which and why."""


def refused(address: str) -> str | None:
    """Why an IP address is none of the open internet (private, loopback, link-local, shared, multicast, metadata services), or None where it is."""
    try:
        found = ipaddress.ip_address(address.strip("[]").partition("%")[0])
    except ValueError:
        return "it is no IP address"
    if isinstance(found, ipaddress.IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour or (found.teredo[1] if found.teredo else None)
        if found in _NAT64:
            inner = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
        if inner is not None:
            return refused(str(inner))
    for name, is_so in (
        ("cloud's metadata", any(found in network for network in _METADATA)),
        ("loopback", found.is_loopback),
        ("link-local", found.is_link_local),
        ("unspecified", found.is_unspecified),
        ("multicast", found.is_multicast),
        ("private", found.is_private or getattr(found, "is_site_local", False)),
        ("reserved", found.is_reserved or not found.is_global),
    ):
        if is_so:
            return f"{found} is a {name} address"
    return None


def refused_url(url: str) -> str | None:
    """Why a URL is refused by what stands in it, or None; names are not resolved here."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError as error:
        return f"it cannot be read ({error})"
    if parts.scheme.lower() not in ("http", "https"):
        return f"{parts.scheme or 'nothing'} is neither http nor https"
    host = host.rstrip(".").lower()
    if not host:
        return "it names no host"
    if ":" in host:
        return refused(host)
    if _NO_NAME.search(host):
        return f"{host[:80]!r} is no host name"
    if _NUMBERS.match(host):
        try:
            return refused(socket.inet_ntoa(socket.inet_aton(host)))
        except OSError:
            return f"{host} is no IP address"
    if any(host == name or host.endswith("." + name) for name in _LOCAL_NAMES):
        return f"{host} is a name of a local network"
    if "." not in host:
        return f"{host} is a name without a domain"
    return None


class RefusePrivateAddresses:
    """Downloader middleware: every request passes here, those of redirects, sitemaps and robots.txt too."""

    def process_request(self, request: Request) -> None:
        why = refused_url(request.url)
        if why is not None:
            raise PrivateAddress(f"not fetched, since {why}")


class TellRefusedNames:
    """Downloader middleware, next to the network: a failed look-up of a name that was refused becomes the refusal. Twisted loses the reason."""

    def process_exception(self, request: Request, exception: Exception) -> None:
        why = _refused_names.get(urlsplit(request.url).hostname or "")
        if why is not None:
            raise PrivateAddress(why)


_refused_names: dict[str, str] = {}


class GuardedResolver(CachingThreadedResolver):
    """Resolves names and fails where the answer is refused; what connects gets the address that was checked. IPv4, as Scrapy's default."""

    def __init__(self, reactor: Any, cache_size: int, timeout: float) -> None:
        super().__init__(reactor, cache_size, timeout)
        self.exempt = {urlsplit(proxy).hostname for proxy in getproxies().values()}

    def getHostByName(self, name: str, timeout: Any = ()) -> Deferred[str]:  # noqa: N802 - the name is given
        found = super().getHostByName(name, timeout)
        return found if name in self.exempt else found.addCallback(self._checked, name)

    @staticmethod
    def _checked(address: str, name: str) -> str:
        why = refused(address)
        if why is not None:
            _refused_names[name] = f"not fetched, since {name} leads to an address that is refused: {why}"
            raise PrivateAddress(_refused_names[name])
        return address
