/** The state of a shell between commands, with every possibility where it depends on a condition. */
import type { CompoundCommand, CompoundList, Redirected } from "unbash";
import { followLinks, type ReadLink } from "../links.ts";
import { normalisePath, resolvePath, toAbsolute } from "../paths.ts";
import { unknown, unknownMark, type Options, type Text } from "./text.ts";

/** The elements of a variable: one for plain variables, none for a variable that is not set. */
export type Value = readonly Text[];

const maxValues = 8;
const maxDirectories = 4;
const maxReferences = 8;
const maxTargets = 4;

/** Names of open files and sockets, which no link leads to. */
const isSpecial = /^\/(?:dev|proc)\/(?:stdin|stdout|stderr|fd|tcp|udp|self|null)(?:\/|$)/;

export class ShellState {
  readonly variables: Map<string, Options<Value>>;
  /** Variables that stand for others, after `declare -n`, and the names of those; empty until one is assigned. */
  readonly references: Map<string, string>;
  readonly functions: Map<string, CompoundCommand | Redirected | CompoundList>;
  readonly aliases: Map<string, Text>;
  /** The files that the script itself wrote. */
  readonly files: Map<string, Options<Text>>;
  /** Links that the script itself makes, with every target that they may have. */
  readonly links: Map<string, readonly string[]>;
  /**
   * Directories into which the script puts files that may be links, those of archives and repositories. `nested`: only what is
   * in their directories applies, since they also have files that were there before.
   */
  readonly foreignDirectories: Map<string, "all" | "nested">;
  /** Whether the script unpacked an archive that it received from another machine. */
  hasUnpacked: boolean;
  /** Where what the script adds to a repository comes from, as bits. */
  staged: number;
  /** Remotes of git that the script itself adds or changes. */
  readonly remotes: Set<string>;
  /** Paths of open file descriptors, by their numbers. */
  readonly descriptors: Map<string, string>;
  /** `$1`, `$2` and so on. */
  positional: Options<Value>;
  /** Where the shell may be. */
  directories: readonly string[];
  /** Where it may still be if the last change of the directory failed. Empty for directories of the workspace. */
  earlierDirectories: readonly string[];
  previousDirectory: string | undefined;
  traps: readonly Text[];

  readonly #readLink: ReadLink | undefined;

  constructor(directory: string, readLink: ReadLink | undefined);
  constructor(from: ShellState);
  constructor(from: ShellState | string, readLink?: ReadLink) {
    const other = typeof from === "string" ? undefined : from;
    this.variables = new Map(other?.variables);
    this.references = new Map(other?.references);
    this.functions = new Map(other?.functions);
    this.aliases = new Map(other?.aliases);
    this.files = new Map(other?.files);
    this.links = new Map(other?.links);
    this.foreignDirectories = new Map(other?.foreignDirectories);
    this.#readLink = other ? other.#readLink : readLink;
    this.remotes = new Set(other?.remotes);
    this.descriptors = new Map(other?.descriptors);
    this.positional = other?.positional ?? [[]];
    this.directories = other?.directories ?? [from as string];
    this.earlierDirectories = other?.earlierDirectories ?? [];
    this.previousDirectory = other?.previousDirectory;
    this.traps = other?.traps ?? [];
    this.hasUnpacked = other?.hasUnpacked ?? false;
    this.staged = other?.staged ?? 0;
  }

  clone(): ShellState {
    return new ShellState(this);
  }

  get allDirectories(): readonly string[] {
    return this.earlierDirectories.length === 0 ? this.directories : [...this.directories, ...this.earlierDirectories];
  }

  /** Where the shell may really be: it remembers its directory by the name of a link. */
  get realDirectories(): readonly string[] {
    return this.#mayHaveLinks ? [...new Set(this.directories.flatMap((path) => this.follow(path)))] : this.directories;
  }

