// A page of maps and curves (campaigns, stability): the same plots as a run's, over any axis.
import uPlot from "uplot";
import {h, table as htmlTable} from "./dom";
import {number, relevant, sentence, unitText} from "./format";
import {section} from "./sections";
import {clipped, colour, logAxis, PlotGroup, type Line} from "./plots";
import type {Column, Table} from "./data";

interface Axis {
  name: string;
  unit: string;
  log: boolean;
}
interface MapAxis extends Axis {
  at: number[];
  edge: number[];
}
interface Curves {
  title: string;
  note?: string;
  unit: string;
  log?: boolean;
  steps?: boolean;
  /** Of the runs that pass: more is better, the limit is the least. */
  share?: boolean;
  limit?: number | null;
  x: Axis;
  /** The user's own value on x. */
  point?: number | null;
  lines: {label: string; style: number; pale?: boolean; x: number[]; y: (number | null)[]}[];
}
interface HeatMap {
  title: string;
  note?: string;
  unit: string;
  log: boolean;
  share?: boolean;
  limit?: number | null;
  x: MapAxis;
  y: MapAxis;
  /** Where the scenario itself stands. */
  point?: (number | null)[];
  /** values[y][x]; null: no value, "": nothing was run there. */
  panels: {label: string; values: (number | null | "")[][]}[];
  /** Limits of theory: pieces [x0, y0, x1, y1] one after the other. */
  lines?: {panel: number; style: number; label: string; pieces: number[]}[];
}
export interface Study {
  verdict: "good" | "bad" | "none";
  word: string;
  lead: string;
  tables: {title: string; after?: boolean; heads: string[]; rows: string[][]}[];
  maps: HeatMap[];
  curves: Curves[];
}

class Points implements Table {
  readonly columns: readonly Column[];
  readonly rows: number;
  readonly time: number[];
  constructor(x: number[], private readonly y: (number | null)[], private readonly of: string) {
    this.time = x;
    this.rows = x.length;
    this.columns = [{name: "x", unit: ""}, {name: "y", unit: of}];
  }
  column(name: string): ArrayLike<number> | undefined {
    return name === "y" ? (this.y.map((v) => v ?? NaN) as number[]) : this.time;
  }
  unit(): string {
    return this.of;
  }
}

// Dark to light, even in lightness: it can be read without colour.
const STOPS = [[68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141], [39, 173, 129], [92, 200, 99], [170, 220, 50], [253, 231, 37]] as const;
function shade(part: number): string {
  const s = Math.min(1, Math.max(0, part)) * (STOPS.length - 1);
  const i = Math.min(STOPS.length - 2, Math.floor(s));
  return `rgb(${[0, 1, 2].map((k) => Math.round(STOPS[i]![k]! + (s - i) * (STOPS[i + 1]![k]! - STOPS[i]![k]!))).join(",")})`;
}

const DASHES = [[], [7, 4], [2, 4], [9, 3, 2, 3]] as const;
const DASH_WORDS = ["Full", "Dashed", "Dotted", "Dash-dotted"];

/** One method's map: cells over two axes, zoom by dragging, the cell under the cursor (or chosen by arrow keys) in words. */
class MapPanel {
  readonly element: HTMLElement;
  private readonly holder: HTMLElement;
  private readonly words = h("output", {class: "cell", "aria-live": "polite"}, "\u00a0");
  private plot: uPlot | null = null;
  private cell: [number, number] | null = null;
  private range: {x: [number, number]; y: [number, number]};

  constructor(readonly map: HeatMap, readonly index: number, private readonly span: {from: number; to: number}) {
    const {label} = map.panels[index]!;
    const values = map.panels.flatMap((p) => p.values.flat()).filter((v): v is number => typeof v === "number");
    this.binary = values.length > 0 && values.every((v) => v === 0 || v === 1);
    this.range = this.full();
    this.holder = h("div", {class: "canvas map", tabindex: 0, role: "group", "aria-label": `${map.title}, ${label}. Arrow keys go from cell to cell, plus and minus zoom, zero shows all.`, keydown: (event) => this.key(event as KeyboardEvent)});
    this.element = h("figure", {class: "panel"}, h("figcaption", {}, h("span", {class: "panel-title"}, label), h("span", {class: "unit"}, unitText(map.unit))), this.words, this.holder, this.legend());
    new ResizeObserver(() => this.fit()).observe(this.holder);
    this.say();
  }

