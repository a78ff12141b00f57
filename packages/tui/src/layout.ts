/** Where components are on a screen of a fixed size, and what it shows. Lines that are not visible are not drawn. */
import { joinColumns, type Column } from "./columns.ts";
import type { Component } from "./component.ts";
import { getOffset } from "./components/h-stack.ts";
import { ScrollView } from "./components/scroll-view.ts";
import { allocateStackSizes, visibleStackEntries } from "./components/stack.ts";
import {
  getLayoutNode,
  type ScrollLayoutNode,
  type ScrollLayoutState,
  type StackLayoutEntry,
  type StackLayoutNode,
} from "./layout-node.ts";
import { ImageLayer, maxImageRows } from "./image-layer.ts";
import { getLineSource } from "./line-source.ts";
import { contains, intersect, type LayoutRect } from "./rect.ts";
import { getScrolledLines, type ScrolledLines } from "./scrolled-lines.ts";
import { getCapabilities } from "./terminal/capabilities.ts";
import { visibleWidth } from "./text/cells.ts";

export interface LayoutBox {
  component: Component;
  /** The whole component: what is scrolled away is outside of `clip`. */
  rect: LayoutRect;
  clip: LayoutRect;
  children: LayoutBox[];
  parent?: LayoutBox;
  /** The lines within `clip`, the first of which is line `lineOffset` of the component. */
  lines?: readonly string[];
  lineOffset?: number;
  scrollView?: ScrollView;
  /** For what a scroll view scrolls, unless it is laid out itself. */
  scrolledLines?: ScrolledLines;
}

export interface LayoutFrame {
  root: LayoutBox;
  width: number;
  height: number;
  /** The lines, as many as the screen has, without images. */
  lines: string[];
  images: ImageLayer;
  primaryScrollView?: ScrollView;
}

interface ScrollbarGeometry {
  column: number;
  trackTop: number;
  trackHeight: number;
  thumbTop: number;
  thumbHeight: number;
  maxScrollTop: number;
}

interface Layout {
  width: number;
  height: number;
  requestRender: () => void;
  rows: Column[][];
  images: ImageLayer;
  scrollViews: ScrollView[];
  /** By what they scroll. */
  scrolled: Map<Component, ScrolledLines>;
}

/** Scroll views get their sizes and ask for a frame with `requestRender`; nothing else changes. */
export function renderLayoutFrame(
  root: Component,
  width: number,
  height: number,
  requestRender: () => void = () => {},
): LayoutFrame {
  const rows = Array.from({ length: height }, (): Column[] => []);
  const images = new ImageLayer();
  const layout: Layout = { width, height, requestRender, rows, images, scrollViews: [], scrolled: new Map() };
  const screen = { x: 0, y: 0, width, height };
  const box = layOut(layout, root, screen, screen);
  const lines = rows.map((columns) => {
    const [only] = columns;
    return columns.length === 1 && only?.x === 0 && only.width === width ? only.text : joinColumns(columns, width);
  });
  const primary = layout.scrollViews.find((view) => view.primary) ?? layout.scrollViews[0];
  return { root: box, width, height, lines, images, ...(primary ? { primaryScrollView: primary } : {}) };
}

function layOut(layout: Layout, component: Component, rect: LayoutRect, around: LayoutRect): LayoutBox {
  const node = getLayoutNode(component);
  const clip = intersect(rect, around);
  const box: LayoutBox = { component, rect, clip, children: [] };
  if (node?.type === "scroll") layOutScroll(layout, node, box);
  else if (node) layOutStack(layout, node, box);
  else drawLeaf(layout, box);
  for (const child of box.children) child.parent = box;
  return box;
}

