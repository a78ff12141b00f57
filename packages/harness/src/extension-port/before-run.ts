/** Asks extensions what they add to a run before it begins: messages, and a system prompt for this run. */
import type { AgentMessage } from "@tau/agent";
import type { Clock } from "@tau/ai";
import { toCustomMessage, describePrompts } from "@tau/extensions/internal";
import { readPromptOptions, renderPrompt, toPromptOptions } from "../prompt/prompt-options.ts";
import type { SessionExtensions } from "@tau/extensions";
import type { PortTools } from "./port-session.ts";

interface BeforeRunParts {
  extensions: SessionExtensions;
  tools: PortTools;
  clock: Clock;
}

/** Returns what the run begins with: the prompts, then what extensions have to add. */
export async function beforeRun(
  prompts: readonly AgentMessage[],
  { extensions, tools, clock }: BeforeRunParts,
): Promise<readonly AgentMessage[]> {
  const waiting = extensions.queue.take("nextTurn");
  if (!extensions.has("before_agent_start")) return [...prompts, ...waiting];
  const { promptInput } = tools.shown;
  const options = toPromptOptions(promptInput);
  const before = tools.prompt.text;
  const custom = prompts.find((message) => message.role === "custom");
  const trigger = custom
    ? ({ messageType: "custom", message: custom } as const)
    : ({ messageType: "user", ...describePrompts(prompts) } as const);
  const result = await extensions.emit({
    type: "before_agent_start",
    ...trigger,
    systemPrompt: before,
    systemPromptOptions: options,
  });
  const by = extensions.listHandlers("before_agent_start");
  const left = readPromptOptions(options);
  if (typeof left === "string") extensions.report(by.join(", "), `After before_agent_start ${left}, so it is ignored.`);
  // Handlers replace the prompt, or change what it is made of.
  const changed = typeof left === "string" ? before : renderPrompt(left, promptInput);
  const prompt = result?.systemPrompt ?? changed;
  tools.setRunPrompt(prompt === before ? undefined : { text: prompt, by });
  const added = (result?.messages ?? []).map((draft) => toCustomMessage(draft, clock.now()));
  return [...prompts, ...waiting, ...added];
}
