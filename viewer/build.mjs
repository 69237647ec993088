// Bundles src/ into one self-contained page. The result depends on the sources and the locked packages only.
import { build } from "esbuild";
import { readFile, writeFile } from "node:fs/promises";

const here = new URL(".", import.meta.url);
const target = process.argv[2] ?? new URL("../python/hopcast/view/page.html", here);
const bundle = await build({
  entryPoints: [new URL("src/main.ts", here).pathname],
  bundle: true,
  minify: true,
  charset: "ascii",
  format: "iife",
  target: "es2022",
  legalComments: "none",
  write: false,
});
const script = bundle.outputFiles[0].text.replaceAll("</script", "<\\/script").trim();
const style = await build({
  entryPoints: [new URL("src/page.css", here).pathname],
  minify: true,
  write: false,
});
const page = await readFile(new URL("src/page.html", here), "utf8");
await writeFile(
  target,
  page.replace("/* style */", () => style.outputFiles[0].text.trim()).replace("/* script */", () => script),
);
