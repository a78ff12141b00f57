/** Ports at which servers listen in the network of a process. */
import { readFileSync } from "node:fs";
import { unlessUnseen } from "../look.ts";

/** A process that is gone has none. */
export function listListeningPorts(pid: number): number[] {
  const tables = ["tcp", "tcp6"].map((name) => unlessUnseen(() => readFileSync(`/proc/${pid}/net/${name}`, "utf8")));
  return [...new Set(tables.flatMap((table) => parseListeningPorts(table ?? "")))].toSorted((a, b) => a - b);
}

const listening = "0A";

/** Of a table of sockets as the kernel prints it: `sl local_address rem_address st …`. Pure. */
export function parseListeningPorts(table: string): number[] {
  return table.split("\n").flatMap((line) => {
    const [, local = "", , state] = line.trim().split(/\s+/);
    const port = Number.parseInt(local.split(":").at(-1) ?? "", 16);
    return state === listening && port > 0 ? [port] : [];
  });
}
