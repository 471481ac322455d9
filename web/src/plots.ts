// Plots over time that share one range, one cursor and one marked instant. Used by the report and, with tables
// that grow, by the live page. Lines differ in colour and in dash, so that they differ in grey, too.
import uPlot from "uplot";
import {h} from "./dom";
import {number, relevant, unitText} from "./format";
import {nearestRow, rowAt, type Contact, type Table} from "./data";

export interface Line {
  label: string;
  table: Table;
  column: string;
  /** Index into the palette and the dash patterns. */
  style: number;
  /** A wide pale line behind the others: the reference or the raw value. */
  pale?: boolean;
  /** Drawn in ink, not in a colour of the palette (the ideal motion among several methods). */
  ink?: boolean;
  /** Of a run that does not count for the scale: where it leaves it, it is marked. */
  outlier?: boolean;
  /** Key by which a shared legend hides lines in all plots. */
  group?: string;
}

export interface PanelSpec {
  title: string;
  unit: string;
  lines: Line[];
  /** Largest allowed value, drawn as a line with the forbidden side shaded. */
  limit?: number;
  /** A share that more is better of: the limit is the least. */
  share?: boolean;
  note?: string;
  /** Logarithmic values; drawn as steps. */
  log?: boolean;
  steps?: boolean;
  /** A few values far from all others do not set the scale: they are marked as outliers. */
  robust?: boolean;
}

/** What the plots of a group are over; time unless another is given. */
export interface XAxis {
  name: string;
  unit: string;
  log: boolean;
}

const MANY = 200_000; // rows: longer tables are thinned to the range that is shown
const BUCKETS = 1500; // of it
const DASHES: number[][] = [[], [8, 4], [2, 3], [10, 3, 2, 3], [5, 2], [14, 4], [2, 2, 6, 2], [1, 4]];

let colours: CSSStyleDeclaration | null = null;
/** A colour of the theme, from the style sheet. */
export function colour(name: string): string {
  colours ??= getComputedStyle(document.documentElement);
  return colours.getPropertyValue(`--${name}`).trim() || "#888";
}
export const lineColour = (line: {style: number; ink?: boolean}): string => (line.ink ? colour("ink") : colour(`line-${line.style % 8}`));
/** The canvas of a plot, saved and clipped to where the lines go; restore() ends it. */
export function clipped(u: uPlot): CanvasRenderingContext2D {
  const {left, top, width, height} = u.bbox;
  u.ctx.save();
  u.ctx.beginPath();
  u.ctx.rect(left, top, width, height);
  u.ctx.clip();
  return u.ctx;
}
export const dash = (style: number): number[] => DASHES[style % DASHES.length]!;

function translucent(css: string, alpha: number): string {
  const m = /^#([0-9a-f]{6})$/i.exec(css);
  if (!m) return css;
  const v = parseInt(m[1]!, 16);
  return `rgba(${v >> 16},${(v >> 8) & 255},${v & 255},${alpha})`;
}

const SVG = "http://www.w3.org/2000/svg";
/** A short piece of the line, for legends. */
export function swatch(line: Pick<Line, "style" | "pale" | "ink">): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("width", "26");
  svg.setAttribute("height", "10");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "line");
  for (const [key, value] of Object.entries({x1: 1, x2: 25, y1: 5, y2: 5, "stroke-width": line.pale ? 6 : 2})) path.setAttribute(key, String(value));
  path.setAttribute("class", `${line.ink ? "stroke-ink" : `stroke-${line.style % 8}`}${line.pale ? " pale" : ""}`);
  if (!line.pale) path.setAttribute("stroke-dasharray", dash(line.style).join(" "));
  svg.append(path);
  return svg;
}

