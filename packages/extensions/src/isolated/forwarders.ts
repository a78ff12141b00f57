/** Turns what an extension registered in its process into registrations here, whose functions call that process. */
import { resolve } from "node:path";
import { isRecord } from "@tau/ai/internal";
import type { ToolContext } from "@tau/tools";
import { isWithin } from "@tau/tools/platform";
import { findMentions } from "@tau/protocol";
import type { CommandDefinition, ShortcutDefinition, ToolDefinition } from "../api/api.ts";
import type { ExtensionEvent, ExtensionEventName } from "../api/events.ts";
import type { AnyHandler, Registrations } from "../api/extension.ts";
import {
  isToolUpdate,
  isValidChange,
  parseCompletions,
  parseResult,
  parseToolResult,
} from "../runner/parse-results.ts";
import { applyChanges, getChangeableFields, toCrossingEvent } from "./changeable-fields.ts";
import type { ModelRoute, ModelRouteRequest, VirtualModel } from "../api/virtual-model.ts";
import { getVirtualName } from "../providers/virtual-models.ts";
import type { Manifest, VirtualModelData } from "./manifest.ts";
import { withoutKeys } from "./without-keys.ts";
import { streamedEvents } from "./stream-batch.ts";
import type { Supervisor } from "./supervisor.ts";
import { ExtensionError } from "../errors.ts";

/** It decides for the user whom to trust, so it is not asked of an extension that is not trusted. */
const notForwarded: ReadonlySet<ExtensionEventName> = new Set(["project_trust"]);

interface ForwardParts {
  supervisor: Pick<Supervisor, "call" | "stream" | "mayReadSession">;
  onInputChanged: (toolCallId: string) => void;
  /** The directory or file that is the extension. */
  ownCode: string;
}

/** Replaces all of `registrations`. */
export function fillRegistrations(registrations: Registrations, manifest: Manifest, parts: ForwardParts): void {
  const { handlers, tools, commands, shortcuts, flags, providers, virtualModels } = registrations;
  for (const map of [handlers, tools, commands, shortcuts, flags, providers, virtualModels]) map.clear();
  for (const [name, ids] of manifest.handlers) {
    if (notForwarded.has(name)) continue;
    // Streamed events reach all handlers at once.
    const called = streamedEvents.has(name) ? ids.slice(0, 1) : ids;
    handlers.set(
      name,
      called.map((id) => createHandler(name, id, parts)),
    );
  }
  for (const item of manifest.tools) tools.set(item.tool.name, createTool(item, parts));
  for (const item of manifest.commands) commands.set(item.name, createCommand(item, parts));
  for (const item of manifest.shortcuts) shortcuts.set(item.key, createShortcut(item, parts));
  for (const { name, flag } of manifest.flags) flags.set(name, flag);
  for (const { name, provider } of manifest.providers) providers.set(name, provider);
  for (const model of manifest.virtualModels)
    virtualModels.set(getVirtualName(model), createVirtualModel(model, parts));
}

function createVirtualModel(model: VirtualModelData, { supervisor }: ForwardParts): VirtualModel {
  const name = getVirtualName(model);
  return {
    ...model,
    async route({ signal, ...request }) {
      const isOpen = await supervisor.mayReadSession(signal);
      const crossing = toCrossingRoute(request, isOpen);
      const { value } = await supervisor.call({ kind: "route", name, request: crossing }, { signal });
      return value as ModelRoute;
    },
  };
}

type RouteRequest = Omit<ModelRouteRequest, "signal">;

/** A request for a route as it leaves this process: without keys, and without the conversation where that is not open to it. */
function toCrossingRoute(request: RouteRequest, isOpen: boolean): RouteRequest {
  const { model, previous, failed, messages } = request;
  const content = isOpen ? failed?.message.content : [];
  return {
    ...request,
    model: withoutKeys(model),
    ...(previous && { previous: { ...previous, model: withoutKeys(previous.model) } }),
    ...(failed && {
      failed: { ...failed, model: withoutKeys(failed.model), message: { ...failed.message, content: content ?? [] } },
    }),
    messages: isOpen ? messages : [],
  };
}

