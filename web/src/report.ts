// report.html: verdict, tables, replay, plots.
import {h, table as htmlTable, type Cell} from "./dom";
import {filled, isConstant, largest, readReport, satelliteNames, type Contact, type Report, type Run} from "./data";
import {duration, exact, number, plain, quantity, relevant, seconds, sentence, words} from "./format";
import {colour, histogram, Panel, PlotGroup, swatch, type Line} from "./plots";
import {emulationPlans, plans, type PlotPlan, type Quantity} from "./plans";
import {dropZone} from "./drop";
import {Notes} from "./notes";
import {saver} from "./save";
import {conduct, decimals, events, emulationUnit, mark, matrices, percentile, section, squareOf} from "./sections";
import {Scene} from "./scene";
import {Stage} from "./stage";
import {OverviewTable} from "./overview";
import {levelSentence, readLog} from "./rawlog";
import {StudyPage, type Study} from "./study";
import {header, setTheme} from "./theme";
import {brokenAt, divergedAt, energySentence, isJudged, isReference, isUnjudged, isValid, rank, UNITS, verdict} from "./verdict";

const LEGEND = 8; // lines of one plot that can still be told apart
const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10];

class Page {
  private readonly app = document.getElementById("app")!;
  private readonly group: PlotGroup;
  private readonly compare: boolean;
  private readonly duration: number;
  private readonly start: number;
  private current: Run;
  private scene: Stage | null = null;
  private playing = false;
  private speed = 1;
  private lastFrame = 0;
  private readonly details = h("div", {class: "details"});
  private readonly clock = h("output", {class: "clock", "aria-live": "off"});
  private readonly slider = h("input", {type: "range", class: "slider", "aria-label": "Time"});
  private readonly playButton = h("button", {type: "button", class: "play", click: () => this.play(!this.playing)});
  private readonly marks = h("div", {class: "marks", "aria-hidden": "true"});
  private readonly quiet: string[] = [];

  private readonly hasSeries: boolean;
  private notes: Notes | null = null;

  constructor(private readonly report: Report) {
    this.hasSeries = report.runs.some((r) => r.table && r.table.rows > 1);
    this.compare = report.runs.length > 1;
    const best = rank(report.runs)[0]!.run;
    this.current = best;
    const ends = report.runs.map((r) => (r.table && r.table.rows ? [r.table.time[0]!, r.table.time[r.table.rows - 1]!] : [0, (r.summary.cycle_s ?? 0) * (r.summary.cycles ?? 0)]));
    this.start = Math.min(...ends.map((e) => e[0]!));
    this.duration = Math.max(...ends.map((e) => e[1]!)) - this.start;
    this.group = new PlotGroup(this.start, this.start + this.duration);
    this.group.onSeek = (t) => this.seek(t);
  }

  build(): void {
    const {hasSeries} = this;
    document.title = this.report.title;
    if (hasSeries) this.notes = new Notes(() => this.group.time, (t) => this.seek(t), () => this.showMarks());
    const drop = dropZone((runs) => this.add(runs), () => this.current);
    this.app.replaceChildren(
      h("a", {class: "skip", href: "#plots"}, "Skip to the plots"),
      header(this.report.title, this, drop.button),
      h("main", {}, drop.said, this.verdictSection(), this.compare ? this.ranking() : null, this.details, hasSeries ? this.plots() : null, this.notes?.element),
      ...(hasSeries ? [this.transport()] : []),
      this.footer(),
    );
    this.showDetails();
    this.group.contacts = this.current.contacts;
    for (const element of this.app.querySelectorAll<HTMLElement>(".scroll"))
      if (element.scrollWidth > element.clientWidth) element.tabIndex = 0;
    if (hasSeries) this.seek(this.firstInterest());
    document.onkeydown = (event) => this.key(event);
  }

  /** More runs beside these: the page is made anew with all of them. */
  private add(runs: Run[]): void {
    this.play(false);
    show({...this.report, runs: [...this.report.runs, ...runs]});
  }

  /** The moment worth looking at first: where a requirement broke, else in the first contact. */
  private firstInterest(): number {
    const broken = verdict(this.current).when;
    if (broken !== null) return broken;
    const contact = this.current.contacts[0];
    return contact ? (contact.start_s + (contact.end_s ?? this.start + this.duration)) / 2 : this.start;
  }

  private verdictSection(): HTMLElement {
    const runs = this.report.runs;
    if (!this.compare) {
      const v = verdict(runs[0]!);
      return this.verdictBox(v.judged ? (v.valid ? "good" : "bad") : "calm", v.word, sentence(v.sentence), sentence(energySentence(runs[0]!)), v.when);
    }
    const order = rank(runs);
    const judged = order.filter((o) => !isReference(o.run) && !isUnjudged(o.run));
    const valid = judged.filter((o) => isValid(o.run));
    const first = order[0]!;
    const ties = first.tied ? order.filter((o) => o.place === first.place) : [first];
    const word = valid.length === judged.length ? "All valid" : valid.length === 0 ? "None valid" : `${valid.length} of ${judged.length} valid`;
    const v = verdict(first.run);
    const names = ties.map((o) => o.run.label);
    const who = names.length > 1 ? `are ${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}, equal to a thousandth of the limits` : `is ${names[0]}`;
    const text = `${valid.length ? "Best" : "Nearest"} ${who}${names.length > 1 ? `; ${names[0]}` : ""}: ${v.sentence}`;
    return this.verdictBox(valid.length === judged.length ? "good" : valid.length > 0 ? "part" : "bad", word, text, "", v.when);
  }

