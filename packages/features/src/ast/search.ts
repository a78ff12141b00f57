/** Searches files for a pattern, with the permissions of a call. */
import { createHash } from "node:crypto";
import type { ExtensionToolContext } from "@tau/extensions";
import { listSourceFiles, type SourceFiles, ToolsError } from "@tau/tools";
import { resolveRoot } from "./feature.ts";
import {
  describeMissing,
  findGrammar,
  type Grammar,
  type GrammarPlaces,
  listGrammars,
} from "../kit/syntax/grammars.ts";
import { findLanguage, getLanguage, type Language } from "../kit/syntax/languages.ts";
import { describeUnknown } from "../kit/syntax/syntax.ts";
import type { FoundMatch } from "../kit/syntax/parser-program.ts";
import type { Parser } from "../kit/syntax/parser.ts";

export interface AstQuery {
  pattern: string;
  rewrite?: string;
  language?: string;
  path?: string;
  glob?: string;
}

export interface FileMatches {
  path: string;
  /** The path for people and models. */
  name: string;
  /** Without its byte order mark. */
  text: string;
  sha256: string;
  matches: FoundMatch[];
}

export interface AstSearch {
  files: FileMatches[];
  /** For the model: files that were not searched, and why. */
  notices: string[];
  searchedFiles: number;
  /** Whether all files were searched that can be: neither a limit nor the time was reached. */
  isWhole: boolean;
}

/** A larger file is hardly written by a person, and takes seconds. */
const maxFileBytes = 1024 * 1024;
const maxFiles = 20_000;
/** Files that the parser looks at together. Few are not worth it. */
const batchSize = 100;
const minFiltered = 20;
/** Files that are read while another is parsed. */
const maxAhead = 4;
/** The whole search, in milliseconds. */
const maxSearchMs = 60_000;

interface SearchLimits {
  maxMatches: number;
  signal: AbortSignal | undefined;
}

/** Throws a `ToolsError` for a query that cannot be searched for. */
export async function searchCode(
  { parser, places }: { parser: Parser; places: GrammarPlaces },
  { cwd, ports }: Pick<ExtensionToolContext, "cwd" | "ports">,
  query: AstQuery,
  { maxMatches, signal }: SearchLimits,
): Promise<AstSearch> {
  const { files, spawn } = ports!;
  const chosen = chooseGrammars(query, places);
  const found = await listSourceFiles(
    { cwd, files, spawn },
    {
      path: resolveRoot(cwd, query.path),
      extensions: chosen.flatMap(({ language }) => language.extensions),
      glob: query.glob,
      literal: findLiteral(query.pattern),
      maxFiles,
    },
    signal,
  );
  const state = new SearchState(found);
  const endsAt = performance.now() + maxSearchMs;
  const isOver = (): boolean => {
    if (signal?.aborted) throw new ToolsError("aborted", "The search was aborted.");
    state.isLate ||= performance.now() > endsAt;
    return state.isLate || state.matchCount >= maxMatches;
  };
  const batches = toBatches(
    found.paths.map((path) => {
      const grammar = query.language === undefined ? findByName(path, chosen) : chosen[0];
      if (!grammar) throw refuseFile(path, places);
      return { path, grammar };
    }),
  );
  const searchNext = async (): Promise<void> => {
    for (const batch of batches) {
      if (isOver()) return;
      for (const { path, grammar } of await filterFiles({ parser, query, state }, batch)) {
        if (isOver()) return;
        const name = found.show(path);
        const file = await readSource(files, path);
        if (typeof file === "string") state.skip(file, name);
        else await searchFile({ parser, query, state, maxMatches }, { ...file, path, name, grammar });
      }
    }
  };
  await Promise.all(Array.from({ length: maxAhead }, searchNext));
  return state.finish();
}

function chooseGrammars({ language: name }: AstQuery, places: GrammarPlaces): readonly Grammar[] {
  const installed = listGrammars(places);
  if (name === undefined) return installed;
  const language = findLanguage(name);
  if (!language) {
    const names = installed.map(({ language: known }) => known.name).join(", ");
    const message = `${name} is a language without a grammar here. There are grammars for ${names}. Use grep, and edit.`;
    throw new ToolsError("unavailable", message);
  }
  const grammar = findGrammar(language, places);
  if (!grammar) throw new ToolsError("unavailable", describeMissing(language, places));
  return [grammar];
}

const findByName = (path: string, grammars: readonly Grammar[]): Grammar | undefined => {
  const known = getLanguage(path);
  return grammars.find(({ language }) => language === known);
};

const refuseFile = (path: string, places: GrammarPlaces): ToolsError => {
  const advice = getLanguage(path) ? "" : " Set language if it is one of these.";
  return new ToolsError("unavailable", describeUnknown(path, places) + advice);
};

/** A name that every match has, so that most files need not be parsed; undefined if the pattern has none. */
function findLiteral(pattern: string): string | undefined {
  const names = pattern.replaceAll(/\$+[A-Z_][A-Z0-9_]*/g, " ").match(/[A-Za-z_][A-Za-z0-9_]{2,}/g) ?? [];
  return names.toSorted((a, b) => b.length - a.length)[0];
}

/** Lists the names of a pattern, or of a rewrite, as they are written in it. */
const listNames = (text: string): string[] => text.match(/\$\$\$[A-Z_][A-Z0-9_]*|\$[A-Z_][A-Z0-9_]*/g) ?? [];

/** Names of the rewrite that stand for nothing. Pure. */
export function findUnknownNames({ pattern, rewrite = "" }: AstQuery): string[] {
  // A name that begins with an underscore keeps nothing.
  const known = listNames(pattern).filter((name) => !/^\$+_/.test(name));
  return [...new Set(listNames(rewrite).filter((name) => !known.includes(name)))];
}

