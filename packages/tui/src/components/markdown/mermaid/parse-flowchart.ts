/** Reads the source of a flowchart. Pure. */
import { toLabel } from "./labels.ts";

export type NodeShape = "box" | "round" | "choice";
export type Head = "none" | "arrow" | "circle" | "cross";

interface FlowNode {
  readonly id: string;
  label: string;
  shape: NodeShape;
}

interface FlowEdge {
  /** Indexes of nodes. */
  readonly from: number;
  readonly to: number;
  readonly label: string;
  readonly startHead: Head;
  readonly endHead: Head;
  readonly isDotted: boolean;
  /** Only keeps its nodes in order. */
  readonly isHidden: boolean;
}

/** Nodes that the source puts together, by their labels. */
interface FlowGroup {
  readonly title: string;
  readonly members: readonly string[];
}

export interface Flowchart {
  /** Whether its edges go down, or to the right. */
  readonly direction: "down" | "right";
  readonly nodes: readonly FlowNode[];
  readonly edges: readonly FlowEdge[];
  readonly groups: readonly FlowGroup[];
}

const maxNodes = 80;
const maxEdges = 160;

export const flowchartHeader = /^(?:graph|flowchart)(?:-elk)?(?:\s+(TB|TD|BT|LR|RL))?\s*(?:;|$)/;
/** Statements about colors, links and captions. */
const unseen = /^(?:classDef|class|style|linkStyle|click|accTitle|accDescr|direction)\b/;

const shapes: readonly (readonly [open: string, close: readonly string[], shape: NodeShape])[] = [
  ["(((", [")))"], "round"],
  ["((", ["))"], "round"],
  ["([", ["])"], "round"],
  ["[[", ["]]"], "box"],
  ["[(", [")]"], "round"],
  ["{{", ["}}"], "round"],
  ["[/", ["/]", "\\]"], "box"],
  ["[\\", ["\\]", "/]"], "box"],
  ["[", ["]"], "box"],
  ["(", [")"], "round"],
  ["{", ["}"], "choice"],
  [">", ["]"], "box"],
];

const identifier = /[\p{L}\p{N}_](?:[\p{L}\p{N}_]|[.-](?=[\p{L}\p{N}_]))*/uy;
const className = /:::[\w-]+/y;
const link = /(<|[ox](?=[-=]))?(?:~{3,}|-{2,}[>ox]|-{3,}|={2,}[>ox]|={3,}|-\.+-[>ox]?)/y;
const labelledLink = /(<|[ox](?=[-=]))?(?:--|==|-\.)(?![-=.>])(.+?)(?:-{2,}[>ox]?|={2,}[>ox]?|\.+-[>ox]?)/y;
const pipedLabel = /\s*\|([^|]*)\|/y;
const heads: Readonly<Record<string, Head>> = { "<": "arrow", ">": "arrow", o: "circle", x: "cross" };

/** Undefined if there is anything in it that cannot be drawn. Without `isComplete` more lines follow. */
export function parseFlowchart(lines: readonly string[], isComplete: boolean): Flowchart | undefined {
  const [header = "", ...rest] = lines;
  const [matched, direction = "TB"] = flowchartHeader.exec(header) ?? [];
  if (matched === undefined) return undefined;
  const reader = new FlowchartReader();
  for (const line of [header.slice(matched.length), ...rest]) {
    for (const statement of splitStatements(line)) if (!reader.read(statement)) return undefined;
  }
  return reader.finish(direction, isComplete);
}

