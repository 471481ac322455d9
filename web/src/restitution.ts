// Restitution of one contact: speed along the wall's normal after over before, at the point that touches.
import {quaternionNames, sample, vectorNames, type Contact, type Run, type Table} from "./data";

type V = number[];
const dot = (a: V, b: V): number => a[0]! * b[0]! + a[1]! * b[1]! + a[2]! * b[2]!;
const cross = (a: V, b: V): V => [a[1]! * b[2]! - a[2]! * b[1]!, a[2]! * b[0]! - a[0]! * b[2]!, a[0]! * b[1]! - a[1]! * b[0]!];
function rotate(q: V, v: V): V {
  const u = [q[1]!, q[2]!, q[3]!];
  const t = cross(u, v).map((x) => 2 * x);
  const s = cross(u, t);
  return v.map((x, i) => x + q[0]! * t[i]! + s[i]!);
}

function speedAlong(table: Table, prefix: string, t: number, normal: V | null, point: V): number | null {
  const v = sample(table, vectorNames(`${prefix}.velocity`), t);
  if (!v) return null;
  if (!normal) return Math.hypot(...v);
  const q = sample(table, quaternionNames(`${prefix}.attitude`), t);
  const w = sample(table, vectorNames(`${prefix}.angular_velocity`), t);
  const total = q && w ? v.map((x, i) => x + rotate(q, cross(w, point))[i]!) : v;
  return dot(total, normal);
}

/** Of the simulated satellite, between the contact's start and end. */
export function restitution(run: Run, contact: Contact): number | null {
  if (!run.table || !contact.satellite || contact.end_s === null) return null;
  const shape = run.geometry?.contacts.find((c) => c.name === contact.name);
  const wall = shape?.kind === "wall" && shape.normal ? shape.normal : null;
  const step = run.summary.cycle_s ?? 0;
  return ratio(run.table, contact.satellite, contact.start_s - step, contact.end_s, wall, shape?.point ?? [0, 0, 0]);
}

function ratio(table: Table, prefix: string, from: number, to: number, wall: V | null, point: V): number | null {
  const before = speedAlong(table, prefix, from, wall, point);
  const after = speedAlong(table, prefix, to, wall, point);
  if (before === null || after === null || Math.abs(before) < 1e-12) return null;
  const e = wall ? -after / before : after / before;
  return Number.isFinite(e) ? e : null;
}

/** Of the ideal satellite at every contact with one wall, in order: where its point is inside the wall. */
export function idealRestitutions(run: Run, name: string, satellite: string): (number | null)[] {
  const {table} = run;
  const shape = run.geometry?.contacts.find((c) => c.name === name);
  if (!table || shape?.kind !== "wall" || !shape.normal || !shape.at) return [];
  const prefix = `${satellite}.ideal`;
  const x = vectorNames(`${prefix}.position`).map((n) => table.column(n));
  const q = quaternionNames(`${prefix}.attitude`).map((n) => table.column(n));
  if (!x.every(Boolean) || !q.every(Boolean)) return [];
  const point = shape.point ?? [0, 0, 0];
  const out: (number | null)[] = [];
  let start = -1;
  for (let i = 0; i < table.rows; i++) {
    const arm = rotate(q.map((c) => c![i]!), point);
    const p = x.map((c, k) => c![i]! + arm[k]! - shape.at![k]!);
    const inside = dot(p, shape.normal) < 0;
    if (inside && start < 0) start = i;
    if (!inside && start >= 0) {
      out.push(ratio(table, prefix, table.time[Math.max(0, start - 1)]!, table.time[i]!, shape.normal, point));
      start = -1;
    }
  }
  return out;
}
