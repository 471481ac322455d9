// The arm that carries a mock-up in the laboratory, from the logged axes by the kinematics of lib/include/freefloat/command.h: capsules, rail,
// flange, sensor, and what is bolted on.
import {
  BoxGeometry, CylinderGeometry, Group, Matrix4, Mesh, MeshLambertMaterial, Quaternion, SphereGeometry, Vector3, type BufferGeometry, type Color,
} from "three";
import {colour} from "./plots";
import type {GeometryCarrier} from "./data";

export const vector = (v: readonly number[] | undefined): Vector3 => new Vector3(v?.[0] ?? 0, v?.[1] ?? 0, v?.[2] ?? 0);
export const matrixOf = (pose: {position: readonly number[]; attitude: readonly number[]}): Matrix4 =>
  new Matrix4().compose(vector(pose.position), new Quaternion(pose.attitude[1], pose.attitude[2], pose.attitude[3], pose.attitude[0]), new Vector3(1, 1, 1));

const UP = new Vector3(0, 1, 0);
const ROD = new CylinderGeometry(1, 1, 1, 14);
const BALL = new SphereGeometry(1, 14, 10);
/** Shared by all: never disposed of. */
export const SHARED = new Set<BufferGeometry>([ROD, BALL]);

/** A rod between two points, with a ball at its end: together a capsule. */
export class Capsule {
  readonly group = new Group();
  private readonly rod: Mesh;
  private readonly ball: Mesh;

  constructor(private readonly radius: number, material: MeshLambertMaterial) {
    this.rod = new Mesh(ROD, material);
    this.ball = new Mesh(BALL, material);
    this.ball.scale.setScalar(radius);
    this.group.add(this.rod, this.ball);
  }

  set(from: Vector3, to: Vector3): void {
    const along = to.clone().sub(from);
    const length = along.length();
    this.rod.visible = length > 0.05 * this.radius;
    this.ball.position.copy(to);
    if (!this.rod.visible) return;
    this.rod.position.copy(from).addScaledVector(along, 0.5);
    this.rod.quaternion.setFromUnitVectors(UP, along.divideScalar(length));
    this.rod.scale.set(this.radius, length, this.radius);
  }
}

export const paint = (name: string): MeshLambertMaterial => new MeshLambertMaterial({color: colour(name)});

/** Of a joint's range: 0 in its middle, 1 at an end. */
export const shareOf = (q: number, lower: number, upper: number): number => Math.abs(2 * q - lower - upper) / (upper - lower);

/** What a joint's place in its range looks like: grey, from 80 % orange, from 95 % red. */
const rangeColour = (share: number): string => (share > 0.95 ? "bad" : share > 0.8 ? "ghost" : "wall");

export interface Nearest {
  axis: number;
  /** [rad] to the end of its range. */
  left: number;
  share: number;
}

export class Carrier {
  readonly group = new Group();
  /** [m] of the stretched arm. */
  readonly reach: number;
  /** Of the flange in the world, as last placed. */
  readonly flange = new Matrix4();
  nearest: Nearest | null = null;
  lost = false;
  private readonly links: Capsule[] = [];
  private readonly drums: Mesh[] = [];
  private readonly hand = new Group();
  private readonly carriage = new Group();
  private readonly base: Matrix4;
  private readonly materials: MeshLambertMaterial[] = [];

  constructor(readonly info: GeometryCarrier) {
    this.base = matrixOf(info.base);
    this.reach = info.axes.reduce((sum, a, i) => sum + (i > 0 ? vector(a.offset).length() : 0), vector(info.flange.position).length());
    const r = this.reach;
    const body = paint("robot");
    this.materials.push(body);
    const radius = (k: number): number => r * (0.036 - 0.02 * (k / info.axes.length));
    info.axes.forEach((_axis, k) => {
      const link = new Capsule(radius(k), body);
      const mine = paint("wall");
      this.materials.push(mine);
      const drum = new Mesh(ROD, mine);
      drum.scale.set(1.22 * radius(k), 2.5 * radius(k), 1.22 * radius(k));
      this.links.push(link);
      this.drums.push(drum);
      this.group.add(link.group, drum);
    });
    const last = new Capsule(radius(info.axes.length), body);
    this.links.push(last);
    // Foot, and the rail under it.
    const foot = new Mesh(new CylinderGeometry(0.07 * r, 0.085 * r, 0.04 * r, 24), paint("wall"));
    foot.rotation.x = Math.PI / 2;
    foot.position.z = -0.02 * r;
    this.carriage.add(foot);
    if (info.rail) {
      const axis = vector(info.rail.axis).normalize();
      const length = info.rail.upper - info.rail.lower;
      const rail = new Group();
      for (const side of [-1, 1]) {
        const beam = new Mesh(new BoxGeometry(length + 0.2 * r, 0.02 * r, 0.03 * r), paint("wall"));
        beam.position.set(0, side * 0.07 * r, -0.065 * r);
        rail.add(beam);
      }
      rail.quaternion.setFromUnitVectors(new Vector3(1, 0, 0), axis);
      rail.position.copy(axis).multiplyScalar((info.rail.upper + info.rail.lower) / 2);
      rail.applyMatrix4(this.base);
      this.group.add(rail);
    }
    // Flange and sensor, in the flange's frame: z points out of it.
    const disc = (name: string, size: number, thick: number): Mesh => {
      const mesh = new Mesh(new CylinderGeometry(size * r, size * r, thick * r, 24), paint(name));
      mesh.rotation.x = Math.PI / 2;
      return mesh;
    };
    const plate = disc("ink", 0.028, 0.012);
    plate.position.z = -0.006 * r;
    this.hand.add(plate);
    if (info.sensor) {
      const sensor = new Group();
      const puck = disc("line-7", 0.024, 0.02);
      puck.position.z = 0.01 * r;
      sensor.add(puck);
      matrixOf(info.sensor).decompose(sensor.position, sensor.quaternion, new Vector3());
      this.hand.add(sensor);
    }
    this.group.add(last.group, this.carriage, this.hand);
  }

