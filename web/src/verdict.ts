// The verdict in one sentence, with its numbers, reason and time.
import {firstAbove, largest, satelliteNames, type Contact, type Requirement, type Run, type Summary} from "./data";
import {exact, quantity, relevant, seconds, words} from "./format";

export const UNITS: Record<string, string> = {velocity_error: "m/s", angular_velocity_error: "rad/s", position_error: "m", attitude_error: "rad", peak_force_ratio: "", restitution_error: ""};
const COLUMNS: Record<string, string> = {velocity_error: "error.velocity", angular_velocity_error: "error.angular_velocity"};

export type Word = "Valid" | "Not valid" | "Not judged" | "Stopped" | "Fault" | "Failed";
export interface Verdict {
  valid: boolean;
  /** Whether there was anything to judge: neither good nor bad otherwise. */
  judged: boolean;
  word: Word;
  sentence: string;
  /** When the first broken requirement was broken; null when unknown. */
  when: number | null;
}


/** What ended a run before its time; null: nothing did. */
export function ending(run: {summary: Summary}): {word: Word; text: string} | null {
  const {status, safety} = run.summary;
  if (!status || status === "done" || status === "FF_OK") return null;
  return {word: safety?.cause === "OPERATOR" ? "Stopped" : safety?.state === "FAULT" || safety?.state === "HOLD" ? "Fault" : "Failed", text: status};
}

/** Whether a requirement was measured at all: a contact that never opens has no restitution. */
export const isJudged = (r: Requirement): boolean => r.judged !== false;

/** When the first contact without a partner in the ideal motion began, of all satellites; null: all are paired. */
export function divergedAt(run: Run): number | null {
  const all = Object.values(run.summary.satellites ?? {}).flatMap((s) => s.error_vs_ideal?.diverged_s ?? []);
  return all.length ? Math.min(...all) : null;
}

/** A log alone, dropped onto the page: it has no summary. */
export const isUnjudged = (run: Run): boolean => run.summary.verdict === "none";
export const isValid = (run: Run): boolean => run.summary.verdict === "pass";

/** Column of a requirement's quantity for one satellite. */
export const requirementColumn = (name: string, satellite: string): string | null => (COLUMNS[name] ? `${satellite}.${COLUMNS[name]}` : null);

/** First instant at which a requirement was broken. */
export function brokenAt(run: Run, requirement: Requirement): number | null {
  const {table} = run;
  if (!table || requirement.limit === null) return null;
  let when: number | null = null;
  for (const satellite of satelliteNames(run)) {
    const name = requirementColumn(requirement.name, satellite);
    const values = name ? table.column(name) : undefined;
    const row = values ? firstAbove(values, requirement.limit) : -1;
    if (row >= 0) when = Math.min(when ?? Infinity, table.time[row]!);
  }
  if (requirement.name === "peak_force_ratio") {
    let peak = 0;
    for (const column of table.columns) {
      if (!/^contact\..*\.force$/.test(column.name)) continue;
      const {value, row} = largest(table.column(column.name)!);
      if (value > peak) {
        peak = value;
        when = table.time[row]!;
      }
    }
  }
  return when;
}

function where(contacts: Contact[], t: number): string {
  for (let i = 0; i < contacts.length; i++) {
    const c = contacts[i]!;
    if (t >= c.start_s && t <= (c.end_s ?? Infinity)) return `during contact ${i + 1} (${c.name})`;
  }
  const before = contacts.filter((c) => c.end_s !== null && c.end_s <= t);
  if (before.length > 0) return `after contact ${before.length} (${before[before.length - 1]!.name})`;
  return contacts.length > 0 ? "before the first contact" : "";
}

