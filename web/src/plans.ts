// Which columns of a satellite are plotted together, in the report and on the live page.
import {AXES, type Table} from "./data";
import {words} from "./format";

/** One plot: quantities of one kind, each with the column of its value and of what it is compared with. */
export interface Quantity {
  label: string;
  column: string;
  reference?: string;
}
export interface PlotPlan {
  title: string;
  quantities: Quantity[];
  valueName?: string;
  referenceName?: string;
  limitOf?: string;
}

export function plans(table: Table, satellite: string): PlotPlan[] {
  const s = satellite;
  const axes = (value: string, reference?: string): Quantity[] =>
    AXES.map((axis) => ({label: axis, column: `${s}.${value}.${axis}`, reference: reference ? `${s}.${reference}.${axis}` : undefined}));
  const terms = (prefix: string): Quantity[] =>
    table.columns.filter((c) => c.name.startsWith(`${s}.${prefix}.`)).map((c) => ({label: words(c.name.slice(s.length + prefix.length + 2)), column: c.name}));
  const joints = (value: string): Quantity[] =>
    terms("joint").filter((q) => q.column.endsWith(`.${value}`)).map((q, n) => ({...q, label: `joint ${n + 1}`}));
  return [
    {title: "Velocity", quantities: axes("velocity", "ideal.velocity"), referenceName: "ideal"},
    {title: "Angular velocity", quantities: axes("angular_velocity", "ideal.angular_velocity"), referenceName: "ideal"},
    {title: "Velocity error against ideal", quantities: [{label: "error", column: `${s}.error.velocity`}], limitOf: "velocity_error"},
    {title: "Angular velocity error against ideal", quantities: [{label: "error", column: `${s}.error.angular_velocity`}], limitOf: "angular_velocity_error"},
    {title: "Force on the satellite", quantities: axes("force_corrected", "force_measured"), valueName: "corrected", referenceName: "measured"},
    {title: "Torque on the satellite", quantities: axes("torque_corrected", "torque_measured"), valueName: "corrected", referenceName: "measured"},
    {title: "Energy ledger", quantities: terms("energy")},
    {title: "Passivity observers", quantities: terms("observer").map((q) => ({...q, label: `observer ${q.label}`}))},
    {title: "Velocity correction", quantities: axes("velocity_correction")},
    {title: "Angular velocity correction", quantities: axes("angular_velocity_correction")},
    {title: "Position", quantities: axes("position", "ideal.position"), referenceName: "ideal"},
    {title: "Arm joints", quantities: joints("angle")},
    {title: "Joint torques asked for", quantities: joints("torque")},
    {title: "Thrust", quantities: axes("thrust_force")},
    {title: "Thrusters' torque", quantities: axes("thrust_torque")},
    {title: "Energy of the client's port W_c", quantities: terms("monitor").filter((q) => q.column.endsWith(".W_c"))},
    {title: "Power of the port", quantities: terms("monitor").filter((q) => q.column.endsWith(".port_power"))},
  ];
}

/** Of a robot that emulates another one: what it does beside the target simulated directly. */
export function emulationPlans(table: Table): PlotPlan[] {
  const each = (value: string, label: string, reference?: string): Quantity[] =>
    table.columns.filter((c) => c.name.startsWith(`emulation.${value}.`) && /^\d+$/.test(c.name.slice(value.length + 11)))
      .map((c) => c.name.slice(value.length + 11))
      .map((n) => ({label: `${label} ${n}`, column: `emulation.${value}.${n}`, reference: reference ? `emulation.${reference}.${n}` : undefined}));
  // Rotations and positions do not share an axis.
  const byUnit = (title: string, quantities: Quantity[], rest: Partial<PlotPlan>): PlotPlan[] => {
    const units = [...new Set(quantities.map((q) => table.unit(q.column)))];
    return units.map((u) => ({title: units.length > 1 ? `${title} (${u})` : title, quantities: quantities.filter((q) => table.unit(q.column) === u), ...rest}));
  };
  const direct = {valueName: "emulated", referenceName: "direct"};
  return [
    ...byUnit("Pose of the robot", each("pose", "coordinate", "direct.pose"), direct),
    ...byUnit("Contact force", each("force", "coordinate", "direct.force"), direct),
    ...byUnit("Joints of the target", each("target.q", "joint", "direct.q"), direct),
    ...byUnit("Constraint force lambda", each("lambda", "coordinate"), {}),
    ...byUnit("Constraint violated by", each("constraint", "coordinate"), {}),
    ...byUnit("Torque of the robot", each("torque", "joint"), {}),
  ];
}
