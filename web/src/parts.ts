// What stands in a scene: satellites, arms, and the geometry behind them.
import {
  BoxGeometry, BufferAttribute, BufferGeometry, CylinderGeometry, DoubleSide, EdgesGeometry, Group, LineBasicMaterial, LineSegments, Matrix4, Mesh, MeshBasicMaterial,
  MeshLambertMaterial, PlaneGeometry, SphereGeometry, TorusGeometry, Vector3, type Object3D,
} from "three";
import {colour} from "./plots";
import {Capsule, matrixOf, paint, SHARED, vector} from "./carrier";
import {fromBase64, type GeometryArm, type GeometrySatellite} from "./data";

/** A servicer's arm: a capsule to each joint, the gripper as two fingers. */
export interface Arm {
  info: GeometryArm;
  group: Group;
  links: Capsule[];
  gripper: Group;
}

/** Principal axes of a symmetric matrix [xx, yy, zz, xy, xz, yz] by Jacobi rotations: moments and columns. */
export function principal(j: number[]): {moments: number[]; axes: number[][]} {
  const a = [[j[0]!, j[3]!, j[4]!], [j[3]!, j[1]!, j[5]!], [j[4]!, j[5]!, j[2]!]];
  const v = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
  for (let sweep = 0; sweep < 30; sweep++) {
    for (const [p, q] of [[0, 1], [0, 2], [1, 2]] as const) {
      if (Math.abs(a[p]![q]!) < 1e-14 * (Math.abs(a[p]![p]!) + Math.abs(a[q]![q]!))) continue;
      const theta = 0.5 * Math.atan2(2 * a[p]![q]!, a[q]![q]! - a[p]![p]!);
      const c = Math.cos(theta);
      const s = Math.sin(theta);
      for (let k = 0; k < 3; k++) {
        const x = a[k]![p]!;
        const y = a[k]![q]!;
        a[k]![p] = c * x - s * y;
        a[k]![q] = s * x + c * y;
      }
      for (let k = 0; k < 3; k++) {
        const x = a[p]![k]!;
        const y = a[q]![k]!;
        a[p]![k] = c * x - s * y;
        a[q]![k] = s * x + c * y;
        const u = v[k]![p]!;
        const w = v[k]![q]!;
        v[k]![p] = c * u - s * w;
        v[k]![q] = s * u + c * w;
      }
    }
  }
  return {moments: [a[0]![0]!, a[1]![1]!, a[2]![2]!], axes: v};
}

/** Edges of the solid cuboid with this mass and these principal moments. */
export function cuboid(mass: number, moments: number[]): [number, number, number] {
  const [x, y, z] = moments as [number, number, number];
  const edge = (sum: number): number => Math.max(0.02, Math.sqrt(Math.max(0, (6 / mass) * sum)));
  return [edge(y + z - x), edge(x + z - y), edge(x + y - z)];
}

export function meshOf(info: GeometrySatellite | undefined): BufferGeometry | null {
  if (!info?.mesh) return null;
  const vertices = new Float32Array(fromBase64(info.mesh.vertices).buffer.slice(0));
  const triangles = new Uint16Array(fromBase64(info.mesh.triangles).buffer.slice(0));
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(vertices, 3));
  geometry.setIndex(new BufferAttribute(triangles, 1));
  const flat = geometry.toNonIndexed(); // sharp edges stay sharp
  geometry.dispose();
  flat.computeVertexNormals();
  return flat;
}

export function makeArm(info: GeometryArm): Arm {
  const size = 1.5 * info.links.reduce((sum, l) => sum + vector(l.pose.position).length(), vector(info.gripper.position).length());
  const group = new Group();
  const link = paint("robot");
  const links = info.links.map((l) => new Capsule(size * (l.joint === "fixed" ? 0.012 : 0.018), link));
  links.push(new Capsule(size * 0.012, link));
  const gripper = new Group();
  for (const side of [-1, 1]) {
    const finger = new Mesh(new BoxGeometry(0.014 * size, 0.03 * size, 0.06 * size), paint("line-1"));
    finger.position.set(0.024 * size * side, 0, -0.012 * size);
    gripper.add(finger);
  }
  group.add(...links.map((l) => l.group), gripper);
  return {info, group, links, gripper};
}

