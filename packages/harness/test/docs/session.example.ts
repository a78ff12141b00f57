import { type AgentSessionParams, createAgentSession } from "@tau/harness";

/** For example `answer("Why does the build fail?", { cwd: "/project", model: "anthropic/claude-opus-4-5:high" }, print)`. */
export async function answer(question: string, params: AgentSessionParams, print: (text: string) => void) {
  const session = await createAgentSession(params);
  try {
    session.onEvent((event) => {
      if (event.type === "text_delta") print(event.delta);
      if (event.type === "tool_execution_start") print(`[${event.toolName}]`);
      if (event.type === "error") print(`(${event.code}: ${event.message})`);
    });
    const outcome = await session.prompt(question);
    return outcome.kind === "ran" ? outcome.end.kind : outcome.kind;
  } finally {
    await session.dispose();
  }
}
