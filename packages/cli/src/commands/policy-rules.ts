import { systemIds } from "@tau/ai";
import { formatRule, listRules, type RememberedRule, removeRule } from "@tau/policy";
import { getAgentDir } from "../hosting/agent-dir.ts";
import type { Io } from "./command.ts";
import { UsageError } from "../process/errors.ts";
import { jsonLine } from "../modes/json-line.ts";
import { tableText } from "../process/table.ts";
import type { CommandArgs } from "./usage.ts";

/** Shows what the user allowed for longer than a session, or takes it back. */
export async function manageRules(args: CommandArgs, io: Io): Promise<void> {
  const [action = "list", ...numbers] = args.positionals;
  const options = { agentDir: getAgentDir(io), cwd: io.cwd, ids: systemIds };
  const rules = await listRules(options);
  if (action === "list" && numbers.length === 0) return showRules(rules, args, io);
  if (action !== "remove" || numbers.length === 0)
    throw new UsageError("arguments", "Use: tau policy rules list, or tau policy rules remove NUMBER...");
  for (const rule of numbers.map((number) => pickRule(rules, number))) {
    await removeRule(rule, options);
    io.out(`Removed: ${formatRule(rule)}\n`);
  }
}

function pickRule(rules: readonly RememberedRule[], number: string): RememberedRule {
  const rule = /^\d+$/.test(number) ? rules[Number(number) - 1] : undefined;
  if (!rule) throw new UsageError("arguments", `There is no rule ${number}. See them with: tau policy rules list`);
  return rule;
}

function showRules(rules: readonly RememberedRule[], args: CommandArgs, io: Io): void {
  if (args.has("json")) return io.out(rules.map((rule) => jsonLine(rule)).join(""));
  if (rules.length === 0) return io.out("Nothing is allowed for longer than a session.\n");
  const rows = rules.map((rule, index) => [String(index + 1), formatRule(rule), rule.project ?? "everywhere"]);
  io.out(tableText([{ title: "NUMBER" }, { title: "RULE", shrinks: true }, { title: "WHERE" }], rows, io));
}
