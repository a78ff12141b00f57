/** Files that people write for the model: context files, skills, prompt templates and named agents. */
export { describeIgnoredPiFiles } from "./locations.ts";
export type { AgentDefinition, AgentSource, NamedAgent } from "./agent-definition.ts";
export { findAgents, type FindAgentsOptions, type FoundAgent } from "./find-agents.ts";
export { listNamedAgents, loadNamedAgent, type NamedAgentOptions } from "./named-agent.ts";
export type { PromptTemplate } from "./prompt-templates.ts";
export { readNamedFile } from "./read-named-file.ts";
export { createResourceLoader, type ResourceLoader, type ResourceLoaderOptions } from "./resource-loader.ts";
export type { ResourceProblem } from "./resource-problem.ts";
export type { Resources } from "./resources.ts";
export type { Skill } from "./skills.ts";
