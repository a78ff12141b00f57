/** Hides the parameters of tools that are of use only beside another tool. Pure. */
import { isRecord } from "@tau/ai/internal";
import type { PipelineTool } from "./layer.ts";

/** Hides parameters. Identical tools always give identical tools. */
export function hideParameters(tools: readonly PipelineTool[]): PipelineTool[] {
  const names = new Set(tools.map(({ name }) => name));
  return tools.map((tool) => {
    const needs = Object.entries(tool.parameterNeeds ?? {});
    const hidden = needs
      .filter(([, others]) => !others.some((name) => names.has(name)))
      .map(([parameter]) => parameter);
    return hidden.length === 0 ? tool : withoutParameters(tool, hidden);
  });
}

const made = new WeakMap<PipelineTool, Map<string, PipelineTool>>();

function withoutParameters(tool: PipelineTool, hidden: readonly string[]): PipelineTool {
  const variants = made.get(tool) ?? new Map<string, PipelineTool>();
  made.set(tool, variants);
  const key = hidden.join();
  const variant = variants.get(key) ?? { ...tool, parameters: omit(tool.parameters, hidden) };
  variants.set(key, variant);
  return variant;
}

function omit(parameters: PipelineTool["parameters"], hidden: readonly string[]): PipelineTool["parameters"] {
  const properties: unknown = (parameters as { properties?: unknown }).properties;
  if (!isRecord(properties)) return parameters;
  const shown = Object.entries(properties).filter(([name]) => !hidden.includes(name));
  return { ...parameters, properties: Object.fromEntries(shown) };
}
