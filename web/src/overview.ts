// A long log by its overview: the smallest and largest value of each bucket of cycles, which the program wrote beside the rows; where one looks closely,
// every row of that range, read from the file then.
import {rowAt, type Column, type Table} from "./data";
import type {RawTable} from "./rawlog";

const MOST_ROWS = 65536; // of a range that is read: above it a bucket is less than two pixels wide

export class OverviewTable implements Table {
  rows: number;
  time: Float64Array;
  readonly ranged = true;
  /** Where every row is in the table [s]. */
  whole: [number, number][] = [];
  private readonly index: Map<string, number>;
  private joined = new Map<number, Float32Array>();
  private detail: RawTable | null = null;
  private first = 0; // of the overview's rows those from `first` until `rest` give way to the detail's
  private rest = 0;
  private asked = 0;

  /** read: every row from `from` to `to`, null once `stale` says that another range is wanted. */
  constructor(
    readonly columns: readonly Column[], private readonly times: Float64Array, private readonly values: readonly Float32Array[], readonly bucket: number, readonly cycles: number,
    private readonly read: (from: number, to: number, stale: () => boolean) => Promise<RawTable | null>,
  ) {
    this.index = new Map(columns.map((c, i) => [c.name, i]));
    this.rows = times.length;
    this.time = times;
  }

  /** Every row of this range, if it is short enough; true once the table holds what it did not. */
  async look(from: number, to: number): Promise<boolean> {
    const {times, whole} = this;
    const mine = ++this.asked;
    const span = times[times.length - 1]! - times[0]!;
    if (whole.some(([a, b]) => a <= Math.max(from, times[0]!) && Math.min(to, times[times.length - 1]!) <= b) || !(span > 0) || ((to - from) / span) * this.cycles > MOST_ROWS) return false;
    const margin = Math.min(0.25 * (to - from), (span / this.cycles) * 2000); // a little to the sides, so that a small step needs no reading
    const rows = await this.read(from - margin, to + margin, () => mine !== this.asked);
    if (!rows || mine !== this.asked || rows.rows < 2) return false;
    const [a, b] = [rows.time[0]!, rows.time[rows.rows - 1]!];
    this.first = a <= times[0]! ? 0 : rowAt(times, times.length, a) + (times[rowAt(times, times.length, a)]! < a ? 1 : 0);
    this.rest = Math.max(this.first, rowAt(times, times.length, b) + 1);
    this.detail = rows;
    this.joined = new Map();
    this.rows = this.first + rows.rows + times.length - this.rest;
    this.time = this.join(times, rows.time);
    this.whole = [[a, b]];
    return true;
  }

  private join<T extends Float32Array | Float64Array>(thin: T, every: T): T {
    const out = new (thin.constructor as new (n: number) => T)(this.rows);
    out.set(thin.subarray(0, this.first) as never);
    out.set(every as never, this.first);
    out.set(thin.subarray(this.rest) as never, this.first + every.length);
    return out;
  }

  column(name: string): Float32Array | undefined {
    const i = this.index.get(name);
    if (i === undefined) return undefined;
    if (!this.detail) return this.values[i];
    let values = this.joined.get(i);
    if (!values) this.joined.set(i, (values = this.join(this.values[i]!, this.detail.values[i]!)));
    return values;
  }

  unit(name: string): string {
    const i = this.index.get(name);
    return i === undefined ? "" : this.columns[i]!.unit;
  }
}
