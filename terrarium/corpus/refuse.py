"""Pages that are none: challenges of a firewall, errors with status 200, empty shells, files of other kinds."""

from __future__ import annotations

import re

from terrarium.errors import TerrariumError

MAX_BYTES = 20_000_000
_CHALLENGE_MARKS = re.compile(
    r"/cdn-cgi/challenge-platform|id=[\"']challenge-(?:form|running|stage)|cf-browser-verification|_cf_chl_opt|px-captcha|captcha-delivery\.com|"
    r"awswafcaptcha|_incapsula_resource|class=[\"'](?:g-recaptcha|h-captcha|cf-turnstile)\b|ddos-guard",
    re.IGNORECASE,
)
_CHALLENGE_WORDS = re.compile(
    r"just a moment\s*(?:\.\.\.|…)|attention required|checking (?:if the site connection is secure|your browser)|"
    r"verify(?:ing)? (?:that )?you are (?:a )?human|"
    r"are you (?:a )?(?:human|robot)\b|i'?m not a robot|enable javascript and cookies to continue|complete the (?:security check|"
    r"captcha)|unusual traffic from your|"
    r"please (?:enable cookies|complete the security)|prove (?:that )?you are human|ddos protection by|安全验证|人机验证|请完成验证|验证您是真人",
    re.IGNORECASE,
)
_CHALLENGE_TITLE = re.compile(
    r"^(?:just a moment|attention required|security check|human verification|robot check|access denied|ddos-guard|安全验证|人机验证)\b", re.IGNORECASE
)
_ERROR_TITLE = re.compile(
    r"^\W*(?:error\s*)?(?:40[0134]|410|429|50[0-4])\b|^(?:the )?page (?:was |is |could not be |cannot be |"
    r"can't be )?(?:not )?found\b(?<!page found)|^not found\b|"
    r"^(?:internal )?server error|^bad gateway|^service unavailable|^forbidden\b|^access denied|^site (?:not found|maintenance)|^under maintenance|"
    r"^(?:找不到|页面不存在|页面未找到|404)",
    re.IGNORECASE,
)
_ERROR_WORDS = re.compile(
    r"page (?:you (?:are|were) looking for|you requested|requested)[^.]{0,60}(?:not|n't|no longer|moved|removed)|(?:this|the|"
    r"that) page (?:does not|doesn't|no longer) exists?|"
    r"could not find (?:the|that|this) page|page (?:was |could )?not (?:be )?found|error 404|404 not found|(?:您|你)?访问的页面不存在|页面不存在|"
    r"找不到(?:该|此)?页面",
    re.IGNORECASE,
)
# A real article on captchas or error 404 is longer than a page that only is one.
_SHORT = 900
_LEAST = 25


class UnusablePage(TerrariumError):
    """A fetched document that is no page of the corpus. `reason` is one of too_large, not_html, challenge, error_page, empty."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


def refuse_bytes(data: bytes, url: str, content_type: str | None) -> None:
    """Refuse what is too large or no HTML, from its first bytes and its declared type.

    Raises:
        UnusablePage: too_large, not_html or empty.
    """
    if len(data) > MAX_BYTES:
        raise UnusablePage("too_large", f"The page {url} has {len(data):,} bytes; the limit is {MAX_BYTES:,}.")
    if not data.strip(b" \t\r\n\x00\xef\xbb\xbf"):
        raise UnusablePage("empty", f"The page {url} is empty.")
    kind = (content_type or "").partition(";")[0].strip().lower()
    head = data[:1024].lstrip().lower()
    marked_up = b"<html" in head or b"<!doctype html" in head or b"<head" in head or b"<body" in head
    binary = head.startswith((b"%pdf", b"\x89png", b"gif8", b"\xff\xd8\xff", b"pk\x03\x04", b"\x1f\x8b", b"\x7felf", b"rar!"))
    if binary or (kind and not marked_up and not re.match(r"text/(?:html|plain|markdown)|application/(?:xhtml\+xml|octet-stream)", kind)):
        raise UnusablePage("not_html", f"The document {url} is no HTML (it says {kind or 'nothing'}).")


def refuse_text(source: str, title: str, text: str, url: str) -> None:
    """Refuse challenges, error pages and empty shells, judged by what is left as main text.

    Raises:
        UnusablePage: challenge, error_page or empty.
    """
    short = len(text) < _SHORT
    if short:
        words = f"{title}\n{text}\n" + (
            re.sub(r"<(script|style)\b.*?</\1\s*>|<[^>]+>", " ", source, flags=re.DOTALL | re.IGNORECASE)[:3000] if len(text) < 300 else ""
        )
        says_so = _CHALLENGE_WORDS.search(words) is not None
        if _CHALLENGE_TITLE.search(title) or (says_so and len(text) < 300) or (says_so and _CHALLENGE_MARKS.search(source)):
            raise UnusablePage("challenge", f"The page {url} is a challenge of a firewall ({title[:80]!r}), not content.")
        if _ERROR_TITLE.search(title) or (len(text) < 400 and _ERROR_WORDS.search(words)):
            raise UnusablePage("error_page", f"The page {url} is an error page ({title[:80]!r}) sent as if it were content.")
    if sum(2 if char > "\u2e80" else 1 for char in text if char.isalnum()) < _LEAST:
        raise UnusablePage("empty", f"The page {url} has no main content.")