  private full(): {x: [number, number]; y: [number, number]} {
    const ends = (a: MapAxis): [number, number] => [a.edge[0]!, a.edge[a.edge.length - 1]!];
    return {x: ends(this.map.x), y: ends(this.map.y)};
  }

  /** A map of yes and no has two colours, not a scale. */
  private readonly binary: boolean;
  private fill(value: number): string {
    return this.binary ? colour((value === 1) === !!this.map.share ? "good" : "bad") : shade(this.part(value));
  }

  private part(value: number): number {
    const {from, to} = this.span;
    return this.map.log ? Math.log(Math.max(value, from) / from) / Math.log(to / from) : (value - from) / (to - from);
  }

  private legend(): HTMLElement {
    const bar = h("canvas", {class: "scale", width: 120, height: 10, "aria-hidden": "true"});
    const ctx = bar.getContext("2d");
    for (let i = 0; ctx && i < 120; i++) {
      ctx.fillStyle = shade(i / 119);
      ctx.fillRect(i, 0, 1, 10);
    }
    const limit = typeof this.map.limit === "number" ? ` The red line, edged in white, is ${this.map.share ? "a share of" : "the limit,"} ${number(this.map.limit, 4)}.` : "";
    const lines = this.lines().map((l) => ` ${DASH_WORDS[l.style % DASHES.length]} black: ${l.label}.`).join("");
    const own = this.ownWords();
    const cells = this.map.y.at.flatMap((_y, j) => this.map.x.at.map((_x, i) => this.value(i, j)));
    const none = (cells.includes(null) ? " Hatched: no value." : "") + (cells.includes("") ? " Empty: nothing was run there." : "");
    if (this.binary) {
      const box = (c: string): HTMLElement => {
        const i = h("i", {class: "key"});
        i.style.background = `var(--${c})`;
        return i;
      };
      return h("p", {class: "scale-text soft"}, box("good"), " every requirement is met, ", box("bad"), ` not.${none}${own}${lines}`);
    }
    return h("p", {class: "scale-text soft"}, number(this.span.from, 3), " ", bar, ` ${number(this.span.to, 3)}${this.map.log ? " and beyond, logarithmic" : ""}.${none}${limit}${own}${lines}`);
  }

  /** Where the scenario itself stands, in words; nothing where it has no place on these axes. */
  private ownWords(): string {
    const [px, py] = this.map.point ?? [];
    if (typeof px !== "number" || typeof py !== "number") return "";
    if (this.at(px, py)) return " The ring is the scenario itself.";
    const place = (a: MapAxis, v: number): string => `${a.name} ${number(v, 4)}${a.unit ? `\u00a0${unitText(a.unit)}` : ""}`;
    return ` The scenario itself lies outside: ${place(this.map.x, px)}, ${place(this.map.y, py)}.`;
  }

  private lines(): NonNullable<HeatMap["lines"]> {
    return (this.map.lines ?? []).filter((l) => l.panel === this.index);
  }

  value(x: number, y: number): number | null | "" {
    return this.map.panels[this.index]!.values[y]?.[x] ?? null;
  }

  /** The cell at a place, and its value. */
  at(x: number, y: number): {x: number; y: number; value: number | null | ""} | null {
    const find = (a: MapAxis, v: number): number => a.at.findIndex((_c, i) => v >= a.edge[i]! && v <= a.edge[i + 1]!);
    const i = find(this.map.x, x);
    const j = find(this.map.y, y);
    return i < 0 || j < 0 ? null : {x: i, y: j, value: this.value(i, j)};
  }

  /** Those of the cells, for tests. */
  colours(): string[] {
    return [...new Set(this.map.panels[this.index]!.values.flat().filter((v): v is number => typeof v === "number").map((v) => this.fill(v)))];
  }

  private say(): void {
    if (!this.cell) {
      this.words.textContent = "Point at a cell, or use the arrow keys.";
      return;
    }
    const [i, j] = this.cell;
    const v = this.value(i, j);
    const place = (a: MapAxis, n: number): string => `${a.name} ${number(a.at[n], 4)}${a.unit ? `\u00a0${unitText(a.unit)}` : ""}`;
    const over = typeof v === "number" && typeof this.map.limit === "number" && !this.map.share && v > this.map.limit ? ", beyond the limit" : "";
    this.words.textContent = `${place(this.map.x, i)}, ${place(this.map.y, j)}: ${v === "" ? "not run" : v === null ? "no value" : number(v, 5)}${over}`;
  }

