// Opens a page with a recording in a headless browser and prints what it shows as JSON: look.mjs BROWSER PAGE.html
import { open } from "../../viewer/browser.mjs";
import { pathToFileURL } from "node:url";

const [program, file] = process.argv.slice(2);
const browser = await open(program);
const page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
const seen = { complaints: [] };
page.on("console", (message) => { if (message.type() === "error") seen.complaints.push(message.text()); });
page.on("pageerror", (error) => seen.complaints.push(String(error)));
await page.goto(pathToFileURL(file).href);
await page.evaluate(() => hopcast.ready);
seen.counts = await page.evaluate(() => hopcast.counts());
seen.series = await page.evaluate(() => hopcast.series().filter((one) => one.values.length).map((one) => one.name));
seen.title = await page.locator("#title").innerText();
seen.map = await page.locator("#map").isVisible();
seen.strip = await page.locator("#strip").isVisible();
await browser.close();
console.log(JSON.stringify(seen));
