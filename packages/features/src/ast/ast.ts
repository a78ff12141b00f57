/** The tools of the feature `ast`. */
import type { AgentToolResult } from "@tau/agent";
import type { ExtensionFactory, ExtensionToolContext } from "@tau/extensions";
import type { CodePlace } from "@tau/protocol/surface";
import { summariseChanges, ToolsError } from "@tau/tools";
import { editTool, grepTool } from "./feature.ts";
import type { FoundMatch } from "../kit/syntax/parser-program.ts";
import type { GrammarPlaces } from "../kit/syntax/grammars.ts";
import { findLanguage, getLanguage } from "../kit/syntax/languages.ts";
import { Parser } from "../kit/syntax/parser.ts";
import { type AstQuery, type AstSearch, type FileMatches, findUnknownNames, searchCode } from "./search.ts";

/** Equals the default of `grep`. */
const maxShown = 100;
const maxRewritten = 10_000;
const maxDiffBytes = 50 * 1024;
const maxLinesShown = 12;

export const createAstExtension =
  (places: GrammarPlaces): ExtensionFactory =>
  (tau) => {
    const parser = new Parser({ spawn: tau.spawn });
    tau.on("session_shutdown", () => parser.close());
    const previews = new Previews();

    tau.registerTool({
      ...grepTool,
      async execute(_id, query: AstQuery, signal, _onUpdate, context) {
        const search = await searchCode({ parser, places }, context, query, { maxMatches: maxShown, signal });
        return presentMatches(search, query);
      },
    });

    tau.registerTool({
      ...editTool,
      async execute(
        _id,
        { preview = false, ...query }: AstQuery & { rewrite: string; preview?: boolean },
        signal,
        _onUpdate,
        context,
      ) {
        const search = await searchCode({ parser, places }, context, query, { maxMatches: maxRewritten, signal });
        const changes = search.files.map(toChange).filter(({ edits }) => edits.length > 0);
        if (changes.length === 0) return presentMatches(search, query);
        refuseNames(search, query);
        if (!search.isWhole)
          throw new ToolsError(
            "too_large",
            ["Not all files could be searched. Nothing was changed.", ...search.notices].join("\n"),
          );
        if (changes.reduce((sum, { edits }) => sum + edits.length, 0) >= maxRewritten) {
          throw new ToolsError(
            "too_large",
            `There are more than ${maxRewritten} places. Narrow path or glob. Nothing was changed.`,
          );
        }
        const key = JSON.stringify([query.pattern, query.rewrite, query.language, query.path, query.glob]);
        if (preview) {
          previews.keep(key, changes);
          return presentPreview(changes, search.notices);
        }
        previews.check(key, changes);
        return await change(context, query, changes, search.notices);
      },
    });
  };

/** Refuses a rewrite that would write a name of the pattern's kind into code, or lose what one stands for. */
function refuseNames({ files }: AstSearch, query: AstQuery): void {
  const [name] = findUnknownNames(query);
  const getLanguageOf = (path: string) =>
    query.language === undefined ? getLanguage(path) : findLanguage(query.language);
  if (name === undefined || files.every(({ path }) => getLanguageOf(path)?.hasDollarNames)) return;
  throw new ToolsError(
    "invalid_input",
    `The pattern has no ${name}, which the rewrite uses. Nothing was changed. Write names as in the pattern: $A is one node, $$$A any number, and $_A keeps nothing.`,
  );
}

interface Change {
  path: string;
  name: string;
  text: string;
  sha256: string;
  edits: { start: number; end: number; text: string }[];
}

/** Rewrites only the outer of matches inside each other: the inner ones are in their replacements. */
function toChange({ matches, ...file }: FileMatches): Change {
  const edits: Change["edits"] = [];
  for (const { start, end, replacement = "" } of matches.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const isInside = edits.length > 0 && start < edits.at(-1)!.end;
    if (!isInside && file.text.slice(start, end) !== replacement) edits.push({ start, end, text: replacement });
  }
  return { ...file, edits };
}

/** The states of files in the previews of a session, so that a change is the one that was shown. */
class Previews {
  readonly #shown = new Map<string, ReadonlyMap<string, string>>();
  readonly #maxPreviews = 20;

