"""A headless Chromium for tests and pictures: Debian's, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def chromium() -> str | None:
    """Where a Chromium is installed; CHROMIUM names another."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def browser(width: int = 1440, height: int = 900) -> Iterator[Any]:
    """A page of a fresh browser. The test that asks for it is skipped where there is none."""
    program = chromium()
    if program is None:
        pytest.skip("no Chromium here; install it (Debian: apt-get install chromium) or name one with CHROMIUM=...")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        # The sandbox needs rights that containers do not give; the pages are our own.
        opened = driver.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        try:
            page = opened.new_page(viewport={"width": width, "height": height})
            page.set_default_timeout(60_000)
            yield page
        finally:
            opened.close()
