// Tables of named columns over time, and the report's document. No drawing here.

export interface Column {
  name: string;
  unit: string;
}

/** What plots and scene read. The report's tables are whole; a live one grows. */
export interface Table {
  readonly columns: readonly Column[];
  readonly rows: number;
  readonly time: ArrayLike<number>;
  /** Rows that a growing table may come to hold. */
  readonly capacity?: number;
  /** Only what the range shows is drawn of it. */
  readonly ranged?: boolean;
  /** Values of a column, NaN where there is none; undefined if the table has no such column. */
  column(name: string): ArrayLike<number> | undefined;
  unit(name: string): string;
}

export interface Contact {
  name: string;
  satellite?: string;
  start_s: number;
  end_s: number | null;
  speed_before_mps?: number | null;
  speed_after_mps?: number | null;
  peak_force_N?: number | null;
  peak_robot_force_N?: number | null;
  stiffness_Npm?: number | null;
  damping_Nspm?: number | null;
  restitution?: number | null;
  [key: string]: unknown;
}

export interface Requirement {
  name: string;
  limit: number | null;
  value: number | null;
  /** false: nothing was measured (no contact, none that ended), or there was no reference. */
  judged?: boolean;
  met: boolean;
}

type Numbers = Record<string, number | null | undefined>;

export interface SatelliteSummary {
  initial?: Numbers;
  final?: Record<string, unknown>;
  max_kinetic_energy_J?: number | null;
  error_vs_ideal?: Numbers | null;
  contacts?: Contact[];
  passivity?: {observer_min_J?: (number | null)[]; max_force_correction_N?: number | null; max_velocity_correction_mps?: number | null} | null;
  robot?: {travel_m?: number | null; rotation_rad?: number | null; max_tracking_error_m?: number | null} | null;
}

export interface Summary {
  scenario?: string;
  method?: string;
  integrator?: string;
  cycle_s?: number;
  cycles?: number;
  satellites?: Record<string, SatelliteSummary>;
  pairs?: Record<string, {error_vs_ideal?: Numbers | null}>;
  timing?: Numbers;
  requirements?: Requirement[];
  verdict?: string;
  status?: string;
  version?: string;
  safety?: {state: string; cause: string; text: string; time_s?: number; satellite?: string; value?: number | null; limit?: number | null; unit?: string; satellites?: Record<string, {stop?: string}>};
  events?: {time_s: number; state?: string; level?: string; text?: string}[];
  devices?: {strangers?: number; satellites?: Record<string, Record<string, Record<string, number>>>};
  real_time?: Numbers;
  clocks?: Record<string, Numbers>;
  [key: string]: unknown;
}

export type Vector = [number, number, number];

export interface GeometrySatellite {
  name: string;
  mass_kg?: number;
  inertia_kgm2?: number[];
  points?: Record<string, Vector>;
  robot?: {kind: string; delay_s: number | null; arm?: GeometryCarrier};
  /** Base64: float32 vertices in the body frame, uint16 triangles. */
  mesh?: {vertices: string; triangles: string};
  arm?: GeometryArm;
}

export interface GeometryPose {
  position: Vector;
  attitude: [number, number, number, number];
}

/** The arm in the laboratory: axes as they stand with all at zero, in base axes (freefloat/command.h). */
export interface GeometryCarrier {
  base: GeometryPose;
  flange: GeometryPose;
  tool: GeometryPose;
  /** In the flange's frame; absent where the sensor stands under what is touched. */
  sensor?: GeometryPose;
  rail?: {axis: Vector; lower: number; upper: number};
  axes: {offset: Vector; direction: Vector; lower: number; upper: number}[];
}

export interface GeometryArm {
  mount: GeometryPose;
  gripper: GeometryPose;
  links: {name: string; parent: number; joint: "revolute" | "prismatic" | "fixed"; q: number; pose: GeometryPose; axis: Vector}[];
}

export interface GeometryContact {
  name: string;
  kind: string;
  body: string;
  against: string | null;
  point?: Vector;
  at?: Vector;
  normal?: Vector;
  apex?: Vector;
  axis?: Vector;
  half_angle_rad?: number;
  depth_m?: number | null;
  stop_position?: (number | null)[];
}

export interface GeometryLimit {
  name: string;
  unit: string;
  limit: number;
  /** Its value is scale times the norm of these. */
  columns: string[];
  scale: number;
  trips: boolean;
}