type Skipped = "large" | "binary" | "unread";

async function readSource(
  files: NonNullable<ExtensionToolContext["ports"]>["files"],
  path: string,
): Promise<{ text: string; sha256: string } | Skipped> {
  try {
    const { bytes } = await files.readWhole(path, maxFileBytes);
    const text = decode(bytes);
    return text === undefined ? "binary" : { text, sha256: createHash("sha256").update(bytes).digest("hex") };
  } catch (error) {
    if (!(error instanceof ToolsError)) throw error;
    // A file that may not be read is treated as missing, as in grep.
    return error.code === "too_large" ? "large" : "unread";
  }
}

const decode = (bytes: Buffer): string | undefined => {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
};

interface SourceFile {
  path: string;
  grammar: Grammar;
}

/** Cuts a list into pieces of one grammar each. */
function* toBatches(files: readonly SourceFile[]): Generator<SourceFile[]> {
  for (const grammar of new Set(files.map((file) => file.grammar))) {
    const group = files.filter((file) => file.grammar === grammar);
    for (let start = 0; start < group.length; start += batchSize) yield group.slice(start, start + batchSize);
  }
}

/**
 * Leaves out files without a match. The parser reads them itself, which costs a third of reading them here and sending them one by
 * one; a file with a match is still read with the permissions of the call, and looked at alone.
 */
async function filterFiles(
  { parser, query: { pattern }, state }: Omit<FileSearch, "maxMatches">,
  batch: readonly SourceFile[],
): Promise<readonly SourceFile[]> {
  const { grammar } = batch[0]!;
  if (batch.length < minFiltered || grammar.wasmPath !== undefined || state.hasManyMatches) return batch;
  const paths = batch.map(({ path }) => path);
  const result = await parser.ask({ kind: "filter", grammar, pattern, paths, maxBytes: maxFileBytes });
  // A file that ends the parser is found when each is looked at alone.
  if (result.kind !== "filtered") return batch;
  state.hasManyMatches = result.kept.length > batch.length / 2;
  state.skipUnmatched(batch.length - result.kept.length);
  return result.kept.flatMap((index) => batch[index] ?? []);
}

interface FileSearch {
  parser: Parser;
  query: AstQuery;
  state: SearchState;
  maxMatches: number;
}

async function searchFile(
  { parser, query: { pattern, rewrite }, state, maxMatches }: FileSearch,
  { grammar, text, ...file }: Omit<FileMatches, "matches"> & { grammar: Grammar },
): Promise<void> {
  const limit = maxMatches;
  const result = await parser.ask({
    kind: "match",
    grammar,
    text,
    pattern,
    limit,
    ...(rewrite !== undefined && { rewrite }),
  });
  switch (result.kind) {
    case "unavailable":
      throw new ToolsError("unavailable", result.message);
    case "failed":
      return state.skip(result.reason === "time" ? "slow" : "crashed", file.name);
    case "refused":
      return state.refuse(grammar.language, result.reason);
    case "matches":
      return state.add({ ...file, text, matches: result.matches });
    case "filtered":
    case "outline":
    case "prepared":
      throw new ToolsError("failed", "The parser gave another answer than it was asked for.");
  }
}

const skippedWords: Readonly<Record<Exclude<Skipped, "binary" | "unread"> | "slow" | "crashed", string>> = {
  large: `larger than ${maxFileBytes / 1024 / 1024} MiB`,
  slow: "took too long to parse",
  crashed: "could not be parsed",
};

class SearchState {
  readonly #found: Pick<SourceFiles, "notices" | "isWhole">;
  readonly #files: FileMatches[] = [];
  readonly #skipped = new Map<keyof typeof skippedWords, string[]>();
  readonly #refused = new Map<string, string>();
  #searched = 0;
  matchCount = 0;
  isLate = false;
  /** Whether looking for files without a match is not worth it. */
  hasManyMatches = false;

  constructor(found: Pick<SourceFiles, "notices" | "isWhole">) {
    this.#found = found;
  }

  skip(why: Skipped | keyof typeof skippedWords, name: string): void {
    if (why === "binary" || why === "unread") return;
    this.#skipped.set(why, [...(this.#skipped.get(why) ?? []), name]);
  }

  refuse({ name }: Language, reason: string): void {
    this.#refused.set(name, reason);
  }

  skipUnmatched(count: number): void {
    this.#searched += count;
  }

  add(file: FileMatches): void {
    this.#searched++;
    this.matchCount += file.matches.length;
    if (file.matches.length > 0) this.#files.push(file);
  }

  finish(): AstSearch {
    const [refused] = this.#refused;
    if (refused && this.#searched === 0) {
      throw new ToolsError("invalid_input", `This is not a pattern of ${refused[0]}: ${refused[1]}`);
    }
    const skipped = [...this.#skipped].map(([why, names]) => {
      const more = names.length > 5 ? ` and ${names.length - 5} more` : "";
      return `[Not searched, ${skippedWords[why]}: ${names.slice(0, 5).join(", ")}${more}.]`;
    });
    const late = this.isLate
      ? [`[Stopped after ${maxSearchMs / 1_000} s; there may be more. Narrow path or glob.]`]
      : [];
    const files = this.#files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
    const { notices, isWhole } = this.#found;
    return {
      files,
      notices: [...notices, ...skipped, ...late],
      searchedFiles: this.#searched,
      isWhole: isWhole && !this.isLate,
    };
  }
}
