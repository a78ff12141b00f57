/**
 * The program that parses source files. It is a process of its own: a file that is made for it can take the parser's time without
 * end, or crash it, and neither may reach tau. The process gets this function as text, so it must not use anything from
 * outside of it: neither sources nor a bundle have a file that it could run.
 */
import type { Interface } from "node:readline";
import type * as Napi from "@ast-grep/napi";

export type ParserRequest = { id: number; grammar: string; text: string } & (
  | { kind: "match"; pattern: string; rewrite?: string; limit: number }
  | { kind: "outline" }
);

/** Offsets are in UTF-16 units. Lines and columns are counted from 1. */
export interface FoundMatch {
  start: number;
  end: number;
  line: number;
  column: number;
  endLine: number;
  /** The text that takes its place. */
  replacement?: string;
}

/** A node that begins a block: more than one line, as large as any that begins there. */
export interface FoundBlock {
  line: number;
  endLine: number;
}

export interface FoundSymbol {
  name: string;
  /** Such as `function`. */
  kind: string;
  line: number;
  column: number;
  endLine: number;
  /** How many symbols it is inside of. */
  depth: number;
}

export type ParserAnswer =
  | { id: number; kind: "matches"; matches: FoundMatch[]; total: number }
  | { id: number; kind: "outline"; symbols: FoundSymbol[]; blocks: FoundBlock[]; errorLine?: number }
  /** The pattern is not one piece of this language. */
  | { id: number; kind: "refused"; reason: string };

/** Kinds of nodes that are symbols, and where each has its name. */
const symbolKinds = {
  function_declaration: "function",
  generator_function_declaration: "function",
  function_signature: "function",
  class_declaration: "class",
  abstract_class_declaration: "class",
  interface_declaration: "interface",
  type_alias_declaration: "type",
  enum_declaration: "enum",
  internal_module: "namespace",
  module: "namespace",
  method_definition: "method",
  abstract_method_signature: "method",
  public_field_definition: "property",
  field_definition: "property",
  rule_set: "rule",
} as const;

/** The source of the program. Its first argument is the path of the parser's module. */
export const getProgramSource = (): string => `(${runParser.toString()})(require, ${JSON.stringify(symbolKinds)})`;

function runParser(load: (name: string) => unknown, kinds: Readonly<Record<string, string>>): void {
  const napi = load(process.argv[1]!) as typeof Napi;
  const { createInterface } = load("node:readline") as { createInterface(options: object): Interface };

  const place = (node: Napi.SgNode) => {
    const { start, end } = node.range();
    return {
      start: start.index,
      end: end.index,
      line: start.line + 1,
      column: start.column + 1,
      // A node that ends with a line break has no part of the line after it.
      endLine: end.column === 0 && end.line > start.line ? end.line : end.line + 1,
    };
  };
  /** `$NAME` stands for one node of the match, `$$$NAME` for all from the first to the last. */
  const fill = (rewrite: string, node: Napi.SgNode, text: string) =>
    rewrite.replaceAll(/\$\$\$([A-Z_][A-Z0-9_]*)|\$([A-Z_][A-Z0-9_]*)/g, (whole, many?: string, one?: string) => {
      if (one !== undefined) return node.getMatch(one)?.text() ?? whole;
      const nodes = node.getMultipleMatches(many!);
      const [first, last] = [nodes[0], nodes.at(-1)];
      return first && last ? text.slice(first.range().start.index, last.range().end.index) : "";
    });

  const match = (request: Extract<ParserRequest, { kind: "match" }>): unknown => {
    const { pattern, rewrite, limit, text } = request;
    const root = napi.parse(request.grammar as never, text).root();
    const nodes = root.findAll(pattern);
    const matches = nodes.slice(0, limit).map((node) => ({
      ...place(node),
      ...(rewrite !== undefined && { replacement: fill(rewrite, node, text) }),
    }));
    return { kind: "matches", matches, total: nodes.length };
  };

  const outline = ({ grammar, text }: ParserRequest): unknown => {
    const root = napi.parse(grammar as never, text).root();
    const symbols: object[] = [];
    const blocks = new Map<number, number>();
    // Without recursion: a file can be nested more deeply than the stack.
    const pending: { node: Napi.SgNode; depth: number; isInner: boolean }[] = [
      { node: root, depth: 0, isInner: false },
    ];
    const maxNodes = 200_000;
    for (let count = 0; pending.length > 0 && count < maxNodes; count++) {
      const { node, depth, isInner } = pending.pop()!;
      const { line, column, endLine } = place(node);
      const isRoot = node === root;
      if (!isRoot && node.isNamed() && endLine > line) blocks.set(line, Math.max(blocks.get(line) ?? 0, endLine));
      const nodeKind = String(node.kind());
      let kind = kinds[nodeKind];
      let name = kind === undefined ? undefined : node.field("name");
      if (kind === "rule") name = node.child(0);
      if (nodeKind === "variable_declarator") {
        const value = String(node.field("value")?.kind() ?? "");
        const isFunction = value === "arrow_function" || value.startsWith("function");
        // Of other variables only those of the module itself.
        if (isFunction || !isInner) [kind, name] = [isFunction ? "function" : "variable", node.field("name")];
      }
      const isSymbol = kind !== undefined && name !== null && name !== undefined;
      if (isSymbol) symbols.push({ name: name!.text().slice(0, 200), kind, line, column, endLine, depth });
      // Expressions of one line hold neither symbols nor blocks.
      const isOpen = endLine > line || isSymbol || /statement|declaration|block|body|list$/.test(nodeKind);
      if (!isRoot && !isOpen) continue;
      const inside = {
        depth: depth + (isSymbol ? 1 : 0),
        isInner: isInner || (isSymbol && kind !== "namespace") || nodeKind === "arrow_function",
      };
      for (const child of node.children().toReversed()) pending.push({ node: child, ...inside });
    }
    const missing = root.findAll({ rule: { regex: "^$" } }).filter((node) => node.isLeaf() && node.id() !== root.id());
    const errors = [root.find({ rule: { kind: "ERROR" as never } }), text.trim() === "" ? undefined : missing[0]];
    const errorLines = errors.flatMap((node) => (node ? [place(node).line] : []));
    const rows = [...blocks].map(([line, endLine]) => ({ line, endLine }));
    const errorLine = errorLines.length > 0 ? Math.min(...errorLines) : undefined;
    return { kind: "outline", symbols, blocks: rows, errorLine };
  };

  createInterface({ input: process.stdin }).on("line", (line: string) => {
    const request = JSON.parse(line) as ParserRequest;
    let answer: unknown;
    try {
      answer = request.kind === "match" ? match(request) : outline(request);
    } catch (error) {
      answer = { kind: "refused", reason: error instanceof Error ? error.message : String(error) };
    }
    process.stdout.write(`${JSON.stringify({ id: request.id, ...(answer as object) })}\n`);
  });
}
