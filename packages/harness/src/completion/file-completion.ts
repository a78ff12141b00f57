/**
 * Completes mentioned files. The files below the working directory are listed when a mention begins, and it is answered
 * from what is listed so far. The list is kept for the next mention, which is answered from it while it is made anew. Files of
 * directories that were added to the workspace follow, with their absolute paths.
 */
import { homedir } from "node:os";
import { resolve } from "node:path";
import { type Clock, systemClock } from "@tau/ai";
import type { LocateRipgrep } from "@tau/tools";
import { listDirectory } from "./list-directory.ts";
import { listTree, type TreeEnd } from "./list-tree.ts";
import { Listing } from "./listing.ts";
import { formatMention, type MentionTarget, type OpenMention, parseMention, toDirectoryTarget } from "./mention.ts";
import { toPathQuery } from "./rank.ts";
import { warmUpSearch } from "./warm-up.ts";

export interface FileCompletionOptions {
  cwd: string;
  /** Lists the other directories of the workspace. Default: none. */
  listAdded?: () => readonly string[];
  /** Default: the user's. */
  home?: string;
  clock?: Clock;
  /** Finds ripgrep. Default: the binary from npm. */
  locate?: LocateRipgrep;
  /** Whether a file or directory may be suggested, by its absolute path. Default: everything may. */
  mayShow?: (path: string) => Promise<boolean>;
}

export interface FileSuggestions {
  /** Paths as they are written after the `@`, best first. */
  values: string[];
  /** More or better ones may follow: ask again. */
  isIncomplete: boolean;
}

const maxResults = 100;
/** The first answer waits this long for a listing: most are complete by then, and the suggestions do not change. */
const maxWaitMs = 50;
/** A list that is older is made anew, also within a mention. */
const maxAgeMs = 10_000;
/** A listing of the directory of a path that is completed gets this old: listing it again is cheap. */
const maxDirectoryAgeMs = 1_000;

interface DirectoryListing {
  directory: string;
  listing: Listing<void>;
}

export class FileCompletion {
  readonly #cwd: string;
  readonly #listAdded: () => readonly string[];
  /** The completion of each directory that was added. */
  readonly #added = new Map<string, FileCompletion>();
  readonly #home: string;
  readonly #clock: Clock;
  readonly #locate: LocateRipgrep | undefined;
  readonly #mayShow: (path: string) => Promise<boolean>;
  #tree: Listing<TreeEnd> | undefined;
  /** The next tree, while the last one answers. */
  #nextTree: Listing<TreeEnd> | undefined;
  #directory: DirectoryListing | undefined;
  #lastMention: OpenMention | undefined;

  constructor({
    cwd,
    listAdded = () => [],
    home = homedir(),
    clock = systemClock,
    locate,
    mayShow,
  }: FileCompletionOptions) {
    this.#cwd = cwd;
    this.#listAdded = listAdded;
    this.#home = home;
    this.#clock = clock;
    this.#locate = locate;
    this.#mayShow = mayShow ?? (async () => true);
  }

