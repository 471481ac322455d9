// node build.mjs [OUT]: bundles src/ into OUT/report.html (default dist/), the page that host/report/html.c
// fills, and OUT/live.html, the one that host/live serves. Installs the packages of package-lock.json first when they are missing or older than it.
// node build.mjs --plain: renews the hashes in plain.html, the page for builds without Node.
import {createHash} from "node:crypto";
import {execFileSync} from "node:child_process";
import {existsSync, mkdirSync, readFileSync, statSync, writeFileSync} from "node:fs";
import {dirname, join, resolve} from "node:path";
import {fileURLToPath} from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
// The hash in the Content-Security-Policy is that of the bytes between the tags; nothing else runs.
const hash = (text) => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;

if (process.argv[2] === "--plain") {
  const path = join(here, "plain.html");
  const text = readFileSync(path, "utf8");
  const between = (tag) => text.slice(text.indexOf(`<${tag}>`) + tag.length + 2, text.indexOf(`</${tag}>`));
  writeFileSync(path, text.replace(/script-src [^;]*;/, `script-src ${hash(between("script"))};`).replace(/style-src [^;]*;/, `style-src ${hash(between("style"))};`));
  process.exit(0);
}

const out = resolve(process.argv[2] ?? join(here, "dist"));
const LIMIT = 1_000_000; // bytes of the whole page without data

// A laboratory is often cut off: the build succeeds with the plain pages, and says what is missing and how to get it.
function plain(why) {
  console.error(`web: ${why}; report.html will hold plain tables, no plots and no 3-D, and there is no live page. ` +
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
    plain(error.code === "ENOENT" ? "npm is not there" : "npm ci failed (no registry?)");
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

const style = await bundle("style.css", {});
const licences = ["three", "uplot"].map((name) => {
  const {version, license} = JSON.parse(readFileSync(join(here, "node_modules", name, "package.json"), "utf8"));
  return `${name} ${version} (${license})`;
});
mkdirSync(out, {recursive: true});
for (const name of ["report", "live"]) {
  const script = (await bundle(`${name}.ts`, {})).replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
  const page = readFileSync(join(here, "src", `${name}.html`), "utf8")
    .replace("{{csp}}", () => `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; img-src data:; base-uri 'none'; form-action 'none'`)
    .replace("{{licences}}", () => licences.join(", "))
    .replace("{{style}}", () => style)
    .replace("{{script}}", () => script);
  if (page.length > LIMIT) {
    console.error(`web: the page ${name} has ${page.length} bytes, more than ${LIMIT}`);
    process.exit(1);
  }
  writeFileSync(join(out, `${name}.html`), page);
  console.log(`web: ${join(out, `${name}.html`)}, ${page.length} bytes`);
}
