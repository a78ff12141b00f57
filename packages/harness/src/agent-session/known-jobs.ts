/** Reads from a conversation what it says of background jobs. Pure. */
import type { AgentMessage } from "@tau/agent";
import { isRecord } from "@tau/ai/internal";

/** The type of the messages that report jobs to the model. */
export const jobsMessageType = "tau.jobs";

export interface KnownJob {
  readonly id: string;
  /** The first line of the command, shortened. */
  readonly command: string;
}

export interface JobsMessageDetails {
  /** The ids of jobs that have ended. */
  readonly ended: readonly string[];
  readonly running: readonly KnownJob[];
}

/** The jobs that a conversation takes for running, and the highest id of a job in it. Logs are not checked when they are read. */
export function findKnownJobs(messages: readonly AgentMessage[]): { running: KnownJob[]; maxId: number } {
  const running = new Map<string, KnownJob>();
  const commands = new Map<string, string>();
  let maxId = 0;
  const add = (id: unknown, command: unknown) => {
    if (typeof id !== "string") return;
    maxId = Math.max(maxId, Number(id) || 0);
    running.set(id, { id, command: typeof command === "string" ? shortenCommand(command) : "" });
  };
  for (const message of messages) {
    if (message.role === "assistant") {
      for (const block of message.content) {
        if (block.type === "toolCall") commands.set(block.id, String(block.arguments["command"] ?? ""));
      }
    }
    if (message.role === "toolResult") readResult(message, { add, running, command: commands.get(message.toolCallId) });
    if (message.role === "custom" && message.customType === jobsMessageType && isRecord(message.details)) {
      for (const id of toList(message.details["ended"])) running.delete(String(id));
      for (const job of toList(message.details["running"])) if (isRecord(job)) add(job["id"], job["command"]);
    }
  }
  return { running: [...running.values()], maxId };
}

interface Reading {
  add: (id: unknown, command: unknown) => void;
  running: Map<string, KnownJob>;
  /** The command of the call. */
  command: string | undefined;
}

/** The result of a call that started a job, or of one that looked at jobs. */
function readResult({ toolName, details }: { toolName: string; details?: unknown }, reading: Reading): void {
  const { add, running, command } = reading;
  if (!isRecord(details)) return;
  if (toolName === "bash" && details["jobId"] !== undefined) {
    add(details["jobId"], command);
    if (details["exitCode"] !== undefined || details["signal"] !== undefined) running.delete(String(details["jobId"]));
  }
  if (toolName !== "jobs") return;
  for (const job of toList(details["jobs"])) {
    if (!isRecord(job)) continue;
    add(job["id"], job["command"]);
    if (job["ended"] !== undefined) running.delete(String(job["id"]));
  }
}

const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const maxLength = 200;

/** The first line of a command, and a sign where that is not all of it. */
export function shortenCommand(command: string): string {
  const text = command.trim();
  const [line = ""] = text.split("\n", 1);
  return line === text && line.length <= maxLength ? line : `${line.slice(0, maxLength)}…`;
}
