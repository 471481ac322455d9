// A plot as a file: PNG as it is on the screen, SVG with its lines, CSV with its rows, of the range that is shown.
import {h} from "./dom";
import {number, unitText} from "./format";
import {colour, dash, lineColour, type Panel} from "./plots";

function download(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = h("a", {href: url, download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

const escape = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** Rows of all lines in the range, by time; a line of another table has an empty cell where it has no row. */
export function csvOf(panel: Panel): string {
  const [from, to] = panel.group.range;
  const cell = (text: string): string => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const {lines, unit} = panel.spec;
  const rows = new Map<number, string[]>();
  lines.forEach((line, k) => {
    const values = line.table.column(line.column)!;
    for (let i = 0; i < line.table.rows; i++) {
      const t = line.table.time[i]!;
      if (t < from || t > to) continue;
      const row = rows.get(t) ?? new Array<string>(lines.length).fill("");
      row[k] = Number.isFinite(values[i]!) ? String(values[i]) : "";
      rows.set(t, row);
    }
  });
  const head = ["t [s]", ...lines.map((l) => cell(`${l.column} ${l.label}${unit ? ` [${unit}]` : ""}`))];
  return `${[head, ...[...rows].sort(([a], [b]) => a - b).map(([t, row]) => [String(t), ...row])].map((r) => r.join(",")).join("\n")}\n`;
}

export function svgOf(panel: Panel): string {
  const {plot} = panel;
  const width = 720;
  const height = 320;
  const [left, top, right, bottom] = [64, 44, width - 12, height - 32];
  const [from, to] = panel.group.range;
  const low = plot?.scales.y?.min ?? 0;
  const high = plot?.scales.y?.max ?? 1;
  const x = (t: number): number => left + ((t - from) / (to - from)) * (right - left);
  const y = (v: number): number => bottom - ((v - low) / (high - low)) * (bottom - top);
  const out = [`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="11">`,
    `<rect width="${width}" height="${height}" fill="${colour("paper")}"/>`,
    `<text x="${left}" y="16" font-size="13" font-weight="600" fill="${colour("ink")}">${escape(`${panel.spec.title} ${unitText(panel.spec.unit)}`)}</text>`,
    `<clipPath id="c"><rect x="${left}" y="${top}" width="${right - left}" height="${bottom - top}"/></clipPath>`];
  for (let i = 0; i <= 4; i++) {
    const v = low + (i / 4) * (high - low);
    const t = from + (i / 4) * (to - from);
    out.push(`<path d="M${left} ${y(v).toFixed(1)}H${right}" stroke="${colour("grid")}"/><text x="${left - 6}" y="${(y(v) + 4).toFixed(1)}" text-anchor="end" fill="${colour("soft")}">${number(v)}</text>`,
      `<text x="${x(t).toFixed(1)}" y="${bottom + 16}" text-anchor="middle" fill="${colour("soft")}">${number(t)} s</text>`);
  }
  let at = left;
  panel.spec.lines.forEach((line) => {
    const stroke = `stroke="${lineColour(line)}" fill="none" stroke-width="${line.pale ? 5 : 1.5}" stroke-opacity="${line.pale ? 0.3 : 1}"${line.pale ? "" : ` stroke-dasharray="${dash(line.style).join(" ")}"`}`;
    out.push(`<path d="M${at} 30h22" ${stroke}/><text x="${at + 27}" y="34" fill="${colour("soft")}">${escape(line.label)}</text>`);
    at += 40 + 6.2 * line.label.length;
    const values = line.table.column(line.column)!;
    let path = "";
    let pen = "M";
    for (let i = 0; i < line.table.rows; i++) {
      const t = line.table.time[i]!;
      if (t < from || t > to) continue;
      if (!Number.isFinite(values[i]!)) {
        pen = "M";
        continue;
      }
      path += `${pen}${x(t).toFixed(2)} ${y(values[i]!).toFixed(2)}`;
      pen = "L";
    }
    if (path) out.push(`<path d="${path}" clip-path="url(#c)" ${stroke}/>`);
  });
  return `${out.join("\n")}\n</svg>\n`;
}

/** A small list beside a plot's title. */
export function saver(panel: Panel): HTMLElement {
  const select = h("select", {class: "save", "aria-label": `Save ${panel.spec.title}`, change: () => {
    const kind = select.value;
    panel.draw(); // it may not have been scrolled to yet
    select.value = "";
    const name = `${panel.spec.title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "plot"}.${kind}`;
    if (kind === "csv") download(name, new Blob([csvOf(panel)], {type: "text/csv"}));
    else if (kind === "svg") download(name, new Blob([svgOf(panel)], {type: "image/svg+xml"}));
    else if (kind === "png") panel.plot?.ctx.canvas.toBlob((blob) => blob && download(name, blob));
  }}, h("option", {value: "", selected: true}, "Save"), ...["png", "svg", "csv"].map((k) => h("option", {value: k}, k.toUpperCase())));
  return select;
}
