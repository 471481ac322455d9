// playground.html: six methods meet the same contact, each in a worker that holds the program itself; sliders edit the scenario's text.
import {h} from "./dom";
import {isConstant, type Run} from "./data";
import {number} from "./format";
import {Card} from "./card";
import {Editor} from "./editor";
import {KNOBS, Sheet, type Knob, type Outline} from "./knobs";
import {contactMass, LimitLine} from "./limits";
import {Model, Runner, type Result} from "./model";
import {colour, PlotGroup, type Line, type Panel} from "./plots";
import {fromLink, toLink} from "./share";
import {Painter, VIEWS, type Side, type View} from "./scene";
import {header, setTheme} from "./theme";
import {isValid} from "./verdict";

const METHODS: [string, string][] = [
  ["ideal", "the true motion"], ["direct", "force as measured"], ["tdpa", "holds the energy"],
  ["damping", "and the wall’s damping"], ["impact", "knows the wall"], ["fused", "knows nothing"],
];
const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5];
const SLOW = 45; // [ms] of a frame: from here on the pictures get coarser

interface Preset {
  title: string;
  path: string;
  note: string;
  text: string;
}

class Playground {
  private readonly app = document.getElementById("app")!;
  private readonly presets = JSON.parse(document.getElementById("ff-presets")?.textContent ?? "[]") as Preset[];
  private readonly cards = METHODS.map(([name, about], i) => new Card(name, i, about));
  private readonly runners: Runner[];
  private readonly checker: Runner;
  private readonly line = new LimitLine();
  private readonly editor: Editor;
  private readonly sliders = new Map<string, {knob: Knob; input: HTMLInputElement; value: HTMLElement; row: HTMLElement}>();
  private readonly plots = h("section", {id: "plots"}, h("div", {class: "head"}, h("h2", {}, "Over time")));
  private readonly clock = h("output", {class: "clock", "aria-live": "off"});
  private readonly track = h("input", {type: "range", class: "slider", "aria-label": "Time", min: 0});
  private readonly playButton = h("button", {type: "button", class: "play", click: () => this.play(!this.playing)});
  private readonly marks = h("div", {class: "marks", "aria-hidden": "true"});
  private readonly status = h("p", {class: "hint", role: "status"});
  private readonly scale = h("span", {});
  private readonly choice = h("select", {id: "preset", change: () => this.preset(Number(this.choice.value))});
  private readonly about = h("p", {class: "hint preset-note"});
  private group: PlotGroup | null = null;
  private panels: Panel[] = [];
  private sheet: Sheet | null = null;
  private painter: Painter | null = null;
  private side: Side = "orbit";
  private duration = 1;
  private time = 0;
  private playing = false;
  private speed = 1;
  private lastFrame = 0;
  private running: string | null = null;
  private wanted: string | null = null;
  private began = 0;
  /** Batches of all methods that were finished, and how long the last took [ms]; for tests. */
  batches = 0;
  took = 0;

  constructor(model: Model) {
    this.runners = METHODS.map(() => new Runner(model));
    this.checker = new Runner(model);
    this.editor = new Editor((text) => void this.read(text, true), () => this.command());
  }

  build(): void {
    this.choice.append(...this.presets.map((p, i) => h("option", {value: i}, p.title)), h("option", {value: -1, hidden: true}, "own scenario"));
    const share = h("button", {type: "button", class: "quiet", click: () => void this.share(share)}, "Copy link");
    this.app.replaceChildren(
      h("a", {class: "skip", href: "#plots"}, "Skip to the plots"),
      header("Playground", this, share),
      h("main", {class: "ground"},
        h("section", {class: "desk", "aria-label": "Scenario"},
          h("div", {class: "head"}, h("h2", {}, "Scenario"), h("label", {class: "hidden", for: "preset"}, "Preset"), this.choice),
          this.about,
          h("div", {class: "knobs"}, ...KNOBS.map((k) => this.slider(k))),
          h("h2", {class: "limit-head"}, "Line of limits"), this.line.element, this.status),
        h("section", {class: "field", "aria-label": "Methods"},
          h("div", {class: "head"}, h("h2", {}, "Six methods, one clock"),
            h("p", {class: "hint"}, "Orange: the robot, its lag drawn larger; dotted: the true motion. Bars: where energy came from, in shares of the first.", this.scale)),
          h("div", {class: "cards"}, ...this.cards.map((c) => c.element))),
        this.plots, this.editor.element),
      this.transport(),
      h("footer", {}, h("p", {}, "The program itself, compiled for the browser, in one worker for each method; nothing leaves this page. The same text gives the same digits with freefloat run.")),
    );
    document.addEventListener("keydown", (event) => this.key(event));
    for (const card of this.cards) card.stage(null);
    // Words and numbers come before the pictures: WebGL may take a second to start.
    requestAnimationFrame(() => setTimeout(() => this.stage()));
  }

