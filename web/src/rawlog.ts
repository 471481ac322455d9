// Every cycle of a long run: log.csv, chosen by the reader, in place of the points that the page holds. Nothing is sent anywhere.
import type {Column, Run, Table} from "./data";
import {number} from "./format";
import {parseColumn} from "./table";

const MOST_ROWS = 5_000_000; // of one log, so that a page does not take all memory
const MOST_VALUES = 250_000_000; // the same: 1 GB

/** What a point of a long run is in the range that is shown: every cycle, or in which part of it every cycle. */
export function levelSentence(run: Run, [from, to]: [number, number]): string {
  if (run.whole.some(([a, b]) => a <= from && to <= b)) return "every cycle is drawn in this range.";
  const [first, last] = [Math.max(from, run.table!.time[0]!), Math.min(to, run.table!.time[run.table!.rows - 1]!)];
  const drawn = run.whole.reduce((sum, [a, b]) => sum + Math.max(0, Math.min(b, last) - Math.max(a, first)), 0) / (last - first);
  const contacts = run.contacts.filter((c) => (c.end_s ?? last) >= first && c.start_s <= last);
  const whole = contacts.filter((c) => run.whole.some(([a, b]) => a <= c.start_s && (c.end_s ?? last) <= b)).length;
  const share = drawn > 0 ? `; in ${number(100 * drawn, 2)} % of this range every cycle is drawn${contacts.length ? `, ${whole} of ${contacts.length} contact${contacts.length > 1 ? "s" : ""} among it` : ""}` : "";
  const where = run.table!.ranged
    ? "Zoom in, and every cycle is read from the file"
    : "Every cycle stands in log.csv, beside this page (of a log.mcap: freefloat export log.mcap --to csv; of neither: the same run with --log csv)";
  return `each point is the smallest or largest of ${run.bucket} cycles${share}. ${where}.`;
}

export class RawTable implements Table {
  rows = 0;
  time = new Float64Array(1 << 12);
  readonly values: Float32Array[];
  private readonly index: Map<string, number>;

  constructor(readonly columns: readonly Column[]) {
    this.index = new Map(columns.map((c, i) => [c.name, i]));
    this.values = columns.map(() => new Float32Array(1 << 12));
  }

  /** For so many more rows. A page that took all memory would be ended by the browser, without a word. */
  private room(more: number): void {
    const wanted = this.rows + more;
    if (wanted <= this.time.length) return;
    if (wanted > MOST_ROWS) throw new Error(`it has more than ${MOST_ROWS} rows`);
    if (wanted * this.values.length > MOST_VALUES) throw new Error(`it has more than ${MOST_VALUES / 1e6} million numbers: ${this.rows} rows of ${this.values.length} columns were read; export a part of it`);
    const size = Math.min(Math.max(wanted, Math.ceil(1.5 * this.time.length)), MOST_ROWS);
    const wider = <T extends Float32Array | Float64Array>(old: T): T => {
      const a = new (old.constructor as new (n: number) => T)(size);
      a.set(old);
      return a;
    };
    this.time = wider(this.time);
    for (let i = 0; i < this.values.length; i++) this.values[i] = wider(this.values[i]!);
  }

  add(cells: string[], from: number[]): void {
    this.room(1);
    this.time[this.rows] = Number(cells[0]);
    from.forEach((k, i) => (this.values[i]![this.rows] = cells[k] === "" || cells[k] === undefined ? NaN : Number(cells[k])));
    this.rows++;
  }

  /** Rows of numbers, read a column after the other; column 0 is the time. */
  addBlock(rows: number, value: (row: number, column: number) => number): void {
    this.room(rows);
    const {rows: first} = this;
    for (let i = 0; i < rows; i++) this.time[first + i] = value(i, 0);
    for (let c = 0; c < this.values.length; c++) {
      const column = this.values[c]!;
      for (let i = 0; i < rows; i++) column[first + i] = value(i, c + 1);
    }
    this.rows += rows;
  }

  /** Arrays as long as the rows, once all have been read. */
  finish(): this {
    this.time = this.time.subarray(0, this.rows);
    for (let i = 0; i < this.values.length; i++) this.values[i] = this.values[i]!.subarray(0, this.rows);
    return this;
  }

  column(name: string): Float32Array | undefined {
    const i = this.index.get(name);
    return i === undefined ? undefined : this.values[i];
  }

  unit(name: string): string {
    const i = this.index.get(name);
    return i === undefined ? "" : this.columns[i]!.unit;
  }
}

/** The columns of `like` from a log.csv of so many cycles; an Error says in words why it is not this run's. Both null: whatever columns a log of
 * any run has. `progress`: part that is read. */
export async function readLog(file: Blob, like: Table | null, cycles: number | null, progress: (part: number) => void): Promise<RawTable> {
  const reader = file.stream().getReader();
  const decoder = new TextDecoder();
  let rest = "";
  let read = 0;
  let table: RawTable | null = null;
  let from: number[] = [];
  const take = (line: string): void => {
    const cells = line.split(",");
    if (table) {
      table.add(cells, from);
      return;
    }
    const names = cells.map((c) => parseColumn(c));
    if (names[0]?.name !== "t") throw new Error("this is not a log.csv: its first column is not t [s]");
    const wanted = (like?.columns ?? names).slice(1).map((c) => ({c, at: names.findIndex((n) => n.name === c.name)}));
    const missing = wanted.find((w) => w.at < 0);
    if (missing) throw new Error(`this is the log of another run: it has no column ${missing.c.name}`);
    from = wanted.map((w) => w.at);
    table = new RawTable(wanted.map((w) => w.c));
  };
  for (;;) {
    const {done, value} = await reader.read();
    rest += done ? decoder.decode() : decoder.decode(value, {stream: true});
    read += value?.length ?? 0;
    const lines = rest.split("\n");
    rest = done ? "" : lines.pop()!;
    for (const line of lines) if (line) take(line);
    progress(file.size ? read / file.size : 1);
    if (done) break;
  }
  const full = table as RawTable | null;
  if (!full) throw new Error("the file is empty");
  if (full.rows === 0) throw new Error("it has no rows");
  if (cycles !== null && Math.abs(full.rows - cycles) > 1) throw new Error(`this is the log of another run: it has ${full.rows} rows for ${cycles} cycles`);
  return full.finish();
}
