// Parts of the report that need nothing of the page around them: matrices, how a run on devices went, marks.
import {h, table as htmlTable, type Cell} from "./dom";
import type {Run} from "./data";
import {duration, number, sentence, words} from "./format";

/** A hint that begins with ~ says how to use the page, and is not printed. */
export function section(title: string, hint: string, ...children: (Node | null)[]): HTMLElement {
  return h("section", {"aria-label": title}, h("div", {class: "head"}, h("h2", {}, title), hint ? h("p", {class: hint.startsWith("~") ? "hint how" : "hint"}, hint.replace(/^~/, "")) : null), ...children);
}

/** Rows of a matrix that stands as one list, row by row; 0: it is not one. */
export function squareOf(value: unknown[]): number {
  const n = Math.round(Math.sqrt(value.length));
  return n >= 2 && n * n === value.length && value.every((v) => typeof v === "number" || v === null) ? n : 0;
}

/** Matrices of the summary, as such. */
export function matrices(run: Run): HTMLElement[] {
  return Object.entries((run.summary.emulation as Record<string, unknown> | undefined) ?? {}).flatMap(([key, value]) => {
    const n = Array.isArray(value) ? squareOf(value) : 0;
    if (!n) return [];
    const list = value as (number | null)[];
    const rows = Array.from({length: n}, (_r, i) => [String(i + 1), ...list.slice(i * n, (i + 1) * n).map((v) => number(v))]);
    return [section(`Emulation, ${words(key)}`, "", htmlTable(sentence(words(key)), ["Row", ...rows.map((_r, i) => `#${i + 1}`)], rows, "matrix"))];
  });
}

/** What happened in the run beside its motion: states, trips, orders, devices, clocks and timing of a run on devices. */
export function conduct(run: Run): HTMLElement[] {
  const s = run.summary;
  const out: HTMLElement[] = [];
  if (s.events?.length) {
    const rows = s.events.map((e): (string | Cell)[] => [
      e.time_s.toFixed(3).replace("-", "−"),
      e.state ? {text: e.state, className: "state"} : "",
      e.text ? {text: e.text, className: e.level === "info" ? "" : "over"} : "",
    ]);
    const stops = Object.entries(s.safety?.satellites ?? {}).flatMap(([name, body]) => (body.stop ? [` ${name}: ${body.stop}.`] : []));
    out.push(section("Events", s.safety ? `It ended in the state ${s.safety.state}: ${s.safety.text}.${stops.join("")}` : "", htmlTable("Events", ["#Time (s)", "State", "Event"], rows, "events")));
  }
  const counters = Object.entries(s.devices?.satellites ?? {}).flatMap(([name, devices]) => Object.entries(devices).map(([device, c]) => ({name, device, c})));
  if (counters.length) {
    const keys = [...new Set(counters.flatMap(({c}) => Object.keys(c)))].filter((k) => counters.some(({c}) => c[k]));
    const rows = counters.map(({name, device, c}): (string | Cell)[] => [`${device} of ${name}`, ...keys.map((k) => (c[k] === undefined ? "–" : String(c[k])))]);
    const counted = keys.length ? "Packets, as this side counted them." : "Nothing came from any of them.";
    out.push(section("Devices", s.devices?.strangers ? `${s.devices.strangers} packets came from elsewhere and were ignored.` : counted, htmlTable("Devices", ["Device", ...keys.map((k) => `#${sentence(words(k))}`)], rows, "devices")));
  }
  const facts: [string, string][] = [];
  const add = (key: string, value: string): void => void (value !== "–" && facts.push([key, value]));
  const us = (key: string): string => (typeof s.real_time?.[key] === "number" ? duration(1e3 * s.real_time[key]!) : "–");
  if (s.real_time) {
    add("Wake-up", `${us("wake_up_p50_us")} median, 99 % below ${us("wake_up_p99_us")}`);
    add("Computing, 99 % below", us("compute_p99_us"));
    add("Input and output, 99 % below", us("input_output_p99_us"));
    add("Missed cycles", String(s.real_time.missed_cycles ?? 0));
    add("Page faults", String(s.real_time.page_faults ?? 0));
  }
  for (const [name, c] of Object.entries(s.clocks ?? {})) {
    if (typeof c.drift_ppm === "number") add(`Controller's clock, ${name}`, `${number(c.drift_ppm)}\u00a0ppm; arrivals ${duration(1e9 * (c.residual_rms_s ?? 0))} rms about it, maximum ${duration(1e9 * (c.residual_max_s ?? 0))}`);
    if (typeof c.sensor_hz === "number") add(`Sensor, ${name}`, `${number(c.sensor_hz, 6)}\u00a0Hz; ${duration(1e9 * (c.sensor_residual_rms_s ?? 0))} rms`);
  }
  if (facts.length) out.push(section("Timing", "", h("dl", {class: "facts"}, ...facts.flatMap(([key, value]) => [h("dt", {}, key), h("dd", {}, value)]))));
  return out;
}

/** What the built-in controller of base and arm does (docs/obsw.md); the phases of other software are its own. */
const PHASES: Record<number, string> = {1: "synchronises", 2: "its arm reaches out", 3: "grasps and holds", 4: "lets go", 5: "stops the tumble"};

/** What the bar of times marks beside contacts: states, trips and orders, the phases of on-board software; at most a hundred. */
export function events(run: Run): [number, string][] {
  const out = (run.summary.events ?? []).map((e): [number, string] => [e.time_s, e.text ?? e.state ?? ""]);
  for (const name of Object.keys(run.summary.satellites ?? {})) {
    const phase = run.table?.column(`${name}.obsw.phase`);
    for (let i = 1; phase && i < run.table!.rows && out.length < 100; i++)
      if (phase[i] !== phase[i - 1] && Number.isFinite(phase[i]!) && Number.isFinite(phase[i - 1]!)) {
        const said = (run.summary.obsw as {kind?: string} | undefined)?.kind === "builtin" ? PHASES[phase[i]!] : undefined;
        out.push([run.table!.time[i]!, said ? `${name} ${said}` : `${name}: phase ${phase[i]} of its software`]);
      }
  }
  return out.slice(0, 100);
}

export const decimals = (value: number | null): string => (value === null ? "–" : value.toFixed(3).replace("-", "−"));

/** "pose_error_rad" -> ["pose error", "rad"]; a pose has the unit that the summary says. */
export function emulationUnit(key: string, pose: unknown): [string, string] {
  const cut = key.lastIndexOf("_");
  if (/^(pose_error|constraint|clik_bound)_rad$/.test(key) && typeof pose === "string") return [words(key.slice(0, cut)), pose];
  return cut < 0 ? [key, ""] : [words(key.slice(0, cut)), key.slice(cut + 1).replace("1pkg", "1/kg")];
}

export function mark(good: boolean, text: string): HTMLElement {
  return h("span", {class: `mark ${good ? "good" : "bad"}`}, h("span", {"aria-hidden": "true"}, good ? "✓ " : "✕ "), text);
}

/** Upper edge of the bin in which the share of all counts is reached. */
export function percentile(g: {start: number; per_decade: number; count: number[]}, share: number): number {
  const total = g.count.reduce((a, b) => a + b, 0);
  let sum = 0;
  for (let i = 0; i < g.count.length; i++) {
    sum += g.count[i]!;
    if (sum >= share * total) return g.start * 10 ** ((i + 1) / g.per_decade);
  }
  return NaN;
}
