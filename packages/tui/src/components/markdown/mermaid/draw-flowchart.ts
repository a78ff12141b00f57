/** Draws a flowchart: boxes in ranks, and lines between them. Pure. */
import { visibleWidth } from "../../../text/cells.ts";
import { wrapTextWithAnsi } from "../../../text/wrap.ts";
import { Canvas, type DrawingStyles, horizontal, sides, vertical } from "./canvas.ts";
import { measureLines, wrapLabel } from "./labels.ts";
import type { Flowchart, Head, NodeShape } from "./parse-flowchart.ts";
import { placeRanks } from "./place-ranks.ts";
import { type RankedGraph, rankGraph } from "./rank-graph.ts";
import { type Link, routeLinks } from "./route-links.ts";

type Direction = "down" | "right";

interface FlowchartOptions {
  readonly direction: Direction;
  readonly maxLabelWidth: number;
  readonly styles: DrawingStyles;
}

const cornersByShape: Readonly<Record<NodeShape, string>> = { box: "┌┐└┘", round: "╭╮╰╯", choice: "◇◇◇◇" };

/** How far the port of lines that lead back is from that of the others. */
const backOffset: Readonly<Record<Direction, number>> = { down: 2, right: 1 };

/** Undefined if its lines are too many, or could not be told apart. */
export function drawFlowchart(chart: Flowchart, options: FlowchartOptions): string[] | undefined {
  const { nodes, edges } = chart;
  const graph = rankGraph(
    nodes.length,
    edges.map(({ from, to, label }) => ({ from, to, hasLabel: label !== "" })),
  );
  if (!graph) return undefined;
  const parts = createParts(chart, graph, options);
  const layout = layOut(chart, graph, parts, options.direction);
  if (!layout) return undefined;
  const canvas = new Canvas();
  const pen = new Pen(canvas, options.direction);
  for (const part of layout.parts) drawPart(canvas, pen, part);
  for (const line of layout.lines) drawLine(pen, line);
  return canvas.toLines(options.styles);
}

/** The groups of a flowchart have no border: a line for each names what is in it. */
export const listGroups = ({ groups }: Flowchart, width: number, { text }: DrawingStyles): string[] =>
  groups
    .filter(({ members }) => members.length > 0)
    .flatMap(({ title, members }) => wrapTextWithAnsi(`${title}: ${members.join(", ")}`, width))
    .map((line) => (visibleWidth(line) === 0 ? line : text(line)));

/** A node, or a place on the way of an edge. "Along" is the direction of the edges, "across" that of the ranks. */
interface Part {
  readonly kind: NodeShape | "label" | "way";
  readonly name: string;
  readonly lines: readonly string[];
  readonly width: number;
  readonly height: number;
  readonly isDotted: boolean;
}

interface PlacedPart extends Part {
  readonly along: number;
  readonly across: number;
  readonly end: number;
  /** Where the lines to the next rank begin. */
  readonly rankEnd: number;
}

/** A line of an edge between two ranks. */
interface PlacedLine {
  readonly from: PlacedPart;
  readonly to: PlacedPart;
  /** Whether it has ports of its own, because it leads back while others lead on. */
  readonly leavesBack: boolean;
  readonly arrivesBack: boolean;
  /** The cells of its ports. */
  readonly start: number;
  readonly end: number;
  readonly bandEnd: number;
  /** Undefined if it is straight. */
  readonly turn: number | undefined;
  readonly startHead: Head;
  readonly endHead: Head;
  readonly isDotted: boolean;
}

function createParts({ nodes, edges }: Flowchart, graph: RankedGraph, options: FlowchartOptions): Part[] {
  const { direction, maxLabelWidth } = options;
  const isDown = direction === "down";
  // A port has as many cells on its left as on its right.
  const toSize = (size: number) => (isDown ? size + ((size + 1) % 2) : size);
  const turned = new Set(graph.edges.flatMap(({ path, isReversed }) => (isReversed ? [path[0], path.at(-1)] : [])));
  const parts = nodes.map(({ label, shape }, index): Part => {
    const loops = edges.flatMap((edge) => (edge.from === index && edge.to === index ? [`↻ ${edge.label}`.trim()] : []));
    const lines = [...wrapLabel(label, maxLabelWidth), ...loops.flatMap((loop) => wrapLabel(loop, maxLabelWidth))];
    // Lines that lead back need a port beside the other.
    const [minWidth, minHeight] = turned.has(index) ? [backOffset.down + 1, 2 * backOffset.right + 1] : [1, 1];
    const width = toSize(Math.max(isDown ? minWidth : 1, measureLines(lines)) + 4);
    const height = Math.max(isDown ? 1 : minHeight, lines.length) + 2;
    return { kind: shape, name: `node ${index}`, lines, width, height, isDotted: false };
  });
  for (const { edge, path, labelNode } of graph.edges) {
    for (const index of path.slice(1, -1)) {
      const name = `node ${index}`;
      const { label, isDotted } = edges[edge] ?? noEdge;
      const lines = index === labelNode ? wrapLabel(label, maxLabelWidth) : [];
      const shared = { name, lines, isDotted };
      parts[index] =
        lines.length === 0
          ? { kind: "way", ...shared, width: 1, height: 1 }
          : { kind: "label", ...shared, width: toSize(measureLines(lines) + 2), height: lines.length };
    }
  }
  return parts;
}

