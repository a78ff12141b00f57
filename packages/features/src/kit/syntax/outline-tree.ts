/** Lists the symbols of a syntax tree, and the nodes that may be blocks. Its text is part of the parser's program, so it uses nothing from outside. */
import type { OutlineSymbol } from "@tau/tools";
import type { LongNode } from "./find-blocks.ts";

/** A node of a syntax tree, whichever library parsed it. Lines and columns are counted from 1, offsets are in UTF-16 units. */
export interface TreeNode {
  readonly kind: string;
  readonly isNamed: boolean;
  readonly start: number;
  readonly end: number;
  readonly line: number;
  readonly column: number;
  /** The last line that it has a part of. */
  readonly endLine: number;
  getText(): string;
  getChildren(): readonly TreeNode[];
  getField(name: string): TreeNode | undefined;
}

/** Kinds of nodes that are symbols, in all languages. */
export const symbolKinds = {
  function_declaration: "function",
  generator_function_declaration: "function",
  function_signature: "function",
  function_definition: "function",
  function_item: "function",
  class_declaration: "class",
  abstract_class_declaration: "class",
  class_definition: "class",
  class_specifier: "class",
  class: "class",
  object_definition: "object",
  struct_item: "struct",
  struct_specifier: "struct",
  struct_declaration: "struct",
  record_declaration: "record",
  interface_declaration: "interface",
  trait_item: "trait",
  trait_definition: "trait",
  trait_declaration: "trait",
  impl_item: "impl",
  type_alias_declaration: "type",
  type_item: "type",
  type_spec: "type",
  enum_declaration: "enum",
  enum_item: "enum",
  enum_specifier: "enum",
  internal_module: "namespace",
  module: "namespace",
  mod_item: "namespace",
  namespace_definition: "namespace",
  namespace_declaration: "namespace",
  macro_definition: "macro",
  method_definition: "method",
  method_declaration: "method",
  abstract_method_signature: "method",
  constructor_declaration: "method",
  method: "method",
  singleton_method: "method",
  public_field_definition: "property",
  field_definition: "property",
  property_declaration: "property",
  const_item: "variable",
  static_item: "variable",
  rule_set: "rule",
} as const;

export function outlineTree(
  root: TreeNode,
  kinds: Readonly<Record<string, string>>,
): { symbols: OutlineSymbol[]; longNodes: LongNode[] } {
  const symbols: OutlineSymbol[] = [];
  const longNodes: LongNode[] = [];
  /** C has the name inside of declarators. */
  const getDeclared = (node: TreeNode): TreeNode | undefined => {
    let name = node.getField("declarator");
    for (let inner = name; inner; inner = inner.getField("declarator")) name = inner;
    return name;
  };
  const getName = (node: TreeNode, kind: string): TreeNode | undefined => {
    if (kind === "rule") return node.getChildren()[0];
    // A type of C that is only mentioned has a name and no body.
    if (node.kind.endsWith("_specifier") && !node.getField("body")) return undefined;
    return node.getField("name") ?? (kind === "impl" ? node.getField("type") : getDeclared(node));
  };
  /** A list of statements without a bracket, as in Python, begins with its first statement and is not opened by it. */
  const isList = (node: TreeNode) =>
    /block|body|list|statements|declarations$/.test(node.kind) && node.getChildren()[0]?.isNamed === true;
  const isDecorator = ({ kind }: TreeNode) => kind === "decorator" || kind === "attribute_item";
  // Without recursion: a file can be nested more deeply than the stack.
  const pending: { node: TreeNode; depth: number; isInner: boolean }[] = [{ node: root, depth: 0, isInner: false }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { node, depth, isInner } = next;
    const { line, column, endLine, start, end } = node;
    const isRoot = node === root;
    const isLong = endLine > line;
    if (!isRoot && isLong) longNodes.push({ line, endLine, start, end, isBlock: node.isNamed && !isList(node) });
    let kind = node.isNamed && !isRoot ? kinds[node.kind] : undefined;
    let name = kind === undefined ? undefined : getName(node, kind);
    if (node.kind === "variable_declarator") {
      const value = node.getField("value")?.kind ?? "";
      const isFunction = value === "arrow_function" || value.startsWith("function");
      // Other variables only if they are the module's own.
      if (isFunction || !isInner) [kind, name] = [isFunction ? "function" : "variable", node.getField("name")];
    }
    const isSymbol = kind !== undefined && name !== undefined;
    if (isSymbol) symbols.push({ name: name!.getText().slice(0, 200), kind: kind!, line, column, endLine, depth });
    // Expressions of one line hold neither symbols nor blocks.
    const isOpen = isLong || isSymbol || /statement|declaration|block|body|list$/.test(node.kind);
    if (!isRoot && !isOpen) continue;
    const inside = {
      depth: depth + (isSymbol ? 1 : 0),
      isInner: isInner || (isSymbol && kind !== "namespace") || node.kind === "arrow_function",
    };
    let following: TreeNode | undefined;
    for (const child of node.getChildren().toReversed()) {
      if (isDecorator(child) && following) {
        // What it decorates is the node after it, or the node that both are a part of.
        const decorated = following.isNamed ? following : node;
        const place = { line: child.line, start: child.start, endLine: decorated.endLine, end: decorated.end };
        if (place.endLine > place.line) longNodes.push({ ...place, isBlock: true });
      } else if (!child.kind.includes("comment")) following = child;
      // Tokens such as brackets hold nothing.
      if (child.isNamed) pending.push({ node: child, ...inside });
    }
  }
  return { symbols, longNodes };
}
