/** Describes entries to people: what is started or reached, and what goes there. Pure. */
import { isSecretName } from "@tau/policy/internal";
import type { SandboxNetwork } from "@tau/sandbox";
import type { McpEntry, McpSource, StdioTarget } from "./entry.ts";
import { listTexts, listVariables } from "./variables.ts";
import { toVisible } from "../kit/visible-text.ts";

/** Programs that fetch a server before they run it, and the hosts that they need. */
const launchers: Readonly<Record<string, readonly string[]>> = {
  npx: ["registry.npmjs.org"],
  npm: ["registry.npmjs.org"],
  pnpm: ["registry.npmjs.org"],
  pnpx: ["registry.npmjs.org"],
  yarn: ["registry.npmjs.org", "registry.yarnpkg.com"],
  bunx: ["registry.npmjs.org"],
  uvx: ["pypi.org", "files.pythonhosted.org"],
  uv: ["pypi.org", "files.pythonhosted.org"],
  pipx: ["pypi.org", "files.pythonhosted.org"],
  deno: ["jsr.io", "registry.npmjs.org"],
};

/** The hosts that the command of a server needs in order to fetch it. */
function listLauncherHosts({ command }: Pick<StdioTarget, "command">): readonly string[] {
  const name = command.replace(/^.*[/\\]/, "").replace(/\.(?:exe|cmd)$/i, "");
  return Object.hasOwn(launchers, name) ? launchers[name]! : [];
}

/**
 * The network of a server: what its entry says, else that of the model's commands and the hosts that fetch it. Undefined: that
 * of the model's commands.
 */
export function getServerNetwork(target: StdioTarget, commands: SandboxNetwork): SandboxNetwork | undefined {
  if (target.sandbox === false) return undefined;
  if (target.sandbox?.network) return target.sandbox.network;
  const hosts = listLauncherHosts(target);
  if (hosts.length === 0 || commands === "all") return undefined;
  return { allow: [...new Set([...(commands === "none" ? [] : commands.allow), ...hosts])] };
}

/** Such as "npx -y @scope/server /tmp", with arguments that need it in quotes and nothing hidden. */
export const formatCommand = ({ command, args }: Pick<StdioTarget, "command" | "args">): string =>
  [command, ...args].map((part) => toVisible(/^[\w@%+=:,./-]+$/.test(part) ? part : JSON.stringify(part))).join(" ");

export function formatSource({ scope, path }: McpSource): string {
  switch (scope) {
    case "user":
      return `your ${toVisible(path)}`;
    case "project":
      return `${toVisible(path)} of this project`;
    case "package":
      return `the package ${toVisible(path)}`;
    case "extension":
      return `the extension ${toVisible(path)}`;
  }
}

/** The lines of the question before a server is first started or reached. */
export function describeStart(entry: McpEntry, commands: SandboxNetwork): string[] {
  const { target, source, variables } = entry;
  const lines = [`From ${formatSource(source)}.`];
  if (target.type === "stdio") {
    lines.push(`Command: ${formatCommand(target)}`);
    if (target.cwd !== undefined) lines.push(`Directory: ${toVisible(target.cwd)}`);
    const literal = Object.entries(target.env).filter(([, value]) => listVariables([value]).length === 0);
    if (literal.length > 0)
      lines.push(`Sets ${literal.map(([name, value]) => toVisible(`${name}=${shorten(name, value)}`)).join(", ")}.`);
    lines.push(describeSandbox(target, commands));
  } else lines.push(`Address: ${toVisible(target.url)}`);
  if (variables.length > 0) {
    const where = target.type === "stdio" ? "the command" : toVisible(getHost(target.url));
    lines.push(`Gives ${where} your variables ${variables.join(", ")}.`);
  }
  const fromCommands = listTexts(target).filter((text) => source.scope === "user" && text.startsWith("!")).length;
  if (fromCommands > 0)
    lines.push(`Gives it what ${fromCommands === 1 ? "a command" : `${fromCommands} commands`} of your file print.`);
  return lines;
}

const shorten = (name: string, value: string): string =>
  isSecretName(name) ? "…" : value.length > 60 ? `${value.slice(0, 59)}…` : value;

function describeSandbox(target: StdioTarget, commands: SandboxNetwork): string {
  if (target.sandbox === false) return "Runs outside of the sandbox, with all your rights.";
  const network = getServerNetwork(target, commands) ?? commands;
  const paths = target.sandbox?.allowedPaths ?? [];
  const reach =
    network === "all"
      ? "with the whole network"
      : network === "none" || network.allow.length === 0
        ? "without a network"
        : `and reaches ${network.allow.map(toVisible).join(", ")}`;
  const writes = paths.length > 0 ? ` It may change ${paths.map(toVisible).join(", ")}.` : "";
  return `Runs in the sandbox ${reach}.${writes}`;
}

/** The host of an address that may have variables in it. */
const getHost = (url: string): string => /^https?:\/\/([^/?#]*)/i.exec(url)?.[1] || url;
