/**
 * Agents: a prompt, tools and resources. `agents/NAME` and `agents/NAME.md` in the agent directory are named agents, besides
 * those of a trusted project, of packages and of tau; without a name the agent directory itself is used.
 */
import { join } from "node:path";
import { didYouMean } from "@tau/ai/internal";
import type { FileSystem } from "@tau/tools/platform";
import { HarnessError } from "@tau/protocol";
import { agentNameRule, isAgentName, type NamedAgent } from "./agent-definition.ts";
import { type AgentDirectoryOptions, loadAgentDirectory } from "./agent-directory.ts";
import { findAgents, type FindAgentsOptions } from "./find-agents.ts";

export type NamedAgentOptions = Omit<FindAgentsOptions, "agentDir">;

/** Throws for a name that is not valid, or if there is no such agent: no other agent is used instead. */
export async function loadNamedAgent(
  agentDir: string,
  name: string,
  options: NamedAgentOptions = {},
): Promise<NamedAgent> {
  if (!isAgentName(name)) {
    throw new HarnessError(
      "invalid_input",
      `${JSON.stringify(name)} is not a valid name of an agent. Use ${agentNameRule}.`,
    );
  }
  const agents = await findAgents({ ...options, agentDir });
  const found = agents.find((agent) => agent.name === name);
  if (found?.agent) return { ...found.agent, problems: found.problems };
  if (found) {
    const why = found.problems.map(({ message }) => message).join(" ");
    throw new HarnessError("invalid_input", `The agent ${name} cannot be used. ${found.path}: ${why}`);
  }
  const names = agents.map((agent) => agent.name);
  const add = `To add it, create the file ${join(agentDir, "agents", `${name}.md`)}.`;
  const text = `There is no agent ${JSON.stringify(name)}.${didYouMean(name, names)} There are: ${names.join(", ")}. ${add}`;
  throw new HarnessError("invalid_input", text);
}

/** The files of the agent directory itself. Undefined if it has none of them. */
export async function loadOwnAgent(
  agentDir: string,
  options: AgentDirectoryOptions = {},
): Promise<NamedAgent | undefined> {
  const agent = await loadAgentDirectory(agentDir, undefined, options);
  const { systemPrompt, tools, resourcesDir, problems } = agent;
  const isEmpty = !systemPrompt && resourcesDir === undefined && !tools.only && tools.tools.length === 0;
  return isEmpty && problems.length === 0 ? undefined : agent;
}

/** The agents of the agent directory, sorted by name. */
export async function listNamedAgents(
  agentDir: string,
  { fileSystem }: { fileSystem?: FileSystem } = {},
): Promise<string[]> {
  const agents = await findAgents({ agentDir, ...(fileSystem && { fileSystem }) });
  return agents.filter(({ source }) => source === "user").map(({ name }) => name);
}
