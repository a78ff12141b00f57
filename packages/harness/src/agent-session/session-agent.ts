/** The parts of an agent's definition that a session is made with: model, thinking level, tools and policy. */
import type { ThinkingLevel } from "@tau/agent";
import type { Model } from "@tau/ai";
import { getFirstLine, getToolsFile } from "@tau/config/internal";
import type { ModelRegistry } from "@tau/config/models";
import type { FoundAgent, NamedAgent } from "@tau/config/resources";
import { formatFileProblem } from "@tau/config/settings";
import type { AgentInfo } from "@tau/extensions";
import { findUnknownTools } from "@tau/policy";

interface AgentModel {
  /** Undefined: that of the session. */
  model?: Model;
  /** The role that names it. */
  role?: string;
  thinkingLevel?: ThinkingLevel;
  /** Why the model of the definition is not used, with its place in the file. */
  problem?: string;
}

/** A model that there is not is a problem and no error: the agent works with that of the session. */
export function resolveAgentModel(registry: Pick<ModelRegistry, "resolve">, agent: NamedAgent | undefined): AgentModel {
  const { model: spec, thinkingLevel: own } = agent?.definition ?? {};
  const level = own && { thinkingLevel: own };
  if (!agent || spec === undefined) return { ...level };
  const resolution = registry.resolve(spec);
  if (resolution.kind === "resolved") {
    const { model, thinkingLevel, role, isDefault } = resolution;
    // A role without a model is the model of the session.
    const named = isDefault ? {} : { model, ...(role !== undefined && { role }) };
    return { ...named, ...(thinkingLevel && { thinkingLevel }), ...level };
  }
  const message = `${resolution.message} The model of the session is used.`;
  return { ...level, problem: formatAt(agent, "model", message) };
}

/** A sentence for each tool that the files of the agent name and that there is not. */
export function findUnknownAgentTools(agent: NamedAgent, known: readonly string[]): string[] {
  const { only = [], tools } = agent.tools;
  const problems = findUnknownTools([...only, ...tools.map(({ name }) => name)], known);
  return problems.map((message) => formatAt(agent, "tools", message));
}

/** `tools` are the names of all tools of the session. */
export function describeAgent(
  { name, source, path, agent, problems }: FoundAgent,
  { registry, tools }: { registry: Pick<ModelRegistry, "resolve">; tools: readonly string[] },
): AgentInfo {
  const { definition, systemPrompt } = agent ?? {};
  const { problem } = resolveAgentModel(registry, agent);
  return {
    name,
    description: definition?.description ?? getFirstLine(systemPrompt?.content ?? ""),
    source,
    path,
    model: definition?.model,
    tools: agent?.tools.only,
    isolated: definition?.isolated ?? false,
    problems: [
      ...problems.map(formatFileProblem),
      ...(problem === undefined ? [] : [problem]),
      ...(agent ? findUnknownAgentTools(agent, tools) : []),
    ],
  };
}

function formatAt(agent: NamedAgent, key: string, message: string): string {
  const line = agent.definition?.lines[key];
  const file = getToolsFile(agent) || `The agent ${agent.name} of tau`;
  return formatFileProblem({ file, ...(line !== undefined && { line }), message });
}

/** The profiles that make up the policy of a session. */
export interface PolicyLimits {
  /** Instead of that of the user's settings. */
  readonly profile: string | undefined;
  /** Each makes the policy stricter. */
  readonly restrictions: readonly string[];
}

interface PolicyLimitsParts {
  /** That of the session's parameters. */
  profile: string | undefined;
  /** That of the session's log. */
  logged: string | undefined;
  agent: NamedAgent | undefined;
  parent: PolicyLimits | undefined;
}

/**
 * Only an agent of the user's own directory can loosen the policy of the settings, in a session that no other one started
 * and that was started without a profile. All others make it stricter. Pure.
 */
export function resolvePolicyLimits({ profile, logged, agent, parent }: PolicyLimitsParts): PolicyLimits {
  const { policyProfile: own, source } = agent?.definition ?? {};
  const isChosen = source === "user" && !parent && profile === undefined;
  const restrictions = [...(parent?.restrictions ?? []), logged, isChosen ? undefined : own];
  return {
    profile: isChosen ? own : (parent?.profile ?? profile),
    restrictions: [...new Set(restrictions.filter((name) => name !== undefined))],
  };
}
