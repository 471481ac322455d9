// The channel /cycle of a log.mcap as a table: records of MCAP 0, chunks plain or compressed with zstd, messages as docs/protocols.md says. A long log
// that was closed has an overview, and its chunks are read where one looks closely; of any other all is read, piece by piece, and its numbers are kept.
import {decompress} from "fzstd";
import type {Column} from "./data";
import {OverviewTable} from "./overview";
import {parseColumn} from "./table";
import {RawTable} from "./rawlog";

const MAGIC = [0x89, 0x4d, 0x43, 0x41, 0x50, 0x30, 0x0d, 0x0a];
const CHANNEL = 0x04;
const MESSAGE = 0x05;
const CHUNK = 0x06;
const CHUNK_INDEX = 0x08;
const ATTACHMENT_INDEX = 0x0a;
const FOOT = 37; // of the file: the footer's record and the magic
const EPOCH = 10; // [s] log time of t = 0
const HEAD = 9; // kind and length of a record
const ROW = 22; // of a message: channel, sequence, two times; then the row
const MOST_CHUNK = 256 << 20; // bytes of one chunk, unpacked, as the program's own reader allows
const WINDOW = 16 << 20; // bytes of the file that are looked at together
const PIECE = 1 << 20; // bytes of chunks that are read before the page is let go on
const OVERVIEW = "freefloat.overview";
const HEAD_OVERVIEW = 32;

/** A record's length as a number; what is not one is longer than any file. */
const longOf = (view: DataView, at: number): number => view.getUint32(at, true) + 4294967296 * view.getUint32(at + 4, true);

/** What was read, and how many chunks were passed over because they are damaged. */
export interface Log {
  table: RawTable | OverviewTable;
  lost: number;
}

/** One frame of zstd into so many bytes; an Error where it is not that. */
function unpack(data: Uint8Array, room: Uint8Array): Uint8Array {
  // fzstd compares what it is given with 1: without this the array would become a text first, which takes fifty times as long
  room.valueOf = () => 2 as unknown as Uint8Array<ArrayBuffer>;
  const whole = decompress(data, room); // no frame writes beyond it, whatever it claims
  if (whole.length !== room.length) throw new Error("cut");
  return whole;
}