function createHandler(name: ExtensionEventName, handlerId: number, parts: ForwardParts): AnyHandler {
  const { supervisor, onInputChanged } = parts;
  if (streamedEvents.has(name)) return (event) => supervisor.stream(event);
  return async (event) => {
    const { signal } = event as { signal?: AbortSignal };
    const call = { kind: "event", name, handlerId, event: toCrossingEvent(event) } as const;
    const { value, changed } = await supervisor.call(call, { signal });
    // Before changes are made: an extension that answers wrongly changes nothing.
    const result =
      event.type === "resources_discover"
        ? keepOwnPaths(parseResult(name, value), event.cwd, parts.ownCode)
        : parseResult(name, value);
    if (event.type === "input") checkMentions(event.text, result);
    if (changed) {
      checkChanges(event, changed);
      applyChanges(event, changed);
      if (event.type === "tool_call") onInputChanged(event.toolCallId);
    }
    return result;
  };
}

/** Files from elsewhere would become part of the conversation, which the extension can read. */
function keepOwnPaths(result: unknown, cwd: string, ownCode: string): unknown {
  if (!isRecord(result)) return result;
  const isOwn = (path: unknown) => {
    const absolute = resolve(cwd, String(path));
    return isWithin(cwd, absolute) || isWithin(ownCode, absolute);
  };
  const kept = Object.entries(result).map(([name, paths]) => [
    name,
    Array.isArray(paths) ? paths.filter(isOwn) : paths,
  ]);
  return Object.fromEntries(kept);
}

/** Mentioned files are read for the user, who may read more than the extension. */
function checkMentions(before: string, result: unknown): void {
  // The last path is without the punctuation of the sentence.
  const known = new Set(findMentions(before).map(({ paths }) => paths.at(-1)));
  const text = isRecord(result) && typeof result["text"] === "string" ? result["text"] : "";
  const added = findMentions(text).find(({ paths }) => !known.has(paths.at(-1)));
  if (added)
    throw new ExtensionError("denied", `It added ${added.typed} to the prompt. Mentioning a file needs trust.`);
}

function checkChanges(event: ExtensionEvent, changed: Record<string, unknown>): void {
  const record = event as unknown as Record<string, unknown>;
  for (const field of getChangeableFields(event.type)) {
    if (!Object.hasOwn(changed, field) || isValidChange(event.type, field, record[field], changed[field])) continue;
    throw new ExtensionError(
      "invalid_result",
      `It changed ${field} of ${event.type} into something that it cannot be.`,
    );
  }
}

function createTool({ tool, phases }: Manifest["tools"][number], { supervisor }: ForwardParts): ToolDefinition {
  const { name } = tool;
  const lifecycle = Object.fromEntries(
    phases.map((phase) => {
      const forward = async (value: unknown, { signal, toolCallId }: ToolContext) =>
        void (await supervisor.call({ kind: "lifecycle", name, phase, toolCallId, value }, { signal }));
      const hasValue = phase === "beforeInvoke" || phase === "afterInvoke";
      return [phase, hasValue ? forward : (context: ToolContext) => forward(undefined, context)];
    }),
  );
  return {
    ...tool,
    ...lifecycle,
    async execute(toolCallId, params: unknown, signal, onUpdate) {
      const forward = onUpdate && ((update: never) => void (isToolUpdate(update) && onUpdate(update)));
      const { value } = await supervisor.call(
        { kind: "tool", name, toolCallId, params },
        { signal, onUpdate: forward as never },
      );
      return parseToolResult(value);
    },
  };
}

function createCommand(
  { name, description, completes }: Manifest["commands"][number],
  { supervisor }: ForwardParts,
): CommandDefinition {
  return {
    ...(description !== undefined && { description }),
    ...(completes && {
      getArgumentCompletions: async (prefix: string) =>
        parseCompletions((await supervisor.call({ kind: "completions", name, prefix })).value),
    }),
    handler: async (args) => void (await supervisor.call({ kind: "command", name, args })),
  };
}

const createShortcut = (
  { key, description }: Manifest["shortcuts"][number],
  { supervisor }: ForwardParts,
): ShortcutDefinition => ({
  ...(description !== undefined && { description }),
  handler: async () => void (await supervisor.call({ kind: "shortcut", key })),
});
