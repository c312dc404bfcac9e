// Bundles src/main.ts and src/page/page.css into the one file dist/page.html.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const options = {
  bundle: true,
  minify: true,
  write: false,
  legalComments: "none",
  target: ["es2022"],
  charset: "utf8",
};

async function bundle(entry, more) {
  const result = await build({ ...options, ...more, entryPoints: [join(here, entry)] });
  return result.outputFiles[0].text.trim();
}

// Every report carries a copy of uPlot, and its licence asks to be carried along.
const licence = (await readFile(join(here, "node_modules/uplot/LICENSE"), "utf8")).trim();
const script = await bundle("src/main.ts", { format: "iife", banner: { js: `/*! uPlot\n${licence}\n*/` } });
const style = await bundle("src/page/page.css", {});
// Either would end its element early; no source of ours says it, and a dependency must not bring it in unseen.
if (/<\/script/i.test(script) || /<!--/.test(script)) throw new Error("the script would end its own element");
if (/<\/style/i.test(style)) throw new Error("the style would end its own element");

const template = await readFile(join(here, "src/page/page.html"), "utf8");
const page = template.replace("@STYLE@", () => style).replace("@SCRIPT@", () => script);
if (page.split("@OBOLUS_DATA@").length !== 2) throw new Error("@OBOLUS_DATA@ must stand exactly once");

await mkdir(join(here, "dist"), { recursive: true });
await writeFile(join(here, "dist/page.html"), page);
console.log(`dist/page.html: ${Buffer.byteLength(page)} bytes`);
