/** Programs and modes that give more rights than the user has. */
import { getZone, toCoveredPath } from "../paths.ts";
import { runCode, runStream } from "../code/run-code.ts";
import { findProgram } from "../programs/index.ts";
import { getOperands, hasArg, isInformation, type Judge, type ProgramCall, resolveAll } from "./invocation.ts";
import { parseOptions } from "./options.ts";
import { deepen, inSubshell, report, type Scope } from "../shell/analysis.ts";
import { isCredentialPath } from "../shell/files.ts";
import { emptyText, known, type Options, type Text } from "../shell/text.ts";
import { skipAssignments } from "./wrappers.ts";
import { judgeCopy } from "./files.ts";
import { findProtected, judgeWrites } from "./write.ts";

export const sudo: Judge = (call, outer) => {
  if (isInformation(call.args) || hasArg(call.args, /^-[kKl]$|^--list$/)) return;
  return inSubshell(outer, (inner) => runPrivileged(call, { ...inner, isPrivileged: true }));
};

function runPrivileged({ name, args, program }: ProgramCall, scope: Scope): Options<Text> {
  report(scope, "high", "privilege_escalation", `${name} runs with the rights of another user.`);
  const options = parseOptions(args, { ...program, stopsAtOperand: true });
  for (const directory of options.get("D", "chdir")) scope.interpreter.runCommand([known("cd"), directory], scope);
  const words = skipAssignments(options.operands, scope);
  if (options.has("e", "edit") || name === "sudoedit") {
    judgeWrites(words, scope);
    return [emptyText];
  }
  if (words.length > 0) return scope.interpreter.runCommand(words, deepen(scope));
  return options.has("s", "shell", "i", "login") ? runStream(scope.stdin, [], deepen(scope)) : [emptyText];
}

/** `su -c CODE`, `runuser -u USER -- CMD`. */
export const su: Judge = ({ name, args, program }, outer) => {
  if (isInformation(args)) return;
  const scope = { ...outer, isPrivileged: true };
  report(scope, "high", "privilege_escalation", `${name} runs with the rights of another user.`);
  const options = parseOptions(args, { ...program, stopsAtOperand: name !== "su" });
  const codes = options.get("c", "command", "session-command");
  for (const code of codes) runCode(code, [], scope);
  if (name === "su" && codes.length === 0) return runStream(scope.stdin, [], deepen(scope));
  if (options.has("u", "user") && options.operands.length > 0)
    return scope.interpreter.runCommand(options.operands, deepen(scope));
  return undefined;
};

export const chmod: Judge = ({ name, args }, scope) => {
  const options = parseOptions(args, findProgram("chmod")!);
  // A symbolic mode such as `-x` looks like an option.
  const isMode = (text: string) => /^(?:[0-7]{1,5}|[ugoa]*[-+=][rwxXstugo]*(?:,[ugoa]*[-+=][rwxXstugo]*)*)$/.test(text);
  const mode = name === "chmod" ? (args.find(({ text }) => isMode(text))?.text ?? options.operands[0]?.text ?? "") : "";
  const isSetUser = /^0*[4567][0-7]{3}$/.test(mode) || /(?:^|,)(?:[ga]*u[ugoa]*|a|)[+=][rwxX]*s/.test(mode);
  const isSetGroup = /^0*[2367][0-7]{3}$/.test(mode) || /g[ugoa]*[+=][rwxX]*s/.test(mode);
  if (isSetUser) report(scope, "critical", "privilege_escalation", "It makes a file run with the rights of its owner.");
  else if (isSetGroup)
    report(scope, "high", "privilege_escalation", "It makes a file run with the rights of its group.");
  const isOpen = /[2367]$/.test(mode) || /(?:^|,)(?:[ug]*[oa][ugoa]*|)[+=][rwxX]*w/.test(mode);
  if (isOpen) scope.analysis.harmlessUse ??= "permission_escalation";
  const isRecursive = options.has("R", "recursive");
  for (const operand of options.operands.filter(({ text }) => text !== mode)) {
    for (const path of resolveAll(operand, scope)) judgeMode(path, { isOpen, isRecursive, isOwner: name !== "chmod" });
  }
  function judgeMode(path: string, change: { isOpen: boolean; isRecursive: boolean; isOwner: boolean }): void {
    const { context } = scope.analysis;
    const covered = toCoveredPath(path);
    const zone = getZone(covered, context);
    const what = `It changes who may use ${path}`;
    const found = findProtected(covered, context);
    if (zone === "root" || (zone === "home" && (change.isRecursive || change.isOpen)))
      report(scope, "critical", "privilege_escalation", `${what}.`);
    else if (found && change.isOpen)
      report(scope, found.tier === "critical" ? "critical" : "high", "privilege_escalation", `${what}.`);
    else if (found?.emptyTier && /[1357]|\+[rwst]*x/.test(mode))
      report(scope, "high", "persistence", `It makes ${path} run by itself.`);
    else if (zone === "system") report(scope, "high", "privilege_escalation", `${what}.`);
    else if (change.isOpen && isCredentialPath(covered, context))
      report(scope, "high", "privilege_escalation", `${what}.`);
    else if (zone === "outside" || (change.isOpen && change.isRecursive))
      report(scope, "medium", "privilege_escalation", `${what}.`, { path });
  }
};