  /** orbit or laboratory, in all pictures; the latter needs the robots' axes. */
  private show3d(side: Side): void {
    if (!this.painter || side === this.side) return;
    this.side = side;
    this.stage();
    if (side === "lab" && this.sheet) this.start(this.sheet.text);
  }

  private stage(): void {
    try {
      this.painter ??= new Painter();
    } catch {
      this.status.textContent = "This browser offers no WebGL: the pictures are left out, numbers and plots stay.";
      return;
    }
    for (const card of this.cards) {
      card.stage(this.painter, this.side);
      card.scene!.onTurn = (from) => this.cards.forEach((c) => c.scene?.follow(from));
    }
    this.draw();
  }

  private slider(knob: Knob): HTMLElement {
    const value = h("output", {class: "knob-value", for: `knob-${knob.key}`});
    const input = h("input", {type: "range", id: `knob-${knob.key}`, min: 0, max: 1, step: 0.005, input: () => this.turn(knob, knob.at(Number(input.value)))});
    const row = h("div", {class: "knob"}, h("label", {for: input.id}, knob.label), value, input);
    this.sliders.set(knob.key, {knob, input, value, row});
    return row;
  }

  /** The mass that the contact meets, as the last run had it, or the satellite's own. */
  private mass(): number {
    const run = this.cards.find((c) => c.run?.geometry)?.run;
    const own = Number(this.sheet?.outline.satellites[0]?.mass[0]?.[2]);
    const met = contactMass(run?.geometry ?? null);
    const before = run?.geometry?.satellites[0]?.mass_kg;
    // The slider of the mass moves before the next run is there: central contacts meet what moved.
    return Number.isFinite(met) && before ? (met === before ? own : met) : own;
  }

  /** A slider was moved: the text first, then everything that follows from it. */
  turn(knob: Knob, value: number): void {
    const sheet = this.sheet;
    if (!sheet || !Number.isFinite(sheet.value(knob.key, this.mass()))) return;
    sheet.set(knob.key, value, this.mass());
    this.editor.set(sheet.text);
    this.own();
    this.showKnobs(knob.key);
    void this.checkText(sheet.text);
    this.start(sheet.text);
  }

  private own(): void {
    const text = this.sheet?.text;
    const index = this.presets.findIndex((p) => p.text === text);
    this.choice.value = String(index);
    if (index >= 0) this.about.textContent = this.presets[index]!.note;
  }

  private showKnobs(except = ""): void {
    const mass = this.mass();
    for (const {knob, input, value, row} of this.sliders.values()) {
      const now = this.sheet?.value(knob.key, mass) ?? NaN;
      const known = Number.isFinite(now);
      input.disabled = !known;
      row.classList.toggle("off", !known);
      row.title = known ? "" : "The scenario's text has no such number";
      if (known && knob.key !== except) input.value = String(Math.min(1, Math.max(0, knob.share(now))));
      value.textContent = known ? `${number(now * knob.factor)}${knob.unit ? `\u00a0${knob.unit}` : ""}` : "–";
      input.setAttribute("aria-valuetext", value.textContent);
    }
    const {sheet} = this;
    this.line.show(sheet?.stiffness ?? NaN, mass, sheet?.value("delay", mass) ?? NaN, sheet?.value("cycle", mass) ?? NaN);
  }

