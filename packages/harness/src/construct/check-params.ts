/** Refuses parameters of a session that are wrong, before anything is opened. */
import { isRecord } from "@tau/ai/internal";
import { HarnessError, permissionModes } from "@tau/protocol";
import {
  check,
  createCheck,
  fn,
  hasMethods,
  isFunction,
  param,
  refuseProblems,
  withMethods,
  decimal,
  map,
} from "@tau/config/internal";
import {
  type Field,
  type OptionalField,
  anyJson,
  flag,
  list,
  nonEmptyText,
  object,
  oneOf,
  text,
} from "@tau/config/fields";
import { isModel } from "../extension-port/check-port.ts";
import { refuseSameNames } from "../agent-session/shown-tools.ts";
import type { AgentSessionParams } from "./params.ts";

/**
 * Throws `invalid_input` with a sentence that names the parameter. A name that does not exist is refused too: a limit that
 * is misspelt would have no effect, and nobody would notice.
 */
export function checkParams(params: AgentSessionParams): void {
  refuseProblems(object(fields), params, { whole: "What createAgentSession is given" });
  refuseTwoLogs(params);
  refuseSameNames("tools", params.tools);
  refuseSameNames("customTools", params.customTools);
  refuseSameNames("binding.tools", params.binding?.tools);
}

/** Only one of them can say where the log is. */
function refuseTwoLogs({ storage, session, sessionManager }: AgentSessionParams): void {
  if (storage && sessionManager)
    throw new HarnessError("invalid_input", "storage and sessionManager both name a log: pass one of them.");
  if (session !== undefined && !storage)
    throw new HarnessError("invalid_input", "session is the id of a session in storage: pass storage too.");
}

const either = (expected: string, ...checks: ((value: unknown) => boolean)[]): Field<unknown> =>
  check(expected, (value) => checks.some((accepts) => accepts(value)));

const isAnswerStore = (value: unknown): boolean => hasMethods(value, "read", "change");

const isSessionManager = (value: unknown): boolean => hasMethods(value, "getEntries", "appendMessage");

const isPort = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 65_535;

const isText = (value: unknown): boolean => typeof value === "string";

/** A limit that cannot be reached is the same as none. */
const limit = check("a number of 0 or more", (value) => typeof value === "number" && value >= 0);

const model = either("a name, or a Model with all of its fields", isText, isModel);

const budgets = object({ tokens: param(limit), cost: param(limit), turns: param(limit), timeMs: param(limit) });

const extensions = object({
  paths: param(list(text)),
  packages: param(list(anyJson)),
  discovers: param(flag),
  factories: param(
    list(
      either(
        "a function, or { name, factory }",
        isFunction,
        (value) => isRecord(value) && isFunction(value["factory"]),
      ),
    ),
  ),
  flags: param(check("a Map", (value) => value instanceof Map)),
  allowNetwork: param(flag),
  loadShared: param(fn),
  locateShared: param(fn),
  findChild: param(fn),
  start: param(anyJson),
});

const sandbox = object({
  mode: param(oneOf("off", "auto", "required")),
  allowedPaths: param(list(text)),
  network: param(
    either(
      '"none", "all", or { allow } with a list of hosts',
      (value) => value === "none" || value === "all",
      (value) => isRecord(value) && Array.isArray(value["allow"]) && value["allow"].every(isText),
    ),
  ),
  ports: param(list(check("a port, 1 to 65535", isPort))),
  timeoutMs: param(decimal({ min: 1, unit: "milliseconds" })),
  maxMemoryMb: param(decimal({ min: 16, unit: "megabytes" })),
  maxMemoryFilesMb: param(decimal({ min: 1, unit: "megabytes" })),
  seatbelt: param(flag),
});

