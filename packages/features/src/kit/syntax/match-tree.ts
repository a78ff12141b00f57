/**
 * Finds code by a pattern in a syntax tree, for grammars that ast-grep does not have. It means the same by a pattern: `$NAME` is one
 * node, `$$$NAME` any number, and punctuation that the pattern leaves out is skipped. Its text is part of the parser's program, so it
 * uses nothing from outside.
 */
import type { TreeNode } from "./outline-tree.ts";

export type Captures = ReadonlyMap<string, readonly TreeNode[]>;

interface TreeMatch {
  readonly node: TreeNode;
  readonly captures: Captures;
}

interface TreePattern {
  /** All matches, also those inside of others, from top to bottom. */
  findAll(root: TreeNode): TreeMatch[];
}

/** Parses a text. Undefined if it has a syntax error; `isLenient` accepts that tokens are missing, such as a semicolon. */
type ParsePattern = (text: string, isLenient: boolean) => TreeNode | undefined;

/** Undefined if the pattern is not one piece of code, in none of the contexts. */
export function compilePattern(
  pattern: string,
  contexts: readonly (readonly [before: string, after: string])[],
  parse: ParsePattern,
): TreePattern | undefined {
  type Goal =
    | { kind: "one"; name: string }
    | { kind: "many"; name: string }
    | { kind: "leaf"; nodeKind: string; isNamed: boolean; text: string }
    | { kind: "inner"; nodeKind: string; isNamed: boolean; children: Goal[] };

  // A letter of identifiers in all languages; most have no `$` in theirs.
  const sign = "µ";
  const typed = pattern
    .trim()
    .replaceAll(/\$\$\$(?:[A-Z_][A-Z0-9_]*)?|\$[A-Z_][A-Z0-9_]*/g, (name) => name.replaceAll("$", sign));

  /** In a language of statements with semicolons, `$$$` alone is no statement. */
  const codes = typed === "" ? [] : [typed, typed.replaceAll(/(µµµ[A-Z0-9_]*)(?=\s*\})/g, "$1;")];

  const toGoal = (node: TreeNode): Goal => {
    const text = node.getText();
    const [, one, more, many = ""] = /^µ(?:([A-Z_][A-Z0-9_]*)|(µµ)([A-Z_][A-Z0-9_]*)?;?)$/.exec(text) ?? [];
    if (more !== undefined) return { kind: "many", name: many };
    if (one !== undefined) return { kind: "one", name: one };
    const { kind: nodeKind, isNamed } = node;
    // A token that is missing has no text.
    const children = node.getChildren().filter(({ start, end }) => end > start);
    if (children.length === 0) return { kind: "leaf", nodeKind, isNamed, text };
    return { kind: "inner", nodeKind, isNamed, children: children.map(toGoal) };
  };

  /** The innermost named node below the root that is exactly this range; undefined if none is. */
  const findExact = (root: TreeNode, start: number, end: number): TreeNode | undefined => {
    let exact: TreeNode | undefined;
    for (let node: TreeNode | undefined = root; node;) {
      if (node !== root && node.isNamed && node.start === start && node.end === end) exact = node;
      else if (exact) return exact;
      node = node.getChildren().find((child) => child.start <= start && child.end >= end && child.end > child.start);
    }
    return exact;
  };

  /** Adds children so that the first is taken first. Not with a spread: there may be more than a call has arguments. */
  const pushAll = (pending: TreeNode[], children: readonly TreeNode[]): void => {
    for (let index = children.length - 1; index >= 0; index--) pending.push(children[index]!);
  };
  const isSame = (a: TreeNode, b: TreeNode): boolean => {
    const [texts, others] = [getLeaves(a), getLeaves(b)];
    return texts.length === others.length && texts.every((text, index) => text === others[index]);
  };
  const getLeaves = (node: TreeNode): string[] => {
    const leaves: string[] = [];
    const pending = [node];
    for (let next = pending.pop(); next; next = pending.pop()) {
      const children = next.getChildren();
      if (children.length === 0) leaves.push(next.getText());
      else pushAll(pending, children);
    }
    return leaves;
  };

  /** Undefined if the name already stands for something else. */
  const capture = (captures: Captures, name: string, nodes: readonly TreeNode[]): Captures | undefined => {
    if (name === "" || name.startsWith("_")) return captures;
    const known = captures.get(name);
    if (!known) return new Map([...captures, [name, nodes]]);
    const isEqual = known.length === nodes.length && known.every((node, index) => isSame(node, nodes[index]!));
    return isEqual ? captures : undefined;
  };

  const match = (goal: Goal, node: TreeNode, captures: Captures): Captures | undefined => {
    if (goal.kind === "one") return node.isNamed ? capture(captures, goal.name, [node]) : undefined;
    if (goal.kind === "many") return capture(captures, goal.name, [node]);
    if (goal.nodeKind !== node.kind || goal.isNamed !== node.isNamed) return undefined;
    if (goal.kind === "leaf") return goal.text === node.getText() ? captures : undefined;
    return matchAll(goal.children, node.getChildren(), captures);
  };

  const matchAll = (goals: readonly Goal[], nodes: readonly TreeNode[], before: Captures): Captures | undefined => {
    let captures: Captures | undefined = before;
    let index = 0;
    for (let at = 0; at < goals.length; at++) {
      const goal = goals[at]!;
      if (goal.kind === "many") {
        const next = goals[at + 1];
        const from = index;
        if (!next) return capture(captures, goal.name, nodes.slice(from));
        if (next.kind !== "many") while (index < nodes.length && !match(next, nodes[index]!, captures)) index++;
        captures = capture(captures, goal.name, nodes.slice(from, index));
        if (!captures) return undefined;
        continue;
      }
      let matched: Captures | undefined;
      for (; index < nodes.length; index++) {
        matched = match(goal, nodes[index]!, captures);
        if (matched || nodes[index]!.isNamed) break;
      }
      if (!matched) return undefined;
      captures = matched;
      index++;
    }
    return nodes.slice(index).some(({ isNamed }) => isNamed) ? undefined : captures;
  };

  const findGoal = (isLenient: boolean): Goal | undefined => {
    for (const code of codes) {
      for (const [before, after] of contexts) {
        const root = parse(before + code + after, isLenient);
        const node = root && findExact(root, before.length, before.length + code.length);
        if (node) return toGoal(node);
      }
    }
    return undefined;
  };
  const goal = findGoal(false) ?? findGoal(true);
  if (!goal) return undefined;
  return {
    findAll(root) {
      const found: TreeMatch[] = [];
      const pending = [root];
      for (let node = pending.pop(); node; node = pending.pop()) {
        const captures = match(goal, node, new Map());
        if (captures) found.push({ node, captures });
        pushAll(pending, node.getChildren());
      }
      return found;
    },
  };
}
