/** Rules that say nothing themselves: what a call does is in the record of the program. */
import type { ExecClass, ExecFinding } from "../classification.ts";
import { judgeOrigin } from "../code/run-code.ts";
import type { Condition, Effect } from "../programs/program.ts";
import { report, type Scope } from "../shell/analysis.ts";
import { hasOrigin, type Options, origins, type Text, unknown } from "../shell/text.ts";
import { getOperands, hasArg, type Invocation, isInformation, type Judge } from "./invocation.ts";
import { judgePublished } from "./network.ts";
import { parseOptions } from "./options.ts";

const join = (args: readonly Text[]) => args.map(({ text }) => text).join(" ");
/** Blanks inside of an argument do not end a word. */
const innerBlank = "\0";
const joinWords = (args: readonly Text[]) => args.map(({ text }) => text.replaceAll(" ", innerBlank)).join(" ");

export const judgeEffects: Judge = ({ name, args, program }, scope) => {
  const isHelp = isInformation(args);
  const operands = program.options === undefined ? args : parseOptions(args, program).operands;
  const words = joinWords(getOperands(operands));
  const line = joinWords(args);
  for (const effect of program.effects ?? [program as Effect]) {
    if (isHelp && !effect.always) continue;
    const match = (effect.words ?? /^/).exec(words);
    if (!match || !fits(effect, args, line)) continue;
    const [tier, kind] = effect.does.split(" ") as [ExecFinding["tier"], ExecClass];
    const values: Record<string, string | undefined> = { n: name, c: words.split(" ", 2).join(" "), 1: match[1] };
    const reason = effect.says.replace(
      /\$([nc1])/g,
      (_, key: string) => values[key]?.replaceAll(innerBlank, " ") ?? "",
    );
    report(scope, tier, kind, reason, effect.as && { dangerousCommandClass: effect.as });
    if (!effect.also) return effect.yields && [unknown(origins[effect.yields])];
  }
  return undefined;
};

/** Whether the conditions are true. `whole`: all arguments, joined. */
export const fits = (
  { min = 0, line, arg, unless }: Condition,
  args: readonly Text[],
  whole = joinWords(args),
): boolean =>
  args.length >= min &&
  (!line || line.test(whole)) &&
  (!arg || hasArg(args, arg)) &&
  (!unless || !hasArg(args, unless));

/** Calls that print secrets. */
export const judgeSecrets: Judge = ({ name, args, program }, scope) => {
  if (isInformation(args) || hasArg(args, /^--?(?:help|version)$/)) return undefined;
  const words = join(getOperands(args));
  const call = program.secrets!.find(
    (row) => (row.words?.test(words) ?? true) && (!row.option || args.some(({ text }) => row.option!.test(text))),
  );
  if (!call) return undefined;
  report(scope, call.tier ?? "high", "exfiltration", `${name} prints secrets: ${words.slice(0, 80)}.`);
  return [unknown(call.tier ? origins.secret : origins.credential)];
};

/** `docker-credential-desktop get` and the like hand out a stored login. */
export const isCredentialHelper = (name: string): boolean => /^(?:docker|git)-credential-[\w-]+$/.test(name);

export function readHelper({ name, args: [verb] }: Invocation, scope: Scope): Options<Text> | undefined {
  if (!/^(?:get|list|fill)$/.test(verb?.text ?? "")) return undefined;
  report(scope, "high", "exfiltration", `${name} hands out stored logins.`);
  return [unknown(origins.credential)];
}

/** Calls that change what others install. Most build tools can do that, each by a word of its own. */
export const judgePublishing: Judge = ({ name, args, program: { publishes } }, scope) => {
  const isTrial = /^(?:-n|--?(?:dry-?run|help|version|snapshot|list|check|info|skip-publish)(?:=.*)?)$/i;
  if (hasArg(args, isTrial)) return;
  const words = join(args.filter(({ text }) => !text.startsWith("-")));
  const call = publishes === "always" ? "" : publishes!.exec(words)?.[0].trim();
  if (call !== undefined)
    report(scope, "high", "exfiltration", `${`${name} ${call}`.trim()} changes what others install.`);
};

/** Calls that send the directory to a service. */
export const judgeDeployment: Judge = ({ name, args, program }, scope) => {
  const verb = args.find(({ text }) => text === "--prod" || !text.startsWith("-"));
  if (!verb || !program.deploys!.test(verb.text) || args.some(({ text }) => text === "--dry-run" || text === "-n"))
    return;
  report(scope, "high", "exfiltration", `${name} ${verb.text} publishes data.`);
  judgePublished(scope, `with ${name}`);
};

/** Options of package managers before the verb whose value is the next word. */
const takesValue = /^(?:-[octRCD]|--(?:option|config-file|target-release|root|installroot|repo|repository|config))$/;

/** Package managers of the machine: what they install or remove concerns every user and project. */
export const judgeMachinePackages: Judge = ({ name, args, program }, scope) => {
  const { verb, option, harmless } = program.changesMachine!;
  // An approval of `sudo apt-get install` includes what it installs.
  if (scope.isPrivileged || isInformation(args) || args.some(({ text }) => harmless?.test(text))) return;
  const first = args.find(
    ({ text }, index) => !text.startsWith("-") && !takesValue.test(args[index - 1]?.text ?? ""),
  )?.text;
  const changes = (first !== undefined && verb?.test(first)) || args.some(({ text }) => option?.test(text));
  if (changes) report(scope, "medium", "persistence", `${name} changes the programs of the machine.`);
};

/** Programs that run commands of their standard input, always or if an argument says so. */
export const judgeStdinCode: Judge = ({ args, program }, scope) => {
  if (!program.stdinCode!.test(join(args))) return;
  for (const code of scope.stdin) if (hasOrigin(code, origins.network)) judgeOrigin(code, scope);
};
