"""What all of it cost: the numbers of `dragoman usage`, as a plot and as a table."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visits
from tests.browser.serving import Served


@pytest.mark.parametrize("by", ["day", "model", "project", "agent"])
def test_it_is_told_by_whatever_one_likes(by: str, kept: Served, visit: Visits) -> None:
    page = visit(kept).page
    page.get_by_role("link", name="Usage").click()
    page.get_by_role("combobox", name="Calls").select_option("ever")
    page.get_by_role("combobox", name="By").select_option(by)
    report = kept.client.get("usage", by=by)
    plot = page.get_by_role("img", name=f"Cost by {by}")
    expect(plot).to_be_visible()
    keys = page.get_by_role("rowheader")
    expect(keys).to_have_text([row["key"] for row in report["rows"]])
    for row in report["rows"]:
        told = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name=row["key"], exact=True))
        expect(told).to_contain_text(str(row["calls"]))
        if row["unpriced_calls"]:
            words = "at least" if row["unpriced_calls"] < row["calls"] else "unknown"
            expect(told).to_contain_text(words)
    bars = plot.locator("title")
    expect(bars).to_have_count(min(60, len(report["rows"])))


def test_what_nobody_knows_is_said(kept: Served, visit: Visits) -> None:
    page = visit(kept, "#/usage?by=model&days=").page
    expect(page.get_by_text(re.compile("^at least ~")).first).to_be_visible()
    unknown = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="mock-model"))
    expect(unknown).to_contain_text("unknown")
    expect(unknown).to_contain_text("9 calls")
    expect(page.get_by_text("the price of the model mock-model is not known")).to_be_visible()


def test_other_measures_and_times(kept: Served, visit: Visits) -> None:
    page = visit(kept, "#/usage?by=agent&days=").page
    page.get_by_role("combobox", name="Plot").select_option("Tokens")
    expect(page.get_by_role("img", name="Tokens by agent")).to_be_visible()
    page.get_by_role("combobox", name="Plot").select_option("Calls")
    expect(page.get_by_role("img", name="Calls by agent")).to_be_visible()
    page.reload()
    expect(page.get_by_role("img", name="Calls by agent")).to_be_visible()
    totals = kept.client.get("usage", by="agent")["totals"]
    expect(page.get_by_role("definition").filter(has_text=re.compile(f"^{totals['calls']}$"))).to_be_visible()


def test_a_project_leads_to_its_sessions(kept: Served, visit: Visits) -> None:
    page = visit(kept, "#/usage?by=project&days=").page
    page.get_by_role("link", name="/home/dev/work/app_basic", exact=True).click()
    expect(page.get_by_role("searchbox", name="Folder")).to_have_value("/home/dev/work/app_basic")
    expect(page.get_by_text(re.compile("^1 session found"))).to_be_visible()
