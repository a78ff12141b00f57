/** The interactive terminal over a real host, a local model and a terminal in memory. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { WireReply } from "@tau/ai/testing";
import type { SettingsInput } from "@tau/config/settings";
import type { ColorMode } from "@tau/tui";
import { VirtualTerminal } from "@tau/tui/testing";
import { expect, onTestFinished } from "vitest";
import { parseSessionArgs } from "../../src/start/args.ts";
import { Hosts } from "../../src/hosting/hosts.ts";
import { App, type AppEnd } from "../../src/interactive/app.ts";
import { createKeybindings } from "../../src/interactive/keybindings.ts";
import type { Program } from "../../src/interactive/program.ts";
import type { SessionClient } from "../../src/interactive/session-client.ts";
import { type ThemeFile, Themes } from "../../src/interactive/themes.ts";
import { createProgram } from "../../src/terminal/program.ts";
import { createIo, createModelWorkspace, type ModelWorkspace } from "../kit.ts";

export interface OpenOptions {
  columns?: number;
  rows?: number;
  args?: readonly string[];
  message?: string;
  /** Besides the model. */
  settings?: SettingsInput;
  themes?: readonly ThemeFile[];
  mode?: ColorMode;
  draft?: string;
  /** The first frame waits for this. */
  whenColorsKnown?: () => Promise<unknown>;
  /** Default: main. */
  branch?: string;
  /** Called before the program starts. */
  prepare?: (workspace: ModelWorkspace) => Promise<void>;
  env?: Record<string, string>;
  /** Replaces what this machine does. */
  program?: Partial<Program>;
  /** Stands between the interface and its sessions. */
  wrapClient?: (client: SessionClient) => SessionClient;
  /** Whether the first screen has a line about keys. */
  showsHint?: boolean;
  /** Called while the shell has the terminal. */
  suspend?: () => Promise<void>;
}

type KeyName = keyof typeof keys;

export interface OpenedApp extends ModelWorkspace {
  terminal: VirtualTerminal;
  /** A notice of the session. */
  notify: (message: string) => void;
  /** Another name of the session. */
  rename: (name: string) => Promise<void>;
  /** The texts that were copied. */
  copied: string[];
  /** The drafts that were kept, one for each change of what is typed. */
  drafts: string[];
  themes: Themes;
  app: App;
  /** Lets this much time pass for the interface; none passes by itself. */
  advance: (ms: number) => void;
  /** Resolves when the user has left. */
  ended: Promise<AppEnd>;
  /** The keys that type a text. */
  type: (text: string) => void;
  press: (...names: KeyName[]) => void;
  /** Resolves when this is on the screen. */
  sees: (text: string | RegExp) => Promise<void>;
  screen: () => Promise<string>;
  /** The scrollback and the screen. */
  everything: () => Promise<string>;
}

export const keys = {
  enter: "\r",
  escape: "\x1b",
  up: "\x1b[A",
  down: "\x1b[B",
  tab: "\t",
  shiftTab: "\x1b[Z",
  ctrlA: "\x01",
  ctrlC: "\x03",
  ctrlD: "\x04",
  ctrlF: "\x06",
  ctrlL: "\x0c",
  ctrlO: "\x0f",
  ctrlN: "\x0e",
  ctrlP: "\x10",
  ctrlR: "\x12",
  ctrlS: "\x13",
  ctrlT: "\x14",
  ctrlU: "\x15",
  ctrlV: "\x16",
  shiftCtrlP: "\x1b[112;6u",
  undo: "\x1f",
  ctrlLeft: "\x1b[1;5D",
  ctrlRight: "\x1b[1;5C",
  altDown: "\x1b[1;3B",
  altEnter: "\x1b\r",
  altR: "\u001br",
  altUp: "\x1b[1;3A",
} as const;

export async function openApp(replies: readonly WireReply[], options: OpenOptions = {}): Promise<OpenedApp> {
  const workspace = await createModelWorkspace(replies);
  const settings = { defaultModel: "acme/small", ...options.settings };
  await writeFile(join(workspace.agentDir, "settings.json"), JSON.stringify(settings));
  await options.prepare?.(workspace);
  const { io } = createIo(workspace, { env: options.env ?? {} });
  const parsed = parseSessionArgs(options.args ?? []);
  if (parsed.kind !== "session") throw new Error("These are no arguments of a session.");
  const hosts = new Hosts(parsed.options, io);
  const client = await hosts.open();
  const terminal = await VirtualTerminal.create(options.columns ?? 80, options.rows ?? 24);
  const copied: string[] = [];
  const drafts: string[] = [];
  const themes = new Themes({ mode: options.mode ?? "none", files: options.themes ?? [] });
  let passed = 0;
  const app = new App({
    client: options.wrapClient?.(client) ?? client,
    terminal,
    themes,
    settings: hosts.get(client.sessionId).session.settings,
    keybindings: createKeybindings(),
    program: { ...createProgram(io, hosts), home: "/home/user", version: "1.2.3", ...options.program },
    getBranch: async () => options.branch ?? "main",
    copy: (text) => void copied.push(text),
    keepDraft: (read) => void drafts.push(read()),
    ...(options.whenColorsKnown && { whenColorsKnown: options.whenColorsKnown }),
    ...(options.suspend && { suspend: options.suspend }),
    showsHint: options.showsHint ?? false,
    now: () => passed,
  });
  const { message, draft } = options;
  const ended = app.run({
    ...(message !== undefined && { message }),
    ...(draft !== undefined && { draft }),
    ...(parsed.options.resume && { command: "resume" }),
    ...(parsed.options.entry !== undefined && { command: "tree", args: parsed.options.entry }),
  });
  onTestFinished(async () => {
    app.stop();
    await hosts.dispose();
  });
  const screen = async () => (await terminal.getViewport()).map((line) => line.trimEnd()).join("\n");
  const opened: OpenedApp = {
    ...workspace,
    terminal,
    notify: (message) => hosts.get(client.sessionId).session.notify("test", message),
    rename: async (name) => void (await client.execute({ type: "set_session_name", name })),
    copied,
    drafts,
    themes,
    app,
    ended,
    advance: (ms) => void (passed += ms),
    type: (text) => {
      for (const character of text) terminal.sendInput(character);
    },
    press: (...names) => {
      for (const name of names) terminal.sendInput(keys[name]);
    },
    sees: async (text) => await expect.poll(screen).toMatch(text),
    screen,
    everything: async () => {
      const lines = [...(await terminal.getScrollback()), ...(await terminal.getViewport())];
      return lines.map((line) => line.trimEnd()).join("\n");
    },
  };
  await opened.sees(/small|large|no model/);
  return opened;
}
