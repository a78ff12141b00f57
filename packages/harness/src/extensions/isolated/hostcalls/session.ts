/** What an extension does to its session. */
import { thinkingLevels } from "@tau/ai/internal";
import type { ThinkingLevel } from "@tau/agent";
import {
  type Args,
  type Hostcall,
  HostcallFault,
  type HostcallRun,
  type Hostcalls,
  takeCustomType,
  takeRecord,
  takeText,
  takeTexts,
  wholeCapability,
} from "./hostcall.ts";

type Act = (args: Args, run: HostcallRun) => unknown;

const optional = (value: unknown, what: string): Record<string, unknown> =>
  value === undefined || value === null ? {} : takeRecord(value, what);

const takeContent = (value: unknown) => {
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.every((block) => typeof block === "object" && block !== null && "type" in block))
    return value as never;
  throw new HostcallFault("invalid_request", "The content must be a text or a list of blocks.");
};

const actions: Readonly<Record<string, Act>> = {
  setModel(args, { session }) {
    const { provider, id } = takeRecord(args[0], "The model");
    // A model of its own making could lead a key to another address.
    const model = session.modelRegistry.find(takeText(provider, "The provider"), takeText(id, "The id"));
    if (!model) throw new HostcallFault("invalid_request", "There is no such model.");
    return session.setModel(model);
  },
  setThinkingLevel([level], { session }) {
    if (!(thinkingLevels as readonly unknown[]).includes(level))
      throw new HostcallFault("invalid_request", "There is no such thinking level.");
    session.setThinkingLevel(level as ThinkingLevel);
  },
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
    return session.sendMessage(draft, optional(options, "The options"));
  },
  sendUserMessage([content, options], { session }) {
    const { deliverAs, expandPromptTemplates } = optional(options, "The options");
    // It would run commands of extensions that are trusted, and read every file that the text mentions.
    if (expandPromptTemplates) throw new HostcallFault("denied", "Expanding what a message mentions needs trust.");
    const isKnown = deliverAs === "steer" || deliverAs === "followUp";
    return session.sendUserMessage(takeContent(content), isKnown ? { deliverAs } : {});
  },
  appendEntry: ([customType, data], { session }) => session.appendEntry(takeCustomType(customType), data),
  setSessionName: ([name], { session }) => session.setSessionName(takeText(name, "The name")),
  setLabel: ([entryId, label], { session }) =>
    session.setLabel(takeText(entryId, "The id"), typeof label === "string" ? label : undefined),
  waitForIdle: (_args, { session }) => session.waitForIdle(),
  reload: (_args, { session }) => session.reload(),
  newSession: ([options], { session }) => session.replace.newSession(optional(options, "The options")),
  fork: ([entryId, options], { session }) =>
    session.replace.fork(takeText(entryId, "The id"), optional(options, "The options")),
  switchSession: ([path], { session }) => session.replace.switchSession(takeText(path, "The path")),
  navigateTree: ([targetId, options], { session }) =>
    session.navigateTree(takeText(targetId, "The id"), optional(options, "The options")),
};

export const sessionCalls: Hostcalls = Object.fromEntries(
  Object.entries(actions).map(([name, run]): [string, Hostcall] => [
    name,
    { access: (_args, extension) => wholeCapability("session", extension), run },
  ]),
);