  preset(index: number): void {
    const preset = this.presets[index];
    if (!preset) return;
    this.about.textContent = preset.note;
    this.editor.set(preset.text);
    void this.read(preset.text, false);
  }

  /** Another text: where its numbers are, what is wrong with it, its runs. */
  async read(text: string, typed: boolean): Promise<void> {
    const answer = await this.checker.ask({kind: "outline", text});
    if (!answer) return;
    this.sheet = answer.outline ? new Sheet(text, JSON.parse(answer.outline) as Outline) : null;
    if (typed) this.own();
    else this.choice.value = String(this.presets.findIndex((p) => p.text === text));
    this.showKnobs();
    if (await this.checkText(text)) this.start(text);
  }

  private async checkText(text: string): Promise<boolean> {
    const answer = await this.checker.ask({kind: "check", text, method: "direct"});
    if (!answer) return false;
    this.editor.say(answer.outcome === 0 ? "" : answer.error, answer.warning);
    return answer.outcome === 0;
  }

  /** All methods on one text; of texts that come meanwhile only the last is run. */
  private start(text: string): void {
    this.wanted = text;
    if (this.running !== null) {
      if (performance.now() - this.began > 1500) for (const runner of this.runners) runner.abandon();
      return;
    }
    void this.batch();
  }

  private async batch(): Promise<void> {
    while (this.wanted !== null) {
      const text = (this.running = this.wanted);
      this.wanted = null;
      this.began = performance.now();
      this.app.setAttribute("aria-busy", "true");
      const results = await Promise.all(this.runners.map((r, i) => r.run(text, METHODS[i]![0], this.side === "lab")));
      this.took = performance.now() - this.began;
      if (results.every(Boolean)) this.show(results as Result[]);
    }
    this.running = null;
    this.app.removeAttribute("aria-busy");
  }

  private show(results: Result[]): void {
    const ideal = results[0]!.run;
    this.cards.forEach((card, i) => card.show(results[i]!, ideal));
    const runs = results.map((r) => r.run).filter((r): r is Run => !!r?.table && r.table.rows > 1);
    const duration = Math.max(0, ...runs.map((r) => r.table!.time[r.table!.rows - 1]!)) || 1;
    if (duration !== this.duration || !this.group) {
      this.duration = duration;
      this.track.max = String(duration);
      this.track.step = String(duration / 2000);
      this.group = null;
    }
    this.showKnobs(document.activeElement?.id.replace(/^knob-/, "") ?? "");
    this.drawPlots(runs);
    this.draw();
    this.marks.replaceChildren(...(ideal?.contacts ?? []).slice(0, 100).map((c) => {
      const i = h("i", {});
      i.style.left = `${(100 * c.start_s) / duration}%`;
      i.style.width = `${(100 * ((c.end_s ?? duration) - c.start_s)) / duration}%`;
      return i;
    }));
    const bad = this.cards.filter((c) => !c.run).length;
    this.status.textContent = `${METHODS.length - bad} runs of ${number(duration, 3)} s in ${Math.round(this.took)} ms${bad ? `; ${bad} refused` : ""}.`;
    this.batches++;
    document.documentElement.dataset.ready = "true";
  }

  private draw(): void {
    const first = this.cards[0]!;
    const stretch = this.side === "lab" ? 1 : first.stretch();
    this.scale.textContent = stretch > 1 ? ` Motion is drawn ${stretch} times larger.` : "";
    first.draw(null, stretch);
    const frame = first.run && first.scene ? first.scene.view() : null;
    for (const card of this.cards.slice(1)) card.draw(frame, stretch);
    for (const card of this.cards) if (first.scene) card.scene?.follow(first.scene);
    this.seek(Math.min(this.time, this.duration));
  }

  /* ------------------------------------------------------------------------------------------ plots -- */

