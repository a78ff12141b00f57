/** Loads an extension that the user has not vouched for: its code runs in a process of its own, behind the sandbox. */
import { recordExtensionRun } from "@tau/config/trust";
import { createRegistrations, type Extension, type ExtensionSource } from "../api/extension.ts";
import { createOwnSessionGetter } from "../session/own-session.ts";
import { createWaits, type Waits } from "../runner/waits.ts";
import { fillRegistrations } from "./forwarders.ts";
import { type ManifestCacheOptions, readManifest, writeManifest } from "./manifest-cache.ts";
import type { Manifest } from "./manifest.ts";
import type { HostcallJudge, IsolatedPorts } from "./ports.ts";
import { getOwnCode } from "./process-sandbox-facts.ts";
import { findIsolationPrograms } from "./start-process.ts";
import { Supervisor } from "./supervisor.ts";
import { ExtensionError } from "../errors.ts";

/** The limit for messages of one extension to the user in a session. */
const maxProblems = 50;

/**
 * Rejects with a sentence when the extension cannot be loaded, also where there is no sandbox. What it registers is remembered
 * by its content, so that its process is started only when it is first called.
 */
export async function loadIsolated(source: ExtensionSource, ports: IsolatedPorts): Promise<Extension> {
  const isolation = await findIsolationPrograms(ports.cwd);
  if ("reason" in isolation)
    throw new ExtensionError(
      "unavailable",
      `It is not trusted and needs the sandbox, which does not work here. ${isolation.reason}`,
    );
  const registrations = createRegistrations();
  const reported = new Set<string>();
  const report = (message: string) => {
    if (reported.has(message) || reported.size >= maxProblems) return;
    reported.add(message);
    ports.report({ extension: source.name, message });
  };
  const fill = (manifest: Manifest) => {
    const onInputChanged = (toolCallId: string) => ports.onInputChanged(toolCallId, source.name);
    fillRegistrations(registrations, manifest, { supervisor, onInputChanged, ownCode });
    for (const sentence of manifest.needsTrust) report(sentence);
  };
  const { agentDir, home } = ports;
  const ownCode = getOwnCode(source, [home, agentDir]);
  const cache = { agentDir, digest: source.digest, path: source.path };
  const remembered = readManifest(cache);
  let known = remembered && JSON.stringify(remembered);
  const onManifest = (manifest: Manifest) => {
    const text = JSON.stringify(manifest);
    if (text === known) return;
    known = text;
    fill(manifest);
    ports.onVirtualModelsChange?.();
    ports.getSession()?.refreshTools();
  };
  const onKilled = () => {
    const { handlers, tools, commands, shortcuts, providers, virtualModels } = registrations;
    for (const map of [handlers, tools, commands, shortcuts, providers, virtualModels]) map.clear();
    ports.onVirtualModelsChange?.();
    ports.providers.unregisterIsolated(source.name);
    ports.getSession()?.refreshTools();
  };
  const waits = createWaits(ports.clock);
  let isRefused = false;
  const noteRefusal = () => void (isRefused = true);
  const ownPorts: IsolatedPorts = {
    ...ports,
    getSession: createOwnSessionGetter(ports.getSession, waits),
    createJudge: (extension) => noteRefusals(countQuestions(ports.createJudge(extension), waits), noteRefusal),
    audit: (decision) => {
      if (decision.outcome === "denied") noteRefusal();
      return ports.audit(decision);
    },
    report: ({ message }) => report(message),
  };
  const supervisor = new Supervisor({ source, isolation, ports: ownPorts, onManifest, onKilled }, remembered);
  if (remembered) fill(remembered);
  else await learn(supervisor, cache);
  return {
    ...registrations,
    source,
    get state() {
      return supervisor.isKilled ? "killed" : "acknowledged";
    },
    host: "isolated",
    waits,
    begin: () => supervisor.begin(),
    async close() {
      await supervisor.close();
      if (!supervisor.hasRun) return;
      // A count that cannot be written costs the user a hint, and nothing else.
      await recordExtensionRun(source, { isRefused: isRefused || supervisor.isKilled }, ports).catch(() => undefined);
    },
  };
}

/** A person may be asked, and the extension waits for the answer. */
const countQuestions = (judge: HostcallJudge, waits: Waits): HostcallJudge => ({
  ...judge,
  judge: (call, signal) => waits.during(() => judge.judge(call, signal)),
});

const noteRefusals = (judge: HostcallJudge, note: () => void): HostcallJudge => ({
  ...judge,
  async judge(call, signal) {
    const reason = await judge.judge(call, signal);
    if (reason !== undefined) note();
    return reason;
  },
});

async function learn(supervisor: Supervisor, cache: ManifestCacheOptions): Promise<void> {
  try {
    await writeManifest(await supervisor.learn(), cache);
  } catch (error) {
    await supervisor.close();
    throw error;
  }
}
