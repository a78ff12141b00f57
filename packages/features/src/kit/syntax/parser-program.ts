/**
 * The program that parses source files. It is a process of its own: a file that is made for it can take the parser's time without
 * end, or crash it, and neither may reach tau. The process gets these functions as text, so they must not use anything from
 * outside of them: neither sources nor a bundle have a file that it could run.
 */
import type * as Fs from "node:fs";
import type { Interface } from "node:readline";
import type * as Napi from "@ast-grep/napi";
import type { OutlineSymbol, SyntaxBlock } from "@tau/tools";
import type * as Wasm from "web-tree-sitter";
import { findBlocks } from "./find-blocks.ts";
import { type Captures, compilePattern } from "./match-tree.ts";
import { outlineTree, symbolKinds, type TreeNode } from "./outline-tree.ts";

/** A grammar is prepared before a text is parsed with it, since that takes time of its own. */
export type ParserRequest = {
  id: number;
  /** The name of the grammar. */
  grammar: string;
  /** Whether the grammar is WebAssembly and not one of ast-grep. */
  isWasm: boolean;
} & (
  | {
      kind: "prepare";
      /** The grammar itself, in Base64. */
      wasm?: string;
    }
  /** Asks which files may have a match. The program reads them itself, so that most need not be sent to it. */
  | { kind: "filter"; pattern: string; paths: readonly string[]; maxBytes: number }
  | TextRequest
);

type TextRequest = {
  text: string;
  /** See `Language.contexts`. */
  contexts?: readonly (readonly [string, string])[];
} & ({ kind: "match"; pattern: string; rewrite?: string; limit: number } | { kind: "outline" });

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

export type ParserAnswer =
  | { id: number; kind: "prepared" }
  | { id: number; kind: "matches"; matches: FoundMatch[]; total: number }
  /** The indices of the files that have a match, or have to be looked at in another way. */
  | { id: number; kind: "filtered"; kept: number[] }
  | { id: number; kind: "outline"; symbols: OutlineSymbol[]; blocks: SyntaxBlock[]; errorLine?: number }
  /** The pattern is not one piece of this language. */
  | { id: number; kind: "refused"; reason: string }
  /** The grammar cannot be used. */
  | { id: number; kind: "unavailable"; message: string };

/** The source of the program. Its arguments are the paths of the modules of both parsers; empty for one that is missing. */
export const getProgramSource = (): string =>
  `(${runParser.toString()})(require, {
    outlineTree: ${outlineTree.toString()},
    findBlocks: ${findBlocks.toString()},
    compilePattern: ${compilePattern.toString()},
    symbolKinds: ${JSON.stringify(symbolKinds)},
  })`;

interface ParserParts {
  outlineTree: typeof outlineTree;
  findBlocks: typeof findBlocks;
  compilePattern: typeof compilePattern;
  symbolKinds: Readonly<Record<string, string>>;
}