/** Forward kinematics in the base's frame: each link's frame is its parent's, its pose, then its joint. */
export function placeArm(arm: Arm, q: number[] | undefined): void {
  arm.group.visible = !!q && q.every(Number.isFinite);
  if (!arm.group.visible) return;
  const mount = matrixOf(arm.info.mount);
  const frames: Matrix4[] = [];
  const place = (m: Matrix4): Vector3 => new Vector3().setFromMatrixPosition(m);
  arm.info.links.forEach((link, i) => {
    const parent = link.parent < 0 ? mount : frames[link.parent]!;
    const frame = parent.clone().multiply(matrixOf(link.pose));
    const axis = vector(link.axis).normalize();
    if (link.joint === "revolute") frame.multiply(new Matrix4().makeRotationAxis(axis, q![link.q]!));
    else if (link.joint === "prismatic") frame.multiply(new Matrix4().makeTranslation(axis.multiplyScalar(q![link.q]!)));
    frames.push(frame);
    arm.links[i]!.set(place(parent), place(frame));
  });
  const last = frames[frames.length - 1]!;
  const end = last.clone().multiply(matrixOf(arm.info.gripper));
  arm.links[frames.length]!.set(place(last), place(end));
  end.decompose(arm.gripper.position, arm.gripper.quaternion, new Vector3());
}

/** Motion about the start, `stretch` times larger; a gap stays where it was. */
export function fillPath(path: Float32Array, rows: number, position: ArrayLike<number>[], stretch: number): void {
  for (let i = 0; i < rows; i++)
    for (let k = 0; k < 3; k++) {
      const value = position[k]![0]! + stretch * (position[k]![i]! - position[k]![0]!);
      path[3 * i + k] = Number.isFinite(value) ? value : i > 0 ? path[3 * i + k - 3]! : 0;
    }
}

export function dispose(object: Object3D): void {
  object.traverse((o) => {
    const mesh = o as Mesh;
    if (!SHARED.has(mesh.geometry)) mesh.geometry?.dispose();
    for (const m of Array.isArray(mesh.material) ? mesh.material : mesh.material ? [mesh.material] : []) m.dispose();
  });
}

/** A body that is long for its width carries its length in a panel: the bus is the part of the cuboid at the end that is met first. */
export interface Bus {
  size: [number, number, number];
  centre: Vector3;
  /** Axis of the one long panel; -1: two of them across. */
  long: number;
  /** Which end of it the bus is at. */
  end: number;
}

export function busOf(size: [number, number, number], met: Vector3 | null): Bus {
  const long = size.findIndex((s, k) => s > 2 * Math.max(size[(k + 1) % 3]!, size[(k + 2) % 3]!));
  const bus: Bus = {size: [...size], centre: new Vector3(), long, end: 0};
  if (long < 0) return bus;
  bus.end = met && met.getComponent(long) !== 0 ? Math.sign(met.getComponent(long)) : -1;
  bus.size[long] = 0.6 * size[long]!;
  bus.centre.setComponent(long, bus.end * 0.2 * size[long]!);
  return bus;
}

/** A satellite around its bus of a x b x c: edges, a marked face, panels along the axis that no contact needs (or one long panel), a nozzle in its ring
 * at the other end. All of it is drawn for the eye: mass and inertia are the cuboid's. */
