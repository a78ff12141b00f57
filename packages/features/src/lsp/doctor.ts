/** The row of `tau doctor` about language servers. */
import { resolveFields } from "@tau/config/settings";
import type { DoctorResult, FeaturePlace } from "@tau/extensions";
import { listFitting } from "./find-server.ts";
import { readServerConfig } from "./server-config.ts";
import { lspSettings } from "./settings.ts";

/** Lists the servers that fit this project, and what installs those that are missing. */
export async function checkLanguageServers({ cwd, agentDir, settings, env }: FeaturePlace): Promise<DoctorResult> {
  const { isProjectTrusted } = settings;
  const { servers: own } = resolveFields(lspSettings, settings.get()).lsp;
  const { servers, problems } = await readServerConfig({ cwd, agentDir, isProjectTrusted, settings: own });
  if (problems.length > 0) return { status: "warn", says: problems.join(" "), fix: "Correct the configuration." };
  const fitting = listFitting(servers, undefined, { cwd, isProjectTrusted, env });
  if (fitting.length === 0) return { status: "ok", says: "No server is known for this kind of project." };
  const isCovered = (types: readonly string[]) =>
    fitting.some(
      ({ program, definition }) => program !== undefined && definition.fileTypes.some((type) => types.includes(type)),
    );
  const installed = fitting.flatMap(({ program, definition }) => (program === undefined ? [] : [definition.name]));
  // One server for a kind of file is enough, but a linter is there beside it.
  const missing = fitting.filter(
    ({ program, definition }) => program === undefined && (definition.isLinter || !isCovered(definition.fileTypes)),
  );
  const says =
    installed.length === 0 ? "None that fits this project is installed." : `Installed: ${installed.join(", ")}.`;
  if (missing.length === 0) return { status: "ok", says };
  const fixes = missing.map(({ definition }) => `${definition.name}: ${definition.install || definition.command}`);
  return {
    status: "warn",
    says: `${says} Missing: ${missing.map(({ definition }) => definition.name).join(", ")}.`,
    fix: fixes.join("; "),
  };
}
