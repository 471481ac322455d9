// The scenario's text with the program's own messages beside it.
import {h} from "./dom";

const PAUSE = 200; // [ms] after the last key before the text is read
const MOST = 200_000; // characters that the page takes

export class Editor {
  readonly element: HTMLElement;
  private readonly area = h("textarea", {id: "scenario", spellcheck: "false", autocomplete: "off", autocapitalize: "off", wrap: "off", rows: 26, "aria-label": "Scenario, YAML", "aria-describedby": "mistakes", maxlength: MOST});
  private readonly gutter = h("div", {class: "gutter", "aria-hidden": "true"});
  private readonly said = h("div", {id: "mistakes", class: "mistakes", role: "status"});
  private timer = 0;
  private wrong = new Set<number>();

  constructor(private readonly onText: (text: string) => void, command: () => string) {
    this.area.addEventListener("input", () => {
      this.number();
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => this.onText(this.text), PAUSE);
    });
    this.area.addEventListener("scroll", () => (this.gutter.scrollTop = this.area.scrollTop));
    const yaml = h("button", {type: "button", class: "quiet small", click: () => void this.copy(this.text, yaml)}, "Copy YAML");
    const line = h("code", {class: "command"}, command());
    const run = h("button", {type: "button", class: "quiet small", click: () => void this.copy(command(), run)}, "Copy command");
    this.element = h(
      "section", {class: "source"},
      h("div", {class: "head"}, h("h2", {}, "Scenario as text"), h("p", {class: "hint"}, "Every change runs at once. The sliders write into this text; saved as scenario.yaml it gives the same digits elsewhere:"), line, h("div", {class: "source-tools"}, run, yaml)),
      h("div", {class: "sheet"}, this.gutter, this.area), this.said);
  }

  get text(): string {
    return this.area.value;
  }

  set(text: string): void {
    if (text === this.area.value) return;
    const {scrollTop} = this.area;
    this.area.value = text.slice(0, MOST);
    this.area.scrollTop = scrollTop;
    this.number();
  }

  private number(): void {
    const lines = this.text.split("\n").length;
    this.gutter.replaceChildren(...Array.from({length: Math.min(lines, 5000)}, (_l, i) => h("span", {class: this.wrong.has(i + 1) ? "wrong" : null}, String(i + 1))));
    this.gutter.scrollTop = this.area.scrollTop;
  }

  /** Messages of the check, one a line; each leads to its place. */
  say(errors: string, warnings: string): void {
    const lines = [...errors.split("\n").filter(Boolean).map((text) => ({text, bad: true})), ...warnings.split("\n").filter(Boolean).map((text) => ({text, bad: false}))];
    this.wrong = new Set(lines.filter((l) => l.bad).map((l) => Number(/:(\d+):\d+: /.exec(l.text)?.[1])));
    this.number();
    this.area.setAttribute("aria-invalid", String(errors !== ""));
    if (!lines.length) {
      this.said.replaceChildren(h("p", {class: "mark good"}, "✓ valid"));
      return;
    }
    this.said.replaceChildren(...lines.map(({text, bad}) => {
      const place = /^[^:]*:(\d+):(\d+): /.exec(text);
      const what = h("span", {class: bad ? "over" : "soft"}, text);
      return h("p", {}, place ? h("button", {type: "button", class: "link", "aria-label": `Go to line ${place[1]}`, click: () => this.go(Number(place[1]), Number(place[2]))}, `line ${place[1]}`) : null, " ", what);
    }));
  }

  private go(line: number, column: number): void {
    const lines = this.text.split("\n");
    const at = lines.slice(0, line - 1).reduce((n, l) => n + l.length + 1, 0) + Array.from(lines[line - 1] ?? "").slice(0, column - 1).join("").length;
    this.area.focus();
    this.area.setSelectionRange(at, at);
    this.area.scrollTop = (this.area.scrollHeight / Math.max(1, lines.length)) * Math.max(0, line - 8);
  }

  async copy(text: string, button: HTMLElement): Promise<void> {
    const label = button.textContent ?? "";
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not allowed here";
    }
    setTimeout(() => (button.textContent = label), 1500);
  }
}