export interface Geometry {
  satellites: GeometrySatellite[];
  contacts: GeometryContact[];
  /** The robots make the motion relative to the nominal one. */
  relative?: boolean;
  limits?: GeometryLimit[];
}

export interface Histogram extends Column {
  start: number;
  per_decade: number;
  count: number[];
}

export interface Run {
  label: string;
  summary: Summary;
  geometry: Geometry | null;
  contacts: Contact[];
  table: Table | null;
  cycles: number;
  /** Cycles per pair of rows; 1 when every cycle is kept. */
  bucket: number;
  /** Where every cycle is kept although a pair of rows elsewhere stands for several: from and to [s]. */
  whole: [number, number][];
  histograms: Histogram[];
}

export interface Report {
  title: string;
  generator: string;
  runs: Run[];
}

interface SeriesHeader {
  block: string;
  encoding: "raw" | "deflate";
  rows: number;
  cycles: number;
  bucket: number;
  whole: [number, number][];
  columns: (Column & {constant?: number | null})[];
  histograms: Histogram[];
}

class BlockTable implements Table {
  readonly columns: readonly Column[];
  readonly rows: number;
  readonly time: Float64Array;
  private readonly values = new Map<string, Float32Array>();
  private readonly units = new Map<string, string>();

  constructor(header: SeriesHeader, bytes: Uint8Array) {
    this.columns = header.columns;
    this.rows = header.rows;
    const n = header.rows;
    const read = header.encoding === "deflate" ? unpacker(bytes, n) : plainReader(bytes, n);
    this.time = new Float64Array(read(8));
    header.columns.forEach((column, index) => {
      this.units.set(column.name, column.unit);
      if (index === 0) return;
      this.values.set(column.name, column.constant !== undefined ? new Float32Array(n).fill(column.constant ?? NaN) : new Float32Array(read(4)));
    });
  }

  column(name: string): Float32Array | undefined {
    return this.values.get(name);
  }

  unit(name: string): string {
    return this.units.get(name) ?? "";
  }
}

type Reader = (size: 4 | 8) => ArrayBuffer;

function plainReader(bytes: Uint8Array, n: number): Reader {
  let at = 0;
  return (size) => bytes.slice(at, (at += n * size)).buffer as ArrayBuffer;
}

/** Reads n numbers after the other as host/report/pack.h writes them: 1 and their bytes by place, or 2 and second differences. */
function unpacker(bytes: Uint8Array, n: number): Reader {
  let at = 0;
  function planes(size: number): ArrayBuffer {
    const out = new Uint8Array(n * size);
    for (let k = 0; k < size; k++) for (let i = 0, o = k; i < n; i++, o += size) out[o] = bytes[at++]!;
    return out.buffer;
  }
  function differences32(): ArrayBuffer {
    const out = new Uint32Array(n);
    for (let i = 0, last = 0, before = 0; i < n; i++) {
      let z = 0;
      let shift = 0;
      for (; bytes[at]! > 127; shift += 7) z |= (bytes[at++]! & 127) << shift;
      z |= bytes[at++]! << shift;
      const value = ((z >>> 1) ^ -(z & 1)) + 2 * last - before;
      before = last;
      last = out[i] = value >>> 0;
    }
    return out.buffer;
  }
  function differences64(): ArrayBuffer {
    const out = new BigUint64Array(n);
    for (let i = 0, last = 0n, before = 0n; i < n; i++) {
      let z = 0n;
      let shift = 0n;
      for (; bytes[at]! > 127; shift += 7n) z |= BigInt(bytes[at++]! & 127) << shift;
      z |= BigInt(bytes[at++]!) << shift;
      const value = BigInt.asUintN(64, ((z >> 1n) ^ -(z & 1n)) + 2n * last - before);
      before = last;
      last = out[i] = value;
    }
    return out.buffer;
  }
  return (size) => (bytes[at++] === 1 ? planes(size) : size === 8 ? differences64() : differences32());
}

