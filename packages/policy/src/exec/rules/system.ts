/** Ending processes of others, and running commands later. */
import { runCode } from "../code/run-code.ts";
import { hasArg, isInformation, type Judge } from "./invocation.ts";
import { parseOptions } from "./options.ts";
import { report } from "../shell/analysis.ts";
import { hasPattern } from "../shell/pattern.ts";
import { isKnown, joinOrigins, origins, unknownMark } from "../shell/text.ts";

export const kill: Judge = ({ args }, scope) => {
  const texts = args.map(({ text }) => text);
  if (
    texts.length === 0 ||
    (texts.length === 1 && /^-\w/.test(texts[0]!) && !/^-0*1$/.test(texts[0]!)) ||
    /^-(?:l|L|-list|-table)/.test(texts[0]!)
  )
    return;
  const { signal, targets } = parseKill(texts);
  if (signal === "0" || /^(?:EXIT)$/i.test(signal)) return;
  const origin = joinOrigins(args);
  if (targets.some((target) => /^0*1$/.test(target)))
    report(scope, "critical", "shutdown", "It ends the first process of the machine.", {
      dangerousCommandClass: "process_termination",
    });
  if (targets.some((target) => /^-0*1$/.test(target)))
    report(scope, "critical", "process_kill", "It ends every process of the user.");
  else if (targets.some(hasPattern))
    report(scope, "critical", "process_kill", "It ends all processes whose numbers match a pattern.");
  else if (
    isRange(targets) ||
    ((origin & origins.counter) !== 0 && targets.some((target) => target.startsWith(unknownMark)))
  )
    report(scope, "critical", "process_kill", "It ends all processes whose numbers are in a range.");
  else if ((origin & origins.processes) !== 0 && targets.some((target) => !isKnown(target)))
    report(scope, "critical", "process_kill", "It ends all processes that are listed.");
  else if ((origin & origins.parent) !== 0)
    report(scope, "high", "process_kill", "It ends the program that runs this command.");
  else if (targets.some((target) => /^-\d/.test(target) && !/^-0*1$/.test(target)))
    report(scope, "medium", "process_kill", "It ends a group of processes.");
};

/** Numbers that follow each other belong to processes that nobody has chosen. */
const isRange = (targets: readonly string[]) =>
  targets.length >= minRange &&
  targets.every((target, index) => index === 0 || Math.abs(Number(target) - Number(targets[index - 1])) === 1);
const minRange = 8;

/** `kill -9 PID`, `kill -s KILL PID`, `kill -n 9 PID`, `kill -- -1`. */
function parseKill(texts: readonly string[]): { signal: string; targets: readonly string[] } {
  const [first = ""] = texts;
  if (/^(?:-s|-n|--signal)$/.test(first))
    return { signal: texts[1] ?? "", targets: texts.slice(2).filter((text) => text !== "--") };
  if (first.startsWith("--signal=")) return { signal: first.slice(9), targets: texts.slice(1) };
  if (first === "--") return { signal: "TERM", targets: texts.slice(1) };
  if (first.startsWith("-") && texts.length > 1)
    return { signal: first.slice(1), targets: texts.slice(1).filter((text) => text !== "--") };
  return { signal: "TERM", targets: texts };
}

/** Patterns that match the name of any process. */
export const matchesAll = /^(?:\.|\.\*|\.\+|\^|\$|\*|\[\S*|\^\.\*\$?|\w|\/|.{0,1}|\^?\.\S?|\(.*\)|.*\|\.\*?)$/;

export const killByName: Judge = ({ name, args, program }, scope) => {
  if (isInformation(args) || args.some(({ text }) => text === "-l" || text === "--list")) return;
  const options = parseOptions(args, program);
  const patterns = options.operands
    .map(({ text }) => text)
    .filter((text) => !/^-?(?:SIG)?(?:KILL|TERM|HUP|INT|\d+)$/.test(text));
  const isByUser = options.has("u", "U", "euid", "uid", "user");
  if (args.some(({ text }) => text === "-0")) return;
  if (options.has("v", "inverse") && name !== "killall")
    report(scope, "critical", "process_kill", "It ends every process but a few.");
  else if (patterns.some((pattern) => matchesAll.test(pattern)) && (name !== "killall" || options.has("r", "regexp")))
    report(scope, "critical", "process_kill", "The pattern matches every process.");
  else if (isByUser && patterns.length === 0) report(scope, "high", "process_kill", "It ends every process of a user.");
  else if (
    patterns.some(
      (pattern) =>
        /^(?:sshd?|systemd.*|init|Xorg|gnome-.*|kde.*|dockerd|containerd|tau|bash|sh|zsh|login|dbus.*)$/.test(
          pattern,
        ) || pattern.includes(unknownMark),
    )
  )
    report(scope, "high", "process_kill", `It ends processes of others: ${patterns.join(" ")}.`);
  else report(scope, "medium", "process_kill", `It ends processes by name: ${patterns.join(" ")}.`);
};

/** Runs its input later. */
export const at: Judge = ({ name, args }, scope) => {
  if (isInformation(args) || hasArg(args, /^-(?:l|V|c)$/)) return;
  report(scope, "high", "persistence", `${name} runs commands later.`);
  for (const code of scope.stdin) if (code.text !== "") runCode(code, [], scope);
};
