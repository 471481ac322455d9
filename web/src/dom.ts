// Elements from plain values. Text goes in as text nodes only, so names from scenarios are never markup.

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: Event) => void)>;

export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(key, value);
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  for (const child of children) if (child) element.append(child);
  return element;
}

export interface Cell {
  text: string;
  title?: string;
  className?: string;
  node?: Node;
}

/** A table; columns whose name starts with '#' hold numbers and are aligned right. */
export function table(caption: string, heads: string[], rows: (string | Cell)[][], className = ""): HTMLElement {
  const numeric = heads.map((head) => head.startsWith("#"));
  const cell = (value: string | Cell, i: number): HTMLElement => {
    const c = typeof value === "string" ? {text: value} : value;
    const tag = i === 0 ? "th" : "td";
    // On a narrow screen a row is a list of its cells, each behind its column's name (style.css).
    const head = heads[i]?.replace(/^#/, "") || null;
    return h(tag, {class: [numeric[i] ? "n" : "", c.className ?? ""].join(" ").trim() || null, title: c.title, scope: i === 0 ? "row" : null, "data-head": head}, c.node ?? c.text);
  };
  return h(
    "div", {class: "scroll"},
    h(
      "table", {class: className || null},
      h("caption", {class: "hidden"}, caption),
      h("thead", {}, h("tr", {}, ...heads.map((head, i) => h("th", {scope: "col", class: numeric[i] ? "n" : null}, head.replace(/^#/, ""))))),
      h("tbody", {}, ...rows.map((row) => h("tr", {}, ...row.map(cell)))),
    ),
  );
}
