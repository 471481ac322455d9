// The top of a page and its theme, light or dark.
import {h} from "./dom";

/** The top of a page: its name, printing and the theme; more stands between. */
export function header(title: string, page: Themed, ...more: HTMLElement[]): HTMLElement {
  const toggle = h("button", {type: "button", class: "quiet", click: () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark", page)});
  const label = (): void => {
    toggle.textContent = document.documentElement.dataset.theme === "dark" ? "Light" : "Dark";
    toggle.setAttribute("aria-label", `Switch to the ${toggle.textContent!.toLowerCase()} theme`);
  };
  document.addEventListener("ff-theme", label);
  label();
  return h("header", {class: "top"}, h("span", {class: "brand"}, "freefloat"), h("h1", {}, title), h("div", {class: "tools"}, ...more, h("button", {type: "button", class: "quiet", click: () => window.print()}, "Print"), toggle));
}

export interface Themed {
  restyle(): void;
}

export function setTheme(theme: "light" | "dark", page: Themed | null, tell = true): void {
  document.documentElement.dataset.theme = theme;
  if (tell) document.dispatchEvent(new Event("ff-theme"));
  page?.restyle();
}
