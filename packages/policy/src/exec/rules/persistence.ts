/** Things that run again later, without anybody asking. */
import { runCode } from "../programs/code.ts";
import { forNames, getOperands, isInformation, resolveAll, type Judge, type Judges } from "../programs/invocation.ts";
import { parseOptions } from "../programs/options.ts";
import { report } from "../shell/analysis.ts";
import { known } from "../shell/text.ts";
import { judgeCopy } from "./copy.ts";
import { addLink } from "./links.ts";
import { judgeWrite } from "./write.ts";

const crontab: Judge = ({ args }, scope) => {
  if (isInformation(args) || args.some(({ text }) => text === "-l")) return;
  report(scope, "high", "persistence", "It changes what runs at set times.");
};

const at: Judge = ({ name, args }, scope) => {
  if (isInformation(args) || args.some(({ text }) => /^-(?:l|V|c)$/.test(text))) return;
  report(scope, "high", "persistence", `${name} runs commands later.`);
  for (const code of scope.stdin) if (code.text !== "") runCode(code, [], scope);
};

const service =
  (harmless: RegExp): Judge =>
  ({ name, args }, scope) => {
    if (isInformation(args) || args.length === 0 || args.some(({ text }) => harmless.test(text))) return;
    report(scope, "high", "persistence", `${name} makes a service start by itself.`);
  };

const link: Judge = ({ args }, scope) => {
  const options = parseOptions(args, {
    short: "bdfFiLnPrsTvt:S:",
    long: "backup=? force interactive logical no-dereference physical relative symbolic no-target-directory verbose target-directory= suffix=",
  });
  const [directory] = options.get("t", "target-directory");
  // `ln FILE` makes the link here.
  const target = directory ?? (options.operands.length > 1 ? options.operands.at(-1)! : known("."));
  const sources = directory || options.operands.length < 2 ? options.operands : options.operands.slice(0, -1);
  judgeCopy(sources, target, scope);
  const isSymbolic = options.has("s", "symbolic");
  for (const source of sources) if (!isProgram.test(source.text)) addLink({ source, target, isSymbolic }, scope);
};

/** A link to a program is that program under another name, which `judgeCopy` remembers. */
const isProgram = /\/s?bin\/[^/]+$/;

/** Settings of programs have directories too; only those from which programs start by themselves count. */
const isHarmlessDirectory = (path: string) =>
  path.includes("/.vscode") ||
  /\/\.config(?:\/(?!systemd|autostart|environment\.d|plasma-workspace|upstart)|$)/.test(path);

const mkdir: Judge = ({ args }, scope) => {
  for (const operand of getOperands(args)) {
    for (const path of resolveAll(operand, scope))
      if (!isHarmlessDirectory(path)) judgeWrite(`${path}/x`, scope, { isGuess: true, isEmpty: true });
  }
};

/** Editors and settings that load code at the next start. */
const extension: Judge = ({ name, args }, scope) => {
  if (args[0]?.text === "tunnel") report(scope, "high", "reverse_shell", `${name} makes this machine reachable.`);
  if (args.some(({ text }) => /^--(?:install-extension|add-mcp)/.test(text)))
    report(scope, "medium", "persistence", `${name} installs an extension.`);
};

const settings: Judge = ({ name, args }, scope) => {
  if (args.some(({ text }) => /^(?:write|set|import|load|default|reset|--install|--set|--config|install)$/.test(text)))
    report(scope, "medium", "persistence", `${name} changes settings of the desktop or the system.`);
};

/** Programs that write hooks into a repository, so that git runs them. */
const hookInstaller: Judge = ({ name, args }, scope) => {
  const [verb] = getOperands(args);
  // `husky` without a word and `husky DIR` install too.
  const installs =
    name === "husky" ? !isInformation(args) : /^(?:install|init|add|init-templatedir)$/.test(verb?.text ?? "");
  if (installs || name === "simple-git-hooks") report(scope, "medium", "persistence", `${name} installs hooks of git.`);
};

/** `stow` links files of a directory into another one, by default the one above. */
const stow: Judge = ({ args }, scope) => {
  const options = parseOptions(args, {
    short: "d:t:SDRnv",
    long: "dir= target= stow delete restow adopt no simulate verbose=? ignore= defer= override= dotfiles",
  });
  if (options.has("n", "no", "simulate")) return;
  const targets = options.get("t", "target");
  for (const target of targets.length > 0 ? targets : [known("..")])
    for (const path of resolveAll(target, scope)) judgeWrite(path, scope);
};

const processManager: Judge = ({ name, args }, scope) => {
  if (args.some(({ text }) => /^(?:startup|save|enable|service)$/.test(text)))
    report(scope, "high", "persistence", `${name} makes programs start by themselves.`);
};

export const persistenceRules: Judges = {
  ...forNames("crontab incrontab fcrontab", crontab),
  ...forNames("at batch", at),
  ...forNames("launchctl", service(/^(?:list|print|blame|getenv|print-disabled|help|version)$/)),
  ...forNames("update-rc.d chkconfig rc-update sysv-rc-conf", service(/^(?:--list|show|-l)$/)),
  ...forNames("service rc-service initctl", ({ name, args }, scope) => {
    if (args.length > 1 && !args.some(({ text }) => /^(?:status|--status-all|list)$/.test(text)))
      report(scope, "medium", "persistence", `${name} changes a service.`);
  }),
  ...forNames(
    "update-alternatives alternatives dpkg-divert debconf-set-selections",
    service(/^--(?:display|list|query|get-selections|config-help)$/),
  ),
  ...forNames("ln gln link", link),
  ...forNames("mkdir", mkdir),
  ...forNames("code codium cursor windsurf code-insiders", extension),
  ...forNames("gsettings dconf defaults xdg-mime xdg-settings kwriteconfig5 plutil PlistBuddy", settings),
  ...forNames("pm2 supervisorctl forever", processManager),
  ...forNames("husky pre-commit lefthook overcommit simple-git-hooks", hookInstaller),
  stow,
};
