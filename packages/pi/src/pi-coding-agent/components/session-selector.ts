/** A dialog that chooses a session. */
import { unlink } from "node:fs/promises";
import { type Component, Container, Input, Spacer, Text, truncateToWidth } from "@tau/tui";
import { getErrorMessage } from "@tau/ai/internal";
import type { SessionInfo } from "../session/list-sessions.ts";
import { theme } from "../theme/theme.ts";
import { DynamicBorder } from "./dynamic-border.ts";
import { rawKeyHint } from "./key-hints.ts";
import { getActionKeys, getTypedText, isAction } from "./keys.ts";
import { filterAndSortSessions, type NameFilter, type SortMode } from "./session-search.ts";

const sortModes: readonly SortMode[] = ["threaded", "recent", "relevance"];
const maxVisible = 10;

class SessionList implements Component {
  onSelect?: (sessionPath: string) => void;
  onCancel?: () => void;
  onToggleScope?: () => void;
  onDeleteConfirmationChange?: (path: string | null) => void;
  onDeleteSession?: (sessionPath: string) => Promise<void>;
  onRenameSession?: (sessionPath: string) => void;
  onError?: (message: string) => void;
  focused = false;
  readonly #currentPath: string | undefined;
  #all: readonly SessionInfo[] = [];
  #shown: readonly SessionInfo[] = [];
  #query = "";
  #sortMode: SortMode = "threaded";
  #nameFilter: NameFilter = "all";
  #index = 0;
  /** The session that is deleted once this is confirmed. */
  #deleting: string | null = null;

  constructor(sessions: readonly SessionInfo[], currentSessionFilePath?: string) {
    this.#currentPath = currentSessionFilePath;
    this.setSessions(sessions);
  }

  setSessions(sessions: readonly SessionInfo[]): void {
    this.#all = sessions;
    this.#update();
  }

  setSortMode(sortMode: SortMode): void {
    this.#sortMode = sortMode;
    this.#update();
  }

  setNameFilter(nameFilter: NameFilter): void {
    this.#nameFilter = nameFilter;
    this.#update();
  }

  getSelectedSessionPath(): string | undefined {
    return this.#shown[this.#index]?.path;
  }

  getQuery(): string {
    return this.#query;
  }

  invalidate(): void {}

