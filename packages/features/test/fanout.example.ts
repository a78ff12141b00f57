import { TaskFanout } from "@tau/features/agents";
import type { AgentSession } from "@tau/harness";
import { z } from "zod";

const Report = z.object({ file: z.string(), lines: z.number() });

/** Counts the lines of files with one child each. */
export async function countLines(session: AgentSession, files: readonly string[]): Promise<string[]> {
  const tasks = files.map((file) => ({
    id: file,
    description: `Count the lines of ${file}`,
    prompt: `How many lines does ${file} have?`,
    tools: ["read"],
    schema: Report,
  }));
  const results = await new TaskFanout(session).fanout(tasks, { parallelism: 2, merge: "all" });
  return results.map(({ taskId, result, error }) => `${taskId}: ${result?.lines ?? error}`);
}