  private verdictBox(mood: "good" | "part" | "bad" | "calm", word: string, text: string, second: string, when: number | null): HTMLElement {
    return h(
      "section", {class: `verdict ${mood === "part" ? "warn" : mood}`, "aria-label": "Verdict", "data-verdict": {good: "pass", part: "part", bad: "fail", calm: "none"}[mood]},
      h("span", {class: "sign", "aria-hidden": "true"}, {good: "✓", part: "!", bad: "✕", calm: "–"}[mood]),
      h("div", {},
        h("p", {class: "word"}, word),
        h("p", {class: "reason"}, text),
        second ? h("p", {class: "second"}, second) : null,
        when !== null && this.hasSeries ? h("button", {type: "button", class: "quiet", click: () => this.look(when)}, `Show ${seconds(when)}`) : null),
    );
  }

  /** Zooms all plots around an instant and moves the replay there. */
  private look(t: number): void {
    const width = Math.min(this.duration, Math.max(this.duration / 15, 100 * (this.current.summary.cycle_s ?? 0)));
    this.group.setRange(t - width / 2, t + width / 2);
    this.seek(t);
    this.showPlots();
  }

  /** What was asked for is on the screen: the plots, their heading at the top. */
  private showPlots(): void {
    document.getElementById("plots")?.scrollIntoView({block: "start"});
  }

  private ranking(): HTMLElement {
    const order = rank(this.report.runs);
    const names = (this.report.runs[0]!.summary.requirements ?? []).map((r) => r.name);
    const worstObserver = (run: Run): number | null => {
      const all = Object.values(run.summary.satellites ?? {}).flatMap((s) => s.passivity?.observer_min_J ?? []).filter((x): x is number => typeof x === "number");
      return all.length ? Math.min(...all) : null;
    };
    const heads = ["Method", "#Place", "Verdict", ...names.map((n) => `#${sentence(words(n))}${UNITS[n] ? ` (${UNITS[n]})` : ""}`), "#Distance from ideal", "#Lowest observer (J)", "#Mean cycle"];
    const rows = order.map(({run, used, place, tied}) => [
      {text: run.label, node: this.runLabel(run)},
      place === null ? "–" : `${place}${tied ? " =" : ""}`,
      isReference(run) ? {text: "reference", className: "soft"} : isUnjudged(run) ? {text: "not judged", className: "soft"} : {text: "", node: mark(isValid(run), isValid(run) ? "valid" : "not valid")},
      ...names.map((n): Cell => {
        const r = run.summary.requirements?.find((x) => x.name === n);
        const diverged = n === "restitution_error" && r?.value === null && divergedAt(run) !== null;
        const text = r && !isJudged(r) ? "not judged" : diverged ? `diverged at ${seconds(divergedAt(run)!)}` : number(r ? relevant(r.value, r.limit) : undefined);
        return {text, className: r && !isJudged(r) ? "soft" : r && !r.met ? "over" : ""};
      }),
      Number.isFinite(used) ? `${used < 1e-6 ? "0" : number(100 * used)} %` : "∞",
      number(worstObserver(run)),
      isReference(run) ? "–" : duration(run.summary.timing?.cycle_mean_ns),
    ]);
    return section("Ranking", "Valid runs first, then by the distance from the ideal motion: the largest share of a limit, a force ratio below 1 as far as one above. Runs within a thousandth of a limit share a place (=).", htmlTable("Ranking of the methods", heads, rows, "ranking"));
  }

  /** The reference is the pale ink line in all plots and tables. */
  private strokeOf(run: Run): {style: number; pale?: boolean; ink?: boolean} {
    return isReference(run) ? {style: 0, pale: true, ink: true} : {style: this.styleOf(run)};
  }

  private styleOf(run: Run): number {
    return this.report.runs.indexOf(run);
  }

  private runLabel(run: Run): HTMLElement {
    const button = h("button", {type: "button", class: "chip", "aria-pressed": "true", title: "Show or hide this method in all plots", click: () => {
      button.setAttribute("aria-pressed", String(this.group.toggle(run.label)));
    }}, swatch(this.strokeOf(run)), h("span", {class: "label"}, run.label));
    return button;
  }

  /** Requirements, facts, contacts and replay of one run. */
  private showDetails(): void {
    const run = this.current;
    const parts: HTMLElement[] = [];
    if (this.compare) {
      const select = h("select", {id: "run", change: () => {
        this.current = this.report.runs[Number(select.value)]!;
        this.group.contacts = this.current.contacts;
        this.showDetails();
        this.showMarks();
        this.group.restyle();
        this.seek(this.group.time);
        document.getElementById("run")?.focus();
      }}, ...this.report.runs.map((r, i) => h("option", {value: i, selected: r === run}, r.label)));
      parts.push(h("div", {class: "pick"}, h("label", {for: "run"}, "Details of "), select));
    }
    const left = h("div", {class: "stack"}, run.summary.requirements?.length ? this.requirements(run) : null, this.facts(run));
    const replay = this.replay(run);
    parts.push(h("div", {class: "split"}, left, ...(replay ? [replay] : [])));
    parts.push(this.contacts(run), ...matrices(run), ...conduct(run));
    this.details.replaceChildren(...parts);
  }

