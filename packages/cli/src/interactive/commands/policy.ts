import { permissionModeTexts, type PolicyData, type SandboxData } from "@tau/protocol";
import { toPlainLine } from "@tau/tui";
import { formatRows } from "../format-rows.ts";
import type { Interface } from "../interface.ts";

export async function showPolicy(ui: Interface): Promise<void> {
  ui.say(describePolicy(await ui.client.execute({ type: "get_policy" }), ui.columns));
}

const unnamed = { strict: "denied", prompt: "asked about", permissive: "allowed" } as const;
const scopes = { project: "in this project", always: "everywhere" } as const;

/** Pure. */
export function describePolicy(policy: PolicyData, columns: number): string {
  const { profile, profiles, permissions, mode, exec, sandbox, rules } = policy;
  const rows: [string, string][] = [
    ["Permissions", `${permissions.mode}: ${permissionModeTexts[permissions.mode]} (/permissions)`],
    ...(permissions.note === undefined ? [] : [["", permissions.note] as [string, string]]),
    ["Profile", `${profile} (--policy, or the setting policy.profile)`],
    ...profiles.map(({ name, description }): [string, string] => ["", `${name}: ${description}`]),
    ["Commands", describeTiers(exec.denyThreshold)],
    ...exec.denyPatterns.map((pattern): [string, string] => ["", `denied: ${pattern}`]),
    ...exec.allowPatterns.map((pattern): [string, string] => ["", `allowed: ${pattern}`]),
    ["Extensions", `what no list of the policy names is ${unnamed[mode]}`],
    ["Sandbox", describeSandbox(sandbox)],
    ...rules.map(({ rule, scope }, index): [string, string] => [
      index === 0 ? "Remembered" : "",
      `${rule} (${scopes[scope]})`,
    ]),
    ...(rules.length === 0 ? [["Remembered", "nothing is allowed for longer than a session"] as [string, string]] : []),
  ];
  const lines = rows.map(([name, text]): [string, string] => [name, toPlainLine(text)]);
  return [...formatRows(lines, columns), "", hint].join("\n");
}

const hint =
  "In a shell, tau policy explain shows every part and where it is set, and tau policy rules remove takes back what is remembered.";

function describeTiers(denyThreshold: PolicyData["exec"]["denyThreshold"]): string {
  switch (denyThreshold) {
    case "critical":
      return "destructive ones are denied, dangerous ones are asked about";
    case "high":
      return "destructive and dangerous ones are denied";
    case "medium":
    case "low":
      return "all that are not harmless are denied";
  }
}

function describeSandbox({ mode, state, reason = "", fix = "" }: SandboxData): string {
  switch (state) {
    case "off":
      return "off, so commands can do whatever you can (sandbox.mode)";
    case "works":
    case "untried":
      return `${mode}: commands run in it`;
    case "unavailable": {
      const effect =
        mode === "required" ? "commands are refused, because it does not work here" : "commands run without it";
      return `${mode}, but ${effect}. ${reason} ${fix}`.trimEnd();
    }
  }
}
