/**
 * The components that draw lines themselves, from the end of a tree. What scrolled out of the screen belongs to the
 * terminal, so that a frame asks only the components at the end.
 */
import type { Component } from "../component.ts";
import { isPlainContainer } from "../components/container.ts";

interface LeafComponent {
  component: Component;
  /** Whether it, or a container that it is in, is ephemeral. */
  isEphemeral: boolean;
}

/** Goes into containers, unless they draw in their own way. */
export function* leavesFromEnd(children: readonly Component[], isEphemeral = false): Generator<LeafComponent> {
  for (let index = children.length - 1; index >= 0; index--) {
    const component = children[index] as Component;
    const isLive = isEphemeral || component.isEphemeral === true;
    if (isPlainContainer(component)) yield* leavesFromEnd(component.children, isLive);
    else yield { component, isEphemeral: isLive };
  }
}