  choose(i: number, j: number): void {
    const clamp = (n: number, most: number): number => Math.min(most - 1, Math.max(0, n));
    this.cell = [clamp(i, this.map.x.at.length), clamp(j, this.map.y.at.length)];
    this.say();
    this.plot?.redraw(false, false);
  }

  private key(event: KeyboardEvent): void {
    const [i, j] = this.cell ?? [-1, 0];
    const step: Record<string, [number, number]> = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]};
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (step[event.key]) this.choose(i + step[event.key]![0], j + step[event.key]![1]);
    else if (event.key === "+" || event.key === "=") this.zoom(1.5);
    else if (event.key === "-") this.zoom(1 / 1.5);
    else if (event.key === "0") this.show(this.full());
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private zoom(factor: number): void {
    const about = (a: MapAxis, range: [number, number], n: number | undefined): [number, number] => {
      const f = (v: number): number => (a.log ? Math.log(v) : v);
      const g = (v: number): number => (a.log ? Math.exp(v) : v);
      const low = f(a.edge[0]!);
      const high = f(a.edge[a.edge.length - 1]!);
      const centre = n === undefined ? (f(range[0]) + f(range[1])) / 2 : f(a.at[n]!);
      const half = Math.min((f(range[1]) - f(range[0])) / factor, high - low) / 2;
      const c = Math.min(Math.max(centre, low + half), high - half);
      return [g(c - half), g(c + half)];
    };
    this.show({x: about(this.map.x, this.range.x, this.cell?.[0]), y: about(this.map.y, this.range.y, this.cell?.[1])});
  }

  private show(range: {x: [number, number]; y: [number, number]}): void {
    this.range = range;
    this.plot?.setScale("x", {min: range.x[0], max: range.x[1]});
    this.plot?.setScale("y", {min: range.y[0], max: range.y[1]});
  }

  draw(): void {
    if (this.plot) return;
    const {map} = this;
    const font = `11px ${getComputedStyle(document.body).fontFamily}`;
    const axis = (side: number, a: MapAxis): uPlot.Axis => ({
      side: side as uPlot.Axis.Side, scale: side === 3 ? "y" : "x", font, labelFont: font, labelSize: 18, label: `${a.name}${a.unit ? ` [${unitText(a.unit)}]` : ""}`,
      stroke: () => colour("soft"), size: side === 3 ? 54 : 28, gap: 4, grid: {show: false}, ticks: {stroke: () => colour("rule"), width: 1, size: 4},
      values: (_u: uPlot, splits: (number | null)[]) => splits.map((v) => (v === null ? "" : number(v, 3).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, ""))),
      ...(a.log ? (side === 3 ? logAxis("y", 18) : logAxis("x", 40)) : {}),
    });
    const scale = (a: MapAxis, get: () => [number, number]): uPlot.Scale => ({time: false, distr: a.log ? 3 : 1, range: get});
    const plot: uPlot = new uPlot({
      ...this.size(), padding: [8, 10, 0, 0], legend: {show: false},
      cursor: {drag: {x: true, y: true, uni: 20, setScale: false}, points: {show: false}, bind: {dblclick: () => () => {
        this.show(this.full());
        return null;
      }}},
      scales: {x: scale(map.x, () => this.range.x), y: scale(map.y, () => this.range.y)},
      series: [{}, {show: true, scale: "y", stroke: "transparent", points: {show: false}}],
      axes: [axis(2, map.x), axis(3, map.y)],
      hooks: {
        drawClear: [(u) => this.paint(u)],
        draw: [(u) => this.mark(u)],
        setCursor: [(u) => {
          if ((u.cursor.left ?? -1) < 0) return;
          const got = this.at(u.posToVal(u.cursor.left!, "x"), u.posToVal(u.cursor.top!, "y"));
          if (got && (got.x !== this.cell?.[0] || got.y !== this.cell?.[1])) this.choose(got.x, got.y);
        }],
        setSelect: [(u) => {
          const {left, top, width, height} = u.select;
          if (width < 4 || height < 4) return;
          const range = {x: [u.posToVal(left, "x"), u.posToVal(left + width, "x")] as [number, number], y: [u.posToVal(top + height, "y"), u.posToVal(top, "y")] as [number, number]};
          u.setSelect({left: 0, top: 0, width: 0, height: 0}, false);
          this.show(range);
        }],
      },
    }, [map.x.at, map.x.at.map(() => map.y.at[0]!)] as uPlot.AlignedData, this.holder);
    this.plot = plot;
  }

  private paint(u: uPlot): void {
    const {map} = this;
    const ctx = clipped(u);
    const {left, top, width, height} = u.bbox;
    const px = map.x.edge.map((v) => u.valToPos(v, "x", true));
    const py = map.y.edge.map((v) => u.valToPos(v, "y", true));
    for (let j = 0; j < map.y.at.length; j++)
      for (let i = 0; i < map.x.at.length; i++) {
        const v = this.value(i, j);
        if (v === "") continue;
        const box = [px[i]!, py[j + 1]!, px[i + 1]! - px[i]!, py[j]! - py[j + 1]!] as const;
        ctx.fillStyle = v === null ? colour("grid") : this.fill(v);
        ctx.fillRect(box[0], box[1], box[2] + 0.5, box[3] + 0.5);
        if (v === null) hatch(ctx, box);
      }
    for (const l of this.lines()) this.line(u, l.pieces, DASHES[l.style % DASHES.length]!);
    if (typeof map.limit === "number" && !this.binary) this.contour(u, map.limit);
    this.own(u);
    ctx.strokeStyle = colour("rule");
    ctx.lineWidth = devicePixelRatio;
    ctx.strokeRect(left, top, width, height);
    ctx.restore();
  }

  /** The scenario itself: a ring with a dot. */
  private own(u: uPlot): void {
    const [x, y] = this.map.point ?? [];
    if (typeof x !== "number" || typeof y !== "number" || !this.at(x, y)) return;
    const {ctx} = u;
    const [px, py] = [u.valToPos(x, "x", true), u.valToPos(y, "y", true)];
    for (const [style, size] of [["#fff", 4], ["#000", 2]] as const) {
      ctx.strokeStyle = style;
      ctx.lineWidth = size * devicePixelRatio;
      ctx.beginPath();
      ctx.arc(px, py, 7 * devicePixelRatio, 0, 2 * Math.PI);
      ctx.stroke();
    }
    ctx.fillStyle = "#000";
    ctx.beginPath();
    ctx.arc(px, py, 2.5 * devicePixelRatio, 0, 2 * Math.PI);
    ctx.fill();
  }

  private line(u: uPlot, pieces: number[], dash: readonly number[]): void {
    const {ctx} = u;
    const path = new Path2D();
    for (let i = 0; i + 3 < pieces.length; i += 4) {
      const at = (n: number): [number, number] => [u.valToPos(pieces[i + n]!, "x", true), u.valToPos(pieces[i + n + 1]!, "y", true)];
      if (i === 0 || pieces[i] !== pieces[i - 2] || pieces[i + 1] !== pieces[i - 1]) path.moveTo(...at(0));
      path.lineTo(...at(2));
    }
    for (const [style, size] of [["#fff", 4], ["#000", 1.8]] as const) {
      ctx.setLineDash(style === "#000" ? dash.map((d) => d * devicePixelRatio) : []);
      ctx.strokeStyle = style;
      ctx.lineWidth = size * devicePixelRatio;
      ctx.stroke(path);
    }
    ctx.setLineDash([]);
  }

  /** Marching squares between the centres of the cells. */
  private contour(u: uPlot, level: number): void {
    const {x, y} = this.map;
    const {ctx} = u;
    const path = new Path2D();
    for (let j = 0; j + 1 < y.at.length; j++)
      for (let i = 0; i + 1 < x.at.length; i++) {
        const corners = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]] as const;
        const cut: [number, number][] = [];
        for (let k = 0; k < 4; k++) {
          const [a, b] = [corners[k]!, corners[(k + 1) % 4]!];
          const [va, vb] = [this.value(...a), this.value(...b)];
          if (typeof va !== "number" || typeof vb !== "number" || va > level === vb > level) continue;
          const s = (level - va) / (vb - va);
          const at = (axis: MapAxis, n: number, m: number, name: "x" | "y"): number => {
            const p = u.valToPos(axis.at[n]!, name, true);
            return p + s * (u.valToPos(axis.at[m]!, name, true) - p);
          };
          cut.push([at(x, a[0], b[0], "x"), at(y, a[1], b[1], "y")]);
        }
        for (let k = 0; k + 1 < cut.length; k += 2) {
          path.moveTo(...cut[k]!);
          path.lineTo(...cut[k + 1]!);
        }
      }
    for (const [style, size] of [["#fff", 4], ["#d00", 1.8]] as const) {
      ctx.strokeStyle = style;
      ctx.lineWidth = size * devicePixelRatio;
      ctx.stroke(path);
    }
  }

  private mark(u: uPlot): void {
    if (!this.cell) return;
    const [i, j] = this.cell;
    const {x, y} = this.map;
    const a = u.valToPos(x.edge[i]!, "x", true);
    const b = u.valToPos(y.edge[j + 1]!, "y", true);
    const ctx = clipped(u);
    for (const [style, size] of [["#fff", 3], ["#000", 1]] as const) {
      ctx.strokeStyle = style;
      ctx.lineWidth = size * devicePixelRatio;
      ctx.strokeRect(a, b, u.valToPos(x.edge[i + 1]!, "x", true) - a, u.valToPos(y.edge[j]!, "y", true) - b);
    }
    ctx.restore();
  }

  private size(): {width: number; height: number} {
    return {width: Math.max(180, Math.floor(this.holder.clientWidth)), height: Math.max(200, Math.floor(this.holder.clientHeight))};
  }

  fit(): void {
    const size = this.size();
    if (this.plot && (size.width !== this.plot.width || size.height !== this.plot.height)) this.plot.setSize(size);
  }

  restyle(): void {
    this.plot?.redraw(false, true);
  }
}

