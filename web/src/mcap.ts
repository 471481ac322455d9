// The channel /cycle of a log.mcap as a table: records of MCAP 0, chunks plain or compressed with zstd, messages as docs/protocols.md says. Read piece
// by piece: of a long log only its numbers are kept.
import {decompress} from "fzstd";
import {parseColumn} from "./table";
import {RawTable} from "./rawlog";

const MAGIC = [0x89, 0x4d, 0x43, 0x41, 0x50, 0x30, 0x0d, 0x0a];
const CHANNEL = 0x04;
const MESSAGE = 0x05;
const CHUNK = 0x06;
const HEAD = 9; // kind and length of a record
const ROW = 22; // of a message: channel, sequence, two times; then the row
const MOST_CHUNK = 256 << 20; // bytes of one chunk, unpacked, as the program's own reader allows
const WINDOW = 16 << 20; // bytes of the file that are looked at together

/** A record's length as a number; what is not one is longer than any file. */
const longOf = (view: DataView, at: number): number => view.getUint32(at, true) + 4294967296 * view.getUint32(at + 4, true);

/** What was read, and how many chunks were passed over because they are damaged. */
export interface Log {
  table: RawTable;
  lost: number;
}

class Reader {
  table: RawTable | null = null;
  lost = 0;
  private channel = -1;
  private unpacked = new Uint8Array(0);
  private rows: number[] = [];

  /** All whole records from `at` on; returns where the first one that is not whole begins. */
  records(bytes: Uint8Array, at: number, inside: boolean): number {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    while (bytes.length - at >= HEAD) {
      const length = longOf(view, at + 1);
      if (length > bytes.length - at - HEAD) break;
      const from = at + HEAD;
      const kind = bytes[at]!;
      at = from + length;
      if (kind === MESSAGE) {
        if (length >= ROW && view.getUint16(from, true) === this.channel) this.rows.push(from + ROW);
      } else if (kind === CHANNEL) {
        this.take(view); // rows before it belong to the channel as it was
        this.open(bytes.subarray(from, at), view.getUint16(from, true));
      } else if (kind === CHUNK && !inside) this.chunk(bytes.subarray(from, at));
    }
    this.take(view);
    return at;
  }

  /** Two numbers, a checksum, how it is packed, how long that is, the records. */
  private chunk(body: Uint8Array): void {
    try {
      const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
      const size = longOf(view, 16);
      const letters = view.getUint32(28, true);
      const packing = new TextDecoder().decode(body.subarray(32, 32 + letters));
      const length = longOf(view, 32 + letters);
      const from = 40 + letters;
      if (size > MOST_CHUNK || (packing && packing !== "zstd") || length > body.length - from) throw new Error("damaged");
      const data = body.subarray(from, from + length);
      if (!packing) return void this.records(data, 0, true);
      if (this.unpacked.length < size) this.unpacked = new Uint8Array(size);
      const room = this.unpacked.subarray(0, size); // no frame writes beyond it, whatever it claims
      // fzstd compares what it is given with 1: without this the array would become a text first, which takes fifty times as long
      room.valueOf = () => 2 as unknown as Uint8Array<ArrayBuffer>;
      const whole = decompress(data, room);
      if (whole.length !== size) throw new Error("cut");
      this.records(whole, 0, true);
    } catch {
      this.rows = [];
      this.lost++;
    }
  }

  private open(body: Uint8Array, id: number): void {
    const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
    let at = 4; // id, schema
    const text = (): string => {
      const length = view.getUint32(at, true);
      if (length > body.length - at - 4) throw new Error("it is damaged: a text is longer than its record");
      at += 4 + length;
      return new TextDecoder().decode(body.subarray(at - length, at));
    };
    if (text() !== "/cycle") return;
    text(); // encoding
    const end = view.getUint32(at, true) + at + 4;
    at += 4;
    while (at < end) {
      const [key, value] = [text(), text()];
      if (key === "columns" && !this.table) {
        this.table = new RawTable(value.split(",").slice(1).map(parseColumn));
        this.channel = id;
      }
    }
  }

  /** The rows that were found, a column after the other. A row: encapsulation, time, cycle, number of values, values; offsets count behind the first. */
  private take(view: DataView): void {
    const {table, rows} = this;
    if (!table || !rows.length) return;
    this.rows = [];
    const count = table.columns.length + 1;
    for (const at of rows) {
      if (at + 28 + 8 * count > view.byteLength || view.getUint32(at + 20, true) !== count) throw new Error("its rows and its columns differ in number");
    }
    table.addBlock(rows.length, (row, column) => view.getFloat64(rows[row]! + 28 + 8 * column, true));
  }
}

export async function readMcap(file: Blob, progress: (part: number) => void): Promise<Log> {
  const start = new Uint8Array(await file.slice(0, MAGIC.length).arrayBuffer());
  if (MAGIC.some((b, i) => start[i] !== b)) throw new Error("it is not an MCAP file");
  const reader = new Reader();
  let at = MAGIC.length;
  for (let width = WINDOW; at < file.size;) {
    const piece = new Uint8Array(await file.slice(at, at + width).arrayBuffer());
    const read = reader.records(piece, 0, false);
    if (read === 0) {
      // a record that is longer than the window, or the end of a cut file
      if (piece.length < width || width > 2 * MOST_CHUNK) break;
      width *= 2;
      continue;
    }
    at += read;
    width = WINDOW;
    progress(at / file.size);
  }
  const {table, lost} = reader;
  if (!table || table.rows === 0) throw new Error("it holds no rows of a run (channel /cycle)");
  return {table: table.finish(), lost};
}
