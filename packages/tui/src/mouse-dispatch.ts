/** Passes mouse events on to components inside others. */
import type { Component } from "./component.ts";
import type { TuiMouseEvent, TuiMouseEventResult } from "./mouse.ts";

/** Which component took an event, and where it is on the screen. */
export interface TuiMouseDispatchTarget {
  component: Component;
  originX: number;
  originY: number;
  width: number;
  height: number;
}

export interface TuiMouseDispatchResult extends TuiMouseEventResult {
  handled: true;
  target: TuiMouseDispatchTarget;
  /** Which component gets the focus; a component around the target may take it instead. */
  focusTarget?: Component;
}

/** Undefined if the component does not handle the event. A result of a component inside keeps its target. */
export function dispatchMouseEvent(component: Component, event: TuiMouseEvent): TuiMouseDispatchResult | undefined {
  const result = component.handleMouse?.(event);
  if (!result || !(result.handled || result.capture || result.focus)) return undefined;
  if ("target" in result) return result as TuiMouseDispatchResult;
  const target = {
    component,
    originX: event.screenX - event.x,
    originY: event.screenY - event.y,
    width: event.width,
    height: event.height,
  };
  return { ...result, handled: true, ...(result.focus ? { focusTarget: component } : {}), target };
}

/** Returns the event in the coordinates of a component that took an earlier one. */
export const retargetMouseEvent = (event: TuiMouseEvent, target: TuiMouseDispatchTarget): TuiMouseEvent => ({
  ...event,
  x: event.screenX - target.originX,
  y: event.screenY - target.originY,
  width: target.width,
  height: target.height,
});
