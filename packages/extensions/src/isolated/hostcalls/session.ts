/** Executes what an extension does to its session. */
import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import type { ThinkingLevel } from "@tau/agent";
import type { ImageContent, Model, TextContent } from "@tau/ai";
import { thinkingLevels } from "@tau/ai/internal";
import type { AccessRequest } from "@tau/tools";
import { isWithin, unlessMissing } from "@tau/tools/platform";
import { isMessageContent } from "../../runner/parse-results.ts";
import type { ExtensionSessionPort } from "../../api/session-port.ts";
import {
  type Args,
  type Hostcall,
  type HostcallFacts,
  HostcallFault,
  type HostcallRun,
  type Hostcalls,
  takeCustomType,
  takeRecord,
  takeText,
  takeTexts,
  wholeCapability,
} from "./hostcall.ts";
import { findAddress } from "./http.ts";

type Act = (args: Args, run: HostcallRun) => unknown;

const optional = (value: unknown, what: string): Record<string, unknown> =>
  value === undefined || value === null ? {} : takeRecord(value, what);

const takeContent = (value: unknown) => {
  if (isMessageContent(value)) return value as string | (TextContent | ImageContent)[];
  throw new HostcallFault("invalid_request", "The content must be a text, or a list of texts and images.");
};

/** Only these fields, and only as texts and flags: they become part of the session. */
function takeOptions(
  value: unknown,
  { texts = [], flags = [] }: { texts?: readonly string[]; flags?: readonly string[] },
): Record<string, unknown> {
  const given = optional(value, "The options");
  const isKept = (name: string) =>
    (texts.includes(name) && typeof given[name] === "string") ||
    (flags.includes(name) && typeof given[name] === "boolean");
  return Object.fromEntries(Object.entries(given).filter(([name]) => isKept(name)));
}

/** A model of its own making could lead a key to another address, so it is one that the registry has. */
function takeModel([value]: Args, { modelRegistry }: ExtensionSessionPort): Model {
  const { provider, id } = takeRecord(value, "The model");
  const model = modelRegistry.find(takeText(provider, "The provider"), takeText(id, "The id"));
  if (!model) throw new HostcallFault("invalid_request", "There is no such model.");
  return model;
}

/**
 * Where the conversation goes with a model of an isolated extension, this one or another; undefined with any other model.
 * The extension may have taken back its registration: what matters is which providers can be chosen.
 */
function findIsolatedHost(args: Args, { session, isIsolatedProvider }: HostcallFacts): string | undefined {
  const model = session && takeModel(args, session);
  if (!model || !isIsolatedProvider(model.provider)) return undefined;
  if (URL.canParse(model.baseUrl)) return new URL(model.baseUrl).hostname;
  throw new HostcallFault("invalid_request", `${model.baseUrl} is not an address.`);
}

/**
 * A file elsewhere may be one that the extension wrote: a conversation that never was, with decisions that nobody made.
 * What is no file is looked up as an id.
 */
async function mustBeOwnSession(reference: string, { cwd, reader }: ExtensionSessionPort): Promise<void> {
  const [file, directory] = await Promise.all(
    [resolve(cwd, reference), reader.getSessionDir()].map((path) => unlessMissing(realpath(path))),
  );
  const isId = file === undefined && /^[\w-]+$/.test(reference);
  if (isId || (file !== undefined && directory !== undefined && isWithin(directory, file))) return;
  throw new HostcallFault("denied", `${reference} is not among the sessions of this directory, which needs trust.`);
}

const actions: Readonly<Record<string, Act>> = {
  async setModel(args, { session, ports }) {
    const host = findIsolatedHost(args, { session, isIsolatedProvider: ports.providers.isIsolated });
    if (host !== undefined) await findAddress(host, ports.network);
    return await session.setModel(takeModel(args, session));
  },
  setThinkingLevel([level], { session }) {
    if (!(thinkingLevels as readonly unknown[]).includes(level))
      throw new HostcallFault("invalid_request", "There is no such thinking level.");
    return session.setThinkingLevel(level as ThinkingLevel);
  },
  findTools: (_args, { session }) => session.findTools(),
  getAgents: (_args, { session }) => session.getAgents(),
  setActiveTools: ([names], { session }) => session.setActiveTools(takeTexts(names, "The names")),
  abort: (_args, { session }) => session.abort(),
  shutdown: (_args, { session }) => session.shutdown(),
  compact: ([instructions], { session }) =>
    session.compact(typeof instructions === "string" ? instructions : undefined),
  sendMessage([message, options], { session }) {
    const { customType, content, display, details } = takeRecord(message, "The message");
    const draft = {
      customType: takeCustomType(customType),
      content: takeContent(content),
      display: display !== false,
      ...(details !== undefined && { details }),
    };
    return session.sendMessage(draft, takeOptions(options, { texts: ["deliverAs"], flags: ["triggerTurn"] }));
  },
  sendUserMessage([content, options], { session }) {
    const { deliverAs, expandPromptTemplates } = optional(options, "The options");
    // It would run commands of extensions that are trusted, and read every file that the text mentions.
    if (expandPromptTemplates) throw new HostcallFault("denied", "Expanding what a message mentions needs trust.");
    const isKnown = deliverAs === "steer" || deliverAs === "followUp";
    return session.sendUserMessage(takeContent(content), isKnown ? { deliverAs } : {});
  },
  appendEntry: ([customType, data], { session }) => session.appendEntry(takeCustomType(customType), data),
  setSessionName: ([name, options], { session }) =>
    session.setSessionName(takeText(name, "The name"), takeOptions(options, { flags: ["ifUnnamed"] })),
  setLabel: ([entryId, label], { session }) =>
    session.setLabel(takeText(entryId, "The id"), typeof label === "string" ? label : undefined),
  waitForIdle: (_args, { session }) => session.waitForIdle(),
  reload: (_args, { session }) => session.reload(),
  newSession: ([options], { session }) =>
    session.replace.newSession(takeOptions(options, { texts: ["parentSession"] })),
  fork: ([entryId, options], { session }) =>
    session.replace.fork(takeText(entryId, "The id"), takeOptions(options, { texts: ["position"] })),
  async switchSession([path], { session }) {
    const reference = takeText(path, "The path");
    await mustBeOwnSession(reference, session);
    return await session.replace.switchSession(reference);
  },
  navigateTree([targetId, given], { session }) {
    const [texts, flags] = [
      ["customInstructions", "label"],
      ["summarize", "replaceInstructions"],
    ];
    return session.navigateTree(takeText(targetId, "The id"), takeOptions(given, { texts, flags }));
  },
};

/** A conversation goes to the server of its model. */
function also(name: string, args: Args, facts: HostcallFacts): AccessRequest[] {
  const host = name === "setModel" ? findIsolatedHost(args, facts) : undefined;
  return host === undefined ? [] : [{ capability: "http", target: { kind: "host", host } }];
}

export const sessionCalls: Hostcalls = Object.fromEntries(
  Object.entries(actions).map(([name, run]): [string, Hostcall] => [
    name,
    { access: (args, extension, facts) => [...wholeCapability("session", extension), ...also(name, args, facts)], run },
  ]),
);
