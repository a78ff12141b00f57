/** The layout's view of a component. */
import type { Component } from "./component.ts";

export const LAYOUT_NODE: unique symbol = Symbol("layout node");

export interface LayoutViewport {
  width: number;
  height: number;
}

export interface StackLayoutEntry {
  component: Component;
  /** The size before growing and shrinking, in lines or columns. Default "auto": what the component draws. */
  basis?: number | "auto";
  /** The share of what remains. Default 0. */
  grow?: number;
  /** The share of what is missing, times the basis. Default 1. */
  shrink?: number;
  /** Default 0. */
  minSize?: number;
  /** Less than `minSize` counts as `minSize`. */
  maxSize?: number;
  /** Asked at every layout. Default true. */
  visible?: (viewport: LayoutViewport) => boolean;
}

export interface StackLayoutNode {
  type: "vstack" | "hstack";
  entries: readonly StackLayoutEntry[];
  gap: number;
  /** Across the direction of the stack. */
  align: "stretch" | "start" | "center" | "end";
}

export interface ScrollLayoutState {
  readonly scrollTop: number;
  readonly primary: boolean;
  readonly overscroll: "chain" | "contain";
  readonly viewportHeight: number;
  getContentWidth(width: number): number;
  updateLayout(contentHeight: number, viewportHeight: number, requestRender: () => void, grown?: number): void;
  /** Returns what stays where it is on the screen in the next frame; asked once a frame. */
  takeHeld?(): Component | undefined;
}

export interface ScrollLayoutNode {
  type: "scroll";
  component: Component;
  state: ScrollLayoutState;
}

type LayoutNode = StackLayoutNode | ScrollLayoutNode;

interface LayoutComponent extends Component {
  [LAYOUT_NODE](): LayoutNode;
}

export const getLayoutNode = (component: Component): LayoutNode | undefined =>
  (component as Partial<LayoutComponent>)[LAYOUT_NODE]?.();
