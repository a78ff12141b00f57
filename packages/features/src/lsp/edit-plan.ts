/** Edits of servers as changes of files, worked out in memory step by step. Nothing is written here. */
import { basename } from "node:path";
import { toVisibleLine } from "../kit/visible-text.ts";
import type { LspClient } from "./client.ts";
import { LspError } from "./failure.ts";
import { TextLines } from "./positions.ts";
import { getSha256, isUtf8Text, type SourceFile, type SourceFiles } from "./source-files.ts";
import {
  applyEdits,
  type EditStep,
  type OffsetEdit,
  parseWorkspaceEdit,
  refuse,
  toOffsetEdits,
} from "./workspace-edit.ts";

/** A change of one file, as the tool `change_files` takes it. */
export type FileChange =
  | { path: string; sha256?: string; edits: OffsetEdit[] }
  | { path: string; sha256?: string; content: string }
  | { path: string; moveTo: string }
  | { path: string; sha256?: string; remove: true };

export interface ToChangesOptions {
  client: Pick<LspClient, "documents" | "positionEncoding">;
  files: SourceFiles;
  cwd: string;
}

/** The changes of files that edits ask for, one after the other. Throws if they cannot be carried out whole. */
export async function toFileChanges(edits: readonly unknown[], options: ToChangesOptions): Promise<FileChange[]> {
  const plan = new EditPlan(options);
  for (const step of edits.flatMap(parseWorkspaceEdit)) await plan.add(step);
  return plan.toChanges();
}

/** A file as the steps so far leave it. */
interface PlannedFile {
  /** The file on disk; undefined for one that the edit creates. */
  readonly source: SourceFile | undefined;
  text: string;
  /** The only edits of its text; undefined: everything between what is the same before and after is replaced. */
  edits: OffsetEdit[] | undefined;
  isReplaced: boolean;
}

class EditPlan {
  readonly #options: ToChangesOptions;
  /** By the name that each has now. */
  readonly #files = new Map<string, PlannedFile>();
  /** Names on disk that are free after the steps so far. */
  readonly #freed = new Set<string>();
  readonly #removed: SourceFile[] = [];

  constructor(options: ToChangesOptions) {
    this.#options = options;
  }

  async add(step: EditStep): Promise<void> {
    for (const path of [step.path, ...(step.kind === "rename" ? [step.to] : [])]) await this.#refuseOutside(path);
    switch (step.kind) {
      case "text":
        return await this.#changeText(step);
      case "create":
        return await this.#create(step);
      case "rename":
        return await this.#rename(step);
      case "remove":
        return await this.#remove(step);
    }
  }

  toChanges(): FileChange[] {
    const changes = [...this.#files].flatMap(([path, file]) => toChangesOfFile(path, file));
    const removed = this.#removed.map((source) => ({
      path: source.path,
      sha256: getSha256(source),
      remove: true as const,
    }));
    return [...changes, ...removed];
  }

  async #refuseOutside(path: string): Promise<void> {
    const { files, cwd } = this.#options;
    if (!(await files.isInWorkspace(path)))
      refuse(`it would change ${toVisibleLine(path, 300)}, which is outside of ${basename(cwd)}.`);
  }

  /** Undefined if there is no file with this name now. */
  async #find(path: string): Promise<PlannedFile | undefined> {
    const planned = this.#files.get(path);
    if (planned || this.#freed.has(path)) return planned;
    try {
      const source = await this.#options.files.read(path);
      const file: PlannedFile = { source, text: source.lines.text, edits: [], isReplaced: false };
      this.#files.set(path, file);
      return file;
    } catch (error) {
      if (error instanceof LspError && error.kind === "missing") return undefined;
      throw error;
    }
  }

  async #changeText({ path, version, edits }: Extract<EditStep, { kind: "text" }>): Promise<void> {
    const { client, files } = this.#options;
    const file = (await this.#find(path)) ?? refuse(`there is no file ${files.show(path)}.`);
    const { source } = file;
    if (source && !file.isReplaced) this.#refuseOther(source, version);
    const offsets = toOffsetEdits(new TextLines(file.text), edits, client.positionEncoding);
    if (offsets.length === 0) return;
    file.edits = file.edits?.length === 0 ? offsets : undefined;
    file.text = applyEdits(file.text, offsets);
  }

  /** Refuses an edit of another text than the one on disk. */
  #refuseOther(source: SourceFile, version: number | null): void {
    const { client, files } = this.#options;
    const shown = files.show(source.path);
    if (!isUtf8Text(source)) refuse(`${shown} is not UTF-8.`);
    const document = client.documents.get(source.path);
    if (document && document.text !== source.lines.text)
      refuse(`${shown} has changed since the server was asked. Ask again.`);
    if (version !== null && document && version !== document.version)
      refuse(`it is for version ${version} of ${shown}, which is not the current one. Ask again.`);
  }

  async #create({ path, ifExists }: Extract<EditStep, { kind: "create" }>): Promise<void> {
    const existing = await this.#find(path);
    if (!existing) this.#files.set(path, { source: undefined, text: "", edits: undefined, isReplaced: false });
    else if (ifExists === "fail") this.#refuseExisting("create", path);
    else if (ifExists === "replace") Object.assign(existing, { text: "", edits: undefined, isReplaced: true });
  }

  async #rename({ path, to, ifExists }: Extract<EditStep, { kind: "rename" }>): Promise<void> {
    const { files } = this.#options;
    const file = (await this.#find(path)) ?? refuse(`there is no file ${files.show(path)}.`);
    if (await this.#find(to)) {
      if (ifExists === "skip") return;
      this.#refuseExisting(`rename ${files.show(path)} to`, to);
    }
    this.#files.delete(path);
    this.#freed.add(path);
    this.#files.set(to, file);
  }

  #refuseExisting(what: string, path: string): void {
    refuse(`it would ${what} ${this.#options.files.show(path)}, which exists.`);
  }

  async #remove({ path, ifMissing }: Extract<EditStep, { kind: "remove" }>): Promise<void> {
    const file = await this.#find(path);
    if (!file) {
      if (ifMissing === "fail") refuse(`there is no file ${this.#options.files.show(path)}.`);
      return;
    }
    this.#files.delete(path);
    this.#freed.add(path);
    if (file.source) this.#removed.push(file.source);
  }
}

function toChangesOfFile(path: string, { source, text, edits, isReplaced }: PlannedFile): FileChange[] {
  if (!source) return [{ path, content: text }];
  const sha256 = getSha256(source);
  const moved = source.path === path ? [] : [{ path: source.path, moveTo: path }];
  if (isReplaced) return [{ path: source.path, sha256, content: text }, ...moved];
  const own = edits ?? findDifference(source.lines.text, text);
  return [...(own.length === 0 ? [] : [{ path: source.path, sha256, edits: own }]), ...moved];
}

/** Finds an edit that makes a text into another; none if they are the same. */
function findDifference(before: string, after: string): OffsetEdit[] {
  if (before === after) return [];
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let same = 0;
  while (same < shorter - start && before.at(-1 - same) === after.at(-1 - same)) same++;
  // Not inside of a line break, which an edit would write anew.
  if (before[start - 1] === "\r") start--;
  if (before.at(-same) === "\n") same--;
  return [{ start, end: before.length - same, text: after.slice(start, after.length - same) }];
}
