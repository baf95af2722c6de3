import { chromium } from "playwright-core";
import { driveFigures } from "./live.mjs";
const [root, page_, ...names] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
for (const [w, scheme] of [[1400, "light"], [390, "dark"]]) {
  const context = await browser.newContext({ viewport: { width: w, height: 900 }, colorScheme: scheme, reducedMotion: "reduce" });
  const page = await context.newPage();
  page.on("console", (m) => m.type() === "error" && console.log(m.text()));
  context.on("weberror", (e) => console.log("script", e.error().stack));
  await page.goto(`file://${root}/${page_}`);
  await page.evaluate(() => window.MathJax?.startup?.promise);
  for (const n of names) {
    const f = page.locator(`figure.live[data-live=${n}]`);
    console.log(n, await f.getAttribute("data-ready"), await f.locator(".live-numbers").innerText());
    await page.waitForTimeout(600);
    await f.screenshot({ path: `/tmp/i17-${n}-${w}.png` });
  }
}
await browser.close();