/** Plots that move together. */
export class PlotGroup {
  readonly panels: Panel[] = [];
  range: [number, number];
  readonly full: [number, number];
  contacts: Contact[] = [];
  time: number;
  onSeek: (t: number) => void = () => {};
  onRange: (range: [number, number]) => void = () => {};
  readonly hidden = new Set<string>();
  readonly key = `ff-${Math.random().toString(36).slice(2)}`;
  private readonly visible = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) this.panels.find((p) => p.element === entry.target)?.draw();
  }, {rootMargin: "500px"});

  constructor(from: number, to: number, readonly x: XAxis = {name: "time", unit: "s", log: false}) {
    this.full = [from, to > from ? to : from + 1];
    this.range = [...this.full];
    this.time = from;
  }

  add(spec: PanelSpec): Panel {
    const panel = new Panel(this, spec);
    this.panels.push(panel);
    this.visible.observe(panel.element);
    return panel;
  }

  setRange(from: number, to: number): void {
    const [a, b] = this.full;
    const span = Math.min(b - a, Math.max(to - from, (b - a) * 1e-6));
    const start = Math.min(Math.max(from, a), b - span);
    this.range = [start, start + span];
    for (const panel of this.panels) panel.showRange();
    this.onRange(this.range);
  }

  zoom(factor: number, about = this.time): void {
    const [a, b] = this.range;
    const centre = about >= a && about <= b ? about : (a + b) / 2;
    this.setRange(centre - (centre - a) / factor, centre + (b - centre) / factor);
  }

  pan(share: number): void {
    const [a, b] = this.range;
    this.setRange(a + share * (b - a), b + share * (b - a));
  }

  setTime(t: number): void {
    this.time = t;
    for (const panel of this.panels) panel.showTime();
  }

  toggle(group: string): boolean {
    if (!this.hidden.delete(group)) this.hidden.add(group);
    for (const panel of this.panels) panel.showHidden();
    return !this.hidden.has(group);
  }

  restyle(): void {
    colours = null;
    for (const panel of this.panels) panel.restyle();
  }

  /** Draws every panel now, also those never scrolled to (printing). */
  drawAll(): void {
    for (const panel of this.panels) {
      panel.draw();
      panel.fit();
    }
  }
}

export class Panel {
  readonly element: HTMLElement;
  readonly holder: HTMLElement;
  plot: uPlot | null = null;
  private readonly marker = h("div", {class: "marker", "aria-hidden": "true"});
  private readonly values: HTMLElement[] = [];
  private readonly chips: HTMLElement;
  private off = new Set<number>();
  private data: uPlot.AlignedData | null = null;
  private cursorRow: number | null = null;
  private busy = false;

