/** The operations of this machine for the interactive terminal. */
import { appendFile, mkdir, readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { Io } from "../commands/command.ts";
import { findInstalled } from "../hosting/installed-file.ts";
import { getAgentDir } from "../hosting/agent-dir.ts";
import type { Program } from "../interactive/program.ts";
import { openAddress } from "./open-address.ts";
import { createPromptHistory } from "./prompt-history.ts";
import { toTerminalText } from "../process/terminal-text.ts";
import { version } from "../start/version.ts";

/** Where sessions besides the first come from. */
type OtherSessions = Pick<Program, "openSession" | "openDemo">;

export function createProgram(io: Io, others: OtherSessions): Program {
  let redactor: Promise<(text: string) => string> | undefined;
  const redact = async (text: string) => {
    redactor ??= import("./redact-text.ts").then(({ openTextRedactor }) => openTextRedactor(io));
    return (await redactor)(text);
  };
  return {
    version,
    history: createPromptHistory({ agentDir: getAgentDir(io), redact, now: () => Date.now() }),
    home: io.env["HOME"],
    now: () => Date.now(),
    readClipboardImage: async () => await (await import("./clipboard-image.ts")).readClipboardImage(io.env),
    readImageFile: async (path, cwd) => await (await import("./clipboard-image.ts")).readImageFile(path, cwd),
    openSession: (path, cwd) => others.openSession(path, cwd),
    isDirectory: async (path) => (await stat(path).catch(() => undefined))?.isDirectory() ?? false,
    agentDir: getAgentDir(io),
    appendLine,
    openDemo: () => others.openDemo(),
    openAddress: (url) => openAddress(url, io.env),
    runDoctor: (cwd) => runDoctor({ ...io, cwd, columns: Number.POSITIVE_INFINITY }),
    openLlamaRouter: async () => await (await import("./llama-router.ts")).openLlamaRouter(io),
    readChangelog: () => readChangelog(),
    writeDebugLog: async (text) =>
      await (await import("./debug-log.ts")).writeDebugLog(text, { agentDir: getAgentDir(io), redact }),
    findSharing: async (kind) =>
      kind === "gist"
        ? await (await import("./share.ts")).findSharing(io.env)
        : await (await import("../gateway/share-link.ts")).findLinkSharing(io),
  };
}

/** Its output is shown in the interface, which breaks lines that are too long, and not written to the terminal. */
async function runDoctor(io: Io): Promise<string> {
  const { runCommand } = await import("../commands/run.ts");
  let text = "";
  const out: Io["out"] = (part) => void (text += String(part));
  // The terminal is checked as it is; only progress is not shown.
  const terminal = { ...io.terminal, err: false };
  await runCommand("doctor", [], { ...io, out, err: out, terminal });
  return toTerminalText(text);
}

async function appendLine(path: string, line: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const before = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  await appendFile(path, `${before === "" || before.endsWith("\n") ? "" : "\n"}${line}\n`);
}

export async function readChangelog(program?: string): Promise<string | undefined> {
  const path = findInstalled("CHANGELOG.md", program);
  return path === undefined ? undefined : await readFile(path, "utf8");
}
