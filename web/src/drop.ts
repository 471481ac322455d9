// Files dropped onto a report: log.mcap, log.csv or another report become runs beside those that the page has. Nothing is sent anywhere.
import {h} from "./dom";
import {readReport, type Run, type Summary, type Table} from "./data";
import {readMcap} from "./mcap";
import {OverviewTable} from "./overview";
import {readLog} from "./rawlog";

const MOST_BYTES = 1 << 30; // of one file

/** A log alone: what ran is known, not how it is judged. */
function runOf(label: string, table: Table, like: Run | undefined): Run {
  const names = [...new Set(table.columns.map((c) => /^(.+)\.position\.x$/.exec(c.name)?.[1]).filter((n): n is string => !!n && !/\.(ideal|robot|command|inertial|measured|sent)$/.test(n)))];
  const summary: Summary = {scenario: label, method: label, verdict: "none", satellites: Object.fromEntries(names.map((n) => [n, {}]))};
  const same = !!like && names.length > 0 && names.every((n) => like.summary.satellites?.[n]);
  const thin = table instanceof OverviewTable ? table : null;
  summary.cycles = thin?.cycles ?? table.rows;
  return {label, summary, geometry: same ? like.geometry : null, contacts: [], table, cycles: summary.cycles, bucket: thin?.bucket ?? 1, whole: [], histograms: []};
}

/** The runs of a file; an Error says in words why it has none. */
export async function readDropped(file: File, like: Run | undefined, progress: (part: number) => void): Promise<Run[]> {
  if (file.size > MOST_BYTES) throw new Error(`it has ${Math.round(file.size / 1e6)} MB, the page takes at most ${Math.round(MOST_BYTES / 1e6)} MB`);
  const start = new Uint8Array(await file.slice(0, 512).arrayBuffer());
  if (start[0] === 0x89) {
    const {table, lost} = await readMcap(file, progress);
    return [runOf(file.name + (lost ? ` (${lost} damaged chunks left out)` : ""), table, like)];
  }
  const words = new TextDecoder().decode(start);
  if (/^t \[s\],/.test(words)) return [runOf(file.name, await readLog(file, null, null, progress), like)];
  if (/^\s*<!doctype html>/i.test(words)) {
    // Its blocks of data are cut out as text: nothing of it becomes a part of this page.
    const blocks = new Map<string, string>();
    for (const found of (await file.text()).matchAll(/<script type="[^"]*" id="([^"]+)">([\s\S]*?)<\/script>/g)) blocks.set(found[1]!, found[2]!);
    if (!blocks.has("ff-data")) throw new Error("it is not a report of freefloat");
    const page = {getElementById: (id: string) => (blocks.has(id) ? {textContent: blocks.get(id)!} : null)};
    const report = await readReport(page);
    if (!report.runs?.length) throw new Error("the report holds no runs");
    return report.runs.map((r) => ({...r, label: `${r.label} (${file.name})`}));
  }
  throw new Error("it is neither a log.mcap, a log.csv nor a report.html of freefloat");
}

/** Takes files that are dropped anywhere on the page or chosen by a button; says what became of each. */
export function dropZone(take: (runs: Run[]) => void, like: () => Run | undefined): {button: HTMLElement; said: HTMLElement} {
  const said = h("p", {class: "dropped", role: "status"});
  const read = async (files: Iterable<File>): Promise<void> => {
    const all: Run[] = [];
    const troubles: string[] = [];
    for (const file of files) {
      said.textContent = `Reading ${file.name} …`;
      try {
        all.push(...(await readDropped(file, like(), (part) => (said.textContent = `Reading ${file.name}, ${Math.round(100 * part)} %`))));
      } catch (error) {
        troubles.push(`${file.name}: ${error instanceof Error ? error.message : String(error)}.`);
      }
    }
    if (all.length) take(all);
    document.querySelector(".dropped")?.replaceChildren([...(all.length ? [`${all.length} run${all.length > 1 ? "s" : ""} added.`] : []), ...troubles].join(" "));
  };
  const input = h("input", {type: "file", multiple: true, accept: ".csv,.mcap,.html", class: "hidden", tabindex: -1, "aria-label": "Logs and reports to overlay", change: () => void read(input.files ?? [])});
  document.ondragover = (event) => event.preventDefault();
  document.ondrop = (event) => {
    event.preventDefault();
    void read(event.dataTransfer?.files ?? []);
  };
  const button = h("span", {}, h("button", {type: "button", class: "quiet", title: "log.mcap, log.csv or another report.html; dropping them on the page does the same", click: () => input.click()}, "Add run"), input);
  return {button, said};
}