  constructor(readonly group: PlotGroup, public spec: PanelSpec) {
    this.holder = h("div", {class: "canvas", tabindex: 0, role: "group", "aria-label": `${spec.title} over ${group.x.name}. ${group.x.name === "time" ? "Arrow keys step in time, p" : "P"}lus and minus zoom, zero shows all.`});
    this.chips = h("div", {class: "chips"});
    this.element = h(
      "figure", {class: "panel"},
      h("figcaption", {}, h("span", {class: "panel-title"}, spec.title), h("span", {class: "unit"}, unitText(spec.unit)), spec.note ? h("span", {class: "note"}, spec.note) : null),
      this.chips, this.holder,
    );
    this.buildChips();
    this.holder.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.fit()).observe(this.holder);
  }

  /** Other lines in the same place (another quantity). */
  setLines(lines: Line[], unit = this.spec.unit): void {
    this.spec = {...this.spec, lines, unit};
    this.off = new Set();
    this.data = null;
    this.buildChips();
    const had = this.plot !== null;
    this.plot?.destroy();
    this.plot = null;
    if (had) this.draw();
  }

  /** The same lines from another table. */
  exchange(from: Table, to: Table): void {
    if (this.spec.lines.some((l) => l.table === from)) this.setLines(this.spec.lines.map((l) => (l.table === from ? {...l, table: to} : l)));
  }

  private buildChips(): void {
    this.values.length = 0;
    this.chips.replaceChildren(
      ...this.spec.lines.map((line, i) => {
        const value = h("span", {class: "value"});
        this.values.push(value);
        const button = h(
          "button", {type: "button", class: "chip", "aria-pressed": "true", title: "Show or hide this line", click: () => {
            if (!this.off.delete(i)) this.off.add(i);
            button.setAttribute("aria-pressed", String(!this.off.has(i)));
            this.showHidden();
          }},
          swatch(line), h("span", {class: "label"}, line.label), value,
        );
        return button;
      }),
    );
  }

  /** The tables have grown: draws them anew. */
  refresh(): void {
    this.data = null;
    if (this.plot) this.plot.setData(this.aligned(), true);
    this.showTime();
  }

  /** Of tables this long only what the range shows is drawn: every row, or the smallest and largest of each bucket of rows. */
  private get long(): boolean {
    return this.spec.lines.some((line) => line.table.ranged || (line.table.rows > MANY && !line.table.capacity));
  }

  private thin(table: Table, lines: Line[]): uPlot.AlignedData {
    const [from, to] = this.group.range;
    const first = Math.max(0, rowAt(table.time, table.rows, from) - 1);
    const last = Math.min(table.rows - 1, rowAt(table.time, table.rows, to) + 2);
    const columns = lines.map((line) => line.table.column(line.column)!);
    const size = Math.ceil((last - first + 1) / BUCKETS);
    const rows = new Set<number>([0, table.rows - 1]);
    if (size <= 4) for (let i = first; i <= last; i++) rows.add(i);
    else for (const values of columns)
      for (let at = first; at <= last; at += size) {
        let low = at;
        let high = at;
        for (let i = at + 1; i < at + size && i <= last; i++) {
          const v = values[i]!;
          if (!(v >= values[low]!)) low = i; // a gap is an extreme, too
          if (!(v <= values[high]!)) high = i;
        }
        rows.add(low).add(high);
      }
    const order = Float64Array.from(rows).sort();
    const clean = (v: number): number | null => (Math.abs(v) < Infinity ? v : null);
    return [Array.from(order, (i) => table.time[i]!), ...columns.map((values) => Array.from(order, (i) => clean(values[i]!)))] as uPlot.AlignedData;
  }

  private aligned(): uPlot.AlignedData {
    if (this.data) return this.data;
    const tables = [...new Set(this.spec.lines.map((line) => line.table))];
    if (this.long) {
      const order = tables.flatMap((t) => this.spec.lines.filter((l) => l.table === t));
      const parts = tables.map((t) => this.thin(t, order.filter((l) => l.table === t)));
      const all = parts.length > 1 ? uPlot.join(parts) : parts[0]!;
      this.data = [all[0], ...this.spec.lines.map((l) => all[order.indexOf(l) + 1]!)] as uPlot.AlignedData;
      return this.data;
    }
    const clean = (line: Line): (number | null)[] | Float32Array => {
      const values = line.table.column(line.column)!;
      for (let i = 0; i < values.length; i++)
        if (!(Math.abs(values[i]!) < Infinity)) return Array.from(values, (v) => (Math.abs(v) < Infinity ? v : null));
      return values as Float32Array;
    };
    const first = tables[0]!;
    const same = tables.every((t) => t.rows === first.rows && t.time[0] === first.time[0] && t.time[t.rows >> 1] === first.time[t.rows >> 1] && t.time[t.rows - 1] === first.time[t.rows - 1]);
    if (same) {
      this.data = [first.time, ...this.spec.lines.map(clean)] as unknown as uPlot.AlignedData;
    } else {
      // Rows at different times (another decimation, a run that ended early): joined on the union of times.
      this.data = uPlot.join(
        tables.map((t) => [Array.from(t.time), ...this.spec.lines.filter((l) => l.table === t).map((l) => Array.from(clean(l)))] as uPlot.AlignedData),
      );
      const order = tables.flatMap((t) => this.spec.lines.filter((l) => l.table === t));
      this.data = [this.data[0], ...this.spec.lines.map((l) => this.data![order.indexOf(l) + 1]!)] as uPlot.AlignedData;
    }
    return this.data;
  }

  draw(): void {
    if (this.plot || this.spec.lines.length === 0) return;
    const font = `11px ${getComputedStyle(document.body).fontFamily}`;
    const axis = (side: number): uPlot.Axis => ({
      side: side as uPlot.Axis.Side, font, stroke: () => colour("soft"), size: side === 3 ? 62 : 30, gap: 6,
      grid: {stroke: () => colour("grid"), width: 1}, ticks: {show: false}, border: {show: side === 2, stroke: () => colour("rule"), width: 1},
    });
    const limit = this.spec.limit;
    const unit = this.group.x.name === "time" ? " s" : "";
    const {x} = this.group;
    const below = axis(2);
    if (x.log) Object.assign(below, logAxis("x", 44));
    else if (unit) below.values = (_u, splits) => splits.map((v) => `${number(v, 6).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "")}${unit}`);
    else below.values = (_u, splits) => tickTexts(splits);
    if (x.name !== "time") Object.assign(below, {label: x.name + (x.unit ? ` [${unitText(x.unit)}]` : ""), labelFont: font, labelSize: 18});
    const options: uPlot.Options = {
      ...this.size(),
      padding: [20, 14, 0, 0],
      legend: {show: false},
      cursor: {
        sync: {key: this.group.key, setSeries: false},
        drag: {x: true, y: false, setScale: false},
        points: {size: 7, width: 1.5, fill: () => colour("paper"), stroke: (_u, i) => lineColour(this.spec.lines[i - 1]!)},
        bind: {
          dblclick: () => () => {
            this.group.setRange(...this.group.full);
            return null;
          },
        },
      },
      scales: {
        x: {time: false, distr: this.group.x.log ? 3 : 1, range: () => this.group.range},
        y: {
          distr: this.spec.log ? 3 : 1,
          range: (_u, low, high) => {
            let [a, b] = this.bounds(low ?? 0, high ?? 0);
            if (this.spec.log) return a > 0 && b > 0 ? [Math.min(a, limit ?? a) / 1.3, Math.max(b, limit ?? b) * 1.3] : [0.1, 10];
            if (limit !== undefined) {
              a = Math.min(a, 0);
              b = Math.max(b, limit * 1.15);
            }
            if (a === b) {
              const pad = Math.abs(a) || 1;
              return [a - pad, b + pad];
            }
            return uPlot.rangeNum(a, b, {min: {pad: 0.06, soft: 0, mode: 3}, max: {pad: 0.06, soft: 0, mode: 3}});
          },
        },
      },
      series: [
        {},
        ...this.spec.lines.map((line): uPlot.Series => ({
          stroke: () => (line.pale ? translucent(lineColour(line), 0.3) : lineColour(line)),
          width: line.pale ? 5 : 1.6,
          dash: line.pale ? undefined : dash(line.style),
          points: {show: false},
          paths: this.spec.steps ? uPlot.paths.stepped!({align: 1}) : undefined,
          spanGaps: new Set(this.spec.lines.map((l) => l.table)).size > 1,
          show: this.shown(line, this.spec.lines.indexOf(line)),
        })),
      ],
      axes: [
        below,
        {...axis(3), ...(this.spec.log ? logAxis("y", 16) : {values: (_u: uPlot, splits: number[]) => tickTexts(splits)})},
      ],
      hooks: {
        drawAxes: [(u) => this.shade(u)],
        draw: [(u) => this.markOutliers(u)],
        setCursor: [(u) => {
          this.cursorRow = u.cursor.idx ?? null;
          if ((u.cursor.left ?? -1) < 0) this.cursorRow = null;
          this.showValues();
        }],
        setSelect: [(u) => {
          if (this.busy || u.select.width < 3) return;
          const from = u.posToVal(u.select.left, "x");
          const to = u.posToVal(u.select.left + u.select.width, "x");
          this.busy = true;
          u.setSelect({left: 0, top: 0, width: 0, height: 0}, false);
          this.busy = false;
          this.group.setRange(from, to);
        }],
        setSize: [() => this.showTime()],
        setScale: [(_u, key) => key === "x" && this.showTime()], // the scale changes after this turn, the marker with it
        ready: [(u) => {
          u.over.append(this.marker);
          this.listen(u);
        }],
      },
    };
    this.plot = new uPlot(options, this.aligned(), this.holder);
    this.showTime();
  }

  /** Smallest and largest value in the shown range of the lines that count, where the others go beyond twice of it. */
  private bounds(low: number, high: number): [number, number] {
    const {lines} = this.spec;
    if (this.spec.robust) return this.bulk(low, high);
    if (!lines.some((l) => l.outlier) || !lines.some((l, i) => !l.outlier && this.shown(l, i))) return [low, high];
    const [from, to] = this.group.range;
    let a = Infinity;
    let b = -Infinity;
    lines.forEach((line, k) => {
      if (line.outlier || !this.shown(line, k)) return;
      const values = line.table.column(line.column)!;
      for (let i = 0; i < line.table.rows; i++) {
        const t = line.table.time[i]!;
        if (t < from || t > to || !Number.isFinite(values[i])) continue;
        if (values[i]! < a) a = values[i]!;
        if (values[i]! > b) b = values[i]!;
      }
    });
    if (this.spec.limit !== undefined) b = Math.max(b, this.spec.limit);
    if (!(b >= a)) return [low, high];
    return high - low <= 2 * (b - a) ? [low, high] : [Math.max(low, a), Math.min(high, b)];
  }

  /** Where one value in twenty is more than five times as far out as the rest is wide, the scale is the rest's and as much again. */
  private bulk(low: number, high: number): [number, number] {
    const all = this.spec.lines.flatMap((l, k) => (this.shown(l, k) ? Array.from(l.table.column(l.column)!) : [])).filter((v) => Number.isFinite(v)).sort((a, b) => a - b);
    if (all.length < 20) return [low, high];
    const at = (share: number): number => all[Math.round(share * (all.length - 1))]!;
    const [a, b] = [at(0.05), at(0.95)];
    const width = b - a || Math.abs(b) || 1;
    let top = high > b + 5 * width ? b + width : high;
    if (this.spec.limit !== undefined) top = Math.max(top, this.spec.limit);
    return [low < a - 5 * width ? a - width : low, top];
  }

  /** Outliers beyond the scale: a triangle at the edge where each leaves it, and its largest value in the legend. */
  private markOutliers(u: uPlot): void {
    const {min, max} = u.scales.y!;
    const {left, top, width, height} = u.bbox;
    const s = 6 * devicePixelRatio;
    let ctx: CanvasRenderingContext2D | null = null;
    this.spec.lines.forEach((line, k) => {
      const chip = this.chips.children[k] as HTMLElement | undefined;
      const beyond = (line.outlier || this.spec.robust) && this.shown(line, k) && min != null && max != null ? this.leaves(line, min, max) : null;
      chip?.toggleAttribute("data-beyond", beyond !== null);
      chip?.setAttribute("title", beyond ? `Beyond this scale: up to ${number(beyond.value, 3)} ${this.spec.unit}` : "Show or hide this line");
      if (!beyond) return;
      ctx ??= u.ctx;
      const x = Math.min(Math.max(u.valToPos(beyond.time, "x", true), left + s), left + width - s);
      const up = beyond.value > max!;
      ctx.fillStyle = lineColour(line);
      ctx.beginPath();
      ctx.moveTo(x, up ? top : top + height);
      ctx.lineTo(x - s, up ? top + 1.6 * s : top + height - 1.6 * s);
      ctx.lineTo(x + s, up ? top + 1.6 * s : top + height - 1.6 * s);
      ctx.fill();
    });
  }

  /** When a line first leaves the scale in the shown range, and its value farthest from it; null: it does not. */
  private leaves(line: Line, min: number, max: number): {time: number; value: number} | null {
    const values = line.table.column(line.column)!;
    const [from, to] = this.group.range;
    let first: number | null = null;
    let value = 0;
    let far = 0;
    for (let i = 0; i < line.table.rows; i++) {
      const t = line.table.time[i]!;
      const d = Math.max(values[i]! - max, min - values[i]!);
      if (t < from || t > to || !(d > 0)) continue;
      first ??= t;
      if (d > far) {
        far = d;
        value = values[i]!;
      }
    }
    return first === null ? null : {time: first, value};
  }

  /** A click marks the instant; shift and drag moves the range; control and wheel zooms. */
  private listen(u: uPlot): void {
    let from: {x: number; range: [number, number]} | null = null;
    let moved = false;
    const over = u.over;
    over.addEventListener("mousedown", (event) => {
      moved = false;
      if (event.shiftKey || event.button === 1) {
        from = {x: event.clientX, range: [...this.group.range]};
        event.stopImmediatePropagation();
        event.preventDefault();
      }
    }, true);
    window.addEventListener("mousemove", (event) => {
      if (!from) return;
      moved = true;
      const [a, b] = from.range;
      const shift = ((from.x - event.clientX) / over.clientWidth) * (b - a);
      this.group.setRange(a + shift, b + shift);
    });
    window.addEventListener("mouseup", () => (from = null));
    over.addEventListener("click", (event) => {
      if (moved) return;
      const t = u.posToVal(event.clientX - over.getBoundingClientRect().left, "x");
      this.group.onSeek(t);
    });
    over.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      this.group.zoom(event.deltaY < 0 ? 1.25 : 0.8, u.posToVal(event.offsetX, "x"));
    }, {passive: false});
  }

  private key(event: KeyboardEvent): void {
    if (event.altKey || event.metaKey || event.ctrlKey) return;
    if (event.key === "+" || event.key === "=") this.group.zoom(1.5);
    else if (event.key === "-") this.group.zoom(1 / 1.5);
    else if (event.key === "0") this.group.setRange(...this.group.full);
    else if (event.key === "[") this.group.pan(-0.2);
    else if (event.key === "]") this.group.pan(0.2);
    else return;
    event.preventDefault();
  }

  private shown(line: Line, index: number): boolean {
    return !this.off.has(index) && !(line.group && this.group.hidden.has(line.group));
  }

  private shade(u: uPlot): void {
    const ctx = clipped(u);
    const {left, top, width, height} = u.bbox;
    ctx.fillStyle = colour("contact");
    for (const contact of this.group.contacts) {
      const a = u.valToPos(contact.start_s, "x", true);
      const b = u.valToPos(contact.end_s ?? this.group.full[1], "x", true);
      if (b < left || a > left + width) continue;
      ctx.fillRect(a, top, Math.max(b - a, devicePixelRatio), height);
    }
    if (this.spec.limit !== undefined) {
      const y = Math.round(u.valToPos(this.spec.limit, "y", true));
      ctx.fillStyle = colour("forbidden");
      if (this.spec.share) ctx.fillRect(left, y, width, top + height - y);
      else ctx.fillRect(left, top, width, y - top);
      ctx.strokeStyle = colour("bad");
      ctx.lineWidth = devicePixelRatio;
      ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
      ctx.beginPath();
      ctx.moveTo(left, y);
      ctx.lineTo(left + width, y);
      ctx.stroke();
      ctx.setLineDash([]);
      ctx.fillStyle = colour("bad");
      ctx.font = `${11 * devicePixelRatio}px ${getComputedStyle(document.body).fontFamily}`;
      ctx.textAlign = "left";
      ctx.textBaseline = y - top > 18 * devicePixelRatio ? "bottom" : "top";
      ctx.fillText(`${this.spec.share ? "share" : "limit"} ${this.spec.limit} ${this.spec.unit}`, left + 6 * devicePixelRatio, y - 3 * devicePixelRatio);
    }
    ctx.restore();
    ctx.save();
    ctx.fillStyle = colour("soft");
    ctx.font = `${11 * devicePixelRatio}px ${getComputedStyle(document.body).fontFamily}`;
    ctx.textAlign = "right";
    ctx.textBaseline = "bottom";
    ctx.fillText(unitText(this.spec.unit), left - 6 * devicePixelRatio, top - 7 * devicePixelRatio);
    ctx.restore();
  }

  showRange(): void {
    const u = this.plot;
    if (this.long) this.data = null;
    if (!u) return;
    if (this.long) u.setData(this.aligned(), false);
    u.setScale("x", {min: this.group.range[0], max: this.group.range[1]});
    this.showTime();
  }

  showTime(): void {
    const u = this.plot;
    if (u) {
      const x = u.valToPos(this.group.time, "x");
      const inside = x >= 0 && x <= u.over.clientWidth;
      this.marker.style.display = inside ? "block" : "none";
      this.marker.style.transform = `translateX(${x}px)`;
    }
    if (this.cursorRow === null) this.showValues();
  }

  showHidden(): void {
    this.spec.lines.forEach((line, i) => {
      const show = this.shown(line, i);
      if (this.plot && this.plot.series[i + 1]!.show !== show) this.plot.setSeries(i + 1, {show});
    });
  }

  restyle(): void {
    this.plot?.redraw(false, true);
  }

  private size(): {width: number; height: number} {
    const width = Math.max(160, Math.floor(this.holder.clientWidth));
    return {width, height: Math.max(150, Math.floor(this.holder.clientHeight))};
  }

  fit(): void {
    if (!this.plot) return;
    const size = this.size();
    if (size.width !== this.plot.width || size.height !== this.plot.height) this.plot.setSize(size);
  }

  /** Values of the lines at the row nearest to t, as the legend shows them. */
  valuesAt(t: number): {time: number; values: (number | null)[]} {
    if (this.long) return {time: t, values: this.spec.lines.map((line) => this.exactly(line, t))};
    const data = this.aligned();
    const row = nearestRow(data[0] as ArrayLike<number>, data[0].length, t);
    return {time: data[0][row]!, values: data.slice(1).map((v) => (v as ArrayLike<number | null>)[row] ?? null)};
  }

  private exactly(line: Line, t: number): number | null {
    const value = line.table.column(line.column)?.[nearestRow(line.table.time, line.table.rows, t)];
    return value !== undefined && Number.isFinite(value) ? value : null;
  }

  /** Moves the shared cursor to t, as the mouse would. */
  async pointAt(t: number): Promise<void> {
    if (!this.plot) {
      this.draw();
      await new Promise((done) => requestAnimationFrame(done)); // uPlot lays itself out after this turn
    }
    const u = this.plot!;
    u.setCursor({left: u.valToPos(t, "x"), top: u.over.clientHeight / 2});
  }

  private showValues(): void {
    if (!this.plot) return;
    const data = this.aligned();
    const row = this.cursorRow ?? nearestRow(data[0] as ArrayLike<number>, data[0].length, this.group.time);
    const exact = this.long ? this.spec.lines.map((line) => this.exactly(line, this.cursorRow === null ? this.group.time : (data[0][row] ?? 0))) : null;
    this.values.forEach((element, i) => {
      element.textContent = number(relevant((exact ? exact[i] : (data[i + 1] as ArrayLike<number | null>)[row]) ?? null, this.spec.limit), 4);
    });
  }
}

