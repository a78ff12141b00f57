/** Runs the program in this process, in a temporary directory, with a local model server that uses a real wire protocol. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { call, startWireServer, text, type WireReply, type WireServer } from "@tau/ai/testing";
import type { KnownApi } from "@tau/ai";
import { onTestFinished } from "vitest";
import type { Io } from "../src/commands/command.ts";
import type { ExitCode } from "../src/process/exit-codes.ts";
import { main } from "../src/start/main.ts";
import { toTerminalText } from "../src/process/terminal-text.ts";

export { call, text };

export interface Workspace {
  directory: string;
  agentDir: string;
}

export interface ModelWorkspace extends Workspace {
  server: WireServer;
}

export async function temporaryDirectory(): Promise<string> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "tau-cli-")));
  onTestFinished(() => rm(directory, { recursive: true, force: true, maxRetries: 10 }));
  return directory;
}

/** A project directory, and an agent directory that does not exist yet. */
export async function createWorkspace(): Promise<Workspace> {
  const root = await temporaryDirectory();
  const directory = join(root, "project");
  await mkdir(directory);
  return { directory, agentDir: join(root, "tau") };
}

/** A directory with settings and models for a local server, which sends the replies one after the other. */
export async function createModelWorkspace(
  replies: readonly WireReply[],
  api: KnownApi = "openai-completions",
): Promise<ModelWorkspace> {
  const directory = await temporaryDirectory();
  const agentDir = join(directory, ".agent");
  await mkdir(agentDir);
  const server = await startWireServer(api, replies);
  onTestFinished(() => server.close());
  const models = [
    { id: "small", name: "Small", contextWindow: 64_000, maxTokens: 4_000 },
    { id: "large", name: "Large", contextWindow: 200_000, maxTokens: 8_000, reasoning: true },
  ];
  const acme = { baseUrl: server.url, api, apiKey: "acme-key-0123456789", models };
  await writeFile(join(agentDir, "models.json"), JSON.stringify({ providers: { acme } }));
  await writeFile(join(agentDir, "settings.json"), JSON.stringify({ defaultModel: "acme/small" }));
  return { directory, agentDir, server };
}

export const textReply = (content: string): WireReply => ({ kind: "answer", answer: { content: [text(content)] } });
export const toolReply = (name: string, args: Record<string, unknown> = {}): WireReply => ({
  kind: "answer",
  answer: { content: [call(name, args)] },
});

export interface RunOptions {
  /** A stream stays open, so that more can be typed later. */
  input?: string | Readable;
  signal?: AbortSignal;
  terminal?: Partial<Io["terminal"]>;
  env?: Record<string, string>;
  oauthProviders?: Io["oauthProviders"];
  keyChain?: Io["keyChain"];
  /** Called with the whole standard error so far. */
  onErr?: (err: string) => void;
}

export interface RunResult {
  code: ExitCode;
  out: string;
  err: string;
}

/** Bytes as one character each. */
function toText(content: string | Uint8Array, isTerminal = false): string {
  if (typeof content !== "string") return Buffer.from(content).toString("latin1");
  return isTerminal ? toTerminalText(content) : content;
}

/** Without the environment and the files of the user who runs the tests. `written` is all output so far. */
export function createIo(
  { directory, agentDir }: Workspace,
  {
    input,
    signal = new AbortController().signal,
    terminal = {},
    env = {},
    oauthProviders,
    keyChain,
    onErr,
  }: RunOptions = {},
): { io: Io; written: { out: string; err: string } } {
  const written = { out: "", err: "" };
  const io: Io = {
    out: (content) => void (written.out += toText(content, terminal.out)),
    drained: () => undefined,
    err: (content) => {
      written.err += toText(content, terminal.err);
      onErr?.(written.err);
    },
    input: () => (input instanceof Readable ? input : Readable.from(input === undefined ? [] : [Buffer.from(input)])),
    terminal: { input: input === undefined, out: false, err: false, ...terminal },
    columns: undefined,
    colour: false,
    signal,
    cwd: directory,
    env: { TAU_DIR: agentDir, HOME: directory, ...env },
    ...(oauthProviders && { oauthProviders }),
    ...(keyChain && { keyChain }),
  };
  return { io, written };
}

export async function run(workspace: Workspace, args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  const { io, written } = createIo(workspace, options);
  const code = await main(args, io);
  return { code, ...written };
}
