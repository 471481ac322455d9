// A table that grows at its end and forgets its beginning: what the live page plots.
import type {Column, Table} from "./data";

/** "client.velocity.x [m/s]" -> name and unit. */
export function parseColumn(text: string): Column {
  const m = /^(.*) \[([^[\]]*)\]$/.exec(text);
  return m ? {name: m[1]!, unit: m[2]!} : {name: text, unit: ""};
}

export class LiveTable implements Table {
  readonly columns: readonly Column[];
  private readonly data: Float64Array[];
  private readonly index = new Map<string, number>();
  private readonly room: number;
  private from = 0;
  private to = 0;

  constructor(names: readonly string[], readonly capacity: number) {
    this.columns = names.map(parseColumn);
    this.room = 2 * capacity;
    this.data = names.map(() => new Float64Array(this.room));
    this.columns.forEach((c, i) => this.index.set(c.name, i));
  }

  get rows(): number {
    return this.to - this.from;
  }

  get time(): Float64Array {
    return this.data[0]!.subarray(this.from, this.to);
  }

  column(name: string): Float64Array | undefined {
    const i = this.index.get(name);
    return i === undefined ? undefined : this.data[i]!.subarray(this.from, this.to);
  }

  unit(name: string): string {
    const i = this.index.get(name);
    return i === undefined ? "" : this.columns[i]!.unit;
  }

  /** The newest value; NaN while there is none. */
  last(name: string): number {
    const i = this.index.get(name);
    return i === undefined || this.rows === 0 ? NaN : this.data[i]![this.to - 1]!;
  }

  clear(): void {
    this.from = this.to = 0;
  }

  /** One row of values, in the order of the columns. Time never falls: an older row is left out. */
  push(values: Float64Array): void {
    if (this.rows > 0 && !(values[0]! > this.data[0]![this.to - 1]!)) return;
    if (this.to === this.room) {
      for (const column of this.data) column.copyWithin(0, this.from, this.to);
      this.to -= this.from;
      this.from = 0;
    }
    for (let i = 0; i < this.data.length; i++) this.data[i]![this.to] = values[i]!;
    this.to++;
    if (this.rows > this.capacity) this.from++;
  }
}
