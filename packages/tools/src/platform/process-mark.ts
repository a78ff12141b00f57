/**
 * Whether a process that left its mark is still running. Two pid namespaces use the same pids for different processes, so
 * pids are compared only within one.
 */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { systemCode } from "../errors.ts";

/** Distinguishes a process from every other on this machine. */
export interface ProcessMark {
  pid: number;
  /** Distinguishes this start of the process from another with the same number; empty where the system does not say. */
  startTime: string;
  /** Distinguishes this start of the machine from another; empty where the system does not say. */
  bootId: string;
  /** Where `pid` is its number; absent or empty where the system does not say. */
  pidNamespace?: string;
}

/** `unseen`: it runs where we cannot look, if it runs at all. */
type Verdict = "running" | "gone" | "unseen";

let known: Required<ProcessMark> | undefined;

/** The mark of this process. It never changes. */
export function thisProcess(): Required<ProcessMark> {
  known ??= {
    pid: process.pid,
    startTime: startTimeIn(readText("/proc/self/stat")),
    bootId: readText("/proc/sys/kernel/random/boot_id").trim(),
    pidNamespace: readLink("/proc/self/ns/pid"),
  };
  return known;
}

export function verdictOn(mark: ProcessMark): Verdict {
  if (mark.pid <= 0) return "gone";
  switch (compare(mark, thisProcess())) {
    case "here":
      return isRunningHere(mark) ? "running" : "gone";
    case "in another namespace":
      return lookBelow(mark);
    case "before this boot":
      return "gone";
    case "unknown":
      return "unseen";
  }
}

type ProcessOrigin = "here" | "in another namespace" | "before this boot" | "unknown";

/** Where a process runs, seen from ours. Pure. */
export function compare(mark: ProcessMark, ours: Required<ProcessMark>): ProcessOrigin {
  // Without /proc a process does not know its boot; that says nothing about the other one.
  if ((mark.bootId === "") !== (ours.bootId === "")) return "unknown";
  if (mark.bootId !== ours.bootId) return "before this boot";
  // Older marks have no namespace.
  if (!mark.pidNamespace || mark.pidNamespace === ours.pidNamespace) return "here";
  return ours.pidNamespace === "" ? "unknown" : "in another namespace";
}

function isRunningHere({ pid, startTime }: ProcessMark): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (systemCode(error) === "ESRCH") return false;
    // It runs as another user.
    if (systemCode(error) !== "EPERM") throw error;
  }
  // Where /proc belongs to another namespace, the pid is that of another process there.
  if (readLink("/proc/self") !== String(process.pid)) return true;
  const stat = readText(`/proc/${pid}/stat`);
  return startTime === startTimeIn(stat) && !isZombie(stat);
}

/** The namespace that the machine starts with; the kernel gives it this number. It sees all others. */
const firstNamespace = "pid:[4026531836]";

/** Looks for a process of a namespace below ours. It is gone for certain only where all processes can be seen. */
function lookBelow(mark: ProcessMark): Verdict {
  const isEverythingSeen =
    thisProcess().pidNamespace === firstNamespace &&
    readLink("/proc/self") === String(process.pid) &&
    // Where others' processes are hidden, so is the first.
    readText("/proc/1/status") !== "";
  if (!isEverythingSeen) return "unseen";
  const names = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return names.some((name) => couldBe(name, mark)) ? "running" : "gone";
}

function couldBe(name: string, { pid, pidNamespace }: ProcessMark): boolean {
  // Its pids, from our namespace down to its own.
  const numbers = /^NSpid:\t(.+)$/m.exec(readText(`/proc/${name}/status`))?.[1]?.split("\t") ?? [];
  if (numbers.length < 2 || numbers.at(-1) !== String(pid)) return false;
  if (isZombie(readText(`/proc/${name}/stat`))) return false;
  // The namespace of another user's process is not visible: then it may be the one.
  const namespace = readLink(`/proc/${name}/ns/pid`);
  return namespace === "" || namespace === pidNamespace;
}

/** When a process was started, in the kernel's own count. Empty where there is no /proc. */
const startTimeIn = (stat: string) => toFields(stat)[19] ?? "";

/** It has ended, and its parent has not collected it yet. */
const isZombie = (stat: string) => toFields(stat)[0] === "Z";

/** The name before the fields may hold anything, also spaces and brackets, so they start after its last bracket. */
const toFields = (stat: string) => stat.slice(stat.lastIndexOf(")") + 2).split(" ");

/** Synchronous: the kernel answers from memory, and a detour over a thread would cost more than the answer. */
const readText = (path: string) => unlessHidden(() => readFileSync(path, "utf8"));
const readLink = (path: string) => unlessHidden(() => readlinkSync(path));

const hidden = new Set(["ENOENT", "ESRCH", "ENOTDIR", "EACCES", "EPERM", "EINVAL"]);

/** Empty for a file that does not exist or may not be read. */
function unlessHidden(read: () => string): string {
  try {
    return read();
  } catch (error) {
    if (hidden.has(systemCode(error) ?? "")) return "";
    throw error;
  }
}