function layOut(
  { edges }: Flowchart,
  graph: RankedGraph,
  parts: readonly Part[],
  direction: Direction,
): { parts: readonly PlacedPart[]; lines: readonly PlacedLine[] } | undefined {
  const isDown = direction === "down";
  const getAlong = ({ width, height }: Part) => (isDown ? height : width);
  const getAcross = ({ width, height }: Part) => (isDown ? width : height);
  const starts = placeRanks(graph, { sizes: parts.map(getAcross), gap: isDown ? 3 : 1 });
  const rankOf = new Map(graph.ranks.flatMap((rank, index) => rank.map((node) => [node, index] as const)));
  const getPort = (node: number, isBack: boolean) =>
    (starts[node] ?? 0) + Math.floor((getAcross(parts[node] ?? noPart) - 1) / 2) + (isBack ? backOffset[direction] : 0);
  const steps = graph.edges.flatMap(({ edge, path, isReversed }) =>
    path.slice(1).flatMap((to, index) => {
      const { startHead, endHead, isDotted, isHidden } = edges[edge] ?? noEdge;
      const [first, last] = isReversed ? [endHead, startHead] : [startHead, endHead];
      const [isFirst, isLast] = [index === 0, index === path.length - 2];
      const ends: Pick<PlacedLine, "startHead" | "endHead" | "leavesBack" | "arrivesBack"> = {
        startHead: isFirst ? first : "none",
        endHead: isLast ? last : "none",
        leavesBack: isFirst && isReversed,
        arrivesBack: isLast && isReversed,
      };
      return isHidden ? [] : [{ from: path[index] ?? 0, to, isDotted, ...ends }];
    }),
  );
  const placed: PlacedPart[] = [];
  const lines: PlacedLine[] = [];
  let along = 0;
  let arriving: PlacedLineWithoutTo[] = [];
  for (const [index, rank] of graph.ranks.entries()) {
    const rankEnd = along + Math.max(...rank.map((node) => getAlong(parts[node] ?? noPart)));
    for (const node of rank) {
      const part = parts[node] ?? noPart;
      const end = along + getAlong(part);
      placed[node] = { ...part, along, across: starts[node] ?? 0, rankEnd, end };
    }
    for (const { target, ...line } of arriving) lines.push({ ...line, to: placed[target] ?? noPlace });
    const band = steps.filter(({ from }) => rankOf.get(from) === index);
    const links = band.map(({ from, to, leavesBack, arrivesBack }): Link => ({
      from: getPortName(from, leavesBack),
      to: getPortName(to, arrivesBack),
      start: getPort(from, leavesBack),
      end: getPort(to, arrivesBack),
    }));
    // Lines that would run over each other may not do so one cell further.
    const shifted = links.map((link, number) => ({
      ...link,
      end: link.end + (isDown && hasBorder(parts[band[number]?.to ?? 0] ?? noPart) ? 1 : 0),
    }));
    const chosen = routeLinks(links) ? links : shifted;
    const routes = routeLinks(chosen);
    if (!routes) return undefined;
    const bandStart = rankEnd;
    const lead = !isDown || band.some(({ startHead }) => startHead !== "none") ? 1 : 0;
    const tail = !isDown ? 2 : band.some(({ endHead }) => endHead !== "none") ? 1 : 0;
    const size = Math.max(isDown ? 1 : 4, lead + routes.trackCount + tail);
    arriving = band.map(({ from, to, ...step }, number) => {
      const track = routes.tracks[number];
      return {
        ...step,
        from: placed[from] ?? noPlace,
        target: to,
        start: chosen[number]?.start ?? 0,
        end: chosen[number]?.end ?? 0,
        bandEnd: bandStart + size,
        turn: track === undefined ? undefined : bandStart + lead + track,
      };
    });
    along = bandStart + size;
  }
  return { parts: placed, lines };
}

type PlacedLineWithoutTo = Omit<PlacedLine, "to"> & { readonly target: number };

const getPortName = (node: number, isBack: boolean) => `${node}${isBack ? " back" : ""}`;