  async complete(mention: OpenMention): Promise<FileSuggestions> {
    this.#noteMention(mention);
    const target = parseMention(mention.path, { cwd: this.#cwd, home: this.#home });
    const matches =
      target.kind === "tree" ? await this.#completeInTree(target) : await this.#completeInDirectory(target);
    const paths = await this.#keepShown(matches.paths, target);
    const values = paths.map((path) => formatMention(target.prefix + path, mention.isQuoted));
    const others =
      target.kind === "tree" && target.prefix === "" ? await this.#completeInAdded(mention, target) : nothing;
    values.push(...others.paths.map((path) => formatMention(path, mention.isQuoted)));
    return {
      values: values.filter((value) => value !== undefined).slice(0, maxResults),
      isIncomplete: matches.isIncomplete || others.isIncomplete,
    };
  }

  /** Only what was typed is looked for there: nobody means all that another directory has. */
  async #completeInAdded(mention: OpenMention, target: MentionTarget & { kind: "tree" }): Promise<Found> {
    if (target.query === "") return nothing;
    const all = this.#listAdded().map(async (directory) => {
      const files = this.#getAdded(directory);
      files.#noteMention(mention);
      const found = prefixed(await files.#completeInTree(target), `${directory}/`);
      return { ...found, paths: await this.#keepShown(found.paths, target) };
    });
    const found = await Promise.all(all);
    return {
      paths: found.flatMap(({ paths }) => paths),
      isIncomplete: found.some(({ isIncomplete }) => isIncomplete),
    };
  }

  #getAdded(directory: string): FileCompletion {
    const known = this.#added.get(directory);
    if (known) return known;
    const files = new FileCompletion({
      cwd: directory,
      home: this.#home,
      clock: this.#clock,
      ...(this.#locate && { locate: this.#locate }),
    });
    this.#added.set(directory, files);
    return files;
  }

  #noteMention(mention: OpenMention): void {
    if (isAnother(mention, this.#lastMention)) this.#refresh();
    this.#lastMention = mention;
  }

  /** Completes the last part of a path in its directory, as a shell does. */
  async completePath({ path, isQuoted }: OpenMention): Promise<FileSuggestions> {
    if (this.#directory?.listing.isOlderThan(maxDirectoryAgeMs)) this.#directory = undefined;
    const typed = path === "~" || path === ".." ? `${path}/` : path;
    const target = toDirectoryTarget(typed, { cwd: this.#cwd, home: this.#home });
    const { paths, isIncomplete } = await this.#completeInDirectory(target);
    const start = target.query.toLowerCase();
    const names = paths.filter((name) => name.toLowerCase().startsWith(start));
    const values = (await this.#keepShown(names, target)).map((name) => formatMention(target.prefix + name, isQuoted));
    return { values: values.filter((value) => value !== undefined), isIncomplete };
  }

  async #keepShown(paths: readonly string[], target: MentionTarget): Promise<string[]> {
    const directory = target.kind === "directory" ? target.directory : this.#cwd;
    const shown = await Promise.all(paths.map((path) => this.#mayShow(resolve(directory, path))));
    return paths.filter((_path, index) => shown[index]);
  }

  /** Ends what is in progress. */
  close(): void {
    for (const files of this.#added.values()) files.close();
    for (const listing of [this.#tree, this.#nextTree, this.#directory?.listing]) listing?.close();
  }

  #refresh(): void {
    this.#directory?.listing.close();
    this.#directory = undefined;
    if (this.#tree?.isComplete) void this.#replaceTree();
  }

  async #completeInTree(target: MentionTarget & { kind: "tree" }): Promise<Found> {
    const tree = this.#getTree();
    await tree.wait(maxWaitMs);
    const inDirectory = toDirectoryTarget(target.query, { cwd: this.#cwd, home: this.#home });
    if (tree.end === "unavailable") return prefixed(await this.#completeInDirectory(inDirectory), inDirectory.prefix);
    // What is ignored, or not listed yet, is completed if its directory was typed.
    const isUnlisted = inDirectory.prefix !== "" && !tree.paths.hasDirectory(inDirectory.prefix);
    const inside = isUnlisted ? prefixed(await this.#completeInDirectory(inDirectory), inDirectory.prefix) : nothing;
    const isIncomplete = inside.isIncomplete || !tree.isComplete || this.#nextTree !== undefined;
    if (inside.paths.length > 0) return { paths: inside.paths, isIncomplete };
    const paths = await tree.search(toPathQuery(target.query));
    return paths ? { paths, isIncomplete } : superseded;
  }

  #getTree(): Listing<TreeEnd> {
    if (!this.#tree) {
      this.#tree = this.#listTree();
      // Not before: it would make the list wait.
      void this.#tree.whenComplete.then(warmUpSearch);
    } else if (this.#tree.isOlderThan(maxAgeMs)) void this.#replaceTree();
    return this.#tree;
  }

  async #replaceTree(): Promise<void> {
    if (this.#nextTree) return;
    const next = this.#listTree();
    this.#nextTree = next;
    await next.whenComplete;
    this.#tree = next;
    this.#nextTree = undefined;
  }

  #listTree(): Listing<TreeEnd> {
    const options = { directory: this.#cwd, home: this.#home, ...(this.#locate && { locate: this.#locate }) };
    return new Listing({
      fill: (list, signal) => listTree(list, { ...options, signal }),
      clock: this.#clock,
      maxResults,
    });
  }

  async #completeInDirectory({ directory, query }: MentionTarget & { kind: "directory" }): Promise<Found> {
    if (this.#directory?.directory !== directory) {
      this.#directory?.listing.close();
      this.#directory = { directory, listing: this.#listDirectory(directory) };
    }
    const { listing } = this.#directory;
    await listing.wait(maxWaitMs);
    const paths = await listing.search(toPathQuery(query));
    return paths ? { paths, isIncomplete: !listing.isComplete } : superseded;
  }

  #listDirectory(directory: string): Listing<void> {
    const fill = (list: Listing<void>["paths"], signal: AbortSignal) => listDirectory(list, { directory, signal });
    return new Listing({ fill, clock: this.#clock, maxResults });
  }
}

interface Found {
  paths: string[];
  isIncomplete: boolean;
}

const nothing: Found = { paths: [], isIncomplete: false };

/** Another search has begun. A caller that still wants this answer asks again. */
const superseded: Found = { paths: [], isIncomplete: true };

const prefixed = ({ paths, isIncomplete }: Found, prefix: string): Found => ({
  paths: paths.map((path) => prefix + path),
  isIncomplete,
});

/**
 * Whether a mention was begun since: elsewhere in the text, or again in the same place. If only the last character is gone,
 * it was deleted, and the mention is the same.
 */
const isAnother = (mention: OpenMention, last: OpenMention | undefined): boolean =>
  mention.before !== last?.before || (mention.path === "" && last.path.length > 1);
