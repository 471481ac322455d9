// One method beside the others: its satellite, its verdict, its numbers and its ledger at the clock's time.
import {h} from "./dom";
import {exact, number, quantity, sentence, words} from "./format";
import {colour, swatch} from "./plots";
import {Scene, type Painter, type Side} from "./scene";
import {satelliteNames, sample, type Run} from "./data";
import {divergedAt, isJudged, verdict} from "./verdict";
import type {Result} from "./model";

/** Energy by where it came from, in shares of the kinetic energy at the start. */
const TERMS: [string, string[]][] = [
  ["contact", ["exchanged"]],
  ["delay", ["delay"]],
  ["method", ["force_controller", "velocity_controller", "method"]],
  ["other", ["loads", "integration"]],
];

const speed = (v: number): string => (v < 5e-7 ? "0" : v < 1e-4 ? quantity(v * 1e6, "µm/s", 2) : quantity(v * 1e3, "mm/s", v < 0.01 ? 2 : 3));

const percent = (share: number): string => (Math.abs(share) < 5e-4 ? "0\u202f%" : `${share > 0 ? "+" : "−"}${number(Math.abs(share) * 100, 2)}\u202f%`);

/** What broke the verdict, in as few words as a card has room for. */
function broken(run: Run): string {
  const parts = (run.summary.requirements ?? []).filter((r) => !r.met && isJudged(r)).map((r) => (r.value === null ? "no longer in step" : `${words(r.name)} ${number(r.value, 3)} > ${exact(r.limit)}`));
  return sentence([...new Set(parts)].join(", "));
}

export class Card {
  readonly element: HTMLElement;
  scene: Scene | null = null;
  run: Run | null = null;
  result: Result | null = null;
  private readonly mark = h("span", {class: "mark"});
  private readonly figures = h("dl", {class: "figures"});
  private readonly why = h("p", {class: "why"});
  private readonly ledger: {bar: HTMLElement; value: HTMLElement}[] = [];
  private readonly place = h("div", {class: "stage"});
  private started = 0;

  constructor(readonly method: string, readonly style: number, readonly about: string) {
    const rows = TERMS.map(([name]) => {
      const bar = h("i", {});
      const value = h("span", {class: "n"});
      this.ledger.push({bar, value});
      return h("div", {class: "term"}, h("span", {class: "soft"}, name), h("span", {class: "beam"}, bar), value);
    });
    this.element = h(
      "article", {class: "card", "data-method": method},
      h("header", {}, swatch({style, ink: method === "ideal"}), h("h3", {}, method), h("span", {class: "about"}, about), this.mark),
      this.place, this.figures,
      h("div", {class: "books", role: "group", "aria-label": `Energy ledger of ${method} at the time shown, in shares of the energy at the start`}, ...rows),
      this.why,
    );
  }

  /** null: no WebGL. */
  stage(painter: Painter | null, side: Side = "orbit"): void {
    if (!painter) {
      this.place.replaceChildren(h("p", {class: "hint"}, "No WebGL here: no picture, the numbers stay."));
      return;
    }
    this.scene = new Scene(painter, side);
    this.scene.room = 0.4;
    this.scene.element.setAttribute("aria-label", `${this.method}: the ${side === "lab" ? "laboratory" : "satellite"} in three dimensions. Shift and arrow keys turn the view, plus and minus zoom, zero shows all.`);
    this.place.replaceChildren(this.scene.element);
  }

  show(result: Result, ideal: Run | null): void {
    this.result = result;
    this.run = result.run;
    const {run} = result;
    this.element.classList.toggle("none", !run);
    if (!run) {
      this.mark.className = "mark soft";
      this.mark.textContent = "not run";
      this.why.textContent = sentence(result.error.split("\n")[0]!.replace(/^scenario\.yaml:/, "line "));
      this.figures.replaceChildren();
      return;
    }
    const v = verdict(run);
    const reference = this.method === "ideal";
    this.mark.className = `mark ${reference || !v.judged ? "soft" : v.valid ? "good" : "bad"}`;
    this.mark.textContent = reference ? "reference" : v.judged ? `${v.valid ? "✓" : "✕"} ${v.word.toLowerCase()}` : "not judged";
    this.why.textContent = reference || v.valid ? "" : broken(run) || sentence(v.sentence);
    this.why.title = v.sentence;
    const name = satelliteNames(run)[0] ?? "";
    const satellite = run.summary.satellites?.[name];
    const first = run.contacts[0];
    const truth = ideal?.contacts[0]?.restitution;
    const peak = Math.max(0, ...run.contacts.map((c) => (c.peak_robot_force_N as number | null) ?? 0));
    const ratio = reference ? 1 : satellite?.error_vs_ideal?.peak_force_ratio;
    const since = divergedAt(run);
    const figure = (key: string, head: string, value: string, note: string): HTMLElement => h("div", {"data-figure": key}, h("dt", {}, head), h("dd", {}, value, h("small", {}, note)));
    this.figures.replaceChildren(
      figure("restitution", "rebound", number(first?.restitution, 3), reference || typeof truth !== "number" ? "" : `true ${number(truth, 3)}`),
      figure("peak", "peak force", quantity(peak, "N"), reference ? "" : `× ${number(ratio, 3)}`),
      figure("error", "off by", reference ? "0" : speed(satellite?.error_vs_ideal?.velocity_mps ?? NaN), since === null ? "" : "diverged"),
    );
    const table = run.table;
    this.started = table?.column(`${name}.energy.kinetic`)?.[0] ?? 0;
  }

  /** How much larger the motion should be drawn. */
  stretch(): number {
    return this.run?.table && this.scene ? this.scene.suggest(this.run.table, this.run.geometry, satelliteNames(this.run)) : 1;
  }

  /** The scene follows the run; frame: what the ideal motion needs. */
  draw(frame: Scene["frame"], stretch: number): void {
    const {run, scene} = this;
    if (!run?.table || !scene) return;
    scene.frame = frame;
    scene.style = this.style;
    scene.stretch = stretch;
    scene.setRun(run.table, run.geometry, satelliteNames(run));
  }

  setTime(t: number): void {
    const table = this.run?.table;
    if (!table) return;
    const time = Math.min(t, table.time[table.rows - 1] ?? 0);
    this.scene?.setTime(time);
    const name = satelliteNames(this.run!)[0] ?? "";
    TERMS.forEach(([, columns], i) => {
      const values = sample(table, columns.map((c) => `${name}.energy.${c}`), time);
      const share = values && this.started > 0 ? values.reduce((a, b) => a + b, 0) / this.started : NaN;
      const {bar, value} = this.ledger[i]!;
      const shown = Number.isFinite(share);
      const width = shown ? Math.min(1, Math.abs(share)) * 50 : 0;
      bar.style.width = `${width}%`;
      bar.style.left = share < 0 ? `${50 - width}%` : "50%";
      bar.style.background = colour(share > 0.005 && i === 1 ? "bad" : `line-${this.style % 8}`);
      bar.classList.toggle("beyond", Math.abs(share) > 1);
      value.textContent = shown ? percent(share) : "–";
    });
  }
}
