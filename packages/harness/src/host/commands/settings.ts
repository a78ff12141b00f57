/** Commands about settings, trust and credentials. */
import { HarnessError } from "@tau/protocol";
import { anyJson, flag, nonEmptyText, oneOf, optional } from "@tau/config/fields";
import { createTrustCheck, describeSettings, hideKeys } from "@tau/config/internal";
import { keepTrust, readTrust, writeTrust } from "@tau/config/trust";
import { formatFileProblem, nestSetting } from "@tau/config/settings";
import { describeIgnoredPiFiles } from "@tau/config/resources";
import type { AgentSession } from "../../agent-session/agent-session.ts";
import { command, type SomeCommands, longCommand } from "./command.ts";

const trustFields = { trusted: flag, digest: optional(nonEmptyText), directory: optional(nonEmptyText) };

/** Finds the directory that a command about trust means. */
function findTrustDirectory(session: AgentSession, directory = session.cwd): string {
  if (directory === session.cwd || session.addedDirectories.includes(directory)) return directory;
  throw new HarnessError("invalid_input", `${directory} is not in the workspace of this session.`);
}

export const settingsCommands = {
  get_settings: command({}, ({ session: { settings, settingsManager } }) => ({
    settings: { ...hideKeys(settings) },
    problems: settingsManager.problems.map(formatFileProblem),
  })),
  list_settings: command({}, ({ session: { settingsManager: manager } }) => ({
    settings: describeSettings(manager.table, {
      settings: hideKeys(manager.get()),
      global: hideKeys(manager.getGlobal()),
      project: manager.getProject(),
      run: manager.getRun(),
    }),
  })),
  set_setting: command(
    { key: nonEmptyText, value: optional(anyJson), scope: optional(oneOf("global", "project")) },
    async ({ host, session: { cwd, settingsManager } }, { key, value, scope = "global" }) => {
      const trust = { agentDir: host.agentDir, cwd, ids: host.ids };
      const change = nestSetting(key, value);
      if (scope === "global") await settingsManager.update(scope, change);
      else await settingsManager.update(scope, change, (write) => keepTrust(trust, write));
    },
  ),
  reload: command({}, async ({ session }) => ({ changed: [...(await session.reload())] })),
  get_policy: command({}, ({ session }) => session.policy.describe()),
  set_permission_mode: command({ mode: nonEmptyText }, async ({ session, options }, { mode }) => {
    if (mode === "free" && options.scopes?.includes("admin") === false) {
      const message = "The permission mode free can only be chosen by a person with the scope admin.";
      throw new HarnessError("denied", message);
    }
    return await session.setPermissionMode(mode);
  }),
  add_directory: command({ path: nonEmptyText }, ({ session }, { path }) => session.addDirectory(path)),
  get_trust: command({ directory: optional(nonEmptyText) }, ({ host, session }, { directory }) =>
    readTrust({ agentDir: host.agentDir, cwd: findTrustDirectory(session, directory) }),
  ),
  set_trust: command(trustFields, async ({ host, session }, params) => {
    const cwd = findTrustDirectory(session, params.directory);
    const options = { agentDir: host.agentDir, cwd, ids: host.ids };
    const trust = await writeTrust(options, params.trusted, params.digest);
    // Of a directory that was added nothing is read but instructions, and those when a call touches a file there.
    if (cwd !== session.cwd) return trust;
    const check = trust.trusted ? createTrustCheck(options) : undefined;
    await session.settingsManager.setProjectTrusted(trust.trusted, check);
    await session.reload();
    const ignored = trust.trusted ? await describeIgnoredPiFiles(session.cwd) : undefined;
    if (ignored !== undefined) session.notify("resources", ignored);
    return trust;
  }),
  login: longCommand(
    { provider: nonEmptyText, apiKey: optional(nonEmptyText), paste: optional(flag) },
    async ({ hosted: { logins } }, { provider, apiKey, paste = false }) => {
      if (apiKey === undefined) await logins.logIn(provider, paste);
      else await logins.storeKey(provider, apiKey);
      return { provider, kind: apiKey === undefined ? ("oauth" as const) : ("api_key" as const) };
    },
  ),
  paste_login: command({ text: nonEmptyText }, ({ hosted }, params) => ({
    accepted: hosted.logins.paste(params.text),
  })),
  abort_login: command({}, ({ hosted }) => hosted.logins.abort()),
  logout: command({ provider: nonEmptyText }, async ({ session }, { provider }) => {
    const known = session.modelRegistry.getAll().some((model) => model.provider === provider);
    const removed = await session.authStorage.remove(provider);
    if (!removed && !known)
      throw new HarnessError("invalid_input", `There is no provider ${JSON.stringify(provider)}.`);
    return { removed };
  }),
} satisfies SomeCommands;
