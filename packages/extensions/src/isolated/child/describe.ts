/** Turns what an extension registered into data, and says of what cannot be data that it needs trust. Pure but for that. */
import type { ProviderConfig, ToolDefinition } from "../../api/api.ts";
import { noParameters } from "../../pipeline/adapt-tool.ts";
import type { Registrations } from "../../api/extension.ts";
import type { Capability } from "@tau/policy";
import {
  lifecyclePhases,
  type Manifest,
  type ProviderData,
  providerDataKeys,
  type ToolData,
  toolDataKeys,
  type VirtualModelData,
  virtualModelDataKeys,
} from "../manifest.ts";
import type { HandlerIds } from "./handler-ids.ts";
import type { NeedsTrust } from "./needs-trust.ts";

export function describeRegistrations(
  registrations: Registrations,
  needsTrust: NeedsTrust,
  { capabilities, ids }: { capabilities: readonly Capability[] | undefined; ids: HandlerIds },
): Manifest {
  const { handlers, tools, commands, shortcuts, flags, providers, mcpServers } = registrations;
  if (registrations.messageRenderers.size + registrations.entryRenderers.size + registrations.toolRenderers.length > 0)
    needsTrust.note("a renderer of its own");
  // Another extension that lists the servers could start the programs that they name.
  if (mcpServers.size > 0) needsTrust.note("a server of MCP");
  if (registrations.markdownTransformers.length > 0) needsTrust.note("changing how Markdown is drawn");
  return {
    handlers: [...handlers].map(([name, list]) => [name, list.map((handler) => ids.get(handler))] as const),
    tools: [...tools.values()].map((tool) => describeTool(tool, needsTrust)),
    commands: [...commands].map(([name, { description, getArgumentCompletions }]) => ({
      name,
      ...(description !== undefined && { description }),
      completes: getArgumentCompletions !== undefined,
    })),
    shortcuts: [...shortcuts].map(([key, { description }]) => ({
      key,
      ...(description !== undefined && { description }),
    })),
    flags: [...flags].map(([name, flag]) => ({ name, flag })),
    providers: [...providers].flatMap(([name, provider]) => describeProvider(name, provider, needsTrust)),
    virtualModels: [...registrations.virtualModels.values()].map(
      (model) => pick(model, virtualModelDataKeys) as unknown as VirtualModelData,
    ),
    needsTrust: needsTrust.sentences,
    ...(capabilities && { capabilities }),
  };
}

function describeTool(tool: ToolDefinition, needsTrust: NeedsTrust): Manifest["tools"][number] {
  if (tool.renderCall || tool.renderResult) needsTrust.note(`the renderer of its tool ${tool.name}`);
  if (tool.prepareArguments) needsTrust.note(`preparing the arguments of its tool ${tool.name}`);
  return {
    tool: { parameters: noParameters, ...pick(tool, toolDataKeys), ...describeApproval(tool) } as ToolData,
    phases: lifecyclePhases.filter((phase) => typeof tool[phase] === "function"),
  };
}

/** A function cannot be called before the call is judged, so that a person is asked about every call. */
const describeApproval = ({ needsApproval = false }: ToolDefinition): Pick<ToolData, "needsApproval"> =>
  needsApproval === false ? {} : { needsApproval: true };

/** Nothing, if it cannot be data. */
export function describeProvider(
  name: string,
  provider: ProviderConfig,
  needsTrust: NeedsTrust,
): Manifest["providers"] {
  if (provider.streamSimple || provider.oauth || provider.refreshModels) {
    needsTrust.note(`the provider ${name}, which has functions of its own`);
    return [];
  }
  return [{ name, provider: pick(provider, providerDataKeys) as ProviderData }];
}

const pick = (value: object, keys: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(
    keys.flatMap((key) => {
      const field: unknown = (value as Record<string, unknown>)[key];
      return field === undefined || typeof field === "function" ? [] : [[key, field] as const];
    }),
  );