function hatch(ctx: CanvasRenderingContext2D, [x, y, w, d]: readonly [number, number, number, number]): void {
  ctx.save();
  ctx.beginPath();
  ctx.rect(x, y, w, d);
  ctx.clip();
  ctx.strokeStyle = colour("soft");
  ctx.lineWidth = devicePixelRatio;
  const step = 6 * devicePixelRatio;
  ctx.beginPath();
  for (let s = x - d; s < x + w; s += step) {
    ctx.moveTo(s, y + d);
    ctx.lineTo(s + d, y);
  }
  ctx.stroke();
  ctx.restore();
}

export class StudyPage {
  private readonly maps: MapPanel[] = [];
  private readonly groups: PlotGroup[] = [];
  constructor(private readonly app: HTMLElement, readonly title: string, readonly generator: string, readonly study: Study) {}

  build(header: HTMLElement): void {
    const tables = (after: boolean): HTMLElement[] => this.study.tables.filter((t) => !!t.after === after && t.rows.length).map((t) => section(t.title, "", htmlTable(t.title, t.heads, t.rows, "study")));
    document.title = this.title;
    this.app.replaceChildren(
      h("a", {class: "skip", href: "#plots"}, "Skip to the plots"), header,
      h("main", {}, this.verdict(), ...tables(false),
        h("div", {id: "plots", class: "stack study-plots"}, ...this.study.maps.map((m) => this.map(m)), ...(this.study.curves.length ? [this.curves()] : [])), ...tables(true)),
      h("footer", {}, h("p", {}, this.generator, h("span", {class: "hint how"}, ". Drag to zoom, double-click to show all."))),
    );
    for (const element of this.app.querySelectorAll<HTMLElement>(".scroll")) if (element.scrollWidth > element.clientWidth) element.tabIndex = 0;
    requestAnimationFrame(() => this.maps.forEach((m) => m.draw()));
  }

