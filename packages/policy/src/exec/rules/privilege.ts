/** Programs and modes that give more rights than the user has. */
import { getZone, toCoveredPath } from "../paths.ts";
import { runCode, runStream } from "../programs/code.ts";
import { forNames, getOperands, isInformation, resolveAll, type Judge, type Judges } from "../programs/invocation.ts";
import { parseOptions } from "../programs/options.ts";
import { deepen, inSubshell, report, type Scope } from "../shell/analysis.ts";
import { isCredentialPath } from "../shell/files.ts";
import { emptyText, known, type Options, type Text } from "../shell/text.ts";
import { runWrapped, skipAssignments } from "../programs/wrappers.ts";
import { judgeCopy } from "./copy.ts";
import { findProtected, judgeWrite } from "./write.ts";

const sudo: Judge = ({ name, args }, outer) => {
  if (isInformation(args) || args.some(({ text }) => /^-[kKl]$|^--list$/.test(text))) return;
  return inSubshell(outer, (inner) => runPrivileged(name, args, { ...inner, isPrivileged: true }));
};

function runPrivileged(name: string, args: readonly Text[], scope: Scope): Options<Text> {
  report(scope, "high", "privilege_escalation", `${name} runs with the rights of another user.`);
  const options = parseOptions(args, {
    short: "AbBC:D:Eeg:HhiKklNnp:PR:r:SsT:t:U:u:Vv",
    long: "askpass background bell close-from= chdir= preserve-env=? edit group= set-home host= login remove-timestamp reset-timestamp list non-interactive preserve-groups prompt= chroot= role= stdin shell type= command-timeout= other-user= user= validate",
    stopsAtOperand: true,
  });
  for (const directory of options.get("D", "chdir")) scope.interpreter.runCommand([known("cd"), directory], scope);
  const words = skipAssignments(options.operands, scope);
  if (options.has("e", "edit") || name === "sudoedit") {
    for (const word of words) for (const path of resolveAll(word, scope)) judgeWrite(path, scope);
    return [emptyText];
  }
  if (words.length > 0) return scope.interpreter.runCommand(words, deepen(scope));
  return options.has("s", "shell", "i", "login") ? runStream(scope.stdin, [], deepen(scope)) : [emptyText];
}

/** `su -c CODE`, `runuser -u USER -- CMD`. */
const su: Judge = ({ name, args }, outer) => {
  if (isInformation(args)) return;
  const scope = { ...outer, isPrivileged: true };
  report(scope, "high", "privilege_escalation", `${name} runs with the rights of another user.`);
  const options = parseOptions(args, {
    short: "c:g:G:lmps:u:w:fP",
    long: "command= group= supp-group= login preserve-environment shell= session-command= user= whitelist-environment= fast pty",
    stopsAtOperand: name !== "su",
  });
  const codes = options.get("c", "command", "session-command");
  for (const code of codes) runCode(code, [], scope);
  if (name === "su" && codes.length === 0) return runStream(scope.stdin, [], deepen(scope));
  if (options.has("u", "user") && options.operands.length > 0)
    return scope.interpreter.runCommand(options.operands, deepen(scope));
  return undefined;
};

/** Wrappers that also enter other rights or another root. */
const enter =
  (tier: "critical" | "high", reason: string, rights: Pick<Scope, "isPrivileged"> = {}): Judge =>
  (invocation, outer) => {
    if (isInformation(invocation.args)) return;
    const scope = { ...outer, ...rights };
    const isInit =
      invocation.name === "nsenter" &&
      invocation.args.some(
        ({ text }, index) =>
          /^(?:-t1|--target=1)$/.test(text) ||
          (/^(?:-t|--target)$/.test(text) && invocation.args[index + 1]?.text === "1"),
      );
    report(scope, isInit ? "critical" : tier, "privilege_escalation", `${invocation.name} ${reason}.`);
    return runWrapped(invocation, scope);
  };

