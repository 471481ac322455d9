// Satellites, robots, walls and forces in three dimensions at one instant. Draws only when something changed.
import {
  AmbientLight, ArrowHelper, AxesHelper, BoxGeometry, BufferAttribute, BufferGeometry, Color, ConeGeometry, DirectionalLight, DoubleSide, EdgesGeometry,
  GridHelper, Group, Line, LineBasicMaterial, LineDashedMaterial, LineSegments, Matrix4, Mesh, MeshBasicMaterial, MeshLambertMaterial,
  PerspectiveCamera, PlaneGeometry, Quaternion, Scene as World, SphereGeometry, Vector3, WebGLRenderer, type Material,
} from "three";
import {OrbitControls} from "three/examples/jsm/controls/OrbitControls.js";
import {h} from "./dom";
import {colour} from "./plots";
import {quaternionNames, rowAt, sample, vectorNames, type Geometry, type GeometryContact, type GeometrySatellite, type Table} from "./data";
import {Carrier, makeMockup, matrixOf, vector} from "./carrier";
import {busOf, cuboid, dispose, fillPath, makeArm, makeProbe, makeSatellite, meshOf, placeArm, principal, type Arm} from "./parts";

interface Body {
  name: string;
  group: Group;
  ghost: Group | null;
  ideal: Group | null;
  trail: Line;
  size: number;
  /** [m] from its middle to its label. */
  above: number;
  /** Where it starts, how far it is drawn from there, and its bus: half widths and attitude in the body frame. */
  start: Vector3;
  shift: Vector3;
  half: Vector3;
  turn: Quaternion;
  measured: ArrowHelper;
  corrected: ArrowHelper;
  torque: ArrowHelper;
  carrier: Carrier | null;
  /** Columns of where it is drawn, and of what it is compared with. */
  prefix: string;
  other: string;
  label: HTMLElement;
  arm: Arm | null;
  points: {contact: string; point: Vector3}[];
}

/** The way of a contact's point while it touches: pieces of a line, and the row that each belongs to. */
interface Scratch {
  body: Body;
  contact: string;
  point: Vector3;
  line: LineSegments;
  rows: number[];
}

/** orbit: the satellites as they move; lab: what stands on the ground, the robots by their axes. */
export type Side = "orbit" | "lab";

const SCRATCH = 2000; // pieces of a contact's way
const TINY = 1e-9; // [N m] of a torque: below it is rounding

/** Robots that are commanded a relative motion stand elsewhere; what they show in the inertial frame has columns of its own. */
const robotOf = (table: Table, name: string): string => (table.column(`${name}.inertial.position.x`) ? `${name}.inertial` : `${name}.robot`);

export const VIEWS = ["overview", "contact", "flange", "follow"] as const;
export type View = (typeof VIEWS)[number];

/** One WebGL context that draws for several scenes: each shows its picture on a canvas of its own. */
export class Painter {
  private readonly renderer = new WebGLRenderer({antialias: true, alpha: true});
  /** Pixels of the picture for one of the page; lowered where drawing is slow. */
  ratio = Math.min(2, devicePixelRatio);

  paint(canvas: HTMLCanvasElement, world: World, camera: PerspectiveCamera, width: number, height: number): void {
    const w = Math.max(1, Math.round(width * this.ratio));
    const h = Math.max(1, Math.round(height * this.ratio));
    if (canvas.width !== w || canvas.height !== h) {
      canvas.width = w;
      canvas.height = h;
    }
    const size = this.renderer.domElement;
    if (size.width < w || size.height < h) this.renderer.setSize(Math.max(size.width, w), Math.max(size.height, h), false);
    this.renderer.setViewport(0, 0, w, h);
    this.renderer.setScissor(0, 0, w, h);
    this.renderer.setScissorTest(true);
    this.renderer.setClearColor(new Color(colour("scene")), 1);
    this.renderer.render(world, camera);
    canvas.getContext("2d")!.drawImage(size, 0, size.height - h, w, h, 0, 0, w, h);
  }
}

export class Scene {
  readonly element = h("div", {class: "scene", tabindex: 0, role: "img", "aria-label": "Three-dimensional replay. Shift and arrow keys turn the view, plus and minus zoom, zero shows all."});
  lag = 1;
  private readonly renderer: WebGLRenderer | null;
  private readonly canvas: HTMLCanvasElement;
  private readonly world = new World();
  private readonly camera = new PerspectiveCamera(32, 1, 0.01, 1000);
  private readonly controls: OrbitControls;
  private readonly labels = h("div", {class: "labels", "aria-hidden": "true"});
  private bodies: Body[] = [];
  private walls: {label: HTMLElement; at: Vector3}[] = [];
  private scratches: Scratch[] = [];
  private nominal: {axes: AxesHelper; label: HTMLElement} | null = null;
  private torqueMax = 0;
  private table: Table | null = null;
  private content = new Group();
  private time = 0;
  private asked = false;
  private centre = new Vector3();
  private extent = 1;
  private forceMax = 0;
  private geometry: Geometry | null = null;
  private satellites: string[] = [];
  private following = true;
  frames = 0;

  /** Motion about the start is drawn so many times larger. */
  stretch = 1;
  /** Colour of the satellites, by the palette's index; null: each its own. */
  style: number | null = null;
  /** Where the view stands and how much it shows, instead of what the run itself needs: of scenes that are compared. */
  frame: {centre: Vector3; extent: number} | null = null;
  /** Of the extent, what the overview keeps about the middle. */
  room = 0.5;
  /** The user has turned the view. */
  onTurn: (scene: Scene) => void = () => {};

