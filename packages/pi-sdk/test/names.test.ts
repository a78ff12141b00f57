import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadPiModule as loadModule } from "@tau/pi";

const loadPiModule = (name: string, names?: readonly string[]) =>
  loadModule(name, { names, loadSdk: () => import("../src/index.ts") });

const readNames = (version: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, `names/pi-${version}.json`), "utf8")) as Record<string, string[]>;
const names15 = readNames("1.5");
const names058 = readNames("0.58");

const lists: [string, string, string[]][] = [
  ...Object.entries(names15).map(([module, names]): [string, string, string[]] => ["1.5.0", module, names]),
  ...Object.entries(names058).map(([module, names]): [string, string, string[]] => ["0.58", module, names]),
];

test.each(lists)("every name that pi %s exports from %s is there", async (_version, module, names) => {
  const loaded = await loadPiModule(`@earendil-works/${module}`);
  expect(names.filter((name) => loaded?.[name] === undefined)).toEqual([]);
});

test("the lists are complete", () => {
  const counts = Object.fromEntries(Object.entries(names15).map(([module, names]) => [module, names.length]));
  expect(counts).toMatchObject({ "pi-coding-agent": 157, "pi-ai": 78, "pi-ai/compat": 137, "pi-agent-core": 9 });
});

test("the names that programs embed are loaded only for who uses one of them", async () => {
  const name = "@earendil-works/pi-coding-agent";
  const without = await loadPiModule(name, ["createReadTool", "SessionManager"]);
  expect(without).not.toHaveProperty("AgentSession");
  const whole = await loadPiModule(name, ["createReadTool", "createAgentSession"]);
  expect(whole).toMatchObject({ ...without, createAgentSession: expect.any(Function) });
  expect(await loadPiModule(name)).toBe(whole);
  expect(await loadModule(name)).toBe(without);
});

test("both scopes give the same module, and other names none", async () => {
  expect(await loadPiModule("@mariozechner/pi-tui")).toBe(await loadPiModule("@earendil-works/pi-tui"));
  expect(loadPiModule("@earendil-works/pi-mom")).toBeUndefined();
  expect(loadPiModule("@mariozechner/constructor")).toBeUndefined();
  expect(loadPiModule("pi-coding-agents")).toBeUndefined();
});

type Members = Record<string, Record<string, string[]>>;
type AnyClass = (new () => unknown) & { prototype: object };

const readMembers = (version: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, `names/members-${version}.json`), "utf8")) as Members;

/** Using them throws an error that names them. */
const absentClasses = [
  "ArminComponent",
  "InteractiveMode",
  "LoginDialogComponent",
  "ModelSelectorComponent",
  "OAuthSelectorComponent",
  "ProjectTrustStore",
  "RpcClient",
  "SettingsSelectorComponent",
  "StreamingJsonParser",
];

/** They are undefined, so that programs can test for them. docs/decisions/pi.md has the reasons. */
const absentMembers: Record<string, string[]> = {
  Agent: ["peekQueuedMessages"],
  AgentSession: ["cacheWarmingStatus", "routedModel", "setCacheWarmingMode", "summarizeForBugReport"],
  AssistantMessageComponent: ["setHiddenThinkingLabel", "setOutputPad"],
  BashExecutionComponent: ["setOutputPad"],
  BranchSummaryMessageComponent: ["setOutputPad"],
  CompactionSummaryMessageComponent: ["setOutputPad"],
  CustomEditor: ["setWorkingStatusIndicator"],
  CustomMessageComponent: ["setOutputPad"],
  DefaultPackageManager: ["checkForAvailableUpdates"],
  DefaultResourceLoader: ["loadProjectTrustExtensions"],
  ExtensionRunner: ["emitBoundary", "emitCacheWarmingDecision", "reportUnhandledMcpServers", "resolveToolRenderers"],
  FooterComponent: ["setSession"],
  ModelRegistry: [
    "classify",
    "generateImages",
    "getProvider",
    "getProviderAuth",
    "getRegisteredNativeProvider",
    "registerVirtualModel",
    "unregisterVirtualModel",
  ],
  ModelRuntime: [
    "cancelDeferred",
    "classify",
    "fetchDeferred",
    "generateImages",
    "getRegisteredNativeProvider",
    "registerNativeProvider",
    "registerVirtualModel",
    "resolveModel",
    "streamDeferred",
    "unregisterVirtualModel",
  ],
  SessionSelectorComponent: ["capturesViewportInput"],
  SkillInvocationMessageComponent: ["setOutputPad"],
  ToolExecutionComponent: ["setImageWidthCells", "setOutputPad"],
  TreeSelectorComponent: ["capturesViewportInput"],
  UserMessageComponent: ["setOutputPad"],
};

/** Accessors of pi's that are plain fields here, which a prototype does not show. */
const fields = [
  "focused",
  "maxRetryDelayMs",
  "modelRuntime",
  "modify",
  "sessionId",
  "thinkingBudgets",
  "toolExecution",
  "transport",
];

async function findMissing(version: string): Promise<Record<string, string[]>> {
  const missing: Record<string, string[]> = {};
  for (const [module, classes] of Object.entries(readMembers(version))) {
    const loaded = {
      ...(await loadPiModule(`@earendil-works/${module}/compat`)),
      ...(await loadPiModule(`@earendil-works/${module}`)),
    } as Record<string, AnyClass>;
    for (const [name, members] of Object.entries(classes)) {
      const Loaded = loaded[name]!;
      if (absentClasses.includes(name)) expect(() => new Loaded()).toThrow(`${name} is not available in tau`);
      else {
        const lost = members.filter((member) => !(member in Loaded.prototype) && !fields.includes(member));
        if (lost.length > 0) missing[name] = lost;
      }
    }
  }
  return missing;
}

test("the classes of pi 0.58 have its methods", async () => {
  expect(await findMissing("0.58")).toEqual({});
});

test("the classes of pi 1.5 have its methods, except those that are listed here", async () => {
  expect(await findMissing("1.5")).toEqual(absentMembers);
});