  private drawPlots(runs: Run[]): void {
    if (!runs.length) {
      this.plots.hidden = true;
      return;
    }
    this.plots.hidden = false;
    const satellite = Object.keys(runs[0]!.summary.satellites ?? {})[0] ?? "";
    const speed = (axis: string): number => {
      const v = runs[0]!.table!.column(`${satellite}.velocity.${axis}`);
      return v && !isConstant(v) ? Math.max(...[0, v.length - 1].map((i) => Math.abs(v[i]!))) : 0;
    };
    const axis = ["x", "y", "z"].reduce((a, b) => (speed(b) > speed(a) ? b : a));
    const touched = runs[0]!.contacts[0]?.name ?? /^contact\.(.*)\.force$/.exec(runs[0]!.table!.columns.find((c) => /^contact\..*\.force$/.test(c.name))?.name ?? "")?.[1] ?? "";
    const figures: [string, string, string][] = [
      [`Velocity of ${satellite}, ${axis}`, "m/s", `${satellite}.velocity.${axis}`],
      [`Force at the robot, ${touched}`, "N", `contact.${touched}.force`],
      ["Kinetic energy", "J", `${satellite}.energy.kinetic`],
    ];
    const lines = (column: string): Line[] => runs.filter((r) => r.table!.column(column)).map((r) => {
      const style = METHODS.findIndex(([m]) => m === r.label);
      const wild = !isValid(r) && (r.summary.satellites?.[satellite]?.error_vs_ideal?.peak_force_ratio ?? 1) > 1.8;
      return {label: r.label, table: r.table!, column, style, ink: r.label === "ideal", pale: r.label === "ideal", group: r.label, outlier: wild};
    });
    if (this.group && this.panels.length === figures.length && this.panels.every((p, i) => p.spec.title === figures[i]![0])) {
      this.panels.forEach((p, i) => p.setLines(lines(figures[i]![2])));
      this.group.contacts = runs[0]!.contacts;
      return;
    }
    this.group = new PlotGroup(0, this.duration);
    this.group.onSeek = (t) => this.seek(t);
    this.group.contacts = runs[0]!.contacts;
    this.panels = figures.map(([title, unit, column]) => this.group!.add({title, unit, lines: lines(column)}));
    this.plots.querySelector(".grid")?.remove();
    this.plots.append(h("div", {class: "grid three"}, ...this.panels.map((p) => p.element)));
  }

  /* -------------------------------------------------------------------------------------- transport -- */

  private transport(): HTMLElement {
    this.track.addEventListener("input", () => this.seek(Number(this.track.value)));
    const speed = h("select", {"aria-label": "Speed of the replay", change: () => (this.speed = Number(speed.value))}, ...SPEEDS.map((k) => h("option", {value: k, selected: k === 1}, `${k} ×`)));
    const sides = h("select", {id: "side", "aria-label": "What the pictures show", change: () => this.show3d(sides.value as Side)}, h("option", {value: "orbit"}, "orbit"), h("option", {value: "lab"}, "laboratory"));
    const views = h("select", {id: "view", "aria-label": "Camera", change: () => this.cards.forEach((c) => c.scene?.setView(views.value as View))}, ...VIEWS.map((v) => h("option", {value: v}, v)));
    this.play(false);
    return h(
      "div", {class: "transport", role: "region", "aria-label": "Replay"}, this.playButton, this.clock, h("div", {class: "track"}, this.marks, this.track), speed,
      sides, views,
      h("button", {type: "button", class: "quiet small", click: () => {
        views.value = "overview";
        this.cards.forEach((c) => c.scene?.fit());
      }}, "Reset view"));
  }

  seek(t: number): void {
    this.time = Math.min(Math.max(t, 0), this.duration);
    for (const card of this.cards) card.setTime(this.time);
    this.group?.setTime(this.time);
    this.track.value = String(this.time);
    this.clock.textContent = `${this.time.toFixed(3)}\u00a0s`;
    this.track.setAttribute("aria-valuetext", `${this.time.toFixed(3)} seconds`);
  }

