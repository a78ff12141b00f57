/** A dialog that shows the tree of a session and chooses an entry of it. */
import { type Component, Container, Input, Spacer, Text, truncateToWidth } from "@tau/tui";
import type { SessionTreeNode } from "../session/session-tree.ts";
import { theme } from "../theme/theme.ts";
import { DynamicBorder } from "./dynamic-border.ts";
import { getTypedText, isAction } from "./keys.ts";
import {
  describeNode,
  type FilterMode,
  filterModes,
  findNextPart,
  findPartStart,
  getActiveIds,
  isPartStart,
  isShown,
  leaveOutFolded,
  linkRows,
  listRows,
  type TreeLinks,
  type TreeRow,
} from "./tree-rows.ts";

class TreeList implements Component {
  onSelect?: (entryId: string) => void;
  onCancel?: () => void;
  onLabelEdit?: (entryId: string, currentLabel: string | undefined) => void;
  readonly #rows: readonly TreeRow[];
  readonly #leafId: string | null;
  readonly #active: ReadonlySet<string>;
  readonly #maxVisible: number;
  #mode: FilterMode;
  #query = "";
  #shown: readonly TreeRow[] = [];
  /** The entries whose parts of the tree are hidden. */
  readonly #folded = new Set<string>();
  /** How the entries hang together that match, folded or not. */
  #links: TreeLinks = linkRows([]);
  /** Stays while nothing matches. */
  #selectedId: string | undefined;

  constructor(
    tree: readonly SessionTreeNode[],
    currentLeafId: string | null,
    maxVisibleLines: number,
    initialSelectedId?: string,
    initialFilterMode: FilterMode = "default",
  ) {
    this.#rows = listRows(tree, currentLeafId);
    this.#leafId = currentLeafId;
    this.#active = getActiveIds(tree, currentLeafId);
    this.#maxVisible = maxVisibleLines;
    this.#mode = initialFilterMode;
    this.#selectedId = initialSelectedId ?? currentLeafId ?? undefined;
    this.#update();
  }

  getSearchQuery(): string {
    return this.#query;
  }

  getSelectedNode(): SessionTreeNode | undefined {
    return this.#shown[this.#selectedIndex]?.node;
  }

  updateNodeLabel(entryId: string, label: string | undefined): void {
    const node = this.#rows.find((row) => row.node.entry.id === entryId)?.node;
    if (!node) return;
    if (label === undefined) delete node.label;
    else node.label = label;
    this.#update();
  }

  invalidate(): void {}

  render(width: number): string[] {
    if (this.#shown.length === 0) return [truncateToWidth(theme.fg("muted", "  No entries found"), width)];
    const selected = this.#selectedIndex;
    const first = Math.max(
      0,
      Math.min(selected - Math.floor(this.#maxVisible / 2), this.#shown.length - this.#maxVisible),
    );
    const rows = this.#shown.slice(first, first + this.#maxVisible);
    const lines = rows.map(({ node, depth }, index) => {
      const isSelected = first + index === selected;
      const mark = this.#active.has(node.entry.id) ? theme.fg("accent", "• ") : "";
      const fold = this.#folded.has(node.entry.id) ? theme.fg("accent", "⊞ ") : "";
      const start = `${isSelected ? theme.fg("accent", "› ") : "  "}${"  ".repeat(depth)}${fold}${mark}`;
      const line = `${start}${describeNode(node)}`;
      const cut = truncateToWidth(line, width);
      return isSelected ? theme.bg("selectedBg", cut) : cut;
    });
    const mode = this.#mode === "default" ? "" : ` [${this.#mode}]`;
    const status = theme.fg("muted", `  (${selected + 1}/${this.#shown.length})${mode}`);
    return [...lines, truncateToWidth(status, width)];
  }

  handleInput(data: string): void {
    const node = this.getSelectedNode();
    if (isAction(data, "tui.select.up")) this.#move(-1);
    else if (isAction(data, "tui.select.down")) this.#move(1);
    else if (isAction(data, "tui.select.pageUp") || isAction(data, "tui.editor.cursorLeft")) this.#page(-1);
    else if (isAction(data, "tui.select.pageDown") || isAction(data, "tui.editor.cursorRight")) this.#page(1);
    else if (isAction(data, "app.tree.foldOrUp")) this.#foldOrUp();
    else if (isAction(data, "app.tree.unfoldOrDown")) this.#unfoldOrDown();
    else if (isAction(data, "tui.select.confirm")) {
      if (node) this.onSelect?.(node.entry.id);
    } else if (isAction(data, "tui.select.cancel")) {
      if (this.#query === "") this.onCancel?.();
      else this.#search("");
    } else if (isAction(data, "tui.editor.deleteCharBackward")) this.#search(this.#query.slice(0, -1));
    else if (isAction(data, "app.tree.editLabel")) {
      if (node) this.onLabelEdit?.(node.entry.id, node.label);
    } else if (!this.#changeFilter(data)) {
      const typed = getTypedText(data);
      if (typed !== undefined) this.#search(this.#query + typed);
    }
  }

  get #selectedIndex(): number {
    return Math.max(0, this.#findIndex(this.#selectedId));
  }

  #findIndex(id: string | undefined): number {
    return this.#shown.findIndex(({ node }) => node.entry.id === id);
  }

  /** The selected entry or, if it is hidden, the nearest above it that is shown. */
  #getVisibleId(): string | undefined {
    const shown = new Set(this.#shown.map(({ node }) => node.entry.id));
    const parents = new Map(this.#rows.map(({ node }) => [node.entry.id, node.entry.parentId]));
    let id: string | null | undefined = this.#selectedId;
    while (id && !shown.has(id)) id = parents.get(id);
    return id ?? this.#shown.at(-1)?.node.entry.id;
  }

  #move(step: number): void {
    const count = this.#shown.length;
    if (count > 0) this.#select((this.#selectedIndex + step + count) % count);
  }

  #page(direction: number): void {
    const index = this.#selectedIndex + direction * this.#maxVisible;
    this.#select(Math.max(0, Math.min(this.#shown.length - 1, index)));
  }

  #foldOrUp(): void {
    const id = this.getSelectedNode()?.entry.id;
    if (id === undefined) return;
    if (!isPartStart(this.#links, id) || this.#folded.has(id)) {
      this.#select(this.#findIndex(findPartStart(this.#links, id)));
    } else {
      this.#folded.add(id);
      this.#update();
    }
  }

  #unfoldOrDown(): void {
    const id = this.getSelectedNode()?.entry.id;
    if (id === undefined) return;
    if (this.#folded.delete(id)) this.#update();
    else this.#select(this.#findIndex(findNextPart(this.#links, id)));
  }

  #select(index: number): void {
    this.#selectedId = this.#shown[index]?.node.entry.id ?? this.#selectedId;
  }

  /** True if the key was one of a filter. Pressed again, it ends the filter. */
  #changeFilter(data: string): boolean {
    const keys: readonly [string, FilterMode][] = [
      ["app.tree.filter.default", "default"],
      ["app.tree.filter.noTools", "no-tools"],
      ["app.tree.filter.userOnly", "user-only"],
      ["app.tree.filter.labeledOnly", "labeled-only"],
      ["app.tree.filter.all", "all"],
    ];
    const chosen = keys.find(([action]) => isAction(data, action))?.[1];
    if (chosen) this.#mode = this.#mode === chosen ? "default" : chosen;
    else if (isAction(data, "app.tree.filter.cycleForward")) this.#cycle(1);
    else if (isAction(data, "app.tree.filter.cycleBackward")) this.#cycle(-1);
    else return false;
    this.#folded.clear();
    this.#update();
    return true;
  }

