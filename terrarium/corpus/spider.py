"""The crawler process: `python -m terrarium.corpus.spider ORDER.json` fetches what the order names and appends to its journal.

Nothing is followed but redirects and sitemaps: which pages are worth having is decided by whoever wrote the order.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import Request, Response
from scrapy.utils.sitemap import Sitemap
from twisted.internet import task
from twisted.python.failure import Failure

from terrarium.corpus.extract import page_from_html
from terrarium.corpus.fetch import Fetched, journal_line, read_journal
from terrarium.corpus.manners import reason_of
from terrarium.corpus.page import Page, now
from terrarium.corpus.refuse import UnusablePage
from terrarium.corpus.urls import canonical_url, site_of
from terrarium.corpus.web import WebSettings

_SITEMAP_DEPTH = 3


class PageSpider(scrapy.Spider):
    """Fetches the pages of one order and turns each into a journal line."""

    name = "pages"

    def __init__(self, order: dict[str, Any], **more: Any) -> None:
        super().__init__(**more)
        self.order = order
        # What an earlier attempt finished is not asked again, under whatever spelling or from whatever sitemap.
        self.seen = {name for found in read_journal(Path(order["journal"])) if (name := _name(found.url))}
        self.journal = Path(order["journal"]).open("a", encoding="utf-8")  # noqa: SIM115 - open for as long as the spider lives
        self.known = self.finished = 0

    async def start(self) -> AsyncIterator[Request]:
        for address in self.order["sitemaps"]:
            yield Request(
                address,
                self.parse_sitemap,
                errback=self.failed,
                dont_filter=True,
                priority=10,
                meta={"asked": address, "source": address, "depth_left": _SITEMAP_DEPTH},
            )
        for address in self.order["urls"]:
            for request in self.ask(address, ""):
                yield request

    def ask(self, address: str, source: str) -> Iterator[Request]:
        """A request for a page, unless another spelling of it was asked for already."""
        try:
            name = canonical_url(address)
            request = Request(address.strip(), self.parse_page, errback=self.failed, dont_filter=True, meta={"asked": address, "source": source})
        except ValueError as error:
            self.known += 1
            self.note(Fetched(address, None, "no_url", str(error), source=source))
            return
        if name not in self.seen:
            self.seen.add(name)
            self.known += 1
            yield request

    def parse_sitemap(self, response: Response) -> Iterator[Request]:
        source, left = response.meta["source"], response.meta["depth_left"]
        try:
            sitemap = Sitemap(response.body)
            entries = [entry["loc"] for entry in sitemap if entry.get("loc")]
        except Exception as error:  # noqa: BLE001 - lxml and scrapy raise many kinds on broken XML
            self.note(Fetched(response.meta["asked"], None, "unreadable_sitemap", f"The sitemap {response.url} is no XML: {error}", source=source))
            return
        if not entries:
            self.note(Fetched(response.meta["asked"], None, "unreadable_sitemap", f"The sitemap {response.url} lists no pages.", source=source))
            return
        if sitemap.type == "sitemapindex":
            if left > 0:
                for entry in entries:
                    meta = {"asked": entry, "source": source, "depth_left": left - 1}
                    yield Request(entry, self.parse_sitemap, errback=self.failed, dont_filter=True, priority=10, meta=meta)
            return
        host = site_of(response.url)
        for entry in entries[: self.order["sitemaps"][source]]:
            try:
                if site_of(entry) != host:
                    continue
            except ValueError:
                continue
            yield from self.ask(entry, source)

    def parse_page(self, response: Response) -> None:
        asked, source = response.meta["asked"], response.meta["source"]
        size = len(response.body)
        content_type = (response.headers.get("Content-Type") or b"").decode("latin-1")
        try:
            page = page_from_html(response.body, response.url, content_type)
            seen = (asked, *response.meta.get("redirect_urls", ()), response.url)
            self.note(Fetched(asked, _with_aliases(page, seen), bytes=size, source=source))
        except UnusablePage as refused:
            self.note(Fetched(asked, None, refused.reason, str(refused), size, source))
        except Exception as error:  # noqa: BLE001 - one page, whatever is wrong with it, costs itself alone
            self.note(
                Fetched(asked, None, "unreadable", f"The page {response.url} could not be read: {type(error).__name__}: {error}"[:500], size, source)
            )

    def failed(self, failure: Failure) -> Iterator[Request] | None:
        request: Request = failure.request  # type: ignore[attr-defined]
        reason, detail = reason_of(failure.value or RuntimeError("no reason given"))
        if reason in ("no_answer", "unreachable", "site_given_up") and request.url.startswith("https://") and not request.meta.get("plain"):
            # Canonical addresses are https; the site behind may speak plain HTTP only.
            return iter([request.replace(url="http://" + request.url.removeprefix("https://"), meta={**_own_meta(request), "plain": True})])
        self.note(Fetched(request.meta["asked"], None, reason, f"{request.url}: {detail}"[:500], source=request.meta["source"]))
        return None

    def note(self, found: Fetched) -> None:
        self.journal.write(journal_line(found))
        self.journal.flush()
        self.finished += 1
        print(self.finished, max(self.known, self.finished), flush=True)


def _name(address: str) -> str | None:
    try:
        return canonical_url(address)
    except ValueError:
        return None


def _own_meta(request: Request) -> dict[str, Any]:
    return {name: request.meta[name] for name in ("asked", "source", "depth_left") if name in request.meta}


def _with_aliases(page: Page, seen: tuple[str, ...]) -> Page:
    from dataclasses import replace

    names: list[str] = []
    for address in seen:
        names += [canonical_url(address), address.strip()]
    aliases = tuple(dict.fromkeys(name for name in (*page.aliases, *names) if name != page.url))
    return replace(page, aliases=aliases, fetched_at=now())


def main(order_file: str) -> None:
    """Run one order to its end; ends early when the process that started it is gone."""
    order = json.loads(Path(order_file).read_text(encoding="utf-8"))
    web = WebSettings(**order["web"])
    settings = {
        "USER_AGENT": web.user_agent,
        # Ours obeys (see manners.py), Scrapy's does not.
        "ROBOTSTXT_OBEY": False,
        "CONCURRENT_REQUESTS": web.concurrency,
        "CONCURRENT_REQUESTS_PER_DOMAIN": web.concurrency_per_host,
        "DOWNLOAD_DELAY": web.delay_seconds,
        "DOWNLOAD_TIMEOUT": web.timeout_seconds,
        "RETRY_ENABLED": web.retries > 0,
        "RETRY_TIMES": web.retries,
        "REDIRECT_MAX_TIMES": web.max_redirects,
        "DOWNLOAD_MAXSIZE": web.max_bytes,
        "DOWNLOAD_WARNSIZE": 0,
        "GIVE_UP_AFTER": web.give_up_after,
        "DNS_RESOLVER": "terrarium.corpus.guard.GuardedResolver",
        "DOWNLOADER_MIDDLEWARES": {
            "terrarium.corpus.guard.RefusePrivateAddresses": 50,
            "terrarium.corpus.guard.TellRefusedNames": 950,
            "terrarium.corpus.manners.ObeyRobots": 100 if web.obey_robots else None,
            # After retries (550), so that every attempt counts.
            "terrarium.corpus.manners.GiveUpOnSites": 560,
        },
        "COOKIES_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_LEVEL": "ERROR",
        "LOGSTATS_INTERVAL": 0,
    }
    process = CrawlerProcess(settings)
    process.crawl(PageSpider, order=order)
    parent = os.getppid()
    watch = task.LoopingCall(lambda: None if os.getppid() == parent else os._exit(3))
    watch.start(1.0, now=False)
    process.start()
    if any(crawler.stats and crawler.stats.get_value("finish_reason") != "finished" for crawler in process.crawlers):
        sys.exit(2)


if __name__ == "__main__":
    main(sys.argv[1])
