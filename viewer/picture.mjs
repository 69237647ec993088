// Takes a picture of the page: node picture.mjs BROWSER PAGE.html OUT.png [FROM_MS TO_MS [WIDTH [dark]]]
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";
import { open } from "./browser.mjs";

const [program, file, out, from, to, width = "1280", scheme = "light"] = process.argv.slice(2);
const browser = await open(program);
const page = await browser.newPage({ viewport: { width: Number(width), height: Number(width) < 800 ? 1400 : 800 }, colorScheme: scheme });
await page.goto(pathToFileURL(resolve(file)).href);
await page.waitForFunction(() => window.hopcast && window.hopcast.ready);
await page.evaluate(async () => window.hopcast.ready);
await page.evaluate(([from, to]) => {
  if (from === undefined) return;
  hopcast.zoom(from * 1e6, to * 1e6);
  const seen = hopcast.events({ kind: "collision", from: from * 1e6, to: to * 1e6 });
  const chosen = seen[Math.floor(seen.length / 2)] ?? hopcast.events({ from: from * 1e6, to: to * 1e6 })[0];
  if (chosen) hopcast.select(chosen.index);
}, from === undefined ? [] : [Number(from), Number(to)]);
await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
await page.screenshot({ path: out, fullPage: Number(width) < 800 });
await browser.close();