  #cycle(step: number): void {
    const index = filterModes.indexOf(this.#mode) + step + filterModes.length;
    this.#mode = filterModes[index % filterModes.length]!;
  }

  #search(query: string): void {
    this.#query = query;
    this.#folded.clear();
    this.#update();
  }

  #update(): void {
    const words = this.#query.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = this.#rows.filter(({ node }) => {
      if (!isShown(node, this.#mode, this.#leafId)) return false;
      const text = describeNode(node).toLowerCase();
      return words.every((word) => text.includes(word));
    });
    this.#links = linkRows(rows, this.#rows);
    this.#shown = leaveOutFolded(rows, this.#links, this.#folded);
    if (this.#shown.length > 0) this.#selectedId = this.#getVisibleId();
  }
}

export class TreeSelectorComponent extends Container {
  readonly #list: TreeList;
  readonly #title = new Text("", 1, 0);
  #labelInput: Input | undefined;
  focused = false;

  constructor(
    tree: readonly SessionTreeNode[],
    currentLeafId: string | null,
    terminalHeight: number,
    onSelect: (entryId: string) => void,
    onCancel: () => void,
    onLabelChange?: (entryId: string, label: string | undefined) => void,
    initialSelectedId?: string,
    initialFilterMode?: FilterMode,
  ) {
    super();
    const maxVisible = Math.max(5, Math.floor(terminalHeight / 2));
    this.#list = new TreeList(tree, currentLeafId, maxVisible, initialSelectedId, initialFilterMode);
    this.#list.onSelect = onSelect;
    this.#list.onCancel = onCancel;
    this.#list.onLabelEdit = (entryId, label) => this.#editLabel(entryId, label, onLabelChange);
    this.addChild(new Spacer(1));
    this.addChild(new DynamicBorder());
    this.addChild(this.#title);
    this.addChild(this.#list);
    this.addChild(new DynamicBorder());
  }

  getTreeList(): TreeList {
    return this.#list;
  }

  override render(width: number): string[] {
    const query = this.#list.getSearchQuery();
    this.#title.setText(theme.bold("Session Tree") + (query === "" ? "" : theme.fg("muted", `  ${query}`)));
    return super.render(width);
  }

  handleInput(data: string): void {
    if (!this.#labelInput) this.#list.handleInput(data);
    else if (isAction(data, "tui.select.cancel")) this.#endLabel();
    else this.#labelInput.handleInput(data);
  }

  #editLabel(
    entryId: string,
    current: string | undefined,
    onChange: ((entryId: string, label: string | undefined) => void) | undefined,
  ): void {
    const input = new Input();
    input.setValue(current ?? "");
    input.onSubmit = (value) => {
      const label = value.trim() || undefined;
      this.#list.updateNodeLabel(entryId, label);
      onChange?.(entryId, label);
      this.#endLabel();
    };
    this.#labelInput = input;
    this.addChild(input);
  }

  #endLabel(): void {
    if (this.#labelInput) this.removeChild(this.#labelInput);
    this.#labelInput = undefined;
  }
}