/** Decimals that show a step exactly, at most `most`. */
function decimalsOf(step: number, most: number): number {
  for (let d = 0; d < most; d++) {
    const scaled = step * 10 ** d;
    if (Math.abs(scaled - Math.round(scaled)) < 1e-6 * Math.max(1, scaled) && Math.round(scaled) > 0) return d;
  }
  return most;
}

/** Ticks of one axis with equal decimals. */
/** Ticks of a logarithmic axis at round numbers: uPlot's own start from the axis's end, however odd that is. */
function logTicks(low: number, high: number): number[] {
  const ticks = (of: readonly number[]): number[] => {
    const all: number[] = [];
    for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++)
      for (const m of of) {
        const v = Number(`${m}e${e}`);
        if (v >= low * (1 - 1e-9) && v <= high * (1 + 1e-9)) all.push(v);
      }
    return all;
  };
  const decades = Math.log10(high / low);
  const found = ticks(decades > 3 ? [1] : decades > 0.9 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9]);
  return found.length > 1 ? found : [low, Math.sqrt(low * high), high];
}

/** A logarithmic axis: of its ticks those that leave `room` pixels for their texts. */
export function logAxis(scale: "x" | "y", room: number): Pick<uPlot.Axis, "splits" | "filter" | "values"> {
  return {
    splits: (_u, _axis, low, high) => logTicks(low, high),
    filter: (u, splits) => {
      let last = Infinity;
      return splits.map((v) => {
        const p = u.valToPos(v, scale);
        if (Math.abs(p - last) < room) return null;
        last = p;
        return v;
      });
    },
    values: (_u, splits) => splits.map((v: number | null) => (v === null ? "" : number(v, 3).replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, ""))),
  };
}

