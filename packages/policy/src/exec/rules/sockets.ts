/** The sockets that bash opens by a path: `/dev/tcp/HOST/PORT`. */
import { report, type Scope } from "../shell/analysis.ts";
import { joinOrigins, origins, type Options, type Text } from "../shell/text.ts";
import { isLocalHost } from "./hosts.ts";

export type Socket = "local" | "remote";

/** Reports a connection to another machine. Undefined for a path that is no socket. */
export function judgeSocket(path: string, operator: string, scope: Scope): Socket | undefined {
  const host = /^\/dev\/(?:tcp|udp)\/([^/]+)\//.exec(path)?.[1];
  if (host === undefined) return undefined;
  if (isLocalHost(host)) return "local";
  if (operator === "<>") {
    report(scope, "critical", "reverse_shell", `It opens a connection to ${host} for reading and writing.`);
  } else {
    const isOutput = operator !== "<" && operator !== "<&";
    report(scope, isOutput ? "high" : "medium", "exfiltration", `It opens a connection to ${host}.`);
  }
  return "remote";
}

/** Credentials that leave through such a socket. */
export function judgeSentOutput(path: string, output: Options<Text>, scope: Scope): void {
  if (!/^\/dev\/(?:tcp|udp)\//.test(path) || (joinOrigins(output) & origins.credential) === 0) return;
  report(scope, "critical", "exfiltration", "It sends credentials to another machine.");
}
