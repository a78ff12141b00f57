/** Memory: facts of a project that stay between sessions. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { resolveFields } from "@tau/config/settings";
import type { Feature, FeaturePlace, FeatureTool } from "@tau/extensions";
import { factKinds, type FactKind } from "./fact.ts";
import { isCorrection } from "./is-correction.ts";
import { memorySettings } from "./settings.ts";

export interface RetainArguments {
  fact: string;
  kind: FactKind;
  replaces?: string;
}

const isWanted = ({ settings }: Pick<FeaturePlace, "settings">): boolean =>
  resolveFields(memorySettings, settings.get()).memory.backend === "local";

export const isOn = (place: Pick<FeaturePlace, "settings" | "isTemporary">): boolean =>
  isWanted(place) && !place.isTemporary;

/** Why memory is off although the settings turn it on. Undefined where it is on, or not wanted. */
export const findObstacle = (place: Pick<FeaturePlace, "settings" | "isTemporary">): string | undefined =>
  isWanted(place) && place.isTemporary
    ? "Memory is off: it needs files, and this session has no directory that stays. Its program can pass an agentDir."
    : undefined;

/** Its file says that memory was offered to the user once. */
export const getOfferPath = (agentDir: string): string => join(agentDir, "memory", "offered");

export const searchTool: FeatureTool = {
  name: "memory_search",
  label: "Search memory",
  category: "memory",
  description: "Search the facts of this project that were remembered in earlier sessions.",
  parameters: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
  promptSnippet: "search what was remembered of this project",
  promptGuidelines: [
    "Before answering about earlier work, decisions, dates, people, preferences or open tasks, run memory_search. Retain what the user corrects or decides.",
  ],
  isActive: isOn,
  // Facts with text of others behind them are asked about when they are found.
  access: () => [],
  readOnly: true,
  summarise: ({ query }: { query: string }) => `Search memory: ${query}`,
};

export const retainTool: FeatureTool = {
  name: "retain",
  label: "Remember",
  category: "memory",
  description:
    "Remember a fact of this project for later sessions, in one sentence. Not what the code shows, and no secrets.",
  parameters: {
    type: "object",
    properties: {
      fact: { type: "string" },
      kind: { type: "string", enum: [...factKinds] },
      replaces: { type: "string", description: "Id of a fact that is no longer true" },
    },
    required: ["fact", "kind"],
  },
  promptSnippet: "remember a fact for later sessions",
  isActive: isOn,
  access: () => [],
  isContained: true,
  executionMode: "sequential",
  summarise: ({ fact }: RetainArguments) => `Remember: ${fact}`,
};

export const forgetTool: FeatureTool = {
  name: "forget",
  label: "Forget",
  category: "memory",
  description: "Forget a remembered fact that is wrong or no longer wanted, by its id from memory_search.",
  parameters: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
  exposure: "deferred",
  isActive: isOn,
  access: () => [],
  isContained: true,
  executionMode: "sequential",
  summarise: ({ id }: { id: string }) => `Forget the fact ${id}`,
};

export const reflectTool: FeatureTool = {
  name: "reflect",
  label: "Reflect",
  category: "memory",
  description:
    "Answer a question from all that was remembered of this project: a small model reads the facts that fit.",
  parameters: { type: "object", properties: { question: { type: "string" } }, required: ["question"] },
  exposure: "deferred",
  isActive: isOn,
  access: () => [],
  readOnly: true,
  summarise: ({ question }: { question: string }) => `Reflect: ${question}`,
};

export const memoryCommand = {
  name: "memory",
  description: "Show what is remembered of this project, what was used and why; change, forget, turn it on or off",
};

export const memory = (): Feature => ({
  name: "memory",
  summary: "Facts of a project that stay between sessions.",
  tools: [searchTool, retainTool, forgetTool, reflectTool],
  commands: [memoryCommand],
  settings: memorySettings,
  programCommands: [
    {
      name: "memory",
      summary: "List, search, change, forget and export what is remembered of this project",
      usage: [
        "tau memory [--json]  List the facts of this project",
        "tau memory list [--json]  Does the same",
        "tau memory search QUERY... [--json]  Search them",
        "tau memory edit ID TEXT...  Change the text of one",
        "tau memory forget [ID...] [--session SESSION]  Forget some, or all that a session brought",
        "tau memory export [--all] [--json]  Print them as Markdown or JSON; --all: of all projects",
      ],
      run: async (context) => await (await import("./program.ts")).runMemoryCommand(context),
    },
  ],
  // Also to say why it is off.
  opensWithSession: isWanted,
  loadsForPrompt: (prompt, place) =>
    isCorrection(prompt) && !place.isTemporary && !isOn(place) && !existsSync(getOfferPath(place.agentDir)),
  load: async (place) => (await import("./memory.ts")).createMemoryExtension(place),
});