function runParser(load: (name: string) => unknown, parts: ParserParts): void {
  const [, napiPath = "", wasmPath = ""] = process.argv;
  const { createInterface } = load("node:readline") as { createInterface(options: object): Interface };
  const { readFileSync, statSync } = load("node:fs") as typeof Fs;
  type Prepare = Extract<ParserRequest, { kind: "prepare" }>;
  type MatchRequest = Extract<ParserRequest, { kind: "match" }>;
  type FilterRequest = Extract<ParserRequest, { kind: "filter" }>;
  type OutlineRequest = Extract<ParserRequest, { kind: "outline" }>;

  /** A node that ends with a line break has no part of the line after it. */
  const getEndLine = (line: number, endLine: number, endColumn: number) =>
    endColumn === 0 && endLine > line ? endLine : endLine + 1;

  const place = ({ start, end, line, column, endLine }: TreeNode) => ({ start, end, line, column, endLine });

  /** `$NAME` stands for one node of the match, `$$$NAME` for all from the first to the last. */
  const fill = (rewrite: string, text: string, getNodes: (name: string, isMany: boolean) => readonly TreeNode[]) =>
    rewrite.replaceAll(/\$\$\$([A-Z_][A-Z0-9_]*)|\$([A-Z_][A-Z0-9_]*)/g, (whole, many?: string, one?: string) => {
      const nodes = getNodes((many ?? one)!, many !== undefined);
      const [first, last] = [nodes[0], nodes.at(-1)];
      return first && last ? text.slice(first.start, last.end) : one === undefined ? "" : whole;
    });

  const fromNapi = (node: Napi.SgNode): TreeNode => {
    const { start, end } = node.range();
    return {
      kind: String(node.kind()),
      isNamed: node.isNamed(),
      start: start.index,
      end: end.index,
      line: start.line + 1,
      column: start.column + 1,
      endLine: getEndLine(start.line, end.line, end.column),
      getText: () => node.text(),
      getChildren: () => node.children().map(fromNapi),
      getField: (name) => {
        const field = node.field(name);
        return field ? fromNapi(field) : undefined;
      },
    };
  };

  const describe = (root: TreeNode, text: string) => {
    const { symbols, longNodes } = parts.outlineTree(root, parts.symbolKinds);
    return { symbols, blocks: parts.findBlocks(longNodes, text) };
  };

  let napi: typeof Napi;
  const parseNapi = ({ grammar, text }: MatchRequest | OutlineRequest): Napi.SgNode =>
    napi.parse(grammar as never, text).root();
  const matchNapi = (request: MatchRequest): unknown => {
    const { pattern, rewrite, limit, text } = request;
    const nodes = parseNapi(request).findAll(pattern);
    const matches = nodes.slice(0, limit).map((node) => {
      const getNodes = (name: string, isMany: boolean) =>
        (isMany ? node.getMultipleMatches(name) : [node.getMatch(name)]).flatMap((each) =>
          each ? fromNapi(each) : [],
        );
      const replacement = rewrite === undefined ? undefined : fill(rewrite, text, getNodes);
      return { ...place(fromNapi(node)), replacement };
    });
    return { kind: "matches", matches, total: nodes.length };
  };
  const filterNapi = ({ grammar, pattern, paths, maxBytes }: FilterRequest): unknown => {
    const mayMatch = (path: string): boolean => {
      try {
        const stats = statSync(path);
        if (!stats.isFile() || stats.size > maxBytes) return true;
        const text = readFileSync(path, "utf8").replace(/^\ufeff/, "");
        return (
          napi
            .parse(grammar as never, text)
            .root()
            .find(pattern) !== null
        );
      } catch {
        // The sandbox may not have the file, or the pattern is none: whoever asks finds out.
        return true;
      }
    };
    return { kind: "filtered", kept: paths.flatMap((path, index) => (mayMatch(path) ? [index] : [])) };
  };
  const outlineNapi = (request: OutlineRequest): unknown => {
    const root = parseNapi(request);
    const missing = root.findAll({ rule: { regex: "^$" } }).filter((node) => node.isLeaf() && node.id() !== root.id());
    const isEmpty = request.text.trim() === "";
    const errors = [root.find({ rule: { kind: "ERROR" as never } }), isEmpty ? undefined : missing[0]];
    const errorLines = errors.flatMap((node) => (node ? [node.range().start.line + 1] : []));
    const errorLine = errorLines.length > 0 ? Math.min(...errorLines) : undefined;
    return { kind: "outline", ...describe(fromNapi(root), request.text), errorLine };
  };

  const fromWasm = (node: Wasm.Node): TreeNode => {
    const { startPosition: from, endPosition: to } = node;
    let children: readonly TreeNode[] | undefined;
    return {
      kind: node.type,
      isNamed: node.isNamed,
      start: node.startIndex,
      end: node.endIndex,
      line: from.row + 1,
      column: from.column + 1,
      endLine: getEndLine(from.row, to.row, to.column),
      getText: () => node.text,
      getChildren: () => (children ??= node.children.flatMap((child) => (child ? [fromWasm(child)] : []))),
      getField: (name) => {
        const field = node.childForFieldName(name);
        return field ? fromWasm(field) : undefined;
      },
    };
  };

  const parsers = new Map<string, Wasm.Parser>();
  const prepare = async ({ grammar, isWasm, wasm = "" }: Prepare): Promise<unknown> => {
    try {
      if (isWasm) {
        const { Parser, Language } = load(wasmPath) as typeof Wasm;
        await Parser.init();
        const parser = new Parser();
        parser.setLanguage(await Language.load(Buffer.from(wasm, "base64")));
        parsers.set(grammar, parser);
      } else napi = load(napiPath) as typeof Napi;
      return { kind: "prepared" };
    } catch (error) {
      const message = `The grammar of ${grammar} cannot be used (${String(error)}). Another version of its package may help.`;
      return { kind: "unavailable", message };
    }
  };
  const answerWasm = (request: MatchRequest | OutlineRequest): unknown => {
    const { grammar, text } = request;
    const parser = parsers.get(grammar)!;
    const withTree = <T>(code: string, use: (root: Wasm.Node) => T): T => {
      const tree = parser.parse(code)!;
      try {
        return use(tree.rootNode);
      } finally {
        tree.delete();
      }
    };
    if (request.kind === "outline") return withTree(text, (root) => outlineWasm(root, text));
    const { pattern, rewrite, limit, contexts = [] } = request;
    const trees: Wasm.Tree[] = [];
    const parsePattern = (code: string, isLenient: boolean) => {
      const tree = parser.parse(code)!;
      trees.push(tree);
      const { rootNode } = tree;
      const isWrong = isLenient ? findError(rootNode, false) !== undefined : rootNode.hasError;
      return isWrong ? undefined : fromWasm(rootNode);
    };
    const everywhere = [
      ["", ""],
      ["", "\n"],
      ["", ";"],
      ["", ";\n"],
    ] as const;
    const compiled = parts.compilePattern(pattern, [...contexts, ...everywhere], parsePattern);
    for (const tree of trees) tree.delete();
    if (!compiled) return { kind: "refused", reason: "it is not one piece of code." };
    return withTree(text, (root) => {
      const found = compiled.findAll(fromWasm(root));
      const matches = found.slice(0, limit).map(({ node, captures }) => ({
        ...place(node),
        replacement: rewrite === undefined ? undefined : fill(rewrite, text, getCaptured(captures)),
      }));
      return { kind: "matches", matches, total: found.length };
    });
  };
  const getCaptured =
    (captures: Captures) =>
    (name: string): readonly TreeNode[] =>
      captures.get(name) ?? [];
  /** The first node that is an error, or also a token that is missing. */
  const findError = (root: Wasm.Node, isMissingToo: boolean): Wasm.Node | undefined => {
    const pending = [root];
    for (let node = pending.pop(); node; node = pending.pop()) {
      if (node.isError || (isMissingToo && node.isMissing)) return node;
      if (!node.hasError) continue;
      const { children } = node;
      for (let index = children.length - 1; index >= 0; index--) if (children[index]) pending.push(children[index]!);
    }
    return undefined;
  };
  const outlineWasm = (root: Wasm.Node, text: string): unknown => {
    const error = findError(root, true);
    const errorLine = error ? error.startPosition.row + 1 : undefined;
    return { kind: "outline", ...describe(fromWasm(root), text), errorLine };
  };

  const answer = async (request: ParserRequest): Promise<unknown> => {
    try {
      if (request.kind === "prepare") return await prepare(request);
      if (request.kind === "filter") return filterNapi(request);
      if (request.isWasm) return answerWasm(request);
      return request.kind === "match" ? matchNapi(request) : outlineNapi(request);
    } catch (error) {
      return { kind: "refused", reason: error instanceof Error ? error.message : String(error) };
    }
  };
  // One after the other: the next request comes after the answer to this one.
  createInterface({ input: process.stdin }).on("line", (line: string) => {
    const request = JSON.parse(line) as ParserRequest;
    void answer(request).then((result) =>
      process.stdout.write(`${JSON.stringify({ id: request.id, ...(result as object) })}\n`),
    );
  });
}
