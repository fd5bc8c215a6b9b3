"""A headless Chromium that opens a page and tells what it asked for and complained about.

    browser.py PAGE PICTURE [HEIGHT]    the top of a page as PNG, such as the one beside the report page's README
"""
import atexit
import base64
import json
import pathlib
import sys

from selenium import webdriver
from selenium.webdriver.chrome.service import Service


class Browser:
    def __init__(self, width=1280, height=900):
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        # No sandbox: tests run as root, on a page of their own.
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                         "--disable-background-networking", "--no-first-run", f"--window-size={width},{height}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        self.driver.set_page_load_timeout(60)
        self.driver.set_script_timeout(60)
        atexit.register(self.driver.quit)

    def open(self, path):
        """Opens a file and waits until everything is drawn."""
        self.driver.get_log("browser"), self.driver.get_log("performance")
        self.url = pathlib.Path(path).resolve().as_uri()
        self.driver.get(self.url)
        self.settle()

    def settle(self):
        self.driver.execute_async_script("const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()));")

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def complaints(self):
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]

    def requests(self):
        """URLs that the page asked for, itself apart."""
        events = (json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance"))
        urls = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
        return [url for url in urls if not url.startswith((self.url, "data:"))]

    def tool(self, command, **arguments):
        """A command of the DevTools protocol."""
        return self.driver.execute_cdp_cmd(command, arguments)

    def dark(self, dark):
        self.tool("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.settle()

    def pdf(self):
        return base64.b64decode(self.tool("Page.printToPDF", printBackground=True, preferCSSPageSize=True)["data"])

    def picture(self, height):
        """PNG of so many pixels from the top."""
        width = self.run("return innerWidth")
        self.tool("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.settle()
        return base64.b64decode(self.tool("Page.captureScreenshot")["data"])


if __name__ == "__main__":
    shown = Browser()
    shown.open(sys.argv[1])
    pathlib.Path(sys.argv[2]).write_bytes(shown.picture(int(sys.argv[3]) if len(sys.argv) > 3 else 1500))
