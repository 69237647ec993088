// Prints how long recordings take to open and to draw: node bench.mjs BROWSER FOLDER...
import { open, serve } from "./browser.mjs";

const [program, ...folders] = process.argv.slice(2);
for (const folder of folders) {
  const server = await serve(folder);
  const browser = await open(program);
  const page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
  await page.goto(server.url);
  const measured = await page.evaluate(async () => {
    await hopcast.ready;
    const events = Object.values(hopcast.counts()).reduce((sum, n) => sum + n, 0);
    const end = hopcast.view().to, before = hopcast.timings().frame_ms.length;
    const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    for (let width = end; width > 100_000; width *= 0.8) {
      hopcast.zoom(end * 0.6 - width / 2, end * 0.6 + width / 2);
      await frame();
    }
    const frames = hopcast.timings().frame_ms.slice(before).sort((a, b) => a - b);
    return { events, load: hopcast.timings().load_ms, median: frames[frames.length >> 1], worst: frames.at(-1), frames: frames.length };
  });
  console.log(`${measured.events} events: open ${(measured.load / 1000).toFixed(2)} s; zoom frame median ${measured.median.toFixed(1)} ms, worst ${measured.worst.toFixed(1)} ms of ${measured.frames}`);
  await browser.close();
  server.close();
}
