// The channel /cycle of a log.mcap as a table: records of MCAP 0, chunks plain or compressed with zstd, messages as docs/protocols.md says.
import {decompress} from "fzstd";
import {parseColumn} from "./table";
import {RawTable} from "./rawlog";

const MAGIC = [0x89, 0x4d, 0x43, 0x41, 0x50, 0x30, 0x0d, 0x0a];
const CHANNEL = 0x04;
const MESSAGE = 0x05;
const CHUNK = 0x06;
const MOST_CHUNK = 256 << 20; // bytes of one chunk, unpacked, as the program's own reader allows

class Bytes {
  at = 0;
  private readonly view: DataView;
  constructor(readonly bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }
  get left(): number {
    return this.bytes.length - this.at;
  }
  private need(n: number): number {
    if (!(n >= 0) || n > this.left) throw new Error("it is damaged: a record is longer than the file");
    this.at += n;
    return this.at - n;
  }
  u8(): number { return this.view.getUint8(this.need(1)); }
  u16(): number { return this.view.getUint16(this.need(2), true); }
  u32(): number { return this.view.getUint32(this.need(4), true); }
  u64(): number { return Number(this.view.getBigUint64(this.need(8), true)); }
  f64(): number { return this.view.getFloat64(this.need(8), true); }
  take(n: number): Uint8Array {
    const at = this.need(n);
    return this.bytes.subarray(at, at + n);
  }
  text(): string { return new TextDecoder().decode(this.take(this.u32())); }
}

/** What was read, and how many chunks were passed over because they are damaged. */
export interface Log {
  table: RawTable;
  lost: number;
}

export function readMcap(file: Uint8Array): Log {
  if (MAGIC.some((b, i) => file[i] !== b)) throw new Error("it is not an MCAP file");
  let channel = -1;
  let table: RawTable | null = null;
  let lost = 0;
  const record = (kind: number, b: Bytes): void => {
    if (kind === CHANNEL) {
      const id = b.u16();
      b.u16(); // schema
      if (b.text() !== "/cycle") return;
      b.text(); // encoding
      const end = b.u32() + b.at;
      while (b.at < end) {
        const [key, value] = [b.text(), b.text()];
        if (key === "columns" && !table) {
          table = new RawTable(value.split(",").slice(1).map(parseColumn));
          channel = id;
        }
      }
    } else if (kind === MESSAGE && b.u16() === channel && table) {
      b.u32();
      b.u64();
      b.u64();
      const cdr = new Bytes(b.take(b.left));
      cdr.at = 4; // the encapsulation; offsets count from here
      const align = (n: number): void => void (cdr.at += (n - ((cdr.at - 4) % n)) % n);
      cdr.u64(); // time
      cdr.u64(); // cycle
      const count = cdr.u32();
      align(8);
      if (count !== table.columns.length + 1) throw new Error("its rows and its columns differ in number");
      table.addNumbers(cdr.f64(), () => cdr.f64());
    }
  };
  const records = (b: Bytes): void => {
    while (b.left >= 9) {
      const kind = b.u8();
      const length = b.u64();
      if (length > b.left) return; // cut: what is whole counts
      const body = new Bytes(b.take(length));
      if (kind !== CHUNK) {
        record(kind, body);
        continue;
      }
      body.u64();
      body.u64();
      const size = body.u64();
      body.u32();
      const packing = body.text();
      const data = body.take(body.u64());
      try {
        if (size > MOST_CHUNK || (packing && packing !== "zstd")) throw new Error(packing);
        records(new Bytes(packing ? decompress(data, new Uint8Array(size)) : data));
      } catch {
        lost++;
      }
    }
  };
  const all = new Bytes(file);
  all.at = MAGIC.length;
  records(all);
  const found = table as RawTable | null;
  if (!found || found.rows === 0) throw new Error("it holds no rows of a run (channel /cycle)");
  return {table: found.finish(), lost};
}
