/** Lines of a component of which only some are wanted. */
import type { Component } from "./component.ts";
import { isPlainContainer } from "./components/container.ts";

/** A component that can draw some of its lines without the others. */
export interface WindowedComponent extends Component {
  countLines(width: number): number;
  /** The lines from `start` up to, not including, `end`. */
  renderLines(width: number, start: number, end: number): string[];
}

export interface LineSource {
  readonly count: number;
  slice(start: number, end: number): string[];
}

const isWindowed = (component: Component): component is WindowedComponent => "renderLines" in component;

/** For a container it asks its children, so that their lines are not copied into one array to be thrown away. */
export function getLineSource(component: Component, width: number): LineSource {
  if (isWindowed(component)) {
    return {
      count: component.countLines(width),
      slice: (start, end) => component.renderLines(width, start, end),
    };
  }
  if (isPlainContainer(component)) {
    return joinSources(component.children.map((child) => getLineSource(child, width)));
  }
  const lines = component.render(width);
  return { count: lines.length, slice: (start, end) => lines.slice(start, end) };
}

function joinSources(sources: readonly LineSource[]): LineSource {
  const count = sources.reduce((sum, source) => sum + source.count, 0);
  const slice = (start: number, end: number) => {
    const lines: string[] = [];
    let top = 0;
    for (const source of sources) {
      if (top >= end) break;
      if (top + source.count > start)
        lines.push(...source.slice(Math.max(0, start - top), Math.min(source.count, end - top)));
      top += source.count;
    }
    return lines;
  };
  return { count, slice };
}