export function fromBase64(text: string): Uint8Array {
  const native = (Uint8Array as unknown as {fromBase64?: (text: string) => Uint8Array}).fromBase64;
  if (native) return native.call(Uint8Array, text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

async function inflate(bytes: Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([bytes as BlobPart]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Contacts of all satellites in order of start; a pair's, which stands under both, once. */
export function summaryContacts(summary: Summary): Contact[] {
  const all: Contact[] = [];
  const seen = new Set<string>();
  for (const [satellite, s] of Object.entries(summary.satellites ?? {}))
    for (const contact of s.contacts ?? []) {
      const key = `${contact.name}@${contact.start_s}`;
      if (seen.has(key)) continue;
      seen.add(key);
      all.push({...contact, satellite});
    }
  return all.sort((a, b) => a.start_s - b.start_s);
}

/** From the blocks of a page: the document's own, or another's. */
export async function readReport(document: {getElementById(id: string): {textContent: string | null} | null}): Promise<Report> {
  const text = (id: string): string => document.getElementById(id)?.textContent ?? "";
  const raw = JSON.parse(text("ff-data"));
  const runs: Run[] = [];
  for (const r of raw.runs) {
    const header: SeriesHeader | null = r.series;
    let table: Table | null = null;
    if (header) {
      const packed = fromBase64(text(header.block));
      table = new BlockTable(header, header.encoding === "deflate" ? await inflate(packed) : packed);
    }
    runs.push({
      label: r.label || r.summary.method || "run",
      summary: r.summary,
      geometry: r.geometry,
      contacts: r.contacts ?? summaryContacts(r.summary),
      table,
      cycles: header?.cycles ?? r.summary.cycles ?? 0,
      bucket: header?.bucket ?? 1,
      whole: header?.whole ?? [],
      histograms: header?.histograms ?? [],
    });
  }
  return {title: raw.title, generator: raw.generator, runs};
}

/** Index of the last row with time <= t, at least 0. */
export function rowAt(time: ArrayLike<number>, rows: number, t: number): number {
  let low = 0;
  let high = rows - 1;
  while (low < high) {
    const mid = (low + high + 1) >> 1;
    if (time[mid]! <= t) low = mid;
    else high = mid - 1;
  }
  return low;
}

/** Row whose time is nearest to t. */
export function nearestRow(time: ArrayLike<number>, rows: number, t: number): number {
  const i = rowAt(time, rows, t);
  return i + 1 < rows && time[i + 1]! - t < t - time[i]! ? i + 1 : i;
}

/** Columns interpolated linearly at time t; undefined if one of them is absent. */
export function sample(table: Table, names: readonly string[], t: number): number[] | undefined {
  if (table.rows === 0) return undefined;
  const i = rowAt(table.time, table.rows, t);
  const j = Math.min(i + 1, table.rows - 1);
  const span = table.time[j]! - table.time[i]!;
  const s = span > 0 ? Math.min(1, Math.max(0, (t - table.time[i]!) / span)) : 0;
  const out: number[] = [];
  for (const name of names) {
    const column = table.column(name);
    if (!column) return undefined;
    out.push(column[i]! + s * (column[j]! - column[i]!));
  }
  return out;
}

export const AXES = ["x", "y", "z"] as const;
export const vectorNames = (prefix: string): string[] => AXES.map((axis) => `${prefix}.${axis}`);
export const quaternionNames = (prefix: string): string[] => ["w", "x", "y", "z"].map((k) => `${prefix}.${k}`);

/** Largest magnitude of a column's finite values and the row where it stands. */
export function largest(values: ArrayLike<number>): {value: number; row: number} {
  let value = 0;
  let row = -1;
  for (let i = 0; i < values.length; i++) {
    const a = Math.abs(values[i]!);
    if (a > value || (row < 0 && a === a)) {
      value = a;
      row = i;
    }
  }
  return {value, row};
}

export function isConstant(values: ArrayLike<number>): boolean {
  for (let i = 1; i < values.length; i++) if (values[i] !== values[0] && !(values[i] !== values[i] && values[0] !== values[0])) return false;
  return true;
}

/** First row whose value exceeds the limit, or -1. */
export function firstAbove(values: ArrayLike<number>, limit: number): number {
  for (let i = 0; i < values.length; i++) if (values[i]! > limit) return i;
  return -1;
}

export function satelliteNames(run: Run): string[] {
  return Object.keys(run.summary.satellites ?? {});
}

/** A column that holds at least one finite number. */
export function filled(table: Table, name: string | undefined): boolean {
  const values = name ? table.column(name) : undefined;
  if (!values) return false;
  for (let i = 0; i < values.length; i++) if (Number.isFinite(values[i])) return true;
  return false;
}