  private requirements(run: Run): HTMLElement {
    const list = run.summary.requirements ?? [];
    const rows = list.map((r): (string | Cell)[] => {
      const limit = UNITS[r.name] ? `${exact(r.limit)}\u00a0${UNITS[r.name]}` : exact(r.limit);
      if (!isJudged(r)) return [sentence(words(r.name)), {text: "–", className: "soft"}, limit, "", {text: "not judged: nothing was measured", className: "soft"}];
      const since = r.name === "restitution_error" && r.value === null ? divergedAt(run) : null;
      const share = r.value === null || !r.limit ? Infinity : r.value / r.limit;
      const bar = h("div", {class: `bar ${r.met ? "good" : "bad"}`, role: "img", "aria-label": `${Number.isFinite(share) ? Math.round(100 * share) : "more than 100"} percent of the limit`}, h("i", {}), h("b", {}));
      (bar.firstChild as HTMLElement).style.width = `${Math.min(100, (100 * share) / 1.5)}%`;
      const t = r.met || since !== null ? null : brokenAt(run, r);
      const when = since !== null ? `diverged at ${seconds(since)}` : t === null ? null : `${r.name === "peak_force_ratio" ? "peak at" : "exceeded from"} ${seconds(t)}`;
      return [
        {text: sentence(words(r.name))},
        {text: number(relevant(r.value, r.limit)), className: r.met ? "" : "over"},
        limit,
        {text: "", node: bar},
        {text: "", node: h("span", {}, mark(r.met, r.met ? "met" : "not met"), when !== null ? h("span", {class: "soft"}, `, ${when}`) : null)},
      ];
    });
    return section("Requirements", "", htmlTable("Requirements", ["Requirement", "#Value", "#Limit", "Share of the limit", "Result"], rows, "requirements"));
  }

  private facts(run: Run): HTMLElement {
    const s = run.summary;
    const facts: [string, string][] = [];
    const add = (key: string, value: string | undefined | null): void => {
      if (value && value !== "–") facts.push([key, value]);
    };
    add("Scenario", s.scenario);
    add("Method", run.label !== s.method && s.method ? `${s.method} (${run.label})` : (s.method ?? run.label));
    add("Integrator", s.integrator);
    if (s.cycle_s && s.cycles) add("Cycle", `${exact(Number((s.cycle_s * 1e3).toPrecision(12)))}\u00a0ms × ${s.cycles} = ${exact(Number((s.cycle_s * s.cycles).toPrecision(12)))}\u00a0s`);
    for (const satellite of run.geometry?.satellites ?? []) {
      const j = satellite.inertia_kgm2 ?? [];
      const products = j.slice(3).some((x) => x !== 0) ? `; ${j.slice(3).map(exact).join(", ")}` : "";
      add(`Satellite ${satellite.name}`, `${exact(satellite.mass_kg)}\u00a0kg, ${j.slice(0, 3).map(exact).join(", ")}${products}\u00a0kg\u00a0m²`);
      if (satellite.robot) add(`Robot of ${satellite.name}`, satellite.robot.kind + (satellite.robot.delay_s ? `, ${exact(Number((satellite.robot.delay_s * 1e3).toPrecision(6)))}\u00a0ms delay` : ""));
    }
    for (const [name, satellite] of Object.entries(s.satellites ?? {})) {
      if (typeof satellite.robot?.max_tracking_error_m === "number") add(`Tracking of ${name}`, `${quantity(satellite.robot.max_tracking_error_m * 1e3, "mm")} maximum`);
      const corrections = satellite.passivity;
      const force = plain(corrections?.max_force_correction_N as number | null | undefined, Math.max(0, ...run.contacts.map((c) => c.peak_force_N ?? 0)));
      const velocity = plain(corrections?.max_velocity_correction_mps as number | null | undefined);
      if (force || velocity) add(`Corrections of ${name}`, `${quantity(force, "N")}, ${quantity(velocity, "m/s")} maximum`);
    }
    for (const [name, pair] of Object.entries(s.pairs ?? {})) {
      const e = pair.error_vs_ideal;
      if (e) add(`${name} against ideal`, `${quantity(e.position_m, "m")}, ${quantity(e.attitude_rad, "rad")}`);
    }
    const emulation = (s.emulation as Record<string, unknown> | undefined) ?? {};
    for (const [key, value] of Object.entries(emulation)) {
      const [name, unit] = key === "inertia_ratio" ? ["inertia ratio", ""] : emulationUnit(key, emulation.pose_unit);
      if (typeof value === "number") add(`Emulation, ${name}`, quantity(value, unit));
      else if (typeof value === "boolean") add(`Emulation, ${key}`, value ? "yes" : "no");
      else if (Array.isArray(value) && !squareOf(value)) add(`Emulation, ${name}`, value.map((v) => number(typeof v === "number" ? v : null)).join(", "));
    }
    // on devices time is theirs: how much faster it could be says nothing
    const factor = s.devices ? null : s.timing?.real_time_factor;
    if (typeof s.timing?.cycle_mean_ns === "number") add("Computing", `${duration(s.timing.cycle_mean_ns)} a cycle, ${duration(s.timing.cycle_max_ns)} maximum${factor ? `; ${number(factor)} × real time` : ""}`);
    return section("Run", "", h("dl", {class: "facts"}, ...facts.flatMap(([key, value]) => [h("dt", {}, key), h("dd", {}, value)])));
  }