  private verdict(): HTMLElement {
    const {verdict, word, lead} = this.study;
    return h("section", {class: `verdict ${verdict === "none" ? "calm" : verdict}`, "aria-label": "Verdict", "data-verdict": verdict},
      h("span", {class: "sign", "aria-hidden": "true"}, {good: "✓", bad: "✕", none: "–"}[verdict]),
      h("div", {}, h("p", {class: "word"}, word), h("p", {class: "reason lead"}, lead)));
  }

  private map(given: HeatMap): HTMLElement {
    const map = {...given, panels: given.panels.map((p) => ({...p, values: p.values.map((row) => row.map((v) => (v === "" ? v : relevant(v, given.limit))))}))};
    if (!map.share && map.panels.every((p) => p.values.flat().every((v) => v === 0 || v === "")) && typeof map.limit === "number")
      return section(sentence(map.title), `below a millionth of the limit, ${number(map.limit, 4)}${map.unit ? `\u00a0${unitText(map.unit)}` : ""}, everywhere: rounding, not drawn`);
    const all = map.share ? [0, 1] : map.panels.flatMap((p) => p.values.flat()).filter((v): v is number => typeof v === "number");
    const positive = all.filter((v) => v > 0);
    let from = all.reduce((a, b) => Math.min(a, b), Infinity);
    let to = all.reduce((a, b) => Math.max(a, b), -Infinity);
    // Rounding's depths, more than five decades down, need no colours of their own.
    const least = positive.reduce((a, b) => Math.min(a, b), Infinity);
    if (map.log) from = Math.max(least, to / 1e5);
    // Two decades about the limit tell enough: a diverged run would leave no colours for the others.
    if (map.log && typeof map.limit === "number" && map.limit > 0 && map.limit > least && map.limit < to) [from, to] = [Math.max(least, map.limit / 100), Math.min(to, map.limit * 100)];
    if (!(to > from)) [from, to] = Number.isFinite(from) ? [from - Math.abs(from || 1) * 0.01, from + Math.abs(from || 1) * 0.01] : [0, 1];
    const panels = map.panels.map((_p, i) => new MapPanel(map, i, {from, to}));
    this.maps.push(...panels);
    return section(sentence(map.title), map.note ?? "", h("div", {class: "grid maps"}, ...panels.map((p) => p.element)));
  }