const noEdge = { label: "", startHead: "none", endHead: "none", isDotted: false, isHidden: true } as const;
const noPart: Part = { kind: "way", name: "", lines: [], width: 1, height: 1, isDotted: false };
const noPlace: PlacedPart = { ...noPart, along: 0, across: 0, rankEnd: 1, end: 1 };

function drawPart(canvas: Canvas, pen: Pen, part: PlacedPart): void {
  const { kind, name, lines, width, height, along, across } = part;
  if (kind === "way") return pen.run(across, along, part.rankEnd, [`to ${name}`, `from ${name}`], part.isDotted);
  const { x, y } = pen.toPoint(along, across);
  const isBox = kind !== "label";
  if (isBox) canvas.box({ x, y, width, height }, cornersByShape[kind], name);
  const top = isBox ? y + 1 : y;
  for (const [row, line] of lines.entries())
    canvas.write(x + Math.floor((width - visibleWidth(line)) / 2), top + row, line);
}

function drawLine(pen: Pen, line: PlacedLine): void {
  const { from, to, start, end, bandEnd, turn, startHead, endHead, isDotted } = line;
  const leaving = `from ${from.name}${line.leavesBack ? " back" : ""}`;
  const arriving = `to ${to.name}${line.arrivesBack ? " back" : ""}`;
  if (turn === undefined) pen.run(start, from.end, bandEnd, [leaving, arriving], isDotted);
  else {
    pen.run(start, from.end, turn, [leaving], isDotted);
    pen.touch(turn, start, "back", [leaving], isDotted);
    pen.cross(turn, start, end, [leaving, arriving], isDotted);
    pen.touch(turn, end, "on", [arriving], isDotted);
    pen.run(end, turn + 1, bandEnd, [arriving], isDotted);
  }
  if (startHead !== "none") pen.head(from.end, start, startHead, "back");
  else if (hasBorder(from)) pen.touch(from.end - 1, start, "on", [from.name], false);
  if (endHead !== "none") pen.head(bandEnd - 1, end, endHead, "on");
  else if (hasBorder(to)) pen.touch(bandEnd, end, "back", [to.name], false);
}

const hasBorder = ({ kind }: Part): boolean => kind !== "way" && kind !== "label";

const headsDown: Readonly<Record<"on" | "back", string>> = { on: "▼", back: "▲" };
const headsRight: Readonly<Record<"on" | "back", string>> = { on: "▶", back: "◀" };

/** Draws on a canvas whose edges go down or to the right, whichever it is. */
class Pen {
  readonly #canvas: Canvas;
  readonly #isDown: boolean;

  constructor(canvas: Canvas, direction: Direction) {
    this.#canvas = canvas;
    this.#isDown = direction === "down";
  }

  toPoint(along: number, across: number): { x: number; y: number } {
    return this.#isDown ? { x: across, y: along } : { x: along, y: across };
  }

  /** Draws along the edges, from `start` up to, not including, `end`. */
  run(across: number, start: number, end: number, ends: readonly string[], isDotted: boolean): void {
    for (let along = start; along < end; along++)
      this.#stroke(along, across, this.#isDown ? vertical : horizontal, ends, isDotted);
  }

  /** Draws the half of a cell that is at its near or its far side. */
  touch(along: number, across: number, side: "on" | "back", ends: readonly string[], isDotted: boolean): void {
    const { up, right, down, left } = sides;
    const bits = side === "on" ? (this.#isDown ? down : right) : this.#isDown ? up : left;
    this.#stroke(along, across, bits, ends, isDotted);
  }

  /** Draws across the edges, from the middle of one cell to the middle of the other. */
  cross(along: number, start: number, end: number, ends: readonly string[], isDotted: boolean): void {
    const [first, last] = [Math.min(start, end), Math.max(start, end)];
    const { up, right, down, left } = sides;
    const [before, after] = this.#isDown ? [left, right] : [up, down];
    for (let across = first; across <= last; across++) {
      const bits = (across > first ? before : 0) | (across < last ? after : 0);
      this.#stroke(along, across, bits, ends, isDotted);
    }
  }

  head(along: number, across: number, head: Head, side: "on" | "back"): void {
    const arrow = (this.#isDown ? headsDown : headsRight)[side];
    const { x, y } = this.toPoint(along, across);
    this.#canvas.mark(x, y, head === "circle" ? "○" : head === "cross" ? "×" : arrow);
  }

  #stroke(along: number, across: number, bits: number, ends: readonly string[], isDotted: boolean): void {
    const { x, y } = this.toPoint(along, across);
    this.#canvas.stroke(x, y, bits, ends, isDotted);
  }
}