  private contacts(run: Run): HTMLElement {
    const emulation = run.summary.emulation as {contact_s?: number | null} | undefined;
    if (run.contacts.length === 0)
      return section("Contacts", typeof emulation?.contact_s === "number" ? `The robot touches the wall at ${seconds(emulation.contact_s)}.` : "Nothing was touched.");
    const several = satelliteNames(run).length > 1;
    const LIMIT = 200;
    // Of the ideal motion itself where it is one of the runs: its contact of the same name and number.
    const ideal = this.report.runs.find((r) => r !== run && isReference(r));
    const since = divergedAt(run) ?? Infinity; // from here on contacts of the same number are different contacts
    const idealOf = (c: Contact, nth: number): number | null => c.start_s >= since ? null :
      ideal?.contacts.filter((o) => o.name === c.name && o.satellite === c.satellite)[nth]?.restitution ?? null;
    const seen = new Map<string, number>();
    // Each column: head, text of a contact. Those that hold nothing in any row are left out.
    const columns: [string, (c: Contact, nth: number) => string][] = [
      ["Contact", (c) => c.name],
      ...(several ? ([["Satellite", (c: Contact) => c.satellite ?? ""]] as [string, (c: Contact) => string][]) : []),
      ["#Start (s)", (c) => c.start_s.toFixed(3)],
      ["#Lasts (s)", (c) => (c.end_s === null ? "open" : (c.end_s - c.start_s).toFixed(3))],
      ["#Speed before (m/s)", (c) => number(c.speed_before_mps, 4)],
      ["#Speed after (m/s)", (c) => (c.end_s === null ? "–" : number(c.speed_after_mps, 4))],
      ["#Restitution", (c) => decimals(c.restitution ?? null)],
      ["#Ideal restitution", (c, nth) => decimals(idealOf(c, nth))],
      ["#Peak force (N)", (c) => number(c.peak_force_N, 4)],
      ["#Robot’s peak force (N)", (c) => number(c.peak_robot_force_N, 4)],
      ["#Stiffness (N/m)", (c) => number(c.stiffness_Npm, 4)],
      ["#Damping (N s/m)", (c) => number(c.damping_Nspm, 3)],
    ];
    const texts = run.contacts.slice(0, LIMIT).map((c) => {
      const nth = seen.get(`${c.satellite} ${c.name}`) ?? 0;
      seen.set(`${c.satellite} ${c.name}`, nth + 1);
      return columns.map(([, text]) => text(c, nth));
    });
    const kept = columns.map((_c, k) => texts.some((row) => row[k] !== "–"));
    const heads = ["#No.", ...columns.filter((_c, k) => kept[k]).map(([head]) => head)];
    const rows = texts.map((row, i): (string | Cell)[] => [
      {text: String(i + 1), node: h("button", {type: "button", class: "link", "aria-label": `Show contact ${i + 1}`, click: () => this.lookContact(run, i)}, String(i + 1))},
      ...row.filter((_t, k) => kept[k]),
    ]);
    const more = (run.contacts.length > LIMIT ? ` The first ${LIMIT} of ${run.contacts.length} are listed.` : "") + (since < Infinity ? ` The trajectories have diverged at ${seconds(since)}: later contacts have no partner in the ideal motion.` : "");
    const all: HTMLElement | null = rows.length > 6 ? h("button", {type: "button", class: `quiet small more${rows.length > 10 ? "" : " few"}`, click: () => (s.classList.add("all"), all!.remove())}, `Show all ${rows.length}`) : null;
    const s = section("Contacts", `Speeds are those of the centre of mass; restitution is that of the speed along the normal at the touching point, of both bodies where two touch.${more}`, htmlTable("Contacts", heads, rows, "contacts"), ...(all ? [all] : []));
    return s;
  }

  private lookContact(run: Run, index: number): void {
    const c = run.contacts[index]!;
    const end = c.end_s ?? c.start_s + 1;
    const width = Math.max(end - c.start_s, 20 * (run.summary.cycle_s ?? 0.004));
    this.group.setRange(c.start_s - 1.5 * width, end + 1.5 * width);
    this.seek((c.start_s + end) / 2);
    this.showPlots();
  }

  private replay(run: Run): HTMLElement | null {
    if (!Scene.possible(run.table, satelliteNames(run))) return null;
    const s = section("Replay", "", h("div", {class: "scene"}), h("div", {class: "scene-legend"}));
    s.classList.add("replay");
    if (this.scene) this.fillReplay(s, run);
    // The first time, words and numbers come before the picture: WebGL may take a second to start.
    else requestAnimationFrame(() => setTimeout(() => this.fillReplay(s, run)));
    return s;
  }

