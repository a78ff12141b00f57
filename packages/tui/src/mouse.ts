/** The mouse, in columns and rows from 0. */

export type TuiMouseEventType = "press" | "release" | "move" | "drag" | "click" | "wheel";
export type TuiMouseButton = "left" | "middle" | "right" | "none";

export interface TuiMouseEvent {
  type: TuiMouseEventType;
  button: TuiMouseButton;
  /** Within the component. */
  x: number;
  y: number;
  /** On the screen. */
  screenX: number;
  screenY: number;
  /** The size of the component. */
  width: number;
  height: number;
  shift: boolean;
  alt: boolean;
  ctrl: boolean;
  /** In lines; less than 0 is up. */
  wheelDelta?: number;
  /** How many clicks in a row. */
  clickCount?: number;
}

export interface TuiMouseEventResult {
  /** Nobody else gets the event. */
  handled?: boolean;
  /** Drags and the release go to this component too. Implies `handled`. */
  capture?: boolean;
  /** Gives this component the focus. Implies `handled`. */
  focus?: boolean;
  /** Whether to draw. Default: after all events but moves and releases. */
  render?: boolean;
}
