/** Isolated extensions with real processes, a real policy and a session that writes down what it is asked. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Clock, systemClock, systemIds } from "@tau/ai";
import { createFiles } from "@tau/tools";
import { build } from "esbuild";
import { onTestFinished } from "vitest";
import type { ExtensionToolContext } from "../../src/api/context.ts";
import { createEventBus } from "../../src/runner/create-api.ts";
import type { Extension, ExtensionProblem, ExtensionSource } from "../../src/api/extension.ts";
import { createHostcallJudge, type IsolatedPorts, loadIsolated, StreamBatch } from "../../src/isolated/index.ts";
import { findIsolationPrograms } from "../../src/isolated/start-process.ts";
import type { ExtensionSessionPort } from "../../src/api/session-port.ts";
import { noUi } from "../../src/api/ui.ts";
import { createPolicy, createSecretBroker } from "@tau/policy/internal";
import { type PolicyInput, resolvePolicy, type Decision } from "@tau/policy";

const root = join(import.meta.dirname, "..", "..", "..", "..");

/** A reason is printed: a test that was skipped must not look like one that passed. */
const programs = await findIsolationPrograms(root);
export const canIsolate = !("reason" in programs);
if ("reason" in programs)
  process.stderr.write(`SKIPPED: isolated extensions are not tested here. ${programs.reason}\n`);

let program: Promise<string> | undefined;

/** The program of the process, from the sources, once for all tests. */
const buildProgram = () =>
  (program ??= build({
    stdin: {
      contents: `import { loadTypeboxModule, runExtensionChild } from "@tau/extensions/isolated"; runExtensionChild({ loadShared: loadTypeboxModule });`,
      resolveDir: join(root, "packages", "cli"),
    },
    write: false,
    bundle: true,
    format: "cjs",
    platform: "node",
    target: "node20",
    conditions: ["@tau/source"],
    mainFields: ["module", "main"],
    // Each process parses all of it, and none of them asks Google for credentials.
    external: [
      "@napi-rs/keyring",
      "@opentelemetry/api",
      "@vscode/ripgrep",
      "@silvia-odwyer/photon-node",
      "google-auth-library",
    ],
    minifyWhitespace: true,
    define: { "import.meta.url": "__filename" },
    logLevel: "error",
  }).then(({ outputFiles }) => outputFiles[0]!.text));

export interface Place {
  /** The workspace, the user's home and tau's directory in it. */
  cwd: string;
  home: string;
  agentDir: string;
}

/** Removed after the test. By default not where the process has its own temporary files. */
export function createPlace(directory = "/var/tmp"): Place {
  const place = createLastingPlace(directory);
  onTestFinished(place.remove);
  return place;
}

function createLastingPlace(directory: string): Place & { remove: () => void } {
  const base = realpathSync(mkdtempSync(join(directory, "tau-isolated-")));
  const place = { cwd: join(base, "project"), home: join(base, "home"), agentDir: join(base, "home", ".tau") };
  for (const path of Object.values(place)) mkdirSync(path, { recursive: true });
  return { ...place, remove: () => rmSync(base, { recursive: true, force: true, maxRetries: 3 }) };
}

let count = 0;

export function createSource({ agentDir }: Place, code: string, name = "guest"): ExtensionSource {
  const path = join(agentDir, "npm", name, "index.ts");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, code);
  const baseDir = dirname(path);
  const info = { path, source: `npm:${name}`, scope: "user", origin: "package", baseDir } as const;
  return { id: name, name, path, origin: "package", digest: `digest-${++count}`, info };
}

export interface TestHost {
  extension: Extension;
  place: Place;
  source: ExtensionSource;
  decisions: Decision[];
  problems: ExtensionProblem[];
  /** Requests to the session, as `name` and arguments. */
  asked: unknown[][];
  changedCalls: string[];
  ports: IsolatedPorts;
  /** Denied decisions, as `capability:rule`. */
  denied(): string[];
}

export interface HostOptions {
  place?: Place;
  source?: ExtensionSource;
  policy?: PolicyInput;
  session?: Partial<ExtensionSessionPort>;
  ports?: Partial<IsolatedPorts>;
  name?: string;
}

/** Everything that is not dangerous, without questions. */
export const openPolicy: PolicyInput = {
  defaultCaps: ["read", "write", "http", "events", "session", "ui", "tool", "log"],
};