  private fillReplay(s: HTMLElement, run: Run): void {
    try {
      this.scene ??= new Stage((wide) => this.details.querySelector(".split")?.classList.toggle("wide", wide));
    } catch {
      s.replaceChildren(...section("Replay", "~This browser offers no WebGL; the replay is left out.").childNodes);
      return;
    }
    const stage = this.scene;
    s.querySelector(".scene")!.replaceWith(stage.element);
    s.querySelector(".scene-legend")!.replaceWith(stage.legend);
    stage.setRun(run.table!, run.geometry, satelliteNames(run));
    stage.setTime(this.group.time);
  }

  /* ------------------------------------------------------------------------------------------ plots -- */

  private plots(): HTMLElement {
    const grids: HTMLElement[] = [];
    const withTable = this.report.runs.filter((r) => r.table && r.table.rows > 1);
    const first = withTable[0]!;
    const names = [...new Set(withTable.flatMap(satelliteNames))];
    for (const name of names) {
      const figures = plans(first.table!, name).flatMap((plan) => this.plot(plan, withTable, names.length > 1 ? `${name}: ` : "") ?? []);
      if (figures.length) grids.push(h("div", {class: "grid", role: "group", "aria-label": `Plots of ${name}`}, ...figures));
    }
    const emulated = emulationPlans(first.table!).flatMap((plan) => this.plot(plan, withTable, "") ?? []);
    if (emulated.length) grids.push(h("div", {class: "grid", role: "group", "aria-label": "Plots of the emulation"}, ...emulated));
    const contactNames = first.table!.columns.map((c) => /^contact\.(.*)\.force$/.exec(c.name)?.[1]).filter((c): c is string => c !== undefined);
    const rest: HTMLElement[] = [];
    const force = this.plot({title: "Contact force at the robot", quantities: contactNames.map((c) => ({label: c, column: `contact.${c}.force`}))}, withTable, "");
    if (force) rest.push(...force);
    const bins = withTable.flatMap((r) => r.histograms.filter((g) => g.name === "timing.compute" && g.count.some((c) => c > 0)).map((g) => ({run: r, g})));
    if (bins.length) {
      const note = this.compare ? "" : bins.map(({g}) => `median ${duration(percentile(g, 0.5))}, 99.9 % below ${duration(percentile(g, 0.999))}`).join();
      rest.push(histogram("Computing time of a cycle", bins.map(({run, g}) => ({label: run.label, style: this.compare ? this.styleOf(run) : 0, ...g})), note));
    }
    if (rest.length && grids.length === 1) grids[0]!.append(...rest);
    else if (rest.length) grids.push(h("div", {class: "grid"}, ...rest));
    const legend = this.compare
      ? h("div", {class: "legend", role: "group", "aria-label": "Methods"}, ...withTable.filter((r) => !isReference(r)).map((r) => this.runLabel(r)), h("span", {class: "chip"}, swatch({style: 0, ink: true, pale: true}), h("span", {class: "label"}, "ideal")))
      : null;
    const own = this.ownPlot(withTable);
    if (own) grids.push(h("div", {class: "grid"}, own));
    for (const panel of this.group.panels) panel.element.querySelector("figcaption")!.append(saver(panel));
    const s = section("Plots", "~Drag to zoom, shift and drag to pan, double-click to show all, click to move the replay. Contacts are shaded.", ...(legend ? [legend] : []), ...grids);
    if (this.quiet.length) s.append(h("p", {class: "soft"}, `Zero throughout, or below a millionth of the limit, not drawn: ${this.quiet.join(", ").toLowerCase()}.`));
    const thinned = withTable.filter((r) => r.bucket > 1);
    if (thinned.length) s.append(...thinned.map((r) => this.openLog(r)));
    s.id = "plots";
    return s;
  }

  /** A long run is drawn by the smallest and largest value of each bucket; its log.csv shows every cycle. */
  private openLog(run: Run): HTMLElement {
    const said = h("span", {class: "soft", role: "status"});
    const input = h("input", {type: "file", accept: ".csv", class: "hidden", "aria-label": `log.csv of ${run.label}`, change: async () => {
      const file = input.files?.[0];
      if (!file) return;
      try {
        const old = run.table!;
        const table = await readLog(file, old, run.cycles, (part) => (said.textContent = `Reading, ${Math.round(100 * part)} %`));
        run.table = table;
        run.bucket = 1;
        for (const panel of this.group.panels) panel.exchange(old, table);
        this.scene?.setRun(this.current.table!, this.current.geometry, satelliteNames(this.current));
        this.seek(this.group.time);
        said.textContent = `Every cycle is drawn: ${table.rows} rows.`;
        level.remove();
        button.remove();
      } catch (error) {
        said.textContent = `${(error as Error).message}.`;
      }
    }});
    const button = h("button", {type: "button", class: "quiet small", click: () => input.click()}, `Open log.csv${this.compare ? ` of ${run.label}` : ""}`);
    const level = h("span", {class: "soft level"});
    const log = run.table instanceof OverviewTable ? run.table : null;
    const say = (): void => void (level.textContent = sentence(`${this.compare ? `${run.label}: ` : ""}${levelSentence(run, this.group.range)} `));
    const others = this.group.onRange;
    this.group.onRange = (range) => {
      others(range);
      say();
      log?.look(...range).then((more) => {
        if (!more) return;
        run.whole = log.whole;
        for (const panel of this.group.panels) panel.refresh();
        this.scene?.setTime(this.group.time);
        say();
      }, (error: Error) => void (said.textContent = `${run.label} cannot be read any more: ${error.message}.`));
    };
    say();
    return h("p", {class: "raw"}, level, ...(log ? [] : [button, " ", input]), said);
  }

