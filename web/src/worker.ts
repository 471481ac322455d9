// One method's worker: holds an instance of the program (programs/playground/model.c) and runs what it is given.

/** What the module exports; texts are addresses of UTF-8 with a zero at the end. */
interface Program {
  memory: WebAssembly.Memory;
  _initialize(): void;
  reserve(bytes: number): number;
  check(text: number, method: number, sets: number): number;
  outline(text: number): number;
  run(text: number, method: number, sets: number, columns: number): number;
  error(): number;
  warning(): number;
  summary(): number;
  geometry(): number;
  names(): number;
  rows(): number;
  values(): number;
}

export interface Asked {
  id: number;
  kind: "run" | "check" | "outline";
  text: string;
  method?: string;
  columns?: string;
}

export interface Answer {
  id: number;
  /** 0: done; 1: it began and failed; 2: refused. */
  outcome: number;
  error: string;
  warning: string;
  summary: string;
  geometry: string;
  outline: string;
  names: string[];
  /** Rows of names.length numbers. */
  values: Float64Array | null;
  /** [ms] */
  took: number;
}

const EBADF = 8;
let program: Program | null = null;

/** The program asks nothing of a system but its own end: every call is answered by "no such file". */
async function start(module: WebAssembly.Module): Promise<Program> {
  const imports: Record<string, Record<string, () => number>> = {};
  for (const {module: room, name} of WebAssembly.Module.imports(module)) {
    (imports[room] ??= {})[name] = () => {
      if (name === "proc_exit") throw new Error("the program ended itself");
      return EBADF;
    };
  }
  const instance = await WebAssembly.instantiate(module, imports);
  const exports = instance.exports as unknown as Program;
  exports._initialize();
  return exports;
}

function put(p: Program, ...texts: string[]): number[] {
  const bytes = texts.map((t) => new TextEncoder().encode(`${t.replaceAll("\0", "\ufffd")}\0`));
  let at = p.reserve(bytes.reduce((sum, b) => sum + b.length, 0));
  if (at === 0) throw new Error("no memory");
  const memory = new Uint8Array(p.memory.buffer);
  return bytes.map((b) => {
    memory.set(b, at);
    at += b.length;
    return at - b.length;
  });
}

function get(p: Program, at: number): string {
  const memory = new Uint8Array(p.memory.buffer);
  return new TextDecoder().decode(memory.subarray(at, memory.indexOf(0, at)));
}

function work(p: Program, asked: Asked): Answer {
  const began = performance.now();
  const answer: Answer = {id: asked.id, outcome: 0, error: "", warning: "", summary: "", geometry: "", outline: "", names: [], values: null, took: 0};
  if (asked.kind === "outline") {
    answer.outline = get(p, p.outline(put(p, asked.text)[0]!));
  } else if (asked.kind === "check") {
    const [text, method, sets] = put(p, asked.text, asked.method ?? "", "") as [number, number, number];
    answer.outcome = p.check(text, method, sets);
  } else {
    const [text, method, sets, columns] = put(p, asked.text, asked.method ?? "", "", asked.columns ?? "") as [number, number, number, number];
    answer.outcome = p.run(text, method, sets, columns);
    answer.summary = get(p, p.summary());
    answer.geometry = get(p, p.geometry());
    answer.names = get(p, p.names()).split("\n").filter(Boolean);
    const rows = p.rows();
    if (rows > 0) answer.values = new Float64Array(p.memory.buffer, p.values(), rows * answer.names.length).slice();
  }
  if (asked.kind !== "outline") {
    answer.error = get(p, p.error());
    answer.warning = get(p, p.warning());
  }
  answer.took = performance.now() - began;
  return answer;
}

const scope = self as unknown as {onmessage: (event: MessageEvent) => void; postMessage(message: unknown, transfer?: Transferable[]): void};
let ready: Promise<unknown> = Promise.resolve();
scope.onmessage = (event) => {
  const message = event.data as WebAssembly.Module | Asked;
  if (message instanceof WebAssembly.Module) {
    ready = start(message).then((p) => (program = p));
    return;
  }
  void ready.then(() => {
    try {
      const answer = work(program!, message);
      scope.postMessage(answer, answer.values ? [answer.values.buffer] : []);
    } catch (error) {
      // A trap leaves the instance in an unknown state: the page starts another worker.
      scope.postMessage({id: message.id, broken: error instanceof Error ? error.message : String(error)});
    }
  });
};