export async function createPorts(options: HostOptions = {}) {
  const { place = createPlace(), policy = openPolicy } = options;
  const directory = join(place.agentDir, "..", "..", "program");
  const path = join(directory, "child.cjs");
  mkdirSync(directory, { recursive: true });
  writeFileSync(path, await buildProgram());
  const decisions: Decision[] = [];
  const problems: ExtensionProblem[] = [];
  const asked: unknown[][] = [];
  const changedCalls: string[] = [];
  const env = { ...options.ports?.env, LANG: "C" };
  const resolved = resolvePolicy(policy);
  const getPolicy = () => resolved;
  const rules = { roots: [place.cwd], home: place.home, agentDir: place.agentDir };
  const audit = (decision: Decision) => void decisions.push(decision);
  const decide = createPolicy({
    rules,
    getPolicy,
    getMode: () => "edit",
    secrets: createSecretBroker({ policy: () => resolved.secretBroker, isOwnKey: () => false, env }),
    context: { cwd: place.cwd, home: place.home, workspace: place.cwd },
    isSandboxed: async () => true,
    getNetwork: () => "none",
    getGrantedPaths: () => [],
    getTaint: async () => undefined,
    shell: undefined,
  });
  const remembered = { covers: async () => false, add: async () => {} };
  const judgeParts = {
    decide,
    ask: undefined,
    audit,
    remembered,
    cwd: place.cwd,
    home: place.home,
    getMode: () => "edit" as const,
    files: createFiles(),
    ids: systemIds,
  };
  const session = createSession(place, asked, options.session);
  const ports: IsolatedPorts = {
    program: { path, readable: [directory] },
    ...place,
    getPolicy,
    createJudge: (extension) => createHostcallJudge(judgeParts, { extension, pathRules: rules, getPolicy }),
    audit,
    getSession: () => session,
    flagValues: new Map(),
    findFlag: () => undefined,
    events: createEventBus(),
    log: (level, message) => void asked.push(["log", level, message]),
    report: (problem) => void problems.push(problem),
    onInputChanged: (toolCallId) => void changedCalls.push(toolCallId),
    providers: {
      isIsolated: (name) => name === "mine",
      registerIsolated: (...args) => void asked.push(["registerProvider", ...args]),
      unregisterIsolated: (...args) => void asked.push(["unregisterProvider", ...args]),
    },
    network: { lookup: async () => [{ address: "127.0.0.1", family: 4 }], isOpen: () => true },
    stream: new StreamBatch(systemClock),
    clock: systemClock,
    ids: systemIds,
    ...options.ports,
    env,
  };
  return { ports, place, decisions, problems, asked, changedCalls, session };
}

/** Loads an extension from its code, and closes it after the test. */
export async function load(code: string, options: HostOptions = {}): Promise<TestHost> {
  const host = await loadAt(options.place ?? createPlace(), code, options);
  onTestFinished(() => host.extension.close());
  return host;
}

export interface OpenHost extends TestHost {
  close(): Promise<void>;
}

/** Loads an extension that several tests share. Its code may depend on where it is. */
export async function open(code: string | ((place: Place) => string), options: HostOptions = {}): Promise<OpenHost> {
  const { remove, ...place } = createLastingPlace("/var/tmp");
  const host = await loadAt(place, typeof code === "string" ? code : code(place), options);
  const close = async () => {
    await host.extension.close();
    remove();
  };
  return { ...host, close };
}

async function loadAt(place: Place, code: string, options: HostOptions): Promise<TestHost> {
  const created = await createPorts({ ...options, place });
  const source = options.source ?? createSource(place, code, options.name);
  const extension = await loadIsolated(source, created.ports);
  const denied = () =>
    created.decisions
      .filter(({ outcome }) => outcome === "denied")
      .map(({ request, rule }) => `${request.capability}:${rule}`);
  return { ...created, extension, source, denied };
}

