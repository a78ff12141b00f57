import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createEventBus, type ExtensionAPI, type ExtensionFactory } from "@tau/extensions";
import { AuthStorage } from "../auth/auth-storage.ts";
import { ModelRegistry } from "../models/model-registry.ts";
import { SessionManager } from "@tau/pi/internal";
import type { ExtensionActions } from "./extension.ts";
import { defaultContextActions } from "./context.ts";
import { discoverAndLoadExtensions, loadExtensionFromFactory } from "./load.ts";
import { ExtensionRunner } from "./runner.ts";
import { createExtensionRuntime } from "./runtime.ts";
import { wrapRegisteredTools } from "./wrap.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "pi-extensions-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

function put(path: string, text: string): string {
  const full = join(directory, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, text);
  return full;
}
const command = (name: string) =>
  `export default function (pi) { pi.registerCommand("${name}", { description: "", handler: async () => {} }); }`;

async function createRunner(...factories: ((pi: ExtensionAPI) => void)[]) {
  const runtime = createExtensionRuntime();
  const extensions = [];
  for (const [index, factory] of factories.entries()) {
    const path = `ext-${index}`;
    const own = factory as ExtensionFactory;
    extensions.push(await loadExtensionFromFactory(own, directory, createEventBus(), runtime, path));
  }
  const registry = ModelRegistry.inMemory(AuthStorage.inMemory());
  const runner = new ExtensionRunner(extensions, runtime, directory, SessionManager.inMemory(directory), registry);
  return { runner, runtime, registry };
}

describe("loading", () => {
  test("finds files, directories and manifests, and imports pi's modules", async () => {
    put(
      "agent/extensions/one.ts",
      'import { Type } from "@mariozechner/pi-ai";\nconst schema: object = Type.String();\n' + command("one"),
    );
    put("agent/extensions/dir/index.ts", command("dir"));
    put("agent/extensions/pack/package.json", JSON.stringify({ pi: { extensions: ["./src/main.ts"] } }));
    put("agent/extensions/pack/src/main.ts", command("pack"));
    put("agent/extensions/pack/index.ts", command("not this"));
    put("agent/extensions/deep/er/index.ts", command("too deep"));
    put("project/.pi/extensions/own.js", command("own"));
    const named = put("elsewhere/named.ts", command("named"));
    const { extensions, errors } = await discoverAndLoadExtensions(
      [named],
      join(directory, "project"),
      join(directory, "agent"),
    );
    expect(errors).toEqual([]);
    expect(extensions.flatMap(({ commands }) => [...commands.keys()])).toEqual(["own", "dir", "one", "pack", "named"]);
  });

  test("one that fails is reported, and the others are loaded", async () => {
    put("agent/extensions/a.ts", "export default function () { throw new Error('no luck'); }");
    put("agent/extensions/b.ts", "this is not code");
    put("agent/extensions/c.ts", command("c"));
    const { extensions, errors } = await discoverAndLoadExtensions([], directory, join(directory, "agent"));
    expect(extensions).toHaveLength(1);
    expect(errors.map(({ error }) => error)).toEqual([
      expect.stringContaining("no luck"),
      expect.stringContaining("b.ts"),
    ]);
  });

  test("actions throw while an extension is loaded, and flags have their default", async () => {
    await expect(createRunner((pi) => pi.sendUserMessage("hi"))).rejects.toThrow("Extension runtime not initialized");
    let pi!: ExtensionAPI;
    const { runner } = await createRunner((api) => {
      pi = api;
      api.registerFlag("plan", { type: "boolean", default: true });
    });
    expect(pi.getFlag("plan")).toBe(true);
    runner.setFlagValue("plan", false);
    expect([pi.getFlag("plan"), pi.getFlag("other")]).toEqual([false, undefined]);
  });
});