function drawLeaf(layout: Layout, box: LayoutBox): void {
  const { component, rect, clip } = box;
  box.lineOffset = clip.y - rect.y;
  const isHidden = clip.height <= 0 || clip.width <= 0;
  const scrolled = layout.scrolled.get(component);
  if (scrolled) box.scrolledLines = scrolled;
  const source = isHidden ? undefined : (scrolled ?? getLineSource(component, rect.width));
  const above = isHidden ? 0 : countRowsAbove(box.lineOffset, scrolled);
  const lines = source?.slice(box.lineOffset - above, box.lineOffset + clip.height) ?? [];
  box.lines = layout.images.takeFrom(lines, rect.x, clip.y - above, clip).slice(above);
  for (const [index, text] of box.lines.entries()) {
    layout.rows[clip.y + index]?.push({ x: rect.x, width: clip.width, text });
  }
}

/** How many lines above those that are visible may have the first row of an image, which is where the image is. */
function countRowsAbove(line: number, scrolled: ScrolledLines | undefined): number {
  if (line === 0 || getCapabilities().images !== "kitty") return 0;
  return Math.min(line - (scrolled?.findLeaf(line)?.top ?? 0), maxImageRows);
}

function layOutScroll(layout: Layout, { component, state }: ScrollLayoutNode, box: LayoutBox): void {
  const { rect, clip } = box;
  const width = state.getContentWidth(rect.width);
  const isLaidOut = getLayoutNode(component) !== undefined;
  const contentHeight = isLaidOut
    ? measureHeight(component, width, layout)
    : askVisible(layout, component, state, width, rect.height);
  if (isLaidOut) state.updateLayout(contentHeight, rect.height, layout.requestRender);
  const content = { x: rect.x, y: rect.y - state.scrollTop, width, height: contentHeight };
  box.children.push(layOut(layout, component, content, clip));
  if (!(box.component instanceof ScrollView)) return;
  box.scrollView = box.component;
  layout.scrollViews.push(box.component);
  drawScrollbar(layout, box, box.component);
}

/** Asks until all is known that is visible: what becomes known may move it. Returns the height of the content. */
function askVisible(layout: Layout, component: Component, state: ScrollLayoutState, width: number, height: number) {
  const lines = getScrolledLines(component);
  lines.begin(width, layout, state.takeHeld?.());
  state.updateLayout(lines.count, height, layout.requestRender, lines.takeGrown());
  while (lines.ask(state.scrollTop, height)) {
    state.updateLayout(lines.count, height, layout.requestRender, lines.takeGrown());
  }
  layout.scrolled.set(component, lines);
  return lines.count;
}

function layOutStack(layout: Layout, node: StackLayoutNode, box: LayoutBox): void {
  const { rect, clip } = box;
  const isVertical = node.type === "vstack";
  const entries = visibleStackEntries(node.entries, layout);
  const measure = ({ component, basis = "auto" }: StackLayoutEntry) =>
    basis !== "auto"
      ? 0
      : isVertical
        ? measureHeight(component, rect.width, layout)
        : measureWidth(component, rect.width);
  const sizes = allocateStackSizes(entries, entries.map(measure), isVertical ? rect.height : rect.width, node.gap);
  let start = isVertical ? rect.y : rect.x;
  for (const [index, { component }] of entries.entries()) {
    const size = sizes[index] as number;
    box.children.push(layOut(layout, component, placeAcross(node, component, rect, start, size, layout), clip));
    start += size + node.gap;
  }
}

/** The place of a child of a stack. Unless it is stretched, it is as large across the stack as what it draws. */
function placeAcross(
  { type, align }: StackLayoutNode,
  component: Component,
  rect: LayoutRect,
  start: number,
  size: number,
  layout: Layout,
): LayoutRect {
  if (type === "vstack") {
    const width = align === "stretch" ? rect.width : Math.min(rect.width, measureWidth(component, rect.width));
    return { x: rect.x + getOffset(align, width, rect.width), y: start, width, height: size };
  }
  const height = align === "stretch" ? rect.height : Math.min(rect.height, measureHeight(component, size, layout));
  return { x: start, y: rect.y + getOffset(align, height, rect.height), width: size, height };
}

