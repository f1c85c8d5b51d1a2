"""A page in Debian's Chromium, which keeps count of what holds it up."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from playwright.sync_api import sync_playwright

SHORT: Final = 50.0
"""Milliseconds up to which Chromium calls no task long, and tells of none."""
COUNT: Final = """
const tasks = [];
new PerformanceObserver((list) => tasks.push(...list.getEntries())).observe({ type: "longtask", buffered: true });
window.longestSince = (begun) => Math.max(0, ...tasks.filter((task) => task.startTime >= begun).map((task) => task.duration));
"""


@contextmanager
def page(*scripts: str) -> Iterator[Any]:
    """A page of a browser of its own; the scripts are run in whatever it shows, before anything else is."""
    program = shutil.which("chromium")
    if program is None:
        raise FileNotFoundError("chromium is not installed; Debian has it in the package chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        opened = browser.new_page(viewport={"width": 1200, "height": 900})
        for script in (COUNT, *scripts):
            opened.add_init_script(script)
        yield opened
        browser.close()


def now(opened: Any) -> float:
    """Milliseconds since the page's navigation."""
    time: float = opened.evaluate("performance.now()")
    return time


def longest_task(opened: Any, since: float) -> float:
    """The longest task that has begun since then, in milliseconds; SHORT if there was no long one."""
    opened.wait_for_timeout(SHORT)  # a task is told of when it has ended
    longest: float = opened.evaluate("(begun) => window.longestSince(begun)", since)
    return max(longest, SHORT)
