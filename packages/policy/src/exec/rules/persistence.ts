/** Things that run again later, without anybody asking. */
import { runCode } from "../code/run-code.ts";
import { getOperands, hasArg, isInformation, type Judge, resolveAll } from "./invocation.ts";
import { parseOptions } from "./options.ts";
import { report } from "../shell/analysis.ts";
import { known } from "../shell/text.ts";
import { judgeCopy } from "./copy.ts";
import { addLink } from "./links.ts";
import { judgeWrite, judgeWrites } from "./write.ts";

export const at: Judge = ({ name, args }, scope) => {
  if (isInformation(args) || hasArg(args, /^-(?:l|V|c)$/)) return;
  report(scope, "high", "persistence", `${name} runs commands later.`);
  for (const code of scope.stdin) if (code.text !== "") runCode(code, [], scope);
};

export const link: Judge = ({ args, program }, scope) => {
  const options = parseOptions(args, program);
  const [directory] = options.get("t", "target-directory");
  // `ln FILE` makes the link here.
  const target = directory ?? (options.operands.length > 1 ? options.operands.at(-1)! : known("."));
  const sources = directory || options.operands.length < 2 ? options.operands : options.operands.slice(0, -1);
  judgeCopy(sources, target, scope);
  const isSymbolic = options.has("s", "symbolic");
  for (const source of sources) if (!programPath.test(source.text)) addLink({ source, target, isSymbolic }, scope);
};

/** A link to a program is that program under another name, which `judgeCopy` remembers. */
const programPath = /\/s?bin\/[^/]+$/;

/** Settings of programs have directories too; only those from which programs start by themselves count. */
const isHarmlessDirectory = (path: string) =>
  path.includes("/.vscode") ||
  /\/\.config(?:\/(?!systemd|autostart|environment\.d|plasma-workspace|upstart)|$)/.test(path);

export const mkdir: Judge = ({ args }, scope) => {
  for (const operand of getOperands(args)) {
    for (const path of resolveAll(operand, scope))
      if (!isHarmlessDirectory(path)) judgeWrite(`${path}/x`, scope, { isGuess: true, isEmpty: true });
  }
};

/** `stow` links files of a directory into another one, by default the one above. */
export const stow: Judge = ({ args, program }, scope) => {
  const options = parseOptions(args, program);
  if (options.has("n", "no", "simulate")) return;
  const targets = options.get("t", "target");
  judgeWrites(targets.length > 0 ? targets : [known("..")], scope);
};
