// The replay of report and live page: the orbit, the laboratory, or both beside each other, drawn by one WebGL context.
import {h} from "./dom";
import {Painter, Scene, VIEWS, type Side, type View} from "./scene";
import {sample, vectorNames, type Geometry, type Table} from "./data";

const CHOICES = {orbit: "orbit", lab: "laboratory", both: "orbit and laboratory"} as const;
type Choice = keyof typeof CHOICES;
/** Robots that the scenario says nothing about but how late they are: their arms are stand-ins. */
const PLAIN = new Set(["ideal", "delay", "lag", "limited", "wrench", "mujoco"]);

export class Stage {
  readonly element = h("div", {class: "scenes"});
  readonly legend = h("div", {class: "scene-legend"});
  /** The user has chosen the factor by which the lag is drawn. */
  lagChosen = false;
  private readonly painter = new Painter();
  private readonly scenes = new Map<Side, Scene>();
  private choice: Choice | null = null;
  private table: Table | null = null;
  private geometry: Geometry | null = null;
  private names: string[] = [];
  private time = 0;
  private readonly view = h("select", {id: "view", "aria-label": "Camera", change: () => this.shown().forEach((s) => s.setView(this.view.value as View))}, ...VIEWS.map((v) => h("option", {value: v}, v)));
  private readonly sides = h("select", {id: "side", "aria-label": "What is shown", change: () => this.choose(this.sides.value as Choice)}, ...Object.entries(CHOICES).map(([value, text]) => h("option", {value}, text)));
  private readonly lag = h("select", {id: "lag", change: () => {
    this.lagChosen = true;
    this.shown().forEach((s) => s.setLag(Number(this.lag.value)));
  }});
  private readonly ranges = h("span", {class: "ranges"});
  private readonly rates = h("span", {class: "rates"});

  /** Throws without WebGL. wide: both sides are shown. */
  constructor(private readonly onWide: (wide: boolean) => void) {
    this.scene("orbit");
  }

  private scene(side: Side): Scene {
    let scene = this.scenes.get(side);
    if (!scene) this.scenes.set(side, (scene = new Scene(this.painter, side)));
    return scene;
  }

  private shown(): Scene[] {
    return this.choice === "both" ? [this.scene("orbit"), this.scene("lab")] : [this.scene(this.choice ?? "orbit")];
  }

  setRun(table: Table, geometry: Geometry | null, names: string[]): void {
    this.table = table;
    this.geometry = geometry;
    this.names = names;
    const lab = Scene.hasLab(table, geometry);
    this.sides.hidden = !lab;
    if (!lab) this.choice = "orbit";
    else this.choice ??= geometry?.relative || geometry?.satellites.some((s) => !PLAIN.has(s.robot?.kind ?? "ideal")) ? "both" : "orbit";
    this.choose(this.choice);
  }

  private choose(choice: Choice): void {
    this.choice = choice;
    this.sides.value = choice;
    const {table} = this;
    const shown = this.shown();
    this.element.classList.toggle("two", shown.length > 1);
    this.element.replaceChildren(...shown.map((s) => (shown.length > 1 ? h("figure", {}, s.element, h("figcaption", {}, s.side === "lab" ? "Laboratory" : "Orbit")) : s.element)));
    this.onWide(shown.length > 1);
    if (table) for (const scene of shown) {
      scene.setRun(table, this.geometry, this.names);
      if (this.view.value !== "overview") scene.setView(this.view.value as View);
      scene.setTime(this.time);
    }
    this.fillLegend();
  }

  private fillLegend(): void {
    const {table} = this;
    const lab = this.choice !== "orbit";
    const orbit = this.choice !== "lab";
    const first = this.shown()[0]!;
    const factors = [...new Set([1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, first.lag])].sort((a, b) => a - b);
    this.lag.replaceChildren(...factors.map((k) => h("option", {value: k, selected: k === first.lag}, `× ${k}`)));
    const hasGhost = this.names.some((n) => table?.column(`${n}.robot.position.x`));
    const key = (name: string, text: string): HTMLElement => h("span", {}, h("i", {class: `key ${name}`}), text);
    this.legend.replaceChildren(
      ...(orbit ? [key("solid", "satellite")] : []),
      ...(hasGhost ? [h("span", {}, h("i", {class: "key ghost"}), orbit ? (lab ? "robot, command: lag drawn " : "robot, its lag drawn ") : "command, its lead drawn ", h("label", {class: "hidden", for: "lag"}, "Factor by which the robot's lag is drawn"), this.lag)] : []),
      ...(orbit ? [key("ideal", "ideal")] : []),
      key("force", "force"), key("torque", "torque"),
      ...(lab ? [this.ranges] : []),
      ...(this.turning() ? [this.rates] : []),
      h("span", {class: "views"}, this.sides, this.view, h("button", {type: "button", class: "quiet small", click: () => {
        this.view.value = "overview";
        this.fit();
      }}, "Reset view")),
    );
  }

  setTime(t: number): void {
    this.time = t;
    for (const scene of this.shown()) scene.setTime(t);
    const text = this.scenes.get("lab")?.ranges() ?? "";
    if (this.ranges.textContent !== text) this.ranges.textContent = text;
    const rates = this.turning() ? this.names.flatMap((n) => {
      const w = sample(this.table!, vectorNames(`${n}.angular_velocity`), t);
      return w ? [`${n} turns at ${((Math.hypot(...w) * 180) / Math.PI).toFixed(2)} °/s`] : [];
    }).join(", ") : "";
    if (this.rates.textContent !== rates) this.rates.textContent = rates;
  }

  /** A capture: whether the tumble ends is what one looks for. */
  private turning(): boolean {
    return !!this.table && this.names.some((n) => this.table!.column(`${n}.obsw.phase`));
  }

  grow(): void {
    for (const scene of this.shown()) scene.grow();
  }

  /** The factor for the lag that suits what was seen so far, unless one was chosen. */
  suitLag(): void {
    if (this.lagChosen) return;
    const factors = this.shown().map((s) => s.suitLag());
    if (Number(this.lag.value) !== factors[0]) this.fillLegend();
  }

  fit(): void {
    for (const scene of this.shown()) scene.fit();
  }

  resize(): void {
    for (const scene of this.shown()) scene.resize();
  }

  restyle(): void {
    for (const scene of this.shown()) scene.restyle(this.geometry, this.names);
  }

  picture(side: Side = "orbit"): string | null {
    return this.scenes.get(side)?.picture() ?? null;
  }

  /** Frames of every scene together; the sides that are shown; for tests. */
  get frames(): number {
    return [...this.scenes.values()].reduce((sum, s) => sum + s.frames, 0);
  }

  get shownSides(): Side[] {
    return this.shown().map((s) => s.side);
  }

  /** Where the flange of a robot is drawn [m], for tests: in the frame that the robots move in. */
  flange(name: string): number[] | null {
    return this.scenes.get("lab")?.flange(name) ?? null;
  }
}
