/** Describes tool calls for an editor: kind, title, files, and what they changed. No tool is known by its name. Pure. */
import { resolve } from "node:path";
import type { ImageContent, TextContent } from "@tau/ai";
import type { ToolData } from "@tau/protocol";
import {
  type Fields,
  getCallSubject,
  getCellResult,
  getNumber,
  getText,
  joinTexts,
  parseDiff,
  parsePlaces,
  parseStop,
  toFields,
} from "@tau/protocol/surface";
import type { PlanEntry, ToolCallContent, ToolCallLocation, ToolKind } from "./schema.generated.ts";

/** The part of a tool that decides how its calls look. */
type ToolLook = Pick<ToolData, "label" | "shows" | "readOnly">;

/** Finds a tool; undefined for one that the session does not have. */
export type FindTool = (name: string) => ToolLook | undefined;

export interface Call {
  name: string;
  input: Fields;
  tool: ToolLook | undefined;
  /** Where relative paths begin. */
  cwd: string;
}

const kinds: Readonly<Record<NonNullable<ToolLook["shows"]>, ToolKind>> = {
  text: "other",
  command: "execute",
  diff: "edit",
  file: "edit",
  document: "think",
  excerpt: "read",
  matches: "search",
  list: "search",
  image: "read",
  places: "search",
  step: "execute",
  cell: "execute",
};

export function getKind({ tool, input }: Pick<Call, "tool" | "input">): ToolKind {
  const kind = kinds[tool?.shows ?? "text"];
  if (kind !== "other") return kind;
  if (typeof input["url"] === "string") return "fetch";
  return parsePlan(input) ? "think" : "other";
}

const maxTitleLength = 300;

/** The command itself, or else the name of the tool and what the call is about. */
export function getTitle({ name, tool, input }: Pick<Call, "name" | "tool" | "input">): string {
  // The code of a cell is in its content.
  const subject = tool?.shows === "cell" ? getText(input["language"]) : getCallSubject(input);
  const label = tool?.label ?? name;
  const title = subject === "" ? label : tool?.shows === "command" ? subject : `${label} ${subject}`;
  return title.length > maxTitleLength ? `${title.slice(0, maxTitleLength)}…` : title;
}

/** The files that a call names, so that the editor can follow it. */
export function getLocations({ input, cwd }: Pick<Call, "input" | "cwd">): ToolCallLocation[] {
  const path = getText(input["path"]) || getText(input["file_path"]);
  const line = getNumber(input["offset"]);
  return path === "" ? [] : [{ path: resolve(cwd, path), ...(line !== undefined && { line }) }];
}

/** The change that a call is about to make, or the code that it runs, as far as its arguments tell. The result replaces it. */
export function getPreview({ tool, input, cwd }: Call): ToolCallContent[] {
  if (tool?.shows === "document") return toOutput(getText(input["content"]), tool);
  if (tool?.shows === "cell") return toCode(input);
  const [location] = getLocations({ input, cwd });
  if (!location || getKind({ tool, input }) !== "edit") return [];
  const { path } = location;
  if (typeof input["content"] === "string") return [{ type: "diff", path, newText: input["content"] }];
  const edits = Array.isArray(input["edits"]) ? input["edits"].map(toFields) : [];
  return edits.flatMap(({ oldText, newText }): ToolCallContent[] =>
    typeof oldText === "string" && typeof newText === "string" ? [{ type: "diff", path, oldText, newText }] : [],
  );
}

interface Result {
  content: string | readonly (TextContent | ImageContent)[];
  details?: unknown;
  isError: boolean;
}

/** Limits the places of a result that an editor is sent. */
const maxLocations = 100;

/** The changes, places and images of a result; empty if its text says everything. */
export function getChanges(
  call: Pick<Call, "tool" | "input" | "cwd">,
  { content, details, isError }: Result,
): { content: ToolCallContent[]; locations: ToolCallLocation[] } {
  if (isError) return { content: [], locations: [] };
  const { tool, input, cwd } = call;
  if (tool?.shows === "places" || tool?.shows === "step") return { content: [], locations: listPlaces(details, cwd) };
  if (tool?.shows === "cell") return { content: getCellContent(call, content, details), locations: [] };
  const fields = toFields(details);
  const files = (Array.isArray(fields["files"]) ? fields["files"].map(toFields) : [fields]).flatMap((file) => {
    const path = getText(file["path"]) || getText(input["path"]);
    return path === "" ? [] : [{ ...file, path: resolve(cwd, path) }];
  });
  const changed = files.flatMap((file) => toDiffs(file, input).map((diff) => ({ file, diff })));
  return {
    content: [...changed.map(({ diff }) => diff), ...getImages(content)],
    locations: files
      .filter((file) => changed.some((change) => change.file === file))
      .map(({ path, firstChangedLine: line }: Fields): ToolCallLocation => ({
        path: path as string,
        ...(typeof line === "number" && { line }),
      })),
  };
}

