/** Programs that read or pack all files below a directory: in the home directory, credentials are among them. */
import { mayHoldCredentials } from "@tau/sandbox/internal";
import { isBelow } from "../paths.ts";
import { isOwnDirectory, reportOwnSecrets } from "../shell/files.ts";
import { getOperands, hasArg, type Judge, resolveAll } from "./invocation.ts";
import { parseOptions } from "./options.ts";
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

/** Reads files below directories, if an option asks for it or always. */
export const readBelow: Judge = ({ name, args, program }, scope) => {
  switch (program.readsBelow!) {
    case "flag": {
      const recurses = /^(?:-[a-zA-Z]*[rR]|--(?:dereference-)?recursive$|--directories=recurse$|recurse$)/;
      return name === "rgrep" || hasArg(args, recurses) ? judgeRoots(name, getOperands(args), scope) : undefined;
    }
    case "always": {
      const { operands } = parseOptions(args, searchOptions);
      // Without a directory they search the current one.
      return judgeRoots(name, operands.length > 1 ? operands : [...operands, known(".")], scope);
    }
    case "sources": {
      // The last operand is where the files go.
      const isRecursive = hasArg(args, /^(?:-[a-zA-Z]*[arR]|--(?:archive|recursive)$)/);
      return isRecursive ? judgeRoots(name, getOperands(args).slice(0, -1), scope) : undefined;
    }
    case "archive": {
      const isPacking = hasArg(args.slice(0, 1), /^-?[a-zA-Z]*[cru]/) || hasArg(args, /^(?:-[a-zA-Z]*[cr]|--create$)/);
      // `-C DIRECTORY` says where the other names begin.
      const roots = args.filter((_arg, index) => !/^(?:-C|--directory)$/.test(args[index - 1]?.text ?? ""));
      return isPacking ? judgeRoots(name, getOperands(roots), scope) : undefined;
    }
  }
};

const searchOptions = {
  options:
    "e:f:g:t:T:A:B:C:m:d:j:E:M:r:G:p:inlLcvwxFPSUuzoqHaIshN0 regexp= file= glob= type= max-count= context= threads= replace=",
};
