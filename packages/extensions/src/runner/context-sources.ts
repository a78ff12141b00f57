/**
 * The setting `contextSources`: what files and commands say, for the model, with each prompt or each turn. It comes after
 * everything that a provider may have in its cache, and is not in the log.
 */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { getErrorMessage } from "@tau/ai/internal";
import { enclose } from "@tau/config/internal";
import type { Settings } from "@tau/config/settings";
import type { ExtensionAPI, ExtensionFactory } from "../api/api.ts";
import { ExtensionError } from "../errors.ts";

export type ContextSource = Settings["contextSources"][number];

const defaultMaxBytes = 16_384;
/** How long a command may take. */
const maxCommandMs = 10_000;

/** An extension that adds what these sources say. */
export function createContextSources(sources: readonly ContextSource[]): ExtensionFactory {
  return (tau) => {
    const texts = new Map<string, string>();
    const read = async (when: "prompt" | "turn", cwd: string) => {
      const due = sources.filter(({ each = "prompt" }) => each === when);
      const said = await Promise.all(due.map((source) => readSource(tau, source, cwd)));
      due.forEach(({ name }, index) => texts.set(name, said[index]!));
    };
    tau.on("before_agent_start", async (_event, { cwd }) => {
      await read("prompt", cwd);
    });
    tau.on("context", async ({ messages }, { cwd }) => {
      await read("turn", cwd);
      const content = sources.map(({ name }) => texts.get(name) ?? "").filter(Boolean);
      if (content.length === 0) return undefined;
      return { messages: [...messages, { role: "user", content: content.join("\n\n"), timestamp: Date.now() }] };
    });
  };
}

/** Never rejects: the text for the model names what could not be read. */
async function readSource(tau: ExtensionAPI, source: ContextSource, cwd: string): Promise<string> {
  const { name, maxBytes = defaultMaxBytes } = source;
  const said = await readText(tau, source, cwd).catch((error: unknown) => `(not available: ${getErrorMessage(error)})`);
  const bytes = Buffer.from(said);
  const text = bytes.length > maxBytes ? `${decodeWhole(bytes.subarray(0, maxBytes))}\n(cut)` : said;
  return text.trim() === "" ? "" : enclose("context", { name }, text.trim());
}

/** Without a character that is cut off at the end. */
const decodeWhole = (bytes: Buffer): string => new TextDecoder().decode(bytes, { stream: true });

async function readText(tau: ExtensionAPI, { file, command }: ContextSource, cwd: string): Promise<string> {
  if (file !== undefined) return await readFile(resolve(cwd, file), "utf8");
  if (command === undefined) return "";
  const { stdout, stderr, code } = await tau.exec("bash", ["-c", command], { cwd, timeout: maxCommandMs });
  if (code !== 0) throw new ExtensionError("failed", stderr.trim() || `the command exited with code ${code}`);
  return stdout;
}
