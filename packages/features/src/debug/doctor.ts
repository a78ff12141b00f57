/** The row of `tau doctor`: which adapters fit the project, and what installs those that are missing. */
import { resolveFields } from "@tau/config/settings";
import type { DoctorResult, FeaturePlace } from "@tau/extensions";
import { hostPrograms } from "../kit/host-programs.ts";
import type { Spawner } from "../kit/run-git.ts";
import { listAdapters, probeAdapter } from "./choose-adapter.ts";
import type { DapAdapter } from "./adapters.ts";
import { findCommands, listForProject } from "./find-adapter.ts";
import { debugSettings } from "./settings.ts";

export async function checkAdapters(
  { cwd, settings, env }: FeaturePlace,
  { spawn, path }: { spawn: Spawner["spawn"]; path: string | undefined } = {
    spawn: hostPrograms.spawn,
    path: env["PATH"],
  },
): Promise<DoctorResult> {
  const { adapters } = resolveFields(debugSettings, settings.get()).debug;
  const fitting = listForProject(listAdapters(adapters), cwd);
  if (fitting.length === 0) return { status: "ok", says: "no adapter is known for this project" };
  const place = { cwd, isProjectTrusted: settings.isProjectTrusted, path };
  const rows = await Promise.all(
    fitting.map(async (adapter) => ({ adapter, ...(await check({ spawn }, adapter, place)) })),
  );
  const usable = rows.filter(({ isUsable }) => isUsable);
  const missing = rows.filter(
    ({ adapter, isUsable }) => !isUsable && !usable.some((other) => isFor(other.adapter, adapter)),
  );
  const says = rows.map(({ adapter, says: text }) => `${adapter.name} ${text}`).join(", ");
  if (missing.length === 0) return { status: "ok", says };
  const fix = missing.map(({ adapter }) => `${adapter.name}: ${adapter.install}`).join("; ");
  return { status: "warn", says, fix };
}

/** Whether one adapter does the work of the other: one for native programs is enough. */
const isFor = (usable: DapAdapter, missing: DapAdapter): boolean =>
  usable.isNative === true && missing.isNative === true;

async function check(spawner: Spawner, adapter: DapAdapter, place: Parameters<typeof findCommands>[1]) {
  let says = "is not installed";
  for (const command of findCommands(adapter, place)) {
    const result = await probeAdapter(spawner, adapter, { command, cwd: place.cwd });
    if (result.isUsable)
      return { isUsable: true, says: result.version === undefined ? "is installed" : result.version };
    says = `cannot be used (${result.why})`;
  }
  return { isUsable: false, says };
}
