// The live page: what the loop does now, in words, in three dimensions and over the last seconds.
import {h} from "./dom";
import type {Contact, Geometry, Summary} from "./data";
import {duration, exact, number, quantity, relevant, sentence, unitText, words} from "./format";
import {Link, type Event, type Hello, type Status} from "./link";
import {plans} from "./plans";
import {PlotGroup, type Line, type Panel} from "./plots";
import {Scene} from "./scene";
import {Stage} from "./stage";
import {section} from "./sections";
import {setTheme} from "./theme";
import {LiveTable} from "./table";
import {ending} from "./verdict";

const WINDOWS = [5, 10, 20, 60];
const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10];
const STALE = 1.0; // [s]
const EVENTS = 100;
const BEFORE = "before the run";
const TERMS = ["kinetic", "exchanged", "delay", "force_controller", "velocity_controller", "integration", "loads", "method"];
const TERM_WORDS: Record<string, string> = {
  kinetic: "kinetic energy", exchanged: "from the contact", delay: "from the delay", force_controller: "by the force controller",
  velocity_controller: "by the velocity controller", integration: "by integration", loads: "by loads", method: "by recomputing",
};

/** The states of a run on devices, in words (docs/safety.md). */
const STATES: Record<string, string> = {
  OFF: "Waits for the devices to speak.", CHECK: "The robot is commanded to hold; the sensor is measured.", TEST: "The robot makes the small motions of the check.",
  ZEROED: "Waits for the operator, who arms at the console.", ARMED: "The robot will move.", APPROACH: "The robot goes to where the motion begins.",
  RUNUP: "Along the initial twist, up to its speed.", BRAKE: "The robot comes to rest as far as the devices allow.", RETREAT: "The robot leaves the contact.",
  HOLD: "The robot is at rest and holds. Nothing resumes; stop ends the run.", FAULT: "The robot is at rest after a fault.",
};

type Level = "good" | "warn" | "bad" | "calm";

type BarSource = Pick<Bar, "name" | "unit" | "limit" | "trips" | "column">;

interface Bar {
  name: string;
  unit: string;
  limit: number;
  trips: boolean;
  /** Of a recorded run: columns whose norm is held against the limit. */
  column?: {names: string[]; scale: number};
  now: number;
  peak: number;
  fill: HTMLElement;
  mark: HTMLElement;
  box: HTMLElement;
  value: HTMLElement;
  left: HTMLElement;
}

class Page {
  private readonly app = document.getElementById("app")!;
  private readonly link: Link;
  private hello: Hello | null = null;
  private status: Status | null = null;
  private table: LiveTable | null = null;
  private geometry: Geometry | null = null;
  private summary: Summary | null = null;
  private satellites: string[] = [];
  private contactNames: string[] = [];
  private group = new PlotGroup(0, 1);
  private scene: Stage | null = null;
  private events: Event[] = [];
  private bars: Bar[] = [];
  private window = 20;
  private following = true;
  private fresh = false;
  private age = NaN; // of the newest row when it was sent [s]
  private arrived = 0;
  private counted = {rows: 0, merged: 0, since: performance.now(), rate: NaN, cycles: NaN};
  private compute: number[] = [];
  private computeMost = 0;
  private late = 0;
  private lateMost = 0;
  private io = 0;
  private ioMost = 0;
  private token = "";
  private visible = new Set<Element>();
  private watcher = new IntersectionObserver((entries) => {
    for (const e of entries) if (e.isIntersecting) this.visible.add(e.target);
    else this.visible.delete(e.target);
  }, {rootMargin: "200px"});
  private shown = new Set<string>();
  private slow = 0;
  private seeking = false;

  // Parts that change.
  private readonly word = h("p", {class: "word"}, "Connecting");
  private readonly reason = h("p", {class: "reason"}, "Waiting for the server.");
  private readonly second = h("p", {class: "second"});
  private readonly answer = h("output", {class: "answer", role: "status"});
  private readonly sign = h("span", {class: "sign", "aria-hidden": "true"}, "…");
  private readonly state = h("section", {class: "verdict live-state calm", "aria-label": "State"}, this.sign, h("div", {class: "what"}, h("div", {role: "status", "aria-live": "polite"}, this.word), this.reason, this.second, this.answer));
  private readonly clock = h("output", {class: "clock", "aria-live": "off"}, "–");
  private readonly log = h("ol", {class: "events", "aria-live": "polite", "aria-label": "Events", tabindex: 0});
  private readonly timing = h("dl", {class: "facts"});
  private readonly nearest = h("p", {class: "nearest"});
  private readonly ledger = h("div", {class: "ledger"});
  private readonly grid = h("div", {class: "grid live-grid"});
  private readonly holdButton = h("button", {type: "button", class: "act"}, "Hold");
  private readonly retreatButton = h("button", {type: "button", class: "act", title: "Hold; held and pushed: out of the contact once more, by 5 mm at most"}, "Retreat");
  private readonly files = h("p", {class: "files"});
  private readonly followButton = h("button", {type: "button", class: "quiet small", hidden: true, click: () => this.follow()}, "Follow");
  private readonly slider = h("input", {type: "range", class: "slider", "aria-label": "Time"});
  private readonly playButton = h("button", {type: "button", class: "play"}, "▶");