  play(on: boolean): void {
    this.playing = on;
    this.playButton.textContent = on ? "❚❚" : "▶";
    this.playButton.setAttribute("aria-label", on ? "Pause" : "Play");
    if (!on) return;
    this.lastFrame = performance.now();
    let slow = 0;
    const frame = (now: number): void => {
      if (!this.playing) return;
      const passed = Math.max(0, now - this.lastFrame);
      slow = 0.9 * slow + 0.1 * passed;
      if (slow > SLOW && this.painter && this.painter.ratio > 0.7) {
        this.painter.ratio = Math.max(0.7, this.painter.ratio * 0.8);
        slow = 0;
      }
      this.lastFrame = now;
      const next = this.time + (Math.min(passed, 200) / 1000) * this.speed;
      this.seek(next >= this.duration ? 0 : next);
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  private key(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return;
    const tag = (event.target as HTMLElement).tagName;
    if (event.key === " " && !/^(BUTTON|SELECT|A|TEXTAREA)$/.test(tag)) this.play(!this.playing);
    else if ((event.key === "ArrowRight" || event.key === "ArrowLeft") && !/^(INPUT|SELECT|TEXTAREA)$/.test(tag))
      this.seek(this.time + ((event.key === "ArrowRight" ? 1 : -1) * this.duration * (event.shiftKey ? 10 : 1)) / 1000);
    else return;
    event.preventDefault();
  }

  /* ------------------------------------------------------------------------------------------ share -- */

  private command(): string {
    return `freefloat compare scenario.yaml --methods ${METHODS.map(([m]) => m).join(",")}`;
  }

  private async share(button: HTMLElement): Promise<void> {
    const link = await toLink(this.editor.text, this.time);
    history.replaceState(null, "", link);
    await this.editor.copy(location.href, button);
  }

  async begin(): Promise<void> {
    let trouble = "";
    const given = await fromLink(location.hash).catch((error: Error) => {
      trouble = `The link holds no scenario: ${error.message}.`;
      return null;
    });
    if (given) {
      this.editor.set(given.text);
      this.time = given.time;
      await this.read(given.text, true);
    } else this.preset(0);
    if (trouble) this.about.textContent = trouble;
    if (!given && !matchMedia("(prefers-reduced-motion: reduce)").matches) this.play(true);
  }

  restyle(): void {
    colour("ink");
    this.group?.restyle();
    this.draw();
  }

  private before: string | undefined;
  print(on: boolean): void {
    if (on) {
      this.play(false);
      this.before = document.documentElement.dataset.theme;
    }
    document.documentElement.classList.toggle("printing", on);
    setTheme(on || this.before !== "dark" ? "light" : "dark", this, false);
    for (const card of this.cards) card.scene?.resize();
    this.group?.drawAll();
  }

  /** What tests may use; see docs/playground.md. */
  hook(): Record<string, unknown> {
    return {
      batches: () => this.batches, took: () => this.took, busy: () => this.running !== null, time: () => this.time, playing: () => this.playing, text: () => this.editor.text,
      seek: (t: number) => this.seek(t), summary: (method: string) => this.cards.find((c) => c.method === method)?.run?.summary ?? null,
      error: (method: string) => this.cards.find((c) => c.method === method)?.result?.error ?? "",
      values: (method: string, name: string) => Array.from(this.cards.find((c) => c.method === method)?.run?.table?.column(name) ?? []),
      limits: () => [this.line.value, this.line.causal], scenes: () => this.cards.filter((c) => c.scene).length, frames: () => this.cards[0]!.scene?.frames ?? 0,
      picture: (method: string) => this.cards.find((c) => c.method === method)?.scene?.picture() ?? null,
    };
  }
}

async function main(): Promise<void> {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  setTheme(dark.matches ? "dark" : "light", null);
  let model: Model;
  try {
    model = await Model.open(document);
  } catch (error) {
    throw new Error(`this browser does not run WebAssembly here (${error instanceof Error ? error.message : String(error)}); freefloat run shows the same in report.html`);
  }
  const page = new Playground(model);
  page.build();
  (window as unknown as {freefloat: unknown}).freefloat = page.hook();
  dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light", page));
  window.addEventListener("beforeprint", () => page.print(true));
  window.addEventListener("afterprint", () => page.print(false));
  await page.begin();
}

main().catch((error: unknown) => {
  document.getElementById("app")!.replaceChildren(h("p", {class: "failure", role: "alert"}, `The playground could not be shown: ${error instanceof Error ? error.message : String(error)}`));
});