const getImages = (content: Result["content"]): ToolCallContent[] =>
  typeof content === "string" ? [] : content.filter((block) => block.type === "image").map(toContent);

/** The places of a result; of a stop, where the program is and then who called it. */
function listPlaces(details: unknown, cwd: string): ToolCallLocation[] {
  const stop = parseStop(details);
  const stopped = [stop?.place, ...(stop?.frames ?? []).map(({ place }) => place)].flatMap((place) => place ?? []);
  const locations = [...parsePlaces(details).places, ...stopped].map(({ path, line }) => ({
    path: resolve(cwd, path),
    line,
  }));
  const isFirst = ({ path, line }: (typeof locations)[number], index: number) =>
    locations.findIndex((other) => other.path === path && other.line === line) === index;
  return locations.slice(0, maxLocations).filter(isFirst);
}

/** Code, output, value and images of a cell. Empty if the code and the output, which are shown already, are everything. */
function getCellContent({ tool, input }: Pick<Call, "tool" | "input">, content: Result["content"], details: unknown) {
  const text = joinTexts(content);
  const result = getCellResult(details);
  const value = result === undefined || text.trimEnd().endsWith(result.trimEnd()) ? [] : toOutput(result, tool);
  const images = getImages(content);
  if (value.length === 0 && images.length === 0) return [];
  return [...toCode(input), ...toOutput(text, tool), ...value, ...images];
}

/** A diff for each hunk: an editor shows the lines as they were and as they are. */
function toDiffs({ path, diff, isNew }: Fields, input: Fields): ToolCallContent[] {
  const target = path as string;
  if (isNew === true && typeof input["content"] === "string") {
    return [{ type: "diff", path: target, oldText: null, newText: input["content"] }];
  }
  if (typeof diff !== "string") return [];
  const hunks: { before: string[]; after: string[] }[] = [{ before: [], after: [] }];
  for (const row of parseDiff(diff)) {
    const hunk = hunks.at(-1)!;
    if (row.kind === "gap") hunks.push({ before: [], after: [] });
    if (row.kind === "context" || row.kind === "removed") hunk.before.push(row.text);
    if (row.kind === "context" || row.kind === "added") hunk.after.push(row.text);
  }
  return hunks.map(({ before, after }): ToolCallContent => ({
    type: "diff",
    path: target,
    oldText: before.join("\n"),
    newText: after.join("\n"),
  }));
}

const toContent = ({ data, mimeType }: ImageContent): ToolCallContent => ({
  type: "content",
  content: { type: "image", data, mimeType },
});

/** Views whose text is not written as Markdown, which is how editors show text. */
const fencedViews: readonly ToolLook["shows"][] = ["command", "excerpt", "matches", "list", "places", "step", "cell"];

export function toOutput(text: string, tool: ToolLook | undefined): ToolCallContent[] {
  if (text === "") return [];
  const isFenced = fencedViews.includes(tool?.shows);
  return [{ type: "content", content: { type: "text", text: isFenced ? fence(text) : text } }];
}

/** The output of a call, below the code of a cell. */
export const toCallOutput = (text: string, call: Call | undefined): ToolCallContent[] => [
  ...(call?.tool?.shows === "cell" ? toCode(call.input) : []),
  ...toOutput(text, call?.tool),
];

function toCode(input: Fields): ToolCallContent[] {
  const code = getText(input["code"]);
  if (code === "") return [];
  const [language = ""] = /^[\w+#-]{1,30}$/.exec(getText(input["language"])) ?? [];
  return [{ type: "content", content: { type: "text", text: fence(code, language) } }];
}

function fence(text: string, language = ""): string {
  const longest = Math.max(0, ...[...text.matchAll(/`{3,}/g)].map(([mark]) => mark.length));
  const mark = "`".repeat(Math.max(3, longest + 1));
  return `${mark}${language}\n${text}${text.endsWith("\n") ? "" : "\n"}${mark}`;
}

const planStatuses: readonly PlanEntry["status"][] = ["pending", "in_progress", "completed"];

/** The to-do list in a call or in the details of its result; undefined if there is none. */
export function parsePlan(value: unknown): PlanEntry[] | undefined {
  const { todos } = toFields(value);
  if (!Array.isArray(todos)) return undefined;
  const entries = todos.map(toFields).flatMap(({ content, status: named }): PlanEntry[] => {
    const status = planStatuses.find((known) => known === named);
    return typeof content === "string" && status ? [{ content, status, priority: "medium" }] : [];
  });
  return entries.length === todos.length ? entries : undefined;
}
