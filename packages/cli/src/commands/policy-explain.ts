import { capabilities } from "@tau/tools";
import { evaluateFor, type ExtensionPolicy, type PolicyReason } from "@tau/policy";
import { getSandboxSettings, getSessionPolicy } from "@tau/config/trust";
import type { Io } from "./command.ts";
import { UsageError } from "../process/errors.ts";
import { jsonLine } from "../modes/json-line.ts";
import { tableText } from "../process/table.ts";
import { type CommandContext, openCommandContext, reportSettingsProblems } from "./command-context.ts";
import type { CommandArgs } from "./usage.ts";

const steps: Record<PolicyReason, string> = {
  extension_deny: "policy.perExtension denies it to this extension",
  deny_caps: "policy.denyCaps denies it to every extension",
  extension_allow: "policy.perExtension allows it to this extension",
  default_caps: "policy.defaultCaps allows it to every extension",
  mode: "no list names it, so the mode decides",
};

/** The policy in effect and where each part of it comes from; or, for a capability, which step decides. */
export async function explain(args: CommandArgs, io: Io): Promise<void> {
  const context = await openCommandContext(io);
  reportSettingsProblems(context, io);
  const policy = getSessionPolicy(context.settings);
  const capability = args.value("capability");
  if (capability !== undefined) return explainCapability(args, io, { capability, policy });
  const rows = listRows(context, policy);
  if (args.has("json"))
    return io.out(jsonLine(Object.fromEntries(rows.map(({ name, value, from }) => [name, { value, from }]))));
  const cells = rows.map(({ name, value, from }) => [name, JSON.stringify(value) ?? "", from]);
  io.out(tableText([{ title: "SETTING" }, { title: "VALUE", shrinks: true }, { title: "FROM" }], cells, io));
}

function explainCapability(
  args: CommandArgs,
  io: Io,
  { capability, policy }: { capability: string; policy: ExtensionPolicy },
) {
  if (!capabilities.some((known) => known === capability))
    throw new UsageError("arguments", `${capability} is not a capability. There are: ${capabilities.join(", ")}.`);
  const check = evaluateFor(capability, args.value("extension"), policy);
  if (args.has("json")) return io.out(jsonLine(check));
  const who = args.value("extension") ?? "an extension";
  io.out(`${capability} for ${who}: ${check.decision} (${check.reason}: ${steps[check.reason]}).\n`);
}

interface Row {
  name: string;
  value: unknown;
  from: string;
}

function listRows({ settings }: CommandContext, policy: ExtensionPolicy): Row[] {
  const global = settings.getGlobal();
  const restrictions = settings.getRestrictions();
  const { execMediation, secretBroker, quota: _quota, ...rest } = policy;
  const groups = [
    { path: ["policy"], values: { profile: settings.get().policy.profile, ...rest } },
    { path: ["policy", "execMediation"], values: execMediation },
    { path: ["policy", "secretBroker"], values: secretBroker },
    { path: ["sandbox"], values: getSandboxSettings(settings) },
  ];
  return groups.flatMap(({ path, values }) =>
    Object.entries(values).map(([name, value]) => {
      const full = [...path, name === "timeoutMs" ? "timeout" : name];
      const isOwn = has(global, full);
      const from = has(restrictions, full)
        ? isOwn
          ? "you, and the project"
          : "the project"
        : isOwn
          ? "you"
          : getDefault(path, settings.get().policy.profile);
      return { name: full.join("."), value, from };
    }),
  );
}

const getDefault = ([group]: readonly string[], profile: string): string =>
  group === "policy" ? `the profile ${profile}` : "default";

const has = (values: unknown, [first, ...rest]: readonly string[]): boolean => {
  if (first === undefined) return values !== undefined && values !== null;
  return typeof values === "object" && values !== null && has((values as Record<string, unknown>)[first], rest);
};