  /** Any column of any run. */
  private ownPlot(runs: Run[]): HTMLElement | null {
    const names = [...new Set(runs.flatMap((r) => r.table!.columns.slice(1).map((c) => c.name)))];
    if (!names.length) return null;
    const lines = (name: string): Line[] => runs.filter((r) => filled(r.table!, name)).map((r) => ({label: r.label, table: r.table!, column: name, style: this.compare ? this.styleOf(r) : 0, group: this.compare ? r.label : undefined}));
    const start = names.find((n) => lines(n).length > 0 && !runs.every((r) => isConstant(r.table!.column(n) ?? []))) ?? names[0]!;
    const panel = this.group.add({title: "Any column", unit: runs[0]!.table!.unit(start), lines: lines(start)});
    const select = h("select", {id: "own", "aria-label": "Column shown in this plot", change: () => panel.setLines(lines(select.value), runs.find((r) => r.table!.column(select.value))?.table!.unit(select.value) ?? "")},
      ...names.map((n) => h("option", {value: n, selected: n === start}, n)));
    panel.element.querySelector("figcaption")!.append(select);
    return panel.element;
  }

  private plot(plan: PlotPlan, runs: Run[], prefix: string): HTMLElement[] | null {
    const present = plan.quantities.filter((q) => runs.some((r) => filled(r.table!, q.column)));
    if (present.length === 0) return null;
    const zero = (name: string | undefined): boolean => !name || runs.every((r) => {
      const values = r.table!.column(name);
      return !values || (isConstant(values) && values[0] === 0);
    });
    const limit = plan.limitOf ? (runs[0]!.summary.requirements?.find((r) => r.name === plan.limitOf)?.limit ?? undefined) : undefined;
    const below = (name: string): boolean => runs.every((r) => !(largest(r.table!.column(name) ?? []).value >= 1e-6 * limit!));
    if (limit === undefined ? present.every((q) => zero(q.column) && zero(q.reference)) : present.every((q) => below(q.column))) {
      this.quiet.push(prefix + plan.title);
      return null;
    }
    const unit = runs[0]!.table!.unit(present[0]!.column) || "1";
    const title = prefix + plan.title;
    if (!this.compare) {
      const table = runs[0]!.table!;
      const draw = (part: Quantity[], name: string): HTMLElement => {
        const lines: Line[] = [];
        part.forEach((q, i) => {
          if (filled(table, q.reference)) lines.push({label: `${q.label} ${plan.referenceName}`, table, column: q.reference!, style: i, pale: true});
        });
        part.forEach((q, i) => {
          if (table.column(q.column)) lines.push({label: plan.valueName ? `${q.label} ${plan.valueName}` : q.label, table, column: q.column, style: i});
        });
        // Value and reference of one axis stand together in the legend.
        lines.sort((a, b) => a.style - b.style || Number(b.pale ?? false) - Number(a.pale ?? false));
        return this.group.add({title: name, unit, lines, limit}).element;
      };
      // More lines than a legend can tell apart become several plots of equal size.
      const count = present.reduce((n, q) => n + 1 + Number(filled(table, q.reference)), 0);
      const pieces = Math.ceil(count / LEGEND);
      const size = Math.ceil(present.length / pieces);
      return Array.from({length: Math.ceil(present.length / size)}, (_p, k) => draw(present.slice(k * size, (k + 1) * size), pieces > 1 ? `${title}, ${k + 1} of ${Math.ceil(present.length / size)}` : title));
    }
    // Several methods: one quantity at a time, the one that moves most first.
    const lines = (q: Quantity): Line[] => {
      const out: Line[] = [];
      const withReference = (plan.referenceName === "ideal" || plan.referenceName === "direct") && q.reference ? runs.find((r) => filled(r.table!, q.reference)) : undefined;
      if (withReference) out.push({label: plan.referenceName!, table: withReference.table!, column: q.reference!, style: 0, pale: true, ink: true});
      for (const r of runs) if (filled(r.table!, q.column) && !(withReference && isReference(r))) out.push({label: r.label, table: r.table!, column: q.column, ...this.strokeOf(r), group: r.label, outlier: !isValid(r)});
      return out;
    };
    // First the quantity in which the runs that count differ most from each other; where they do not, the one that moves most.
    const counted = runs.filter((r) => !isReference(r) && (isValid(r) || !runs.some((o) => !isReference(o) && isValid(o))));
    const extent = (q: Quantity, from: (k: number) => number): number => Math.max(0, ...counted.map((r) => {
      const values = r.table!.column(q.column);
      let most = 0;
      for (let i = 0; values && i < r.table!.rows; i++) {
        const d = Math.abs(values[i]! - from(i));
        if (d > most && d < Infinity) most = d;
      }
      return most;
    }));
    const moves = (q: Quantity): number => extent(q, () => counted[0]?.table!.column(q.column)?.[0] ?? 0);
    const differs = (q: Quantity): number => extent(q, (i) => counted[0]?.table!.column(q.column)?.[i] ?? NaN);
    const most = Math.max(...present.map(moves));
    const spread = present.some((q) => differs(q) > 1e-6 * most) ? differs : moves;
    const start = present.reduce((a, b) => (spread(b) > spread(a) ? b : a));
    const panel: Panel = this.group.add({title, unit, lines: lines(start), limit});
    if (present.length > 1) {
      const select = h("select", {"aria-label": `Quantity shown in ${title}`, change: () => panel.setLines(lines(present[Number(select.value)]!))},
        ...present.map((q, i) => h("option", {value: i, selected: q === start}, q.label)));
      panel.element.querySelector("figcaption")!.append(select);
    }
    return [panel.element];
  }

