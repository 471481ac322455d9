// node build.mjs [OUT]: bundles src/ into OUT/report.html (default dist/), the page that host/report/html.c
// fills, and OUT/live.html, the one that host/live serves. Installs the packages of package-lock.json first when they are missing or older than it.
// node build.mjs --playground MODEL.wasm OUT: OUT/playground.html, the page that holds the program itself (tools/playground.sh); nothing is
// written where npm's packages cannot be had.
// node build.mjs --plain: renews the hashes in plain.html and plain_live.html, the pages for builds without Node or its packages.
import {createHash} from "node:crypto";
import {execFileSync} from "node:child_process";
import {existsSync, mkdirSync, readFileSync, statSync, writeFileSync} from "node:fs";
import {dirname, join, resolve} from "node:path";
import {fileURLToPath} from "node:url";
import {gzipSync} from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
// The hash in the Content-Security-Policy is that of the bytes between the tags; nothing else runs.
const hash = (text) => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;

if (process.argv[2] === "--plain") {
  for (const name of ["plain.html", "plain_live.html"]) {
    const path = join(here, name);
    const text = readFileSync(path, "utf8");
    const between = (tag) => text.slice(text.indexOf(`<${tag}>`) + tag.length + 2, text.indexOf(`</${tag}>`));
    writeFileSync(path, text.replace(/script-src [^;]*;/, () => `script-src ${hash(between("script"))};`).replace(/style-src [^;]*;/, () => `style-src ${hash(between("style"))};`));
  }
  process.exit(0);
}

const model = process.argv[2] === "--playground" ? process.argv[3] : null;
const out = resolve((model ? process.argv[4] : process.argv[2]) ?? join(here, "dist"));
const LIMIT = model ? 2_000_000 : 1_000_000; // bytes of the whole page without data

// A laboratory is often cut off: the build succeeds with the plain pages, and says what is missing and how to get it.
function plain(why) {
  if (model) {
    console.error(`web: ${why}`);
    process.exit(0);
  }
  console.error(`web: ${why}; report.html and the live page will be plain: tables and orders, no plots and no 3-D. ` +
      `When it is there, delete ${join(out, "report.html")} and build again`);
  mkdirSync(out, {recursive: true});
  writeFileSync(join(out, "report.html"), readFileSync(join(here, "plain.html")));
  writeFileSync(join(out, "live.html"), readFileSync(join(here, "plain_live.html")));
  process.exit(0);
}

const installed = join(here, "node_modules", ".package-lock.json");
if (!existsSync(installed) || statSync(installed).mtimeMs < statSync(join(here, "package-lock.json")).mtimeMs) {
  try {
    execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error", "--fetch-retries=1",
        "--fetch-retry-mintimeout=500", "--fetch-retry-maxtimeout=1000"], {cwd: here, stdio: "inherit"});
  } catch (error) {
    plain(error.code === "ENOENT" ? "npm is not there" : "npm ci failed (no registry? its lines above say why)");
  }
}

const {build} = await import("esbuild").catch((error) => plain(`esbuild does not load (${error.code ?? error.message})`));
async function bundle(entry, loader) {
  const result = await build({
    entryPoints: [join(here, "src", entry)], bundle: true, minify: true, write: false, format: "iife",
    target: ["chrome100", "firefox100", "safari15"], legalComments: "none", charset: "ascii", loader,
  });
  return result.outputFiles[0].text.trim();
}

const style = await bundle(model ? "playground.css" : "style.css", {});
const licences = ["three", "uplot"].map((name) => {
  const {version, license} = JSON.parse(readFileSync(join(here, "node_modules", name, "package.json"), "utf8"));
  return `${name} ${version} (${license})`;
});
mkdirSync(out, {recursive: true});
const safe = (text) => text.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
const json = (value) => JSON.stringify(value).replaceAll("<", "\\u003c");
// The playground's page carries the program, the script of its workers and the scenarios that ship as blocks of data, which no browser runs by itself.
const presets = [
  ["One wall, 40 ms", "playground/wall", "100 kg against a wall that loses nothing"],
  ["DEOS client", "deos-client", "280 kg between two walls, several contacts in 30 s, 40 ms"],
  ["destefano2019, VII", "papers/destefano2019/vii", "the published experiment"],
  ["he2022, 4.1", "papers/he2022/4-1", "300 kg against 4000 kg, 70 kN/m, 20 ms"],
  ["lange, Fig. 6", "papers/lange/fig-6", "hard docking of two robots, 12 ms"],
  ["UR with 34 ms", "playground/ur-34ms", "a light robot with a slow interface"],
  ["Hard docking ring", "playground/docking-ring", "stiff metal on metal, off the centre"],
];
function blocks(worker) {
  const scenarios = presets.map(([title, path, note]) => ({title, path, note, text: readFileSync(join(here, "..", "scenarios", `${path}.yaml`), "utf8")}));
  return `<script type="application/json" id="ff-presets">${json(scenarios)}</script>\n` +
    `<script type="text/plain" id="ff-worker">${worker}</script>\n` +
    `<script type="text/plain" id="ff-model">${gzipSync(readFileSync(model), {level: 9}).toString("base64")}</script>`;
}
for (const name of model ? ["playground"] : ["report", "live"]) {
  const script = safe(await bundle(`${name}.ts`, {}));
  const data = model ? blocks(safe(await bundle("worker.ts", {}))) : "";
  const runs = model ? " 'wasm-unsafe-eval'; worker-src blob:" : "";
  const page = readFileSync(join(here, "src", `${name}.html`), "utf8")
    .replace("{{csp}}", () => `default-src 'none'; script-src ${hash(script)}${runs}; style-src ${hash(style)}; img-src data:; base-uri 'none'; form-action 'none'`)
    .replace("{{licences}}", () => licences.join(", "))
    .replace("{{style}}", () => style)
    .replace("{{data}}", () => data)
    .replace("{{script}}", () => script);
  if (page.length > LIMIT) {
    console.error(`web: the page ${name} has ${page.length} bytes, more than ${LIMIT}`);
    process.exit(1);
  }
  writeFileSync(join(out, `${name}.html`), page);
  console.log(`web: ${join(out, `${name}.html`)}, ${page.length} bytes`);
}