class Reader {
  table: RawTable | null = null;
  lost = 0;
  channel = -1;
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
      this.records(unpack(data, this.unpacked.subarray(0, size)), 0, true);
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

const bytesOf = async (file: Blob, from: number, to: number): Promise<Uint8Array> => new Uint8Array(await file.slice(from, to).arrayBuffer());

const CRC = Uint32Array.from({length: 256}, (_v, n) => {
  let c = n;
  for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c;
});
function crc32(bytes: Uint8Array): number {
  let c = ~0;
  for (let i = 0; i < bytes.length; i++) c = CRC[(c ^ bytes[i]!) & 255]! ^ (c >>> 8);
  return ~c >>> 0;
}

/** A chunk as the summary names it: when [s of the run], where [bytes]. */
interface Place {
  from: number;
  to: number;
  at: number;
  end: number;
}

/** The overview of a log that has one, and its chunks' places; null: it has none, or something of it is not as it should be. */
async function openOverview(file: Blob): Promise<OverviewTable | null> {
  const foot = await bytesOf(file, Math.max(0, file.size - FOOT), file.size);
  const tail = new DataView(foot.buffer);
  if (foot.length < FOOT || MAGIC.some((b, i) => foot[FOOT - MAGIC.length + i] !== b) || foot[0] !== 0x02) return null;
  const start = longOf(tail, HEAD);
  if (start === 0 || start > file.size - FOOT || file.size - start > MOST_CHUNK) return null;
  const summary = await bytesOf(file, start, file.size - FOOT);
  const view = new DataView(summary.buffer);
  const names = new Reader();
  const places: Place[] = [];
  let found: [number, number] | null = null;
  for (let at = 0; summary.length - at >= HEAD;) {
    const length = longOf(view, at + 1);
    const from = at + HEAD;
    if (length > summary.length - from) return null;
    if (summary[at] === CHUNK_INDEX && length >= 32) {
      const place = {from: longOf(view, from) / 1e9 - EPOCH, to: longOf(view, from + 8) / 1e9 - EPOCH, at: longOf(view, from + 16), end: longOf(view, from + 16) + longOf(view, from + 24)};
      if (!(place.end <= start)) return null;
      places.push(place);
    } else if (summary[at] === ATTACHMENT_INDEX && length >= 44) {
      const letters = view.getUint32(from + 40, true);
      if (letters <= length - 44 && new TextDecoder().decode(summary.subarray(from + 44, from + 44 + letters)) === OVERVIEW) found = [longOf(view, from), longOf(view, from + 8)];
    }
    at = from + length;
  }
  names.records(summary, 0, true); // the channels stand in the summary, too
  if (!names.table || !found || !(found[0] + found[1] <= start) || found[1] > MOST_CHUNK) return null;
  const {columns} = names.table;
  const record = await bytesOf(file, found[0] + HEAD, found[0] + found[1]);
  const body = record.subarray(0, record.length - 4);
  if (new DataView(record.buffer).getUint32(body.length, true) !== crc32(body)) return null;
  // two times, name and kind with their lengths, the length of the data
  const head = new DataView(record.buffer);
  let at = 16;
  at += 4 + head.getUint32(at, true);
  at += 4 + head.getUint32(at, true) + 8;
  if (at + HEAD_OVERVIEW > body.length || head.getUint32(at, true) !== 1 || head.getUint32(at + 4, true) !== columns.length) return null;
  const rows = head.getUint32(at + 8, true);
  const size = rows * (8 + 4 * columns.length);
  if (rows < 2 || size > MOST_CHUNK) return null;
  const data = body.subarray(at + HEAD_OVERVIEW);
  const packing = head.getUint32(at + 12, true);
  const plain = packing === 0 ? data.slice() : packing === 1 ? unpack(data, new Uint8Array(size)) : data;
  if (plain.length !== size) return null;
  const time = new Float64Array(plain.buffer, plain.byteOffset, rows);
  for (let i = 0; i < rows; i++) if (!Number.isFinite(time[i]) || time[i]! < (time[i - 1] ?? -Infinity)) return null;
  const values = columns.map((_c, i) => new Float32Array(plain.buffer, plain.byteOffset + 8 * rows + 4 * rows * i, rows));
  places.sort((a, b) => a.at - b.at);
  const {channel} = names;
  return new OverviewTable(columns, time, values, longOf(head, at + 16), longOf(head, at + 24), (from, to, stale) => readRange(file, places, columns, channel, from, to, stale));
}

/** Every row of a range of time and those beside it; null: another range is wanted by now. */
async function readRange(file: Blob, places: readonly Place[], columns: readonly Column[], channel: number, from: number, to: number, stale: () => boolean): Promise<RawTable | null> {
  const reader = new Reader();
  reader.table = new RawTable(columns);
  reader.channel = channel;
  const wanted = places.filter((p) => p.to >= from && p.from <= to);
  for (let i = 0; i < wanted.length;) {
    const {at} = wanted[i]!;
    let {end} = wanted[i]!;
    for (i++; i < wanted.length && wanted[i]!.at >= end && wanted[i]!.end - at < PIECE; i++) end = wanted[i]!.end;
    reader.records(await bytesOf(file, at, end), 0, false);
    if (stale()) return null;
  }
  return reader.table.finish();
}

export async function readMcap(file: Blob, progress: (part: number) => void): Promise<Log> {
  const start = new Uint8Array(await file.slice(0, MAGIC.length).arrayBuffer());
  if (MAGIC.some((b, i) => start[i] !== b)) throw new Error("it is not an MCAP file");
  const overview = await openOverview(file).catch(() => null);
  if (overview) return {table: overview, lost: 0};
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
