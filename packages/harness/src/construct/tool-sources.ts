/** The tools of a session as the caller, the user and the extensions name them. */
import type { Tools } from "@tau/tools";
import { HarnessError } from "@tau/protocol";
import {
  type ExtensionSlot,
  type GivenTool,
  harnessToolNames,
  type PipelineTool,
  type SessionFeatures,
  SessionTools,
} from "@tau/extensions/internal";
import { createNameMatcher, isServerTool } from "@tau/policy/internal";
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
  { params, services, tenant, canStartPrograms, clock }: SessionSetup,
  { workspace, extensions, features }: ToolSourcesParts,
): ToolSources {
  const { createCallContext, sandbox, sandboxSettings, isSandboxMissing } = workspace;
  const tools = addFeatureTools(workspace.tools, features);
  const registered = extensions.current?.describeTools().map(({ name }) => name) ?? [];
  const isOther = (pattern: string) => isServerTool(pattern) || registered.some(createNameMatcher([pattern]));
  return {
    createCallContext,
    sandbox,
    commands: describeSandbox(sandboxSettings, isSandboxMissing),
    others: new SessionTools({ features, slot: extensions, getSettings: () => services.settings.get(), clock }),
    base: params.tools?.flatMap((tool) => (typeof tool === "string" ? findBuiltIn(tools, tool, isOther) : tool)),
    defaults: { text: tools.defaults, hashline: tools.hashlineDefaults },
    custom: params.customTools ?? [],
    getBuiltIn: (name) => getBuiltIn(tools, name),
    builtIn: tools.byName,
    internal: [workspace.tools.changeFiles],
    binding: params.binding,
    allowed: params.allowedTools,
    changedDefaults: params.defaultTools,
    excluded: [...(params.excludedTools ?? []), ...(canStartPrograms ? [] : ["bash"])],
    isTenant: tenant !== undefined,
    scopes: params.scopes,
    execution: params.toolExecution,
    systemPrompt: params.systemPrompt,
    appendSystemPrompt: params.appendSystemPrompt ?? [],
    docsDir: params.documents?.directory,
  };
}

function addFeatureTools({ defaults, hashlineDefaults, byName }: Tools, features: SessionFeatures): OwnTools {
  return {
    defaults: [...defaults, ...features.defaults],
    hashlineDefaults: [...hashlineDefaults, ...features.defaults],
    byName: { ...byName, ...Object.fromEntries(features.namedTools.map((tool) => [tool.name, tool])) },
  };
}

function getBuiltIn({ byName }: OwnTools, name: string): GivenTool {
  if (Object.hasOwn(byName, name)) return byName[name]!;
  throw new HarnessError("invalid_input", findUnknownTools([name], [...Object.keys(byName), ...harnessToolNames])[0]!);
}

/**
 * A pattern stands for the default tools that it matches, and if there are none, for any other built-in tools. A name in
 * the result is one of `harnessToolNames`: the session makes these tools. `isOther`: tools of extensions and of servers are
 * not among these; a session that names them lists them.
 */
function findBuiltIn(tools: OwnTools, pattern: string, isOther: (pattern: string) => boolean): (GivenTool | string)[] {
  const matches = createNameMatcher([pattern]);
  const filter = (all: readonly GivenTool[]) => all.filter(({ name }) => matches(name));
  const candidates = [filter(tools.defaults), filter(Object.values(tools.byName)), harnessToolNames.filter(matches)];
  const matching = candidates.find(({ length }) => length > 0);
  return matching ?? (isOther(pattern) ? [] : [getBuiltIn(tools, pattern)]);
}