/** A session of which everything can be asked; it answers with little. */
export function createSession(
  { cwd }: Place,
  asked: unknown[][],
  overrides: Partial<ExtensionSessionPort> = {},
): ExtensionSessionPort {
  const note =
    <T>(name: string, answer?: T) =>
    (...args: unknown[]) => {
      asked.push([name, ...args]);
      return answer as T;
    };
  const later =
    <T>(name: string, answer?: T) =>
    async (...args: unknown[]) => {
      asked.push([name, ...args]);
      return answer as T;
    };
  const ui = {
    ...noUi,
    select: later("select", "second"),
    confirm: later("confirm", true),
    input: later("input", "typed"),
    editor: later("editor", "edited"),
    notify: note("notify"),
    setStatus: note("setStatus"),
    setTitle: note("setTitle"),
    setWidget: note("setWidget"),
    getEditorText: () => "draft",
  };
  const model = { provider: "test", id: "one", name: "One", headers: { authorization: "secret" } };
  const entries = [{ type: "custom", id: "e1", parentId: null, customType: "note", data: 1 }];
  let activeTools = ["read", "bash"];
  const port = {
    cwd,
    mode: "tui",
    ui,
    reader: {
      getCwd: () => cwd,
      getSessionId: () => "session",
      getSessionFile: () => undefined,
      getSessionName: () => "named",
      getEntries: () => entries,
      getBranch: () => entries,
      getEntry: (id: string) => entries.find((entry) => entry.id === id),
      getLeafId: () => "e1",
      isPersisted: () => false,
    },
    modelRegistry: {
      getAll: () => [model],
      getAvailable: () => [model],
      find: (provider: string, id: string) => (provider === "test" && id === "one" ? model : undefined),
    },
    getModel: () => model,
    setModel: later("setModel", true),
    getScopedModels: () => [],
    getThinkingLevel: () => "high",
    setThinkingLevel: later("setThinkingLevel"),
    isIdle: () => true,
    isProjectTrusted: () => true,
    getSignal: () => undefined,
    abort: note("abort"),
    hasPendingMessages: () => false,
    shutdown: note("shutdown"),
    getContextUsage: () => ({ tokens: 10, contextWindow: 100, percent: 10 }),
    compact: later("compact", { summary: "short", firstKeptEntryId: null, tokensBefore: 1 }),
    getSystemPrompt: () => "prompt",
    getSystemPromptOptions: () => ({}),
    getSettings: () => ({ theme: "dark" }),
    sendMessage: later("sendMessage"),
    sendUserMessage: later("sendUserMessage"),
    appendEntry: later("appendEntry"),
    setSessionName: later("setSessionName"),
    setLabel: later("setLabel"),
    exec: later("exec", { stdout: "done\n", stderr: "", code: 0, killed: false }),
    getAgents: later("getAgents", []),
    getActiveTools: () => activeTools,
    getAllTools: () => [],
    findTools: later("findTools", []),
    setActiveTools(names: readonly string[]) {
      activeTools = [...names];
    },
    refreshTools: () => {},
    getCallableTools: () => [],
    executeTool: later("executeTool", { result: { content: [{ type: "text", text: "called" }] }, isError: false }),
    getCommands: () => [],
    registerProvider: note("registerProvider"),
    unregisterProvider: note("unregisterProvider"),
    waitForIdle: later("waitForIdle"),
    reload: later("reload"),
    replace: {
      newSession: later("newSession", { cancelled: false }),
      fork: later("fork"),
      switchSession: later("switch"),
    },
    navigateTree: later("navigateTree", { cancelled: false }),
  };
  return { ...port, ...overrides } as unknown as ExtensionSessionPort;
}

/** Calls a tool as a session does. */
export async function callTool(
  {
    extension,
    toolContext = {} as ExtensionToolContext,
  }: Pick<TestHost, "extension"> & { toolContext?: ExtensionToolContext },
  name: string,
  params: unknown = {},
  options: { signal?: AbortSignal; onUpdate?: (update: unknown) => void } = {},
): Promise<string> {
  const tool = extension.tools.get(name);
  if (!tool) throw new Error(`There is no tool ${name}.`);
  const result = await tool.execute("call", params, options.signal, options.onUpdate as never, toolContext);
  const [block] = result.content;
  return block?.type === "text" ? block.text : "";
}

/** An extension with one tool, `go`, whose code is the given one and whose text is what that returns. */
export const toolCode = (body: string, before = ""): string => toolsCode({ go: body }, before);

/** An extension with a tool for each name. */
export const toolsCode = (bodies: Readonly<Record<string, string>>, before = ""): string => `
${before}
export default function (tau) {
${Object.entries(bodies)
  .map(
    ([name, body]) => `  tau.registerTool({
    name: "${name}",
    label: "Go",
    description: "Does it.",
    parameters: { type: "object", properties: {} },
    async execute(id, params, signal, onUpdate, ctx) {
      const answer = await (async () => { ${body} })();
      return { content: [{ type: "text", text: typeof answer === "string" ? answer : JSON.stringify(answer) ?? "undefined" }], details: undefined };
    },
  });`,
  )
  .join("\n")}
}
`;

/** The system's clock, which can be put forward. */
export function createSkippingClock(): { clock: Clock; skip: (ms: number) => void } {
  let skippedMs = 0;
  const monotonic = () => systemClock.monotonic() + skippedMs;
  return {
    skip: (ms) => void (skippedMs += ms),
    clock: {
      now: () => systemClock.now(),
      monotonic,
      setTimer(afterMs, fire) {
        const deadline = monotonic() + afterMs;
        const timer = setInterval(() => {
          if (monotonic() < deadline) return;
          clearInterval(timer);
          fire();
        }, 5);
        return () => clearInterval(timer);
      },
    },
  };
}

export const withApi = (body: string, before = ""): string =>
  `let api; ${toolCode(body, before).replace("function (tau) {", "function (tau) { api = tau;")}`;

/** Running processes of the program of isolated extensions. */
export const countProcesses = (program: string): number => {
  const pids = listPids();
  return pids.filter((pid) => readCommand(pid).includes(program)).length;
};
const listPids = (): string[] =>
  readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "utf8").split(" ").filter(Boolean);
const readCommand = (pid: string): string =>
  existsSync(`/proc/${pid}/cmdline`) ? readFileSync(`/proc/${pid}/cmdline`, "utf8") : "";
