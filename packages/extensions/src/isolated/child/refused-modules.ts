/**
 * Refuses what an extension cannot do in its process, with a sentence that says what to use instead. This is for its
 * author: the sandbox of the process applies also without it. The host writes each refusal down.
 */
import childProcess from "node:child_process";
import dgram from "node:dgram";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";
import type { HostLink } from "./link.ts";
import { ExtensionError } from "../../errors.ts";

const starters = ["spawn", "spawnSync", "exec", "execSync", "execFile", "execFileSync", "fork"] as const;

export function refuseModules(link: HostLink): void {
  // Nobody waits for it: what is refused is refused whether or not it could be written down.
  const note = (what: string, detail: unknown) =>
    void link.call("refused", [what, String(detail)]).catch(() => undefined);
  for (const name of starters) {
    replace(childProcess, name, (program: unknown) => {
      note("process", program);
      throw new ExtensionError(
        "denied",
        `node:child_process cannot be used here: this extension is not trusted, so it starts no processes. Use tau.exec(command, args), which the user's policy decides about.`,
      );
    });
  }
  const refuseNetwork = (target: unknown): never => {
    note("network", describeTarget(target));
    throw new ExtensionError(
      "denied",
      "There is no network here: this extension is not trusted. Use fetch(url), which the user's policy decides about.",
    );
  };
  replace(net.Socket.prototype, "connect", refuseNetwork);
  replace(net.Server.prototype, "listen", refuseNetwork);
  replace(dgram.Socket.prototype, "bind", refuseNetwork);
  replace(dgram.Socket.prototype, "send", refuseNetwork);
  syncBuiltinESMExports();
}

function replace(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, configurable: true, writable: true });
}

/** Node calls `connect` with the arguments in an array, or with options. */
function describeTarget(target: unknown): string {
  const first: unknown = Array.isArray(target) ? (target as unknown[])[0] : target;
  if (typeof first !== "object" || first === null) return String(first);
  const { host, port, path } = first as Record<string, unknown>;
  return String(host ?? path ?? port);
}