/** The lines of a component that has no limit. */
function measureHeight(component: Component, width: number, layout: Layout): number {
  const node = getLayoutNode(component);
  if (!node) return getLineSource(component, width).count;
  if (node.type === "scroll") {
    const contentWidth = node.state.getContentWidth(width);
    if (getLayoutNode(node.component)) return measureHeight(node.component, contentWidth, layout);
    const lines = getScrolledLines(node.component);
    lines.begin(contentWidth, layout, node.state.takeHeld?.());
    lines.ask(node.state.scrollTop, layout.height);
    return lines.count;
  }
  const entries = visibleStackEntries(node.entries, layout);
  if (node.type === "hstack") return component.render(width).length;
  const heights = entries.map((entry) => measureHeight(entry.component, width, layout));
  const sizes = allocateStackSizes(entries, heights, undefined, node.gap);
  return sizes.reduce((sum, size) => sum + size, node.gap * Math.max(0, entries.length - 1));
}

/** With the column of a scroll bar that has one of its own. */
function measureWidth(component: Component, width: number): number {
  const widest = component.render(width).reduce((result, line) => Math.max(result, visibleWidth(line)), 0);
  return component instanceof ScrollView ? widest + width - component.getContentWidth(width) : widest;
}

function drawScrollbar(layout: Layout, box: LayoutBox, view: ScrollView): void {
  const bar = getScrollbarGeometry(box);
  if (!bar) return;
  for (let row = 0; row < bar.trackHeight; row++) {
    const y = bar.trackTop + row;
    if (y < box.clip.y || y >= box.clip.y + box.clip.height) continue;
    const isThumb = y >= bar.thumbTop && y < bar.thumbTop + bar.thumbHeight;
    const text = isThumb ? view.scrollbarThumbStyle(view.isScrollbarActive ? "█" : "┃") : view.scrollbarTrackStyle("│");
    const columns = layout.rows[y] as Column[];
    for (const column of columns) {
      if (column.x <= bar.column && column.x + column.width > bar.column) column.width = bar.column - column.x;
    }
    columns.push({ x: bar.column, width: 1, text });
  }
}

/** Undefined while there is no scroll bar; with `includeHiddenAuto` also where one would appear. */
export function getScrollbarGeometry(box: LayoutBox, includeHiddenAuto = false): ScrollbarGeometry | undefined {
  const { scrollView, rect, children } = box;
  if (!scrollView || rect.height <= 0 || rect.width <= 0) return undefined;
  const contentHeight = children[0]?.rect.height ?? 0;
  const maxScrollTop = Math.max(0, contentHeight - rect.height);
  const mayAppear = includeHiddenAuto && scrollView.scrollbar === "auto" && maxScrollTop > 0;
  if (!scrollView.isScrollbarVisible && !mayAppear) return undefined;
  const share = Math.round((rect.height * rect.height) / Math.max(1, contentHeight));
  const thumbHeight = Math.min(rect.height, Math.max(Math.min(2, rect.height), share));
  const progress = maxScrollTop === 0 ? 0 : scrollView.scrollTop / maxScrollTop;
  const thumbTop = rect.y + Math.round((rect.height - thumbHeight) * progress);
  const column = rect.x + rect.width - 1;
  return { column, trackTop: rect.y, trackHeight: rect.height, thumbTop, thumbHeight, maxScrollTop };
}

/** Returns the boxes at a position of the screen, the innermost first. */
export function getLayoutBoxesAt(frame: LayoutFrame, x: number, y: number): LayoutBox[] {
  const find = (box: LayoutBox): LayoutBox[] => {
    if (!contains(box.clip, x, y)) return [];
    const inner = box.children.map(find).findLast((path) => path.length > 0) ?? [];
    return [...inner, box];
  };
  return find(frame.root);
}

export const getScrollViewsAt = (frame: LayoutFrame, x: number, y: number): ScrollView[] =>
  getLayoutBoxesAt(frame, x, y).flatMap(({ scrollView }) => scrollView ?? []);

export function getScrollViewBox(frame: LayoutFrame, scrollView: ScrollView): LayoutBox | undefined {
  const find = (box: LayoutBox): LayoutBox | undefined =>
    box.scrollView === scrollView ? box : box.children.map(find).find((found) => found !== undefined);
  return find(frame.root);
}
