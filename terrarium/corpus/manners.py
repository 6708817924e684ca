"""Manners of the crawler: robots.txt, leaving alone a site that does not answer, and saying why a request failed."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import urlsplit

from protego import Protego
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request, Response
from scrapy.http.request import NO_CALLBACK
from scrapy.spidermiddlewares.httperror import HttpError

from terrarium.corpus.guard import PrivateAddress


class SiteGivenUp(IgnoreRequest):
    """The host failed too often in a row."""


class GiveUpOnSites:
    """Downloader middleware: a host that fails `GIVE_UP_AFTER` times in a row is not asked again, so that it costs itself alone.

    An address and a name that cannot be reached over https count apart from the same over http.
    """

    def __init__(self, give_up_after: int) -> None:
        self.give_up_after = give_up_after
        self.failures: dict[str, int] = {}
        self.last: dict[str, str] = {}

    @classmethod
    def from_crawler(cls, crawler: Any) -> GiveUpOnSites:
        return cls(crawler.settings.getint("GIVE_UP_AFTER"))

    def process_request(self, request: Request) -> None:
        site = _site(request)
        if self.failures.get(site, 0) >= self.give_up_after:
            raise SiteGivenUp(f"{site} failed {self.give_up_after} times in a row ({self.last.get(site, '')})")

    def process_response(self, request: Request, response: Response) -> Response:
        self.failures[_site(request)] = 0
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        reason, detail = reason_of(exception)
        if reason in ("no_answer", "unreachable"):
            site = _site(request)
            self.failures[site] = self.failures.get(site, 0) + 1
            self.last[site] = detail


class ObeyRobots:
    """Downloader middleware: robots.txt of each site, fetched once, as RFC 9309 reads it.

    A site that refuses the file (4xx) allows everything; one that cannot give it (5xx, no answer) is left alone. Scrapy's own
    middleware is not used: in 2.19 requests that wait together for one robots.txt share a Deferred whose result the first of them
    consumes, and the others are let through; and it keeps one set of rules for http and https.
    """

    def __init__(self, crawler: Any) -> None:
        self.crawler = crawler
        self.agent: str = crawler.settings["USER_AGENT"]
        self.rules: dict[str, asyncio.Task[Protego | SiteGivenUp | PrivateAddress]] = {}

    @classmethod
    def from_crawler(cls, crawler: Any) -> ObeyRobots:
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        if request.meta.get("robots"):
            return
        site = _site(request)
        if site not in self.rules:
            self.rules[site] = asyncio.ensure_future(self._load(site))
        rules = await self.rules[site]
        if isinstance(rules, SiteGivenUp | PrivateAddress):
            raise type(rules)(str(rules))
        if not rules.can_fetch(request.url, self.agent):
            raise IgnoreRequest("Forbidden by robots.txt")

    async def _load(self, site: str) -> Protego | SiteGivenUp | PrivateAddress:
        request = Request(f"{site}/robots.txt", priority=1000, meta={"robots": True}, callback=NO_CALLBACK, dont_filter=True)
        try:
            response = await self.crawler.engine.download_async(request)
        except PrivateAddress as refusal:
            return refusal
        except Exception as error:  # noqa: BLE001 - whatever failed, the site's rules are unknown
            return SiteGivenUp(f"{site}/robots.txt: {reason_of(error)[1]}")
        if response.status >= 500 or response.status == 429:
            return SiteGivenUp(f"{site}/robots.txt answered with status {response.status}")
        return Protego.parse(response.body.decode("utf-8", "ignore") if response.status == 200 else "")


def _site(request: Request) -> str:
    parts = urlsplit(request.url)
    return f"{parts.scheme}://{parts.netloc}"


def reason_of(error: BaseException) -> tuple[str, str]:
    """Why a request failed, as a short name (gone, http_500, robots, redirects, no_answer, unreachable, cut_off, too_large ...) and a sentence."""
    text = str(error) or type(error).__name__
    name = type(error).__name__
    if isinstance(error, HttpError):
        status = error.response.status
        return ("gone" if status in (404, 410) else f"http_{status}"), f"the site answered with status {status}"
    if isinstance(error, PrivateAddress):
        return "refused_address", text
    if isinstance(error, SiteGivenUp):
        return "site_given_up", text
    if isinstance(error, IgnoreRequest):
        if "robots" in text.lower():
            return "robots", "robots.txt does not allow it"
        if "decompression" in text:
            return "too_large", "larger than the limit once it is unpacked"
        return ("redirects", "too many redirects") if "redirect" in text.lower() else ("refused", text)
    if "larger than" in text or name == "DownloadCancelledError" or "maxsize" in text.lower():
        return "too_large", "larger than the limit"
    if "timeout" in name.lower():
        return "no_answer", "no answer within the time limit"
    if name in ("ResponseFailed", "ResponseDataLoss", "ResponseDataLossError", "DownloadFailedError"):
        return "cut_off", "the answer broke off"
    return "unreachable", f"{name}: {text}"[:300]
