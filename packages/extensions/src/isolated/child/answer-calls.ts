/** Runs what the host asks of the extension, and answers. */
import { getErrorMessage, isRecord } from "@tau/ai/internal";
import type { ToolContext } from "@tau/tools";
import { createFacilities } from "../../pipeline/tool-facilities.ts";
import { createCommandContext, createContext, createToolContext, type Lifetime } from "../../runner/create-context.ts";
import type { ExtensionContext } from "../../api/context.ts";
import type { ExtensionEvent } from "../../api/events.ts";
import type { Registrations } from "../../api/extension.ts";
import type { ExtensionSessionPort } from "../../api/session-port.ts";
import { getChangeableFields, hasSignal } from "../changeable-fields.ts";
import type { ChildCall, HostMessage } from "../messages.ts";
import type { HandlerIds } from "./handler-ids.ts";
import type { HostLink } from "./link.ts";
import { ExtensionError } from "../../errors.ts";

interface CallParts {
  link: HostLink;
  registrations: Registrations;
  ids: HandlerIds;
  session: ExtensionSessionPort;
  lifetime: Lifetime;
}

interface Answer {
  value?: unknown;
  changed?: Record<string, unknown>;
}

export class CallAnswerer {
  readonly #parts: CallParts;
  readonly #open = new Map<number, AbortController>();
  readonly #context: ExtensionContext;
  /** For the next call. */
  #spare: AbortController | undefined;
  readonly #facilities = new Map<string, ReturnType<typeof createFacilities>>();

  constructor(parts: CallParts) {
    this.#parts = parts;
    this.#context = createContext(parts.session, parts.lifetime);
  }

  async answer({ id, call }: Extract<HostMessage, { type: "call" }>): Promise<void> {
    const controller = this.#spare ?? new AbortController();
    this.#spare = undefined;
    this.#open.set(id, controller);
    try {
      const { value, changed } = await this.#run(id, call, controller.signal);
      this.#parts.link.send({ type: "answer", id, value, changed });
    } catch (error) {
      this.#parts.link.send({ type: "answer", id, error: { message: getErrorMessage(error) } });
    } finally {
      this.#open.delete(id);
      // Nobody waits for it now; during a call it would be a tenth of the time.
      this.#spare ??= new AbortController();
    }
  }

  abort(id: number): void {
    this.#open.get(id)?.abort();
  }

  /** Calls the handlers of events that nobody waits for. */
  notify(event: ExtensionEvent): void {
    for (const handler of this.#parts.registrations.handlers.get(event.type) ?? []) {
      const work = async () => await handler(event, this.#context);
      work().catch((error: unknown) => this.#report(`Its handler of ${event.type} failed: ${getErrorMessage(error)}`));
    }
  }

  #report(message: string): void {
    this.#parts.link.send({ type: "problem", message });
  }

  async #run(id: number, call: ChildCall, signal: AbortSignal): Promise<Answer> {
    const { link, registrations, session, lifetime } = this.#parts;
    switch (call.kind) {
      case "event":
        return await this.#handle(call, signal);
      case "tool": {
        const { name, toolCallId, params } = call;
        const tool = registrations.tools.get(name);
        if (!tool) throw new ExtensionError("closed", `There is no tool ${name} any more.`);
        const onUpdate = (update: unknown) => link.send({ type: "update", id, update: update as never });
        const context = createToolContext(session, lifetime, { id: toolCallId, signal });
        return { value: await tool.execute(toolCallId, params, signal, onUpdate, context) };
      }
      case "lifecycle": {
        const { name, phase, toolCallId, value } = call;
        const tool = registrations.tools.get(name);
        const context: ToolContext = { ...this.#getFacilities(name), signal, toolCallId };
        if (phase === "onLoad" || phase === "onUnload") await tool?.[phase]?.(context);
        else await tool?.[phase]?.(value, context);
        return {};
      }
      case "command": {
        const command = registrations.commands.get(call.name);
        await command?.handler(call.args, createCommandContext(session, lifetime));
        return {};
      }
      case "completions":
        return { value: await registrations.commands.get(call.name)?.getArgumentCompletions?.(call.prefix) };
      case "shortcut": {
        await registrations.shortcuts.get(call.key)?.handler(this.#context);
        return {};
      }
      case "route": {
        const model = registrations.virtualModels.get(call.name);
        if (!model) throw new ExtensionError("closed", `There is no virtual model ${call.name} any more.`);
        return { value: await model.route({ ...call.request, signal }, this.#context) };
      }
    }
  }

  async #handle({ name, handlerId, event }: ChildCall & { kind: "event" }, signal: AbortSignal): Promise<Answer> {
    const { registrations, ids } = this.#parts;
    const handler = registrations.handlers.get(name)?.find((each) => ids.get(each) === handlerId);
    if (!handler) return {};
    const fields = getChangeableFields(name);
    const given = (hasSignal(name) ? { ...event, signal } : event) as unknown as Record<string, unknown>;
    const before = fields.map((field) => JSON.stringify(given[field]));
    const value = await handler(given as unknown as ExtensionEvent, this.#context);
    // The process ends with the answer.
    if (name === "session_shutdown") await this.#parts.link.whenDone();
    if (name === "user_bash" && isRecord(value) && value["operations"])
      throw new ExtensionError("denied", "Running commands with operations of its own needs trust.");
    const changed = fields.filter((field, position) => JSON.stringify(given[field]) !== before[position]);
    if (changed.length === 0) return { value };
    return { value, changed: Object.fromEntries(changed.map((field) => [field, given[field]])) };
  }

  /** Configuration and log of one tool. */
  #getFacilities(name: string) {
    const known = this.#facilities.get(name);
    if (known) return known;
    const { link } = this.#parts;
    // Whether it may log is the host's decision, and a tool does not wait for it.
    const log = (level: string, text: string) => link.notify("log", [level, text]);
    const facilities = createFacilities(log);
    this.#facilities.set(name, facilities);
    return facilities;
  }
}