export const chown: Judge = (invocation, scope) => {
  const [owner] = getOperands(invocation.args);
  if (owner && /^(?:root|0)(?::|$)/.test(owner.text))
    report(scope, "high", "privilege_escalation", "It gives a file to root.");
  return chmod({ ...invocation, args: invocation.args.filter((arg) => arg !== owner) }, scope);
};

/** `install -m 4755 FILE TARGET` copies and sets a mode. */
export const installFiles: Judge = (call, scope) => {
  const options = parseOptions(call.args, call.program);
  const [mode] = options.get("m", "mode");
  if (mode) chmod({ ...call, name: "chmod", args: [mode] }, scope);
  if (options.has("d", "directory")) {
    judgeWrites(options.operands, scope, { isEmpty: true });
    return;
  }
  const [directory] = options.get("t", "target-directory");
  const target = directory ?? options.operands.at(-1);
  const sources = directory ? options.operands : options.operands.slice(0, -1);
  if (target && sources.length > 0) judgeCopy(sources, target, scope);
};

export const groups: Judge = ({ name, args }, scope) => {
  if (isInformation(args)) return;
  const texts = args.map(({ text }) => text);
  const isGroup = (text: string) =>
    /^(?:--\w+=)?(?:\w+,)*(?:sudo|wheel|admin|root|docker|lxd|disk|adm|shadow)(?:,|$)/.test(text);
  const isAdministrator = texts.some((text, index) => {
    const isNamedGroup =
      /^-\w*[gG]$|^--(?:groups|gid)$/.test(texts[index - 1] ?? "") || /^--(?:groups|gid)=/.test(text);
    return isGroup(text) && (isNamedGroup || (index > 0 && /^(?:gpasswd|adduser|addgroup|groupmod)$/.test(name)));
  });
  const isRoot = texts.some((text, index) => /^-\w*o?u$/.test(text) && texts[index + 1] === "0");
  if (isAdministrator || isRoot) {
    report(scope, "critical", "privilege_escalation", `${name} gives a user the rights of an administrator.`);
  } else report(scope, "critical", "credential_change", `${name} changes the users of the machine.`);
};

export const capsh: Judge = ({ args }, scope) => {
  if (hasArg(args, /^--(?:print|decode.*|help)$/)) return;
  report(scope, "high", "privilege_escalation", "capsh changes capabilities.");
  const index = args.findIndex(({ text }) => text === "--");
  if (index >= 0) return scope.interpreter.runCommand([known("bash"), ...args.slice(index + 1)], deepen(scope));
  return undefined;
};
