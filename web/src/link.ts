// The connection to the server: connects again by itself, says how old the data are, matches answers to commands.

export interface LimitInfo {
  name: string;
  unit: string;
  limit: number;
  trips: boolean;
}

export interface ParameterInfo {
  name: string;
  unit: string;
  effect: string;
  low: number;
  high: number;
  value: number;
}

export interface Hello {
  session: string;
  mode: "run" | "rt" | "view";
  title: string;
  method: string | null;
  cycle_s: number | null;
  begin_s: number | null;
  end_s: number | null;
  head: number;
  columns: string[];
  limits: LimitInfo[];
  parameters: ParameterInfo[];
  open: string[];
  guarded: string[];
  geometry: unknown;
  summary: unknown;
  document: unknown;
}

export interface Status {
  phase: string;
  state: string | null;
  /** On devices: the motion has not begun. What happens has no time of the run yet, and rows show the time at which it begins. */
  before?: boolean;
  age_s: number | null;
  dropped: number;
  viewers: number;
  /** The limits as they are now: some may have been tightened. */
  limits?: number[];
  /** Files of the run beside the page, once they are written. */
  files?: string[];
}

export interface Event {
  number: number;
  level: "info" | "warning" | "alarm";
  t: number | null;
  text: string;
}

export interface Listener {
  hello(hello: Hello): void;
  status(status: Status): void;
  event(event: Event): void;
  /** Rows of `width` numbers: head, limits, columns. */
  rows(values: Float64Array, width: number): void;
  connection(open: boolean): void;
}

const RETRY = [300, 500, 1000, 2000, 3000];
const SILENT = 6000; // [ms] an open connection that says nothing so long is dropped

export class Link {
  open = false;
  /** When anything came last, and when the connection was lost [ms, performance.now]. */
  heard = performance.now();
  lost = performance.now();
  private socket: WebSocket | null = null;
  private tries = 0;
  private id = 0;
  private readonly waiting = new Map<number, (answer: {done: boolean; text: string}) => void>();

  /** token: whoever has it finds a place, however many others look. */
  constructor(private readonly listener: Listener, public token = "") {
    this.connect();
    setInterval(() => {
      if (this.open && performance.now() - this.heard > SILENT) this.socket?.close();
    }, 1000);
  }

  private connect(): void {
    const socket = new WebSocket(`ws://${location.host}/${this.token ? `?token=${this.token}` : ""}`, "freefloat");
    this.socket = socket;
    socket.binaryType = "arraybuffer";
    socket.onmessage = (message) => {
      this.heard = performance.now();
      if (typeof message.data === "string") this.hear(JSON.parse(message.data));
      else {
        const all = new Float64Array(message.data as ArrayBuffer);
        if (all[0] === 1) this.listener.rows(all.subarray(2), all[1]!);
      }
    };
    socket.onclose = () => {
      if (this.open) this.lost = performance.now();
      this.open = false;
      for (const done of this.waiting.values()) done({done: false, text: "the connection was lost"});
      this.waiting.clear();
      this.listener.connection(false);
      setTimeout(() => this.connect(), RETRY[Math.min(this.tries++, RETRY.length - 1)]);
    };
  }

  private hear(message: {kind: string} & Record<string, unknown>): void {
    if (message.kind === "hello") {
      this.open = true;
      this.tries = 0;
      this.listener.hello(message as unknown as Hello);
      this.listener.connection(true);
    } else if (message.kind === "status") this.listener.status(message as unknown as Status);
    else if (message.kind === "event") this.listener.event(message as unknown as Event);
    else if (message.kind === "answer") {
      const answer = message as unknown as {id: number; done: boolean; text: string};
      this.waiting.get(answer.id)?.(answer);
      this.waiting.delete(answer.id);
    }
  }

  /** One command; the promise holds the loop's answer. */
  ask(words: string, token = ""): Promise<{done: boolean; text: string}> {
    if (!this.open) return Promise.resolve({done: false, text: "there is no connection"});
    const id = ++this.id;
    return new Promise((done) => {
      this.waiting.set(id, done);
      this.socket!.send(`${id} ${words}${token ? ` token=${token}` : ""}`);
    });
  }
}