  private curves(): HTMLElement {
    const figures = this.study.curves.map((c) => {
      const x = c.lines.flatMap((l) => l.x).concat(typeof c.point === "number" ? [c.point] : []);
      const group = new PlotGroup(Math.min(...x), Math.max(...x), {name: c.x.name, unit: c.x.unit, log: c.x.log});
      group.onSeek = (at) => {
        figure.classList.remove("unmarked");
        group.setTime(at);
      };
      const y = c.lines.map((l) => l.y.map((v) => relevant(v, c.limit)));
      // a logarithmic axis has no zero: what is nothing else is said
      const nothing = c.lines.filter((_l, i) => c.log && y[i]!.every((v) => v === null || v === 0) && y[i]!.some((v) => v === 0)).map((l) => l.label);
      const lines = c.lines.map((l, i): Line => ({label: l.label, table: new Points(l.x, c.log ? y[i]!.map((v) => v || null) : y[i]!, c.unit), column: "y", style: l.style, pale: l.pale})).filter((l) => !nothing.includes(l.label));
      this.groups.push(group);
      const own = typeof c.point === "number" ? c.point : null;
      if (own !== null) group.setTime(own);
      const note = [c.note, own === null ? "" : `upright: yours, ${number(own, 4)}`, nothing.length ? `0 throughout: ${nothing.join(", ")}` : ""].filter(Boolean).join("; ");
      const figure = group.add({title: c.title, unit: c.unit, note, lines, limit: c.limit ?? undefined, share: c.share, log: c.log, steps: c.steps, robust: !c.log && !c.steps}).element;
      figure.classList.toggle("unmarked", own === null);
      return figure;
    });
    return section("Curves", "", h("div", {class: "grid"}, ...figures));
  }

  restyle(): void {
    for (const g of this.groups) g.restyle();
    for (const m of this.maps) m.restyle();
  }

  drawAll(): void {
    for (const g of this.groups) g.drawAll();
    for (const m of this.maps) {
      m.draw();
      m.fit();
    }
  }

  /** See docs/report.md: what tests may use. */
  hook(): Record<string, unknown> {
    return {
      study: this.study,
      maps: this.maps.map((m) => ({title: m.map.title, label: m.map.panels[m.index]!.label, colours: () => m.colours(), choose: (i: number, j: number) => m.choose(i, j), said: () => m.element.querySelector("output")!.textContent, at: (x: number, y: number) => m.at(x, y)})),
      plots: this.groups.flatMap((g) => g.panels).map((p) => ({title: p.spec.title, valuesAt: (t: number) => p.valuesAt(t), drawn: () => p.plot !== null, scale: () => [p.plot?.scales.y?.min, p.plot?.scales.y?.max]})),
    };
  }
}