/** A semicolon in a quoted text ends nothing. */
const splitStatements = (line: string): string[] =>
  (line.match(/(?:"[^"]*"|[^;"]|")+?(?=;|$)/g) ?? []).map((statement) => statement.trim()).filter(Boolean);

interface Link {
  readonly label: string;
  readonly startHead: Head;
  readonly endHead: Head;
  readonly isDotted: boolean;
  readonly isHidden: boolean;
}

interface OpenGroup {
  readonly id: string;
  readonly title: string;
  readonly members: Set<number>;
}

class FlowchartReader {
  readonly #nodes: FlowNode[] = [];
  readonly #indexes = new Map<string, number>();
  readonly #edges: FlowEdge[] = [];
  readonly #groups: OpenGroup[] = [];
  readonly #open: OpenGroup[] = [];
  #text = "";
  #index = 0;

  /** Reads one statement. False if it is not known. */
  read(statement: string): boolean {
    if (unseen.test(statement)) return true;
    if (/^subgraph\b/.test(statement)) return this.#openGroup(statement.slice("subgraph".length).trim());
    if (statement === "end") return this.#open.pop() !== undefined;
    this.#text = statement;
    this.#index = 0;
    let before = this.#readNodes();
    while (before && this.#index < this.#text.length) {
      const read = this.#readLink();
      const nodes = read && this.#readNodes();
      if (!nodes) return false;
      for (const from of before) for (const to of nodes) this.#edges.push({ from, to, ...read });
      before = nodes;
    }
    return before !== undefined && this.#nodes.length <= maxNodes && this.#edges.length <= maxEdges;
  }

  finish(direction: string, isComplete: boolean): Flowchart | undefined {
    if ((isComplete && this.#open.length > 0) || this.#nodes.length === 0) return undefined;
    // An edge may lead to a group as a whole.
    for (const { id, title } of this.#groups) {
      const node = this.#nodes[this.#indexes.get(id) ?? -1];
      if (node?.label === id) node.label = title;
    }
    const isTurned = direction === "BT" || direction === "RL";
    return {
      direction: direction === "LR" || direction === "RL" ? "right" : "down",
      nodes: this.#nodes,
      edges: isTurned ? this.#edges.map(turn) : this.#edges,
      groups: this.#groups.map(({ title, members }) => ({
        title,
        members: [...members].map((index) => this.#nodes[index]?.label.replaceAll("\n", " ") ?? ""),
      })),
    };
  }

  #openGroup(source: string): boolean {
    const [, id = source, bracketed] = /^(\S+)\s*\[([^]*)\]$/.exec(source) ?? [];
    const group = { id, title: toLabel(bracketed ?? source), members: new Set<number>() };
    this.#groups.push(group);
    this.#open.push(group);
    return true;
  }

  #readNodes(): number[] | undefined {
    const indexes: number[] = [];
    do {
      const index = this.#readNode();
      if (index === undefined) return undefined;
      indexes.push(index);
    } while (this.#take(/\s*&/y));
    this.#take(/\s+/y);
    return indexes;
  }

  #readNode(): number | undefined {
    this.#take(/\s+/y);
    const id = this.#take(identifier)?.[0];
    if (id === undefined) return undefined;
    const body = this.#readShape();
    if (body === "unfinished") return undefined;
    this.#take(className);
    const index = this.#indexes.get(id) ?? this.#nodes.push({ id, label: id, shape: "box" }) - 1;
    this.#indexes.set(id, index);
    const node = this.#nodes[index];
    if (node && body) Object.assign(node, body);
    this.#open.at(-1)?.members.add(index);
    return index;
  }

  #readShape(): Pick<FlowNode, "label" | "shape"> | "unfinished" | undefined {
    const known = shapes.find(([open]) => this.#text.startsWith(open, this.#index));
    if (!known) return undefined;
    const [open, closes, shape] = known;
    const start = this.#index + open.length;
    const quoted = /\s*"[^"]*"\s*/y;
    quoted.lastIndex = start;
    const from = start + (quoted.exec(this.#text)?.[0].length ?? 0);
    const ends = closes.map((close) => ({ at: this.#text.indexOf(close, from), close })).filter(({ at }) => at !== -1);
    const end = ends.toSorted((a, b) => a.at - b.at)[0];
    if (!end) return "unfinished";
    this.#index = end.at + end.close.length;
    return { label: toLabel(this.#text.slice(start, end.at)), shape };
  }

  #readLink(): Link | undefined {
    const plain = this.#take(link);
    const matched = plain ?? this.#take(labelledLink);
    if (!matched) return undefined;
    const [text, start = "", inline] = matched;
    const label = plain ? this.#take(pipedLabel)?.[1] : inline;
    return {
      label: toLabel(label ?? ""),
      startHead: heads[start] ?? "none",
      endHead: heads[text.at(-1) ?? ""] ?? "none",
      isDotted: text.includes("-.") || /\.+-[>ox]?$/.test(text),
      isHidden: text.includes("~~~"),
    };
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#index;
    const matched = pattern.exec(this.#text);
    if (!matched) return undefined;
    this.#index = pattern.lastIndex;
    return matched;
  }
}

const turn = ({ from, to, startHead, endHead, ...rest }: FlowEdge): FlowEdge => ({
  ...rest,
  from: to,
  to: from,
  startHead: endHead,
  endHead: startHead,
});