function tickTexts(splits: number[]): string[] {
  const step = splits.length > 1 ? Math.abs(splits[1]! - splits[0]!) : 1;
  const top = Math.max(...splits.map(Math.abs));
  const exponent = top >= 1e5 || (top > 0 && top < 1e-3) ? Math.floor(Math.log10(top)) : 0;
  const decimals = decimalsOf(step / 10 ** exponent, 8);
  return splits.map((v) => {
    if (Math.abs(v) < step * 1e-6) return "0";
    return `${(v / 10 ** exponent).toFixed(decimals)}${exponent ? `e${exponent}` : ""}`.replaceAll("-", "−");
  });
}

export interface HistogramLine {
  label: string;
  style: number;
  start: number;
  per_decade: number;
  count: number[];
}

/** Share of cycles over their duration, both drawn as steps on a logarithmic axis. */
export function histogram(title: string, lines: HistogramLine[], note: string): HTMLElement {
  const W = 640;
  const H = 220;
  const pad = {left: 62, right: 14, top: 14, bottom: 30};
  let first = Infinity;
  let last = -1;
  let peak = 0;
  const shares = lines.map((line) => {
    const total = line.count.reduce((a, b) => a + b, 0) || 1;
    line.count.forEach((c, i) => {
      if (c > 0) {
        first = Math.min(first, i);
        last = Math.max(last, i);
        peak = Math.max(peak, c / total);
      }
    });
    return line.count.map((c) => c / total);
  });
  first = Math.max(0, first - 2);
  last = last + 3;
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${W} ${H}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("class", "histogram");
  svg.setAttribute("aria-label", `${title}. ${note}`);
  const add = (tag: string, attributes: Record<string, string | number>, text?: string): void => {
    const element = document.createElementNS(SVG, tag);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
    if (text !== undefined) element.textContent = text;
    svg.append(element);
  };
  const x = (bin: number): number => pad.left + ((bin - first) / (last - first)) * (W - pad.left - pad.right);
  const y = (share: number): number => H - pad.bottom - Math.sqrt(share / peak) * (H - pad.top - pad.bottom) * 0.95;
  for (const share of [0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1]) {
    if (share > peak * 1.05 || share < peak / 60) continue;
    add("line", {x1: pad.left, x2: W - pad.right, y1: y(share), y2: y(share), class: "gridline"});
    add("text", {x: pad.left - 8, y: y(share) + 4, "text-anchor": "end"}, `${share * 100} %`);
  }
  const per = lines[0]!.per_decade;
  const exponent0 = Math.log10(lines[0]!.start);
  let right = -Infinity; // of the last number, so that none stands in another
  for (let bin = first; bin <= last; bin++)
    for (const m of [1, 2, 5]) {
      const at = Math.log10(m) * per;
      const decade = Math.ceil((bin - at) / per);
      const position = decade * per + at;
      if (position < bin || position >= bin + 1 || position > last) continue;
      const value = m * 10 ** (decade + exponent0);
      const text = value < 999 ? `${Math.round(value)} ns` : value < 999e3 ? `${Math.round(value / 1e3)} µs` : value < 999e6 ? `${Math.round(value / 1e6)} ms` : `${Math.round(value / 1e9)} s`;
      add("line", {x1: x(position), x2: x(position), y1: pad.top, y2: H - pad.bottom, class: "gridline"});
      const half = 5 * text.length; // as wide as it is on paper
      if (x(position) - half < right || (m !== 1 && (last - first) / per > 3.5)) continue;
      right = x(position) + half;
      add("text", {x: x(position), y: H - pad.bottom + 18, "text-anchor": "middle"}, text);
    }
  add("line", {x1: pad.left, x2: W - pad.right, y1: H - pad.bottom, y2: H - pad.bottom, class: "baseline"});
  shares.forEach((share, k) => {
    let path = `M${x(first)},${y(0)}`;
    for (let i = first; i < last; i++) path += `V${y(share[i] ?? 0).toFixed(1)}H${x(i + 1).toFixed(1)}`;
    const style = lines[k]!.style % 8;
    if (lines.length === 1) add("path", {d: `${path}V${y(0)}Z`, class: `fill-${style}`});
    add("path", {d: path, class: `step stroke-${style}`, "stroke-dasharray": dash(style).join(" ")});
  });
  return h(
    "figure", {class: "panel"},
    h("figcaption", {}, h("span", {class: "panel-title"}, title), h("span", {class: "unit"}, "share of cycles, square-root scale"), h("span", {class: "note"}, note)),
    lines.length > 1 ? h("div", {class: "chips"}, ...lines.map((line) => h("span", {class: "chip"}, swatch(line), h("span", {class: "label"}, line.label)))) : h("div", {class: "chips"}),
    h("div", {class: "canvas"}, svg),
  );
}
