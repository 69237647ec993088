// Looks at an emulation that runs, in a headless browser, and prints what it saw as JSON: live.mjs BROWSER ADDRESS
import { open } from "../../viewer/browser.mjs";

const [program, address] = process.argv.slice(2);
const browser = await open(program);
const seen = { complaints: [], requests: [] };
const page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
page.on("console", (message) => { if (message.type() === "error") seen.complaints.push(message.text()); });
page.on("pageerror", (error) => seen.complaints.push(String(error)));
page.on("request", (request) => seen.requests.push(request.url()));
await page.goto(address);
await page.evaluate(() => hopcast.ready);
const look = () => page.evaluate(() => ({ ...hopcast.live(), time: hopcast.time(), view: hopcast.view(), events: hopcast.events({ limit: 10000000 }).length, counts: hopcast.counts() }));
const until = (condition, than) => page.waitForFunction(condition, than, { timeout: 60000 });

await until(() => hopcast.live().end > 5e8 && hopcast.counts().transmit > 0);
seen.first = await look();
await until((than) => hopcast.time() > than + 2e8, seen.first.time);
seen.second = await look();
seen.status = await page.locator("#title").innerText();
await page.locator("#follow").click();
seen.paused = await look();
await until((than) => hopcast.counts().transmit > than + 50, seen.paused.counts.transmit);
seen.still = await look();
seen.pressed = await page.locator("#follow").getAttribute("aria-pressed");
await page.keyboard.press("f");
seen.again = await look();
await until((than) => hopcast.time() > than, seen.again.time);
seen.moving = await look();
// The wheel zooms and goes on following; dragging stops.
const box = await page.locator("#lanes").boundingBox();
await page.mouse.move(box.x + box.width - 200, box.y + 30);
await page.mouse.wheel(0, -300);
// On a busy machine, news may come before the wheel, and the look before the news that follow it.
await until((before) => hopcast.view().to - hopcast.view().from < 0.7 * (before.to - before.from), seen.moving.view);
await until((than) => hopcast.time() > than, await page.evaluate(() => hopcast.time()));
seen.wheeled = await look();
await page.mouse.down();
await page.mouse.move(box.x + box.width - 100, box.y + 30, { steps: 4 });
await page.mouse.up();
seen.dragged = await look();
await page.evaluate(() => hopcast.follow(true));
await until(() => hopcast.live().over);
seen.last = await look();
seen.end = await page.locator("#title").innerText();
seen.positions = await page.evaluate(() => hopcast.positions(hopcast.time()));
seen.series = await page.evaluate(() => hopcast.series("queue").filter((one) => one.values.length).length);
seen.overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
await browser.close();
console.log(JSON.stringify(seen));
