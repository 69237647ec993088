// Drives the viewer's page in a headless browser and prints what it saw as JSON: drive.mjs BROWSER FOLDER, where
// FOLDER holds `run` (a recording), `empty`, `cut`, `old` (variants of it) and `single.html` (the page with `run` inside).
import { open, PAGE, serve } from "../../viewer/browser.mjs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [program, folder] = process.argv.slice(2);
const browser = await open(program);
const seen = { complaints: [], requests: [] };

async function visit(url, viewport = { width: 1280, height: 860 }) {
  const page = await browser.newPage({ viewport, hasTouch: viewport.width < 800 });
  page.on("console", (message) => { if (message.type() === "error") seen.complaints.push(message.text()); });
  page.on("pageerror", (error) => seen.complaints.push(String(error)));
  page.on("request", (request) => seen.requests.push(request.url()));
  await page.goto(url);
  await page.evaluate(() => hopcast.ready);
  return page;
}
const drawn = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
const view = (page) => page.evaluate(() => hopcast.view());
const text = (page, selector) => page.locator(selector).innerText();

const single = pathToFileURL(join(folder, "single.html")).href;
const page = await visit(single);
seen.counts = await page.evaluate(() => hopcast.counts());
seen.whole = await view(page);
seen.events = await page.evaluate(() => hopcast.events({ node: 1, kind: "transmit", from: 2e7, to: 9e7 }));
seen.frame = await page.evaluate(() => hopcast.events({ frame: 42 }));
seen.long = await page.evaluate(() => hopcast.at(2, 9e7));
seen.series = await page.evaluate(() => hopcast.series("queue"));
seen.position = await page.evaluate(() => hopcast.positions(hopcast.view().to / 4)[0]);

// A click in the middle of a data frame's transmission at the first node.
const target = await page.evaluate(() => {
  const one = hopcast.events({ node: 0, kind: "transmit", limit: 50 }).find((event) => event.code === 0);
  hopcast.zoom(one.time - 5e5, one.time + 1e6);
  return one;
});
await drawn(page);
const box = await page.locator("#lanes").boundingBox();
const at = (time, now) => box.x + 104 + (time - now.from) / (now.to - now.from) * (box.width - 104);
await page.mouse.click(at(target.time + target.duration / 2, await view(page)), box.y + 22);
seen.target = target;
seen.clicked = await page.evaluate(() => hopcast.selected());
await drawn(page);
seen.details = await text(page, "#details");
seen.covering = await page.evaluate((one) => hopcast.at(0, one.time + 10), target);
await page.getByRole("button", { name: "Next event of this node" }).click();
seen.next = await page.evaluate(() => hopcast.selected());
await page.evaluate(() => hopcast.select(hopcast.events({ kind: "drop" })[0].index));
await drawn(page);
seen.why = await text(page, ".why");

// Zoom and movement.
await page.evaluate(() => hopcast.zoom(5e7, 6e7));
seen.zoomed = await view(page);
const middle = [box.x + 104 + (box.width - 104) / 2, box.y + 40];
await page.mouse.move(...middle);
await page.mouse.wheel(0, -300);
await drawn(page);
seen.wheeled = await view(page);
await page.mouse.down();
await page.mouse.move(middle[0] + 100, middle[1], { steps: 4 });
await page.mouse.up();
seen.dragged = await view(page);
await page.keyboard.press("ArrowRight");
seen.moved = await view(page);
await page.keyboard.press("-");
seen.wider = await view(page);
await page.keyboard.press("Home");
seen.home = await view(page);
await page.keyboard.press("?");
seen.help = await page.locator("#keys").isVisible();
await page.keyboard.press("Escape");
seen.closed = !(await page.locator("#keys").isVisible());

// Playing.
seen.before = await page.evaluate(() => { hopcast.play(0.01); return hopcast.time(); });
await page.waitForTimeout(400);
seen.playing = await page.evaluate(() => { hopcast.pause(); return hopcast.time(); });
await page.locator("#help").focus();
await page.evaluate(() => document.activeElement.blur());
await page.keyboard.press("Space");
seen.label = await page.locator("#play").getAttribute("aria-label");
await page.keyboard.press("Space");
seen.paused = await page.evaluate(async () => {
  const before = hopcast.time();
  await new Promise((done) => setTimeout(done, 100));
  return hopcast.time() === before;
});
seen.unnamed = await page.evaluate(() => [...document.querySelectorAll("button, select")].filter((one) => !(one.getAttribute("aria-label") || one.innerText.trim())).length);

const narrow = await visit(single, { width: 390, height: 844 });
seen.overflow = await narrow.evaluate(() => document.documentElement.scrollWidth - innerWidth);
seen.file_requests = seen.requests.filter((url) => url !== single && !url.startsWith("data:") && !url.startsWith("blob:"));

for (const name of ["empty", "cut", "old"]) {
  const server = await serve(join(folder, name));
  const other = await visit(server.url);
  const opened = await other.locator("#main").isVisible();
  seen[name] = {
    opened,
    note: await other.locator("#note").textContent(),
    problem: await other.locator("#problem").textContent(),
    counts: opened ? await other.evaluate(() => hopcast.counts()) : null,
  };
  await other.close();
  server.close();
}
const bare = await visit(pathToFileURL(PAGE).href);
seen.chooser = await text(bare, "#chooser");
await bare.locator("#folder").setInputFiles(join(folder, "run"));
await bare.locator("#main").waitFor({ state: "visible" });
seen.chosen = await bare.evaluate(() => hopcast.counts());
await browser.close();
console.log(JSON.stringify(seen));