export function makeSatellite(bus: Bus, wing: number, tint: string): Group {
  const group = new Group();
  const {size, long, end} = bus;
  const [a, b, c] = size;
  const box = new BoxGeometry(a, b, c);
  const solid = (name: string): MeshLambertMaterial => new MeshLambertMaterial({color: colour(name), polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1});
  const lines = (opacity: number): LineBasicMaterial => new LineBasicMaterial({color: colour("ink"), transparent: true, opacity});
  group.add(new Mesh(box, solid("body")), new LineSegments(new EdgesGeometry(box), lines(0.6)));
  const mark = new Mesh(new PlaneGeometry(b * 0.5, c * 0.5), new MeshBasicMaterial({color: colour(tint), side: DoubleSide}));
  mark.rotation.set(0, Math.PI / 2, 0);
  mark.position.set(a * 0.503, 0, 0);
  if (long !== 0) group.add(mark);
  // Panels: thin, in fields, on a short boom.
  const panel = (axis: number, side: number, span: number, wide: number, fields: number): void => {
    const all = new Group();
    const boom = new Mesh(new CylinderGeometry(0.015 * span, 0.015 * span, 0.14 * span, 8), solid("wall"));
    boom.position.y = side * (0.5 * size[axis]! + 0.07 * span);
    all.add(boom);
    for (let k = 0; k < fields; k++) {
      const field = new BoxGeometry(wide, (0.97 * span) / fields, 0.012 * span);
      const mesh = new Mesh(field, solid("panel"));
      mesh.position.y = side * (0.5 * size[axis]! + 0.14 * span + (span * (k + 0.5)) / fields);
      mesh.add(new LineSegments(new EdgesGeometry(field), lines(0.45)));
      all.add(mesh);
    }
    all.quaternion.setFromUnitVectors(new Vector3(0, 1, 0), new Vector3().setComponent(axis, 1));
    group.add(all);
  };
  if (long >= 0) {
    panel(long, -end, 0.95 * size[long]!, 1.05 * Math.max(...size.filter((_s, k) => k !== long)), 7);
    // A dish and an antenna across: an observer of the earth.
    const side = (long + 1) % 3;
    const flat = new BoxGeometry(...([0, 1, 2].map((k) => (k === side ? 0.03 * size[long]! : k === long ? 0.85 * size[k]! : 0.32 * size[k]!)) as [number, number, number]));
    const antenna = new Mesh(flat, solid("wall"));
    antenna.position.setComponent(side, -0.5 * size[side]! - 0.02 * size[long]!);
    antenna.add(new LineSegments(new EdgesGeometry(flat), lines(0.45)));
    group.add(antenna);
  } else {
    const across = wing === 2 ? 1 : 2;
    const wide = 0.62 * Math.min(size[across]!, size[(wing + 1) % 3]!, size[(wing + 2) % 3]!);
    for (const side of [-1, 1]) panel(wing, side, 0.95 * size[wing]!, wide, 3);
  }
  // The ring that it stood on at launch, around the nozzle.
  const axis = long >= 0 ? long : 0;
  const sign = long >= 0 ? end : -1;
  const radius = (long >= 0 ? 0.3 : 0.22) * Math.min(size[(axis + 1) % 3]!, size[(axis + 2) % 3]!);
  const back = new Group();
  const ring = new Mesh(new TorusGeometry(radius, 0.16 * radius, 8, 28), solid("wall"));
  ring.rotation.x = Math.PI / 2;
  const bell = new Mesh(new CylinderGeometry(0.85 * radius, 0.45 * radius, 0.7 * radius, 24, 1, true), solid("wall"));
  (bell.material as MeshLambertMaterial).side = DoubleSide;
  bell.position.y = 0.25 * radius;
  back.add(ring, bell);
  back.quaternion.setFromUnitVectors(new Vector3(0, 1, 0), new Vector3().setComponent(axis, sign));
  back.position.setComponent(axis, sign * (0.5 * size[axis]! + 0.1 * radius));
  group.add(back);
  group.position.copy(bus.centre);
  return group;
}

/** A rod from the bus to the point that touches, where that lies outside, and its tip. */
export function makeProbe(size: [number, number, number], point: Vector3, largest: number): Group {
  const group = new Group();
  const paint = new MeshLambertMaterial({color: colour("wall")});
  const share = Math.max(...point.toArray().map((x, k) => (2 * Math.abs(x)) / size[k]!));
  const tip = new Mesh(new SphereGeometry(0.022 * largest, 14, 10), paint);
  tip.position.copy(point);
  group.add(tip);
  if (share > 1) {
    const from = point.clone().divideScalar(share);
    const rod = point.clone().sub(from);
    const mesh = new Mesh(new CylinderGeometry(0.014 * largest, 0.02 * largest, rod.length(), 12), paint);
    mesh.position.copy(from).addScaledVector(rod, 0.5);
    mesh.quaternion.setFromUnitVectors(new Vector3(0, 1, 0), rod.clone().normalize());
    group.add(mesh);
  }
  return group;
}
