"""Leaving alone a site that does not answer, and naming why a request failed."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request, Response
from scrapy.robotstxt import RobotParser
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.internet.defer import Deferred


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


class ObeyRobots(RobotsTxtMiddleware):
    """Scrapy's own, for requests that wait together for one robots.txt.

    In Scrapy 2.19 the first of them gets the rules and the others get None, which allows everything: they await one Deferred,
    whose result the first await consumes.
    """

    async def robot_parser(self, request: Request) -> RobotParser | None:
        given = await super().robot_parser(request)
        kept = self._parsers.get(urlsplit(request.url).netloc)
        return given if kept is None or isinstance(kept, Deferred) else kept


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
    if isinstance(error, SiteGivenUp):
        return "site_given_up", text
    if isinstance(error, IgnoreRequest):
        if "robots" in text.lower():
            return "robots", "robots.txt does not allow it"
        return ("redirects", "too many redirects") if "redirect" in text.lower() else ("refused", text)
    if "larger than" in text or name == "DownloadCancelledError" or "maxsize" in text.lower():
        return "too_large", "larger than the limit"
    if "timeout" in name.lower():
        return "no_answer", "no answer within the time limit"
    if name in ("ResponseFailed", "ResponseDataLoss", "ResponseDataLossError", "DownloadFailedError"):
        return "cut_off", "the answer broke off"
    return "unreachable", f"{name}: {text}"[:300]
