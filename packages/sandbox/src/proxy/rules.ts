/** Which hosts commands may connect to. Pure. */
import { formatHost, parseTarget, type ProxyTarget } from "./host.ts";

/** Compares hosts with a list: `example.org`, `*.example.org` for those below it, each with a port or not. */
export interface HostRules {
  /** `literally`: the list names this very address, or this machine, so it may be private. */
  check(target: ProxyTarget): "allowed" | "literally" | "refused";
}

/** The ports of an entry without a port. */
const webPorts = [80, 443];

interface Rule {
  /** A name, or the formatted address. */
  host: string;
  isWildcard: boolean;
  ports: readonly number[];
}

/** Entries that cannot be understood allow nothing. */
export function createHostRules(allow: readonly string[]): HostRules {
  const rules = allow.flatMap(parseRule);
  return {
    check(target) {
      const host = formatHost(target.host);
      const isCovered = ({ host: allowed, isWildcard, ports }: Rule) =>
        ports.includes(target.port) && (isWildcard ? host.endsWith(`.${allowed}`) : host === allowed);
      if (!rules.some(isCovered)) return "refused";
      const isLiteral = target.host.kind === "address" || target.host.name === "localhost";
      return isLiteral ? "literally" : "allowed";
    },
  };
}

function parseRule(entry: string): Rule[] {
  const isWildcard = entry.startsWith("*.");
  const text = isWildcard ? entry.slice(2) : entry;
  const hasPort = /:\d+$/.test(text) && !text.endsWith("]");
  const target = parseTarget(text, 443);
  // A wildcard of a single label would be all of `.com`.
  if (!target || (isWildcard && (target.host.kind !== "name" || !target.host.name.includes(".")))) return [];
  return [{ host: formatHost(target.host), isWildcard, ports: hasPort ? [target.port] : webPorts }];
}