  /* -------------------------------------------------------------------------------------- transport -- */

  private transport(): HTMLElement {
    const step = this.step();
    this.slider.min = String(this.start);
    this.slider.max = String(this.start + this.duration);
    this.slider.step = String(step);
    this.slider.addEventListener("input", () => this.seek(Number(this.slider.value)));
    const speed = h("select", {"aria-label": "Speed of the replay", change: () => (this.speed = Number(speed.value))}, ...SPEEDS.map((k) => h("option", {value: k, selected: k === 1}, `${k} ×`)));
    const button = (text: string, label: string, action: () => void): HTMLElement => h("button", {type: "button", class: "quiet small", title: label, "aria-label": label, click: action}, text);
    this.play(false);
    this.showMarks();
    return h(
      "div", {class: "transport", role: "region", "aria-label": "Playback"},
      this.playButton, this.clock,
      h("div", {class: "track"}, this.marks, this.slider),
      speed,
      h("div", {class: "zoom"},
        button("‹", "Previous contact", () => this.jump(-1)), button("›", "Next contact", () => this.jump(1)),
        button("+", "Zoom in", () => this.group.zoom(2)), button("−", "Zoom out", () => this.group.zoom(0.5)), button("All", "Show the whole run", () => this.group.setRange(...this.group.full))),
    );
  }

  private showMarks(): void {
    this.marks.replaceChildren(...this.current.contacts.slice(0, 500).map((c) => {
      const i = h("i", {});
      i.style.left = `${(100 * (c.start_s - this.start)) / this.duration}%`;
      i.style.width = `${(100 * ((c.end_s ?? this.start + this.duration) - c.start_s)) / this.duration}%`;
      return i;
    }), ...events(this.current).map(([t, text]) => {
      const i = h("i", {class: "event-mark", title: `${seconds(t)}: ${text}`});
      i.style.left = `${(100 * (t - this.start)) / this.duration}%`;
      return i;
    }), ...(this.notes?.times ?? []).map((t) => {
      const i = h("i", {class: "note-mark"});
      i.style.left = `${(100 * (t - this.start)) / this.duration}%`;
      return i;
    }));
  }

  private step(): number {
    return this.current.summary.cycle_s || this.duration / 1000;
  }

  private jump(direction: number): void {
    const list = this.current.contacts;
    const t = this.group.time;
    const inside = (i: number): number => (list[i]!.start_s + (list[i]!.end_s ?? list[i]!.start_s)) / 2;
    const order = direction > 0 ? list.findIndex((_c, i) => inside(i) > t + this.step()) : list.length - 1 - [...list].reverse().findIndex((_c, i) => inside(list.length - 1 - i) < t - this.step());
    if (order >= 0 && order < list.length) this.lookContact(this.current, order);
  }

  seek(t: number): void {
    const time = Math.min(Math.max(t, this.start), this.start + this.duration);
    this.group.setTime(time);
    this.scene?.setTime(time);
    this.slider.value = String(time);
    const text = time.toFixed(3);
    this.clock.textContent = `${text}\u00a0s`;
    this.slider.setAttribute("aria-valuetext", `${text} seconds`);
  }

