"""A browser on the program as a user starts it, and what is done on the page again and again."""

import re
import signal
import stat
import subprocess
import sys
from contextlib import contextmanager, suppress

import psutil

from chromium import open_browser


def modes_of_files(folder):
    """Who may read what the program writes; it may take files away meanwhile."""
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            if stat.S_ISREG(mode := path.stat().st_mode):
                yield oct(stat.S_IMODE(mode))


@contextmanager
def program(folder):
    """The program: its process and the address that it prints. In the end it is stopped."""
    process = subprocess.Popen(
        [sys.executable, "-m", "cyclearn", "app", "--no-browser", "--workspace", folder],
        stdout=subprocess.PIPE,
        text=True,
        # Ignored where the tests themselves run in the background of a shell.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        address = re.search(r"http://\S+", process.stdout.readline())[0]
        yield psutil.Process(process.pid), address
        assert set(modes_of_files(folder)) == {"0o600"}
    finally:
        process.send_signal(signal.SIGINT)
        try:
            said = process.communicate(timeout=120)[0]
        except subprocess.TimeoutExpired:
            # Nothing outlives a test that fails.
            process.kill()
            process.communicate()
            raise
    assert "Ended." in said
    assert process.returncode == 0


@contextmanager
def browser_context(address):
    """A browser that has not been let in yet; strangers are not."""
    with open_browser() as browser:
        stranger = browser.new_context()
        refused = stranger.new_page()
        for wrong in (address.replace("token=", "token=x"), address.partition("?")[0]):
            assert refused.goto(wrong).status == 403
        stranger.close()
        opened = browser.new_context(viewport={"width": 1200, "height": 900})
        opened.set_default_timeout(120_000)
        yield opened


@contextmanager
def silent_page(context, address):
    """The page; whatever it complains about, or asks of another host, is a failure."""
    opened = context.new_page()
    troubles = []
    opened.on("console", lambda message: troubles.append(message.text))
    opened.on("pageerror", lambda error: troubles.append(str(error)))
    opened.on("dialog", lambda dialog: troubles.append(dialog.message))
    own = address.partition("?")[0]
    opened.on("request", lambda each: each.url.startswith(own) or troubles.append(each.url))
    opened.goto(address)
    yield opened
    assert not opened.evaluate("'hacked' in window")
    # Chromium notes every refusal of a file; the page says it in words.
    assert [each for each in troubles if "status of 400" not in each] == []


def go(page, step):
    """Show a step of the page."""
    page.click(f"nav a[href='#{step}']")


def learn(page, probabilities=False):
    """Start a search; its probabilities take a while, and are for those who look at them."""
    go(page, "learn")
    page.set_checked("#probabilities", probabilities)
    page.click("#start")


def learned(page, before):
    """Wait for the next graph, and its number."""
    title = "#graph .side > h3"
    page.wait_for_selector(f"{title}:not(:text-is('{before or 'none'}'))", state="attached")
    return page.text_content(title)


def opened(page, path):
    """Open a file, and wait until the page looks at it."""
    go(page, "table")
    page.set_input_files("#file", path)
    page.wait_for_selector(f"caption:text('{path.name}')")
    page.wait_for_selector(f"#tables option:checked:has-text('{path.name}')", state="attached")


def unfold(page, summary):
    """Open what is folded, whether an earlier test did or not."""
    page.locator(summary).evaluate("(each) => { each.parentElement.open = true; }")


def wait_until_kept(page, part, value):
    """Wait until the server knows how the result looks: it is told a moment later."""
    page.wait_for_function(
        """async ([part, value]) => {
          const job = await (await fetch(`/api/jobs/${sessionStorage.getItem("result")}`)).json();
          return JSON.stringify(job.look[part]) === JSON.stringify(value);
        }""",
        arg=[part, value],
    )


def is_heard(page, words):
    """Whether a screen reader is told so."""
    page.wait_for_selector(f"#aloud:text('{words}')", state="attached")


def everything_has_a_name(page):
    """What a screen reader stops at says what it is."""
    tree = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    named = {"button", "link", "checkbox", "combobox", "spinbutton", "slider", "textbox", "image"}
    named |= {"region", "grid", "table", "progressbar", "DisclosureTriangle"}
    found = [node for node in tree if not node["ignored"] and node["role"]["value"] in named]
    assert len(found) > 15
    assert [node for node in found if not node["name"]["value"]] == []


def drag(page, box, across, down, steps=3):
    """Drag from the middle of a box with the mouse."""
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + across, y + down, steps=steps)
    page.mouse.up()
