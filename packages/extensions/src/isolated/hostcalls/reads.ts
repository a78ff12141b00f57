/** Reads an extension's view of its session without waiting. Keys and headers are left out. */
import type { ExtensionSessionPort } from "../../api/session-port.ts";
import { withoutKeys } from "../without-keys.ts";
import { type Args, type Hostcall, type Hostcalls, takeText, wholeCapability } from "./hostcall.ts";

type Read = (session: ExtensionSessionPort, args: Args) => unknown;

const id = (args: Args): string => takeText(args[0], "The id");

const reads: Readonly<Record<string, Read>> = {
  cwd: (session) => session.cwd,
  mode: (session) => session.mode,
  getModel: (session) => withoutKeys(session.getModel()),
  getScopedModels: (session) =>
    session.getScopedModels().map((scoped) => ({ ...scoped, model: withoutKeys(scoped.model) })),
  getThinkingLevel: (session) => session.getThinkingLevel(),
  getPermissionMode: (session) => session.getPermissionMode(),
  isIdle: (session) => session.isIdle(),
  isProjectTrusted: (session) => session.isProjectTrusted(),
  hasPendingMessages: (session) => session.hasPendingMessages(),
  getContextUsage: (session) => session.getContextUsage(),
  getSystemPrompt: (session) => session.getSystemPrompt(),
  getSystemPromptOptions: (session) => session.getSystemPromptOptions(),
  getSettings: (session) => session.getSettings(),
  getActiveTools: (session) => session.getActiveTools(),
  getAllTools: (session) => session.getAllTools().map(({ reachesTools: _function, ...tool }) => tool),
  getCallableTools: (session) =>
    session.getCallableTools().map(({ name, label, description, parameters }) => ({
      name,
      label,
      description,
      parameters,
    })),
  getCommands: (session) => session.getCommands(),
  "reader.getCwd": ({ reader }) => reader.getCwd(),
  "reader.getSessionDir": ({ reader }) => reader.getSessionDir(),
  "reader.getSessionId": ({ reader }) => reader.getSessionId(),
  "reader.getSessionFile": ({ reader }) => reader.getSessionFile(),
  "reader.getSessionName": ({ reader }) => reader.getSessionName(),
  "reader.getLeafId": ({ reader }) => reader.getLeafId(),
  "reader.getLeafEntry": ({ reader }) => reader.getLeafEntry(),
  "reader.getEntry": ({ reader }, args) => reader.getEntry(id(args)),
  "reader.getLabel": ({ reader }, args) => reader.getLabel(id(args)),
  "reader.getBranch": ({ reader }, args) =>
    typeof args[0] === "string" ? reader.getBranch(args[0]) : reader.getBranch(),
  "reader.getHeader": ({ reader }) => reader.getHeader(),
  "reader.getEntries": ({ reader }) => reader.getEntries(),
  "reader.getTree": ({ reader }) => reader.getTree(),
  "reader.isPersisted": ({ reader }) => reader.isPersisted(),
  "reader.buildSessionContext": ({ reader }) => reader.buildSessionContext(),
  "reader.buildRequestMessages": ({ reader }) => reader.buildRequestMessages(),
  "reader.buildContextEntries": ({ reader }) => reader.buildContextEntries(),
  "reader.buildSessionProjection": ({ reader }) => reader.buildSessionProjection(),
  "models.getAll": ({ modelRegistry }) => modelRegistry.getAll().map(withoutKeys),
  "models.getAvailable": ({ modelRegistry }) => modelRegistry.getAvailable().map(withoutKeys),
  "models.find": ({ modelRegistry }, [provider, model]) =>
    withoutKeys(modelRegistry.find(takeText(provider, "The provider"), takeText(model, "The id"))),
  "models.findRole": ({ modelRegistry }, [role]) => {
    const target = modelRegistry.findRole(takeText(role, "The role"));
    return target && { ...target, model: withoutKeys(target.model) };
  },
  "models.displayName": ({ modelRegistry }, [provider]) =>
    modelRegistry.displayName(takeText(provider, "The provider")),
};

const toHostcall = ([name, read]: readonly [string, Read]): readonly [string, Hostcall] => [
  name,
  {
    access: (_args, extension) => wholeCapability("session", extension),
    isRead: true,
    run: (args, { session }) => read(session, args),
  },
];

/** Reads about the extension itself. */
const ownReads: Hostcalls = {
  flagValue: {
    access: () => [],
    isRead: true,
    isEarly: true,
    run: ([name], { ports }) => ports.flagValues.get(takeText(name, "The name")),
  },
  findFlag: {
    access: () => [],
    isRead: true,
    isEarly: true,
    run: ([name], { ports }) => ports.findFlag(takeText(name, "The name")),
  },
  getMcpServers: { access: () => [], isRead: true, isEarly: true, run: () => [] },
};

export const readCalls: Hostcalls = { ...Object.fromEntries(Object.entries(reads).map(toHostcall)), ...ownReads };
