import { describe, expect, test } from "vitest";
import { resolveSettings, type SettingsLayer } from "./resolve.ts";
import type { SettingsInput } from "./schema.ts";

const location = { directory: "/home/ann/.tau", cwd: "/project", home: "/home/ann" };
const projectPlace = { ...location, directory: "/project/.tau" };

const resolve = (global: SettingsInput, project: SettingsInput = {}) => {
  const layers: SettingsLayer[] = [
    { values: global, location },
    { values: project, location: projectPlace },
  ];
  return resolveSettings(layers);
};

describe("merging", () => {
  test("no settings give all defaults", () => {
    expect(resolve({})).toEqual({
      additionalDirectories: [],
      apiKeys: {},
      approvals: { timeoutMs: undefined, later: false },
      auth: { store: "file" },
      defaultProjectTrust: "ask",
      defaultProvider: undefined,
      defaultModel: undefined,
      defaultThinkingLevel: "medium",
      thinkingBudgets: { minimal: 1024, low: 1024, medium: 8192, high: 32_768 },
      enabledModels: undefined,
      transport: "auto",
      retry: {
        enabled: true,
        maxRetries: undefined,
        baseDelayMs: 2000,
        maxAgentDelayMs: 60_000,
        provider: { maxRetries: 0, maxRetryDelayMs: 60_000, timeoutMs: undefined },
        fallbackChains: undefined,
      },
      compaction: { enabled: true, reserveTokens: 16_384, keepRecentTokens: 20_000, models: {}, modelOverrides: {} },
      pruning: { enabled: true, keepRecentTokens: 40_000 },
      httpIdleTimeoutMs: 120_000,
      cacheRetention: undefined,
      serviceTier: undefined,
      json: { events: "tau" },
      limits: { runMs: 172_800_000, bashMs: undefined, maxBashMs: undefined },
      budgets: {
        tokens: undefined,
        cost: undefined,
        turns: undefined,
        timeMs: undefined,
        day: { cost: undefined },
        month: { cost: undefined },
      },
      steeringMode: "one-at-a-time",
      followUpMode: "one-at-a-time",
      sessionDir: undefined,
      durability: "strict",
      tools: {
        allowed: undefined,
        excluded: [],
        edit: "text",
        models: {},
        execution: "ordered",
        enabled: [],
        discoveryMode: "auto",
        writeNeedsRead: true,
      },
      mcp: { discoveryMode: false },
      shellPath: undefined,
      shellCommandPrefix: undefined,
      shellEnv: {},
      extensions: [],
      extensionTimeoutMs: 60_000,
      features: {},
      contextSources: [],
      packages: [],
      packageMinAgeDays: 3,
      skills: [],
      prompts: [],
      enableSkillCommands: true,
      images: { autoResize: true, blockImages: false },
      otel: { enabled: true },
      policy: {
        permissionMode: "edit",
        profile: "balanced",
        mode: undefined,
        defaultCaps: undefined,
        denyCaps: undefined,
        perExtension: {},
        maxMemoryMb: undefined,
        execMediation: {},
        secretBroker: {},
      },
      roles: {},
      modelThinkingLevels: {},
      smolSummaries: true,
      sandbox: {
        mode: "auto",
        allowedPaths: [],
        timeout: undefined,
        maxMemoryMb: undefined,
        maxMemoryFilesMb: 256,
        seatbelt: false,
        ports: [],
        network: "none",
      },
      gateway: {
        host: "127.0.0.1",
        port: 7433,
        allowedHosts: [],
        allowedOrigins: [],
        tls: { cert: undefined, key: undefined },
        roots: [],
        devices: { maxOpenSessions: 32, maxWaitingBytes: 67_108_864 },
        idleCloseMs: 300_000,
        bindings: [],
        schedules: { enabled: true },
        heartbeat: {
          policy: "safe",
          tools: ["read", "grep", "find", "ls"],
          maxTokens: 30_000,
          activeHours: { start: "00:00", end: "24:00" },
        },
        channels: {},
        session: { scope: "per-account-channel-peer", identityLinks: {} },
        lanes: { global: 64, subagents: 8, scheduled: 1 },
        queue: { mode: "steer", debounceMs: 500, cap: 20, drop: "summarise", ttlMs: 600_000 },
        shares: false,
        hooks: {},
      },
      theme: "system",
      themes: [],
      quietStartup: false,
      doubleEscapeAction: "tree",
      treeFilterMode: "default",
      promptHistory: true,
      externalEditor: undefined,
      hideThinkingBlock: false,
      showCacheMissNotices: false,
      editorMode: "default",
      editorPaddingX: 0,
      outputPad: 1,
      autocompleteMaxVisible: 5,
      showHardwareCursor: false,
      tuiMode: "regular",
      fullscreenExitOutput: "transcript",
      fullscreenScrollbar: "auto",
      fullscreenCopyOnSelect: true,
      fullscreenWheelScrollLines: "auto",
      collapseChangelog: false,
      branchSummary: { reserveTokens: 16_384, skipPrompt: false },
      markdown: { codeBlockIndent: "  ", mermaid: "streaming" },
      terminal: {
        showImages: true,
        imageWidthCells: 60,
        showTerminalProgress: false,
        showTitle: true,
        notifications: "bell",
        hyperlinks: "auto",
        images: "auto",
        trueColor: "auto",
      },
    });
  });

  test("the project's settings override the user's, one by one", () => {
    const { retry, theme } = resolve(
      { retry: { maxRetries: 5, enabled: false }, theme: "a" },
      { retry: { maxRetries: 7 } },
    );
    expect(retry).toMatchObject({ enabled: false, maxRetries: 7, baseDelayMs: 2000, fallbackChains: undefined });
    expect(theme).toBe("a");
  });

  test("lists are replaced, also by an empty one", () => {
    expect(resolve({ enabledModels: ["a", "b"] }, { enabledModels: ["c"] }).enabledModels).toEqual(["c"]);
    expect(resolve({ enabledModels: ["a"] }, { enabledModels: [] }).enabledModels).toEqual([]);
  });

  test("null stands for the default, whatever earlier layers say", () => {
    expect(resolve({ theme: "a" }, { theme: null }).theme).toBe("system");
    expect(resolve({ theme: null }).theme).toBe("system");
  });

  test("maps are merged by name, and null removes a name, or all names of earlier layers", () => {
    const global = { compaction: { models: { a: { reserveTokens: 1, enabled: true }, b: { reserveTokens: 2 } } } };
    const models = (project: SettingsInput) => resolve(global, project).compaction.models;
    expect(models({ compaction: { models: { a: { reserveTokens: 3 }, c: {} } } })).toEqual({
      a: { reserveTokens: 3, enabled: true },
      b: { reserveTokens: 2 },
      c: {},
    });
    expect(models({ compaction: { models: { a: null } } })).toEqual({ b: { reserveTokens: 2 } });
    expect(models({ compaction: { models: { a: { enabled: null } } } })).toEqual({
      a: { reserveTokens: 1 },
      b: { reserveTokens: 2 },
    });
    expect(models({ compaction: { models: null } })).toEqual({});
    expect(resolve({ shellEnv: { A: "1", B: "" } }, { shellEnv: { A: "2" } }).shellEnv).toEqual({ A: "2", B: "" });
  });

  test("relative paths depend on the file they are written in", () => {
    expect(resolve({ skills: ["s", "~/t", "/u"] }).skills).toEqual(["/home/ann/.tau/s", "/home/ann/t", "/u"]);
    expect(resolve({}, { skills: ["s"] }).skills).toEqual(["/project/.tau/s"]);
    expect(resolve({ sessionDir: "logs" }).sessionDir).toBe("/project/logs");
    expect(resolve({ shellPath: "zsh" }).shellPath).toBe("zsh");
    expect(resolve({ shellPath: "~/bin/zsh" }).shellPath).toBe("/home/ann/bin/zsh");
  });

  test("a level called none is off", () => {
    expect(resolve({ defaultThinkingLevel: "none" as "off" }).defaultThinkingLevel).toBe("off");
  });

  test("the result is frozen, also inside, and shares nothing with the layers", () => {
    const models = ["a"];
    const settings = resolve({ enabledModels: models, compaction: { models: { a: { enabled: true } } } });
    models.push("b");
    expect(settings.enabledModels).toEqual(["a"]);
    for (const part of [settings, settings.enabledModels, settings.compaction.models["a"], settings.skills]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
  });
});
