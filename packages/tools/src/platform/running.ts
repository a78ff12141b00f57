/**
 * Whether a process that left its mark is still running. A process has a number only inside its pid namespace, and two
 * namespaces use the same numbers for different processes, so numbers are compared only within one.
 */
import { readdir, readFile, readlink } from "node:fs/promises";
import { systemCode } from "../errors.ts";

/** Tells a process from every other on this machine. */
export interface ProcessMark {
  pid: number;
  /** Tells this start of the process from another with the same number; empty where the system does not say. */
  startTime: string;
  /** Tells this start of the machine from another; empty where the system does not say. */
  bootId: string;
  /** Where `pid` is its number; absent or empty where the system does not say. */
  pidNamespace?: string;
}

/** `unseen`: it runs where we cannot look, if it runs at all. */
export type Verdict = "running" | "gone" | "unseen";

let known: Required<ProcessMark> | undefined;

/** What does not change for as long as we run. */
export async function thisProcess(): Promise<Required<ProcessMark>> {
  known ??= {
    pid: process.pid,
    startTime: startTimeIn(await readText("/proc/self/stat")),
    bootId: (await readText("/proc/sys/kernel/random/boot_id")).trim(),
    pidNamespace: await readLink("/proc/self/ns/pid"),
  };
  return known;
}

export async function verdictOn(mark: ProcessMark): Promise<Verdict> {
  if (mark.pid <= 0) return "gone";
  const place = compare(mark, await thisProcess());
  switch (place) {
    case "here":
      return (await isRunningHere(mark)) ? "running" : "gone";
    case "in another namespace":
      return await lookBelow(mark);
    case "before this boot":
      return "gone";
    case "unknown":
      return "unseen";
  }
}

type Place = "here" | "in another namespace" | "before this boot" | "unknown";

/** Where a process runs, seen from ours. Pure. */
export function compare(mark: ProcessMark, ours: Required<ProcessMark>): Place {
  // Without /proc a process does not know its boot; that says nothing about the other one.
  if ((mark.bootId === "") !== (ours.bootId === "")) return "unknown";
  if (mark.bootId !== ours.bootId) return "before this boot";
  // Marks of old have no namespace.
  if (!mark.pidNamespace || mark.pidNamespace === ours.pidNamespace) return "here";
  return ours.pidNamespace === "" ? "unknown" : "in another namespace";
}

async function isRunningHere({ pid, startTime }: ProcessMark): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (systemCode(error) === "ESRCH") return false;
    // It is there and belongs to somebody else.
    if (systemCode(error) !== "EPERM") throw error;
  }
  // Where /proc is of another namespace, the number is somebody else's there.
  if ((await readLink("/proc/self")) !== String(process.pid)) return true;
  const stat = await readText(`/proc/${pid}/stat`);
  return startTime === startTimeIn(stat) && !isZombie(stat);
}

/** The namespace that the machine starts with; the kernel gives it this number. It sees all others. */
const firstNamespace = "pid:[4026531836]";

/** Looks for a process of a namespace below ours. Only who sees everything can say that it is gone. */
async function lookBelow(mark: ProcessMark): Promise<Verdict> {
  const isEverythingSeen =
    (await thisProcess()).pidNamespace === firstNamespace &&
    (await readLink("/proc/self")) === String(process.pid) &&
    // Where others' processes are hidden, so is the first.
    (await readText("/proc/1/status")) !== "";
  if (!isEverythingSeen) return "unseen";
  const names = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(names.map((name) => couldBe(name, mark)));
  return found.includes(true) ? "running" : "gone";
}

async function couldBe(name: string, { pid, pidNamespace }: ProcessMark): Promise<boolean> {
  // Its numbers, from our namespace down to its own.
  const numbers = /^NSpid:\t(.+)$/m.exec(await readText(`/proc/${name}/status`))?.[1]?.split("\t") ?? [];
  if (numbers.length < 2 || numbers.at(-1) !== String(pid)) return false;
  if (isZombie(await readText(`/proc/${name}/stat`))) return false;
  // Of somebody else's process the namespace is not told: then it could be.
  const namespace = await readLink(`/proc/${name}/ns/pid`);
  return namespace === "" || namespace === pidNamespace;
}

/** When a process was started, in the kernel's own count. Empty where there is no /proc. */
const startTimeIn = (stat: string) => fieldsOf(stat)[19] ?? "";

/** It has ended, and its parent has not noticed yet. */
const isZombie = (stat: string) => fieldsOf(stat)[0] === "Z";

/** The name before them may hold anything, also spaces and brackets, so counting starts behind its last bracket. */
const fieldsOf = (stat: string) => stat.slice(stat.lastIndexOf(")") + 2).split(" ");

const readText = (path: string) => unlessHidden(readFile(path, "utf8"));
const readLink = (path: string) => unlessHidden(readlink(path));

const hidden = new Set(["ENOENT", "ESRCH", "ENOTDIR", "EACCES", "EPERM", "EINVAL"]);

/** Empty for what is not there, or not shown. */
async function unlessHidden(text: Promise<string>): Promise<string> {
  try {
    return await text;
  } catch (error) {
    if (hidden.has(systemCode(error) ?? "")) return "";
    throw error;
  }
}
