/** Tau itself, run by a command: what lets somebody in, or changes what tools may do, is the user's alone. */
import type { ExecClass } from "../classification.ts";
import { getOperands, isInformation, type Judge, type Judges } from "../programs/invocation.ts";
import { report } from "../shell/analysis.ts";
import { origins, unknown } from "../shell/text.ts";

interface OwnCommand {
  class: ExecClass;
  reason: string;
}

/** By the first two words; a `*` is any second word or none. */
const commands: Readonly<Record<string, OwnCommand>> = {
  "gateway token": { class: "exfiltration", reason: "prints the token of the account for the gateway" },
  "gateway hook-token": { class: "exfiltration", reason: "prints the token of a webhook" },
  "gateway pair": { class: "credential_change", reason: "lets a device use the gateway" },
  "gateway revoke": { class: "credential_change", reason: "changes who may use the gateway" },
  "config set": { class: "persistence", reason: "changes tau's settings" },
  "config unset": { class: "persistence", reason: "changes tau's settings" },
  "trust *": { class: "persistence", reason: "changes which projects tau trusts" },
  "extensions trust": { class: "persistence", reason: "changes which extensions tau trusts" },
};

const tau: Judge = ({ args }, scope) => {
  if (isInformation(args)) return undefined;
  const [first = "", second = ""] = getOperands(args).map(({ text }) => text);
  const command = commands[`${first} ${second}`] ?? commands[`${first} *`];
  if (!command) return undefined;
  report(scope, "critical", command.class, `tau ${first} ${second}`.trim() + ` ${command.reason}.`);
  return command.class === "exfiltration" ? [unknown(origins.credential)] : undefined;
};

export const ownProgramRules: Judges = { tau };
