// Numbers and words as people read them.

/** A number with `digits` significant figures, plain between 1e-4 and 1e6, and a true minus sign. */
export function number(value: number | null | undefined, digits = 3): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const a = Math.abs(Number(value.toPrecision(digits))); // rounded first: 0.9999 has the decimals of 1
  let text: string;
  if (a >= 1e-4 && a < 1e6) {
    const decimals = Math.max(0, Math.min(20, digits - 1 - Math.floor(Math.log10(a))));
    text = value.toFixed(decimals);
    if (decimals === 0 && a >= 1e4) text = Math.round(value).toLocaleString("en").replaceAll(",", "\u202f");
  } else {
    const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
    text = `${mantissa}\u00b710${superscript(exponent!.replace("+", ""))}`;
  }
  return text.replace(/^-/, "−");
}

function superscript(text: string): string {
  const digits = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  return [...text].map((c) => (c === "-" ? "⁻" : digits[Number(c)])).join("");
}

/** The same with its unit, a thin space between. */
export function quantity(value: number | null | undefined, unit: string, digits = 3): string {
  const text = number(value, digits);
  return unit && text !== "–" ? `${text}\u00a0${unitText(unit)}` : text;
}

export function unitText(unit: string): string {
  return unit.replaceAll(" ", "\u00a0").replace(/s([23])$/, (_all, power: string) => (power === "2" ? "s²" : "s³"));
}

/** A limit or setting exactly as given. */
export function exact(value: number | null | undefined): string {
  return value === null || value === undefined ? "–" : String(value).replace(/^-/, "−");
}

export function seconds(t: number, digits = 2): string {
  return `${t.toFixed(digits).replace(/^-/, "−")}\u00a0s`;
}

/** Nanoseconds in the unit that suits them. */
export function duration(ns: number | null | undefined): string {
  if (ns === null || ns === undefined || !Number.isFinite(ns)) return "–";
  if (ns < 1e3) return quantity(ns, "ns");
  if (ns < 1e6) return quantity(ns / 1e3, "µs");
  if (ns < 1e9) return quantity(ns / 1e6, "ms");
  return quantity(ns / 1e9, "s");
}

export const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
export const words = (key: string): string => key.replaceAll("_", " ");

/** What is below a millionth of its limit is rounding, not a result. */
export const relevant = (value: number | null, limit: number | null | undefined): number | null => (value !== null && typeof limit === "number" && Math.abs(value) < 1e-6 * Math.abs(limit) ? 0 : value);

/** What is rounding beside its scale (at least one unit) is 0. */
export const plain = (value: number | null | undefined, scale = 1): number | null | undefined => (typeof value === "number" && Math.abs(value) < 1e-12 * Math.max(scale, 1) ? 0 : value);