const fields: Record<keyof AgentSessionParams, OptionalField<unknown>> = {
  cwd: param(nonEmptyText),
  projectDirectory: param(nonEmptyText),
  permissionsDirectory: param(nonEmptyText),
  readablePaths: param(list(nonEmptyText)),
  use: param(list(oneOf("user", "project"))),
  isolation: param(oneOf("tenant")),
  env: param(map(text)),
  agentDir: param(nonEmptyText),
  agentName: param(text),
  authStorage: param(withMethods("an AuthStorage", "list", "set")),
  roles: param(map(nonEmptyText)),
  modelRegistry: param(withMethods("a ModelRegistry that is open, not a promise of one", "resolve", "getAvailable")),
  model: param(model),
  provider: param(nonEmptyText),
  models: param(list(text)),
  // It is refused where it is read, as one that a command sets.
  thinkingLevel: param(anyJson),
  // A tool that cannot be used is left out with a notice, as one that an extension brings.
  tools: param(list(anyJson)),
  customTools: param(list(anyJson)),
  sessionManager: param(
    either("a SessionManager, or a promise of one", isSessionManager, (value) => value instanceof Promise),
  ),
  storage: param(withMethods("a Storage, such as one of createMemoryStorage", "open", "list", "remove")),
  session: param(nonEmptyText),
  settingsManager: param(withMethods("a SettingsManager that is open, not a promise of one", "get", "update")),
  resourceLoader: param(check("a ResourceLoader", (value) => isRecord(value) && isRecord(value["resources"]))),
  resources: param(
    object({
      contextFiles: param(oneOf("all", "own", "none")),
      lists: param(fn),
      skillPaths: param(list(text)),
      discoverSkills: param(flag),
      promptPaths: param(list(text)),
      discoverPrompts: param(flag),
    }),
  ),
  afterCrash: param(withMethods("an object with the functions `wasCut` and `keepQueued`", "wasCut", "keepQueued")),
  admitRun: param(fn),
  waitsForBusyProvider: param(flag),
  fileAuthority: param(oneOf("person", "model")),
  parentSessionId: param(nonEmptyText),
  sessionId: param(nonEmptyText),
  abortSignal: param(
    check(
      "an AbortSignal, such as the signal of an AbortController",
      (value) => isRecord(value) && typeof value["aborted"] === "boolean" && isFunction(value["addEventListener"]),
    ),
  ),
  onEvent: param(fn),
  sandbox: param(sandbox),
  extensions: param(extensions),
  features: param(
    list(
      check(
        "a feature: an object with a name and a function `load`, such as `todo()`",
        (value) => isRecord(value) && typeof value["name"] === "string" && isFunction(value["load"]),
      ),
    ),
  ),
  binding: param(
    object({
      channel: text,
      accountId: param(text),
      channelId: param(text),
      sourceMessageId: param(text),
      peer: param(object({ kind: oneOf("direct", "group", "channel", "thread"), id: text })),
      tools: list(anyJson),
    }),
  ),
  allowedTools: param(list(text)),
  defaultTools: param(list(text)),
  excludedTools: param(list(text)),
  toolChoice: param(
    either(
      "auto, any, required, none, or an object with the name of a tool",
      (value) => ["auto", "any", "required", "none"].includes(String(value)),
      isRecord,
    ),
  ),
  toolExecution: param(oneOf("ordered", "sequential")),
  scopes: param(list(text)),
  additionalDirectories: param(list(nonEmptyText)),
  wrapFiles: param(fn),
  commandTerminal: param(withMethods("an object with the function `start`", "start")),
  ask: param(
    either(
      'a function, "surface", or an object with a function `isAttended` or a store as `later`',
      isFunction,
      (value) => value === "surface",
      (value) => isRecord(value) && (isFunction(value["isAttended"]) || isAnswerStore(value["later"])),
    ),
  ),
  decide: param(
    either(
      "a function, or what `extendPolicy` returns",
      isFunction,
      (value) => isRecord(value) && isFunction(value["extend"]),
    ),
  ),
  policyProfile: param(text),
  permissionMode: param(oneOf(...permissionModes)),
  planMode: param(flag),
  audit: param(fn),
  budgets: param(budgets),
  systemPrompt: param(text),
  appendSystemPrompt: param(list(text)),
  documents: param(object({ directory: nonEmptyText, examples: param(nonEmptyText) })),
  projectTrusted: param(flag),
  watch: param(flag),
  streamFn: param(fn),
  reloadGateway: param(fn),
  debugLog: param(withMethods("a DebugLog", "log", "addSecret")),
  sessions: param(withMethods("a LiveSessions", "get", "add", "remove")),
  clock: param(withMethods("a Clock", "now", "monotonic", "setTimer")),
  ids: param(fn),
};

const sessionManager = check("a SessionManager, or a promise of one", isSessionManager);

/** Refuses what the promise of a log resolves with, unless it is a log. */
export const checkLog = createCheck({ sessionManager });
