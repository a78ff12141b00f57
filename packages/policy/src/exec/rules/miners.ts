/** Programs that compute coins for others with this machine. */
import { isProgram } from "../programs/index.ts";
import { type Invocation, hasArg, resolveAll } from "./invocation.ts";
import { report, type Scope } from "../shell/analysis.ts";

const miners =
  /^(?:xmrig[\w-]*|xmr-stak[\w-]*|minerd|cpuminer[\w-]*|ccminer|cgminer|bfgminer|ethminer|nbminer|lolminer|t-rex|phoenixminer|teamredminer|gminer|nanominer|srbminer[\w-]*|wildrig[\w-]*|nheqminer|minergate[\w-]*|claymore\w*|p2pool)$/i;
const minerImage = /^(?:[\w.-]+\/)*(?:xmrig|cpuminer|minerd|xmr-stak)[\w-]*(?::[\w.-]+)?$/i;
const pool = /(?:^|[^\w])stratum\d?\+(?:tcp|ssl|tls|udp|ws|wss)\d?:\/\//i;
/** The address as an argument, or as the value of an option. Elsewhere in an argument it is text. */
const poolArgument = /^(?:-{0,2}[\w-]+=|-\w)?stratum\d?\+\w+:\/\//i;

/** Whether a text names a pool that miners work for. */
export const isPoolAddress = (text: string): boolean => pool.test(text);

/** Reports a miner, by its name, the address of its pool, or the configuration that the script wrote for it. */
export function judgeMiner({ name, args }: Invocation, scope: Scope): void {
  const isContainer = /^(?:docker|podman|nerdctl)$/.test(name) && hasArg(args, minerImage);
  if (miners.test(name) || isContainer) reportMiner(name, scope);
  else if (!isProgram(name, "showsText") && hasArg(args, poolArgument)) reportMiner(name, scope);
  else if (name.length > 0 && !isProgram(name, "showsText") && readsPool(args, scope)) reportMiner(name, scope);
}

const readsPool = (args: Invocation["args"], scope: Scope) =>
  scope.state.files.size > 0 &&
  args.some((arg) =>
    resolveAll(arg, scope).some((path) => scope.state.files.get(path)?.some(({ text }) => pool.test(text))),
  );

const reportMiner = (name: string, scope: Scope) =>
  report(scope, "high", "exfiltration", `${name} gives the computing power of this machine to others.`);
