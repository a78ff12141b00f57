/** Parses the mouse reports of terminals: SGR. */
import type { TuiMouseButton } from "../mouse.ts";

export interface MouseReport {
  type: "press" | "release" | "move" | "drag" | "wheel";
  button: TuiMouseButton;
  /** On the screen, from 0. */
  x: number;
  y: number;
  shift: boolean;
  alt: boolean;
  ctrl: boolean;
  /** -1 up, 1 down; 0 for all but wheels, and for wheels to the side. */
  wheel: -1 | 0 | 1;
}

const report = /^\x1b\[<(\d{1,4});(\d{1,6});(\d{1,6})([Mm])$/;
const buttons: readonly TuiMouseButton[] = ["left", "middle", "right", "none"];

/** Undefined for input that is no report. */
export function parseMouseReport(data: string): MouseReport | undefined {
  const match = report.exec(data);
  if (!match) return undefined;
  const code = Number(match[1]);
  const isWheel = (code & 64) !== 0;
  const button = isWheel ? "none" : (buttons[code & 3] as TuiMouseButton);
  const isMoved = (code & 32) !== 0;
  const type = isWheel
    ? "wheel"
    : match[4] === "m"
      ? "release"
      : isMoved
        ? button === "none"
          ? "move"
          : "drag"
        : "press";
  return {
    type,
    button,
    x: Math.max(0, Number(match[2]) - 1),
    y: Math.max(0, Number(match[3]) - 1),
    shift: (code & 4) !== 0,
    alt: (code & 8) !== 0,
    ctrl: (code & 16) !== 0,
    wheel: !isWheel || (code & 2) !== 0 ? 0 : (code & 1) === 0 ? -1 : 1,
  };
}
