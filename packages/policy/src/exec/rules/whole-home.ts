/** Programs that read or pack all files below a directory: in the home directory, credentials are among them. */
import { mayHoldCredentials } from "@tau/sandbox/internal";
import { isBelow } from "../paths.ts";
import { isOwnDirectory, reportOwnSecrets } from "../shell/files.ts";
import { forNames, getOperands, resolveAll, type Judge, type Judges } from "../programs/invocation.ts";
import { parseOptions } from "../programs/options.ts";
import { report, type Scope } from "../shell/analysis.ts";
import { known, origins, unknown, type Options, type Text } from "../shell/text.ts";

/** The sandbox hides credentials, so it holds such a command. */
export function judgeRoots(name: string, roots: readonly Text[], scope: Scope): Options<Text> | undefined {
  const { home, workspace } = scope.analysis.context;
  const paths = roots.flatMap((root) => resolveAll(root, scope));
  const own = paths.find((path) => isOwnDirectory(path, scope.analysis.context));
  if (own !== undefined) {
    reportOwnSecrets(own, scope);
    return [unknown(origins.credential | origins.file)];
  }
  const whole = paths
    // If such a directory is the workspace, reading all of it is ordinary work.
    .find(
      (path) =>
        path !== workspace &&
        (path === home || isBelow(home, path) || mayHoldCredentials(path, scope.analysis.context)),
    );
  if (whole === undefined) return undefined;
  report(scope, "medium", "exfiltration", `${name} reads all files below ${whole}, also stored credentials.`);
  return [unknown(origins.secret | origins.file)];
}

const hasFlag = (args: readonly Text[], flag: RegExp) => args.some(({ text }) => flag.test(text));

const grep: Judge = ({ name, args }, scope) =>
  name === "rgrep" || hasFlag(args, /^(?:-[a-zA-Z]*[rR]|--(?:dereference-)?recursive$|--directories=recurse$|recurse$)/)
    ? judgeRoots(name, getOperands(args), scope)
    : undefined;

/** Without a directory they search the current one. */
const search: Judge = ({ name, args }, scope) => {
  const { operands } = parseOptions(args, {
    short: "e:f:g:t:T:A:B:C:m:d:j:E:M:r:G:p:inlLcvwxFPSUuzoqHaIshN0",
    long: "regexp= file= glob= type= max-count= context= threads= replace=",
  });
  return judgeRoots(name, operands.length > 1 ? operands : [...operands, known(".")], scope);
};

/** The last operand is where the files go. */
const copy: Judge = ({ name, args }, scope) =>
  hasFlag(args, /^(?:-[a-zA-Z]*[arR]|--(?:archive|recursive)$)/)
    ? judgeRoots(name, getOperands(args).slice(0, -1), scope)
    : undefined;

const pack: Judge = ({ name, args }, scope) => {
  const isPacking = hasFlag(args.slice(0, 1), /^-?[a-zA-Z]*[cru]/) || hasFlag(args, /^(?:-[a-zA-Z]*[cr]|--create$)/);
  // `-C DIRECTORY` says where the other names begin.
  const roots = args.filter((_arg, index) => !/^(?:-C|--directory)$/.test(args[index - 1]?.text ?? ""));
  return isPacking ? judgeRoots(name, getOperands(roots), scope) : undefined;
};

export const wholeHomeRules: Judges = {
  ...forNames("grep egrep fgrep zgrep rgrep ggrep", grep),
  ...forNames("rg ripgrep ag ack ugrep", search),
  ...forNames("cp rsync gcp", copy),
  ...forNames("tar bsdtar gtar zip", pack),
};
