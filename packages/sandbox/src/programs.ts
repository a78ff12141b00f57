/** Finds the programs that the sandbox is made with. */
import { accessSync, constants, existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, isAbsolute, join } from "node:path";
import { isWithin } from "@tau/tools/platform";
import { unlessUnseen } from "./look.ts";

/** The path of a program; undefined when there is none. One in the workspace is ignored: a command may have put it there. */
export function findProgram(name: string, workspace: string): string | undefined {
  const directories = (process.env["PATH"] ?? "/usr/bin:/bin").split(delimiter);
  const directory = directories.find(
    (each) => isAbsolute(each) && !isWithin(workspace, each) && isExecutable(`${each}/${name}`),
  );
  return directory === undefined ? undefined : join(directory, name);
}

/** The first process of a session's sandbox comes in a package of its own, which need not be there. */
export function findHelper(): string | undefined {
  const specifier = `#sandbox-helper/linux-${process.arch}/tau-sandbox-helper`;
  const path = unlessUnseen(() => createRequire(import.meta.url).resolve(specifier));
  return path !== undefined && isExecutable(path) ? path : undefined;
}

/** `CAP_SYS_PTRACE`, by its number. */
const traceCapability = 19n;

/** Whether our process may trace others: root in a container often may not. In a user namespace of their own, all users may. */
export function hasTraceCapability(): boolean {
  const text = unlessUnseen(() => readFileSync("/proc/self/status", "utf8"));
  const mask = /^CapPrm:\s*([0-9a-f]+)$/m.exec(text ?? "")?.[1];
  return mask !== undefined && ((BigInt(`0x${mask}`) >> traceCapability) & 1n) === 1n;
}

/** Looked at first: most directories of PATH do not have the program, and an exception takes longer than a look. */
function isExecutable(path: string): boolean {
  if (!existsSync(path)) return false;
  const isAllowed = unlessUnseen(() => {
    accessSync(path, constants.X_OK);
    return true;
  });
  return isAllowed ?? false;
}
