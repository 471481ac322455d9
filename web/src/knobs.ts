// The sliders' numbers in the scenario's text: each slider edits the text where the program's own parser found its numbers, so that the text stays
// the only truth: what is copied from the page runs elsewhere as it ran here.

/** Line and column from 1, and the number as it is written. */
export type Place = [line: number, column: number, text: string];

export interface Outline {
  cycle: Place[];
  satellites: {name: string; mass: Place[]; velocity: Place[]; delay: Place[]; noise: Place[]}[];
  contacts: {stiffness: Place[]; damping: Place[]}[];
}

export interface Knob {
  key: string;
  label: string;
  unit: string;
  /** What is shown for one of the text's unit. */
  factor: number;
  low: number;
  high: number;
  /** From 0..1 of the slider to the value, and back. */
  at(share: number): number;
  share(value: number): number;
}

const log = (low: number, high: number): Pick<Knob, "low" | "high" | "at" | "share"> => ({
  low, high, at: (s) => low * (high / low) ** s, share: (v) => Math.log(Math.max(v, low) / low) / Math.log(high / low),
});
/** From zero on: fine below, coarse above. */
const rising = (high: number): Pick<Knob, "low" | "high" | "at" | "share"> => ({low: 0, high, at: (s) => high * s ** 3, share: (v) => Math.cbrt(Math.max(0, v) / high)});
const linear = (low: number, high: number): Pick<Knob, "low" | "high" | "at" | "share"> => ({low, high, at: (s) => low + s * (high - low), share: (v) => (v - low) / (high - low)});

export const KNOBS: Knob[] = [
  {key: "delay", label: "Delay of the loop", unit: "ms", factor: 1e3, ...linear(0, 0.1)},
  {key: "stiffness", label: "Stiffness", unit: "N/m", factor: 1, ...log(100, 1e6)},
  {key: "damping", label: "Damping", unit: "N s/m", factor: 1, ...rising(2000)},
  {key: "restitution", label: "True restitution", unit: "", factor: 1, ...linear(0.3, 1)},
  {key: "mass", label: "Mass", unit: "kg", factor: 1, ...log(10, 5000)},
  {key: "speed", label: "Speed of approach", unit: "mm/s", factor: 1e3, ...log(0.001, 0.3)},
  {key: "noise", label: "Noise of the sensor", unit: "N", factor: 1, ...rising(5)},
  {key: "cycle", label: "Cycle", unit: "ms", factor: 1e3, ...log(0.00025, 0.012)},
];

const number = (place: Place | undefined): number => (place ? Number(place[2]) : NaN);
const short = (value: number): string => String(Number(value.toPrecision(4)));

/** Restitution of a spring and damper that never pull, met by a mass: e = exp(-2 b/w atan(w/b)), b = c/(2 m), w = sqrt(k/m - b^2). */
export function restitution(k: number, c: number, m: number): number {
  const b = c / (2 * m);
  if (b === 0) return 1;
  const square = k / m - b * b;
  if (square > 0) {
    const w = Math.sqrt(square);
    return Math.exp(((-2 * b) / w) * Math.atan2(w, b));
  }
  const w = Math.sqrt(-square);
  return w > 0 && w < b ? Math.exp((-2 * b / w) * Math.atanh(w / b)) : Math.exp(-2);
}

/** The damping that gives it, by halving. */
export function dampingOf(k: number, e: number, m: number): number {
  if (e >= 1) return 0;
  let low = 0;
  let high = 2 * Math.sqrt(k * m);
  for (let i = 0; i < 60; i++) {
    const c = (low + high) / 2;
    if (restitution(k, c, m) > e) low = c;
    else high = c;
  }
  return (low + high) / 2;
}

/** A text with the places of its numbers, which follow its changes. */
export class Sheet {
  constructor(public text: string, readonly outline: Outline) {}

  private places(key: string): Place[][] {
    const {satellites, contacts, cycle} = this.outline;
    switch (key) {
      case "cycle": return [cycle];
      case "mass": return satellites.slice(0, 1).map((s) => s.mass);
      case "speed": return satellites.filter((s) => s.velocity.some((p) => number(p) !== 0)).slice(0, 1).map((s) => s.velocity);
      case "delay": return satellites.map((s) => s.delay);
      case "noise": return satellites.map((s) => s.noise);
      case "stiffness": return contacts.map((c) => c.stiffness);
      default: return contacts.map((c) => c.damping); // damping, restitution
    }
  }

  /** Springs in a row act as one. */
  get stiffness(): number {
    return 1 / (this.outline.contacts[0]?.stiffness ?? []).reduce((sum, p) => sum + 1 / number(p), 0);
  }

  /** The slider's value; NaN: the text has no such number. mass: that the contact meets. */
  value(key: string, mass: number): number {
    const found = this.places(key).find((list) => list.length > 0);
    if (!found || found.some((p) => !Number.isFinite(number(p)))) return NaN;
    if (key === "speed") return Math.hypot(...found.map(number));
    if (key === "restitution") return restitution(this.stiffness, number(found[0]), mass);
    return key === "stiffness" ? this.stiffness : number(found[0]);
  }

  /** Writes a value wherever it stands. */
  set(key: string, value: number, mass: number): void {
    const now = this.value(key, mass);
    const scaled = key === "speed" || key === "stiffness"; // of several numbers their proportion stays
    const wanted = key === "restitution" ? dampingOf(this.stiffness, value, mass) : value;
    for (const list of this.places(key))
      for (const place of list) if (Number.isFinite(number(place))) this.write(place, short(scaled ? (number(place) * value) / now : wanted));
  }

  private write(place: Place, text: string): void {
    const [line, column, old] = place;
    const lines = this.text.split("\n");
    const row = Array.from(lines[line - 1] ?? "");
    if (row.slice(column - 1, column - 1 + old.length).join("") !== old) return; // not where it was: leave the text alone
    row.splice(column - 1, old.length, ...text);
    lines[line - 1] = row.join("");
    this.text = lines.join("\n");
    place[2] = text;
    const {cycle, satellites, contacts} = this.outline;
    for (const other of [cycle, ...satellites.flatMap((s) => [s.mass, s.velocity, s.delay, s.noise]), ...contacts.flatMap((c) => [c.stiffness, c.damping])].flat())
      if (other[0] === line && other[1] > column) other[1] += text.length - old.length;
  }
}
