/** Lets tools of extensions change how the model is shown the tools. Pure, but for the functions of the tools. */
import type { AgentTool } from "@tau/agent";
import { asRecord, getErrorMessage } from "@tau/ai/internal";
import type { ToolLoadout } from "@tau/extensions";
import type { PipelineTool } from "@tau/extensions/internal";

interface Loadout {
  /** The tools that requests list. */
  readonly tools: readonly AgentTool[];
  /** Active tools that requests leave out. */
  readonly unlisted: readonly AgentTool[];
  /** Whole sentences about functions that failed. */
  readonly problems: readonly string[];
}

type Described = AgentTool &
  Pick<PipelineTool, "exposure" | "isModelOnly" | "namespace" | "prepareLoadout" | "promptGuidelines">;

/** `listFound` lists the tools that a search finds; it is called if a tool asks for changes. */
export function applyLoadout(
  tools: readonly Described[],
  unlisted: readonly AgentTool[],
  listFound: () => readonly AgentTool[],
): Loadout {
  if (!tools.some(({ prepareLoadout }) => prepareLoadout)) return { tools, unlisted, problems: [] };
  const loadout = createLoadout(tools, unlisted, listFound());
  const names = new Set(tools.map(({ name }) => name));
  const descriptions = new Map<string, string>();
  const hidden = new Set<string>();
  const problems: string[] = [];
  for (const { name, prepareLoadout } of tools) {
    if (!prepareLoadout) continue;
    try {
      const changes = asRecord(prepareLoadout(loadout));
      for (const [tool, text] of Object.entries(asRecord(changes["descriptions"])))
        if (names.has(tool) && typeof text === "string") descriptions.set(tool, text);
      const { hiddenDeclarations } = changes;
      for (const tool of Array.isArray(hiddenDeclarations) ? hiddenDeclarations : [])
        if (names.has(tool as string)) hidden.add(tool as string);
    } catch (error) {
      problems.push(`The tool ${name} could not change how the model is shown the tools: ${getErrorMessage(error)}`);
    }
  }
  const described = tools.map((tool) => {
    const description = descriptions.get(tool.name);
    return description === undefined ? tool : { ...tool, description };
  });
  return {
    tools: described.filter(({ name }) => !hidden.has(name)),
    unlisted: [...unlisted, ...described.filter(({ name }) => hidden.has(name))],
    problems,
  };
}

function createLoadout(
  declared: readonly Described[],
  unlisted: readonly Described[],
  found: readonly Described[],
): ToolLoadout {
  const registered = [...declared, ...unlisted, ...found];
  const byName = new Map(registered.map((tool) => [tool.name, tool]));
  return {
    declared,
    callable: registered.filter(({ isModelOnly }) => !isModelOnly),
    registered,
    getExposure: (name) => byName.get(name)?.exposure ?? (byName.get(name)?.isModelOnly ? "model-only" : "direct"),
    getNamespace: (name) => byName.get(name)?.namespace,
    getPromptGuidelines: (name) =>
      (byName.get(name)?.promptGuidelines ?? []).map((guideline) =>
        typeof guideline === "string" ? guideline : guideline.text,
      ),
  };
}
