// What stands in a scene: satellites, arms, and the geometry behind them.
import {
  BoxGeometry, BufferAttribute, BufferGeometry, CylinderGeometry, DoubleSide, EdgesGeometry, Group, LineBasicMaterial, LineSegments, Matrix4, Mesh, MeshBasicMaterial,
  MeshLambertMaterial, PlaneGeometry, Quaternion, SphereGeometry, TorusGeometry, Vector3, type Material, type Object3D,
} from "three";
import {colour} from "./plots";
import {fromBase64, type GeometryArm, type GeometryPose, type GeometrySatellite} from "./data";

export const vector = (v: readonly number[] | undefined): Vector3 => new Vector3(v?.[0] ?? 0, v?.[1] ?? 0, v?.[2] ?? 0);

/** A servicer's arm: joints as balls, links as strokes between them, the gripper as a small cross. */
export interface Arm {
  info: GeometryArm;
  group: Group;
  joints: Mesh[];
  strokes: LineSegments;
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

const matrixOf = (pose: GeometryPose): Matrix4 =>
  new Matrix4().compose(vector(pose.position), new Quaternion(pose.attitude[1], pose.attitude[2], pose.attitude[3], pose.attitude[0]), new Vector3(1, 1, 1));

export function makeArm(info: GeometryArm, size: number): Arm {
  const group = new Group();
  const ball = new SphereGeometry(size * 0.02, 14, 10);
  const joints = info.links.map((l) => {
    const mesh = new Mesh(ball, new MeshLambertMaterial({color: colour(l.joint === "fixed" ? "soft" : "line-1")}));
    group.add(mesh);
    return mesh;
  });
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(new Float32Array(6 * (info.links.length + 1)), 3));
  const strokes = new LineSegments(geometry, new LineBasicMaterial({color: colour("ink")}));
  strokes.frustumCulled = false;
  const gripper = new Group();
  const cross = new BufferGeometry();
  const r = size * 0.06;
  cross.setAttribute("position", new BufferAttribute(new Float32Array([-r, 0, 0, r, 0, 0, 0, -r, 0, 0, r, 0, 0, 0, 0, 0, 0, r]), 3));
  gripper.add(new LineSegments(cross, new LineBasicMaterial({color: colour("line-1")})));
  group.add(strokes, gripper);
  // Seen through the boxes: an arm reaches into what it grasps.
  group.traverse((o) => {
    const m = (o as Mesh).material as Material | undefined;
    if (!m) return;
    m.depthTest = false;
    m.transparent = true;
    o.renderOrder = 2;
  });
  return {info, group, joints, strokes, gripper};
}

/** Forward kinematics in the base's frame: each link's frame is its parent's, its pose, then its joint. */
export function placeArm(arm: Arm, q: number[] | undefined): void {
  arm.group.visible = !!q && q.every(Number.isFinite);
  if (!arm.group.visible) return;
  const mount = matrixOf(arm.info.mount);
  const frames: Matrix4[] = [];
  const path = arm.strokes.geometry.getAttribute("position") as BufferAttribute;
  const at = new Vector3();
  arm.info.links.forEach((link, i) => {
    const parent = link.parent < 0 ? mount : frames[link.parent]!;
    const frame = parent.clone().multiply(matrixOf(link.pose));
    const axis = vector(link.axis).normalize();
    if (link.joint === "revolute") frame.multiply(new Matrix4().makeRotationAxis(axis, q![link.q]!));
    else if (link.joint === "prismatic") frame.multiply(new Matrix4().makeTranslation(axis.multiplyScalar(q![link.q]!)));
    frames.push(frame);
    at.setFromMatrixPosition(parent);
    path.setXYZ(2 * i, at.x, at.y, at.z);
    at.setFromMatrixPosition(frame);
    path.setXYZ(2 * i + 1, at.x, at.y, at.z);
    arm.joints[i]!.position.copy(at);
  });
  const last = frames.length;
  const end = frames[last - 1]!.clone().multiply(matrixOf(arm.info.gripper));
  path.setXYZ(2 * last, at.x, at.y, at.z);
  at.setFromMatrixPosition(end);
  path.setXYZ(2 * last + 1, at.x, at.y, at.z);
  path.needsUpdate = true;
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
    mesh.geometry?.dispose();
    for (const m of Array.isArray(mesh.material) ? mesh.material : mesh.material ? [mesh.material] : []) m.dispose();
  });
}

/** A satellite around its bus of a x b x c: edges, a marked face, two panels along the axis that no contact needs, a ring behind. All of it is
 * drawn for the eye: mass and inertia are the bus's. */
export function makeSatellite(size: [number, number, number], wing: number, tint: string): Group {
  const group = new Group();
  const [a, b, c] = size;
  const bus = new BoxGeometry(a, b, c);
  const paint = (name: string, opacity = 1): MeshLambertMaterial => new MeshLambertMaterial({color: colour(name), transparent: opacity < 1, opacity, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1});
  const lines = (opacity: number): LineBasicMaterial => new LineBasicMaterial({color: colour("ink"), transparent: true, opacity});
  group.add(new Mesh(bus, paint("body")), new LineSegments(new EdgesGeometry(bus), lines(0.6)));
  const mark = new Mesh(new PlaneGeometry(b * 0.5, c * 0.5), new MeshBasicMaterial({color: colour(tint), side: DoubleSide}));
  mark.rotation.set(0, Math.PI / 2, 0);
  mark.position.set(a * 0.503, 0, 0);
  group.add(mark);
  // Panels: thin, in three fields, on a short boom.
  const span = 0.95 * size[wing]!;
  const across = wing === 2 ? 1 : 2;
  const wide = 0.62 * Math.min(size[across]!, size[(wing + 1) % 3]!, size[(wing + 2) % 3]!);
  for (const side of [-1, 1]) {
    const panel = new Group();
    const boom = new Mesh(new CylinderGeometry(0.012 * span, 0.012 * span, 0.12 * span, 8), paint("wall"));
    boom.position.y = side * (0.5 * size[wing]! + 0.06 * span);
    panel.add(boom);
    for (let k = 0; k < 3; k++) {
      const field = new BoxGeometry(wide, (0.96 * span) / 3, 0.015 * span);
      const mesh = new Mesh(field, paint("panel"));
      mesh.position.y = side * (0.5 * size[wing]! + 0.12 * span + (span * (k + 0.5)) / 3);
      mesh.add(new LineSegments(new EdgesGeometry(field), lines(0.45)));
      panel.add(mesh);
    }
    panel.quaternion.setFromUnitVectors(new Vector3(0, 1, 0), new Vector3().setComponent(wing, 1));
    group.add(panel);
  }
  const radius = 0.22 * Math.min(b, c);
  const ring = new Mesh(new TorusGeometry(radius, 0.16 * radius, 8, 28), paint("wall"));
  ring.rotation.set(0, Math.PI / 2, 0);
  ring.position.set(-a * 0.5 - 0.1 * radius, 0, 0);
  const bell = new Mesh(new CylinderGeometry(0.45 * radius, 0.85 * radius, 0.7 * radius, 24, 1, true), paint("wall"));
  (bell.material as MeshLambertMaterial).side = DoubleSide;
  bell.rotation.set(0, 0, -Math.PI / 2);
  bell.position.set(-a * 0.5 - 0.35 * radius, 0, 0);
  group.add(ring, bell);
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