  keep(key: string, changes: readonly Change[]): void {
    const [oldest] = this.#shown.keys();
    if (oldest !== undefined && this.#shown.size >= this.#maxPreviews) this.#shown.delete(oldest);
    this.#shown.set(key, new Map(changes.map(({ path, sha256 }) => [path, sha256])));
  }

  /** Throws if a file is not as it was shown. Without a preview nothing has to be the same. */
  check(key: string, changes: readonly Change[]): void {
    const shown = this.#shown.get(key);
    this.#shown.delete(key);
    if (!shown) return;
    const changed = changes.find(({ path, sha256 }) => shown.get(path) !== sha256);
    if (!changed && shown.size === changes.length) return;
    const what = changed ? `${changed.name} has changed` : "A file with a match is gone";
    throw new ToolsError("changed", `${what} since the preview. Nothing was changed; look at a new preview first.`);
  }
}

async function change(
  { executeTool }: ExtensionToolContext,
  { pattern, rewrite }: AstQuery,
  changes: readonly Change[],
  notices: readonly string[],
): Promise<AgentToolResult<unknown>> {
  const outcome = await executeTool("change_files", {
    changes: changes.map(({ path, sha256, edits }) => ({ path, sha256, edits })),
    reason: `Rewrite ${pattern} to ${rewrite}`,
  });
  const text = outcome.result.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
  if (outcome.isError) throw Object.assign(new Error(text), { code: outcome.errorCode });
  const count = changes.reduce((sum, { edits }) => sum + edits.length, 0);
  const files = changes.map(({ name, edits }) => `${name} (${edits.length})`).join(", ");
  const head = `Rewrote ${formatCount(count, "place")} in ${formatCount(changes.length, "file")}: ${cut(files, 8 * 1024)}.`;
  return { content: [{ type: "text", text: [head, ...notices].join("\n") }], details: outcome.result.details };
}

function presentPreview(changes: readonly Change[], notices: readonly string[]): AgentToolResult<unknown> {
  let left = maxDiffBytes;
  const diffs = changes.flatMap(({ name, text, edits }) => {
    if (left <= 0) return [];
    const ordered = edits.map(({ start, end, text: fresh }) => ({ from: start, to: end, text: fresh }));
    const { diff } = summariseChanges(text, ordered, name, Math.max(1_000, Math.floor(maxDiffBytes / changes.length)));
    left -= diff.length;
    return [diff];
  });
  const omitted = changes.length - diffs.length;
  const note = omitted > 0 ? [`[${formatCount(omitted, "more file")} would change.]`] : [];
  const count = changes.reduce((sum, { edits }) => sum + edits.length, 0);
  const head = `Nothing was changed. ${formatCount(count, "place")} in ${formatCount(changes.length, "file")} would be rewritten:`;
  const diff = [...diffs, ...note].join("\n");
  return { content: [{ type: "text", text: [head, diff, ...notices].join("\n") }], details: { diff } };
}

function presentMatches(search: AstSearch, { pattern }: AstQuery): AgentToolResult<{ places: CodePlace[] }> {
  const places = search.files.flatMap((file) => file.matches.map((match) => toPlace(file, match))).slice(0, maxShown);
  const rows = places.map(({ path, line, column, excerpt }) => {
    const lines = excerpt!.lines.map((text, index) => `${excerpt!.firstLine + index}: ${cut(text, 500)}`);
    return [`${path}:${line}:${column}`, ...lines].join("\n");
  });
  const head =
    places.length === 0
      ? `No code matches ${JSON.stringify(pattern)} in ${formatCount(search.searchedFiles, "parsed file")}.`
      : "";
  const full =
    places.length >= maxShown ? [`[The first ${maxShown} matches. Narrow pattern, path or glob for the others.]`] : [];
  const text = [head, cut(rows.join("\n\n"), maxDiffBytes), [...full, ...search.notices].join("\n")];
  return { content: [{ type: "text", text: text.filter((part) => part !== "").join("\n\n") }], details: { places } };
}

function toPlace({ name, text }: FileMatches, { line, column, endLine }: FoundMatch): CodePlace {
  const last = Math.min(endLine, line + maxLinesShown - 1);
  const lines = text
    .split("\n")
    .slice(line - 1, last)
    .map((row) => row.replace(/\r$/, ""));
  return { path: name, line, column, endLine, excerpt: { firstLine: line, lines } };
}

const formatCount = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

const cut = (text: string, maxLength: number): string =>
  text.length > maxLength ? `${text.slice(0, maxLength).toWellFormed()}…` : text;