export function verdict(run: Run): Verdict {
  const requirements = run.summary.requirements ?? [];
  const valid = isValid(run);
  const measure = (r: Requirement): string => quantity(relevant(r.value, r.limit), UNITS[r.name] ?? "");
  const limit = (r: Requirement): string => `${exact(r.limit)}${UNITS[r.name] ? `\u00a0${UNITS[r.name]}` : ""}`;
  const ended = ending(run);
  if (isUnjudged(run)) return {valid, judged: false, word: "Not judged", sentence: "a log alone holds no requirement.", when: null};
  if (valid && requirements.length === 0) return {valid, judged: false, word: "Not judged", sentence: run.summary.emulation ? "nothing is required of an emulation." : "the scenario sets no requirement.", when: null};
  if (valid) {
    const parts = requirements.map((r) => (isJudged(r) ? `${words(r.name)} ${measure(r)} of ${limit(r)} allowed` : `${words(r.name)} not judged`));
    return {valid, judged: true, word: "Valid", sentence: `${parts.join(", ")}.`, when: null};
  }
  const broken = requirements.filter((r) => !r.met && isJudged(r));
  const since = divergedAt(run);
  let when: number | null = null;
  const parts = broken.map((r) => {
    const t = brokenAt(run, r);
    if (t !== null) when = Math.min(when ?? Infinity, t);
    const place = t === null ? "" : where(run.contacts, t);
    if (r.value === null && r.name === "restitution_error") return "contacts cannot be paired with the ideal run's: the trajectories have diverged" + (since === null ? "" : ` at ${seconds(since)}`);
    if (r.value === null) return `the ${words(r.name)} is not finite: the motion diverged`;
    const ratio = r.name === "peak_force_ratio";
    return `the ${words(r.name)} reached ${measure(r)}, the limit is ${limit(r)}${t === null ? "" : `; ${ratio ? "the peak was at" : "first exceeded at"} ${seconds(t)}${place ? `, ${place}` : ""}`}`;
  });
  if (ended && run.summary.safety?.time_s !== undefined) when = run.summary.safety.time_s;
  return {valid, judged: true, word: ended?.word ?? "Not valid", sentence: `${[ended?.text, ...parts].filter(Boolean).join("; ") || "the run was not judged"}.`, when};
}

/** What the kinetic energy did, as a fact beside the verdict. */
export function energySentence(run: Run): string {
  const parts: string[] = [];
  for (const [name, s] of Object.entries(run.summary.satellites ?? {})) {
    const before = s.initial?.kinetic_energy_J;
    const after = s.final?.kinetic_energy_J as number | null | undefined;
    if (typeof before !== "number" || typeof after !== "number") continue;
    parts.push(`kinetic energy of ${name} ${quantity(before, "J")} at the start, ${quantity(after, "J")} at the end`);
  }
  return parts.length ? `${parts.join("; ")}.` : "";
}

/** The ideal motion itself: shown beside the others, never ranked. */
export const isReference = (run: Run): boolean => run.summary.method === "ideal";

/** Differences below this share of a limit count as ties: they are noise of the last digits, not merit. */
const TIE = 1e-3;

/** How far a run is from the ideal, in shares of the limits: the largest of all. A force ratio below one is as far away as one above. */
export function distance(run: Run): number {
  const share = (r: Requirement): number => {
    if (!isJudged(r)) return 0;
    if (r.value === null || r.limit === null || !(r.limit > 0)) return Infinity;
    return r.name === "peak_force_ratio" && r.limit > 1 ? Math.abs(r.value - 1) / (r.limit - 1) : Math.abs(r.value) / r.limit;
  };
  return Math.max(0, ...(run.summary.requirements ?? []).map(share));
}

export interface Ranked {
  run: Run;
  used: number;
  /** From 1; equal for ties, null for the reference. */
  place: number | null;
  tied: boolean;
}

/** Nearest to the ideal first, valid runs before the others, the reference last. */
export function rank(runs: Run[]): Ranked[] {
  const order = runs
    .map((run) => ({run, used: distance(run), place: null as number | null, tied: false}))
    .sort((a, b) => Number(isReference(a.run)) - Number(isReference(b.run)) || Number(isUnjudged(a.run)) - Number(isUnjudged(b.run)) || Number(isValid(b.run)) - Number(isValid(a.run)) || (a.used === b.used ? 0 : a.used - b.used));
  order.forEach((o, i) => {
    if (isReference(o.run) || isUnjudged(o.run)) return;
    const before = order[i - 1];
    o.place = i + 1;
    if (before && isValid(before.run) === isValid(o.run) && (o.used === before.used || Math.abs(o.used - before.used) <= TIE)) {
      o.place = before.place;
      o.tied = before.tied = true;
    }
  });
  return order;
}