  constructor() {
    const m = /[#&]token=([0-9a-f]{32})/.exec(location.hash);
    if (m) {
      this.token = m[1]!;
      history.replaceState(null, "", location.pathname); // not left in the address bar
    }
    this.app.replaceChildren(this.header("freefloat live"), h("main", {}, this.state));
    document.addEventListener("keydown", (event) => this.key(event));
    this.link = new Link({
      hello: (hello) => this.greet(hello),
      status: (status) => {
        this.status = status;
        status.limits?.forEach((limit, i) => this.bars[i]?.column === undefined && this.tighten(i, limit));
      },
      event: (event) => this.note(event),
      rows: (values, width) => this.take(values, width),
      connection: () => this.showState(),
    }, this.token);
    setInterval(() => this.showState(), 200);
    const frame = (now: number): void => {
      this.draw(now);
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  /* ----------------------------------------------------------------------------------------------- build -- */

  private header(title: string): HTMLElement {
    const toggle = h("button", {type: "button", class: "quiet", click: () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark", this)});
    const label = (): void => {
      toggle.textContent = document.documentElement.dataset.theme === "dark" ? "Light" : "Dark";
      toggle.setAttribute("aria-label", `Switch to the ${toggle.textContent!.toLowerCase()} theme`);
    };
    document.addEventListener("ff-theme", label);
    label();
    return h("header", {class: "top"}, h("span", {class: "brand"}, "freefloat"), h("h1", {}, title), h("div", {class: "tools"}, toggle));
  }

  private greet(hello: Hello): void {
    const same = this.hello?.session === hello.session;
    this.hello = hello;
    if (same) return;
    const picked = pick(hello);
    this.geometry = picked.geometry;
    this.summary = picked.summary;
    this.table = new LiveTable(hello.columns, 4000);
    const names = this.table.columns.map((c) => c.name);
    this.satellites = this.geometry?.satellites.map((s) => s.name) ??
      names.filter((n) => n.endsWith(".position.x") && !/\.(ideal|robot|command|inertial)\.position\.x$/.test(n)).map((n) => n.slice(0, -".position.x".length));
    this.contactNames = names.filter((n) => n.startsWith("contact.") && n.endsWith(".touching")).map((n) => n.slice(8, -9));
    this.group = new PlotGroup(0, 1);
    this.group.onSeek = (t) => {
      if (hello.mode === "view") this.seek(t);
    };
    this.group.onRange = () => {
      this.following = false;
      this.followButton.hidden = false;
    };
    this.events = [];
    this.log.replaceChildren();
    this.shown.clear();
    this.visible.clear();
    this.grid.replaceChildren();
    this.computeMost = this.lateMost = this.ioMost = this.ledgerMost = 0;
    this.ledgerSeen.clear();
    this.ledgerPanels = [];
    this.compute = [];
    this.following = true;
    this.build(picked.title);
  }

  private build(title: string): void {
    const hello = this.hello!;
    document.title = `${title}, live`;
    this.second.textContent = this.about();
    const can = (verb: string): boolean => hello.open.includes(verb) || hello.guarded.includes(verb);
    const actions = h("div", {class: "actions"});
    if (hello.mode !== "view") {
      if (can("speed")) {
        const speed = h("select", {"aria-label": "Pace", title: "Pace of the run against the wall clock", change: () => this.order(`speed ${speed.value}`)}, ...SPEEDS.map((k) => h("option", {value: k, selected: k === 1}, `${k} ×`)));
        actions.append(speed);
      }
      this.holdButton.onclick = () => this.hold();
      if (can("hold")) actions.append(this.holdButton);
      this.retreatButton.onclick = () => void this.order("retreat");
      if (can("retreat")) actions.append(this.retreatButton);
      if (can("stop")) actions.append(h("button", {type: "button", class: "act stop", click: () => this.order("stop")}, "Stop"));
    }
    this.state.replaceChildren(this.sign, this.state.querySelector(".what")!, h("div", {class: "state-side"}, hello.mode === "view" ? "" : this.clock, actions));
    this.bars = [];
    const sceneBox = section("Motion", "", h("div", {class: "scene"}), h("div", {class: "scene-legend"}));
    sceneBox.classList.add("replay");
    const sources: BarSource[] = hello.mode === "view" ? this.recordedLimits() : hello.limits;
    const limits = sources.length ? section("Limits", "share used; the tick is the largest so far", this.nearest, this.limits(sources)) : null;
    const side = h("div", {class: "stack live-side"}, limits, section("Energy ledger", "where the satellite’s kinetic energy comes from", this.ledger), section("Timing", "", this.timing));
    const windows = h("select", {"aria-label": "Time shown", change: () => {
      this.window = Number(windows.value);
      this.follow();
    }}, ...WINDOWS.map((w) => h("option", {value: w, selected: w === this.window}, `${w} s`)));
    const charts = section("Last seconds", "Contacts are shaded.", this.grid);
    charts.id = "plots";
    charts.querySelector(".head")!.append(h("span", {class: "chart-tools"}, this.followButton, windows));
    const control = hello.guarded.length ? this.control() : null;
    this.app.replaceChildren(
      h("a", {class: "skip", href: "#plots"}, "Skip to the charts"),
      this.header(title),
      h("main", {}, this.state, h("div", {class: "split live-split"}, sceneBox, side), charts,
        h("div", {class: control ? "split" : ""}, section("Events", "newest first", this.log), control)),
      ...(hello.mode === "view" ? [this.transport()] : []),
      h("footer", {}, h("p", {}, "At most 60 rows a second are shown, the newest first; the log keeps every cycle. Units are SI; linear velocity in the inertial frame, angular velocity, force and torque in the body frame.")),
    );
    requestAnimationFrame(() => setTimeout(() => this.buildScene(sceneBox)));
    this.showState();
  }

  private about(): string {
    const hello = this.hello!;
    const parts: string[] = [];
    const method = hello.method ?? this.summary?.method;
    const cycle = hello.cycle_s ?? this.summary?.cycle_s;
    if (method) parts.push(`method ${method}`);
    if (cycle) parts.push(`cycle ${exact(Number((cycle * 1e3).toPrecision(6)))} ms`);
    parts.push({run: "virtual facility, paced", rt: "real time", view: "recorded run"}[hello.mode]);
    if (hello.mode === "view" && this.summary?.verdict) parts.push(`verdict ${this.summary.verdict}`);
    if (hello.mode !== "view" && !hello.guarded.length) parts.push("view only");
    return sentence(parts.join(", ")) + ".";
  }

  private buildScene(box: HTMLElement): void {
    try {
      this.scene ??= new Stage((wide) => box.parentElement?.classList.toggle("wide", wide));
    } catch {
      box.replaceChildren(...section("Motion", "This browser offers no WebGL; the picture is left out.").childNodes);
      return;
    }
    this.scene.lagChosen = false;
    box.querySelector(".scene")!.replaceWith(this.scene.element);
    box.querySelector(".scene-legend")!.replaceWith(this.scene.legend);
    this.setScene();
  }

  private setScene(): void {
    if (!this.scene || !this.table || !Scene.possible(this.table, this.satellites)) return;
    this.scene.setRun(this.table, this.geometry, this.satellites);
    this.sceneOf = this.table;
    this.sceneRows = this.table.rows;
  }
  private sceneRows = 0;
  private sceneOf: LiveTable | null = null; // the table that the scene was built for

  /** The limits of a recorded run stand in its report, as columns. */
  private recordedLimits(): BarSource[] {
    const known = new Set(this.table!.columns.map((c) => c.name));
    return (this.geometry?.limits ?? []).filter((l) => l.columns.every((c) => known.has(c))).map((l) => ({...l, column: {names: l.columns, scale: l.scale}}));
  }

  private tighten(i: number, limit: number): void {
    const bar = this.bars[i]!;
    if (bar.limit === limit) return;
    bar.limit = limit;
    bar.box.setAttribute("aria-valuemax", String(limit));
    this.fresh = true;
  }

  private limits(sources: BarSource[]): HTMLElement {
    this.bars = sources.map((l): Bar => {
      const fill = h("i", {});
      const mark = h("b", {});
      const box = h("div", {class: "bar good", role: "meter", "aria-label": l.name, "aria-valuemin": 0, "aria-valuemax": l.limit, "aria-valuenow": 0}, fill, mark);
      return {...l, now: NaN, peak: 0, fill, mark, box, value: h("span", {class: "limit-value"}, "–"), left: h("span", {class: "soft"})};
    });
    return h("ul", {class: this.bars.length > 8 ? "limits many" : "limits"}, ...this.bars.map((b) => h("li", {}, h("span", {class: "limit-name"}, sentence(b.name)), b.value, b.box, b.left)));
  }

  private control(): HTMLElement {
    const hello = this.hello!;
    const token = h("input", {type: "password", id: "token", autocomplete: "off", spellcheck: "false", maxlength: 32, placeholder: "printed on the terminal", input: () => (this.token = this.link.token = token.value.trim())});
    token.value = this.token;
    const rows: HTMLElement[] = [h("div", {class: "setting"}, h("label", {for: "token"}, "Token"), token)];
    if (hello.guarded.includes("zero"))
      rows.push(h("div", {class: "setting"}, h("span", {}, "Force sensors"), h("button", {type: "button", class: "quiet", click: () => this.order("zero", true)}, "Zero"), h("p", {class: "soft"}, "The mean of a quarter of a second becomes the bias; refused in contact.")));
    if (hello.guarded.includes("set"))
      hello.parameters.forEach((p, i) => {
        const input = h("input", {type: "number", id: `p${i}`, min: p.low, max: p.high, step: "any", value: p.value});
        rows.push(h("div", {class: "setting"}, h("label", {for: `p${i}`}, sentence(words(p.name))), input, h("span", {class: "soft"}, p.unit),
          h("button", {type: "button", class: "quiet", "aria-label": `Set ${words(p.name)}`, click: () => this.order(`set ${p.name} ${input.value || "nan"}`, true)}, "Set"),
          h("p", {class: "soft"}, `${sentence(p.effect)}; ${exact(p.low)} to ${exact(p.high)} ${p.unit}, outside contact.`)));
      });
    return section("Control", "Each order is confirmed by the loop. This page cannot arm.", ...rows);
  }

  /* ---------------------------------------------------------------------------------------------- orders -- */

  private async order(text: string, guarded = false): Promise<void> {
    const needs = guarded || !this.hello?.open.includes(text.split(" ")[0]!);
    const {done, text: said} = await this.link.ask(text, needs ? this.token : "");
    this.answer.textContent = `${done ? "✓" : "✕"} ${sentence(said)}.`;
    this.answer.className = `answer ${done ? "good" : "bad"}`;
    clearTimeout(this.answerTimer);
    this.answerTimer = setTimeout(() => this.answer.replaceChildren(), done ? 4000 : 15000);
  }

  private answerTimer: ReturnType<typeof setTimeout> | undefined;

  private get phase(): string {
    return this.status?.phase ?? "starting";
  }

  private hold(): void {
    void this.order(this.phase === "held" || (this.hello?.mode === "view" && this.phase === "ended") ? "resume" : "hold");
  }

  private seek(t: number): void {
    const {begin_s, end_s} = this.hello!;
    void this.order(`seek ${Math.min(Math.max(t, begin_s ?? 0), end_s ?? t).toFixed(6)}`);
  }

  private transport(): HTMLElement {
    const hello = this.hello!;
    this.slider.min = String(hello.begin_s ?? 0);
    this.slider.max = String(hello.end_s ?? 1);
    this.slider.step = "0.001";
    this.slider.oninput = () => {
      this.seeking = true;
      this.clock.textContent = `${Number(this.slider.value).toFixed(3)}\u00a0s`;
    };
    this.slider.onchange = () => {
      this.seek(Number(this.slider.value));
      setTimeout(() => (this.seeking = false), 300);
    };
    this.playButton.onclick = () => this.hold();
    const speed = h("select", {"aria-label": "Speed of the replay", change: () => this.order(`speed ${speed.value}`)}, ...SPEEDS.map((k) => h("option", {value: k, selected: k === 1}, `${k} ×`)));
    const marks = h("div", {class: "marks", "aria-hidden": "true"});
    const span = (hello.end_s ?? 1) - (hello.begin_s ?? 0) || 1;
    const all = Object.values(this.summary?.satellites ?? {}).flatMap((s) => s.contacts ?? []);
    marks.replaceChildren(...all.slice(0, 500).map((c) => {
      const i = h("i", {});
      i.style.left = `${(100 * (c.start_s - (hello.begin_s ?? 0))) / span}%`;
      i.style.width = `${(100 * ((c.end_s ?? hello.end_s ?? 0) - c.start_s)) / span}%`;
      return i;
    }));
    return h("div", {class: "transport", role: "region", "aria-label": "Playback"}, this.playButton, this.clock, h("div", {class: "track"}, marks, this.slider), speed,
      h("button", {type: "button", class: "quiet small", click: () => this.order("stop")}, "Close"));
  }

  private key(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || !this.hello) return;
    const tag = (event.target as HTMLElement).tagName;
    if (event.key === " " && !/^(BUTTON|SELECT|A|INPUT)$/.test(tag)) this.hold();
    else if (this.hello.mode === "view" && (event.key === "ArrowRight" || event.key === "ArrowLeft") && !/^(INPUT|SELECT)$/.test(tag))
      this.seek(this.now() + (event.key === "ArrowRight" ? 1 : -1) * (event.shiftKey ? 5 : 0.5));
    else return;
    event.preventDefault();
  }

  /* ------------------------------------------------------------------------------------------------ data -- */

  private now(): number {
    return this.table?.rows ? this.table.time[this.table.rows - 1]! : 0;
  }

  private take(values: Float64Array, width: number): void {
    const {table, hello} = this;
    if (!table || !hello) return;
    const first = hello.head + hello.limits.length;
    for (let at = 0; at + width <= values.length; at += width) {
      if (values[at] || (table.rows && values[at + first]! < this.now())) this.restart();
      const row = values.subarray(at + first, at + width);
      this.counted.rows++;
      this.counted.merged += values[at + 2]!;
      this.late = values[at + 4]!;
      this.lateMost = Math.max(this.lateMost, this.late);
      this.computeMost = Math.max(this.computeMost, values[at + 5]!);
      this.io = hello.head > 6 ? values[at + 6]! : 0;
      this.ioMost = Math.max(this.ioMost, this.io);
      this.bars.forEach((bar, i) => {
        bar.now = bar.column ? bar.column.scale * Math.hypot(...bar.column.names.map((n) => row[this.columnOf(n)]!)) : values[at + hello.head + i]!;
        if (bar.now > bar.peak) bar.peak = bar.now;
      });
      this.watchContacts(row);
      table.push(row);
      const ns = table.last("timing.compute");
      if (ns > 0) this.compute.push(ns);
      this.age = values[at + 1]!;
    }
    if (this.compute.length > 600) this.compute.splice(0, this.compute.length - 600);
    this.arrived = performance.now();
    this.fresh = true;
  }

  /** Time began anew. The recorded run jumped: nothing shown so far counts. The motion of a run on devices began: events of its check stay. */
  private restart(): void {
    this.table!.clear();
    this.group.contacts = [];
    if (this.hello?.mode === "view") {
      this.events = [];
      this.log.replaceChildren();
    }
    for (const bar of this.bars) bar.peak = 0;
  }

  private watchContacts(row: Float64Array): void {
    const list = this.group.contacts as (Contact & {quiet?: number})[];
    for (const name of this.contactNames) {
      const on = row[this.columnOf(`contact.${name}.touching`)]! > 0;
      const open = list.find((c) => c.name === name && c.end_s === null);
      if (on && !open) list.push({name, start_s: row[0]!, end_s: null});
      else if (!on && open) open.end_s = row[0]!;
    }
    while (list.length > 200) list.shift();
  }

  private readonly columnIndex = new Map<string, number>();
  private columnOf(name: string): number {
    let i = this.columnIndex.get(name);
    if (i === undefined || this.table!.columns[i]?.name !== name) {
      i = this.table!.columns.findIndex((c) => c.name === name);
      this.columnIndex.set(name, i);
    }
    return i;
  }

  private note(event: Event): void {
    if (this.events.some((e) => e.number === event.number)) return;
    this.events.push(event);
    if (this.events.length > EVENTS) this.events.shift();
    const sign = {info: "", warning: "!", alarm: "✕"}[event.level];
    this.log.prepend(h("li", {class: event.level}, h("span", {class: "when"}, event.t === null ? (this.hello?.mode === "rt" ? BEFORE : "") : `${event.t.toFixed(3)}\u00a0s`), h("span", {class: "level"}, sign ? h("span", {"aria-hidden": "true"}, sign) : null, event.level === "info" ? null : h("span", {class: "hidden"}, event.level)), h("span", {class: "text"}, this.satellites.some((s) => event.text.startsWith(`${s}: `)) ? event.text : sentence(event.text))));
    while (this.log.children.length > EVENTS) this.log.lastChild!.remove();
  }

  /* ------------------------------------------------------------------------------------------------ show -- */

  private touching(): string[] {
    return this.contactNames.filter((c) => (this.table?.last(`contact.${c}.touching`) ?? 0) > 0);
  }

  private alarms(): {text: string; level: Level}[] {
    const out: {text: string; level: Level}[] = [];
    for (const bar of this.bars) if (bar.now > bar.limit) out.push({text: `${bar.name} above its limit`, level: bar.trips ? "bad" : "warn"});
    const status = this.table?.last("status") ?? 0;
    if (status > 0) out.push({text: "the loop holds or limits its command", level: "warn"});
    if (status < 0) out.push({text: "the loop reports a fault", level: "bad"});
    if (this.status?.dropped) out.push({text: `${this.status.dropped} rows were lost in transit to this page, not in the log`, level: "warn"});
    return out;
  }

  /** What tripped: the last alarm that is not the name of a state, which follows it. */
  private cause(): {text: string} | undefined {
    return [...this.events].reverse().find((e) => e.level === "alarm" && !(e.text.split(":")[0]! in STATES));
  }

  /** How old what is shown is [s]. */
  private dataAge(): number {
    return this.age + (performance.now() - this.arrived) / 1000;
  }

  private showState(): void {
    const {table, hello} = this;
    let word = "Connecting";
    let reason = "Waiting for the server.";
    let level: Level = "calm";
    const age = this.dataAge();
    const view = hello?.mode === "view";
    const silent = (performance.now() - this.link?.heard) / 1000;
    const over = ["ended", "stopped", "fault"].includes(this.phase);
    if (this.link && !this.link.open && hello) {
      word = over && !view ? {ended: "Ended", stopped: "Stopped", fault: "Fault"}[this.phase]! : "No connection";
      const alarm = over && !view && this.phase === "fault" ? this.cause() : undefined;
      reason = `${alarm ? `${sentence(alarm.text)}. ` : ""}The server went away ${Math.round((performance.now() - this.link.lost) / 1000)} s ago; what is shown is the last state. Trying again.`;
      level = over && !view && this.phase !== "fault" ? "calm" : "bad";
    } else if (hello) {
      const touched = this.touching();
      const alarms = this.alarms();
      const bad = alarms.some((a) => a.level === "bad");
      const alarmText = alarms.length ? `${sentence(alarms.map((a) => a.text).join("; "))}.` : "No alarm.";
      if (silent > 2) {
        word = "Stale";
        reason = `The server has said nothing for ${silent.toFixed(1)} s. ${alarmText}`;
        level = "bad";
      } else if (this.phase === "running" && table!.rows && age > STALE) {
        word = "Stale";
        reason = `The newest data are ${age.toFixed(1)} s old: the loop sends nothing. ${alarmText}`;
        level = "bad";
      } else if (this.phase === "running" && touched.length) {
        word = "In contact";
        const forces = touched.map((c) => `${c} ${quantity(table!.last(`contact.${c}.force`), "N")}`);
        reason = `${sentence(forces.join(", "))}. ${alarmText}`;
        level = bad ? "bad" : "warn";
      } else if (this.phase === "running") {
        word = alarms.length ? (bad ? "Alarm" : "Floating, with a warning") : "Floating free";
        reason = alarmText;
        level = bad ? "bad" : alarms.length ? "warn" : "good";
      } else {
        word = {starting: "Starting", held: view ? "Paused" : "Held", ended: view ? "At its end" : "Ended", stopped: "Stopped", fault: "Fault"}[this.phase] ?? this.phase;
        const devices = hello.mode === "rt";
        const waits = devices ? (STATES[this.status?.state ?? "OFF"] ?? "") : "The ideal reference is computed first.";
        const stands = devices ? STATES.HOLD! : "The run stands still until it is continued.";
        reason = `${{starting: waits, held: view ? "" : stands, ended: view ? "" : "The report is being written.", stopped: "Stopped by the operator.", fault: ""}[this.phase] ?? ""} ${alarmText}`.trim();
        // What tripped comes first: the limits that a robot at rest keeps again say nothing of it.
        const cause = this.phase === "fault" ? this.cause() : undefined;
        if (this.phase === "fault") reason = `${cause ? sentence(cause.text) : "The events say why"}. ${alarms.length ? alarmText : ""}`.trim();
        level = this.phase === "fault" ? "bad" : this.phase === "held" && !view ? "warn" : "calm";
      }
      // A recorded run that ended before its time says so first, at every instant of it.
      const ended = view && this.summary ? ending({summary: this.summary}) : null;
      if (ended) {
        const last = this.phase === "ended" || this.now() >= (this.summary!.safety?.time_s ?? Infinity);
        if (last) word = ended.word;
        reason = `${last ? sentence(ended.text) : `${ended.word} later: ${ended.text}`}. ${last ? "" : reason}`.trim();
        level = last ? "bad" : "warn";
      }
    }
    if (this.word.textContent !== word) this.word.textContent = word;
    this.reason.textContent = this.status?.state && this.link.open ? (this.phase === "fault" ? `${reason} State ${this.status.state}.` : `State ${this.status.state}. ${reason}`) : reason;
    const files = this.phase === "fault" && this.link.open ? (this.status?.files ?? []) : [];
    if (this.files.childElementCount !== files.length) {
      this.files.replaceChildren(...files.map((name) => h("a", {href: `/${name}`, target: "_blank", rel: "noopener"}, name === "fault.csv" ? "Last 2 s before the fault" : "Report")));
      this.reason.after(this.files);
    }
    const cls = `verdict live-state ${level}`;
    if (this.state.className !== cls) this.state.className = cls;
    this.sign.textContent = {good: "✓", warn: "!", bad: "✕", calm: "•"}[level];
    document.documentElement.dataset.phase = this.phase;
    // On devices nothing resumes: a new run is armed at the console.
    const resumes = hello?.open.includes("resume") || hello?.guarded.includes("resume");
    this.holdButton.textContent = this.phase === "held" && resumes ? "Continue" : "Hold";
    this.retreatButton.disabled = over || this.status?.state === "END";
    this.holdButton.disabled = over || (this.phase === "held" && !resumes);
    const playing = this.phase === "running";
    this.playButton.textContent = playing ? "❚❚" : "▶";
    this.playButton.setAttribute("aria-label", playing ? "Pause" : "Play");
    if (this.phase === "fault") this.showNearest();
    this.showTiming(age);
  }

  private showTiming(age: number): void {
    const now = performance.now();
    if (now - this.counted.since > 1000) {
      const s = (now - this.counted.since) / 1000;
      this.counted = {rows: 0, merged: 0, since: now, rate: this.counted.rows / s, cycles: this.counted.merged / s};
    }
    const sorted = [...this.compute].sort((a, b) => a - b);
    const facts: [string, string][] = [
      ["Age of the data", this.table?.rows ? `${number(Math.max(0, age) * 1e3, 3)}\u00a0ms` : "–"],
      ["Shown", Number.isFinite(this.counted.rate) ? `${Math.round(this.counted.rate)} rows/s of ${Math.round(this.counted.cycles)} cycles/s` : "–"],
      ["Computing", sorted.length ? `${duration(sorted[sorted.length >> 1])} median, ${duration(Math.max(this.computeMost, sorted[sorted.length - 1]!))} maximum` : "–"],
    ];
    if (this.hello?.mode !== "view") {
      facts.push(["Woken late by", `${duration(this.late)}, ${duration(this.lateMost)} maximum`]);
      if (this.hello?.mode === "rt") facts.push(["Input and output", `${duration(this.io)}, ${duration(this.ioMost)} maximum`]);
      facts.push(["Lost rows", String(this.status?.dropped ?? 0)]);
    }
    const dd = this.timing.querySelectorAll("dd");
    if (dd.length !== facts.length) this.timing.replaceChildren(...facts.flatMap(([k, v]) => [h("dt", {}, k), h("dd", {}, v)]));
    else facts.forEach(([, v], i) => dd[i]!.textContent !== v && (dd[i]!.textContent = v));
  }

  private follow(): void {
    this.following = true;
    this.followButton.hidden = true;
    this.fresh = true;
  }

  /** Every frame: the picture; ten times a second: charts, bars and ledger. */
  private draw(now: number): void {
    const table = this.table;
    if (!table || !this.fresh || table.rows === 0) return;
    const t = this.now();
    if (this.scene && !document.hidden) {
      if (this.sceneOf !== table) this.setScene();
      this.scene.grow();
      this.scene.setTime(t);
      if (this.sceneOf === table && (this.sceneRows < 200 || table.rows % 100 === 0)) {
        this.sceneRows = table.rows;
        this.scene.suitLag();
      }
    }
    const mode = this.hello!.mode;
    if (!this.seeking || mode !== "view") {
      const end = this.hello!.end_s;
      this.clock.textContent = this.status?.before ? sentence(BEFORE) : mode === "view" || !end ? `${t.toFixed(3)}\u00a0s` : `${t.toFixed(2)} of ${exact(Number(end.toFixed(3)))}\u00a0s`;
      if (mode === "view") this.slider.value = String(t);
    }
    if (now - this.slow < 66) return;
    this.slow = now;
    this.fresh = false;
    this.showLedger();
    this.offer();
    const first = table.time[0]!;
    this.group.full[0] = first;
    this.group.full[1] = Math.max(t, first + 1e-3);
    this.group.time = t;
    if (this.following) {
      const from = Math.max(this.hello!.begin_s ?? 0, t - this.window);
      this.group.range = [from, from + this.window];
    }
    for (const panel of this.group.panels) if (this.visible.has(panel.element)) panel.refresh();
    for (const bar of this.bars) this.showBar(bar);
    this.showNearest();
    this.widenLedger();
  }

  private showBar(bar: Bar): void {
    const share = bar.now / bar.limit;
    bar.fill.style.width = `${Math.min(100, (100 * share) / 1.5) || 0}%`;
    bar.mark.style.left = "66.667%";
    bar.box.style.setProperty("--peak", `${Math.min(99.5, (100 * bar.peak) / bar.limit / 1.5)}%`);
    bar.box.className = `bar ${share > 1 ? "bad" : share > 0.8 ? "near" : "good"}`;
    bar.box.setAttribute("aria-valuenow", (Number.isFinite(bar.now) ? bar.now : 0).toFixed(9));
    bar.value.textContent = `${number(relevant(bar.now, bar.limit))} of ${exact(Number(bar.limit.toPrecision(6)))}\u00a0${unitText(bar.unit)}`;
    bar.left.textContent = share > 1 ? `${quantity(bar.now - bar.limit, bar.unit)} too much` : `${quantity(bar.limit - bar.now, bar.unit)} left${bar.peak > bar.limit ? `; was ${number(bar.peak)}` : ""}`;
    bar.left.className = share > 1 ? "over" : "soft";
  }

  /** The limit that would trip first, in words. */
  private showNearest(): void {
    // Behind a trip the bars show a robot at rest, or one that says nothing any more: the trip itself counts.
    const tripped = this.phase === "fault" ? this.cause()?.text : undefined;
    if (tripped) {
      const text = `Tripped: ${tripped}. The bars show what came last.`;
      if (this.nearest.textContent !== text) this.nearest.textContent = text;
      return;
    }
    const trips = this.bars.filter((b) => b.trips && b.now / b.limit > 0);
    if (!trips.length) return this.nearest.replaceChildren();
    const bar = trips.reduce((a, b) => (b.now / b.limit > a.now / a.limit ? b : a));
    const share = bar.now / bar.limit;
    const text = share > 1 ? `${sentence(bar.name)} is beyond its limit.` : `Nearest to a trip: ${bar.name}, ${Math.round(100 * share)} % of its limit, ${quantity(bar.limit - bar.now, bar.unit)} left.`;
    if (this.nearest.textContent !== text) this.nearest.textContent = text;
  }

  private ledgerMost = 0;
  private readonly ledgerSeen = new Set<string>();
  private showLedger(): void {
    const table = this.table!;
    const rows: {label: string; value: number; total: boolean}[] = [];
    for (const s of this.satellites)
      for (const term of TERMS) {
        const value = relevant(table.last(`${s}.energy.${term}`), this.ledgerMost) ?? NaN; // below a millionth of the largest: rounding
        if (value !== 0) this.ledgerSeen.add(`${s}.${term}`);
        if (!Number.isFinite(value) || (term !== "kinetic" && !this.ledgerSeen.has(`${s}.${term}`))) continue;
        rows.push({label: `${this.satellites.length > 1 ? `${s}: ` : ""}${TERM_WORDS[term]}`, value, total: term === "kinetic"});
        this.ledgerMost = Math.max(this.ledgerMost, Math.abs(value));
      }
    if (this.ledger.children.length !== rows.length)
      this.ledger.replaceChildren(...rows.map((r) => h("div", {class: `entry${r.total ? " total" : ""}`}, h("span", {}, sentence(r.label)), h("span", {class: "signed", "aria-hidden": "true"}, h("i", {})), h("span", {class: "n"}))));
    rows.forEach((r, i) => {
      const e = this.ledger.children[i] as HTMLElement;
      e.firstChild!.textContent = sentence(r.label);
      const bar = e.querySelector("i")!;
      const w = this.ledgerMost ? (50 * Math.abs(r.value)) / this.ledgerMost : 0;
      bar.style.left = `${r.value < 0 ? 50 - w : 50}%`;
      bar.style.width = `${w}%`;
      bar.className = r.total ? "total" : r.value < 0 ? "minus" : "plus";
      e.lastChild!.textContent = quantity(r.value, "J");
    });
  }

  /** Ledger charts show only terms that were ever used. */
  private ledgerPanels: {panel: Panel; lines: () => Line[]; known: number}[] = [];
  private widenLedger(): void {
    for (const p of this.ledgerPanels)
      if (p.known !== this.ledgerSeen.size) {
        p.known = this.ledgerSeen.size;
        p.panel.setLines(p.lines());
      }
  }

  /** Charts appear once their quantity is there and not zero. */
  private offer(): void {
    const table = this.table!;
    const moving = (name: string | undefined): boolean => {
      const v = name ? table.last(name) : NaN;
      return Number.isFinite(v) && v !== 0;
    };
    const limitOf = (name: string, s: string): number | undefined => this.hello!.limits.find((l) => l.name === `${words(name)} of ${s}`)?.limit ?? this.summary?.requirements?.find((r) => r.name === name)?.limit ?? undefined;
    for (const s of this.satellites)
      for (const plan of plans(table, s)) {
        const key = `${s}\n${plan.title}`;
        if (this.shown.has(key) || plan.title === "Position" || !plan.quantities.some((q) => moving(q.column) || moving(q.reference))) continue;
        this.shown.add(key);
        const ledger = plan.title === "Energy ledger";
        const present = plan.quantities.filter((q) => table.column(q.column) && Number.isFinite(table.last(q.column)));
        const lines = (): Line[] => present.filter((q) => !ledger || this.ledgerSeen.has(q.column.replace(".energy.", "."))).map((q) => [q, present.indexOf(q)] as const).flatMap(([q, i]): Line[] => [
          ...(q.reference && Number.isFinite(table.last(q.reference)) ? [{label: `${q.label} ${plan.referenceName}`, table, column: q.reference, style: i, pale: true}] : []),
          {label: `${q.label}${plan.valueName ? ` ${plan.valueName}` : ""}`, table, column: q.column, style: i},
        ]);
        const panel: Panel = this.group.add({title: (this.satellites.length > 1 ? `${s}: ` : "") + plan.title, unit: table.unit(present[0]!.column), lines: lines(), limit: plan.limitOf ? limitOf(plan.limitOf, s) : undefined});
        if (ledger) this.ledgerPanels.push({panel, lines, known: this.ledgerSeen.size});
        panel.element.dataset.order = String(ORDER.indexOf(plan.title) + 100 * this.satellites.indexOf(s));
        const after = [...this.grid.children].find((e) => Number((e as HTMLElement).dataset.order) > Number(panel.element.dataset.order));
        this.grid.insertBefore(panel.element, after ?? null);
        this.watcher.observe(panel.element);
      }
  }

  restyle(): void {
    this.group.restyle();
    this.scene?.restyle();
  }

  /** See docs/live.md: what tests may use. */
  hook(): Record<string, unknown> {
    return {
      connected: () => this.link.open,
      session: () => this.hello?.session ?? null,
      phase: () => this.phase,
      mode: () => this.hello?.mode ?? null,
      columns: () => this.table?.columns.map((c) => c.name) ?? [],
      rows: () => this.table?.rows ?? 0,
      value: (name: string, row: number) => this.table?.column(name)?.[row],
      time: () => this.now(),
      age: () => this.dataAge(),
      events: () => this.events.map((e) => ({...e})),
      limits: () => this.bars.map((b) => ({name: b.name, now: b.now, peak: b.peak, limit: b.limit, trips: b.trips, left: b.left.textContent})),
      charts: () => this.group.panels.map((p) => ({title: p.spec.title, lines: p.spec.lines.map((l) => l.column), shown: [...p.element.querySelectorAll(".value")].map((e) => e.textContent), values: p.plot ? p.valuesAt(this.now()) : null})),
      ask: (text: string, token?: string) => this.link.ask(text, token),
      picture: () => this.scene?.picture() ?? null,
      frames: () => this.scene?.frames ?? 0,
    };
  }
}

const ORDER = ["Velocity", "Force on the satellite", "Energy ledger", "Velocity error against ideal", "Angular velocity", "Torque on the satellite", "Angular velocity error against ideal", "Passivity observers", "Velocity correction", "Angular velocity correction", "Arm joints"];

/** Title, geometry and summary, from the scenario or from a recorded run's report. */
function pick(hello: Hello): {title: string; geometry: Geometry | null; summary: Summary | null} {
  const report = hello.document as {title?: string; runs?: {label: string; geometry: Geometry | null; summary: Summary}[]} | null;
  const folder = hello.title.replace(/\/+$/, "").split("/").pop() ?? "";
  const run = report?.runs?.find((r) => r.label === folder) ?? report?.runs?.[0];
  const summary = (run?.summary ?? hello.summary ?? null) as Summary | null;
  const title = hello.mode === "view" ? [summary?.scenario ?? folder, run?.label ?? summary?.method].filter(Boolean).join(", ") : hello.title;
  return {title, geometry: (run?.geometry ?? hello.geometry ?? null) as Geometry | null, summary};
}

const dark = matchMedia("(prefers-color-scheme: dark)");
setTheme(dark.matches ? "dark" : "light", null);
const page = new Page();
dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light", page));
(window as unknown as {freefloat: unknown}).freefloat = page.hook();
document.documentElement.dataset.ready = "true";
