/**
 * The components that draw lines themselves, from the end of a tree. What scrolled out of the screen belongs to the
 * terminal, so that a frame asks only the components at the end.
 */
import type { Component } from "../component.ts";
import { Container } from "../components/container.ts";

/** Goes into containers, unless they draw in their own way. */
export function* leavesFromEnd(children: readonly Component[]): Generator<Component> {
  for (let index = children.length - 1; index >= 0; index--) {
    const child = children[index] as Component;
    if (isTransparent(child)) yield* leavesFromEnd(child.children);
    else yield child;
  }
}

const isTransparent = (component: Component): component is Container =>
  component instanceof Container && component.render === Container.prototype.render;
