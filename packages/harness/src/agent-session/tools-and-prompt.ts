/** Builds what a model is shown besides the conversation: its tools and its system prompt. */
import type { AgentTool } from "@tau/agent";
import type { DescribedTool } from "@tau/tools";
import {
  choiceProblems,
  type DroppedTool,
  type PipelineInput,
  type PipelineTool,
  buildPipeline,
  keepOrder,
} from "@tau/extensions/internal";
import { createNameMatcher } from "@tau/policy/internal";
import type { Settings } from "@tau/config/settings";
import { buildSystemPrompt, type SystemPrompt, type SystemPromptInput } from "../prompt/system-prompt.ts";
import type { Resources } from "@tau/config/resources";
import { applyLoadout } from "./apply-loadout.ts";
import type { Notice } from "./notices.ts";

export interface ToolsAndPrompt {
  readonly tools: readonly AgentTool[];
  /** Active tools that requests do not list, because one of `tools` describes and calls them. */
  readonly unlisted: readonly AgentTool[];
  readonly systemPrompt: SystemPrompt;
  /** The input that the prompt was made of. */
  readonly promptInput: SystemPromptInput;
  readonly dropped: readonly DroppedTool[];
  /** Settings of a named agent that have no effect, and functions of tools that failed, in whole sentences. */
  readonly problems: readonly string[];
}

export interface ToolsInput extends Omit<PipelineInput, "report" | "choices"> {
  resources: Resources;
}

interface ToolsAndPromptInput extends ToolsInput {
  settings: Settings;
  cwd: string;
  /** The date as the prompt shows it. */
  date: string;
  /** Where commands run, for the model. */
  commands: string | undefined;
  /** Takes the place of the default prompt, before what the resources say. */
  systemPrompt: string | undefined;
  appendSystemPrompt: readonly string[];
  docsDir: string | undefined;
  /** Lists the tools that a search finds beside those that are active. */
  listFound: (active: readonly AgentTool[]) => readonly AgentTool[];
}

/** Tools that were there before keep their place, so that the beginning of requests changes as little as possible. */
export function buildToolsAndPrompt(input: ToolsAndPromptInput, before?: ToolsAndPrompt): ToolsAndPrompt {
  const { resources, cwd, date } = input;
  const dropped: DroppedTool[] = [];
  const chosen = resources.agent?.tools;
  const built = buildTools(input, (tool) => dropped.push(tool));
  const ordered = before ? keepOrder([...before.tools, ...before.unlisted], built) : built;
  const beside = describeBeside(ordered, input.settings);
  const loadout = applyLoadout(beside.tools, beside.unlisted, () => input.listFound(ordered));
  const { tools, unlisted } = loadout;
  const custom = input.systemPrompt ?? resources.systemPrompt?.content;
  const append = [...input.appendSystemPrompt, resources.appendSystemPrompt?.content].filter(
    (text) => text !== undefined,
  );
  const promptInput: SystemPromptInput = {
    tools,
    cwd,
    date,
    contextFiles: resources.contextFiles,
    skills: resources.skills,
    ...(custom !== undefined && { custom }),
    append,
    ...(input.docsDir !== undefined && { docsDir: input.docsDir }),
    ...(input.commands !== undefined && tools.some(runsCommands) && { commands: input.commands }),
  };
  const choices = choiceProblems(ordered, chosen?.tools ?? []).map(({ message }) => message);
  const problems = [...choices, ...loadout.problems];
  return { tools, unlisted, systemPrompt: buildSystemPrompt(promptInput), promptInput, dropped, problems };
}

/** Takes tools through the layers, with the choices of a named agent. */
export function buildTools(input: ToolsInput, report: PipelineInput["report"] = () => {}): AgentTool[] {
  const chosen = input.resources.agent?.tools;
  const allowed = bothAllow(input.allowed, chosen?.only);
  return buildPipeline({ ...input, choices: chosen?.tools ?? [], allowed, report });
}

/** Lets a tool whose calls make calls of the others describe itself, and keep them out of requests. */
function describeBeside(tools: readonly Presenter[], settings: Settings): Pick<ToolsAndPrompt, "tools" | "unlisted"> {
  const presenter = tools.find((tool) => tool.describeBeside);
  if (!presenter) return { tools, unlisted: [] };
  const others = tools.filter((tool) => tool !== presenter && !tool.isModelOnly && !tool.callsNamedTool);
  const { description, hides } = presenter.describeBeside!(others, settings);
  const described = tools.map((tool) => (tool === presenter ? { ...presenter, description } : tool));
  if (!hides) return { tools: described, unlisted: [] };
  const hidden = new Set<AgentTool>(others);
  return { tools: described.filter((tool) => !hidden.has(tool)), unlisted: others };
}

type Presenter = AgentTool & Pick<PipelineTool, "describeBeside" | "isModelOnly">;

/** The layer that hides tools because the user or the settings asked for it. */
const policyLayer = 5;

/** Describes what has no effect, and tools that are missing unintentionally, for the user. */
export function describeLeftOut({ tools, unlisted, dropped, problems }: ToolsAndPrompt): Notice[] {
  const names = new Set([...tools, ...unlisted].map((tool) => tool.name));
  // A tool that another one of its name replaces is not missed.
  const missed = dropped.filter(({ name, layer }) => layer !== policyLayer && !names.has(name));
  return [
    ...problems.map((message) => ({ code: "resources", message })),
    ...missed.map(({ name, reason }) => ({ code: "tool_dropped", message: `The tool ${name} is left out: ${reason}` })),
  ];
}

const runsCommands = (tool: AgentTool & Pick<DescribedTool, "shows">): boolean => tool.shows === "command";

/** The tools that two lists allow; undefined for all. */
export function bothAllow(
  a: readonly string[] | undefined,
  b: readonly string[] | undefined,
): readonly string[] | undefined {
  if (!a || !b) return a ?? b;
  // Of two patterns, the narrower one. Two that only overlap allow nothing.
  return [...new Set([...a.filter(createNameMatcher(b)), ...b.filter(createNameMatcher(a))])];
}
