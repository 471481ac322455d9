// The program in the page: compiled once, one worker for each method, each with the newest question only.
import {fromBase64, summaryContacts, type Geometry, type Run, type Summary, type Table} from "./data";
import {parseColumn} from "./table";
import type {Answer, Asked} from "./worker";

/** Of all columns those that the page draws; each stands for every satellite's. */
const COLUMNS = [
  ...["position", "velocity", "force_measured", "force_corrected", "angular_velocity"].flatMap((v) => ["x", "y", "z"].map((k) => `${v}.${k}`)),
  ...["w", "x", "y", "z"].map((k) => `attitude.${k}`),
  ..."kinetic exchanged delay force_controller velocity_controller integration loads method".split(" ").map((k) => `energy.${k}`),
  "error.velocity", "error.angular_velocity", "force", "touching",
].join("\n");
/** And for the laboratory: torques and the robots' axes, which take a while to compute. */
const LAB = [...["x", "y", "z"].map((k) => `torque_corrected.${k}`), ...[1, 2, 3, 4, 5, 6, 7].map((k) => `robot.axis.${k}.angle`), "robot.rail"].join("\n");

/** Rows as they come from the program, a column at a time. */
export class ResultTable implements Table {
  readonly columns;
  readonly rows: number;
  readonly time: Float64Array;
  private readonly index = new Map<string, number>();
  private readonly cut = new Map<string, Float64Array>();

  constructor(names: string[], private readonly values: Float64Array) {
    this.columns = names.map(parseColumn);
    this.columns.forEach((c, i) => this.index.set(c.name, i));
    this.rows = names.length ? values.length / names.length : 0;
    this.time = this.column(this.columns[0]?.name ?? "") ?? new Float64Array();
  }

  column(name: string): Float64Array | undefined {
    const known = this.cut.get(name);
    if (known) return known;
    const at = this.index.get(name);
    if (at === undefined) return undefined;
    const width = this.columns.length;
    const out = new Float64Array(this.rows);
    for (let i = 0, k = at; i < out.length; i++, k += width) out[i] = this.values[k]!;
    this.cut.set(name, out);
    return out;
  }

  unit(name: string): string {
    return this.columns[this.index.get(name) ?? -1]?.unit ?? "";
  }
}

/** A finished run, or why there is none. */
export interface Result {
  run: Run | null;
  error: string;
  warning: string;
  took: number;
}

function resultOf(label: string, answer: Answer): Result {
  let run: Run | null = null;
  if (answer.summary) {
    const summary = JSON.parse(answer.summary) as Summary;
    run = {
      label, summary, contacts: summaryContacts(summary), geometry: answer.geometry ? (JSON.parse(answer.geometry) as Geometry) : null,
      table: answer.values ? new ResultTable(answer.names, answer.values) : null, cycles: summary.cycles ?? 0, bucket: 1, whole: [], histograms: [],
    };
  }
  return {run, error: answer.error.trim(), warning: answer.warning.trim(), took: answer.took};
}

const PATIENCE = 1500; // [ms] that a newer question waits for an older one's answer

/** One worker. Of several questions of a kind that wait only the last is asked; the others are answered by null. */
export class Runner {
  private worker: Worker | null = null;
  private id = 0;
  private busy: {asked: Asked; done: (answer: Answer | null) => void} | null = null;
  private waiting: {asked: Asked; done: (answer: Answer | null) => void}[] = [];
  private timer = 0;

  constructor(private readonly model: Model) {}

  ask(question: Omit<Asked, "id">): Promise<Answer | null> {
    return new Promise((done) => {
      for (const old of this.waiting.filter((w) => w.asked.kind === question.kind)) old.done(null);
      this.waiting = this.waiting.filter((w) => w.asked.kind !== question.kind);
      this.waiting.push({asked: {...question, id: ++this.id}, done});
      if (!this.busy) this.next();
      else if (!this.timer) this.timer = window.setTimeout(() => this.abandon(), PATIENCE);
    });
  }

  private next(): void {
    clearTimeout(this.timer);
    this.timer = 0;
    this.busy = this.waiting.shift() ?? null;
    if (!this.busy) return;
    if (!this.worker) {
      this.worker = new Worker(this.model.script);
      this.worker.onmessage = (event: MessageEvent<Answer & {broken?: string}>) => {
        const {busy} = this;
        if (!busy || event.data.id !== busy.asked.id) return;
        if (event.data.broken !== undefined) return this.restart(`the program stopped: ${event.data.broken}`);
        this.busy = null;
        busy.done(event.data);
        this.next();
      };
      this.worker.postMessage(this.model.module);
    }
    this.worker.postMessage(this.busy.asked);
  }

  /** What is being worked on is no longer wanted: it is answered by null. */
  abandon(): void {
    if (this.busy) this.restart(null);
  }

  /** A question that is no longer wanted, or broke its instance: another worker takes the next one. */
  private restart(why: string | null): void {
    this.worker?.terminate();
    this.worker = null;
    const {busy} = this;
    this.busy = null;
    busy?.done(why === null ? null : {id: 0, outcome: 1, error: why, warning: "", summary: "", geometry: "", outline: "", names: [], values: null, took: 0});
    this.next();
  }

  async run(text: string, method: string, lab: boolean): Promise<Result | null> {
    const answer = await this.ask({kind: "run", text, method, columns: lab ? `${COLUMNS}\n${LAB}` : COLUMNS});
    return answer && resultOf(method, answer);
  }
}

export class Model {
  private constructor(readonly module: WebAssembly.Module, readonly script: string) {}

  /** From the blocks of the page. Throws where the browser has no WebAssembly, workers or decompression. */
  static async open(document: Document): Promise<Model> {
    const text = (id: string): string => document.getElementById(id)?.textContent ?? "";
    const packed = fromBase64(text("ff-model"));
    const stream = new Blob([packed as BlobPart]).stream().pipeThrough(new DecompressionStream("gzip"));
    const module = await WebAssembly.compile(await new Response(stream).arrayBuffer());
    return new Model(module, URL.createObjectURL(new Blob([text("ff-worker")], {type: "text/javascript"})));
  }
}