  /** painter: draws it together with others; null: by a context of its own. */
  constructor(private readonly painter: Painter | null = null, readonly side: Side = "orbit") {
    if (side === "lab") this.element.setAttribute("aria-label", "The laboratory in three dimensions: robots, mock-ups and what they touch. Shift and arrow keys turn the view, plus and minus zoom, zero shows all.");
    this.renderer = painter ? null : new WebGLRenderer({antialias: true, alpha: true, preserveDrawingBuffer: true});
    this.renderer?.setPixelRatio(Math.min(2, devicePixelRatio));
    this.canvas = this.renderer?.domElement ?? h("canvas");
    this.element.append(this.canvas, this.labels);
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.enableZoom = true;
    this.controls.addEventListener("change", () => {
      this.ask();
      this.onTurn(this);
    });
    this.controls.addEventListener("start", () => (this.following = false));
    // The wheel scrolls the page unless control is held.
    this.canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) event.stopImmediatePropagation();
    }, {capture: true});
    const sun = new DirectionalLight(0xffffff, 2.2);
    sun.position.set(2, -3, 5);
    this.world.add(new AmbientLight(0xffffff, 1.5), sun, this.content);
    new ResizeObserver(() => this.resize()).observe(this.element);
    this.element.addEventListener("keydown", (event) => this.key(event));
  }

  private key(event: KeyboardEvent): void {
    const turn = (azimuth: number, polar: number): void => {
      const offset = this.camera.position.clone().sub(this.controls.target);
      offset.applyAxisAngle(new Vector3(0, 0, 1), azimuth);
      const side = new Vector3(0, 0, 1).cross(offset).normalize();
      const angle = offset.angleTo(new Vector3(0, 0, 1));
      offset.applyAxisAngle(side, Math.min(Math.PI - 0.1, Math.max(0.1, angle + polar)) - angle);
      this.camera.position.copy(this.controls.target).add(offset);
      this.controls.update();
      this.ask();
    };
    const scale = (factor: number): void => {
      this.camera.position.sub(this.controls.target).multiplyScalar(factor).add(this.controls.target);
      this.controls.update();
      this.ask();
    };
    if (event.shiftKey) this.following = false;
    if (event.shiftKey && event.key === "ArrowLeft") turn(-0.1, 0);
    else if (event.shiftKey && event.key === "ArrowRight") turn(0.1, 0);
    else if (event.shiftKey && event.key === "ArrowUp") turn(0, -0.1);
    else if (event.shiftKey && event.key === "ArrowDown") turn(0, 0.1);
    else if (event.key === "+" || event.key === "=") scale(0.85);
    else if (event.key === "-") scale(1 / 0.85);
    else if (event.key === "0") this.fit();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  static possible(table: Table | null, satellites: string[]): boolean {
    return !!table && table.rows > 1 && satellites.some((name) => !!table.column(`${name}.position.x`));
  }

  /** A laboratory can be shown: some robot's axes are in the table. */
  static hasLab(table: Table | null, geometry: Geometry | null): boolean {
    return !!table && !!geometry?.satellites.some((s) => s.robot?.arm && table.column(`${s.name}.robot.axis.1.angle`) && table.column(`${s.name}.robot.position.x`));
  }

  private drawnAt(name: string): string {
    return this.side === "lab" ? `${name}.robot` : name;
  }

  setRun(table: Table, geometry: Geometry | null, satellites: string[]): void {
    if (this.side === "lab") this.stretch = 1;
    this.table = table;
    this.geometry = geometry;
    this.satellites = satellites;
    for (const child of [...this.content.children]) dispose(child);
    this.content.clear();
    this.labels.replaceChildren();
    this.bodies = [];
    this.walls = [];
    this.scratches = [];
    this.nominal = null;
    const low = new Vector3(Infinity, Infinity, Infinity);
    const high = low.clone().negate();
    let largestSize = 0;
    this.forceMax = this.torqueMax = 0;
    satellites.forEach((name, index) => {
      const columns = vectorNames(`${this.drawnAt(name)}.position`).map((c) => table.column(c));
      if (columns.some((c) => !c)) return;
      const info = geometry?.satellites.find((s) => s.name === name);
      const body = this.makeBody(name, index, info, geometry?.contacts ?? [], table, columns as ArrayLike<number>[]);
      this.bodies.push(body);
      largestSize = Math.max(largestSize, body.size);
      for (let i = 0; i < table.rows; i++) {
        const [x, y, z] = [0, 1, 2].map((k) => columns[k]![0]! + this.stretch * (columns[k]![i]! - columns[k]![0]!)) as [number, number, number];
        if (!Number.isFinite(x + y + z)) continue;
        low.set(Math.min(low.x, x), Math.min(low.y, y), Math.min(low.z, z));
        high.set(Math.max(high.x, x), Math.max(high.y, y), Math.max(high.z, z));
      }
      for (const place of body.carrier?.places() ?? []) {
        low.min(place);
        high.max(place).max(place.clone().setZ(place.z + 0.6 * body.carrier!.reach)); // and its elbow
      }
      const largestOf = (what: string): number => {
        const c = vectorNames(`${name}.${what}`).map((k) => table.column(k));
        let most = 0;
        if (c.every(Boolean)) for (let i = 0; i < table.rows; i++) most = Math.max(most, Math.hypot(c[0]![i]!, c[1]![i]!, c[2]![i]!) || 0);
        return most;
      };
      this.forceMax = Math.max(this.forceMax, largestOf("force_measured"));
      this.torqueMax = Math.max(this.torqueMax, largestOf("torque_corrected"));
    });
    if (this.bodies.length === 0) return;
    this.centre.addVectors(low, high).multiplyScalar(0.5);
    // A growing table needs room beforehand: for the motion to come and for the arrows.
    this.extent = Math.max(high.distanceTo(low), 0) + (table.capacity ? 2.4 : 2.1) * largestSize;
    if (this.frame) {
      this.centre.copy(this.frame.centre);
      this.extent = this.frame.extent;
    }
    for (const contact of geometry?.contacts ?? []) {
      this.part(contact);
      this.makeContact(contact);
      this.makeScratch(contact);
    }
    this.fillScratches();
    if (geometry?.relative) this.makeNominal();
    const grid = new GridHelper(this.extent * 3, 24, colour("grid"), colour("grid"));
    grid.rotateX(Math.PI / 2);
    const feet = this.bodies.flatMap((b) => b.carrier?.places().map((p) => p.z - 0.08 * b.carrier!.reach) ?? []);
    grid.position.set(this.centre.x, this.centre.y, feet.length ? Math.min(...feet) : low.z - largestSize * 0.95);
    this.content.add(grid);
    this.lag = this.niceLag(largestSize);
    this.fit();
    this.setTime(this.time);
  }

  /** The table has grown: longer trails, larger forces, and a wider view once something leaves it. */
  grow(): void {
    const table = this.table;
    if (!table || table.rows === 0) return;
    const last = table.rows - 1;
    for (const body of this.bodies) {
      const columns = vectorNames(`${body.prefix}.position`).map((c) => table.column(c)!);
      const here = new Vector3(columns[0]![last], columns[1]![last], columns[2]![last]);
      if (Number.isFinite(here.x + here.y + here.z) && here.distanceTo(this.centre) > 0.45 * this.extent) {
        const {position} = this.camera.clone();
        const away = position.sub(this.controls.target);
        const before = this.extent;
        this.setRun(table, this.geometry, this.satellites);
        this.camera.position.copy(this.controls.target).addScaledVector(away, this.extent / before);
        this.controls.update();
        return;
      }
      const path = body.trail.geometry.getAttribute("position") as BufferAttribute;
      fillPath(path.array as Float32Array, table.rows, columns, this.stretch);
      path.needsUpdate = true;
      const f = vectorNames(`${body.name}.force_measured`).map((c) => table.column(c)?.[last] ?? 0);
      this.forceMax = Math.max(this.forceMax, Math.hypot(f[0]!, f[1]!, f[2]!) || 0);
      const m = vectorNames(`${body.name}.torque_corrected`).map((c) => table.column(c)?.[last] ?? 0);
      this.torqueMax = Math.max(this.torqueMax, Math.hypot(m[0]!, m[1]!, m[2]!) || 0);
    }
    if (this.grown++ % 30 === 0) this.fillScratches();
    if (!this.following || this.side === "lab") return;
    // The view drifts along with the bodies until the user takes it.
    const middle = new Vector3();
    for (const body of this.bodies) middle.addScaledVector(body.group.position, 1 / this.bodies.length);
    const shift = middle.sub(this.controls.target).multiplyScalar(0.08);
    if (!Number.isFinite(shift.length())) return;
    this.camera.position.add(shift);
    this.controls.target.add(shift);
    this.controls.update();
  }

  private grown = 0;
  /** The factor for the lag that suits what was seen so far. */
  suitLag(): number {
    const size = Math.max(0, ...this.bodies.map((b) => b.size));
    if (this.table && size > 0) this.setLag(this.niceLag(size));
    return this.lag;
  }

  /** A round factor that makes the largest distance between robot and satellite about a tenth of a box. */
  private niceLag(size: number): number {
    const table = this.table!;
    let far = 0;
    for (const body of this.bodies) {
      const a = vectorNames(`${body.prefix}.position`).map((c) => table.column(c));
      const b = vectorNames(`${body.other}.position`).map((c) => table.column(c));
      if (!b.every(Boolean)) continue;
      for (let i = 0; i < table.rows; i++)
        far = Math.max(far, Math.hypot(a[0]![i]! - b[0]![i]!, a[1]![i]! - b[1]![i]!, a[2]![i]! - b[2]![i]!) || 0);
    }
    far *= this.stretch;
    if (!(far > 0) || far > 0.05 * size) return 1;
    const wanted = (0.12 * size) / far;
    return [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].filter((k) => k <= wanted).pop() ?? 1;
  }

  private makeBody(name: string, index: number, info: GeometrySatellite | undefined, contacts: GeometryContact[], table: Table, position: ArrayLike<number>[]): Body {
    const inertia = info?.inertia_kgm2 ?? [1, 1, 1, 0, 0, 0];
    const {moments, axes} = principal(inertia);
    const [a, b, c] = info?.mass_kg ? cuboid(info.mass_kg, moments) : [0.5, 0.5, 0.5];
    let size = Math.max(a, b, c);
    const basis = new Matrix4().makeBasis(
      new Vector3(axes[0]![0], axes[1]![0], axes[2]![0]), new Vector3(axes[0]![1], axes[1]![1], axes[2]![1]), new Vector3(axes[0]![2], axes[1]![2], axes[2]![2]));
    if (basis.determinant() < 0) basis.scale(new Vector3(1, 1, -1));
    const turn = new Quaternion().setFromRotationMatrix(basis);
    // A grasp holds the body's surface: a box that would hold its place inside is pushed until its face is there.
    const push = new Vector3();
    const held = contacts.find((k) => k.kind === "grasp" && k.against === name && k.at);
    let met: Vector3 | null = null;
    if (held) {
      met = vector(held.at).applyQuaternion(turn.clone().invert());
      const at = vector(held.at).applyQuaternion(turn.clone().invert()).toArray();
      const out = at.map((x, k) => Math.abs(x) / [a, b, c][k]!);
      const far = out.indexOf(Math.max(...out));
      push.setComponent(far, -Math.sign(at[far]!) * Math.max(0, (0.5 - out[far]!) * [a, b, c][far]!)).applyQuaternion(turn);
    }
    // The panels stand along the axis that is farthest from every contact's normal.
    const normals = contacts.filter((k) => (k.body === name || k.against === name) && k.normal).map((k) => vector(k.normal).normalize().applyQuaternion(turn.clone().invert()));
    const meets = (k: number): number => Math.max(0, ...normals.map((n) => Math.abs(n.getComponent(k))));
    const wing = [1, 2, 0].reduce((best, k) => (meets(k) < meets(best) - 0.05 ? k : best));
    const mesh = meshOf(info);
    const bus = busOf([a, b, c], met);
    const box = mesh ?? new BoxGeometry(...bus.size).translate(...bus.centre.toArray());
    const edges = new EdgesGeometry(box, mesh ? 25 : 1);
    if (mesh) {
      mesh.computeBoundingBox();
      size = Math.max(...mesh.boundingBox!.getSize(new Vector3()).toArray());
      turn.identity(); // its vertices are in the body frame
    }
    const shell = (solid: boolean, style: string): Group => {
      const group = new Group();
      const inner = new Group();
      inner.quaternion.copy(turn);
      if (!mesh) inner.position.copy(push);
      if (solid && mesh) {
        inner.add(new Mesh(box, new MeshLambertMaterial({color: colour("body"), polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1})));
        inner.add(new LineSegments(edges, new LineBasicMaterial({color: colour("ink"), transparent: true, opacity: 0.55})));
      } else if (solid) {
        inner.add(makeSatellite(bus, wing, `line-${(this.style ?? index) % 8}`));
      } else {
        const line = style === "soft" ? new LineDashedMaterial({color: colour(style), dashSize: size / 24, gapSize: size / 30}) : new LineBasicMaterial({color: colour(style)});
        const wires = new LineSegments(edges, line);
        wires.computeLineDistances();
        inner.add(wires);
      }
      group.add(inner);
      this.content.add(group);
      return group;
    };
    const lab = this.side === "lab";
    const carrier = lab && info?.robot?.arm && table.column(`${name}.robot.axis.1.angle`) ? new Carrier(info.robot.arm) : null;
    const prefix = this.drawnAt(name);
    const other = lab ? `${name}.command` : robotOf(table, name);
    const group = carrier ? new Group() : shell(true, "");
    if (carrier) {
      // On the ground there is no bus: what is bolted to the flange reaches to where it touches.
      const touched = contacts.flatMap((k) => (k.body === name && !info?.arm ? [vector(k.point)] : k.against === name && k.kind === "grasp" ? [vector(k.at)] : []));
      const carried = info?.arm ? [vector(info.arm.mount.position)] : [];
      group.add(makeMockup(info!.robot!.arm!, touched, carried, carrier.reach));
      const outline = 0.5 * size < carrier.reach ? shell(false, "soft") : null;
      if (outline) group.add(outline);
      this.content.add(group, carrier.group);
      size = 0.25 * carrier.reach;
    }
    if (mesh) group.userData.mesh = true;
    const faces: [number, number, number] = [a, b, c];
    for (const k of contacts)
      if (!carrier && k.body === name && k.kind !== "grasp" && !info?.arm) {
        const probe = makeProbe(faces, vector(k.point).applyQuaternion(turn.clone().invert()), size);
        probe.quaternion.copy(turn);
        group.add(probe);
      }
    const dot = new SphereGeometry(size * 0.02, 12, 8);
    for (const [point, r] of Object.entries(info?.points ?? {})) {
      if (point === "com") continue;
      const mesh = new Mesh(dot, new MeshBasicMaterial({color: colour("ink")}));
      mesh.position.copy(vector(r));
      group.add(mesh);
    }
    // Beside the satellite its robot; beside the robot what it is commanded, as a frame at the flange.
    const ghost = !table.column(`${other}.position.x`) ? null : carrier ? this.makeMark(info!.robot!.arm!, carrier.reach) : shell(false, "ghost");
    const ideal = !lab && table.column(`${name}.ideal.position.x`) ? shell(false, "soft") : null;
    const path = new Float32Array(3 * (table.capacity ?? table.rows));
    fillPath(path, table.rows, position, this.stretch);
    const trailGeometry = new BufferGeometry();
    trailGeometry.setAttribute("position", new BufferAttribute(path, 3));
    const trail = new Line(trailGeometry, new LineBasicMaterial({color: colour(`line-${(this.style ?? index) % 8}`), depthTest: false, transparent: true}));
    trail.frustumCulled = false;
    trail.renderOrder = 2;
    const arrow = (name: string): ArrowHelper => {
      const helper = new ArrowHelper(new Vector3(1, 0, 0), new Vector3(), 1, colour(name), size * 0.12, size * 0.06);
      for (const part of [helper.line, helper.cone]) {
        (part.material as Material).depthTest = false;
        (part.material as Material).transparent = true; // drawn after the boxes, over them
        part.renderOrder = 3;
      }
      this.content.add(helper);
      return helper;
    };
    this.content.add(trail);
    const torque = arrow("line-3");
    torque.add(torque.cone.clone()); // two heads: a torque
    const arm = info?.arm && table.column(`${name}.joint.1.angle`) ? makeArm(info.arm) : null;
    if (arm) group.add(arm.group);
    const label = h("span", {class: "label3"}, name);
    this.labels.append(label);
    return {
      above: carrier ? 0.3 * size : 0.72 * (mesh || bus.long < 0 ? size : Math.max(...bus.size.filter((_s, k) => k !== bus.long))), carrier, prefix, other, torque, name, group, ghost, ideal, trail, size, label, arm, start: vector(position.map((c) => c[0]!)), shift: new Vector3(), half: vector([a / 2, b / 2, c / 2]), turn,
      measured: arrow("pale-force"), corrected: arrow("force"),
      points: contacts.filter((k) => k.body === name).map((k) => ({contact: k.name, point: vector(k.point)})),
    };
  }

  /** Where the flange should be: its plate as an outline. */
  private makeMark(arm: NonNullable<NonNullable<GeometrySatellite["robot"]>["arm"]>, reach: number): Group {
    const group = new Group();
    const plate = new LineSegments(new EdgesGeometry(new BoxGeometry(0.09 * reach, 0.09 * reach, 0.02 * reach)), new LineBasicMaterial({color: colour("ghost")}));
    matrixOf(arm.tool).invert().decompose(plate.position, plate.quaternion, new Vector3());
    group.add(plate);
    this.content.add(group);
    return group;
  }

  private makeScratch(contact: GeometryContact): void {
    const body = this.bodies.find((b) => b.name === contact.body);
    if (!body || !this.table || body.arm || contact.kind === "grasp" || !this.table.column(`contact.${contact.name}.touching`)) return;
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(6 * SCRATCH), 3));
    const line = new LineSegments(geometry, new LineBasicMaterial({color: colour("force"), depthTest: false, transparent: true}));
    line.frustumCulled = false;
    line.renderOrder = 2;
    this.content.add(line);
    this.scratches.push({body, contact: contact.name, point: vector(contact.point), line, rows: []});
  }

  /** At most SCRATCH pieces of each: of a longer contact every so many rows. */
  private fillScratches(): void {
    const table = this.table;
    if (!table) return;
    for (const s of this.scratches) {
      const touching = table.column(`contact.${s.contact}.touching`)!;
      const columns = [...vectorNames(`${s.body.prefix}.position`), ...quaternionNames(`${s.body.prefix}.attitude`)].map((c) => table.column(c));
      if (columns.some((c) => !c)) continue;
      let count = 0;
      for (let i = 0; i < table.rows; i++) count += Number(touching[i]! > 0);
      const stride = Math.ceil(Math.max(1, count / SCRATCH));
      const path = s.line.geometry.getAttribute("position") as BufferAttribute;
      const last = new Vector3();
      let before = -1;
      s.rows = [];
      for (let i = 0; i < table.rows; i += stride) {
        if (!(touching[i]! > 0)) {
          before = -1;
          continue;
        }
        const [x, y, z, qw, qx, qy, qz] = columns.map((c) => c![i]!) as [number, number, number, number, number, number, number];
        const at = s.point.clone().applyQuaternion(new Quaternion(qx, qy, qz, qw)).add(new Vector3(x, y, z).sub(s.body.start).multiplyScalar(this.stretch).add(s.body.start).add(s.body.shift));
        if (before >= 0 && s.rows.length < SCRATCH) {
          path.setXYZ(2 * s.rows.length, last.x, last.y, last.z);
          path.setXYZ(2 * s.rows.length + 1, at.x, at.y, at.z);
          s.rows.push(i);
        }
        last.copy(at);
        before = i;
      }
      path.needsUpdate = true;
    }
  }

  /** The frame that the robots' motion is relative to: on the ground it stands still. */
  private makeNominal(): void {
    const axes = new AxesHelper(0.12 * this.extent);
    axes.setColors(colour("line-4"), colour("line-2"), colour("line-0"));
    this.content.add(axes);
    const label = h("span", {class: "label3"}, "nominal frame");
    this.labels.append(label);
    this.nominal = {axes, label};
  }

  private placeNominal(t: number): void {
    const {nominal, table} = this;
    if (!nominal || !table || this.side === "lab") return;
    const name = this.bodies[0]?.name ?? "";
    const pose = (prefix: string): Matrix4 | null => {
      const p = sample(table, vectorNames(`${prefix}.position`), t);
      const q = sample(table, quaternionNames(`${prefix}.attitude`), t);
      return p && q && [...p, ...q].every(Number.isFinite) ? matrixOf({position: p, attitude: q}) : null;
    };
    const there = pose(`${name}.inertial`);
    const here = pose(`${name}.robot`);
    nominal.axes.visible = !!there && !!here;
    if (there && here) there.multiply(here.invert()).decompose(nominal.axes.position, nominal.axes.quaternion, new Vector3());
  }

  /** Where a robot's flange is drawn; null: none is. */
  flange(name: string): number[] | null {
    const carrier = this.bodies.find((b) => b.name === name)?.carrier;
    return carrier && !carrier.lost ? new Vector3().setFromMatrixPosition(carrier.flange).toArray() : null;
  }

  /** Which axis of which robot is nearest to the end of its range, or that one is out of reach; "" in orbit. */
  ranges(): string {
    const robots = this.bodies.filter((b) => b.carrier);
    const lost = robots.find((b) => b.carrier!.lost);
    if (lost) return `${lost.name}: out of the robot's reach`;
    const first = robots.reduce<Body | null>((a, b) => (!a || (b.carrier!.nearest?.share ?? 0) > (a.carrier!.nearest?.share ?? 0) ? b : a), null);
    const nearest = first?.carrier!.nearest;
    return first && nearest ? `${robots.length > 1 ? `${first.name}: ` : ""}axis ${nearest.axis} is nearest to its end, ${Math.round((nearest.left * 180) / Math.PI)}° left` : "";
  }

  private makeContact(contact: GeometryContact): void {
    const lab = this.side === "lab";
    if (lab && this.geometry?.relative && !contact.against) return; // it does not stand in the laboratory
    const owner = contact.against ? this.bodies.find((b) => b.name === contact.against)?.group : this.content;
    if (!owner) return;
    const material = new MeshLambertMaterial({color: colour("wall"), transparent: true, opacity: 0.32, side: DoubleSide, depthWrite: false});
    if ((contact.kind === "wall" || contact.kind === "pair") && contact.at && contact.normal) {
      const size = lab ? Math.max(...this.bodies.map((b) => b.size)) * 0.9 : contact.kind === "wall" ? this.extent * 1.05 : this.extent * 0.4;
      const normal = vector(contact.normal).normalize();
      const group = new Group();
      group.add(new Mesh(new PlaneGeometry(size, size), material));
      const grid = new GridHelper(size, 8, colour("wall"), colour("wall"));
      grid.rotateX(Math.PI / 2);
      (grid.material as Material).transparent = true;
      (grid.material as Material).opacity = 0.55;
      group.add(grid);
      group.quaternion.setFromUnitVectors(new Vector3(0, 0, 1), normal);
      const at = vector(contact.at);
      if (contact.kind === "wall") {
        // The plane is endless; it is drawn around the motion, and where the satellite's face or probe meets it when its point does.
        const foot = lab ? (this.bodies.find((b) => b.name === contact.body) ?? this.bodies[0]!).start.clone() : this.centre.clone();
        foot.addScaledVector(normal, (lab ? at.dot(normal) : this.wallAt(contact, normal, at)) - foot.dot(normal));
        group.position.copy(foot);
        const name = h("span", {class: "label3 wall-label"}, contact.name);
        this.labels.append(name);
        this.walls.push({label: name, at: foot.clone().add((Math.abs(normal.z) > 0.8 ? new Vector3(0.5 * size, 0, 0) : new Vector3(0, 0, 0.5 * size)).projectOnPlane(normal))});
      } else {
        group.position.copy(at);
      }
      owner.add(group);
    } else if (contact.kind === "stops" && contact.stop_position) {
      // Where the body's point may go; an axis without stop is drawn as wide as the view.
      const [a, b, c] = [0, 1, 2].map((k) => 2 * Math.min(contact.stop_position![k] ?? Infinity, this.extent * 0.5)) as [number, number, number];
      const frame = new LineSegments(new EdgesGeometry(new BoxGeometry(a, b, c)), new LineBasicMaterial({color: colour("wall")}));
      owner.add(frame);
    } else if (contact.kind === "cone" && contact.axis && contact.half_angle_rad) {
      const depth = contact.depth_m ?? (lab ? 0.3 : this.extent * 0.3);
      const geometry = new ConeGeometry(depth * Math.tan(contact.half_angle_rad), depth, 40, 1, true);
      geometry.translate(0, -depth / 2, 0);
      const mesh = new Mesh(geometry, material);
      mesh.add(new LineSegments(new EdgesGeometry(geometry, 1), new LineBasicMaterial({color: colour("wall"), transparent: true, opacity: 0.4})));
      mesh.quaternion.setFromUnitVectors(new Vector3(0, -1, 0), vector(contact.axis).normalize());
      mesh.position.copy(vector(contact.apex));
      owner.add(mesh);
    }
  }

  /** Two satellites whose motion is drawn larger start as much farther apart, so that they touch when they do. */
  private part(contact: GeometryContact): void {
    const body = this.bodies.find((b) => b.name === contact.body);
    const against = this.bodies.find((b) => b.name === contact.against);
    if (!body || !against || !this.table || contact.kind !== "pair" || !contact.normal || body.shift.lengthSq() > 0) return;
    const turned = ([body, against] as const).map((b) => {
      const q = sample(this.table!, quaternionNames(`${b.name}.attitude`), this.table!.time[0]!) ?? [1, 0, 0, 0];
      return new Quaternion(q[1], q[2], q[3], q[0]);
    });
    const normal = vector(contact.normal).normalize().applyQuaternion(turned[1]!);
    const at = vector(contact.at).applyQuaternion(turned[1]!).add(against.start);
    const gap = vector(contact.point).applyQuaternion(turned[0]!).add(body.start).sub(at).dot(normal);
    body.shift.copy(normal).multiplyScalar((this.stretch - 1) * gap);
    body.trail.position.copy(body.shift);
  }

  /** How much larger motions should be drawn so that the first satellite moves by about its own size: a round factor. */
  suggest(table: Table, geometry: Geometry | null, satellites: string[]): number {
    const info = geometry?.satellites[0];
    const columns = vectorNames(`${satellites[0]}.position`).map((c) => table.column(c));
    if (!info?.mass_kg || columns.some((c) => !c)) return 1;
    const size = Math.max(...cuboid(info.mass_kg, principal(info.inertia_kgm2 ?? [1, 1, 1, 0, 0, 0]).moments));
    let far = 0;
    for (let i = 0; i < table.rows; i++) far = Math.max(far, Math.hypot(...columns.map((c) => c![i]! - c![0]!)) || 0);
    return [1, 2, 5, 10, 20, 50].filter((k) => k * far <= 1.3 * size).pop() ?? 1;
  }

  /** Where a wall stands along its normal: as far from what touches it, drawn larger, as it really is. */
  private wallAt(contact: GeometryContact, normal: Vector3, at: Vector3): number {
    const body = this.bodies.find((b) => b.name === contact.body) ?? this.bodies[0];
    if (!body || !this.table) return at.dot(normal);
    const q = sample(this.table, quaternionNames(`${body.name}.attitude`), this.table.time[0]!) ?? [1, 0, 0, 0];
    const turned = new Quaternion(q[1], q[2], q[3], q[0]);
    const point = vector(contact.point).applyQuaternion(turned);
    const axes = normal.clone().applyQuaternion(turned.clone().multiply(body.turn).invert());
    const bus = body.group.userData.mesh ? 0 : body.half.x * Math.abs(axes.x) + body.half.y * Math.abs(axes.y) + body.half.z * Math.abs(axes.z);
    const reach = Math.max(bus, -point.dot(normal));
    const gap = body.start.clone().add(point).sub(at).dot(normal);
    return body.start.dot(normal) - reach - this.stretch * gap;
  }

  fit(): void {
    this.goal = "overview";
    this.following = true;
    const distance = (this.extent * this.room) / Math.tan((this.camera.fov * Math.PI) / 360) / Math.min(1, this.camera.aspect * 0.85);
    this.camera.position.copy(this.centre).add(this.lookFrom().multiplyScalar(distance));
    this.camera.near = distance / 200;
    this.camera.far = distance * 20;
    this.camera.updateProjectionMatrix();
    this.controls.target.copy(this.centre);
    this.controls.update();
    this.ask();
  }

  /** Two bodies are seen from the side on which neither hides the other when they first touch. */
  private lookFrom(): Vector3 {
    const from = new Vector3(0.75, -1.15, 0.62).normalize();
    const [a, b] = this.bodies;
    const {table} = this;
    if (!a || !b || !table || table.capacity) return from;
    const touching = (this.geometry?.contacts ?? []).map((c) => table.column(`contact.${c.name}.touching`)).find((c) => c);
    let row = table.rows - 1;
    for (let i = 0; touching && i < table.rows; i++) if (touching[i]! > 0) {
      row = i;
      break;
    }
    const [p, q] = [a, b].map((body) => vector(vectorNames(`${body.prefix}.position`).map((c) => table.column(c)?.[row] ?? 0)));
    const line = q!.sub(p!).setZ(0);
    if (!(line.length() > 0.1 * this.extent)) return from;
    const across = new Vector3(-line.y, line.x, 0).normalize();
    if (across.dot(from) < 0) across.negate();
    return across.multiplyScalar(1.2).addScaledVector(line.normalize(), 0.35).setZ(0.55).normalize();
  }

  private goal: View = "overview";
  /** Where the camera looks: at the flange, in orbit at the robot; else at the satellite. */
  private goalPlace(body: Body): Vector3 {
    if (this.goal !== "flange") return body.group.position;
    return body.carrier ? new Vector3().setFromMatrixPosition(body.carrier.flange) : body.ghost?.position ?? body.group.position;
  }

  /** A place for the camera; `follow` and `flange` go along from now on. */
  setView(view: View): void {
    this.goal = view;
    if (view === "overview") return this.fit();
    const body = this.bodies[0];
    if (!body) return;
    const touched = body.points[0]?.point.clone().applyQuaternion(body.group.quaternion).add(body.group.position);
    const at = view === "contact" && touched ? touched : this.goalPlace(body);
    const away = new Vector3(0.75, -1.15, 0.45).normalize().multiplyScalar((view === "contact" ? 1.3 : view === "flange" ? 1.6 : 2.6) * body.size / Math.tan((this.camera.fov * Math.PI) / 360) / 2);
    this.following = false;
    this.controls.target.copy(at);
    this.camera.position.copy(at).add(away);
    this.controls.update();
    this.ask();
  }

  /** Keeps what the camera follows where it is in the picture. */
  private accompany(): void {
    const body = this.bodies[0];
    if (!body || (this.goal !== "follow" && this.goal !== "flange")) return;
    const at = this.goalPlace(body);
    const shift = at.clone().sub(this.controls.target);
    this.controls.target.add(shift);
    this.camera.position.add(shift);
    this.camera.updateMatrixWorld();
  }

  /** What a run of this table needs: for the frame of others that are compared with it. */
  view(): {centre: Vector3; extent: number} {
    return {centre: this.centre.clone(), extent: this.extent};
  }

  /** The same camera as another scene's. */
  follow(other: Scene): void {
    if (other === this) return;
    this.following = other.following;
    this.camera.position.copy(other.camera.position);
    this.camera.quaternion.copy(other.camera.quaternion);
    this.controls.target.copy(other.controls.target);
    this.ask();
  }

  setLag(factor: number): void {
    this.lag = factor;
    this.setTime(this.time);
  }

  setTime(t: number): void {
    this.time = t;
    const table = this.table;
    if (!table) return;
    for (const body of this.bodies) {
      const place = (group: Group | null, prefix: string): boolean => {
        if (!group) return false;
        const p = sample(table, vectorNames(`${prefix}.position`), t);
        const q = sample(table, quaternionNames(`${prefix}.attitude`), t);
        group.visible = !!p && p.every(Number.isFinite);
        if (!group.visible) return false;
        group.position.set(p![0]!, p![1]!, p![2]!).sub(body.start).multiplyScalar(this.stretch).add(body.start).add(body.shift);
        if (q && q.every(Number.isFinite)) group.quaternion.set(q[1]!, q[2]!, q[3]!, q[0]!).normalize();
        return true;
      };
      if (!place(body.group, body.prefix)) continue;
      if (body.carrier) {
        const axes = body.carrier.info.axes.map((_a, k) => `${body.name}.robot.axis.${k + 1}.angle`);
        body.carrier.place(sample(table, axes, t), sample(table, [`${body.name}.robot.rail`], t)?.[0] ?? 0);
      }
      place(body.ideal, `${body.name}.ideal`);
      if (body.arm) placeArm(body.arm, sample(table, body.arm.info.links.filter((l) => l.q >= 0).map((l) => `${body.name}.joint.${l.q + 1}.angle`), t));
      if (place(body.ghost, body.other)) {
        // The lag in position is drawn larger, the one in attitude as well, about the satellite's own pose.
        const here = body.group.position;
        body.ghost!.position.sub(here).multiplyScalar(this.lag).add(here);
        const turn = body.group.quaternion.clone().invert().multiply(body.ghost!.quaternion);
        if (turn.w < 0) turn.set(-turn.x, -turn.y, -turn.z, -turn.w);
        const half = Math.acos(Math.min(1, turn.w));
        if (half > 1e-9) {
          const axis = new Vector3(turn.x, turn.y, turn.z).normalize();
          const angle = Math.min(2 * half * this.lag, 0.6);
          body.ghost!.quaternion.copy(body.group.quaternion).multiply(new Quaternion().setFromAxisAngle(axis, Math.max(angle, 2 * half)));
        }
      }
      body.trail.geometry.setDrawRange(0, rowAt(table.time, table.rows, t) + 1);
      const touched = body.points.find((p) => (sample(table, [`contact.${p.contact}.touching`], t)?.[0] ?? 0) > 0) ?? body.points[0];
      const at = (touched?.point ?? new Vector3()).clone().applyQuaternion(body.group.quaternion).add(body.group.position);
      const arrows = [[body.measured, "force_measured", this.forceMax, at, 1], [body.corrected, "force_corrected", this.forceMax, at, 1], [body.torque, "torque_corrected", this.torqueMax, body.group.position, 0.6]] as const;
      for (const [arrow, column, most, from, scale] of arrows) {
        const f = sample(table, vectorNames(`${body.name}.${column}`), t);
        const force = vector(f).applyQuaternion(body.group.quaternion);
        const size = force.length();
        arrow.visible = Number.isFinite(size) && !!f && most > TINY && size > 1e-3 * most;
        if (!arrow.visible) continue;
        arrow.position.copy(from);
        arrow.setDirection(force.normalize());
        const length = scale * body.size * (0.12 + 1.0 * Math.min(1.5, size / most));
        arrow.setLength(length, body.size * 0.12, body.size * 0.06);
        const second = arrow.children[2];
        if (second) {
          second.scale.copy(arrow.cone.scale);
          second.position.set(0, length - body.size * 0.1, 0);
        }
      }
    }
    for (const s of this.scratches) s.line.geometry.setDrawRange(0, 2 * rowAt(s.rows, s.rows.length, rowAt(table.time, table.rows, t)) + (s.rows.length ? 2 : 0) * Number((s.rows[0] ?? Infinity) <= rowAt(table.time, table.rows, t)));
    this.placeNominal(t);
    this.accompany();
    this.ask();
  }

  restyle(geometry: Geometry | null, satellites: string[]): void {
    const {position, quaternion} = this.camera.clone();
    const target = this.controls.target.clone();
    const lag = this.lag;
    if (!this.table) return;
    this.setRun(this.table, geometry, satellites);
    this.camera.position.copy(position);
    this.camera.quaternion.copy(quaternion);
    this.controls.target.copy(target);
    this.setLag(lag);
  }

  resize(): void {
    const width = this.element.clientWidth;
    const height = this.element.clientHeight;
    if (!width || !height) return;
    this.renderer?.setSize(width, height);
    const before = this.camera.aspect;
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    if (this.frames === 0 || Math.abs(before - this.camera.aspect) > 0.3) this.fit();
    this.render();
  }

  private ask(): void {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => this.render());
  }

  render(): void {
    this.asked = false;
    this.frames++;
    const width = this.element.clientWidth;
    const height = this.element.clientHeight;
    if (this.renderer) {
      this.renderer.setClearColor(new Color(colour("scene")), 1);
      this.renderer.render(this.world, this.camera);
    } else if (width && height) {
      this.painter!.paint(this.canvas, this.world, this.camera, width, height);
    }
    const label = (element: HTMLElement, at: Vector3): void => {
      const p = at.clone().project(this.camera);
      element.style.transform = `translate(-50%, -100%) translate(${((p.x + 1) / 2) * width}px, ${((1 - p.y) / 2) * height}px)`;
    };
    for (const body of this.bodies) label(body.label, body.group.position.clone().add(new Vector3(0, 0, body.above)));
    for (const wall of this.walls) label(wall.label, wall.at);
    if (this.nominal) label(this.nominal.label, this.nominal.axes.localToWorld(new Vector3(0, 0, 0.13 * this.extent)));
  }

  /** A picture of the current view (printing, tests). */
  picture(): string {
    this.render();
    return this.canvas.toDataURL("image/png");
  }
}