  play(on: boolean): void {
    this.playing = on;
    this.playButton.textContent = on ? "❚❚" : "▶";
    this.playButton.setAttribute("aria-label", on ? "Pause" : "Play");
    if (!on) return;
    if (this.group.time >= this.start + this.duration) this.seek(this.start);
    this.lastFrame = performance.now();
    const frame = (now: number): void => {
      if (!this.playing) return;
      const next = this.group.time + (Math.max(0, now - this.lastFrame) / 1000) * this.speed;
      this.lastFrame = now;
      this.seek(next);
      if (next >= this.start + this.duration) this.play(false);
      else requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  private key(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return;
    const tag = (event.target as HTMLElement).tagName;
    if (event.key === " " && !/^(BUTTON|SELECT|A)$/.test(tag)) this.play(!this.playing);
    else if ((event.key === "ArrowRight" || event.key === "ArrowLeft") && !/^(INPUT|SELECT)$/.test(tag) && !(event.target as HTMLElement).classList.contains("scroll"))
      this.seek(this.group.time + (event.key === "ArrowRight" ? 1 : -1) * this.step() * (event.shiftKey ? 10 : 1));
    else return;
    event.preventDefault();
  }

  private footer(): HTMLElement {
    const parts = this.report.runs.filter((r) => r.table).map((r) => {
      const what = r.bucket === 1 ? `all ${r.cycles} cycles` : `${r.table!.rows} points for ${r.cycles} cycles, smallest and largest of every ${r.bucket}${r.whole.length ? ", and every cycle where the line below the plots says so" : ""}`;
      return this.compare ? `${r.label}: ${what}` : what;
    });
    return h("footer", {}, h("p", {}, `${this.report.generator}. ${parts.length ? `Plotted: ${parts.join("; ")}. ` : ""}Units are SI; linear velocity in the inertial frame, angular velocity, force and torque in the body frame.`));
  }

  restyle(): void {
    this.group.restyle();
    this.scene?.restyle();
    this.seek(this.group.time);
  }

  /** Everything drawn at the page's width, in light colours. */
  private before: string | undefined;
  beforePrint(): void {
    this.play(false);
    this.before = document.documentElement.dataset.theme;
    document.documentElement.classList.add("printing");
    setTheme("light", this, false);
    this.scene?.resize();
    this.scene?.fit(); // another shape of picture: nothing of the motion lies outside
    this.group.drawAll();
  }

  afterPrint(): void {
    document.documentElement.classList.remove("printing");
    setTheme(this.before === "dark" ? "dark" : "light", this, false);
    this.scene?.resize();
    this.group.drawAll();
  }

  /** See docs/report.md: what tests may use. */
  hook(): Record<string, unknown> {
    return {
      title: this.report.title,
      runs: this.report.runs.map((r) => ({
        label: r.label, get rows() { return r.table?.rows ?? 0; }, cycles: r.cycles, get bucket() { return r.bucket; }, get whole() { return r.whole; }, columns: r.table?.columns.map((c) => c.name) ?? [],
        value: (name: string, row: number): number | undefined => (name === "t" ? r.table?.time[row] : r.table?.column(name)?.[row]),
      })),
      plots: this.group.panels.map((p) => ({
        title: p.spec.title,
        lines: () => p.spec.lines.map((l) => l.column),
        valuesAt: (t: number) => p.valuesAt(t),
        pointAt: (t: number) => p.pointAt(t),
        shown: () => [...p.element.querySelectorAll(".value")].map((e) => e.textContent),
        drawn: () => p.plot !== null,
        scale: () => [p.plot?.scales.y?.min, p.plot?.scales.y?.max],
      })),
      zoom: (from: number, to: number) => this.group.setRange(from, to),
      seek: (t: number) => this.seek(t),
      time: () => this.group.time,
      range: () => [...this.group.range],
      playing: () => this.playing,
      picture: (side?: "orbit" | "lab") => this.scene?.picture(side) ?? null,
      sides: () => this.scene?.shownSides ?? [],
      flange: (name: string) => this.scene?.flange(name) ?? null,
      frames: () => this.scene?.frames ?? 0,
    };
  }
}

/** Maps and curves of a campaign or an analysis. */
function showStudy(raw: {title: string; generator: string; study: Study}): StudyPage {
  const page = new StudyPage(document.getElementById("app")!, raw.title, raw.generator, raw.study);
  page.build(header(raw.title, page));
  let before: string | undefined;
  window.addEventListener("beforeprint", () => {
    before = document.documentElement.dataset.theme;
    document.documentElement.classList.add("printing");
    setTheme("light", page, false);
    page.drawAll();
  });
  window.addEventListener("afterprint", () => {
    document.documentElement.classList.remove("printing");
    setTheme(before === "dark" ? "dark" : "light", page, false);
    page.drawAll();
  });
  return page;
}

let shown: Page | null = null;
function show(report: Report): void {
  shown = new Page(report);
  shown.build();
  (window as unknown as {freefloat: unknown}).freefloat = shown.hook();
}

async function main(): Promise<void> {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  setTheme(dark.matches ? "dark" : "light", null);
  colour("ink");
  const raw = JSON.parse(document.getElementById("ff-data")?.textContent ?? "{}");
  if (raw.study) {
    const study = showStudy(raw);
    dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light", study));
    (window as unknown as {freefloat: unknown}).freefloat = study.hook();
    document.documentElement.dataset.ready = "true";
    return;
  }
  const report = await readReport(document);
  show(report);
  dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light", shown));
  window.addEventListener("beforeprint", () => shown?.beforePrint());
  window.addEventListener("afterprint", () => shown?.afterPrint());
  performance.mark("ff-ready");
  document.documentElement.dataset.ready = "true";
}

main().catch((error: unknown) => {
  document.getElementById("app")!.replaceChildren(h("p", {class: "failure", role: "alert"}, `The report could not be shown: ${error instanceof Error ? error.message : String(error)}`));
  throw error;
});
