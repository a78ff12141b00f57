/** The tools of the feature, and what survives a compaction. */
import type { SessionEntry } from "@tau/protocol";
import type { ExtensionFactory, ToolInfo } from "@tau/extensions";
import { asRecord } from "@tau/ai/internal";
import {
  describeTool,
  joinTexts,
  toDiscoverableTool,
  type ToolText,
  toVisible,
} from "../kit/tool-search/describe-tools.ts";
import { callTool, searchTool } from "./feature.ts";
import {
  buildDiscoverableToolSearchIndex,
  type DiscoverableToolSearchIndex,
  searchDiscoverableTools,
} from "../kit/tool-search/search-index.ts";

const defaultLimit = 5;
const maxLimit = 20;
const maxQuery = 2_000;
/** After a compaction: the tools that the model knew, the latest first. */
const maxKeptTools = 10;
const maxKeptText = 8_000;

/** The type of the message that repeats what was found. It is the name of the feature, which is loaded for it. */
const customType = "discovery";

export const discoveryExtension: ExtensionFactory = (tau) => {
  let known: { tools: readonly ToolInfo[]; index: DiscoverableToolSearchIndex } | undefined;
  const getIndex = (tools: readonly ToolInfo[]): DiscoverableToolSearchIndex => {
    if (!known || !isSame(known.tools, tools)) {
      known = { tools, index: buildDiscoverableToolSearchIndex(tools.map(toDiscoverableTool)) };
    }
    return known.index;
  };

  tau.registerTool({
    ...searchTool,
    async execute(_id, { query, limit = defaultLimit }: { query: string; limit?: number }) {
      const tools = await tau.findTools();
      const count = Math.min(maxLimit, Math.max(1, Math.trunc(limit)));
      const byName = new Map(tools.map((tool) => [tool.name, tool]));
      const matches = searchDiscoverableTools(getIndex(tools), query.slice(0, maxQuery), count);
      const texts = matches.map(({ tool }) => describeTool(byName.get(tool.name)!));
      return { content: [{ type: "text", text: formatAnswer(query, texts, tools.length) }], details: { tools: texts } };
    },
  });
  tau.registerTool({
    ...callTool,
    execute: () => Promise.reject(new Error("Name a tool to call, and its arguments.")),
  });
  tau.on("session_compact", ({ compactionEntry }, { sessionManager }) => {
    const tools = listForgotten(sessionManager.getBranch(), compactionEntry.firstKeptEntryId);
    if (tools.length === 0) return;
    const content = `Tools that you found before the summary; ${callTool.name} calls them:\n\n${joinTexts(tools, maxKeptText)}`;
    tau.sendMessage({ customType, content, display: false, details: { tools } });
  });
};

function formatAnswer(query: string, texts: readonly ToolText[], total: number): string {
  if (texts.length > 0) return joinTexts(texts);
  const shown = JSON.stringify(toVisible(query, 100));
  return total === 0 ? "There are no other tools." : `None of ${total} tools matches ${shown}. Try other words.`;
}

/** Schemas are the same objects as long as nobody registers a tool again. */
const isSame = (before: readonly ToolInfo[], after: readonly ToolInfo[]): boolean =>
  before.length === after.length &&
  before.every((tool, index) => {
    const other = after[index]!;
    return tool.name === other.name && tool.description === other.description && tool.parameters === other.parameters;
  });

/** The tools that were found in the part that a summary stands for, and not again after it: those that were called first. */
function listForgotten(branch: readonly SessionEntry[], firstKeptEntryId: string | null): readonly ToolText[] {
  const kept = branch.findIndex(({ id }) => id === firstKeptEntryId);
  const [before, after] = kept === -1 ? [branch, []] : [branch.slice(0, kept), branch.slice(kept)];
  const shown = new Set(after.flatMap(getFound).map(({ name }) => name));
  const latest = new Map<string, ToolText>();
  for (const tool of before.flatMap(getFound)) {
    latest.delete(tool.name);
    latest.set(tool.name, tool);
  }
  const called = new Set(before.flatMap(getCalled));
  return [...latest.values()]
    .toReversed()
    .filter(({ name }) => !shown.has(name))
    .toSorted((a, b) => Number(called.has(b.name)) - Number(called.has(a.name)))
    .slice(0, maxKeptTools);
}

/** The tools of an answer of the search, or of the message that repeats one. */
function getFound(entry: SessionEntry): readonly ToolText[] {
  const details =
    entry.type === "custom_message" && entry.customType === customType
      ? entry.details
      : entry.type === "message" && entry.message.role === "toolResult" && isSearch(entry.message.toolName)
        ? (entry.message.details as unknown)
        : undefined;
  const { tools } = asRecord(details);
  return Array.isArray(tools) ? tools.filter(isToolText) : [];
}

const isSearch = (name: string): boolean => name === searchTool.name || searchTool.aliases!.includes(name);

const isToolText = (value: unknown): value is ToolText => {
  const { name, text } = asRecord(value);
  return typeof name === "string" && typeof text === "string";
};

const getCalled = (entry: SessionEntry): string[] =>
  entry.type === "message" && entry.message.role === "toolResult" ? [entry.message.toolName] : [];
