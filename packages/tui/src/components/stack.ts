/** Components in one direction, with sizes by basis, grow and shrink. */
import type { Component } from "../component.ts";
import { LAYOUT_NODE, type LayoutViewport, type StackLayoutEntry, type StackLayoutNode } from "../layout-node.ts";
import { Container } from "./container.ts";

export type StackEntryOptions = Omit<StackLayoutEntry, "component">;

export interface StackEntry extends StackEntryOptions {
  component: Component;
}

export type StackChild = Component | StackEntry;

export interface StackOptions {
  /** Between two children. Default 0. */
  gap?: number;
  /** Default "stretch". */
  align?: "stretch" | "start" | "center" | "end";
}

export abstract class Stack extends Container {
  protected readonly entries: StackLayoutEntry[] = [];
  protected readonly gap: number;
  protected readonly align: "stretch" | "start" | "center" | "end";
  protected abstract readonly layoutType: "vstack" | "hstack";

  constructor(children: StackChild[] = [], options: StackOptions = {}) {
    super();
    this.gap = Math.max(0, Math.floor(options.gap ?? 0));
    this.align = options.align ?? "stretch";
    for (const child of children) {
      if ("component" in child) this.addChild(child.component, child);
      else this.addChild(child);
    }
  }

  override addChild(component: Component, options: StackEntryOptions = {}): void {
    super.addChild(component);
    this.entries.push({ ...options, component });
  }

  override removeChild(component: Component): void {
    super.removeChild(component);
    const index = this.entries.findIndex((entry) => entry.component === component);
    if (index !== -1) this.entries.splice(index, 1);
  }

  override clear(): void {
    super.clear();
    this.entries.length = 0;
  }

  [LAYOUT_NODE](): StackLayoutNode {
    return { type: this.layoutType, entries: this.entries, gap: this.gap, align: this.align };
  }
}

export const visibleStackEntries = (
  entries: readonly StackLayoutEntry[],
  viewport: LayoutViewport,
): StackLayoutEntry[] => entries.filter(({ visible }) => visible?.(viewport) ?? true);

/**
 * The size of each entry. `intrinsicSizes` are what the components draw, for entries whose basis is "auto". If
 * `availableSize` is undefined, there is no limit: nothing grows or shrinks.
 */
export function allocateStackSizes(
  entries: readonly StackLayoutEntry[],
  intrinsicSizes: readonly number[],
  availableSize: number | undefined,
  gap: number,
): number[] {
  const limits = entries.map(({ minSize = 0, maxSize = Infinity }) => {
    const min = Math.max(0, Math.floor(minSize));
    return { min, max: Math.max(min, Math.floor(maxSize)) };
  });
  const bases = entries.map(({ basis = "auto" }, index) => {
    const size = Math.floor(basis === "auto" ? (intrinsicSizes[index] ?? 0) : basis);
    return clamp(size, limits[index] as Limit);
  });
  if (availableSize === undefined) return bases;
  const room = Math.max(0, availableSize - gap * Math.max(0, entries.length - 1));
  const difference = room - bases.reduce((sum, size) => sum + size, 0);
  const weights = entries.map(({ grow = 0, shrink = 1 }, index) =>
    difference > 0 ? grow : shrink * (bases[index] as number),
  );
  return difference === 0 ? bases : share(bases, limits, weights, difference);
}

interface Limit {
  min: number;
  max: number;
}

const clamp = (size: number, { min, max }: Limit) => Math.max(min, Math.min(max, size));

/** Adds up to `difference`, which may be negative, by weight. What an entry cannot take goes to the others. */
function share(
  bases: readonly number[],
  limits: readonly Limit[],
  weights: readonly number[],
  difference: number,
): number[] {
  const sizes = [...bases];
  const sign = Math.sign(difference);
  let rest = Math.abs(difference);
  const canChange = (index: number) => {
    const size = sizes[index] as number;
    const { min, max } = limits[index] as Limit;
    return (weights[index] as number) > 0 && (sign > 0 ? size < max : size > min);
  };
  while (rest > 0) {
    const open = sizes.map((_, index) => index).filter(canChange);
    const total = open.reduce((sum, index) => sum + (weights[index] as number), 0);
    if (total <= 0) break;
    const before = rest;
    for (const index of open) {
      const portion = Math.min(rest, Math.max(1, Math.floor((before * (weights[index] as number)) / total)));
      const size = clamp((sizes[index] as number) + sign * portion, limits[index] as Limit);
      rest -= Math.abs(size - (sizes[index] as number));
      sizes[index] = size;
      if (rest === 0) break;
    }
  }
  return sizes;
}
