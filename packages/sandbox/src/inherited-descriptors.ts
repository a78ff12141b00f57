/**
 * Descriptors that our own process was started with, such as those that a terminal forgot to close. Every program that we
 * start inherits them, and a directory among them would lead out of the sandbox. Node closes those with low numbers only.
 */
import type { StdioOptions } from "node:child_process";
import { openSync, readFileSync } from "node:fs";
import { listNames, unlessUnseen } from "./look.ts";

/** The flag `O_CLOEXEC`, as `/proc/PID/fdinfo` shows it. */
const closedOnExec = 0o2000000;
/** Each number below the largest one costs a little with each start. */
const maxDescriptor = 4_096;

let found: { readonly descriptors: readonly number[]; readonly nothing: number } | undefined;

/** Covers the descriptors of a program that is started, with `/dev/null` in the place of what it would inherit. */
export function coverInherited(stdio: Exclude<StdioOptions, string>): Exclude<StdioOptions, string> {
  // Looked for once: what we open ourselves is not inherited.
  found ??= { descriptors: findInherited(), nothing: openSync("/dev/null", "r") };
  const covered = [...stdio];
  for (const descriptor of found.descriptors) {
    if (descriptor < stdio.length) continue;
    while (covered.length < descriptor) covered.push("ignore");
    covered[descriptor] = found.nothing;
  }
  return covered;
}

const findInherited = (): number[] =>
  listNames("/proc/self/fd")
    .map(Number)
    .filter((descriptor) => descriptor > 2 && descriptor <= maxDescriptor && isInherited(descriptor))
    .toSorted((a, b) => a - b);

function isInherited(descriptor: number): boolean {
  const text = unlessUnseen(() => readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8"));
  const flags = /^flags:\s*([0-7]+)$/m.exec(text ?? "")?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & closedOnExec) === 0;
}