  render(width: number): string[] {
    if (this.#shown.length === 0) return [theme.fg("muted", truncateToWidth("  No sessions found", width))];
    const start = Math.max(0, Math.min(this.#index - Math.floor(maxVisible / 2), this.#shown.length - maxVisible));
    return this.#shown.slice(start, start + maxVisible).map((session, offset) => {
      const isSelected = start + offset === this.#index;
      const title = (session.name ?? session.firstMessage).replace(/\s+/g, " ").trim();
      const line = truncateToWidth(`${isSelected ? "› " : "  "}${title} (${session.messageCount})`, width);
      if (session.path === this.#deleting) return theme.fg("error", line);
      return isSelected ? theme.fg("accent", line) : line;
    });
  }

  handleInput(data: string): void {
    if (this.#deleting !== null) return this.#handleConfirmation(data);
    const path = this.getSelectedSessionPath();
    if (isAction(data, "tui.select.up")) this.#move(-1);
    else if (isAction(data, "tui.select.down")) this.#move(1);
    else if (isAction(data, "tui.select.pageUp")) this.#move(-maxVisible);
    else if (isAction(data, "tui.select.pageDown")) this.#move(maxVisible);
    else if (isAction(data, "tui.input.tab")) this.onToggleScope?.();
    else if (isAction(data, "tui.select.confirm")) {
      if (path !== undefined) this.onSelect?.(path);
    } else if (isAction(data, "tui.select.cancel")) this.onCancel?.();
    else if (isAction(data, "app.session.toggleSort")) {
      this.setSortMode(sortModes[(sortModes.indexOf(this.#sortMode) + 1) % sortModes.length]!);
    } else if (isAction(data, "app.session.toggleNamedFilter")) {
      this.setNameFilter(this.#nameFilter === "all" ? "named" : "all");
    } else if (isAction(data, "app.session.delete")) this.#askToDelete(path);
    else if (this.#query === "" && isAction(data, "app.session.deleteNoninvasive")) this.#askToDelete(path);
    else if (isAction(data, "app.session.rename")) {
      if (path !== undefined) this.onRenameSession?.(path);
    } else if (isAction(data, "tui.editor.deleteCharBackward")) this.#search(this.#query.slice(0, -1));
    else {
      const typed = getTypedText(data);
      if (typed !== undefined) this.#search(this.#query + typed);
    }
  }

  #handleConfirmation(data: string): void {
    const path = this.#deleting!;
    const isConfirmed = isAction(data, "tui.select.confirm");
    if (!isConfirmed && !isAction(data, "tui.select.cancel")) return;
    this.#setDeleting(null);
    if (!isConfirmed) return;
    this.onDeleteSession?.(path).catch((error: unknown) => this.onError?.(getErrorMessage(error)));
  }

  #askToDelete(path: string | undefined): void {
    if (path === undefined) return;
    if (path === this.#currentPath) this.onError?.("Cannot delete the currently active session");
    else this.#setDeleting(path);
  }

  #setDeleting(path: string | null): void {
    this.#deleting = path;
    this.onDeleteConfirmationChange?.(path);
  }

  #move(step: number): void {
    this.#index = Math.max(0, Math.min(this.#shown.length - 1, this.#index + step));
  }

  #search(query: string): void {
    this.#query = query;
    this.#index = 0;
    this.#update();
  }

  #update(): void {
    this.#shown = filterAndSortSessions(this.#all, this.#query, this.#sortMode, this.#nameFilter);
    this.#move(0);
  }
}

type Scope = "current" | "all";
type Load = (onProgress?: (loaded: number, total: number) => void) => Promise<SessionInfo[]>;

interface Options {
  renameSession?: (sessionPath: string, currentName: string | undefined) => Promise<void>;
  /** Default: if sessions can be renamed. */
  showRenameHint?: boolean;
}

const getHints = (canRename: boolean): string =>
  [
    ["tui.input.tab", "scope"],
    ["app.session.toggleSort", "sort"],
    ["app.session.toggleNamedFilter", "named"],
    ["app.session.delete", "delete"],
    ...(canRename ? [["app.session.rename", "rename"]] : []),
  ]
    .map(([action, description]) => rawKeyHint(getActionKeys(action!).join("/"), description!))
    .join(" · ");

export class SessionSelectorComponent extends Container {
  readonly #list: SessionList;
  readonly #title = new Text("", 1, 0);
  readonly #loaders: Readonly<Record<Scope, Load>>;
  readonly #requestRender: () => void;
  readonly #renameSession: Options["renameSession"];
  /** The loads in progress, by scope. */
  readonly #loading = new Map<Scope, Promise<SessionInfo[]>>();
  #scope: Scope = "current";
  #sessions: readonly SessionInfo[] = [];
  #renaming: Input | undefined;
  focused = false;

  constructor(
    currentSessionsLoader: Load,
    allSessionsLoader: Load,
    onSelect: (sessionPath: string) => void,
    onCancel: () => void,
    _onExit: () => void,
    requestRender: () => void,
    { renameSession, showRenameHint = renameSession !== undefined }: Options = {},
    currentSessionFilePath?: string,
  ) {
    super();
    this.#loaders = { current: currentSessionsLoader, all: allSessionsLoader };
    this.#requestRender = requestRender;
    this.#renameSession = renameSession;
    this.#list = new SessionList([], currentSessionFilePath);
    this.#list.onSelect = onSelect;
    this.#list.onCancel = onCancel;
    this.#list.onToggleScope = () => {
      this.#scope = this.#scope === "current" ? "all" : "current";
      void this.#load();
    };
    this.#list.onError = (message) => this.#show(theme.fg("error", message));
    this.#list.onDeleteConfirmationChange = (path) => {
      if (path === null) this.#showScope();
      else this.#show(theme.fg("error", "Delete session? [Enter] confirm · [Esc] cancel"));
    };
    this.#list.onDeleteSession = async (path) => {
      await unlink(path);
      await this.#reload();
    };
    this.#list.onRenameSession = (path) => this.#rename(path);
    this.addChild(new DynamicBorder());
    this.addChild(this.#title);
    this.addChild(new Text(getHints(showRenameHint), 1, 0));
    this.addChild(new Spacer(1));
    this.addChild(this.#list);
    this.addChild(new DynamicBorder());
    void this.#load();
  }

  getSessionList(): SessionList {
    return this.#list;
  }

  handleInput(data: string): void {
    if (!this.#renaming) this.#list.handleInput(data);
    else if (isAction(data, "tui.select.cancel")) this.#endRename();
    else this.#renaming.handleInput(data);
  }

  /** A load in progress shows its list itself, if its scope is still or again the one that is shown. */
  async #load(): Promise<void> {
    const scope = this.#scope;
    this.#showScope();
    if (this.#loading.has(scope)) return;
    const loading = this.#loaders[scope]();
    this.#loading.set(scope, loading);
    const isShown = () => this.#loading.get(scope) === loading && scope === this.#scope;
    try {
      const sessions = await loading;
      if (isShown()) {
        this.#sessions = sessions;
        this.#list.setSessions(sessions);
      }
    } catch (error) {
      if (isShown()) this.#show(theme.fg("error", `Failed to load sessions: ${getErrorMessage(error)}`));
    }
    if (this.#loading.get(scope) === loading) this.#loading.delete(scope);
    this.#requestRender();
  }

  /** After a change, lists that are still being loaded are dropped. */
  async #reload(): Promise<void> {
    this.#loading.clear();
    await this.#load();
  }

  #showScope(): void {
    this.#show(theme.bold(this.#scope === "current" ? "Resume Session (Current Folder)" : "Resume Session (All)"));
  }

  #show(text: string): void {
    this.#title.setText(text);
    this.#requestRender();
  }

  #rename(path: string): void {
    const rename = this.#renameSession;
    if (!rename) return;
    const input = new Input();
    input.setValue(this.#sessions.find((session) => session.path === path)?.name ?? "");
    input.onSubmit = (value) => {
      const name = value.trim();
      this.#endRename();
      if (name === "") return;
      rename(path, name)
        .then(() => this.#reload())
        .catch((error: unknown) => this.#show(theme.fg("error", getErrorMessage(error))));
    };
    this.#renaming = input;
    this.addChild(input);
    this.#show(theme.bold("Rename Session"));
  }

  #endRename(): void {
    if (this.#renaming) this.removeChild(this.#renaming);
    this.#renaming = undefined;
    this.#showScope();
  }
}
