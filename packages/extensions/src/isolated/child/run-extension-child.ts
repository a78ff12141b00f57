/** The process of one isolated extension: loads it, and does what the host asks of it until the host is gone. */
import { getErrorMessage } from "@tau/ai/internal";
import type { ToolLogLevel } from "@tau/tools";
import { ExtensionError } from "../../errors.ts";
import type { Capability } from "@tau/policy";
import type { EventBus, ExtensionAPI, ExtensionFactory, FlagDefinition } from "../../api/api.ts";
import { createApi, createEventBus } from "../../runner/create-api.ts";
import { createLifetime } from "../../runner/create-context.ts";
import { createRegistrations } from "../../api/extension.ts";
import { describeFactoryError } from "../../load/load-error.ts";
import { loadExtensionModule } from "../../load/load-module.ts";
import type { LoadSharedModule } from "../../load/loaded-module.ts";
import { getCapabilities, toFactory } from "../../api/object-form.ts";
import { withProviders } from "../../providers/provider-definition.ts";
import type { ChildInit, HostMessage } from "../messages.ts";
import { CallAnswerer } from "./answer-calls.ts";
import { describeRegistrations } from "./describe.ts";
import { replaceEnvironment } from "./environment.ts";
import { createFetch } from "./fetch.ts";
import { HandlerIds } from "./handler-ids.ts";
import { replaceFiles } from "./files.ts";
import { HostLink } from "./link.ts";
import { createNeedsTrust } from "./needs-trust.ts";
import { refuseModules } from "./refused-modules.ts";
import { createRunSignals } from "./run-signals.ts";
import { createChildSession } from "./session-port.ts";
import { StreamedMessage } from "./streamed-message.ts";

export interface ChildParts {
  /** Modules that extensions import by a name of ours. */
  loadShared: LoadSharedModule;
}

export function runExtensionChild(parts: ChildParts): void {
  const link = new HostLink();
  let receive = (message: HostMessage): void => {
    if (message.type !== "init") return;
    receive = () => {};
    begin(link, parts, message.init).then(
      (next) => (receive = next),
      (error: unknown) => link.send({ type: "failed", message: getErrorMessage(error) }),
    );
  };
  link.listen((message) => (message.type === "ping" ? link.send({ type: "pong" }) : receive(message)));
  // An extension that forgot to catch something has a defect, and the rest of it continues.
  const report = (error: unknown) => link.send({ type: "problem", message: `It failed: ${getErrorMessage(error)}` });
  process.on("uncaughtException", report).on("unhandledRejection", report);
  link.send({ type: "ready" });
}

/** Answers with what gets all further messages. */
async function begin(link: HostLink, parts: ChildParts, init: ChildInit): Promise<(message: HostMessage) => void> {
  const report = (message: string) => link.send({ type: "problem", message });
  const needsTrust = createNeedsTrust(init.name, report);
  const registrations = createRegistrations();
  const lifetime = createLifetime();
  const signals = createRunSignals();
  const session = createChildSession({ link, needsTrust, signals });
  const bus = createEventBus();
  let hasLoaded = false;
  // While it loads, flags have their defaults: what it registers is remembered for runs with other flags.
  const readFlag = (method: string, name: string) => (hasLoaded ? link.read(method, [name]) : undefined);
  // Whether it may log is the host's decision, and nobody waits for it.
  const log = (level: ToolLogLevel, text: string) => link.notify("log", [level, text]);
  const api = createApi({
    registrations,
    lifetime,
    getSession: () => (hasLoaded ? session : undefined),
    flagValues: { get: (name: string) => readFlag("flagValue", name) } as ReadonlyMap<string, boolean | string>,
    findFlag: (name) => readFlag("findFlag", name) as FlagDefinition | undefined,
    listMcpServers: () => link.read("getMcpServers") as ReturnType<ExtensionAPI["getMcpServers"]>,
    events: shareBus(bus, link),
    onEnd: () => () => {},
    shared: async () => {
      throw needsTrust.refuse("tau.shared, which shares a resource with other sessions");
    },
    report,
    log,
  });

  refuseModules(link);
  replaceFiles(link, init);
  replaceEnvironment(link);
  globalThis.fetch = createFetch(link);

  const { factory, capabilities } = await load(parts, init, log);
  const ids = new HandlerIds();
  const describe = () => describeRegistrations(registrations, needsTrust, { capabilities, ids });
  let reported = "";
  let isTelling = false;
  const tellChanges = () => {
    isTelling = false;
    const manifest = describe();
    const text = JSON.stringify(manifest);
    if (text === reported) return;
    reported = text;
    link.send({ type: "registered", manifest });
  };
  /** Once for everything that is registered together, since everything is sent each time. */
  const noteChange = () => {
    if (!hasLoaded || isTelling) return;
    isTelling = true;
    queueMicrotask(tellChanges);
  };
  try {
    await factory(noticing(api, noteChange));
  } catch (error) {
    throw new ExtensionError("invalid_input", describeFactoryError(error, init), { cause: error });
  }
  const manifest = describe();
  reported = JSON.stringify(manifest);
  hasLoaded = true;
  link.send({ type: "loaded", manifest });

  const answerer = new CallAnswerer({ link, registrations, ids, session, lifetime });
  const streamed = new StreamedMessage();
  return (message) => {
    switch (message.type) {
      case "call":
        return void answerer.answer(message);
      case "abort":
        return answerer.abort(message.id);
      case "stream":
        for (const item of message.items) for (const event of streamed.apply(item)) answerer.notify(event);
        return;
      case "run_aborted":
        return signals.abort(message.run);
      case "bus":
        return bus.emit(message.channel, message.data);
    }
  };
}

interface LoadedFactory {
  factory: ExtensionFactory;
  /** The capabilities that it declares to need; undefined if it declares nothing. */
  capabilities?: readonly Capability[];
}

async function load(
  { loadShared }: ChildParts,
  { path, root }: ChildInit,
  log: ExtensionAPI["log"],
): Promise<LoadedFactory> {
  // Nothing is kept: what an extension could write there, it could change.
  const loaded = await loadExtensionModule(path, { loadShared, cacheDirectory: undefined, root });
  switch (loaded.kind) {
    case "failed":
      throw new ExtensionError("invalid_input", loaded.message);
    case "factory":
      return { factory: loaded.factory };
    case "object": {
      const factory = withProviders(toFactory(loaded.object, log), loaded.providers);
      return { factory, capabilities: getCapabilities(loaded.object) };
    }
  }
}

/** Calls `changed` after everything that registers or removes something. */
function noticing(api: ExtensionAPI, changed: () => void): ExtensionAPI {
  const notice = (value: unknown): unknown => {
    if (typeof value !== "function") return value;
    const work = value as (...args: unknown[]) => unknown;
    return (...args: unknown[]) => {
      const result = work(...args);
      changed();
      return typeof result === "function" ? notice(result) : result;
    };
  };
  const entries = Object.entries(api).map(([name, value]) => [
    name,
    name === "on" || /^(?:un)?register/.test(name) ? notice(value) : value,
  ]);
  return Object.fromEntries(entries) as ExtensionAPI;
}

/** Listeners are here; what is said goes to all extensions through the host, which also brings it back here. */
const shareBus = (bus: EventBus, link: HostLink): EventBus => ({
  on(channel, handler) {
    link.notify("bus.on", [channel]);
    return bus.on(channel, handler);
  },
  emit: (channel, data) => link.notify("bus.emit", [channel, data]),
});