  /** Where it stands, for the camera: foot and, on a rail, both ends. */
  places(): Vector3[] {
    const at = (s: number): Vector3 => vector(this.info.rail?.axis).normalize().multiplyScalar(s).applyMatrix4(this.base);
    return this.info.rail ? [at(this.info.rail.lower), at(this.info.rail.upper)] : [new Vector3().setFromMatrixPosition(this.base)];
  }

  /** q [rad], rail [m]; undefined or not finite: out of reach, the arm stays pale where it was. */
  place(q: number[] | undefined, rail: number): void {
    const {info} = this;
    this.lost = !q || !q.every(Number.isFinite);
    for (const m of this.materials) {
      m.transparent = this.lost;
      m.opacity = this.lost ? 0.3 : 1;
    }
    if (!q || this.lost) return;
    const base = this.base.clone();
    if (info.rail) base.multiply(new Matrix4().makeTranslation(vector(info.rail.axis).normalize().multiplyScalar(Number.isFinite(rail) ? rail : 0)));
    base.decompose(this.carriage.position, this.carriage.quaternion, new Vector3());
    const turn = new Quaternion();
    const at = new Vector3();
    let before = at.clone().applyMatrix4(base);
    this.nearest = null;
    info.axes.forEach((axis, k) => {
      at.add(vector(axis.offset).applyQuaternion(turn));
      const direction = vector(axis.direction).normalize();
      const here = at.clone().applyMatrix4(base);
      this.links[k]!.set(before, here);
      const drum = this.drums[k]!;
      drum.position.copy(here);
      drum.quaternion.setFromUnitVectors(UP, direction.clone().applyQuaternion(turn).applyQuaternion(this.carriage.quaternion));
      turn.multiply(new Quaternion().setFromAxisAngle(direction, q[k]!));
      const share = shareOf(q[k]!, axis.lower, axis.upper);
      ((drum.material as MeshLambertMaterial).color as Color).set(colour(rangeColour(share)));
      if (!this.nearest || share > this.nearest.share) this.nearest = {axis: k + 1, share, left: Math.min(q[k]! - axis.lower, axis.upper - q[k]!)};
      before = here;
    });
    this.flange.copy(base).multiply(new Matrix4().compose(at, turn, new Vector3(1, 1, 1))).multiply(matrixOf(info.flange));
    this.flange.decompose(this.hand.position, this.hand.quaternion, new Vector3());
    this.links[info.axes.length]!.set(before, this.hand.position);
  }
}

/** What is bolted to the flange, in the body's frame: an adapter from the flange to everything that is touched or carried, and tips there. */
export function makeMockup(info: GeometryCarrier, points: Vector3[], carried: Vector3[], reach: number): Group {
  const group = new Group();
  const material = paint("body");
  const flange = new Vector3().setFromMatrixPosition(matrixOf(info.tool).invert());
  const rod = (to: Vector3, radius: number): void => {
    const capsule = new Capsule(radius, material);
    capsule.set(flange, to);
    group.add(capsule.group);
  };
  for (const p of carried) rod(p, 0.018 * reach);
  for (const p of points) {
    rod(p, 0.012 * reach);
    const tip = new Mesh(BALL, paint("line-0"));
    tip.scale.setScalar(0.016 * reach);
    tip.position.copy(p);
    group.add(tip);
  }
  return group;
}
