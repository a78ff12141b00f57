/** Programs that compute coins for others with this machine. */
import { type Invocation, resolveAll } from "../programs/invocation.ts";
import { report, type Scope } from "../shell/analysis.ts";

const miners =
  /^(?:xmrig[\w-]*|xmr-stak[\w-]*|minerd|cpuminer[\w-]*|ccminer|cgminer|bfgminer|ethminer|nbminer|lolminer|t-rex|phoenixminer|teamredminer|gminer|nanominer|srbminer[\w-]*|wildrig[\w-]*|nheqminer|minergate[\w-]*|claymore\w*|p2pool)$/i;
const minerImage = /^(?:[\w.-]+\/)*(?:xmrig|cpuminer|minerd|xmr-stak)[\w-]*(?::[\w.-]+)?$/i;
const pool = /(?:^|[^\w])stratum\d?\+(?:tcp|ssl|tls|udp|ws|wss)\d?:\/\//i;
/** The address as an argument, or as the value of an option. Elsewhere in an argument it is text. */
const poolArgument = /^(?:-{0,2}[\w-]+=|-\w)?stratum\d?\+\w+:\/\//i;

/** They show, store or search text. */
const handlesText =
  /^(?:[a-z]*grep|rg|ag|ack|echo|printf|cat|tee|less|more|bat|head|tail|git|gh|sed|awk|jq|yq|man|find|fd|ls|test|\[|diff|vi|vim|nvim|nano|export|declare)$/;

/** Whether a text names a pool that miners work for. */
export const isPoolAddress = (text: string): boolean => pool.test(text);

/** Reports a miner, by its name, the address of its pool, or the configuration that the script wrote for it. */
export function judgeMiner({ name, args }: Invocation, scope: Scope): void {
  const isContainer = /^(?:docker|podman|nerdctl)$/.test(name) && args.some(({ text }) => minerImage.test(text));
  if (miners.test(name) || isContainer) reportMiner(name, scope);
  else if (!handlesText.test(name) && args.some(({ text }) => poolArgument.test(text))) reportMiner(name, scope);
  else if (name.length > 0 && !handlesText.test(name) && readsPool(args, scope)) reportMiner(name, scope);
}

const readsPool = (args: Invocation["args"], scope: Scope) =>
  scope.state.files.size > 0 &&
  args.some((arg) =>
    resolveAll(arg, scope).some((path) => scope.state.files.get(path)?.some(({ text }) => pool.test(text))),
  );

const reportMiner = (name: string, scope: Scope) =>
  report(scope, "high", "exfiltration", `${name} gives the computing power of this machine to others.`);