  /** Every path that a relative or absolute path may mean. `keepsLast`: a link at its end is meant itself. */
  resolve(path: string, home: string, { keepsLast = false } = {}): string[] {
    if (this.descriptors.size > 0 && path.startsWith("/")) {
      const open = this.descriptors.get(/^\/(?:dev|proc\/self)\/fd\/(\d+)$/.exec(path)?.[1] ?? "");
      if (open !== undefined) return [open];
    }
    if (!this.#mayHaveLinks)
      return [...new Set(this.allDirectories.map((directory) => resolvePath(path, directory, home)))];
    return [
      ...new Set(
        this.allDirectories.flatMap((directory) => this.follow(toAbsolute(path, directory, home), { keepsLast })),
      ),
    ];
  }

  /** Every path that an absolute one may lead to. */
  follow(absolute: string, { keepsLast = false } = {}): string[] {
    if (!this.#mayHaveLinks || absolute.startsWith(unknownMark) || isSpecial.test(absolute))
      return [normalisePath(absolute)];
    return followLinks(absolute, { links: this.links, readLink: this.#readLink, keepsLast }).map(normalisePath);
  }

  get #mayHaveLinks(): boolean {
    return this.links.size > 0 || this.#readLink !== undefined;
  }

  /** Remembers a link. It may have been made with other targets before, or not at all. */
  addLink(path: string, target: string): void {
    const targets = this.links.get(path) ?? [];
    if (!targets.includes(target)) this.links.set(path, [...targets, target].slice(-maxTargets));
  }

  /** The variable that a name stands for. */
  getTarget(name: string): string {
    let target = name;
    for (let count = 0; count < maxReferences; count++) {
      const next = this.references.get(target);
      if (next === undefined || next === "") return target;
      target = next;
    }
    return target;
  }

  set(name: string, values: Options<Value>): void {
    const target = this.getTarget(name);
    const [[first] = []] = values;
    // `declare -n a; a=b` makes `a` stand for `b`.
    if (this.references.get(target) === "" && first && /^\w+$/.test(first.text))
      this.references.set(target, first.text);
    else this.variables.set(target, limitValues(values));
  }

  /** Takes in the states of other branches that may have been taken instead. */
  merge(others: readonly ShellState[]): void {
    for (const other of others) {
      if (other === this) continue;
      for (const name of new Set([...this.variables.keys(), ...other.variables.keys()])) {
        const mine = this.variables.get(name);
        const theirs = other.variables.get(name);
        if (mine !== theirs) this.set(name, [...(mine ?? [[]]), ...(theirs ?? [[]])]);
      }
      for (const [name, target] of other.references) if (!this.references.has(name)) this.references.set(name, target);
      for (const [name, body] of other.functions) if (!this.functions.has(name)) this.functions.set(name, body);
      for (const [name, text] of other.aliases) if (!this.aliases.has(name)) this.aliases.set(name, text);
      for (const [path, texts] of other.files) {
        const mine = this.files.get(path);
        if (mine !== texts) this.files.set(path, [...(mine ?? []), ...texts].slice(-maxValues));
      }
      this.#takeLinks(other);
      this.hasUnpacked ||= other.hasUnpacked;
      this.staged |= other.staged;
      for (const remote of other.remotes) this.remotes.add(remote);
      for (const [number, path] of other.descriptors) this.descriptors.set(number, path);
      this.directories = limitDirectories([...this.directories, ...other.directories]);
      this.earlierDirectories = limitDirectories([...this.earlierDirectories, ...other.earlierDirectories]);
      if (this.positional !== other.positional)
        this.positional = limitValues([...this.positional, ...other.positional]);
      this.traps = [...new Set([...this.traps, ...other.traps])];
    }
  }

  /** Takes in what another process, such as a subshell, left behind for all: files, and remotes of git. */
  absorb(other: ShellState): void {
    for (const [path, texts] of other.files) {
      const mine = this.files.get(path);
      const isOpenFile = path.startsWith("/dev/") && !path.startsWith("/dev/shm/");
      if (mine !== texts && !isOpenFile) this.files.set(path, [...(mine ?? []), ...texts].slice(-maxValues));
    }
    for (const remote of other.remotes) this.remotes.add(remote);
    this.#takeLinks(other);
    this.hasUnpacked ||= other.hasUnpacked;
    this.staged |= other.staged;
  }

  #takeLinks(other: ShellState): void {
    for (const [path, targets] of other.links) for (const target of targets) this.addLink(path, target);
    for (const [directory, kind] of other.foreignDirectories) this.foreignDirectories.set(directory, kind);
  }

  /** Takes over everything from another state. */
  replaceBy(other: ShellState): void {
    for (const key of ["variables", "references", "functions", "aliases", "files", "descriptors"] as const) {
      const target = this[key] as Map<string, unknown>;
      target.clear();
      for (const [name, value] of other[key] as Map<string, unknown>) target.set(name, value);
    }
    for (const remote of other.remotes) this.remotes.add(remote);
    this.#takeLinks(other);
    this.positional = other.positional;
    this.directories = other.directories;
    this.earlierDirectories = other.earlierDirectories;
    this.previousDirectory = other.previousDirectory;
    this.traps = other.traps;
    this.hasUnpacked = other.hasUnpacked;
    this.staged = other.staged;
  }
}

function limitValues(values: Options<Value>): Options<Value> {
  if (values.length <= 1) return values;
  const toKey = (value: Value) => value.map((item) => `${item.origin}:${item.text}`).join("\0") + value.length;
  const unique = [...new Map(values.map((value) => [toKey(value), value])).values()];
  if (unique.length <= maxValues) return unique;
  const origin = unique.flat().reduce((mask, item) => mask | item.origin, 0);
  return [...unique.slice(0, maxValues - 1), [unknown(origin)]];
}

function limitDirectories(directories: readonly string[]): readonly string[] {
  const unique = [...new Set(directories)];
  return unique.length <= maxDirectories ? unique : [...unique.slice(0, maxDirectories - 1), unknown().text];
}
