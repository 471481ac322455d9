// Notes at instants of a run. They stand behind the # of the page's address, so that a link holds them: #n=[[t, text], ...].
import {h} from "./dom";
import {seconds} from "./format";

const MOST = 50; // notes
const LONG = 200; // characters of one

export class Notes {
  readonly element: HTMLElement;
  private list: {t: number; text: string}[] = [];
  private readonly rows = h("ul", {class: "notes"});
  private readonly input = h("input", {type: "text", maxlength: LONG, placeholder: "What is to be seen here?", "aria-label": "Text of the note"});
  private readonly button = h("button", {type: "submit", class: "quiet small"}, "Add note");

  constructor(private readonly now: () => number, private readonly seek: (t: number) => void, private readonly changed: () => void) {
    this.list = Notes.read(location.hash);
    this.element = h("section", {"aria-label": "Notes"},
      h("div", {class: "head"}, h("h2", {}, "Notes"), h("p", {class: "hint how"}, "At the time shown; they stay in this page's address, which may be copied.")),
      this.rows,
      h("form", {class: "note-form", submit: (event) => {
        event.preventDefault();
        const text = this.input.value.trim();
        if (!text || this.list.length >= MOST) return;
        this.list.push({t: this.now(), text});
        this.input.value = "";
        this.show(true);
      }}, this.input, this.button));
    this.show(false);
  }

  /** What a link holds; whatever else it holds is not a note. */
  static read(hash: string): {t: number; text: string}[] {
    try {
      const raw: unknown = JSON.parse(new URLSearchParams(hash.replace(/^#/, "")).get("n") ?? "[]");
      if (!Array.isArray(raw)) return [];
      return raw.slice(0, MOST).flatMap((n: unknown) => (Array.isArray(n) && Number.isFinite(n[0]) && typeof n[1] === "string" ? [{t: n[0] as number, text: n[1].slice(0, LONG)}] : []));
    } catch {
      return [];
    }
  }

  get times(): number[] {
    return this.list.map((n) => n.t);
  }

  private show(store: boolean): void {
    this.list.sort((a, b) => a.t - b.t);
    this.element.classList.toggle("unprinted", this.list.length === 0);
    this.rows.replaceChildren(...this.list.map((note) => h("li", {},
      h("button", {type: "button", class: "link", click: () => this.seek(note.t)}, seconds(note.t, 3)), " ", h("span", {}, note.text), " ",
      h("button", {type: "button", class: "quiet small", "aria-label": `Remove the note at ${seconds(note.t, 3)}`, click: () => {
        this.list = this.list.filter((n) => n !== note);
        this.show(true);
      }}, "×"))));
    if (!store) return;
    const parameters = new URLSearchParams(location.hash.replace(/^#/, ""));
    if (this.list.length) parameters.set("n", JSON.stringify(this.list.map((n) => [Number(n.t.toFixed(4)), n.text])));
    else parameters.delete("n");
    history.replaceState(null, "", `#${parameters}`);
    this.changed();
  }
}
