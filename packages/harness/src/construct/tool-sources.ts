/** The tools of a session as the caller, the user and the extensions name them. */
import type { Tools } from "@tau/tools";
import { HarnessError } from "@tau/protocol";
import {
  type ExtensionSlot,
  type GivenTool,
  harnessToolNames,
  type PipelineTool,
  type SessionFeatures,
} from "@tau/extensions/internal";
import { createNameMatcher } from "@tau/policy/internal";
import { findUnknownTools } from "@tau/policy";
import { describeSandbox } from "@tau/sandbox/internal";
import type { ToolSources } from "../agent-session/shown-tools.ts";
import type { SessionSetup } from "./session-setup.ts";
import type { Workspace } from "./workspace.ts";

interface ToolSourcesParts {
  workspace: Workspace;
  extensions: ExtensionSlot;
  features: SessionFeatures;
}

/** The built-in tools and those of features. */
interface OwnTools {
  defaults: readonly GivenTool[];
  hashlineDefaults: readonly GivenTool[];
  byName: Readonly<Record<string, PipelineTool>>;
}

export function createToolSources(
  { params }: SessionSetup,
  { workspace, extensions, features }: ToolSourcesParts,
): ToolSources {
  const { createCallContext, sandbox, sandboxSettings, isSandboxMissing } = workspace;
  const tools = addFeatureTools(workspace.tools, features);
  return {
    createCallContext,
    sandbox,
    commands: describeSandbox(sandboxSettings, isSandboxMissing),
    getExtensionTools: (names) => extensions.current?.getTools(names) ?? [],
    base: params.tools?.flatMap((tool) => (typeof tool === "string" ? findBuiltIn(tools, tool) : tool)),
    defaults: { text: tools.defaults, hashline: tools.hashlineDefaults },
    custom: params.customTools ?? [],
    getBuiltIn: (name) => getBuiltIn(tools, name),
    builtIn: tools.byName,
    binding: params.binding,
    allowed: params.allowedTools,
    changedDefaults: params.defaultTools,
    excluded: params.excludedTools ?? [],
    scopes: params.scopes,
    execution: params.toolExecution,
    systemPrompt: params.systemPrompt,
    appendSystemPrompt: params.appendSystemPrompt ?? [],
    docsDir: params.documents?.directory,
  };
}

function addFeatureTools({ defaults, hashlineDefaults, byName }: Tools, { tools }: SessionFeatures): OwnTools {
  return {
    defaults: [...defaults, ...tools],
    hashlineDefaults: [...hashlineDefaults, ...tools],
    byName: { ...byName, ...Object.fromEntries(tools.map((tool) => [tool.name, tool])) },
  };
}

function getBuiltIn({ byName }: OwnTools, name: string): GivenTool {
  if (Object.hasOwn(byName, name)) return byName[name]!;
  throw new HarnessError("invalid_input", findUnknownTools([name], [...Object.keys(byName), ...harnessToolNames])[0]!);
}

/**
 * A pattern stands for the default tools that it matches, and if there are none, for any other built-in tools. A name in
 * the result is one of `harnessToolNames`: the session makes these tools.
 */
function findBuiltIn(tools: OwnTools, pattern: string): (GivenTool | string)[] {
  const matches = createNameMatcher([pattern]);
  const filter = (all: readonly GivenTool[]) => all.filter(({ name }) => matches(name));
  const candidates = [filter(tools.defaults), filter(Object.values(tools.byName)), harnessToolNames.filter(matches)];
  return candidates.find(({ length }) => length > 0) ?? [getBuiltIn(tools, pattern)];
}