describe("the runner", () => {
  test("chains results, inputs, contexts and prompts in the order of loading", async () => {
    const { runner } = await createRunner(
      (pi) => {
        pi.on("tool_result", (event) => ({ content: [{ type: "text", text: `${event.toolName}1` }] }));
        pi.on("input", (event) => ({ action: "transform", text: `${event.text}1` }));
        pi.on("context", ({ messages }) => ({ messages: messages.slice(1) }));
        pi.on("before_agent_start", (event) => ({ systemPrompt: `${event.systemPrompt}1` }));
      },
      (pi) => {
        pi.on("tool_result", (event) => ({ details: { saw: event.content } }));
        pi.on("input", (event) => ({ action: "transform", text: `${event.text}2` }));
        pi.on("before_agent_start", (event) => ({ systemPrompt: `${event.systemPrompt}2` }));
      },
    );
    const content = [{ type: "text", text: "read1" }];
    expect(await runner.emitToolResult({ type: "tool_result", toolName: "read", content: [], isError: false })).toEqual(
      {
        content,
        details: { saw: content },
        isError: false,
      },
    );
    expect(await runner.emitInput("go", undefined, "interactive")).toEqual({ action: "transform", text: "go12" });
    const messages = [1, 2].map((timestamp) => ({ role: "user" as const, content: "", timestamp }));
    expect(await runner.emitContext(messages)).toEqual([messages[1]]);
    expect(await runner.emitBeforeAgentStart("p", undefined, "s")).toEqual({ systemPrompt: "s12" });
  });

  test("a handler that throws is reported, but blocks a call", async () => {
    const { runner } = await createRunner((pi) => {
      pi.on("turn_start", () => {
        throw new Error("oh");
      });
      pi.on("tool_call", () => {
        throw new Error("never");
      });
    });
    const errors: unknown[] = [];
    runner.onError((error) => errors.push(error));
    await runner.emit({ type: "turn_start" });
    expect(errors).toMatchObject([{ extensionPath: "ext-0", event: "turn_start", error: "oh" }]);
    await expect(runner.emitToolCall({ type: "tool_call", toolName: "bash", input: {} })).rejects.toThrow("never");
  });

  test("the first to cancel, to block or to handle ends it", async () => {
    const seen: string[] = [];
    const { runner } = await createRunner(
      (pi) => {
        pi.on("session_before_switch", () => ({ cancel: true }));
        pi.on("tool_call", () => ({ block: true, reason: "no" }));
        pi.on("input", () => ({ action: "handled" }));
      },
      (pi) => {
        for (const name of ["session_before_switch", "tool_call", "input"] as const) {
          (pi.on as (name: string, handler: () => void) => void)(name, () => void seen.push(name));
        }
      },
    );
    expect(await runner.emit({ type: "session_before_switch" })).toEqual({ cancel: true });
    expect(await runner.emitToolCall({ type: "tool_call" })).toEqual({ block: true, reason: "no" });
    expect(await runner.emitInput("x", undefined, "rpc")).toEqual({ action: "handled" });
    expect(seen).toEqual([]);
  });

  test("tools, flags and commands of the first extension count, and shortcuts of the last unless the key is reserved", async () => {
    const tool = (label: string) => ({
      name: "same",
      label,
      description: "",
      parameters: {},
      execute: async () => ({ content: [], details: {} }),
    });
    const handler = () => {};
    const { runner } = await createRunner(
      (pi) => {
        pi.registerTool(tool("first"));
        pi.registerCommand("same", { description: "first", handler });
        pi.registerShortcut("ctrl+x", { handler });
        pi.registerShortcut("ctrl+c", { handler });
      },
      (pi) => {
        pi.registerTool(tool("second"));
        pi.registerCommand("same", { description: "second", handler });
        pi.registerCommand("settings", { handler });
        pi.registerShortcut("ctrl+x", { handler });
      },
    );
    expect(runner.getAllRegisteredTools().map(({ definition }) => definition.label)).toEqual(["first"]);
    const shortcuts = runner.getShortcuts({ "app.clear": "ctrl+c", "app.session.new": ["ctrl+x"] });
    expect([...shortcuts].map(([key, { extensionPath }]) => [key, extensionPath])).toEqual([["ctrl+x", "ext-1"]]);
    expect(runner.getShortcutDiagnostics()).toHaveLength(4);
    expect(runner.getRegisteredCommands(new Set(["settings"])).map(({ description }) => description)).toEqual([
      "first",
    ]);
    expect(runner.getCommandDiagnostics()).toHaveLength(2);
  });

  test("conflicts are on the console where no terminal shows them", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    const handler = () => {};
    const { runner } = await createRunner((pi) => {
      pi.registerShortcut("ctrl+c", { handler });
      pi.registerShortcut("ctrl+v", { handler });
      pi.registerCommand("quit", { handler });
    });
    const keys = { "app.clear": "ctrl+c", "app.clipboard.pasteImage": "ctrl+v" };
    runner.getShortcuts(keys);
    runner.getRegisteredCommands(new Set(["quit"]));
    expect(warn.mock.calls.flat()).toEqual([
      expect.stringContaining("'ctrl+c' from ext-0 conflicts with built-in shortcut"),
      expect.stringContaining("'ctrl+v' is built-in shortcut for app.clipboard.pasteImage"),
      expect.stringContaining("'quit' from ext-0 conflicts with built-in commands"),
    ]);
    warn.mockClear();
    runner.setUIContext({ ...runner.getUIContext() });
    runner.getShortcuts(keys);
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });

  test("every registration of pi is kept with the extension", async () => {
    const { extensions } = await discoverAndLoadExtensions(
      [
        put(
          "all.ts",
          `export default (pi) => {
            pi.registerEntryRenderer("note", () => undefined);
            pi.registerMarkdownTransformer((text) => text);
            pi.registerToolRenderer(() => undefined);
            pi.registerMcpServer("one", { command: "x" });
            pi.registerMcpServer("two", {});
            pi.unregisterMcpServer("two");
            pi.registerVirtualModel({ provider: "p", id: "a" } as never);
            pi.registerVirtualModel({ provider: "p", id: "b" } as never);
            pi.unregisterVirtualModel("p", "b");
            pi.registerCommand(pi.getMcpServers().map(({ name }) => name).join(), { handler() {} });
          };`,
        ),
      ],
      directory,
      directory,
    );
    expect(extensions).toMatchObject([{ mcpServers: new Map([["one", { command: "x" }]]) }]);
    const [{ entryRenderers, markdownTransformers, toolRenderers, virtualModels, commands } = undefined!] = extensions;
    expect([...entryRenderers.keys(), ...commands.keys()]).toEqual(["note", "one"]);
    expect([markdownTransformers.length, toolRenderers.length, virtualModels]).toEqual([
      1,
      1,
      [{ provider: "p", id: "a" }],
    ]);
  });

  test("a tool is called with a context of the runner, and providers wait until there is a registry", async () => {
    const { runner, registry } = await createRunner((pi) => {
      pi.registerProvider("acme", {
        baseUrl: "http://x",
        apiKey: "k",
        api: "openai-completions",
        models: [{ id: "m" }],
      });
      pi.registerTool({
        name: "where",
        label: "Where",
        description: "",
        parameters: {},
        execute: async (_id, _args, _signal, _onUpdate, context) => ({
          content: [{ type: "text", text: `${context.cwd} ${context.hasUI}` }],
          details: {},
        }),
      });
    });
    expect(registry.find("acme", "m")).toBeUndefined();
    runner.bindCore({} as ExtensionActions, defaultContextActions);
    expect(registry.find("acme", "m")).toBeDefined();
    const [tool] = wrapRegisteredTools(runner.getAllRegisteredTools(), runner);
    expect(await tool!.execute("id", {})).toMatchObject({ content: [{ text: `${directory} false` }] });
  });
});
