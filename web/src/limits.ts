// The line of limits: what delay and contact alone decide, before any method is chosen.
import {h} from "./dom";
import {number} from "./format";
import type {Geometry, GeometryContact, GeometrySatellite, Vector} from "./data";

const SVG = "http://www.w3.org/2000/svg";

function cross([a, b, c]: Vector, [x, y, z]: Vector): Vector {
  return [b * z - c * y, c * x - a * z, a * y - b * x];
}

/** 1/m that a body shows at a point along a normal, at its first attitude, its axes being principal. */
function mobility(body: GeometrySatellite | undefined, r: Vector, n: Vector): number {
  if (!body?.mass_kg) return 0;
  const arm = cross(r, n);
  const j = body.inertia_kgm2 ?? [Infinity, Infinity, Infinity];
  return 1 / body.mass_kg + arm[0] ** 2 / j[0]! + arm[1] ** 2 / j[1]! + arm[2] ** 2 / j[2]!;
}

/** The mass that a contact meets; NaN where nothing is known. */
export function contactMass(geometry: Geometry | null, contact: GeometryContact | undefined = geometry?.contacts[0]): number {
  const first = geometry?.satellites[0];
  if (!geometry || !first?.mass_kg) return NaN;
  const body = geometry.satellites.find((s) => s.name === contact?.body) ?? first;
  const n = contact?.normal;
  if (!n) return body.mass_kg ?? NaN;
  const size = Math.hypot(...n) || 1;
  const unit = n.map((x) => x / size) as Vector;
  const against = contact.against ? geometry.satellites.find((s) => s.name === contact.against) : undefined;
  return 1 / (mobility(body, contact.point ?? [0, 0, 0], unit) + (against ? mobility(against, contact.at ?? [0, 0, 0], unit) : 0));
}

/** A logarithmic scale of omega tau with what happens along it. */
export class LimitLine {
  readonly element = h("div", {class: "limit-scale"});
  private readonly pointer = document.createElementNS(SVG, "g");
  private readonly words = h("p", {class: "limit-words", "aria-live": "polite"});
  private readonly low = 0.01;
  private readonly high = 10;
  value = NaN;
  causal = NaN;

  constructor() {
    const svg = document.createElementNS(SVG, "svg");
    const add = (tag: string, attributes: Record<string, string | number>, text = "", to: Element = svg): Element => {
      const element = document.createElementNS(SVG, tag);
      for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
      element.textContent = text;
      to.append(element);
      return element;
    };
    svg.setAttribute("viewBox", "0 0 300 62");
    svg.setAttribute("class", "limit-line");
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", "Scale of omega tau, the contact's frequency times the delay; the words below say where it stands");
    const zone = (from: number, to: number, name: string): void => void add("rect", {x: this.x(from), y: 26, width: this.x(to) - this.x(from), height: 8, class: `zone ${name}`});
    zone(this.low, 0.1, "calm");
    zone(0.1, 0.5, "some");
    zone(0.5, 1, "hard");
    zone(1, this.high, "over");
    for (const [value, text] of [[0.01, "0.01"], [0.1, "0.1"], [0.5, "0.5"], [1, "1"], [10, "10"]] as const) {
      add("line", {x1: this.x(value), x2: this.x(value), y1: 24, y2: 37, class: "tick"});
      add("text", {x: this.x(value), y: 49, class: "tick-text", "text-anchor": value === 0.01 ? "start" : value === 10 ? "end" : "middle"}, text);
    }
    add("text", {x: this.x(0.5), y: 60, class: "tick-note", "text-anchor": "end"}, "damping holds");
    add("text", {x: this.x(1) + 2, y: 60, class: "tick-note", "text-anchor": "start"}, "force must rise");
    add("path", {d: "M0 24 l-5 -8 h10 z", class: "pointer"}, "", this.pointer);
    add("text", {x: 0, y: 11, class: "pointer-text", "text-anchor": "middle"}, "", this.pointer);
    svg.append(this.pointer);
    this.element.append(svg, this.words);
  }

  private x(value: number): number {
    const share = Math.log(Math.min(Math.max(value, this.low), this.high) / this.low) / Math.log(this.high / this.low);
    return 6 + 288 * share;
  }

  show(stiffness: number, mass: number, delay: number, cycle: number): void {
    const omega = Math.sqrt(stiffness / mass);
    this.value = omega * delay;
    this.causal = Math.max(1, omega * (delay + cycle));
    const known = Number.isFinite(this.value);
    this.pointer.setAttribute("visibility", known ? "visible" : "hidden");
    if (!known) {
      this.words.replaceChildren("The scenario has no single stiffness, mass and delay to say ω τ of.");
      return;
    }
    const x = this.x(this.value);
    this.pointer.setAttribute("transform", `translate(${x} 0)`);
    const label = this.pointer.lastChild as SVGTextElement;
    label.textContent = `ω τ = ${number(this.value)}`;
    label.setAttribute("x", String(Math.min(0, 294 - 34 - x) + Math.max(0, 40 - x)));
    const growth = Math.exp((Math.PI * this.value) / 2);
    this.words.replaceChildren(
      h("span", {}, "Uncorrected, a rebound comes back ", h("b", {}, `${number(growth)} times`), " too fast. "),
      this.causal > 1
        ? h("span", {}, "At a first contact no causal method holds the robot’s force below ", h("b", {}, `${number(this.causal)} times`), " the ideal one without knowing the wall.")
        : h("span", {}, "The ideal force can still be kept at a first contact."));
  }
}
