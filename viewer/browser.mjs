// A headless browser, and a server on loopback for a folder with the page as its index.
import { chromium } from "playwright-core";
import { createReadStream, existsSync } from "node:fs";
import { createServer } from "node:http";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

export const PAGE = fileURLToPath(new URL("../python/hopcast/view/page.html", import.meta.url));

export function open(program) {
  return chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
}

export function serve(folder) {
  const server = createServer((request, response) => {
    const index = request.url === "/";
    const file = index ? PAGE : join(folder, basename(request.url));
    if (!existsSync(file)) {
      response.writeHead(404).end();
      return;
    }
    response.setHeader("content-type", index ? "text/html" : "application/octet-stream");
    createReadStream(file).pipe(response);
  });
  return new Promise((done) => server.listen(0, "127.0.0.1", () => done({
    url: `http://127.0.0.1:${server.address().port}/`,
    close: () => server.close(),
  })));
}
