// The lines of six methods for those who see two colours in place of three: distances by CIEDE2000 (Sharma, Wu, Dalal 2005) after the matrices of Machado, Oliveira, Fernandes 2009
// for the severest form, in linear light. Below 1 nobody sees a difference side by side, 5 is plain on thin lines beside each other; lines differ in dash as well.
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";

const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
const rgb = (hex) => [1, 3, 5].map((i) => linear(parseInt(hex.slice(i, i + 2), 16) / 255));
const times = (m, v) => m.map((row) => row.reduce((sum, x, i) => sum + x * v[i], 0));
const SEEN = {
  "three colours": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};
function lab(linearRgb) {
  const xyz = times([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]], linearRgb.map((c) => Math.min(1, Math.max(0, c))));
  const [x, y, z] = xyz.map((v, i) => v / [0.95047, 1, 1.08883][i]).map((t) => (t > 216 / 24389 ? Math.cbrt(t) : ((24389 / 27) * t + 16) / 116));
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}
function ciede2000([L1, a1, b1], [L2, a2, b2]) {
  const rad = Math.PI / 180;
  const mean = (Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2;
  const G = 0.5 * (1 - Math.sqrt(mean ** 7 / (mean ** 7 + 25 ** 7)));
  const [A1, A2] = [a1 * (1 + G), a2 * (1 + G)];
  const [C1, C2] = [Math.hypot(A1, b1), Math.hypot(A2, b2)];
  const angle = (a, b) => (a === 0 && b === 0 ? 0 : (Math.atan2(b, a) / rad + 360) % 360);
  const [h1, h2] = [angle(A1, b1), angle(A2, b2)];
  let dh = C1 * C2 === 0 ? 0 : h2 - h1;
  if (dh > 180) dh -= 360;
  else if (dh < -180) dh += 360;
  const dH = 2 * Math.sqrt(C1 * C2) * Math.sin((dh / 2) * rad);
  const [L, C] = [(L1 + L2) / 2, (C1 + C2) / 2];
  const h = C1 * C2 === 0 ? h1 + h2 : Math.abs(h1 - h2) <= 180 ? (h1 + h2) / 2 : (h1 + h2 + (h1 + h2 < 360 ? 360 : -360)) / 2;
  const T = 1 - 0.17 * Math.cos((h - 30) * rad) + 0.24 * Math.cos(2 * h * rad) + 0.32 * Math.cos((3 * h + 6) * rad) - 0.2 * Math.cos((4 * h - 63) * rad);
  const SL = 1 + (0.015 * (L - 50) ** 2) / Math.sqrt(20 + (L - 50) ** 2);
  const [SC, SH] = [1 + 0.045 * C, 1 + 0.015 * C * T];
  const RT = -2 * Math.sqrt(C ** 7 / (C ** 7 + 25 ** 7)) * Math.sin(60 * Math.exp(-(((h - 275) / 25) ** 2)) * rad);
  const [l, c, H] = [(L2 - L1) / SL, (C2 - C1) / SC, dH / SH];
  return Math.sqrt(l * l + c * c + H * H + RT * c * H);
}

// The formula against pairs of its authors' table.
for (const [one, two, truth] of [
  [[50, 2.6772, -79.7751], [50, 0, -82.7485], 2.0425], [[50, -1.1848, -84.8006], [50, 0, -82.7485], 1.0], [[50, 2.5, 0], [50, 0, -2.5], 4.3065],
  [[50, 2.5, 0], [73, 25, -18], 27.1492], [[60.2574, -34.0099, 36.2677], [60.4626, -34.1751, 39.4387], 1.2644], [[2.0776, 0.0795, -1.135], [0.9033, -0.0636, -0.5514], 0.9082],
]) assert.ok(Math.abs(ciede2000(one, two) - truth) < 5e-5, `${one} ${two}: ${ciede2000(one, two)}, not ${truth}`);

const LEAST = 11; // what the palette has; see docs/testing.md
let worst = Infinity;
const style = readFileSync(new URL("../../web/src/style.css", import.meta.url), "utf8");
const themes = [...style.matchAll(/--line-0: #[0-9a-f]{6};[^\n]*/g)].map((m) => [...m[0].matchAll(/--line-\d: (#[0-9a-f]{6})/g)].map((c) => c[1]).slice(0, 6));
assert.equal(themes.length >= 2, true, "two themes");
themes.forEach((colours, theme) => {
  assert.equal(colours.length, 6);
  for (const [who, matrix] of Object.entries(SEEN)) {
    const labs = colours.map((c) => lab(times(matrix, rgb(c))));
    let [least, pair] = [Infinity, ""];
    for (let i = 0; i < 6; i++) for (let k = 0; k < i; k++) {
      const d = ciede2000(labs[i], labs[k]);
      if (d < least) [least, pair] = [d, `${k} and ${i}`];
    }
    console.log(`${theme ? "dark" : "light"}, ${who}: nearest are ${pair}, ${least.toFixed(1)}`);
    worst = Math.min(worst, least);
  }
});
assert.ok(worst >= LEAST, `two methods differ by ${worst.toFixed(1)} only`);
console.log("all checks passed");
