/** The end of a document, without asking components that are not part of it. */
import type { Component } from "../component.ts";
import { getLayoutNode } from "../layout-node.ts";
import { isPlainContainer } from "../components/container.ts";
import { visibleStackEntries } from "../components/stack.ts";

/** At most `max` lines. */
export function renderEnd(components: readonly Component[], width: number, max: number): string[] {
  const parts: string[][] = [];
  let count = 0;
  for (const { component, width: own } of componentsFromEnd(components, width)) {
    if (count >= max) break;
    const lines = component.render(own).slice(count - max);
    count += lines.length;
    parts.push(lines);
  }
  return parts.toReversed().flat();
}

/** Goes into containers and into what scroll views and vertical stacks have, if it is drawn as it is. */
function* componentsFromEnd(
  components: readonly Component[],
  width: number,
): Generator<{ component: Component; width: number }> {
  for (const component of components.toReversed()) {
    const node = getLayoutNode(component);
    if (node?.type === "scroll") yield* componentsFromEnd([node.component], node.state.getContentWidth(width));
    else if (node?.type === "vstack" && node.gap === 0) {
      const entries = visibleStackEntries(node.entries, { width, height: Infinity });
      const inner = entries.map((entry) => entry.component);
      yield* componentsFromEnd(inner, width);
    } else if (isPlainContainer(component)) yield* componentsFromEnd(component.children, width);
    else yield { component, width };
  }
}