const chmod: Judge = ({ name, args }, scope) => {
  const options = parseOptions(args, {
    short: "Rcfvh",
    long: "recursive changes silent quiet verbose reference= preserve-root no-preserve-root",
  });
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

const chown: Judge = (invocation, scope) => {
  const [owner] = getOperands(invocation.args);
  if (owner && /^(?:root|0)(?::|$)/.test(owner.text))
    report(scope, "high", "privilege_escalation", "It gives a file to root.");
  return chmod({ ...invocation, args: invocation.args.filter((arg) => arg !== owner) }, scope);
};

/** `install -m 4755 FILE TARGET` copies and sets a mode. */
const install: Judge = ({ args, words }, scope) => {
  const options = parseOptions(args, {
    short: "bcCdDg:m:o:pst:TvS:Z",
    long: "mode= owner= group= target-directory= directory backup=? compare preserve-timestamps strip suffix= no-target-directory verbose",
  });
  const [mode] = options.get("m", "mode");
  if (mode) chmod({ name: "chmod", words, args: [mode] }, scope);
  if (options.has("d", "directory")) {
    for (const directory of options.operands)
      for (const path of resolveAll(directory, scope)) judgeWrite(path, scope, { isEmpty: true });
    return;
  }
  const [directory] = options.get("t", "target-directory");
  const target = directory ?? options.operands.at(-1);
  const sources = directory ? options.operands : options.operands.slice(0, -1);
  if (target && sources.length > 0) judgeCopy(sources, target, scope);
};

const mount: Judge = ({ name, args }, scope) => {
  if (isInformation(args) || args.every(({ text }) => /^-[lv]+$/.test(text))) return;
  const isRemount = args.some(({ text }) => /remount/.test(text));
  report(scope, isRemount ? "critical" : "high", "privilege_escalation", `${name} changes what is mounted.`);
};

const groups: Judge = ({ name, args }, scope) => {
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

const always =
  (tier: "critical" | "high" | "medium", reason: string): Judge =>
  ({ name, args }, scope) => {
    if (!isInformation(args)) report(scope, tier, "privilege_escalation", `${name} ${reason}.`);
  };

const sysctl: Judge = ({ args }, scope) => {
  if (args.some(({ text }) => /^(?:-w|--write|-p|--load.*|--system)$/.test(text) || /^[\w./-]+=/.test(text))) {
    report(scope, "high", "privilege_escalation", "sysctl changes the kernel.");
  }
};

const capsh: Judge = ({ args }, scope) => {
  if (args.some(({ text }) => /^--(?:print|decode.*|help)$/.test(text))) return;
  report(scope, "high", "privilege_escalation", "capsh changes capabilities.");
  const index = args.findIndex(({ text }) => text === "--");
  if (index >= 0) return scope.interpreter.runCommand([known("bash"), ...args.slice(index + 1)], deepen(scope));
  return undefined;
};

export const privilegeRules: Judges = {
  ...forNames("sudo sudoedit", sudo),
  ...forNames("su runuser sg", su),
  ...forNames(
    "doas pkexec run0 dzdo gosu su-exec setpriv",
    enter("high", "runs with the rights of another user", { isPrivileged: true }),
  ),
  ...forNames("nsenter unshare chroot", enter("high", "enters other namespaces or another root directory")),
  ...forNames("chmod gchmod", chmod),
  ...forNames("chown chgrp gchown", chown),
  ...forNames("install ginstall", install),
  ...forNames("mount umount losetup pivot_root swapon swapoff fusermount", mount),
  ...forNames(
    "usermod useradd userdel groupadd groupdel groupmod gpasswd adduser deluser addgroup delgroup newusers",
    groups,
  ),
  ...forNames(
    "setcap visudo insmod modprobe rmmod kmod kexec setenforce mknod aa-disable aa-teardown aa-complain",
    always("critical", "changes what programs or the kernel may do"),
  ),
  ...forNames(
    "iptables ip6tables nft ufw firewall-cmd ebtables setfacl chattr xhost newgrp systemd-nspawn machinectl semanage auditctl bpftool debugfs",
    always("high", "changes the protection of the machine"),
  ),
  ...forNames("gdb lldb bpftrace", ({ name, args }, scope) => {
    if (args.some(({ text }) => /^-(?:p|-pid)/.test(text)))
      report(scope, "medium", "privilege_escalation", `${name} changes another process.`);
    return undefined;
  }),
  sysctl,
  capsh,
};
